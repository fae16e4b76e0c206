package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/engine/record"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// bench is a store with a run of 4 tasks, 3 rollouts each, and a queue over them in
// which the third place shows the first row again.
func bench(t *testing.T) (db *DB, ids []string) {
	t.Helper()
	db = openNew(t)
	fill(t, db, "run1", 4, 3, 1)
	for _, s := range samples(t, db, "run1", record.SampleQuery{}) {
		ids = append(ids, s.Rollout.ID)
	}
	chance := 0.25
	items := []record.QueueItem{
		{RolloutID: ids[0], Strategy: record.StrategyRandom, Stratum: record.StratumFail, Probability: &chance},
		{RolloutID: ids[1], Strategy: record.StrategyUnsure, Stratum: record.StratumPass},
		{RolloutID: ids[0], Strategy: record.StrategyRecheck},
		{RolloutID: ids[2], Strategy: record.StrategyRandom, Stratum: record.StratumFail, Probability: &chance},
	}
	if err := db.SaveQueue(t.Context(), "run1", "gold", items); err != nil {
		t.Fatal(err)
	}
	return db, ids
}

func cards(t *testing.T, db *DB, queue, annotator string) string {
	t.Helper()
	list, err := db.Cards(t.Context(), "run1", queue, annotator)
	if err != nil {
		t.Fatal(err)
	}
	said := make([]string, len(list))
	for i, c := range list {
		if said[i] = string(c.Verdict); said[i] == "" {
			said[i] = "-"
		}
	}
	return strings.Join(said, " ")
}

