package explore

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// replay is a rollout beside what its world answers the second time.
type replay struct {
	on      bool
	id      string
	fault   *record.Fault // that its task plans
	without bool          // that is switched off
	says    string
	shown   *transcript.Pair
	scroll  ui.Scroll
	asking  ui.Question
}

type replayMsg struct {
	gen     int
	id      string
	without bool
	fault   *record.Fault
	says    string
	shown   *transcript.Pair
	err     error
}

// openReplay asks the world of the rollout under the cursor its calls again, without
// its fault where that is asked for.
func (m *Model) openReplay(id string, without bool) tea.Cmd {
	if id == "" || m.opts.Engine == nil {
		return nil
	}
	gen, now := m.replay.asking.Ask()
	if !now {
		return nil
	}
	s, e, theme, threshold := m.opts.Store, m.opts.Engine, m.theme, m.threshold()
	return m.asked(func(ctx context.Context) tea.Msg {
		msg := replayMsg{gen: gen, id: id, without: without}
		before, err := s.Sample(ctx, id)
		if err != nil {
			msg.err = err
			return msg
		}
		report, err := e.Replay(ctx, before, engine.ReplayOptions{WithoutFault: without})
		if err != nil {
			msg.err = err
			return msg
		}
		msg.fault, msg.says = report.Fault, replaySays(report)
		msg.shown = transcript.NewPair(theme, before, answeredAgain(before, report), threshold)
		return msg
	})
}

// answeredAgain is a rollout with the answers of a replay in the place of its own, and
// without the verdict, which was on those.
func answeredAgain(before *record.Sample, report *engine.ReplayReport) *record.Sample {
	after := *before
	after.Judgment, after.Markers = nil, nil
	after.Rollout.Steps = slices.Clone(before.Rollout.Steps)
	for _, call := range report.Calls {
		if call.After == nil || call.Step < 0 || call.Step >= len(after.Rollout.Steps) {
			continue
		}
		step := &after.Rollout.Steps[call.Step]
		step.Result, step.IsError, step.Fault = bytes.Clone(call.After.Result), call.After.IsError, call.After.Fault
	}
	return &after
}

func replaySays(r *engine.ReplayReport) string {
	where := "in the same world"
	if r.WithoutFault {
		where = fmt.Sprintf("without the fault %s on %s", ui.Line(r.Fault.Condition, 40), ui.Line(r.Fault.Tool, 40))
	}
	differ := 0
	for _, call := range r.Calls {
		if !call.Same {
			differ++
		}
	}
	switch {
	case len(r.Calls) == 0:
		return "there is no call to ask again"
	case differ == 0:
		return "asked again " + where + ": every answer is the same"
	}
	return fmt.Sprintf("asked again %s: %d of %s differ", where, differ, ui.Plural(len(r.Calls), "answer"))
}

func (m *Model) replayRead(msg replayMsg) tea.Cmd {
	r := &m.replay
	if current, _ := r.asking.Answered(msg.gen); !current {
		return nil
	}
	if msg.err != nil {
		return ui.Failed(msg.err)
	}
	r.on, r.id, r.without, r.fault, r.says, r.shown = true, msg.id, msg.without, msg.fault, msg.says, msg.shown
	r.scroll.Reset()
	r.scroll.Forget()
	if row, ok := r.shown.Parting(); ok {
		r.scroll.To(r.shown, row)
	}
	return nil
}

func (m *Model) replayActions() []ui.Action {
	out := append(ui.Moves(),
		ui.Reserve(ui.Open, "unfold", "Fold or unfold the tool calls of both", 1),
		ui.Action{ID: transcript.NextTrouble, Keys: []string{")"}, Name: "parting", Help: "Go to the first answer that differs", Footer: 3},
		ui.Reserve(ui.Copy, "", "Copy what is under the cursor, of both", 0),
		ui.Reserve(ui.Back, "back", "Go back to the list", 5))
	if m.replay.fault != nil {
		name, help := "without fault", "Ask the same world without its fault"
		if m.replay.without {
			name, help = "replay", "Ask the same world, fault and all"
		}
		out = append(out, ui.Action{ID: doReplay, Keys: []string{"p"}, Name: name, Help: help, Footer: 2})
	}
	return out
}

func (m *Model) doReplayed(id string) tea.Cmd {
	r := &m.replay
	if r.scroll.Move(id, r.shown) {
		return nil
	}
	switch id {
	case ui.Back:
		r.on = false
	case doReplay:
		return m.openReplay(r.id, !r.without)
	case ui.Open:
		if at, ok := r.shown.Toggle(r.scroll.Cursor()); ok {
			r.scroll.To(r.shown, at)
		}
	case transcript.NextTrouble:
		row, ok := r.shown.Parting()
		if !ok {
			return ui.Toast("The two are the same")
		}
		r.scroll.To(r.shown, row)
	case ui.Copy:
		return copied(r.shown.Text(r.scroll.Cursor()), "of the two")
	}
	return nil
}

func (m *Model) replayView(width, height int) []string {
	t, r := m.theme, &m.replay
	m.seen[r.id] = true
	lines := []string{
		ui.Row(width, ui.Style{}, ui.S(t.Quiet, " left as recorded, right "), ui.S(t.Text, r.says)),
		ui.Rule(t, width, "Replay", true, ui.S(t.Quiet, ui.CleanLine(r.id))),
	}
	lines = lines[:min(len(lines), height)]
	return append(lines, r.scroll.View(r.shown, width, height-len(lines), true)...)
}
