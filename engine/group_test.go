package engine

import (
	"slices"
	"testing"

	"assay/engine/record"
)

func reward(v float64) *float64 { return &v }

func TestGroupProbes(t *testing.T) {
	task := &record.Posed{Task: &record.Task{ID: "t"}}
	held := &record.Posed{Task: &record.Task{ID: "h"}, HeldOut: true}
	rl := Settings{Mode: record.ModeRL, Repeats: 6}
	all := []int{0, 1, 2, 3, 4, 5}
	for name, c := range map[string]struct {
		posed    *record.Posed
		settings Settings
		came     map[int]*float64
		next     []int
		wants    int
	}{
		"a training task begins with its probes": {task, rl, nil, []int{0, 1}, 2},
		"one probe back":                         {task, rl, map[int]*float64{1: reward(1)}, []int{0}, 2},
		"both pass: nothing to learn":            {task, rl, map[int]*float64{0: reward(1), 1: reward(1)}, nil, 2},
		"both fail: nothing to learn":            {task, rl, map[int]*float64{0: reward(0), 1: reward(0.9)}, nil, 2},
		"split: the group goes on":               {task, rl, map[int]*float64{0: reward(0), 1: reward(1)}, []int{2, 3, 4, 5}, 6},
		"ungraded: the group goes on":            {task, rl, map[int]*float64{0: nil, 1: reward(1)}, []int{2, 3, 4, 5}, 6},
		"resumed in the middle":                  {task, rl, map[int]*float64{0: reward(0), 1: reward(1), 3: reward(1)}, []int{2, 4, 5}, 6},
		"a held-out task gets them all":          {held, rl, nil, all, 6},
		"eval has no probes":                     {task, Settings{Mode: record.ModeEval, Repeats: 6}, map[int]*float64{2: reward(1)}, []int{0, 1, 3, 4, 5}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(c.posed, 0, c.settings)
			for k, r := range c.came {
				g.take(k, r)
			}
			if got := g.next(1); !slices.Equal(got, c.next) {
				t.Errorf("next is %v, want %v", got, c.next)
			}
			if got := g.wants(1); got != c.wants {
				t.Errorf("wants %d, want %d", got, c.wants)
			}
		})
	}
}

func TestGroupTakesEachOnce(t *testing.T) {
	g := newGroup(&record.Posed{Task: &record.Task{ID: "t"}}, 0, Settings{Mode: record.ModeRL, Repeats: 4})
	if g.take(0, reward(0)) || g.take(0, reward(1)) {
		t.Error("one probe, or the same twice, settles the probes")
	}
	if !g.take(1, reward(1)) {
		t.Error("the second probe does not settle them")
	}
	if g.take(1, reward(0)) || *g.probes[1] != 1 {
		t.Error("a second word on one rollout is heard")
	}
}
