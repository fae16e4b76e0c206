package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"assay/engine"
	"assay/engine/delta"
	"assay/engine/record"
	"assay/store"
)

// passResult is what pass prints.
type passResult struct {
	engine.PassReport
	// Corrected is the pass rate corrected for the judge by gold, of the same scope; null
	// where gold does not allow it.
	Corrected *engine.CorrectedPass `json:"corrected"`
}

func passCommand(s *session) *cobra.Command {
	var allTasks bool
	c := &cobra.Command{
		Use:   "pass RUN",
		Short: "Print pass@1, pass^k and pass@k with intervals, on held-out tasks",
		Long: "Print pass@1, pass^k and pass@k with intervals, on held-out tasks. Where the run has gold that was\n" +
			"drawn at random, pass@1 corrected for the judge's errors stands beside them.",
		Example: "assay pass last\nassay pass last --all-tasks --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return s.withRun(ctx, s.read, args[0], func(db *store.DB, id string) error {
				r, err := passOf(ctx, s.newEngine(db, nil), id, allTasks)
				if err != nil {
					return err
				}
				s.warn(r.Warnings)
				return s.print(r, func(w io.Writer) { writePass(w, r) })
			})
		},
	}
	c.Flags().BoolVar(&allTasks, "all-tasks", false, "training tasks too, not only held-out ones")
	return c
}

func passOf(ctx context.Context, e *engine.Engine, runID string, allTasks bool) (*passResult, error) {
	pass, err := e.Pass(ctx, runID, allTasks)
	if err != nil {
		return nil, err
	}
	corrected, err := e.CorrectedPass(ctx, runID)
	if err != nil {
		return nil, err
	}
	r := &passResult{PassReport: pass}
	if corrected != nil && corrected.Scope == pass.Scope {
		r.Corrected = corrected
	}
	return r, nil
}

func writePass(w io.Writer, r *passResult) {
	fmt.Fprintf(w, "run %s on %s: %s, %s, k %d\n", r.Run, scopeWord(r.Scope), record.Counted(r.Tasks, "task"), record.Counted(r.Rows, "rollout"), r.K)
	writeRates(w, &r.PassReport, "task")
	writeCorrected(w, r.Corrected)
	fmt.Fprintf(w, "  unjudged %d, partial %d, lost %d\n", r.Unjudged, r.Partial, r.Lost)
	fmt.Fprintf(w, "  intervals: %s\n", r.Interval)
	fmt.Fprintln(w, "  these rates cover the failure space; they do not estimate production traffic")
}

// writeRates writes the rates of a pass report, a line each. Of one attempt a task there
// is one rate.
func writeRates(w io.Writer, r *engine.PassReport, task string) {
	fmt.Fprintf(w, "  pass@1   %s\n", estimate(r.PassAt1, task))
	if r.K > 1 {
		fmt.Fprintf(w, "  pass^%d   %s\n  pass@%d   %s\n", r.K, estimate(r.PassPowK, task), r.K, estimate(r.PassAtK, task))
	}
}

// writeCorrected writes a corrected pass rate beside what the judge and gold say alone.
// Its intervals are of another kind than the bootstrap of the rates, and are named.
func writeCorrected(w io.Writer, c *engine.CorrectedPass) {
	if c == nil {
		return
	}
	fmt.Fprintf(w, "  pass@1 on %s, corrected for the judge by gold: %s\n", scopeWord(c.Scope), estimate(c.Corrected, "task"))
	fmt.Fprintf(w, "    the judge alone %s; gold alone %s; score intervals, t over situations\n", estimate(c.JudgeOnly, "task"), estimate(c.GoldOnly, "task"))
	if c.Missing > 0 {
		fmt.Fprintf(w, "    %d more tasks need a label drawn at random before the corrected rate has an interval\n", c.Missing)
	}
	if c.Unjudged > 0 {
		fmt.Fprintf(w, "    left out: %s without a verdict\n", record.Counted(c.Unjudged, "rollout"))
	}
}

// scopeWord is a scope for people.
func scopeWord(scope string) string {
	if scope == delta.ScopeHeldOut {
		return "held-out tasks"
	}
	return "all tasks, training ones too"
}
