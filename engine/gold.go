package engine

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"assay/engine/grade"
	"assay/engine/record"
)

// bench is a run's gold, and what is needed to hold judges against it.
type bench struct {
	engine   *Engine
	run      *record.Run
	gold     []goldRow // in the order in which it was given
	drawn    bool      // the gold that counts comes from a drawn queue, and so has an order
	tied     int       // labelled rows without gold, as their votes are tied
	trustAt  int
	people   []Person
	pairs    []PeoplePair
	warnings []record.Warning
}

// goldRow is one rollout with gold.
type goldRow struct {
	rolloutID  string
	pass       bool
	kind       record.GoldKind
	diagnostic bool
	chance     float64 // with which a queue drew it, 0 where none did
}

// newBench reads a run's gold. What counts is what a queue drew at random. Only where
// no drawn row has gold does all of it count that no queue had picked: a file of
// labels, or a program's, which has no order.
func (e *Engine) newBench(ctx context.Context, run *record.Run) (*bench, error) {
	stored, err := recipeOf(run)
	if err != nil {
		return nil, err
	}
	labels, err := e.Source.Labels(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	items, err := e.Source.QueueItems(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	reveals, err := e.Source.Reveals(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	b := &bench{engine: e, run: run, trustAt: or(stored.Grade.TrustAt, 0)}
	b.readGold(labels, items, reveals)
	b.people, b.pairs = peopleOf(labels)
	return b, nil
}

func (b *bench) readGold(labels []record.Label, items []record.QueueItem, reveals []record.Reveal) {
	order, byRollout := labelled(labels)
	drawn, picked := chancesOf(items, byRollout)
	seen := shownTo(reveals)
	var revealed, outside int
	for _, id := range order {
		gold, ok := record.GoldOf(byRollout[id])
		if ok && gold.Reward == nil {
			b.tied++
		}
		if !ok || gold.Reward == nil {
			continue
		}
		row := goldRow{rolloutID: id, pass: *gold.Reward == 1, kind: gold.Kind, chance: drawn[id]}
		if influenced(gold, seen) {
			revealed++
			row.diagnostic = true
		} else if _, ok := drawn[id]; ok {
			b.drawn = true
		}
		b.gold = append(b.gold, row)
	}
	for i := range b.gold {
		row := &b.gold[i]
		switch {
		case row.diagnostic || row.chance > 0:
		case picked[row.rolloutID]:
			row.diagnostic = true
		case b.drawn:
			outside++
			row.diagnostic = true
		}
	}
	warn := func(n int, code, fix, format string) {
		if n > 0 {
			b.warnings = append(b.warnings, record.Warning{Code: code, Text: fmt.Sprintf(format, n), Fix: fix})
		}
	}
	warn(b.tied, "tied_labels", "settle them: another annotator, or a word among those who labelled", "%d labelled rows have no gold: their votes are tied")
	warn(revealed, "revealed", "label rows whose verdict nobody has been shown", "%d rows were labelled after the judge's verdict had been shown, and do not count")
	warn(outside, "not_drawn", "label along the queue: assay label "+b.run.ID, "%d rows were labelled outside the drawn queue or ahead of their turn in it, and do not count")
}

// chancesOf are the rows that a queue drew and that were labelled along it, with the
// chance that each row of the run had to be drawn by any queue so used; and the rows
// that were picked. A queue counts up to its first drawn place without a label: beyond
// it, what has one was chosen by somebody.
func chancesOf(items []record.QueueItem, labels map[string][]record.Label) (drawn map[string]float64, picked map[string]bool) {
	drawn, picked = map[string]float64{}, map[string]bool{}
	queue, along, used := "\x00", true, false // no queue's name
	missed := 1.0
	for _, item := range items { // by queue and place
		if item.Queue != queue {
			queue, along, used = item.Queue, true, false
		}
		if !item.Drawn() {
			picked[item.RolloutID] = true
			continue
		}
		if along = along && len(labels[item.RolloutID]) > 0; !along {
			continue
		}
		drawn[item.RolloutID] = 1
		if !used { // every row has one chance in a queue
			used = true
			missed *= 1 - *item.Probability
		}
	}
	for id := range drawn {
		drawn[id] = 1 - missed
	}
	return drawn, picked
}

// labelled groups labels by rollout, in the order in which each rollout was first given
// a pass or a fail: changing one's mind later does not move a row.
func labelled(labels []record.Label) (order []string, byRollout map[string][]record.Label) {
	byRollout = map[string][]record.Label{}
	placed := map[string]bool{}
	for _, l := range labels {
		byRollout[l.RolloutID] = append(byRollout[l.RolloutID], l)
		votes := l.Purpose != record.PurposeRecheck && (l.Verdict == record.VerdictPass || l.Verdict == record.VerdictFail)
		if votes && !placed[l.RolloutID] {
			placed[l.RolloutID] = true
			order = append(order, l.RolloutID)
		}
	}
	return order, byRollout
}

type rowAndPerson struct{ rolloutID, annotator string }

// shownTo are the verdicts that annotators had been shown.
func shownTo(reveals []record.Reveal) map[rowAndPerson]record.Reveal {
	seen := map[rowAndPerson]record.Reveal{}
	for _, r := range reveals {
		if r.What == record.RevealedVerdict {
			seen[rowAndPerson{r.RolloutID, r.Annotator}] = r
		}
	}
	return seen
}

// influenced reports whether one of the votes was given after its annotator had been
// shown the judge's verdict.
func influenced(gold record.Gold, seen map[rowAndPerson]record.Reveal) bool {
	return slices.ContainsFunc(gold.Labels, func(l record.Label) bool {
		shown, ok := seen[rowAndPerson{l.RolloutID, l.Annotator}]
		return ok && !shown.At.After(l.At) && (l.Verdict == record.VerdictPass || l.Verdict == record.VerdictFail)
	})
}

func (b *bench) rolloutIDs() []string {
	ids := make([]string, len(b.gold))
	for i, g := range b.gold {
		ids[i] = g.rolloutID
	}
	return ids
}

// rows are the gold rows with the verdicts of one scorer version, and how many more there
// are whose rollout is not done.
func (b *bench) rows(ctx context.Context, scorer string) (rows []grade.TrustRow, undone int, err error) {
	judged := make(map[string]grade.TrustRow, len(b.gold))
	for s, err := range b.engine.Source.Samples(ctx, b.run.ID, record.SampleQuery{Scorer: scorer, Rollouts: b.rolloutIDs(), Brief: true}) {
		if err != nil {
			return nil, 0, err
		}
		row := grade.TrustRow{RolloutID: s.Rollout.ID, TaskID: s.Task.ID, Length: utf8.RuneCountInString(string(s.Rollout.FinalText))}
		if j := s.Judgment; j != nil {
			row.Status, row.Cut = j.Status, len(j.Cut) > 0 && string(j.Cut) != "null"
			row.Pass = j.Reward != nil && *j.Reward >= b.run.PassThreshold
		}
		judged[row.RolloutID] = row
	}
	rows = make([]grade.TrustRow, 0, len(b.gold))
	for _, g := range b.gold {
		row, ok := judged[g.rolloutID]
		if !ok { // nobody judges it
			undone++
			continue
		}
		row.Gold, row.Kind, row.Diagnostic, row.Inclusion = g.pass, g.kind, g.diagnostic, g.chance
		rows = append(rows, row)
	}
	return rows, undone, nil
}
