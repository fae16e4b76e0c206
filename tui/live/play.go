package live

import (
	tea "charm.land/bubbletea/v2"

	"assay/engine/record"
	"assay/tui/transcript"
)

// followNewest moves the cursor to the newest rollout, once the one that plays
// has ended and its end was seen.
func (m *Model) followNewest() tea.Cmd {
	v := m.view()
	if !m.follow || v == nil || v.Len() == 0 {
		return nil
	}
	if m.shown.live && m.findFlight(m.shown.id) != nil {
		return nil
	}
	if m.shown.id != "" && m.news.At.Sub(m.shown.since) < dwell {
		return nil
	}
	v.goTo(v.Len() - 1)
	return v.readAround(m)
}

// UnderCursor is the id of the rollout under the cursor, "" where there is none.
func (m *Model) UnderCursor() string {
	if v := m.view(); v != nil && v.Len() > 0 {
		return v.at
	}
	return ""
}

// play shows in the right pane what is under the cursor: a rollout in flight as
// it goes, a committed one as it was saved.
func (m *Model) play() tea.Cmd {
	v := m.view()
	if v == nil || v.Len() == 0 {
		return nil
	}
	if v.at == "" {
		v.pin()
	}
	if v.at == "" {
		return nil // its page is on its way
	}
	if f := m.findFlight(v.at); f != nil {
		m.playFlight(f)
		return nil
	}
	return m.playSaved(v.at)
}

func (m *Model) findFlight(id string) *Flight {
	v := m.view()
	for i := range v.flights {
		if v.flights[i].ID == id {
			return &v.flights[i]
		}
	}
	return nil
}

func (m *Model) playFlight(f *Flight) {
	s := &m.shown
	if s.id != f.ID || s.doc == nil || s.doc.Steps() > len(f.Steps) {
		facts, ask := "", record.Text("")
		if f.Task != nil {
			facts, ask = transcript.Facts(f.Task, f.HeldOut, f.Key), f.Task.Ask
		}
		*s = shown{id: f.ID, since: m.news.At, live: true, said: -1, doc: transcript.New(m.theme, facts, ask), play: s.play}
		s.play.Reset()
	}
	bottom := s.play.AtBottom(s.doc)
	s.mark = m.theme.Running()
	if n := s.doc.Steps(); n < len(f.Steps) {
		s.doc.Append(f.Steps[n:])
		s.said = -1
	}
	if s.said != f.Said {
		s.doc.Stream(f.Stream)
		s.said = f.Said
	}
	if bottom || m.follow {
		s.play.Bottom(s.doc)
	}
}

// playSaved asks for a committed rollout, unless it is shown already.
func (m *Model) playSaved(id string) tea.Cmd {
	s := &m.shown
	if s.id == id && !s.live {
		return nil
	}
	gen, now := m.readSample.Ask()
	if !now {
		return nil
	}
	if s.id != id {
		since := m.news.At
		*s = shown{id: id, since: since, play: s.play}
		s.play.Reset()
	}
	threshold := 1.0
	if r := m.run(); r != nil && r.PassThreshold > 0 {
		threshold = r.PassThreshold
	}
	return m.owned(readSample(m.ctx, m.opts.Store, gen, id, m.theme, threshold))
}

func (m *Model) sampleRead(msg sampleMsg) tea.Cmd {
	current, again := m.readSample.Answered(msg.gen)
	s := &m.shown
	switch {
	case !current || msg.id != s.id:
	case msg.err != nil:
		m.err = msg.err
		return nil
	default:
		was := s.doc
		bottom := was != nil && s.play.AtBottom(was)
		s.doc, s.live, s.since = msg.doc, false, m.news.At
		if was != nil {
			s.doc.SameFolds(was)
		}
		s.play.Forget()
		m.restoreTranscript()
		if bottom && m.follow {
			s.play.Bottom(s.doc)
		}
		if m.search.Active() && !m.follow {
			return m.find()
		}
	}
	if again || !current || msg.id != s.id {
		return m.play()
	}
	return nil
}
