package engine

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/engine/cover"
	"assay/engine/record"
	"assay/engine/search"
)

// oneRun is a source that knows one run.
type oneRun struct {
	Source
	run     *record.Run
	samples []record.Sample
	asked   int // how often its samples were read
}

func (s *oneRun) Resolve(_ context.Context, name string) (string, error) {
	if name == "earlier" || name == s.run.ID {
		return s.run.ID, nil
	}
	return "", record.Problemf("not_found", "assay runs", "there is no run %q", name)
}

func (s *oneRun) Run(context.Context, string) (*record.Run, error) { return s.run, nil }

func (s *oneRun) Samples(context.Context, string, record.SampleQuery) iter.Seq2[*record.Sample, error] {
	s.asked++
	return func(yield func(*record.Sample, error) bool) {
		for i := range s.samples {
			if !yield(&s.samples[i], nil) {
				return
			}
		}
	}
}

// A run keeps what it was aimed by, under the threshold of the run that it came
// from, and reads that run no more.
func TestAimIsKeptWithTheRun(t *testing.T) {
	half := 0.5
	sample := func(situation string, heldOut bool) record.Sample {
		return record.Sample{
			Posed:   record.Posed{HeldOut: heldOut, Task: &record.Task{SituationID: situation, Origin: record.OriginGrid, Axes: record.Axes{record.AxisStance: situation}}},
			Outcome: record.Outcome{Rollout: record.Rollout{Status: record.StatusDone}, Judgment: &record.Judgment{Status: record.JudgeOK, Reward: &half}},
		}
	}
	source := &oneRun{run: &record.Run{ID: "r1", PassThreshold: 0.6}, samples: []record.Sample{sample("hurried", false), sample("hurried", false), sample("unsure", true)}}
	e := &Engine{Source: source}
	p := &plan{recipe: &Recipe{Simulate: Simulate{Aim: "earlier"}}}
	run := &record.Run{Files: map[string]string{}}
	want := []search.Trace{
		{SituationID: "hurried", Axes: record.Axes{record.AxisStance: "hurried"}, Rollouts: 2, Failures: 2},
		{SituationID: "unsure", Axes: record.Axes{record.AxisStance: "unsure"}},
	}
	for range 2 { // the second time as a resume does it
		got, err := e.aimOf(t.Context(), p, run)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("aimed by:\n%s", diff)
		}
		source.samples = nil
	}
	if source.asked != 1 {
		t.Errorf("the earlier run was read %d times", source.asked)
	}

	p.recipe.Simulate.Aim = "nowhere"
	if _, err := e.aimOf(t.Context(), p, &record.Run{Files: map[string]string{}}); err == nil || !strings.Contains(err.Error(), "simulate.aim") {
		t.Errorf("a run that is not there gives %v", err)
	}
	p.recipe.Simulate.Aim = "earlier" // of which nothing is left
	if _, err := e.aimOf(t.Context(), p, &record.Run{Files: map[string]string{}}); err == nil || !strings.Contains(err.Error(), "no rollout") {
		t.Errorf("a run without rollouts gives %v", err)
	}
	p.recipe.Simulate.Aim = ""
	if got, err := e.aimOf(t.Context(), p, &record.Run{}); got != nil || err != nil {
		t.Errorf("no aim gives %v, %v", got, err)
	}
}

// A joint array that is extended holds the rows that were posed, and no more
// beside them than it takes.
func TestExtendedArray(t *testing.T) {
	m := cover.Model{Strength: 2}
	for _, name := range []string{record.AxisStance, record.AxisWorldState, record.AxisHistory, record.AxisToolCondition} {
		m.Parameters = append(m.Parameters, cover.Parameter{Name: name, Values: []string{"a", "b", "c", "d"}})
	}
	whole, err := cover.Build(t.Context(), m, cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var traces []search.Trace
	for _, row := range whole.Rows[:10] {
		axes := m.Axes(row)
		traces = append(traces, search.Trace{SituationID: record.SituationID(axes, nil), Axes: axes}, search.Trace{Axes: record.Axes{record.AxisStance: "b"}})
	}
	traces = append(traces, traces[0], search.Trace{SituationID: "of another grid", Axes: record.Axes{record.AxisStance: "z"}})
	longer, err := extended(t.Context(), whole, traces)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole.Rows[:10], longer.Rows[:10]); diff != "" {
		t.Errorf("the rows that were posed are not those:\n%s", diff)
	}
	if longer.Covered != longer.Planned || len(longer.Rows) > len(whole.Rows)+4 {
		t.Errorf("%d of %d pairs by %d rows; from nothing it takes %d", longer.Covered, longer.Planned, len(longer.Rows), len(whole.Rows))
	}
	same, err := extended(t.Context(), whole, nil)
	if err != nil || len(same.Rows) != len(whole.Rows) {
		t.Errorf("with nothing posed: %d rows, %v", len(same.Rows), err)
	}
}
