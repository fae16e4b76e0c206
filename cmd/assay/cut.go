package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
)

func cutCommand(s *session) *cobra.Command {
	var target, format, out string
	c := &cobra.Command{
		Use:     "cut RUN --for TARGET",
		Short:   "Write a training set, with what every gate dropped and why",
		Example: "assay cut last --for sft\nassay cut last --for grpo --format trl --out groups.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if err := oneOf("--for", target, "sft", "dpo", "grpo", "rm"); err != nil {
				return err
			}
			if err := oneOf("--format", format, "whileai", "trl", "openai"); err != nil {
				return err
			}
			return s.withRun(ctx, s.open, args[0], func(db *store.DB, id string) error {
				file := out
				if file == "" {
					file = filepath.Join(filepath.Dir(s.file()), id+"."+target+".jsonl")
				}
				r, err := s.newEngine(db, nil).Cut(ctx, id, target, format, file)
				var p *record.Problem
				if errors.As(err, &p) && p.Code == "empty_selection" {
					message := p.Error()
					r.Error = &message
				} else if err != nil {
					return err
				}
				s.warn(r.Warnings)
				if err := s.print(r, func(w io.Writer) { writeCut(w, &r) }); err != nil {
					return err
				}
				if r.Error != nil {
					return exitStatus(exitCouldNot)
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&target, "for", "", "sft, dpo, grpo or rm")
	c.Flags().StringVar(&format, "format", "whileai", "whileai, trl or openai")
	c.Flags().StringVar(&out, "out", "", "the file (default RUN.TARGET.jsonl beside the database)")
	return c
}

func writeCut(w io.Writer, r *engine.CutResult) {
	if r.Error != nil {
		fmt.Fprintf(w, "  cut %s: nothing written: %s\n", r.For, plain(*r.Error))
	} else {
		fmt.Fprintf(w, "  cut %s: %d of %d rows, %s: %s\n", r.For, r.RowsOut, r.RowsIn, r.Format, plain(r.File))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range r.Gates {
		if g.In == g.Out {
			continue
		}
		example := ""
		if len(g.Examples) > 0 {
			example = plain(g.Examples[0])
		}
		fmt.Fprintf(t, "    %s\t%d -> %d\t%s\n", g.Name, g.In, g.Out, example)
	}
	t.Flush()
}

func oneOf(flag, value string, known ...string) error {
	for _, k := range known {
		if value == k {
			return nil
		}
	}
	return record.Problemf("bad_flag", "use "+flag+" "+known[0], "%s is %q; it takes %v", flag, value, known)
}
