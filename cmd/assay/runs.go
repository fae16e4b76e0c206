package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"assay/engine"
	"assay/engine/record"
	"assay/engine/stats"
	"assay/store"
)

// runLine is one run as runs and show print it.
type runLine struct {
	Run      string            `json:"run"`
	Name     string            `json:"name"`
	Recipe   string            `json:"recipe"`
	Role     string            `json:"role"`
	Parent   string            `json:"parent,omitempty"`
	Agent    string            `json:"agent"`
	Mode     record.Mode       `json:"mode"`
	Status   record.RunStatus  `json:"status"`
	Stopped  record.StopReason `json:"stopped_because"`
	Started  string            `json:"started"`
	Tasks    int               `json:"tasks"`
	Rollouts int               `json:"rollouts"`
	PassAt1  stats.Estimate    `json:"pass_at_1"`
	Hidden   bool              `json:"hidden,omitempty"`
}

func runsCommand(s *session) *cobra.Command {
	var hidden bool
	c := &cobra.Command{
		Use:     "runs",
		Short:   "List the runs, newest first",
		Example: "assay runs\nassay runs --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			return s.withStore(ctx, s.read, func(db *store.DB) error {
				runs, err := db.Runs(ctx, hidden)
				if err != nil {
					return err
				}
				e := s.newEngine(db, nil)
				lines := make([]runLine, len(runs))
				var broken error // the runs can be listed though their rollouts cannot all be read
				for i, run := range runs {
					var err error
					if lines[i], err = lineOf(ctx, e, run); err != nil {
						broken = err
					}
				}
				if err := s.print(lines, func(w io.Writer) { writeRuns(w, lines) }); err != nil || broken == nil {
					return err
				}
				s.say("assay: " + problemOf(broken).Error())
				return exitStatus(exitCouldNot)
			})
		},
	}
	c.Flags().BoolVar(&hidden, "hidden", false, "show hidden runs too")
	return c
}

// lineOf sums a run up; a run without held-out tasks has no pass rate to show. An
// error is the file's, and the line is what could be read.
func lineOf(ctx context.Context, e *engine.Engine, run *record.Run) (runLine, error) {
	line := runLine{Run: run.ID, Name: run.Name, Recipe: run.Recipe, Role: run.Role, Parent: run.Parent, Agent: run.Program, Mode: run.Mode,
		Status: run.Status, Stopped: run.StoppedBecause, Started: run.StartedAt.UTC().Format(time.RFC3339), Tasks: run.Counts.Tasks, Rollouts: run.Counts.Done, Hidden: run.Hidden}
	pass, err := e.Pass(ctx, run.ID, false)
	switch {
	case err == nil:
		line.PassAt1 = pass.PassAt1
	case store.CodeOf(err) != "":
		return line, err
	}
	return line, nil
}

func writeRuns(w io.Writer, lines []runLine) {
	if len(lines) == 0 {
		fmt.Fprintln(w, "no runs yet; assay run seeded-agent makes one")
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RUN\tNAME\tRECIPE\tROLE\tSTATUS\tSTARTED\tTASKS\tROLLOUTS\tPASS@1 (HELD OUT)")
	for _, l := range lines {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n", l.Run, plain(l.Name), plain(l.Recipe), l.Role, l.Status, l.Started, l.Tasks, l.Rollouts, estimate(l.PassAt1, "task"))
	}
	t.Flush()
}

// estimate is "0.42 [0.31, 0.53], 24 tasks".
func estimate(e stats.Estimate, of string) string {
	if e.Value == nil {
		return "not measured"
	}
	text := fmt.Sprintf("%.3f", *e.Value)
	if e.Lo != nil && e.Hi != nil {
		text += fmt.Sprintf(" [%.3f, %.3f]", *e.Lo, *e.Hi)
	} else {
		text += " (no interval)"
	}
	return text + ", " + record.Counted(e.N, of)
}

// usage is "1200 tokens (800 in, 400 out), cost 0.0125".
func usage(u record.Usage) string {
	text := fmt.Sprintf("%d tokens (%d in, %d out)", u.Tokens(), u.InputTokens, u.OutputTokens)
	if u.Cost > 0 {
		text += fmt.Sprintf(", cost %.4g", u.Cost)
	}
	return text
}

// showResult is what show prints.
type showResult struct {
	runLine
	Seed     int64                 `json:"seed"`
	Repeats  int                   `json:"repeats"`
	EvalRuns int                   `json:"eval_runs"`
	Lost     map[record.Cause]int  `json:"lost"`
	Graded   int                   `json:"graded"`
	Spent    record.Spending       `json:"spent"`
	Hollow   bool                  `json:"hollow"`
	Policy   string                `json:"policy_version"`
	Scorer   string                `json:"scorer"`
	Scorers  []record.Standing     `json:"scorers"`
	Config   json.RawMessage       `json:"config"`
	Coverage *record.Coverage      `json:"coverage"`
	Arms     map[string]int        `json:"arms"`
	Journal  []record.JournalEntry `json:"journal"`
	Pass     *engine.PassReport    `json:"pass"`
	Children []runLine             `json:"parts"`
	Error    record.Text           `json:"error,omitempty"`
	Warnings []record.Warning      `json:"warnings"`
}

func showCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "show RUN",
		Short:   "Show one run with its numbers, coverage, arms and warnings",
		Example: "assay show last",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return s.withRun(ctx, s.read, args[0], func(db *store.DB, id string) error {
				r, err := s.show(ctx, db, id)
				if err != nil {
					return err
				}
				return s.print(r, func(w io.Writer) { writeShow(w, r) })
			})
		},
	}
}

