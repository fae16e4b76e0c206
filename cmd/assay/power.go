package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
)

func powerCommand(s *session) *cobra.Command {
	var o engine.PowerOptions
	var run string
	c := &cobra.Command{
		Use:   "power",
		Short: "Say how many held-out tasks an effect needs, or what a run's can show",
		Long: "Say how many held-out tasks a gain in pass rate needs to be shown, in a paired comparison at a two-sided\n" +
			"level of 0.05 with a power of 0.8, as a range; or what the tasks of a run can show. The spread is measured\n" +
			"between a run's eval runs, or binomial. A set that almost all or almost nothing passes is named, not sized.",
		Example: "assay power --effect 0.1 --base 0.6 --k 4\nassay power --run last --effect 0.1",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			changed := c.Flags().Changed
			switch {
			case !changed("effect") && run == "":
				return record.Problemf("usage", "write --effect 0.1, or --run RUN", "there is nothing to size")
			case changed("effect") && !(o.Effect > 0 && o.Effect <= 1):
				return record.Problemf("bad_flag", "write a gain in pass rate, such as 0.1", "--effect %v lies outside 0..1", o.Effect)
			case !(o.Base >= 0 && o.Base <= 1):
				return record.Problemf("bad_flag", "write a pass rate, such as 0.6", "--base %v lies outside 0..1", o.Base)
			case o.K < 1:
				return record.Problemf("bad_flag", "write 1 or more", "--k is %d attempts", o.K)
			case run != "" && (changed("base") || changed("k")):
				return record.Problemf("usage", "leave out --base and --k", "--run gives the base and k")
			}
			if run == "" {
				r, err := s.newEngine(nil, nil).Power(c.Context(), o)
				if err != nil {
					return err
				}
				return s.print(r, func(w io.Writer) { writePower(w, r) })
			}
			return s.withRun(c.Context(), s.read, run, func(db *store.DB, id string) error {
				o.Run = id
				r, err := s.newEngine(db, nil).Power(c.Context(), o)
				if err != nil {
					return err
				}
				return s.print(r, func(w io.Writer) { writePower(w, r) })
			})
		},
	}
	f := c.Flags()
	f.Float64Var(&o.Effect, "effect", 0, "the gain in pass rate to show, such as 0.1")
	f.StringVar(&run, "run", "", "take base, k and spread from this run's held-out tasks")
	f.Float64Var(&o.Base, "base", 0.5, "the pass rate before")
	f.IntVar(&o.K, "k", 4, "attempts a task and side")
	return c
}

func writePower(w io.Writer, r *engine.PowerReport) {
	fmt.Fprintf(w, "base %.3f, k %d, spread over tasks %.3f (%s)\n", r.Base, r.K, r.SD, r.SDSource)
	if r.NTasks != nil {
		fmt.Fprintf(w, "  a gain of %.3f needs %d to %d held-out tasks\n", *r.Effect, *r.NLow, *r.NTasks)
	}
	if r.Detectable != nil {
		fmt.Fprintf(w, "  %s can show a gain of %.3f\n", record.Counted(r.Have, "task"), *r.Detectable)
	}
	fmt.Fprintf(w, "  %s\n", r.Verdict)
	for _, note := range r.Notes {
		fmt.Fprintf(w, "  %s\n", note)
	}
}
