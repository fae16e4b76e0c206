package label

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"assay/engine/record"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// pairs is the queue of two attempts at one task each, of which somebody says which is
// the better.
type pairs struct {
	list   []match
	at     int
	shown  *transcript.Pair // of the match at, nil while it is read
	of     int              // the match that is shown
	drawn  time.Time        // when that was first drawn
	placed bool             // the window was put where the two part
	side   transcript.Side  // the one that is seen where there is room for one
	scroll ui.Scroll
	trail  []int // matches decided in this sitting, the last one last
	asking ui.Question
}

// match is two rollouts in the order in which they are shown, and what this annotator
// chose, "" for nothing.
type match struct {
	first, second string
	choice        string
}

// maxMatches is of how many tasks pairs are shown: more than anybody compares in a
// week. Convention.
const maxMatches = 500

type (
	matchesMsg struct {
		list []match
		err  error
	}
	matchMsg struct {
		gen, at int
		shown   *transcript.Pair
		err     error
	}
	chosenMsg struct {
		at     int
		choice string
		err    error
	}
)

// drawMatches makes the queue: of each task one pair, tasks and pairs in an order that
// is drawn for the run, and sides that are drawn for the pair, so that they stay the
// same on every visit.
func drawMatches(runID string, found []record.SiblingPair, own []record.Preference) []match {
	type drawn struct {
		match
		task string
		rank uint64
	}
	best := map[string]drawn{}
	for _, p := range found {
		d := drawn{match{first: p.A, second: p.B}, fmt.Sprint(p.TaskID, "#", p.EvalRun), record.Rank("pair", runID, p.A, p.B)}
		if record.Under(0.5, "side", runID, p.A, p.B) {
			d.first, d.second = p.B, p.A
		}
		if was, ok := best[d.task]; !ok || d.rank < was.rank {
			best[d.task] = d
		}
	}
	order := make([]drawn, 0, len(best))
	for _, d := range best {
		order = append(order, d)
	}
	slices.SortFunc(order, func(a, b drawn) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.task, b.task)) })
	chosen := map[[2]string]string{}
	for _, p := range own {
		chosen[[2]string{p.First, p.Second}] = p.Choice
	}
	list := make([]match, len(order))
	for i, d := range order {
		list[i] = d.match
		list[i].choice = chosen[[2]string{d.first, d.second}]
	}
	return list
}

// openPairs reads the queue of pairs.
func (m *Model) openPairs() tea.Cmd {
	if m.saving {
		return nil
	}
	s, id, who := m.opts.Store, m.runID, m.opts.Annotator
	return m.ask(func(ctx context.Context) tea.Msg {
		found, err := s.SiblingPairs(ctx, id, maxMatches)
		if err != nil {
			return matchesMsg{err: err}
		}
		own, err := s.OwnPreferences(ctx, id, who)
		return matchesMsg{drawMatches(id, found, own), err}
	})
}

func (m *Model) matchesRead(msg matchesMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		return ui.Failed(msg.err)
	case len(msg.list) == 0:
		return ui.Toast("No task of this run has two attempts that differ")
	}
	m.pairs = &pairs{list: msg.list, of: -1}
	m.pane = paneCard
	if msg.list[0].choice != "" {
		m.pairs.at = m.pairs.after(0)
	}
	return m.showMatch()
}

// after is the next match without a choice behind one, the same where there is none.
func (p *pairs) after(at int) int {
	for n := 1; n < len(p.list); n++ {
		if i := (at + n) % len(p.list); p.list[i].choice == "" {
			return i
		}
	}
	return at
}

func (p *pairs) left() int {
	n := 0
	for _, m := range p.list {
		if m.choice == "" {
			n++
		}
	}
	return n
}

func (m *Model) showMatch() tea.Cmd {
	p := m.pairs
	if p == nil || p.of == p.at {
		return nil
	}
	gen, now := p.asking.Ask()
	if !now {
		return nil
	}
	s, theme, at, match := m.opts.Store, m.theme, p.at, p.list[p.at]
	return m.ask(func(ctx context.Context) tea.Msg {
		msg := matchMsg{gen: gen, at: at}
		a, err := s.BlindSample(ctx, match.first)
		if err != nil {
			msg.err = err
			return msg
		}
		b, err := s.BlindSample(ctx, match.second)
		if msg.err = err; err == nil {
			msg.shown = transcript.NewPair(theme, a, b, 1)
		}
		return msg
	})
}