func TestQueueRoundTrip(t *testing.T) {
	db, ids := bench(t)
	got, err := db.QueueItems(t.Context(), "run1")
	if err != nil {
		t.Fatal(err)
	}
	chance := 0.25
	want := []record.QueueItem{
		{Queue: "gold", Position: 0, RolloutID: ids[0], Strategy: record.StrategyRandom, Stratum: record.StratumFail, Probability: &chance},
		{Queue: "gold", Position: 1, RolloutID: ids[1], Strategy: record.StrategyUnsure, Stratum: record.StratumPass},
		{Queue: "gold", Position: 2, RolloutID: ids[0], Strategy: record.StrategyRecheck},
		{Queue: "gold", Position: 3, RolloutID: ids[2], Strategy: record.StrategyRandom, Stratum: record.StratumFail, Probability: &chance},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	heads, err := db.Queues(t.Context(), "run1")
	if err != nil || len(heads) != 1 || heads[0].Items != 4 || heads[0].Rows != 3 || heads[0].Drawn != 2 || heads[0].DrawnAt.IsZero() {
		t.Errorf("heads %+v (%v)", heads, err)
	}
}

func TestQueueRefused(t *testing.T) {
	db, ids := bench(t)
	two := 2.0
	for name, c := range map[string]struct {
		queue string
		items []record.QueueItem
		code  Code
	}{
		"a queue twice":      {"gold", []record.QueueItem{{RolloutID: ids[3], Strategy: record.StrategyListed}}, CodeDuplicate},
		"no name":            {"", []record.QueueItem{{RolloutID: ids[3], Strategy: record.StrategyListed}}, CodeInvalid},
		"no row":             {"new", nil, CodeInvalid},
		"a row of elsewhere": {"new", []record.QueueItem{{RolloutID: ids[3], Strategy: record.StrategyListed}, {RolloutID: "ffff"}}, CodeNotFound},
		"odd probability":    {"new", []record.QueueItem{{RolloutID: ids[3], Probability: &two}}, CodeInvalid},
	} {
		if err := db.SaveQueue(t.Context(), "run1", c.queue, c.items); CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if items, err := db.QueueItems(t.Context(), "run1"); err != nil || len(items) != 4 {
		t.Errorf("refused queues left %d items (%v)", len(items), err)
	}
	_, errPlace := db.LabelCard(t.Context(), "run1", "gold", 9, record.Label{Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman})
	_, errBack := db.TakeBack(t.Context(), "run1", "gold", 0, "ann")
	_, errCards := db.Cards(t.Context(), "run1", "none", "ann")
	for what, err := range map[string]error{"a place that is not there": errPlace, "a label that was not given": errBack, "a queue that is not there": errCards} {
		if CodeOf(err) != CodeNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func label(verdict record.Verdict, annotator string) record.Label {
	return record.Label{Annotator: annotator, Verdict: verdict, Kind: record.GoldHuman, Took: 3 * time.Second}
}

// A queue remembers each annotator's word at each place, and keeps annotators apart.
func TestCards(t *testing.T) {
	db, ids := bench(t)
	say := func(annotator string, position int, v record.Verdict) record.Label {
		t.Helper()
		l, err := db.LabelCard(t.Context(), "run1", "gold", position, label(v, annotator))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if l := say("ann", 0, record.VerdictPass); l.RolloutID != ids[0] || l.Purpose != record.PurposeFirst || !l.Blind || l.ID != 1 {
		t.Errorf("the first label is %+v", l)
	}
	say("ann", 1, record.VerdictUnsure)
	if got := cards(t, db, "gold", "ann"); got != "pass unsure - -" {
		t.Errorf("ann's cards: %s", got)
	}
	if got := cards(t, db, "gold", "bob"); got != "- - - -" {
		t.Errorf("bob's cards: %s", got)
	}
	if l := say("ann", 2, record.VerdictPass); l.Purpose != record.PurposeRecheck {
		t.Errorf("the second look is %+v", l)
	}
	if got := cards(t, db, "gold", "ann"); got != "pass unsure pass -" {
		t.Errorf("ann's cards: %s", got)
	}
	if _, err := db.Cards(t.Context(), "run1", "settle:ann", "ann"); CodeOf(err) != CodeNotFound {
		t.Errorf("two looks that agree are to be settled: %v", err)
	}
	gold, err := db.GoldOf(t.Context(), "run1")
	if err != nil || len(gold) != 1 || gold[ids[0]].Voters != 1 {
		t.Errorf("gold %v (%v): a second look votes", gold, err)
	}
}

// Taking a label back leaves none: not a 0, not the one before.
func TestTakeBack(t *testing.T) {
	db, ids := bench(t)
	first := label(record.VerdictFail, "ann")
	first.Note = "it never looked"
	for _, l := range []record.Label{label(record.VerdictPass, "ann"), first} {
		if _, err := db.LabelCard(t.Context(), "run1", "gold", 0, l); err != nil {
			t.Fatal(err)
		}
	}
	back, err := db.TakeBack(t.Context(), "run1", "gold", 0, "ann")
	if err != nil || back.Verdict != record.VerdictRetracted || back.Purpose != record.PurposeFirst || back.Kind != record.GoldHuman {
		t.Fatalf("%+v (%v)", back, err)
	}
	if got := cards(t, db, "gold", "ann"); got != "- - - -" {
		t.Errorf("cards after it: %s", got)
	}
	if gold, err := db.GoldOf(t.Context(), "run1"); err != nil || len(gold) != 0 {
		t.Errorf("gold after it: %v (%v)", gold, err)
	}
	if note, err := db.Draft(t.Context(), ids[0], "ann"); err != nil || note != "it never looked" {
		t.Errorf("the note is %q (%v)", note, err)
	}
	if labels, err := db.Labels(t.Context(), "run1"); err != nil || len(labels) != 3 {
		t.Errorf("%d labels (%v), want every act", len(labels), err)
	}
	if _, err := db.TakeBack(t.Context(), "run1", "gold", 0, "ann"); CodeOf(err) != CodeNotFound {
		t.Errorf("taken back twice: %v", err)
	}
	// Labelling it again clears the draft that came back.
	if _, err := db.LabelCard(t.Context(), "run1", "gold", 0, label(record.VerdictPass, "ann")); err != nil {
		t.Fatal(err)
	}
	if note, err := db.Draft(t.Context(), ids[0], "ann"); err != nil || note != "" {
		t.Errorf("after the label the draft is %q (%v)", note, err)
	}
}

// A second look that says another thing puts the row into a queue of its own, and the
// word given there is the annotator's last.
func TestSettle(t *testing.T) {
	db, ids := bench(t)
	for position, v := range map[int]record.Verdict{0: record.VerdictPass, 1: record.VerdictPass} {
		if _, err := db.LabelCard(t.Context(), "run1", "gold", position, label(v, "ann")); err != nil {
			t.Fatal(err)
		}
	}
	again := func(v record.Verdict) {
		t.Helper()
		if _, err := db.LabelCard(t.Context(), "run1", "gold", 2, label(v, "ann")); err != nil {
			t.Fatal(err)
		}
	}
	again(record.VerdictSkip) // says nothing
	if _, err := db.Cards(t.Context(), "run1", "settle:ann", "ann"); CodeOf(err) != CodeNotFound {
		t.Errorf("a skip is to be settled: %v", err)
	}
	again(record.VerdictFail)
	again(record.VerdictFail)
	if got := cards(t, db, "settle:ann", "ann"); got != "-" {
		t.Fatalf("to settle: %s", got)
	}
	if _, err := db.TakeBack(t.Context(), "run1", "gold", 2, "ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Cards(t.Context(), "run1", "settle:ann", "ann"); CodeOf(err) != CodeNotFound {
		t.Errorf("a contradiction taken back is to be settled: %v", err)
	}
	again(record.VerdictFail)
	if l, err := db.LabelCard(t.Context(), "run1", "settle:ann", 0, label(record.VerdictFail, "ann")); err != nil || l.Purpose != record.PurposeFirst {
		t.Fatalf("%+v (%v)", l, err)
	}
	if got := cards(t, db, "settle:ann", "ann"); got != "fail" {
		t.Errorf("settled: %s", got)
	}
	gold, err := db.GoldOf(t.Context(), "run1")
	if g := gold[ids[0]]; err != nil || g.Reward == nil || *g.Reward != 0 {
		t.Errorf("gold %+v (%v): the last word counts", g, err)
	}
}

// Somebody who was shown a verdict does not label blind, and the place says so;
// others still do.
func TestReveals(t *testing.T) {
	db, ids := bench(t)
	odd := `ann "the $.x" O'Neil`
	for _, err := range []error{
		db.AddReveal(t.Context(), odd, record.RevealedVerdict, ids[0], ids[1], ids[0], "not a rollout"),
		db.AddReveal(t.Context(), odd, record.RevealedLabel, ids[0]),
		db.AddReveal(t.Context(), odd, record.RevealedVerdict, ids[0]),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for annotator, blind := range map[string]bool{odd: false, "bob": true} {
		if l, err := db.LabelCard(t.Context(), "run1", "gold", 0, label(record.VerdictPass, annotator)); err != nil || l.Blind != blind {
			t.Errorf("%s labels blind: %v (%v)", annotator, l.Blind, err)
		}
	}
	items, err := db.QueueItems(t.Context(), "run1")
	if err != nil {
		t.Fatal(err)
	}
	var revealed map[string][]string
	if err := json.Unmarshal(items[0].Revealed, &revealed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{odd: {"label", "verdict"}}, revealed); diff != "" {
		t.Errorf("revealed (-want +got):\n%s", diff)
	}
	if items[3].Revealed != nil {
		t.Errorf("a row that nobody saw says %s", items[3].Revealed)
	}
	list, err := db.Reveals(t.Context(), "run1")
	if err != nil || len(list) != 3 || list[0].Annotator != odd || list[0].At.IsZero() {
		t.Errorf("reveals %+v (%v)", list, err)
	}
	if err := db.AddReveal(t.Context(), "ann", "mood", ids[0]); CodeOf(err) != CodeInvalid {
		t.Errorf("an odd reveal: %v", err)
	}
}

// What a card and a blind sample hold speaks of no verdict, whatever stands in the
// file.
func TestBlindIsBlind(t *testing.T) {
	db, ids := bench(t)
	s, err := db.BlindSample(t.Context(), ids[1])
	if err != nil {
		t.Fatal(err)
	}
	if s.Judgment != nil || s.Markers != nil || s.Rollout.Privileged != nil || s.Rollout.Extra != nil {
		t.Errorf("a blind sample says %+v %v %s %v", s.Judgment, s.Markers, s.Rollout.Privileged, s.Rollout.Extra)
	}
	whole, err := db.Sample(t.Context(), ids[1])
	if err != nil {
		t.Fatal(err)
	}
	if s.Task == nil || s.Task.Ask != whole.Task.Ask || len(s.Rollout.Steps) != len(whole.Rollout.Steps) || s.Rollout.FinalText != whole.Rollout.FinalText {
		t.Errorf("a blind sample lacks what is to be labelled: %+v", s)
	}
	if _, err := db.BlindSample(t.Context(), "ffff"); CodeOf(err) != CodeNotFound {
		t.Errorf("a rollout that is not there: %v", err)
	}
	raw, err := json.Marshal(record.Card{Position: 1, RolloutID: ids[1]})
	if err != nil || strings.Contains(string(raw), "tratum") || strings.Contains(string(raw), "trategy") {
		t.Errorf("a card: %s (%v)", raw, err)
	}
}

// Whatever is labelled, shown again, taken back and settled in any order: gold is the
// last first-look word, and every act is kept.
func TestLabellingInAnyOrder(t *testing.T) {
	db := openNew(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		runID := fmt.Sprintf("run%d", n)
		fill(t, db, runID, 2, 2, 1)
		var items []record.QueueItem
		for _, s := range samples(t, db, runID, record.SampleQuery{}) {
			items = append(items, record.QueueItem{RolloutID: s.Rollout.ID, Strategy: record.StrategyListed})
		}
		items = append(items, record.QueueItem{RolloutID: items[0].RolloutID, Strategy: record.StrategyRecheck})
		if err := db.SaveQueue(t.Context(), runID, "gold", items); err != nil {
			rt.Fatal(err)
		}
		said := make([]record.Verdict, len(items))
		acts := 0
		for range rapid.IntRange(1, 12).Draw(rt, "acts") {
			at := rapid.IntRange(0, len(items)-1).Draw(rt, "place")
			if rapid.IntRange(0, 3).Draw(rt, "back") == 0 {
				_, err := db.TakeBack(t.Context(), runID, "gold", at, "ann")
				if (err == nil) != (said[at] != "") {
					rt.Fatalf("taking back %q: %v", said[at], err)
				}
				acts += boolCount(err == nil)
				said[at] = ""
				continue
			}
			v := rapid.SampledFrom([]record.Verdict{record.VerdictPass, record.VerdictFail, record.VerdictUnsure, record.VerdictSkip}).Draw(rt, "verdict")
			if _, err := db.LabelCard(t.Context(), runID, "gold", at, label(v, "ann")); err != nil {
				rt.Fatal(err)
			}
			said[at] = v
			acts++
		}
		got, err := db.Cards(t.Context(), runID, "gold", "ann")
		if err != nil {
			rt.Fatal(err)
		}
		for i, c := range got {
			if c.Verdict != said[i] {
				rt.Fatalf("place %d says %q, want %q", i, c.Verdict, said[i])
			}
		}
		gold, err := db.GoldOf(t.Context(), runID)
		if err != nil {
			rt.Fatal(err)
		}
		for i, item := range items[:4] {
			g, voted := gold[item.RolloutID]
			if want := said[i] == record.VerdictPass || said[i] == record.VerdictFail; voted != want || voted && (*g.Reward == 1) != (said[i] == record.VerdictPass) {
				rt.Fatalf("place %d was given %q, and its gold is %+v", i, said[i], g)
			}
		}
		if labels, err := db.Labels(t.Context(), runID); err != nil || len(labels) != acts {
			rt.Fatalf("%d labels, %d acts (%v)", len(labels), acts, err)
		}
	})
}

func boolCount(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestCandidates(t *testing.T) {
	db, ids := bench(t)
	broken, sound := 0.0, 1.0
	conduct := record.NewScorer("conduct", "conduct", "", "", nil)
	other := record.NewScorer("judge", "other", "", "", nil)
	judgment := func(id string, reward *float64, status record.JudgeStatus) record.Judgment {
		return record.Judgment{RolloutID: id, Scorer: other.ID, Status: status, Reward: reward, At: start}
	}
	marks := []record.Marker{
		{RolloutID: ids[1], Scorer: conduct.ID, Name: "conduct", Value: &broken, Status: record.MarkerOK}, // passes with a broken rule
		{RolloutID: ids[0], Scorer: conduct.ID, Name: "conduct", Value: &broken, Status: record.MarkerOK}, // fails with one: no contradiction
		{RolloutID: ids[4], Scorer: conduct.ID, Name: "conduct", Value: &sound, Status: record.MarkerOK},
	}
	// testOutcome rewards k=1 alone.
	judgments := []record.Judgment{judgment(ids[2], &sound, record.JudgeOK), judgment(ids[3], &broken, record.JudgeOK), judgment(ids[5], nil, record.JudgeError)}
	if err := db.CommitGrades(t.Context(), "run1", []record.Scorer{conduct, other}, judgments, marks); err != nil {
		t.Fatal(err)
	}
	list, err := db.Candidates(t.Context(), "run1")
	if err != nil || len(list) != len(ids) {
		t.Fatalf("%d candidates (%v)", len(list), err)
	}
	for i, c := range list {
		want := 0.0
		if c.Key.K == 1 {
			want = 1
		}
		if c.RolloutID != ids[i] || c.Reward == nil || *c.Reward != want || c.Disagreement != slices.Contains([]int{1, 2}, i) {
			t.Errorf("candidate %d is %+v", i, c)
		}
	}
}

// A regrade that is not complete changes no number of the run; its last group changes
// all of them at once.
func TestPartialRegradeNeverMixes(t *testing.T) {
	db, ids := bench(t)
	judge := record.NewScorer("judge", "strict", "m", "", nil)
	one := 1.0
	judgments := func(ids ...string) []record.Judgment {
		var list []record.Judgment
		for _, id := range ids {
			list = append(list, record.Judgment{RolloutID: id, Scorer: judge.ID, Status: record.JudgeOK, Reward: &one, At: start})
		}
		return list
	}
	before, err := db.TaskRates(t.Context(), "run1")
	if err != nil {
		t.Fatal(err)
	}
	standing := func() record.Standing {
		t.Helper()
		list, err := db.Standings(t.Context(), "run1")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.Scorer == judge.ID {
				return s
			}
		}
		return record.Standing{}
	}
	if s, err := db.FinishGrades(t.Context(), "run1", judge.ID, []record.Scorer{judge}, judgments(ids[:7]...), nil); err != nil || s.Own || s.Judged != 7 || s.Done != 12 {
		t.Fatalf("7 of 12: %+v (%v)", s, err)
	}
	if s, err := db.FinishGrades(t.Context(), "run1", judge.ID, nil, judgments(ids[0]), nil); err != nil || s.Judged != 7 {
		t.Errorf("a row twice: %+v (%v)", s, err) // counted once
	}
	if got := standing(); got.Judged != 7 || got.OK != 7 || got.Own {
		t.Errorf("standing %+v", got)
	}
	rates, err := db.TaskRates(t.Context(), "run1")
	if diff := cmp.Diff(before, rates); err != nil || diff != "" {
		t.Errorf("a partial regrade changed the rates (%v):\n%s", err, diff)
	}
	failed := judgments(ids[11])
	failed[0].Status, failed[0].Reward = record.JudgeTimeout, nil
	if s, err := db.FinishGrades(t.Context(), "run1", judge.ID, nil, append(judgments(ids[7:11]...), failed...), nil); err != nil || !s.Own || s.OK != 11 {
		t.Fatalf("the last group: %+v (%v)", s, err)
	}
	if got := standing(); got.Judged != 12 || got.OK != 11 || !got.Own {
		t.Errorf("standing %+v", got)
	}
	run, err := db.Run(t.Context(), "run1")
	if err != nil || run.Scorer != judge.ID || run.Counts.Graded != 11 || run.Counts.Passed != 11 {
		t.Errorf("the run: scorer %s, %+v (%v)", run.Scorer, run.Counts, err)
	}
	// A group that fails leaves nothing of itself, nor a switch.
	bad := append(judgments(ids[0]), record.Judgment{RolloutID: "ffff", Scorer: judge.ID, Status: record.JudgeOK, Reward: &one})
	if _, err := db.FinishGrades(t.Context(), "run1", judge.ID, nil, bad, nil); CodeOf(err) != CodeNotFound {
		t.Errorf("a rollout of elsewhere: %v", err)
	}
	if s, err := db.FinishGrades(t.Context(), "run1", "judge:nobody@0", nil, nil, nil); err != nil || s.Own || s.Judged != 0 {
		t.Errorf("a version that judged nothing: %+v (%v)", s, err)
	}
}

func TestSamplesOfSomeRollouts(t *testing.T) {
	db, ids := bench(t)
	got := samples(t, db, "run1", record.SampleQuery{Rollouts: []string{ids[5], ids[2], "ffff"}})
	if len(got) != 2 || got[0].Rollout.ID != ids[2] || got[1].Rollout.ID != ids[5] {
		t.Errorf("%d samples", len(got))
	}
	if got := samples(t, db, "run1", record.SampleQuery{Rollouts: []string{}}); len(got) != 0 {
		t.Errorf("%d samples of none", len(got))
	}
}

func TestDisagreements(t *testing.T) {
	db, ids := bench(t)
	// testOutcome rewards k=1 alone: ids[1] and ids[4] pass.
	for i, v := range map[int]record.Verdict{4: record.VerdictFail, 0: record.VerdictFail, 1: record.VerdictPass, 2: record.VerdictUnsure} {
		if _, err := db.AddLabel(t.Context(), record.Label{RolloutID: ids[i], Annotator: "ann", Verdict: v, Kind: record.GoldHuman}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.AddLabel(t.Context(), record.Label{RolloutID: ids[3], Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman}); err != nil {
		t.Fatal(err)
	}
	if got, err := db.Disagreements(t.Context(), "run1"); err != nil || !slices.Equal(got, []string{ids[4], ids[3]}) {
		t.Errorf("%v (%v), want %v", got, err, []string{ids[4], ids[3]})
	}
}
