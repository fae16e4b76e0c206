package main

import (
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"
)

// nothing is a Bubble Tea program on the alternate screen that shows a word and
// waits.
type nothing struct{}

func (nothing) Init() tea.Cmd                         { return nil }
func (n nothing) Update(tea.Msg) (tea.Model, tea.Cmd) { return n, nil }

func (nothing) View() tea.View {
	v := tea.NewView("run it")
	v.AltScreen = true
	return v
}

func emptyApp() {
	if _, err := tea.NewProgram(nothing{}).Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
