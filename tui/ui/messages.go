package ui

import tea "charm.land/bubbletea/v2"

// ToastMsg is a line that says what was done, and goes by itself.
type ToastMsg struct {
	Text string // clean
	Bad  bool   // something went wrong
}

// Toast says what was done.
func Toast(text string) tea.Cmd {
	return func() tea.Msg { return ToastMsg{Text: text} }
}

// Failed says what went wrong.
func Failed(err error) tea.Cmd {
	text := CleanLine(err.Error())
	return func() tea.Msg { return ToastMsg{Text: text, Bad: true} }
}

// AskMsg asks the person before something is done; Yes runs if they agree.
type AskMsg struct {
	Confirm Confirm
	Yes     tea.Cmd
}

// Ask asks before yes is run.
func Ask(c Confirm, yes tea.Cmd) tea.Cmd {
	return func() tea.Msg { return AskMsg{c, yes} }
}
