package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
)

func scanCommand(s *session) *cobra.Command {
	var endorsed []string
	c := &cobra.Command{
		Use:   "scan RUN",
		Short: "Show what training on this reward would teach",
		Long: "Look for what goes with the reward within each task of the training set: lengths, calls, tools, markers,\n" +
			"common words. A policy is taught by whatever does, whether it was meant or not. A feature counts where it\n" +
			"clears tau, the largest correlation that shuffling within tasks gives by chance. --endorse names features\n" +
			"that the reward is meant to follow, by a part of their name. The scan flags; it prunes nothing.",
		Example: "assay scan last\nassay scan last --endorse called:get_order,marker:right",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return s.withRun(ctx, s.read, args[0], func(db *store.DB, id string) error {
				r, err := s.newEngine(db, nil).Scan(ctx, id, endorsed)
				if err != nil {
					return err
				}
				s.warn(r.Warnings)
				return s.print(r, func(w io.Writer) { writeScan(w, id, &r) })
			})
		},
	}
	c.Flags().StringSliceVar(&endorsed, "endorse", nil, "features that the reward is meant to follow, between commas")
	return c
}

// scanShown is how many features the text lists when fewer are over the floor; --json has
// all.
const scanShown = 10

func writeScan(w io.Writer, runID string, r *engine.ScanReport) {
	fmt.Fprintf(w, "run %s  %s\n", runID, r.Regime)
	k := r.Support
	fmt.Fprintf(w, "  %s of %s: %d solved always, %d never, %d with rewards that differ\n", record.Counted(k.Rows, "graded rollout"), record.Counted(k.Tasks, "task"), k.Solved, k.Dead, k.Mixed)
	fmt.Fprintf(w, "  variance of the reward: %.4f within tasks, which is all that a policy learns from, %.4f between them\n", k.Within, k.Between)
	if r.Tau == nil || len(r.Features) == 0 {
		fmt.Fprintln(w, "  no feature could be ranked")
		return
	}
	fmt.Fprintf(w, "  tau, the floor of chance: %.3f\n", *r.Tau)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  FEATURE\tRHO WITHIN\tRHO POOLED\tROWS\t")
	for i, f := range r.Features {
		if !f.Above && i >= scanShown {
			break
		}
		note := ""
		switch {
		case f.Above && f.Endorsed:
			note = "above the floor, as it is meant to be"
		case f.Above:
			note = "above the floor"
		}
		fmt.Fprintf(t, "  %s\t%+.3f\t%+.3f\t%d\t%s\n", plain(f.Name), f.RhoWithin, f.RhoPooled, f.N, note)
	}
	t.Flush()
}
