package tui

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
)

// source is a memory as the engine reads it, as far as comparing and cutting ask.
type source struct {
	engine.Source
	m *memory
}

func (s source) Run(ctx context.Context, id string) (*record.Run, error) { return s.m.Run(ctx, id) }

func (s source) Posed(ctx context.Context, id string) ([]record.Posed, error) {
	return s.m.Posed(ctx, id)
}

func (s source) Samples(ctx context.Context, id string, q record.SampleQuery) iter.Seq2[*record.Sample, error] {
	return func(yield func(*record.Sample, error) bool) {
		s.m.mu.Lock()
		var all []*record.Sample
		for _, rollout := range s.m.order[id] {
			if sample := s.m.samples[rollout]; sample.Rollout.Status == record.StatusDone || slices.Contains(q.Statuses, sample.Rollout.Status) {
				all = append(all, sample)
			}
		}
		s.m.mu.Unlock()
		slices.SortFunc(all, func(a, b *record.Sample) int { return a.Rollout.Key.Compare(b.Rollout.Key) })
		for _, sample := range all {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(sample, nil) {
				return
			}
		}
	}
}

func (s source) CompleteScorers(ctx context.Context, id string) ([]string, error) {
	run, err := s.m.Run(ctx, id)
	if err != nil || run.Scorer == "" {
		return nil, err
	}
	return []string{run.Scorer}, nil
}

func (s source) Labels(context.Context, string) ([]record.Label, error) { return nil, nil }

func (s source) QueueItems(context.Context, string) ([]record.QueueItem, error) { return nil, nil }

func (s source) Reveals(context.Context, string) ([]record.Reveal, error) { return nil, nil }

func (s source) Trained(context.Context, []string) (map[string]bool, error) { return nil, nil }

// exporter writes a line a row, and refuses what the real one does.
type exporter struct{ m *memory }

