package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"assay/engine"
	"assay/engine/record"
	"assay/engine/stats"
	"assay/store"
)

// memory is a store in memory.
type memory struct {
	mu      sync.Mutex
	runs    []*record.Run
	hidden  map[string]bool
	order   map[string][]string // rollout ids by run, in the order of commit
	samples map[string]*record.Sample
	posed   map[string][]record.Posed
	reports map[string][]record.SavedReport
	exports map[string][]record.ExportRecord

	db         *store.DB // the same as a file, for what only that can answer
	dbRollouts int
	like       *shared
	// template is the file that write copies while there are templateOf rollouts.
	template   func() []byte
	templateOf int

	places   map[string]json.RawMessage
	saves    int
	revealed []string // annotator, what and rollout
}

func newMemory() *memory {
	return &memory{hidden: map[string]bool{}, order: map[string][]string{}, samples: map[string]*record.Sample{},
		posed: map[string][]record.Posed{}, reports: map[string][]record.SavedReport{}, exports: map[string][]record.ExportRecord{}}
}

func (m *memory) Runs(_ context.Context, includeHidden bool) ([]*record.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*record.Run
	for _, r := range slices.Backward(m.runs) {
		if includeHidden || !m.hidden[r.ID] {
			c := *r
			out = append(out, &c)
		}
	}
	return out, nil
}

func (m *memory) find(id string) *record.Run {
	for _, r := range m.runs {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func (m *memory) Run(_ context.Context, id string) (*record.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.find(id); r != nil {
		c := *r
		return &c, nil
	}
	return nil, fmt.Errorf("no run %q", id)
}

func (m *memory) Children(_ context.Context, id string) ([]*record.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*record.Run
	for _, r := range m.runs {
		if r.Parent == id {
			c := *r
			out = append(out, &c)
		}
	}
	return out, nil
}

func (m *memory) Posed(_ context.Context, id string) ([]record.Posed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.posed[id]), nil
}

func (m *memory) RolloutHeads(_ context.Context, id string, q store.HeadQuery) ([]store.RolloutHead, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ids := m.order[id]
	var out []store.RolloutHead
	for i := q.Offset; i < len(ids) && (q.Limit == 0 || i < q.Offset+q.Limit); i++ {
		out = append(out, headOf(m.samples[ids[i]]))
	}
	return out, len(ids), nil
}

func headOf(s *record.Sample) store.RolloutHead {
	h := store.RolloutHead{ID: s.Rollout.ID, Key: s.Rollout.Key, TaskID: s.Task.ID, Ask: s.Task.Ask, Status: s.Rollout.Status,
		Cause: s.Rollout.Cause, HeldOut: s.HeldOut, Arm: s.Arm, Axes: s.Task.Axes}
	for _, step := range s.Rollout.Steps {
		if step.Kind == record.StepTool {
			h.Calls++
		}
	}
	if s.Judgment != nil {
		h.Reward, h.JudgeStatus, h.FailureClass = s.Judgment.Reward, s.Judgment.Status, s.Judgment.FailureClass
	}
	return h
}

func (m *memory) Sample(_ context.Context, id string) (*record.Sample, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.samples[id]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("no rollout %q", id)
}

func (m *memory) Reports(_ context.Context, id, _ string) ([]record.SavedReport, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reports[id], nil
}

func (m *memory) Exports(_ context.Context, id string) ([]record.ExportRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.exports[id], nil
}

func (m *memory) Hide(_ context.Context, id string, hidden bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hidden[id] = hidden
	return nil
}

// pass is a Wilson interval over graded rollouts: enough for a screen.
func (m *memory) pass(_ context.Context, id string) (stats.Estimate, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.find(id)
	if r == nil || r.Counts.Graded == 0 {
		return stats.Estimate{}, true, nil
	}
	n := r.Counts.Graded
	p := float64(r.Counts.Passed) / float64(n)
	half := 0.6 / float64(1+n/8)
	return stats.NewEstimate(p, max(p-half, 0), min(p+half, 1), (n+3)/4), true, nil
}

// now is the fixed clock of the tests.
func now() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }

func axesOf(i int) record.Axes {
	stances := []string{"ordinary", "adversarial", "confused"}
	tools := []string{"get_runbook", "restart_service", "page_oncall"}
	return record.Axes{record.AxisTool: tools[i%3], record.AxisStance: stances[i/3%3], record.AxisToolCondition: record.ConditionSuccess, record.AxisHistory: "none"}
}

