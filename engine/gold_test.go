package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/engine/record"

	"github.com/google/go-cmp/cmp"
)

// acts numbers labels in their order, an hour apart.
func acts(labels ...record.Label) []record.Label {
	for i := range labels {
		labels[i].ID, labels[i].At = int64(i+1), time.Date(2026, 3, 1, i, 0, 0, 0, time.UTC)
		if labels[i].Kind == "" {
			labels[i].Kind = record.GoldHuman
		}
	}
	return labels
}

func act(rollout, annotator string, v record.Verdict) record.Label {
	return record.Label{RolloutID: rollout, Annotator: annotator, Verdict: v}
}

func drawnItem(rollout string) record.QueueItem {
	chance := 0.5
	return record.QueueItem{RolloutID: rollout, Strategy: record.StrategyRandom, Probability: &chance}
}

func drawnItemOf(queue, rollout string) record.QueueItem {
	item := drawnItem(rollout)
	item.Queue = queue
	return item
}

// goldText is a bench's gold as "id+" for a pass and "id-" for a failure, in brackets
// where it does not count.
func goldText(b *bench) string {
	words := make([]string, len(b.gold))
	for i, g := range b.gold {
		words[i] = g.rolloutID + "-"
		if g.pass {
			words[i] = g.rolloutID + "+"
		}
		if g.diagnostic {
			words[i] = "(" + words[i] + ")"
		}
	}
	return strings.Join(words, " ")
}

func codes(b *bench) string {
	words := make([]string, len(b.warnings))
	for i, w := range b.warnings {
		words[i] = w.Code
	}
	return strings.Join(words, " ")
}

func TestWhichGoldCounts(t *testing.T) {
	pass, fail := record.VerdictPass, record.VerdictFail
	recheck := act("a", "ann", fail)
	recheck.Purpose = record.PurposeRecheck
	for name, c := range map[string]struct {
		labels   []record.Label
		items    []record.QueueItem
		reveals  []record.Reveal
		gold     string
		drawn    bool
		warnings string
	}{
		"a file of labels, in no order": {
			labels: acts(act("b", "ann", pass), act("a", "ann", fail)),
			gold:   "b+ a-",
		},
		"a queue, and what was picked in it": {
			labels: acts(act("a", "ann", pass), act("b", "ann", fail), act("c", "ann", pass)),
			items:  []record.QueueItem{drawnItem("a"), {RolloutID: "b", Strategy: record.StrategyUnsure}, drawnItem("c")},
			gold:   "a+ (b-) c+", drawn: true,
		},
		"labels beside the queue": {
			labels: acts(act("a", "ann", pass), act("x", "ann", fail)),
			items:  []record.QueueItem{drawnItem("a")},
			gold:   "a+ (x-)", drawn: true, warnings: "not_drawn",
		},
		"a queue that nobody labelled": {
			labels: acts(act("x", "ann", fail), act("p", "ann", pass)),
			items:  []record.QueueItem{drawnItem("a"), {RolloutID: "p", Strategy: record.StrategyListed}},
			gold:   "x- (p+)",
		},
		"a row that is drawn and picked is drawn": {
			labels: acts(act("a", "ann", pass)),
			items:  []record.QueueItem{{RolloutID: "a", Strategy: record.StrategyListed}, drawnItem("a")},
			gold:   "a+", drawn: true,
		},
		"a label ahead of its turn": {
			labels: acts(act("a", "ann", pass), act("c", "ann", fail)),
			items:  []record.QueueItem{drawnItem("a"), drawnItem("b"), drawnItem("c")},
			gold:   "a+ (c-)", drawn: true, warnings: "not_drawn",
		},
		"a skip is a turn": {
			labels: acts(act("a", "ann", pass), act("b", "ann", record.VerdictSkip), act("c", "ann", fail)),
			items:  []record.QueueItem{drawnItem("a"), drawnItem("b"), drawnItem("c")},
			gold:   "a+ c-", drawn: true,
		},
		"a pick that another queue drew, which nobody went along": {
			labels: acts(act("a", "ann", pass), act("p", "ann", fail)),
			items: []record.QueueItem{{Queue: "mixed", RolloutID: "p", Strategy: record.StrategyUnsure}, drawnItemOf("mixed", "a"),
				drawnItemOf("random", "z"), drawnItemOf("random", "p")},
			gold: "a+ (p-)", drawn: true,
		},
		"a changed mind keeps its place": {
			labels: acts(act("a", "ann", pass), act("b", "ann", pass), act("a", "ann", fail)),
			gold:   "a- b+",
		},
		"a label taken back leaves none": {
			labels: acts(act("a", "ann", pass), act("a", "ann", record.VerdictRetracted), act("b", "ann", record.VerdictUnsure)),
		},
		"a second look is no vote": {
			labels: acts(act("a", "ann", pass), recheck),
			gold:   "a+",
		},
		"a tie": {
			labels:   acts(act("a", "ann", pass), act("a", "bob", fail), act("b", "ann", pass)),
			gold:     "b+",
			warnings: "tied_labels",
		},
		"a verdict that was shown first": {
			labels:  acts(act("a", "ann", pass), act("b", "ann", pass), act("c", "bob", pass), act("d", "ann", record.VerdictSkip), act("d", "bob", fail)),
			items:   []record.QueueItem{drawnItem("a"), drawnItem("b"), drawnItem("c"), drawnItem("d")},
			reveals: []record.Reveal{{RolloutID: "a", Annotator: "ann", What: record.RevealedVerdict}, {RolloutID: "c", Annotator: "ann", What: record.RevealedVerdict}, {RolloutID: "d", Annotator: "ann", What: record.RevealedVerdict}},
			gold:    "(a+) b+ c+ d-", drawn: true, warnings: "revealed",
		},
		"a verdict that was shown afterwards": {
			labels:  acts(act("a", "ann", pass)),
			reveals: []record.Reveal{{RolloutID: "a", Annotator: "ann", What: record.RevealedVerdict, At: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}},
			gold:    "a+",
		},
		"another's label that was shown": {
			labels:  acts(act("a", "ann", pass)),
			reveals: []record.Reveal{{RolloutID: "a", Annotator: "ann", What: record.RevealedLabel}},
			gold:    "a+",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bench{run: &record.Run{ID: "run1"}}
			b.readGold(c.labels, c.items, c.reveals)
			if got := goldText(b); got != c.gold {
				t.Errorf("gold %q, want %q", got, c.gold)
			}
			if b.drawn != c.drawn || codes(b) != c.warnings {
				t.Errorf("drawn %v, warnings %q; want %v, %q", b.drawn, codes(b), c.drawn, c.warnings)
			}
		})
	}
}