func (m *Model) matchRead(msg matchMsg) tea.Cmd {
	p := m.pairs
	if p == nil {
		return nil
	}
	p.asking.Answered(msg.gen)
	switch {
	case msg.err != nil:
		return ui.Failed(msg.err)
	case msg.at != p.at:
		return m.showMatch()
	}
	p.shown, p.of, p.drawn, p.placed = msg.shown, msg.at, time.Time{}, false
	p.scroll.Reset()
	p.scroll.Forget()
	return nil
}

// choose saves which of the two is the better. A key before both were seen is not
// taken.
func (m *Model) choose(choice string) tea.Cmd {
	p := m.pairs
	if m.saving || m.pane != paneCard || p.of != p.at || p.drawn.IsZero() || m.opts.Now().Sub(p.drawn) < seenAfter {
		return nil
	}
	return m.prefer(p.at, choice)
}

func (m *Model) prefer(at int, choice string) tea.Cmd {
	m.saving = true
	s, match := m.opts.Store, m.pairs.list[at]
	pref := record.Preference{First: match.first, Second: match.second, Choice: choice, Annotator: m.opts.Annotator, At: m.opts.Now()}
	return m.ask(func(ctx context.Context) tea.Msg {
		_, err := s.AddPreference(context.WithoutCancel(ctx), pref)
		return chosenMsg{at, choice, err}
	})
}

func (m *Model) chosen(msg chosenMsg) tea.Cmd {
	m.saving = false
	p := m.pairs
	if msg.err != nil {
		return ui.Failed(fmt.Errorf("not saved, pair %d: %w", msg.at+1, msg.err))
	}
	if p == nil {
		return nil
	}
	if msg.choice == record.ChoiceRetracted {
		was := p.list[msg.at].choice
		if n := len(p.trail); n > 0 && p.trail[n-1] == msg.at {
			p.trail = p.trail[:n-1]
		}
		p.list[msg.at].choice = ""
		p.at = msg.at
		return tea.Batch(ui.Toast(fmt.Sprintf("Taken back: %s for pair %d", choiceWord(was), msg.at+1)), m.showMatch())
	}
	p.list[msg.at].choice = msg.choice
	p.trail = append(p.trail, msg.at)
	said := fmt.Sprintf("Saved %s for pair %d", choiceWord(msg.choice), msg.at+1)
	if p.at = p.after(msg.at); p.left() == 0 {
		said += ": that was the last without a choice"
	}
	return tea.Batch(ui.Toast(said), m.showMatch())
}

// takeBackChoice takes the last choice back, of this sitting or at the pair shown.
func (m *Model) takeBackChoice() tea.Cmd {
	p := m.pairs
	if m.saving {
		return nil // what is being saved can be taken back when it is
	}
	at := -1
	if n := len(p.trail); n > 0 {
		at = p.trail[n-1]
	} else if p.list[p.at].choice != "" {
		at = p.at
	}
	if at < 0 {
		return ui.Toast("There is no choice to take back")
	}
	return m.prefer(at, record.ChoiceRetracted)
}

// choiceWord is a choice as the screen says it.
func choiceWord(choice string) string {
	switch choice {
	case record.ChoiceFirst:
		return "left is better"
	case record.ChoiceSecond:
		return "right is better"
	case record.ChoiceTie:
		return "neither is better"
	}
	return choice
}

// IDs of the actions on pairs.
const (
	doPairs      = "pairs"
	doFirst      = "first-better"
	doSecond     = "second-better"
	doTie        = "neither-better"
	doDifference = "next-difference"
)

var choices = map[string]string{doFirst: record.ChoiceFirst, doSecond: record.ChoiceSecond, doTie: record.ChoiceTie, doSkip: record.ChoiceSkip}

func (m *Model) pairActions() []ui.Action {
	return append(ui.Moves(),
		ui.Action{ID: doFirst, Keys: []string{"a"}, Name: "left", Help: "The left one is better: save that and go on", Footer: 1},
		ui.Action{ID: doSecond, Keys: []string{"b"}, Name: "right", Help: "The right one is better: save that and go on", Footer: 2},
		ui.Action{ID: doTie, Keys: []string{"="}, Name: "neither", Help: "Neither is better: save that and go on", Footer: 3},
		ui.Action{ID: doSkip, Keys: []string{"s"}, Name: "skip", Help: "Skip the pair: save that and go on", Footer: 4},
		ui.Reserve(ui.Undo, "undo", "Take the last choice back and go to its pair", 5),
		ui.Action{ID: doRubric, Keys: []string{"r"}, Name: "rubric", Help: "Show the rubric and the policy, or the pair again", Footer: 6},
		ui.Action{ID: doDifference, Keys: []string{")"}, Name: "difference", Help: "Go to the next place in which the two differ", Footer: 7},
		ui.Action{ID: doNext, Keys: []string{"}"}, Name: "next", Help: "Go to the next pair, decided or not", Footer: 8},
		ui.Action{ID: doBefore, Keys: []string{"{"}, Name: "before", Help: "Go to the pair before"},
		ui.Action{ID: doPairs, Keys: []string{"P"}, Name: "cards", Help: "Go back to one rollout at a time"},
		ui.Reserve(ui.NextPane, "side", "See the other of the two, where there is room for one", 0),
		ui.Reserve(ui.Open, "unfold", "Fold or unfold the tool calls of both", 0),
		ui.Reserve(ui.Copy, "", "Copy what is under the cursor, of both", 0),
		ui.Reserve(ui.Back, "back", "Go back: to the pair, to the cards", 0))
}

