package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"assay/engine"
	"assay/engine/grade"
	"assay/engine/record"
	"assay/store"
)

func trustCommand(s *session) *cobra.Command {
	var o engine.TrustOptions
	var compare []string
	c := &cobra.Command{
		Use:   "trust RUN [JUDGE...]",
		Short: "Can the judge be trusted: measure it on the labels",
		Long: "Measure the judge that gives a run its reward on the run's labels. TRUSTED needs agreement of 0.80 and\n" +
			"kappa of 0.60, both at the lower end of their intervals, on 50 labels or more with 10 of each class.\n" +
			"--probes asks the judge about replies that a policy would try first, and about the same rows twice.\n" +
			"--pairs asks it which of two attempts at one ask is better, in both orders: a winner that changes with\n" +
			"the order is a tie, and a fifth of such flips is a warning. --compare measures other judges on\n" +
			"the same labels: builtin:NAME, or the recipe's mapping; their verdicts are added, and the run's stay.\n\n" +
			"Exit code 0: trusted. 1: FAIL or INCONCLUSIVE. 2: NOT MEASURED.",
		Example: "assay trust last\nassay trust last --probes --pairs\nassay trust last --compare builtin:fair builtin:crooked",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if len(args) > 1 && len(compare) == 0 {
				return record.Problemf("usage", "write assay trust RUN --compare JUDGE...", "%q is more than one run", args[1])
			}
			for _, text := range append(compare, args[1:]...) {
				spec, err := judgeSpec("--compare", text)
				if err != nil {
					return err
				}
				o.Compare = append(o.Compare, spec)
			}
			return s.withRun(ctx, s.open, args[0], func(db *store.DB, id string) error {
				r, err := s.newEngine(db, nil).Trust(ctx, id, o)
				if err != nil {
					return err
				}
				s.warn(r.Warnings)
				if err := s.print(r, func(w io.Writer) { writeTrust(w, r) }); err != nil {
					return err
				}
				return trustStatus(r)
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&o.Probes, "probes", false, "try the hacks that a policy finds first")
	f.BoolVar(&o.Pairs, "pairs", false, "ask which of two attempts is better, in both orders")
	f.StringArrayVar(&compare, "compare", nil, "another judge to measure on the same labels; more may follow")
	return c
}

// judgeSpec reads what a flag says of a judge, with the text of its rubric's file.
func judgeSpec(flag, text string) (*engine.JudgeSpec, error) {
	spec, err := engine.ParseJudgeSpec(text)
	if err != nil {
		return nil, &record.Problem{Code: "bad_flag", Message: err.Error(), Where: flag, Fix: "write builtin:fair, or the recipe's mapping", Err: err}
	}
	return spec, spec.ReadRubric(os.ReadFile)
}

// trustStatus is the exit code of a word about a judge.
func trustStatus(r *engine.TrustReport) error {
	switch {
	case r.Headline == grade.NotMeasured:
		return exitStatus(exitCouldNot)
	case !r.OK:
		return exitStatus(exitGate)
	}
	return nil
}

func writeTrust(w io.Writer, r *engine.TrustReport) {
	fmt.Fprintf(w, "run %s  %s  %s\n", r.Run, plain(r.Judge), r.Headline)
	fmt.Fprintf(w, "  %s\n", plain(r.Says))
	if r.N > 0 {
		writeFigures(w, r)
	}
	writeSkipped(w, r)
	writePeople(w, r)
	writeProbes(w, r.Probes)
	if r.Repeats != nil {
		fmt.Fprintf(w, "  asked twice: %s\n", r.Repeats.Says)
	}
	if r.Positions != nil {
		fmt.Fprintf(w, "  pairs: %s\n", r.Positions.Says)
	}
	writeCompared(w, r)
}

func writeFigures(w io.Writer, r *engine.TrustReport) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  agreement\t%s\tfloor %.2f at its lower end\n", estimate(r.Agreement, "label"), grade.AgreementFloor)
	fmt.Fprintf(t, "  kappa\t%s\tfloor %.2f at its lower end\n", estimate(r.Kappa, "label"), grade.KappaFloor)
	fmt.Fprintf(t, "  AC1\t%s\t\n", estimate(r.AC1, "label"))
	fmt.Fprintf(t, "  passes what gold fails\t%s\t\n", estimate(r.PassWhenGoldFail, "label"))
	fmt.Fprintf(t, "  fails what gold passes\t%s\t\n", estimate(r.FailWhenGoldPass, "label"))
	if h := r.Halves; h != nil {
		fmt.Fprintf(t, "  tuning half\t%s\t\n", estimate(h.Tuning, "label"))
		fmt.Fprintf(t, "  other half\t%s\t%s\n", estimate(h.Other, "label"), looksAtOther(r.Rubric))
	}
	if c := r.CutRows; c != nil {
		fmt.Fprintf(t, "  cut transcripts\t%s\t\n  whole transcripts\t%s\t\n", estimate(c.Cut, "label"), estimate(c.Whole, "label"))
	}
	t.Flush()
	fmt.Fprintf(w, "  intervals %s\n", r.Intervals)
	writeCorrected(w, r.Corrected)
	for _, l := range r.Length {
		mark := ""
		if l.Sensitive {
			mark = "  <- length moves its verdict"
		}
		fmt.Fprintf(w, "  where gold says %s: passes %.0f%% of replies over %d characters, %.0f%% of the others, p %.3f%s\n", l.Gold, 100*l.LongPass, l.Median, 100*l.ShortPass, l.P, mark)
	}
}

func looksAtOther(u *engine.RubricUse) string {
	if u == nil {
		return ""
	}
	return fmt.Sprintf("look %d at it with rubric %.8s", u.OtherLooks, u.Hash)
}

func writeSkipped(w io.Writer, r *engine.TrustReport) {
	if says := r.Skipped.Says(); says != "" {
		fmt.Fprintf(w, "  labels that do not count: %s\n", says)
	}
}

func writePeople(w io.Writer, r *engine.TrustReport) {
	for _, p := range r.People {
		fmt.Fprintf(w, "  %s (%s): %s", plain(p.Annotator), p.Kind, record.Counted(p.Labels, "label"))
		if p.Twice > 0 {
			fmt.Fprintf(w, ", the same word on %d of %d rows seen twice", p.Same, p.Twice)
		}
		fmt.Fprintln(w)
	}
	for _, p := range r.Pairs {
		fmt.Fprintf(w, "  %s and %s: the same word on %d of %d rows\n", plain(p.First), plain(p.Second), p.Same, p.N)
	}
}

func writeProbes(w io.Writer, probes []grade.ProbeResult) {
	if len(probes) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  PROBE\tROWS\tTO PASS\tSHARE OF ROWS\t")
	for _, p := range probes {
		word := "holds"
		switch {
		case p.Exploitable:
			word = "EXPLOITABLE"
		case p.LowPower:
			word = "low power"
		}
		fmt.Fprintf(t, "  %s\t%d\t%s\t[%s, %s]\t%s\n", p.Name, p.N, p.Net(), number(p.Lo), number(p.Hi), word)
	}
	t.Flush()
	fmt.Fprintln(w, "  with a sign: replies that begin to pass less those that cease to; without: replies without content that pass; Wilson, 95%")
}

func writeCompared(w io.Writer, r *engine.TrustReport) {
	if len(r.Others) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  JUDGE\tWORD\tAGREEMENT\tKAPPA\tAGAINST THE RUN'S JUDGE")
	fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t\n", plain(r.Judge), r.Headline, estimate(r.Agreement, "label"), estimate(r.Kappa, "label"))
	for _, o := range r.Others {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\talone right on %d of %d, alone wrong on %d, p %.3f\n", plain(o.Judge), o.Headline, estimate(o.Agreement, "label"), estimate(o.Kappa, "label"),
			o.Against.OnlySecond, o.Against.N, o.Against.OnlyFirst, o.Against.P)
	}
	t.Flush()
}