// With two queues gone along, a row's chance is that of being drawn by either.
func TestChances(t *testing.T) {
	labels := map[string][]record.Label{}
	for _, id := range []string{"a", "b", "c"} {
		labels[id] = []record.Label{act(id, "ann", record.VerdictPass)}
	}
	items := []record.QueueItem{drawnItemOf("one", "a"), drawnItemOf("one", "d"), drawnItemOf("two", "b"), drawnItemOf("two", "c")}
	drawn, _ := chancesOf(items, labels)
	if diff := cmp.Diff(map[string]float64{"a": 0.75, "b": 0.75, "c": 0.75}, drawn); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPeople(t *testing.T) {
	again := func(rollout, annotator string, v record.Verdict) record.Label {
		l := act(rollout, annotator, v)
		l.Purpose = record.PurposeRecheck
		return l
	}
	pass, fail := record.VerdictPass, record.VerdictFail
	people, pairs := peopleOf(acts(
		act("a", "bob", pass), act("a", "ann", pass), act("b", "ann", fail), act("b", "bob", pass), act("c", "ann", record.VerdictUnsure), act("c", "bob", fail),
		again("a", "ann", pass), again("b", "ann", pass), again("c", "ann", fail), again("a", "bob", record.VerdictRetracted), act("d", "eve", pass)))
	want := []Person{{"ann", record.GoldHuman, 2, 2, 1}, {"bob", record.GoldHuman, 3, 0, 0}, {"eve", record.GoldHuman, 1, 0, 0}}
	if diff := cmp.Diff(want, people); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]PeoplePair{{"ann", "bob", 2, 1}}, pairs); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
}

func TestFamilyWarnings(t *testing.T) {
	run := &record.Run{ID: "run1", Config: []byte(`{"agent":{"model":"anthropic:claude-opus-4"}}`)}
	scorers := []record.Scorer{{ID: "judge:a@1", Model: "anthropic:claude-haiku-4-5"}, {ID: "judge:b@1", Model: "openai:gpt-5"}, {ID: "marker:c@1"}}
	var warned []string
	for _, s := range scorers {
		if len(familyWarnings(run, scorers, s.ID)) > 0 {
			warned = append(warned, s.ID)
		}
	}
	if !slices.Equal(warned, []string{"judge:a@1"}) {
		t.Errorf("warned of %v", warned)
	}
	if got := familyWarnings(&record.Run{}, scorers, "judge:a@1"); got != nil {
		t.Errorf("an agent without a model: %v", got)
	}
}

func TestNextLook(t *testing.T) {
	for _, c := range []struct{ trustAt, counted, want int }{{0, 0, 50}, {0, 49, 50}, {0, 50, 100}, {0, 199, 200}, {0, 200, 0}, {80, 79, 80}, {80, 80, 0}} {
		b := &bench{trustAt: c.trustAt}
		if got := b.nextLook(c.counted); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// Rubrics are named after their recipe, and where there is none after the run.
func TestRubricName(t *testing.T) {
	for want, run := range map[string]*record.Run{"support": {ID: "a", Recipe: "support"}, "run a": {ID: "a"}} {
		if got := rubricName(run); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTrustAtIsBounded(t *testing.T) {
	for at, ok := range map[int]bool{49: false, 50: true, 120: true, 0: false} {
		_, err := ParseRecipe(fmt.Appendf(nil, "name: x\nagent: {builtin: seeded}\ntools: tools.json\ngrade: {trust_at: %d}\n", at))
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "grade.trust_at") {
			t.Errorf("trust_at %d: %v", at, err)
		}
	}
}
