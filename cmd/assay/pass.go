package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"assay/store"
)

func passCommand(s *session) *cobra.Command {
	var allTasks bool
	c := &cobra.Command{
		Use:     "pass RUN",
		Short:   "Print pass@1, pass^k and pass@k with intervals, on held-out tasks",
		Example: "assay pass last\nassay pass last --all-tasks --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return s.withRun(ctx, s.read, args[0], func(db *store.DB, id string) error {
				r, err := s.newEngine(db, nil).Pass(ctx, id, allTasks)
				if err != nil {
					return err
				}
				s.warn(r.Warnings)
				return s.print(r, func(w io.Writer) {
					scope := "held-out tasks"
					if allTasks {
						scope = "all tasks, training ones too"
					}
					fmt.Fprintf(w, "run %s on %s: %d tasks, %d rollouts, k %d\n", r.Run, scope, r.Tasks, r.Rows, r.K)
					fmt.Fprintf(w, "  pass@1   %s\n  pass^%d   %s\n  pass@%d   %s\n", estimate(r.PassAt1, "tasks"), r.K, estimate(r.PassPowK, "tasks"), r.K, estimate(r.PassAtK, "tasks"))
					fmt.Fprintf(w, "  unjudged %d, partial %d, lost %d\n", r.Unjudged, r.Partial, r.Lost)
					fmt.Fprintln(w, "  these rates cover the failure space; they do not estimate production traffic")
				})
			})
		},
	}
	c.Flags().BoolVar(&allTasks, "all-tasks", false, "training tasks too, not only held-out ones")
	return c
}
