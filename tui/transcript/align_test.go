package transcript

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/record"
)

func said(text string) record.Step {
	return record.Step{Kind: record.StepText, Text: record.Text(text)}
}

func TestAlign(t *testing.T) {
	look, restart := tool("get_runbook", `{"s":1}`, `{"ok":1}`), tool("restart", `{"s":1}`, `{"ok":1}`)
	for _, c := range []struct {
		name    string
		a, b    []record.Step
		want    string
		parting int
	}{
		{"nothing", nil, nil, "[]", -1},
		{"another order of members", []record.Step{tool("x", `{"a":1,"b":2}`, `1`)}, []record.Step{tool("x", `{"b":2, "a":1}`, `1`)}, "[{0 0 0}]", -1},
		{"the same", []record.Step{look, restart}, []record.Step{look, restart}, "[{0 0 0} {1 1 0}]", -1},
		{"one skipped", []record.Step{look, restart}, []record.Step{restart}, "[{0 -1 3} {1 0 0}]", 0},
		{"one more", []record.Step{restart}, []record.Step{look, restart, look}, "[{-1 0 4} {0 1 0} {-1 2 4}]", 0},
		{"other arguments", []record.Step{look, restart}, []record.Step{look, tool("restart", `{"s":2}`, `{"ok":1}`)}, "[{0 0 0} {1 1 2}]", 1},
		{"another result", []record.Step{look}, []record.Step{tool("get_runbook", `{"s":1}`, `{"ok":0}`)}, "[{0 0 2}]", 0},
		{"other words", []record.Step{said("I look"), look}, []record.Step{said("Let me look"), look}, "[{0 0 1} {1 1 0}]", 0},
		{"words and then a call", []record.Step{said("I look"), look, restart}, []record.Step{said("Let me look"), restart}, "[{0 0 1} {1 -1 3} {2 1 0}]", 1},
		{"a user and an agent are not one", []record.Step{said("x")}, []record.Step{{Kind: record.StepUser, Text: "x"}}, "[{-1 0 4} {0 -1 3}]", 0},
		{"another tool", []record.Step{look}, []record.Step{restart}, "[{-1 0 4} {0 -1 3}]", 0},
	} {
		rows := align(c.a, c.b)
		if got := fmt.Sprint(rows); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if got := parting(rows, c.a, c.b); got != c.parting {
			t.Errorf("%s: they part at row %d, want %d", c.name, got, c.parting)
		}
	}
}

func steps(t *rapid.T, name string) []record.Step {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record.Step {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return said(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "text"))
		case 1:
			return record.Step{Kind: record.StepUser, Text: record.Text(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "text"))}
		}
		return tool(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "tool"), rapid.SampledFrom([]string{"1", "2"}).Draw(t, "arguments"), "1")
	}), 0, 9).Draw(t, name)
}

// Every step of either side stands in one row, in its order, and nothing beside what
// it is not comparable with; of all such alignments none is worth more.
func TestAlignKeepsEveryStepAndIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := steps(t, "a"), steps(t, "b")
		rows := align(a, b)
		actsA, actsB := actsOf(a), actsOf(b)
		nextA, nextB, total := 0, 0, 0
		for _, r := range rows {
			if r.left >= 0 {
				if r.left != nextA {
					t.Fatalf("rows %v: %d is not next on the left", rows, r.left)
				}
				nextA++
			}
			if r.right >= 0 {
				if r.right != nextB {
					t.Fatalf("rows %v: %d is not next on the right", rows, r.right)
				}
				nextB++
			}
			switch {
			case r.left >= 0 && r.right >= 0:
				s, w := actsA[r.left].to(&actsB[r.right])
				if w == 0 || r.same != s {
					t.Fatalf("row %v of %v", r, rows)
				}
				total += w
			case r.left >= 0 && r.same != onlyLeft, r.right >= 0 && r.same != onlyRight, r.left < 0 && r.right < 0:
				t.Fatalf("row %v of %v", r, rows)
			}
		}
		if nextA != len(a) || nextB != len(b) {
			t.Fatalf("rows %v hold %d and %d steps of %d and %d", rows, nextA, nextB, len(a), len(b))
		}
		if best := bestWorth(actsA, actsB, map[[2]int]int{}); total != best {
			t.Fatalf("an alignment is worth %d, one of %d there is: %v", total, best, rows)
		}
	})
}

// bestWorth tries every alignment.
func bestWorth(a, b []act, known map[[2]int]int) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	key := [2]int{len(a), len(b)}
	if best, ok := known[key]; ok {
		return best
	}
	best := max(bestWorth(a[1:], b, known), bestWorth(a, b[1:], known))
	if _, w := a[0].to(&b[0]); w > 0 {
		best = max(best, w+bestWorth(a[1:], b[1:], known))
	}
	known[key] = best
	return best
}

// Conversations too long for the table are aligned all the same, every step in a row.
func TestAlignLongConversations(t *testing.T) {
	var a, b []record.Step
	for i := range 5000 {
		a = append(a, tool("x", fmt.Sprint(i), "1"))
		b = append(b, tool("x", fmt.Sprint(i+1), "1"))
	}
	rows := align(a, b)
	if len(rows) != 5000 {
		t.Errorf("%d rows", len(rows))
	}
}

func BenchmarkAlign(b *testing.B) {
	var one, other []record.Step
	for i := range 1000 {
		one = append(one, tool("x", fmt.Sprint(i), "1"))
		if i%3 > 0 {
			other = append(other, tool("x", fmt.Sprint(i+i%2), "1"))
		}
	}
	for b.Loop() {
		align(one, other)
	}
}
