package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/engine"
	"assay/engine/grade"
	"assay/engine/record"
	"assay/store"
)

func gradeCommand(s *session) *cobra.Command {
	var o engine.GradeOptions
	var judge, try string
	c := &cobra.Command{
		Use:   "grade RUN",
		Short: "Grade or regrade a run; earlier verdicts stay",
		Long: "Grade or regrade a run. Verdicts are added, never overwritten; the new scorer version becomes\n" +
			"the run's own when every rollout that is done has its judgment.\n\n" + markerWords(),
		Example: "assay grade last --judge builtin:fair\nassay grade last --only-missing\nassay grade last --try \"called('restart_service') ? 1 : nil\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if try != "" && (judge != "" || o.OnlyMissing) {
				return record.Problemf("usage", "leave out one of them", "--try only shows what a marker would say; it does not grade")
			}
			if judge != "" {
				spec, err := judgeSpec("--judge", judge)
				if err != nil {
					return err
				}
				o.Judge = spec
			}
			open := s.open
			if try != "" {
				open = s.read
			}
			return s.withRun(ctx, open, args[0], func(db *store.DB, id string) error {
				e := s.newEngine(db, nil)
				if try != "" {
					r, err := e.TryMarker(ctx, id, try)
					if err != nil {
						return err
					}
					return s.print(r, func(w io.Writer) { writeTry(w, r) })
				}
				r, err := e.Grade(ctx, id, o)
				if err != nil {
					return err
				}
				s.warn(r.Warnings)
				return s.print(r, func(w io.Writer) { writeGrade(w, r) })
			})
		},
	}
	f := c.Flags()
	f.StringVar(&judge, "judge", "", "another judge: builtin:NAME, or the recipe's mapping")
	f.BoolVar(&o.OnlyMissing, "only-missing", false, "only rollouts that this scorer has not judged")
	f.StringVar(&try, "try", "", "show what a marker's expression would say, and save nothing")
	cobra.CheckErr(c.RegisterFlagCompletionFunc("try", completeMarker)) // fails for a flag that is not there
	return c
}

// markerWords lists what a marker's expression may use.
func markerWords() string {
	var b strings.Builder
	b.WriteString("A marker's expression gives a number, true or false, or nil where it does not apply. It may use\n")
	for _, w := range grade.Vocabulary() {
		fmt.Fprintf(&b, "\n  %-16s %s", w.Name, w.Says)
	}
	return b.String()
}

// completeMarker is what a shell offers behind an expression that is half written.
func completeMarker(_ *cobra.Command, _ []string, written string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	for _, w := range grade.Completed(written) {
		out = append(out, cobra.CompletionWithDesc(w.Name, w.Says))
	}
	return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

func writeGrade(w io.Writer, r *engine.GradeReport) {
	fmt.Fprintf(w, "run %s graded by %s: %s\n", r.Run, plain(r.Scorer), record.Counted(r.Graded, "rollout"))
	if !r.Own {
		fmt.Fprintf(w, "  %d of %d judged: the run's reward stays what it was\n", r.Judged, r.Done)
	}
	for _, status := range slices.Sorted(maps.Keys(r.Status)) {
		fmt.Fprintf(w, "  %-16s %d\n", status, r.Status[status])
	}
	fmt.Fprintf(w, "  reward %s, %d of the rewards partial\n", estimate(r.Reward, "task"), r.Partial)
}

func writeTry(w io.Writer, r *engine.TryReport) {
	fmt.Fprintf(w, "%s on %s of run %s\n", plain(r.Expr), record.Counted(r.N, "rollout"), r.Run)
	fmt.Fprintf(w, "  applies to %d, mean %s; does not apply to %d; error on %d\n", r.OK, number(r.Mean), r.NotApplicable, r.Errors)
	for _, v := range r.Values {
		fmt.Fprintf(w, "  %8.4g  %d\n", v.Value, v.N)
	}
	if r.Constant {
		fmt.Fprintln(w, "  it never varies: as a metric it can show no change")
	}
	if r.FirstError != "" {
		fmt.Fprintf(w, "  first error: %s\n", plain(r.FirstError))
	}
}

func number(v *float64) string {
	if v == nil {
		return "not measured"
	}
	return fmt.Sprintf("%.3f", *v)
}
