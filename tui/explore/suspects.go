package explore

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// suspects are the pairs and triples of values that go with failure, under the map.
type suspects struct {
	of     string // the filter that they are of
	known  bool
	busy   bool
	again  bool // something was committed while it was being counted
	found  []engine.Suspect
	tested int
	units  int
	list   ui.List
	focus  bool // the cursor is on them
	gen    uint64
}

type suspectsMsg struct {
	of     string
	found  []engine.Suspect
	tested int
	units  int
	err    error
}

// readSuspects looks for combinations in what the filter keeps: one walk over it, with
// the situations as units.
func (m *Model) readSuspects() tea.Cmd {
	s, id, filter, of := m.opts.Store, m.runID, m.filter, m.filter.String()
	p := &m.suspects
	if p.busy && p.of == of {
		p.again = true // what is being counted does not hold what was committed since
		return nil
	}
	if p.of != of {
		p.known, p.found, p.tested, p.focus = false, nil, 0, false
	}
	p.of, p.busy, p.again = of, true, false
	fields := record.AxisNames()
	return m.asked(func(ctx context.Context) tea.Msg {
		msg := suspectsMsg{of: of}
		tallies, err := s.TallyBy(ctx, id, filter, append(fields, "situation_id")...)
		if err != nil {
			msg.err = err
			return msg
		}
		units := unitsOf(tallies, len(fields))
		msg.units = len(units)
		msg.found, msg.tested = engine.Suspects(fields, units)
		return msg
	})
}

// unitsOf are the situations that were graded.
func unitsOf(tallies []store.Tally, fields int) []engine.SuspectUnit {
	var units []engine.SuspectUnit
	for _, t := range tallies {
		if t.Graded > 0 {
			units = append(units, engine.SuspectUnit{Values: t.Values[:fields], Failed: 2*t.Failed() >= t.Graded})
		}
	}
	return units
}

func (m *Model) suspectsRead(msg suspectsMsg) tea.Cmd {
	p := &m.suspects
	if msg.of != p.of {
		return nil
	}
	p.busy = false
	if m.failed(msg.err) {
		return nil
	}
	p.known, p.found, p.tested, p.units = true, msg.found, msg.tested, msg.units
	p.gen++
	p.focus = p.focus && len(p.found) > 0
	if p.again {
		return m.readSuspects()
	}
	return nil
}

// suspectRows is how many lines of a map's height the combinations take, their rule
// among them; 0 leaves all to the map.
func (m *Model) suspectRows(height int) int {
	if height < 12 {
		return 0
	}
	return max(min(len(m.suspects.found)+1, height/2), 2)
}

func (m *Model) suspectsView(width, height int) []string {
	if height <= 0 {
		return nil
	}
	t, p := m.theme, &m.suspects
	title, says := "Go with failure beyond each value alone", ""
	switch {
	case !p.known:
		says = "Looking through pairs and triples …"
	case p.tested == 0:
		says = "No pair or triple of values was tried often enough to be tested."
	case len(p.found) == 0:
		says = fmt.Sprintf("None of %d pairs and triples, at a false-discovery rate of about %.2f over %s.", p.tested, engine.SuspectLevel, ui.Plural(p.units, "situation"))
	}
	right := ui.S(t.Quiet, fmt.Sprintf("%d of %d tested, q ≤ %.2f", len(p.found), p.tested, engine.SuspectLevel))
	lines := []string{ui.Rule(t, width, title, p.focus, right)}
	if says != "" {
		lines = append(lines, ui.Row(width, ui.Style{}, ui.S(t.Quiet, "  "+says)))
		for len(lines) < height {
			lines = append(lines, ui.Spaces(width))
		}
		return lines[:height]
	}
	return append(lines, p.list.View(suspectRows{m}, width, height-1, p.focus)...)
}

type suspectRows struct{ m *Model }

func (r suspectRows) Len() int             { return len(r.m.suspects.found) }
func (r suspectRows) Version(i int) uint64 { return r.m.suspects.gen<<20 ^ r.m.gen<<8 ^ uint64(i) }

func (r suspectRows) Draw(i, width int, look ui.Look) string {
	t, s := r.m.theme, &r.m.suspects.found[i]
	var parts []string
	for n, field := range s.Fields {
		parts = append(parts, field+"="+valueText(s.Values[n], max(width/3, 12)))
	}
	share := float64(s.Failed) / float64(s.Units)
	right := []ui.Span{ui.S(rateStyle(t, share), ui.PadLeft(ui.Share(share), 5)), ui.S(t.Quiet, fmt.Sprintf(" %3d/%-4d", s.Failed, s.Units)), ui.S(t.Quiet, " else "), ui.S(t.Text, ui.PadLeft(ui.Share(s.Beside), 4)), ui.S(t.Quiet, fmt.Sprintf("  q %.3f ", s.Q))}
	return ui.Sides(width, t.Base(look), []ui.Span{transcript.Cursor(t, look), ui.S(t.Text, strings.Join(parts, "  "))}, right)
}

// openSuspect filters to the combination under the cursor.
func (m *Model) openSuspect() tea.Cmd {
	p := &m.suspects
	if p.list.Cursor() >= len(p.found) {
		return nil
	}
	s := &p.found[p.list.Cursor()]
	line := m.filter.String()
	for i, field := range s.Fields {
		line += " " + term(field, s.Values[i])
	}
	return m.filterBy(line, viewRollouts)
}