func (e exporter) Export(_ context.Context, t *record.Training, format, file string) error {
	if format == "openai" && t.For != "sft" {
		return record.Problemf("invalid", "use whileai or trl", "the openai format is for sft, not %s", t.For)
	}
	rows := len(t.Rows) + len(t.Pairs)
	for _, g := range t.Groups {
		rows += len(g.Samples)
	}
	text := ""
	for i := range rows {
		text += fmt.Sprintf("{\"row\":%d}\n", i)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	e.m.exports[t.Run.ID] = append(e.m.exports[t.Run.ID], record.ExportRecord{RunID: t.Run.ID, For: t.For, Format: format, File: file, Rows: rows, TaskIDs: t.TaskIDs()})
	return nil
}

// withEngine lets a driver compare and cut what a memory holds.
func withEngine(t testing.TB, m *memory) func(*Options) {
	return func(o *Options) {
		o.Engine = &engine.Engine{Source: source{m: m}, Exporter: exporter{m}, Now: now}
		o.Dir = t.TempDir()
	}
}

// Runs of the story that is compared.
const (
	comparedMain   = "c0ffee000001"
	comparedBefore = "c0ffee000002"
	comparedAfter  = "c0ffee000003"
)

// comparedTask is the ith task of the compared story: its first 24 are held out. Some
// training tasks have the ask of a held-out one.
func comparedTask(i int) *record.Task {
	known, ok := comparedTasks.Load(i)
	if !ok {
		known, _ = comparedTasks.LoadOrStore(i, newComparedTask(i))
	}
	t := *known.(*record.Task)
	t.Axes = maps.Clone(t.Axes)
	return &t
}

// comparedTasks keeps each task: naming one by its content is most of the work of a story.
var comparedTasks sync.Map

func newComparedTask(i int) *record.Task {
	t := testTask(i)
	t.Ask = record.Text(fmt.Sprintf("restart payments-%d please", i))
	switch {
	case i >= 24 && i%9 == 4:
		t.Ask = record.Text(fmt.Sprintf("restart payments-%d please", i-24))
	case i%6 == 5:
		t.Ask = record.Text(fmt.Sprintf("Bitte den Dienst 支払い-%d neu starten, danke 🙏", i))
	}
	t.Axes[record.AxisRule] = fmt.Sprintf("rule %d", i)
	t.SituationID = record.SituationID(t.Axes, t.Fault)
	t.World, t.User = record.World{}, record.User{Kind: "scripted"}
	t.Identify()
	return t
}

// comparedSample is one rollout of it. Whether it passes is the side's chance, task by
// task.
func comparedSample(run *record.Run, i, evalRun, k int) *record.Sample {
	task := comparedTask(i)
	key := record.Key{TaskID: task.ID, EvalRun: evalRun, K: k}
	s := &record.Sample{Posed: record.Posed{Task: task, Arm: record.ArmStructured, Order: i, HeldOut: i < 24}}
	s.Rollout = record.Rollout{ID: record.RolloutID(run.ID, key), RunID: run.ID, Key: key, Status: record.StatusDone, FinishReason: record.FinishStop, EndedBy: record.EndedByAgent,
		PolicyVersion: "policy1", Steps: testSteps(i), FinalText: record.Text(fmt.Sprintf("Done: payments was restarted and answers again, as of minute %d.", k%3)), StartedAt: now(), FinishedAt: now()}
	luck := (i*7 + evalRun*3 + k*5) % 10
	pass := luck >= 5
	switch run.Role {
	case record.RoleMain: // from always to never
		pass = (i*7+k*3)%10 >= i%6*2
	case record.RoleAfter:
		pass = luck >= 2 && i%8 != 5
	}
	reward, reason, class, grounded := 1.0, "the runbook was read before the restart", "", 1.0
	if !pass {
		reward, reason, class = 0, "restarted before the runbook was read", "unsafe_restart"
		s.Rollout.Steps = slices.DeleteFunc(s.Rollout.Steps, func(step record.Step) bool { return step.Tool == "get_runbook" })
		s.Rollout.FinalText = "I restarted payments."
	}
	if run.Role == record.RoleAfter && luck >= 8 {
		grounded = 0
	}
	steps := float64(len(s.Rollout.Steps))
	s.Judgment = &record.Judgment{RolloutID: s.Rollout.ID, Scorer: run.Scorer, Reward: &reward, Status: record.JudgeOK, Reason: record.Text(reason), FailureClass: class}
	mark := func(name string, v *float64) {
		status := record.MarkerOK
		if v == nil {
			status = record.MarkerNotApplicable
		}
		s.Markers = append(s.Markers, record.Marker{RolloutID: s.Rollout.ID, Scorer: run.Scorer, Name: name, Value: v, Status: status})
	}
	mark("argument_grounding", &grounded)
	mark("steps", &steps)
	if i%3 == 0 {
		mark("confirmed", &reward)
	} else {
		mark("confirmed", nil)
	}
	return s
}

// compared is a finished story whose before and after can be compared, and whose first
// run can be cut; no report was saved.
func compared() *memory {
	m := newMemory()
	scorer := record.NewScorer("marker", "safe_restart", "", "", nil)
	for _, run := range []*record.Run{
		{ID: comparedMain, Role: record.RoleMain, Mode: record.ModeRL, Repeats: 6, StartedAt: now().Add(-3 * time.Minute)},
		{ID: comparedBefore, Role: record.RoleBefore, Parent: comparedMain, Mode: record.ModeEval, Repeats: 2, EvalRuns: 3, PosedBy: comparedMain, StartedAt: now().Add(-2 * time.Minute)},
		{ID: comparedAfter, Role: record.RoleAfter, Parent: comparedMain, Mode: record.ModeEval, Repeats: 2, EvalRuns: 3, PosedBy: comparedMain, StartedAt: now().Add(-time.Minute)},
	} {
		run.Recipe, run.Program, run.PassThreshold = "oncall", "go run oncall/main.go", 1
		run.Scorer, run.Scorers = scorer.ID, []record.Scorer{scorer}
		run.Status, run.StoppedBecause, run.FinishedAt = record.RunDone, record.StoppedComplete, run.StartedAt.Add(30*time.Second)
		m.runs = append(m.runs, run)
		tasks := 60
		if run.Mode == record.ModeEval {
			tasks = 24
		}
		for i := range tasks {
			for e := range max(run.EvalRuns, 1) {
				for k := range run.Repeats {
					s := comparedSample(run, i, e, k)
					m.commit(run, s)
					if e+k == 0 {
						m.posed[run.ID] = append(m.posed[run.ID], s.Posed)
					}
				}
			}
		}
		run.Counts.Tasks, run.Counts.Planned = tasks, run.Counts.Done
	}
	return m
}

// reported is compared with its report saved, as a story saves it.
func reported() *memory {
	m := compared()
	e := &engine.Engine{Source: source{m: m}}
	r, err := e.Delta(context.Background(), comparedBefore, comparedAfter, engine.DeltaOptions{MustNotRegress: []string{"argument_grounding"}, LowerIsBetter: []string{"steps"}})
	if err != nil {
		panic(err)
	}
	raw, err := record.Marshal(r)
	if err != nil {
		panic(err)
	}
	m.reports[comparedMain] = []record.SavedReport{{Kind: "delta", RunID: comparedMain, Before: comparedBefore, After: comparedAfter, Report: raw}}
	return m
}

// fileOf is a memory's runs in a store's file, markers and all.
func fileOf(t *testing.T, m *memory) *store.DB {
	t.Helper()
	ctx := t.Context()
	db, err := store.Open(ctx, filepath.Join(t.TempDir(), "assay.db"), store.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, run := range m.runs {
		c := *run
		c.Status, c.StoppedBecause = record.RunRunning, ""
		check(db.CreateRun(ctx, &c))
		check(db.CommitTasks(ctx, run.ID, m.posed[run.ID]))
		var outcomes []record.Outcome
		for _, id := range m.order[run.ID] {
			outcomes = append(outcomes, m.samples[id].Outcome)
		}
		slices.SortFunc(outcomes, func(a, b record.Outcome) int { return cmp.Compare(a.Rollout.ID, b.Rollout.ID) })
		check(db.CommitOutcomes(ctx, run.ID, outcomes))
		check(db.UpdateRun(ctx, run))
	}
	for _, reports := range m.reports {
		for _, r := range reports {
			check(db.SaveReport(ctx, r))
		}
	}
	return db
}
