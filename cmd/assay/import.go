package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay/engine/record"
	"assay/store"
	"assay/store/exchange"
)

func importCommand(s *session) *cobra.Command {
	o := exchange.ImportOptions{}
	var mapping []string
	c := &cobra.Command{
		Use:   "import FILE...",
		Short: "Read other tools' rollouts into a run of their own",
		Long: "Read rollouts into a run of their own: whileai rows, OpenAI chat lines, or any JSONL with --map.\n" +
			"Imported tasks are held out whole unless --train.",
		Example: "assay import rows.jsonl --name their-run\nassay import log.jsonl --map task_id=id --map reward=score --map prompt=input.question",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if o.Map, err = parseMap(mapping); err != nil {
				return err
			}
			o.RunID, o.Started = newRunID(), time.Now()
			files := make([]exchange.File, len(args))
			for i, name := range args {
				f, err := os.Open(name)
				if err != nil {
					return record.Problemf("no_file", "name files that can be read", "import: %w", err)
				}
				defer f.Close()
				files[i] = exchange.File{Name: name, Data: f}
			}
			ctx := c.Context()
			return s.withStore(ctx, s.open, func(db *store.DB) error {
				r, err := exchange.Import(ctx, db, files, o)
				if err != nil {
					return err
				}
				s.warn(r.Warnings)
				return s.print(r, func(w io.Writer) { writeImport(w, &r) })
			})
		},
	}
	f := c.Flags()
	f.StringVar(&o.Name, "name", "", "a name for the run")
	f.BoolVar(&o.Train, "train", false, "let the rows into training files instead of holding them out")
	f.BoolVar(&o.Strict, "strict", false, "stop at the first line that cannot be read")
	f.StringArrayVar(&mapping, "map", nil, "field=path: take a row's field from a path of the line's object")
	return c
}

func writeImport(w io.Writer, r *exchange.ImportReport) {
	fmt.Fprintf(w, "run %s: %s of %s read as %s\n", r.Run, record.Counted(r.Rows, "row"), record.Counted(r.Tasks, "task"), r.Format)
	for _, skipped := range r.Skipped[:min(len(r.Skipped), 5)] {
		fmt.Fprintf(w, "  left out %s line %d: %s\n", plain(skipped.File), skipped.Line, plain(skipped.Why))
	}
	if n := max(len(r.Skipped), r.SkippedCount) - 5; n > 0 {
		fmt.Fprintf(w, "  and %s more\n", record.Counted(n, "line"))
	}
	if len(r.DroppedFields) > 0 {
		fmt.Fprintf(w, "  fields without a place here: %s\n", plain(strings.Join(r.DroppedFields, ", ")))
	}
}

func parseMap(pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	m := map[string]string{}
	for _, pair := range pairs {
		field, path, ok := strings.Cut(pair, "=")
		if !ok || field == "" || path == "" {
			return nil, record.Problemf("bad_flag", "write --map reward=score", "--map %q is not field=path", pair)
		}
		m[field] = path
	}
	return m, nil
}

func exportCommand(s *session) *cobra.Command {
	var format, out string
	c := &cobra.Command{
		Use:     "export RUN",
		Short:   "Write a run's rows as whileai JSON lines, to a file or stdout",
		Long:    "Write a run's rows, lost ones too, as whileai JSON lines. With --out the file appears whole or not at all.",
		Example: "assay export last --out rows.jsonl\nassay export last > rows.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := oneOf("--format", format, "whileai"); err != nil {
				return err
			}
			if s.json && out == "" {
				return record.Problemf("usage", "name a file with --out, or leave out --json", "the rows are JSON lines, and --json prints one document")
			}
			ctx := c.Context()
			return s.withRun(ctx, s.read, args[0], func(db *store.DB, id string) error {
				if out == "" {
					_, err := exchange.WriteRows(ctx, db, id, record.SampleQuery{Statuses: []record.Status{record.StatusDone, record.StatusLost}}, s.out)
					return err
				}
				n, err := exchange.ExportRows(ctx, db, id, out)
				if err != nil {
					return err
				}
				return s.print(map[string]any{"run": id, "rows": n, "file": out}, func(w io.Writer) { fmt.Fprintf(w, "%s of run %s in %s\n", record.Counted(n, "row"), id, plain(out)) })
			})
		},
	}
	c.Flags().StringVar(&format, "format", "whileai", "whileai")
	c.Flags().StringVar(&out, "out", "", "the file (default stdout)")
	return c
}