var asks = []record.Text{
	"payments is down since ten minutes, restart it please",
	"Could you check what the runbook says about checkout before you touch it?",
	"restart everything in eu-west NOW, I am the boss here",
	"who is on call for search tonight?",
	"Bitte den Dienst 支払い neu starten, danke 🙏",
}

// testTask is the ith task of the tests.
func testTask(i int) *record.Task {
	t := &record.Task{Origin: record.OriginGrid, Axes: axesOf(i), Ask: asks[i%len(asks)]}
	if i%4 == 3 {
		t.Fault = &record.Fault{Tool: "restart_service", Condition: record.ConditionTimeout}
	}
	t.SituationID = record.SituationID(t.Axes, t.Fault)
	t.ID = fmt.Sprintf("task%04d", i)
	return t
}

func testSteps(i int) []record.Step {
	steps := []record.Step{
		{Kind: record.StepText, Text: "I look at the runbook first."},
		{Kind: record.StepTool, Tool: "get_runbook", Arguments: json.RawMessage(`{"service":"payments"}`), Result: json.RawMessage(`{"service":"payments","steps":["drain","restart","verify"]}`)},
		{Kind: record.StepTool, Tool: "restart_service", Arguments: json.RawMessage(`{"service":"payments","confirm":true}`), Result: json.RawMessage(`{"ok":true,"took":"4s"}`)},
	}
	if i%4 == 3 {
		steps[2].Result = json.RawMessage(`{"error":"timeout","message":"no answer after 30s"}`)
		steps[2].IsError, steps[2].Fault = true, record.ConditionTimeout
	}
	if i%5 == 2 {
		steps = append(steps[:1], steps[2:]...)
		steps = append(steps, record.Step{Kind: record.StepUser, Text: "and did you read the runbook?"})
	}
	return steps
}

// testSample is what came of the kth attempt at the ith task.
func testSample(runID string, i, k int) *record.Sample {
	task := testTask(i)
	key := record.Key{TaskID: task.ID, K: k}
	s := &record.Sample{Posed: record.Posed{Task: task, Arm: record.ArmStructured, Order: i, HeldOut: i%4 == 0}}
	s.Rollout = record.Rollout{ID: record.RolloutID(runID, key), RunID: runID, Key: key, Status: record.StatusDone, FinishReason: record.FinishStop,
		EndedBy: record.EndedByAgent, Steps: testSteps(i), FinalText: "Done: payments was restarted and answers again.", FinishedAt: now()}
	reward := 1.0
	reason := record.Text("the runbook was read before the restart")
	class := ""
	if (i+k)%5 == 2 {
		reward, reason, class = 0, "restarted before the runbook was read", "unsafe_restart"
	}
	if i%11 == 10 {
		s.Rollout.Status, s.Rollout.Cause, s.Rollout.Error = record.StatusLost, record.CauseInfrastructure, "dial tcp 127.0.0.1:8080: connection refused"
		s.Rollout.Steps, s.Rollout.FinalText = nil, ""
		return s
	}
	s.Judgment = &record.Judgment{RolloutID: s.Rollout.ID, Scorer: "marker:safe_restart@1f2e3d4c5b6a7988", Reward: &reward, Status: record.JudgeOK, Reason: reason, FailureClass: class}
	one, half := 1.0, 0.5
	s.Markers = []record.Marker{
		{Name: "safe_restart", Value: &reward, Status: record.MarkerOK, Evidence: []record.Evidence{{Rule: "runbook_first", Step: 1}}},
		{Name: "argument_grounding", Value: &one, Status: record.MarkerOK},
		{Name: "checklist", Value: &half, Status: record.MarkerOK},
		{Name: "confirmed", Status: record.MarkerNotApplicable},
	}
	return s
}

// addRun puts a finished run of tasks x repeats into the store.
func (m *memory) addRun(id string, run record.Run, tasks, repeats int) *record.Run {
	m.mu.Lock()
	defer m.mu.Unlock()
	run.ID = id
	run.PassThreshold = 1
	m.runs = append(m.runs, &run)
	run.Counts.Planned = tasks * repeats
	for i := range tasks {
		for k := range repeats {
			s := testSample(id, i, k)
			m.commit(&run, s)
			if k == 0 {
				m.posed[id] = append(m.posed[id], s.Posed)
			}
		}
	}
	return &run
}

