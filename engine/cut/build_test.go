package cut_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"assay/engine/cut"
	"assay/engine/record"
)

// pool builds samples of a run, rollout by rollout.
type pool struct {
	samples []record.Sample
	tasks   map[string]*record.Task
}

func newPool() *pool { return &pool{tasks: map[string]*record.Task{}} }

func (p *pool) task(name string) *record.Task {
	t, ok := p.tasks[name]
	if !ok {
		t = &record.Task{ID: name, SituationID: "s-" + name, Ask: record.Text("Please see to " + name)}
		p.tasks[name] = t
	}
	return t
}

// add puts in a graded rollout whose words are its own.
func (p *pool) add(task string, k int, reward float64) *record.Sample {
	p.samples = append(p.samples, record.Sample{
		Posed: record.Posed{Task: p.task(task)},
		Outcome: record.Outcome{
			Rollout: record.Rollout{Key: record.Key{TaskID: task, K: k}, Status: record.StatusDone, PolicyVersion: "p1",
				FinalText: record.Text(fmt.Sprintf("Reply %s %d", task, k)), FinishReason: record.FinishStop},
			Judgment: &record.Judgment{Status: record.JudgeOK, Reward: &reward},
		},
	})
	return &p.samples[len(p.samples)-1]
}

// group puts in one rollout a reward, k from 0.
func (p *pool) group(task string, rewards ...float64) {
	for k, r := range rewards {
		p.add(task, k, r)
	}
}

func (p *pool) cut(t *testing.T, target cut.Target, o cut.Options) *cut.Selection {
	t.Helper()
	s, err := cut.Select(target, p.samples, o)
	if err != nil && !errors.Is(err, cut.ErrEmpty) {
		t.Fatal(err)
	}
	if o.Mode == "" { // a selection must add up whatever it holds
		adds(t, s)
	}
	return s
}

// adds checks that each gate takes what the one before left, and that what is left is
// what is selected.
func adds(t *testing.T, s *cut.Selection) {
	t.Helper()
	in := s.RowsIn
	for _, g := range s.Gates {
		if g.In != in || g.Out > g.In || g.Out == g.In && len(g.Examples) > 0 || g.Out < g.In && len(g.Examples) == 0 {
			t.Errorf("gate %+v after %d rows", g, in)
		}
		in = g.Out
	}
	taken := make([]int, len(s.Gates))
	for _, d := range s.Dropped {
		taken[d.Gate]++
		if d.Why == "" || d.Sample == nil {
			t.Errorf("dropped without a reason: %+v", d)
		}
	}
	for i, g := range s.Gates {
		if taken[i] != g.In-g.Out {
			t.Errorf("gate %s took %d rows and names %d", g.Name, g.In-g.Out, taken[i])
		}
	}
	if !slices.IsSortedFunc(s.Dropped, func(a, b cut.Dropped) int { return a.Gate - b.Gate }) {
		t.Error("what was dropped does not stand in the order of the gates")
	}
	tasks := 0
	for _, tier := range s.Tiers {
		tasks += tier.Tasks
	}
	if tasks != len(s.Rates) {
		t.Errorf("%d tasks in tiers, %d rates", tasks, len(s.Rates))
	}
	rows := len(s.Rows) + 2*len(s.Pairs)
	for _, g := range s.Groups {
		rows += len(g.Rows)
	}
	if in != s.RowsOut || rows != s.RowsOut {
		t.Errorf("the last gate left %d, rows_out is %d, the selection holds %d", in, s.RowsOut, rows)
	}
}

func lost(s *cut.Selection, name string) int {
	at := slices.IndexFunc(s.Gates, func(g cut.Gate) bool { return g.Name == name })
	if at < 0 {
		return -1
	}
	return s.Gates[at].In - s.Gates[at].Out
}

func warned(s *cut.Selection, code string) bool {
	return slices.ContainsFunc(s.Warnings, func(w record.Warning) bool { return w.Code == code })
}

// names lists the rollouts of a selection as task#k.
func names(s *cut.Selection) []string {
	var out []string
	add := func(r cut.Row) { out = append(out, r.Sample.Rollout.Key.String()) }
	for _, r := range s.Rows {
		add(r)
	}
	for _, g := range s.Groups {
		for _, r := range g.Rows {
			add(r)
		}
	}
	for _, p := range s.Pairs {
		add(p.Chosen)
		add(p.Rejected)
	}
	return out
}