func (s *session) show(ctx context.Context, db *store.DB, id string) (*showResult, error) {
	run, err := db.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	e := s.newEngine(db, nil)
	line, err := lineOf(ctx, e, run)
	if err != nil {
		return nil, err
	}
	r := &showResult{runLine: line, Seed: run.Seed, Repeats: run.Repeats, EvalRuns: run.EvalRuns, Lost: run.Counts.Lost, Graded: run.Counts.Graded, Spent: run.Counts.Spent,
		Hollow: run.Hollow, Policy: run.PolicyVersion, Scorer: run.Scorer, Config: run.Config, Coverage: run.Coverage, Error: run.Error,
		Warnings: run.Warnings, Arms: map[string]int{}, Children: []runLine{}}
	if r.Lost == nil {
		r.Lost = map[record.Cause]int{}
	}
	if r.Warnings == nil {
		r.Warnings = []record.Warning{}
	}
	if pass, err := e.Pass(ctx, id, false); err == nil {
		r.Pass = &pass
	}
	if r.Scorers, err = db.Standings(ctx, id); err != nil {
		return nil, err
	}
	posed, err := db.Posed(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, p := range posed {
		r.Arms[p.Arm]++
	}
	if r.Journal, err = db.Journal(ctx, id); err != nil {
		return nil, err
	}
	if r.Journal == nil {
		r.Journal = []record.JournalEntry{}
	}
	children, err := db.Children(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, child := range children {
		line, err := lineOf(ctx, e, child)
		if err != nil {
			return nil, err
		}
		r.Children = append(r.Children, line)
	}
	return r, nil
}

// writeStandings says which scorer version the numbers are of, and how far others are.
func writeStandings(w io.Writer, standings []record.Standing) {
	for _, s := range standings {
		fmt.Fprintf(w, "  %s  judged %d of %d", plain(s.Scorer), s.Judged, s.Done)
		if s.Own {
			fmt.Fprint(w, ", gives the reward")
		}
		fmt.Fprintln(w)
	}
}

func writeShow(w io.Writer, r *showResult) {
	name := r.Run
	if r.Name != "" {
		name += " (" + r.Name + ")"
	}
	fmt.Fprintf(w, "run %s  recipe %s  agent %s\n", plain(name), plain(r.Recipe), plain(r.Agent))
	fmt.Fprintf(w, "  %s, %s; mode %s, seed %d, k %d, %s\n", r.Status, strings.ReplaceAll(string(r.Stopped), "_", " "), r.Mode, r.Seed, r.Repeats, record.Counted(r.EvalRuns, "eval run"))
	fmt.Fprintf(w, "  %s, %s done, %d graded", record.Counted(r.Tasks, "task"), record.Counted(r.Rollouts, "rollout"), r.Graded)
	for _, cause := range slices.Sorted(maps.Keys(r.Lost)) {
		fmt.Fprintf(w, ", %d lost to %s", r.Lost[cause], cause)
	}
	fmt.Fprintln(w)
	if u := r.Spent.Total(); u != (record.Usage{}) {
		fmt.Fprintf(w, "  spent    %s\n", usage(u))
	}
	if r.Pass != nil {
		writeRates(w, r.Pass, "held-out task")
	}
	writeStandings(w, r.Scorers)
	if c := r.Coverage; c != nil {
		fmt.Fprintf(w, "  coverage strength %d: %d of %d planned tuples came back, %d thinned with their faults; array of %d rows (no fewer than %d), %d posed\n",
			c.Strength, c.Covered, c.Planned, c.Thinned, c.Rows, c.LowerBound, c.Posed)
	}
	if c := r.Coverage; c != nil && c.Points > 0 {
		fmt.Fprintf(w, "  mix      %d of %d situations of the grid are hard (%d%%)\n", c.Hard, c.Points, 100*c.Hard/c.Points)
	}
	for _, arm := range slices.Sorted(maps.Keys(r.Arms)) {
		fmt.Fprintf(w, "  arm %-18s %s\n", arm, record.Counted(r.Arms[arm], "task"))
	}
	for _, child := range r.Children {
		fmt.Fprintf(w, "  %-7s %s  %s  pass@1 %s\n", child.Role, child.Run, child.Status, estimate(child.PassAt1, "task"))
	}
	if r.Error != "" {
		fmt.Fprintf(w, "  first error: %s\n", plain(string(r.Error)))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "  ! %s\n", plain(warning.Text))
		if warning.Fix != "" {
			fmt.Fprintf(w, "    %s\n", plain(warning.Fix))
		}
	}
}
