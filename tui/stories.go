package tui

import (
	tea "charm.land/bubbletea/v2"

	"assay/tui/live"
	"assay/tui/runs"
	"assay/tui/ui"
)

type begunMsg struct {
	runID string // "" where the story makes a new one
	story Story
	err   error
}

type endedMsg struct{ story Story }

// begin starts or resumes a story, away from the loop.
func (m *root) begin(what tea.Msg) tea.Cmd {
	if m.story != nil || m.begins {
		return func() tea.Msg {
			return ui.ToastMsg{Text: "A run is on its way already: let it finish, or stop it with Ctrl-C", Bad: true}
		}
	}
	m.begins = true
	m.box.hold()
	o, guard, observe := m.opts, m.guard, m.box.observe
	return func() tea.Msg {
		var msg begunMsg
		msg.story, msg.err = guard.begin(func() (Story, error) {
			switch what := what.(type) {
			case runs.StartMsg:
				return o.Start(what, observe)
			case runs.ResumeMsg:
				msg.runID = what.RunID
				return o.Resume(what.RunID, observe)
			}
			return nil, nil
		})
		return msg
	}
}

func (m *root) begun(msg begunMsg) tea.Cmd {
	m.begins = false
	m.box.release()
	if msg.err != nil {
		return ui.Failed(msg.err)
	}
	if msg.story == nil {
		return nil
	}
	m.story, m.stops = msg.story, 0
	m.front, m.look = ui.ScreenLive, m.live
	m.storyIDs = map[string]bool{}
	if msg.runID != "" {
		m.storyIDs[msg.runID] = true
		m.runs.SetActive(m.storyIDs)
	}
	if m.leaving {
		m.guard.drain(m.story)
	}
	return tea.Batch(m.live.Open(msg.runID, m.story), m.wait(m.story))
}

func (m *root) news(n live.News) tea.Cmd {
	if m.story == nil {
		return nil // of a story that has ended: the store says more
	}
	var cmds []tea.Cmd
	for id := range n.Runs {
		m.storyIDs[id] = true
		cmds = append(cmds, m.runs.Changed(id))
	}
	if len(n.Runs) > 0 {
		m.runs.SetActive(m.storyIDs)
	}
	return tea.Batch(append(cmds, m.live.Update(n), m.tellChanges(n, false))...)
}

func (m *root) ended(msg endedMsg) tea.Cmd {
	if msg.story != m.story {
		return nil
	}
	last, _ := m.box.empty(true)
	heard := m.live.Update(last)
	stopped := m.stops > 0
	m.halted = stopped
	if m.ask != nil && m.ask.Confirm.Question == leaveQuestion {
		m.ask = nil // there is nothing to ask about any more
	}
	m.story, m.stops = nil, 0
	m.storyIDs = map[string]bool{}
	m.runs.SetActive(m.storyIDs)
	if m.leaving && m.idle() {
		return tea.Quit
	}
	cmds := []tea.Cmd{heard, m.tellChanges(last, true), m.live.Ended(), m.runs.Refresh()}
	switch err := msg.story.Err(); {
	case err != nil:
		cmds = append(cmds, ui.Failed(err))
	case stopped:
		cmds = append(cmds, ui.Toast("Stopped; what had finished is saved, and r among the runs goes on with the rest"))
	default:
		cmds = append(cmds, ui.Toast("Finished; all of it is saved"))
	}
	return tea.Batch(cmds...)
}

// open shows a run: the story that runs here as it goes, any other as it is saved.
func (m *root) open(runID string) tea.Cmd {
	return m.goTo(ui.ScreenLive, ui.Visit{Run: runID})
}

const leaveQuestion = "Leave while a run is on its way?"

// leave ends the program; while work is running it asks, and says what becomes of
// the work.
func (m *root) leave() tea.Cmd {
	if m.story == nil && !m.begins {
		what := m.writing()
		if what == "" || m.leaving {
			return tea.Quit
		}
		m.leaving = true
		return ui.Toast("Leaving when " + what + " is written; the same key again leaves at once, without it")
	}
	return ui.Ask(ui.Confirm{
		Question: leaveQuestion,
		Says:     "Rollouts in flight finish and are saved, then the program ends. The rest waits: resume goes on where it stopped.",
		Yes:      "Leave",
	}, func() tea.Msg { return leaveMsg{} })
}

type leaveMsg struct{}

// drainAndLeave ends the program as soon as the story has ended.
func (m *root) drainAndLeave() tea.Cmd {
	m.leaving = true
	switch {
	case m.story != nil:
		m.stops = max(m.stops, 1)
		m.live.Stopping()
		m.guard.drain(m.story)
		return nil
	case m.begins:
		return nil // it is stopped when it has begun
	case m.writing() != "":
		return nil // what the screen says of it ends the program
	}
	return tea.Quit
}

// stop is Ctrl-C: it drains the run, then aborts it; with nothing running it
// leaves.
func (m *root) stop() tea.Cmd {
	if m.story == nil {
		return m.leave()
	}
	m.stops++
	m.live.Stopping()
	if m.stops == 1 {
		m.guard.drain(m.story)
		return ui.Toast("Stopping: rollouts in flight finish and are saved; Ctrl-C again aborts them")
	}
	m.story.Abort()
	return ui.Toast("Aborting: rollouts in flight are dropped and made again on resume")
}
