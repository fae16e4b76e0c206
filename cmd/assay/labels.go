package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"assay/engine/record"
	"assay/store"
	"assay/store/exchange"
)

func labelsCommand(s *session) *cobra.Command {
	c := &cobra.Command{
		Use:     "labels",
		Short:   "Write a run's labels to a file, or read labels into it",
		Example: "assay labels export last > labels.csv\nassay labels import last labels.csv --kind human --annotator ana",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(labelsExportCommand(s), labelsImportCommand(s))
	return c
}

func labelsExportCommand(s *session) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:     "export RUN",
		Short:   "Print a run's labels as CSV or JSON lines",
		Example: "assay labels export last --format jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := oneOf("--format", format, "csv", "jsonl"); err != nil {
				return err
			}
			if s.json {
				return record.Problemf("usage", "leave out --json; --format jsonl prints JSON lines", "labels are printed as a file, and --json prints one document")
			}
			ctx := c.Context()
			return s.withRun(ctx, s.read, args[0], func(db *store.DB, id string) error {
				n, err := exchange.WriteLabels(ctx, db, id, format, s.out)
				if err == nil && n == 0 {
					s.say(fmt.Sprintf("run %s has no labels", id))
				}
				return err
			})
		},
	}
	c.Flags().StringVar(&format, "format", "csv", "csv or jsonl")
	return c
}

func labelsImportCommand(s *session) *cobra.Command {
	var truth bool
	var kind string
	o := exchange.LabelOptions{}
	c := &cobra.Command{
		Use:   "import RUN [FILE]",
		Short: "Read labels from CSV or JSON lines into a run",
		Long: "Read labels from CSV or JSON lines. A line names its rollout by rollout_id, or by task_id#k, and has\n" +
			"label (pass, fail, unsure, skip), and may have annotator and note. --truth takes no file: what the\n" +
			"builtin agent says of its own rollouts becomes program labels.",
		Example: "assay labels import last labels.csv --kind human\nassay labels import last --truth",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if truth == (len(args) == 2) {
				return record.Problemf("usage", "write assay labels import RUN FILE, or assay labels import RUN --truth", "labels come from a file, or with --truth from the builtin agent")
			}
			if err := oneOf("--kind", kind, "human", "program", "model", "unknown"); err != nil {
				return err
			}
			o.Kind, o.At = record.GoldKind(kind), time.Now()
			return s.withRun(ctx, s.open, args[0], func(db *store.DB, id string) error {
				o.RunID = id
				var r exchange.LabelReport
				var err error
				if truth {
					r, err = importTruth(ctx, db, id, o.At)
				} else {
					r, err = importLabels(ctx, db, args[1], o)
				}
				if err != nil {
					return err
				}
				return s.print(r, func(w io.Writer) {
					fmt.Fprintf(w, "%s read, %d saved, %d said before, %d without a rollout, %s, %s skipped\n", record.Counted(r.Labels, "label"), r.Matched-r.Unchanged, r.Unchanged, len(r.Unmatched), record.Counted(len(r.Conflicts), "conflict"), record.Counted(len(r.Skipped), "line"))
					for _, skipped := range r.Skipped[:min(len(r.Skipped), 5)] {
						fmt.Fprintf(w, "  line %d: %s\n", skipped.Line, plain(skipped.Why))
					}
				})
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&truth, "truth", false, "make program labels of the builtin agent's truth")
	f.StringVar(&kind, "kind", "unknown", "whose word they are: human, program, model or unknown")
	f.StringVar(&o.Annotator, "annotator", "", "who gave the labels that name nobody")
	return c
}

func importLabels(ctx context.Context, db *store.DB, file string, o exchange.LabelOptions) (exchange.LabelReport, error) {
	f, err := os.Open(file)
	if err != nil {
		return exchange.LabelReport{}, record.Problemf("no_file", "name a file that can be read", "read the labels: %w", err)
	}
	defer f.Close()
	return exchange.ImportLabels(ctx, db, f, o)
}

// truthAnnotator is who the builtin agent's truth is labelled by: a program, so
// it never counts as a person.
const truthAnnotator = "truth"

// importTruth makes program labels of what the builtin agent says of its own
// rollouts. A second import adds nothing.
func importTruth(ctx context.Context, db *store.DB, runID string, at time.Time) (exchange.LabelReport, error) {
	r := exchange.LabelReport{Unmatched: []string{}, Conflicts: []exchange.Conflict{}, Skipped: []exchange.Skipped{}}
	var labels []record.Label
	for sample, err := range db.Samples(ctx, runID, record.SampleQuery{}) {
		if err != nil {
			return r, err
		}
		truth, ok := record.TruthOf(sample.Rollout.Privileged)
		if !ok {
			continue
		}
		l := record.Label{RolloutID: sample.Rollout.ID, Annotator: truthAnnotator, Verdict: record.VerdictFail, Purpose: record.PurposeFirst,
			Kind: record.GoldProgram, Blind: true, At: at}
		if truth.OK {
			l.Verdict = record.VerdictPass
		} else {
			l.Tags = []string{truth.Fault}
		}
		labels = append(labels, l)
	}
	if len(labels) == 0 {
		return r, record.Problemf("no_truth", "run a recipe with agent: {builtin: seeded}, or import a file of labels", "no rollout of run %s says the truth of itself", runID)
	}
	added, err := exchange.AddNewLabels(ctx, db, runID, labels)
	r.Labels, r.Matched, r.Unchanged = len(labels), len(labels), len(labels)-added
	return r, err
}