func (m *Model) doPair(id string) tea.Cmd {
	p := m.pairs
	if choice, ok := choices[id]; ok {
		return m.choose(choice)
	}
	if m.pane == paneRubric && id != ui.Back {
		if m.page.Move(id, m.leaf) {
			return nil
		}
	} else if p.shown != nil && p.scroll.Move(id, p.shown) {
		return nil
	}
	switch id {
	case doRubric:
		m.turnPane()
	case doPairs:
		m.pairs, m.pane = nil, paneCard
	case ui.Back:
		if m.pane == paneRubric {
			m.pane = paneCard
			return nil
		}
		m.pairs = nil
	case ui.Undo:
		return m.takeBackChoice()
	case doNext, doBefore:
		by := 1
		if id == doBefore {
			by = -1
		}
		if at := p.at + by; at >= 0 && at < len(p.list) {
			p.at = at
			return m.showMatch()
		}
	case ui.NextPane:
		p.side = transcript.Left + transcript.Right - p.side
	}
	if p.shown == nil || m.pane != paneCard {
		return nil
	}
	switch id {
	case doDifference:
		if at, ok := p.shown.Difference(p.scroll.Cursor(), 1); ok {
			p.scroll.To(p.shown, at)
		}
	case ui.Open:
		if at, ok := p.shown.Toggle(p.scroll.Cursor()); ok {
			p.scroll.To(p.shown, at)
		}
	case ui.Copy:
		if text := p.shown.Text(p.scroll.Cursor()); text != "" {
			return tea.Batch(tea.SetClipboard(text), ui.Toast("Copied "+ui.Plural(len(text), "byte")+" of the two"))
		}
	}
	return nil
}

// pairTop are the lines above the two transcripts.
const pairTop = 3

// pairView draws a pair: what was chosen, how the two differ, both side by side or
// the one in focus.
func (m *Model) pairView(width, height int) []string {
	t, p := m.theme, m.pairs
	var right []ui.Span
	if c := p.list[p.at].choice; c != "" {
		right = []ui.Span{ui.S(t.Quiet, "you said: "), ui.S(t.Text, choiceWord(c))}
	}
	if m.saving {
		right = []ui.Span{ui.S(t.Info, "saving")}
	}
	lines := []string{ui.Rule(t, width, fmt.Sprintf("Pair %d of %d: which is better?", p.at+1, len(p.list)), true, right...)}
	if p.shown == nil || p.of != p.at {
		for len(lines) < height {
			lines = append(lines, ui.Spaces(width))
		}
		return lines[:height]
	}
	lines = append(lines, ui.Row(width, ui.Style{}, ui.S(t.Quiet, " "+p.shown.Says("left", "right")+fmt.Sprintf("  ·  %d of %d decided", len(p.list)-p.left(), len(p.list)))))
	at := p.scroll.Cursor()
	if width < ui.MinSplit {
		name := "Left"
		if p.side == transcript.Right {
			name = "Right"
		}
		lines = append(lines, ui.Rule(t, width, name+", Tab: the other", true))
		at = p.shown.Alone(p.side, at)
	} else {
		left := (width - 3) / 2
		lines = append(lines, ui.Rule(t, left, "Left: a", false)+t.Line.Render(" ┬ ")+ui.Rule(t, width-3-left, "Right: b", false))
		at = p.shown.Both(at)
	}
	if at != p.scroll.Cursor() {
		p.scroll.To(p.shown, at)
	}
	rows := max(height-len(lines), 0)
	m.top, m.height = pairTop, rows
	body := p.scroll.View(p.shown, width, rows, true)
	if !p.placed {
		p.placed = true
		if row, ok := p.shown.Parting(); ok {
			p.scroll.To(p.shown, row)
			p.scroll.Wheel(p.shown, -rows/3)
			body = p.scroll.View(p.shown, width, rows, true)
		}
	}
	if p.drawn.IsZero() {
		p.drawn = m.opts.Now()
	}
	return append(lines, body...)[:height]
}