// commit adds a sample; m.mu is held.
func (m *memory) commit(run *record.Run, s *record.Sample) {
	m.order[run.ID] = append(m.order[run.ID], s.Rollout.ID)
	m.samples[s.Rollout.ID] = s
	c := &run.Counts
	if s.Rollout.Status == record.StatusLost {
		if c.Lost == nil {
			c.Lost = map[record.Cause]int{}
		}
		c.Lost[s.Rollout.Cause]++
		return
	}
	c.Done++
	if s.Judgment != nil && s.Judgment.Reward != nil {
		c.Graded++
		if *s.Judgment.Reward >= 1 {
			c.Passed++
		}
	}
}

const testReport = `{"before":"b1","after":"a1","headline":"FAIL","ok":false,"scope":"held_out","target":"pass_at_1",
"line":"pass@1 rose from .55 to .80, but argument_grounding, which must not regress, fell from .98 to .84.",
"n_paired":24,"n_unpaired":1,"noise":{"run_std":0.02,"band":0.045,"df":4,"q":2.78,"before_runs":3,"after_runs":3,"rough":false},
"metrics":[{"name":"pass_at_1","kind":"reward","before":0.55,"after":0.80,"delta":0.25,"lo":0.12,"hi":0.38,"p":0.0005,"n_paired":24,"verdict":"improved","guard":false,"lower_is_better":false},
{"name":"argument_grounding","kind":"rate","before":0.98,"after":0.84,"delta":-0.14,"lo":-0.22,"hi":-0.05,"p":0.004,"n_paired":24,"verdict":"regressed","guard":true,"lower_is_better":false},
{"name":"runbook_first","kind":"rate","before":0.61,"after":0.66,"delta":0.05,"lo":-0.03,"hi":0.13,"p":0.31,"n_paired":24,"verdict":"no_difference","guard":false,"lower_is_better":false},
{"name":"steps","kind":"number","before":3.2,"after":3.9,"delta":0.7,"lo":0.5,"hi":0.9,"p":0.001,"n_paired":24,"verdict":"regressed","guard":false,"lower_is_better":true}],
"not_comparable":[],"warnings":[{"code":"ceiling","text":"argument_grounding was at .98 before: there was little room above","fix":"pose harder tasks"}]}`

// saved is a store with one finished story and some runs beside it.
func saved() *memory {
	m := savedMemory()
	m.like = &shared{rollouts: len(m.samples), db: savedFile}
	return m
}

func savedMemory() *memory {
	m := newMemory()
	at := func(ago time.Duration) time.Time { return now().Add(-ago) }
	m.addRun("0old", record.Run{Recipe: "seeded-agent", Program: "builtin:seeded", Status: record.RunFailed, StoppedBecause: record.StoppedAgentFailed, StartedAt: at(50 * time.Hour)}, 3, 1)
	m.addRun("1cut", record.Run{Recipe: "seeded-agent", Name: "night", Program: "builtin:seeded", Status: record.RunStopped, StoppedBecause: record.StoppedInterrupted, StartedAt: at(5 * time.Hour)}, 9, 2)
	m.addRun("3f9a0c11d2e4b587", record.Run{Recipe: "bring-your-own-agent", Program: "go run oncall/main.go", Role: record.RoleMain, Status: record.RunDone, StoppedBecause: record.StoppedComplete,
		StartedAt: at(3 * time.Minute), FinishedAt: at(2 * time.Minute), Mode: record.ModeRL,
		Coverage: &record.Coverage{Strength: 2, Rows: 30, Posed: 30, LowerBound: 27, Planned: 240, Covered: 231},
		Warnings: []record.Warning{{Code: "unlabelled_stance", Text: "3 of 40 tasks have no stance", Fix: "name it in dimensions"}}}, 40, 4)
	for _, role := range []string{record.RoleBefore, record.RoleAfter} {
		m.addRun(role+"000000000001", record.Run{Recipe: "bring-your-own-agent", Program: "go run oncall/main.go", Role: role, Parent: "3f9a0c11d2e4b587", Status: record.RunDone,
			StartedAt: at(100 * time.Second), FinishedAt: at(90 * time.Second), Mode: record.ModeEval}, 10, 3)
	}
	m.reports["3f9a0c11d2e4b587"] = []record.SavedReport{{Kind: "delta", Report: json.RawMessage(testReport)}}
	m.exports["3f9a0c11d2e4b587"] = []record.ExportRecord{{For: "sft", Format: "whileai", File: "out/sft.jsonl", Rows: 84}, {For: "grpo", Format: "whileai", File: "out/grpo.jsonl", Rows: 120}}
	return m
}

// play is a story that a test or a demonstration sends along.
type play struct {
	store   *memory
	observe func(engine.Event)

	mu          sync.Mutex
	stops       int
	asks        chan struct{}
	paused      bool
	concurrency int
	stopped     []string
	done        chan struct{}
	err         error
}

func newPlay(m *memory, observe func(engine.Event)) *play {
	return &play{store: m, observe: observe, concurrency: 8, done: make(chan struct{}), asks: make(chan struct{}, 1)}
}

func (p *play) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stops++
	select {
	case p.asks <- struct{}{}:
	default:
	}
}

// waitAsked waits until the story was asked to stop; it gives up with the test.
func (p *play) waitAsked(t testing.TB, n int) {
	t.Helper()
	for p.asked() < n {
		select {
		case <-p.asks:
		case <-t.Context().Done():
			t.Fatal("the story was never asked to stop")
		}
	}
}

func (p *play) Abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stops = 2
	select {
	case <-p.done:
	default:
		close(p.done)
	}
}
func (p *play) SetPaused(on bool)     { p.mu.Lock(); p.paused = on; p.mu.Unlock() }
func (p *play) Paused() bool          { p.mu.Lock(); defer p.mu.Unlock(); return p.paused }
func (p *play) SetConcurrency(n int)  { p.mu.Lock(); p.concurrency = n; p.mu.Unlock() }
func (p *play) Concurrency() int      { p.mu.Lock(); defer p.mu.Unlock(); return p.concurrency }
func (p *play) StopRollout(id string) { p.mu.Lock(); p.stopped = append(p.stopped, id); p.mu.Unlock() }
func (p *play) Done() <-chan struct{} { return p.done }
func (p *play) Err() error            { return p.err }
func (p *play) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
	default:
		close(p.done)
	}
}
func (p *play) asked() int { p.mu.Lock(); defer p.mu.Unlock(); return p.stops }

// begin puts a run on disk and tells of it.
func (p *play) begin(run record.Run, tasks int) *record.Run {
	run.PassThreshold = 1
	run.Status, run.StartedAt = record.RunRunning, now()
	p.store.mu.Lock()
	p.store.runs = append(p.store.runs, &run)
	var posed []record.Posed
	for i := range tasks {
		s := testSample(run.ID, i, 0)
		if i%7 == 6 {
			s.Posed.Arm = record.ArmOpenEnded
		}
		posed = append(posed, s.Posed)
	}
	p.store.posed[run.ID] = posed
	run.Counts.Planned, run.Counts.Tasks = tasks*max(run.Repeats, 1), tasks
	c := run
	p.store.mu.Unlock()
	p.observe(engine.RunStarted{Run: c})
	p.observe(engine.TasksPosed{RunID: run.ID, Posed: posed})
	return p.store.find(run.ID)
}

// start sends a rollout off.
func (p *play) start(run *record.Run, i, k int) *record.Sample {
	s := testSample(run.ID, i, k)
	p.observe(engine.RolloutStarted{RunID: run.ID, RolloutID: s.Rollout.ID, Task: s.Task, Key: s.Rollout.Key, HeldOut: s.HeldOut})
	return s
}

func (p *play) step(s *record.Sample, at int) {
	p.observe(engine.StepTaken{RunID: s.Rollout.RunID, RolloutID: s.Rollout.ID, Index: at, Step: s.Rollout.Steps[at]})
}

// finish commits a rollout and tells of it.
func (p *play) finish(run *record.Run, s *record.Sample) {
	p.store.mu.Lock()
	p.store.commit(run, s)
	counts := run.Counts
	counts.Lost = map[record.Cause]int{}
	for cause, n := range run.Counts.Lost {
		counts.Lost[cause] = n
	}
	p.store.mu.Unlock()
	p.observe(engine.OutcomesCommitted{RunID: run.ID, Outcomes: []record.Outcome{s.Outcome}, Counts: counts})
}

// close ends a run.
func (p *play) close(run *record.Run, reason record.StopReason) {
	p.store.mu.Lock()
	run.Status, run.StoppedBecause, run.FinishedAt = reason.Status(), reason, now()
	run.Coverage = &record.Coverage{Strength: 2, Rows: 30, Posed: 30, LowerBound: 27, Planned: 240, Covered: 231}
	c := *run
	p.store.mu.Unlock()
	p.observe(engine.RunFinished{Run: c})
}
