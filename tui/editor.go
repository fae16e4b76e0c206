package tui

import (
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// editor hands the terminal to a person's editor on a file.
func editor(environ []string) func(file string, done func(error) tea.Msg) tea.Cmd {
	return func(file string, done func(error) tea.Msg) tea.Cmd {
		return tea.ExecProcess(editorCommand(environ, file), done)
	}
}

// editorCommand is $VISUAL, else $EDITOR, else vi, on a file. What the variable holds
// is a command line, as git and others take it.
func editorCommand(environ []string, file string) *exec.Cmd {
	line := "vi"
	for _, want := range []string{"EDITOR", "VISUAL"} {
		for _, kv := range environ {
			if name, value, _ := strings.Cut(kv, "="); name == want && strings.TrimSpace(value) != "" {
				line = value
			}
		}
	}
	c := exec.Command("sh", "-c", line+` "$1"`, "sh", file)
	c.Env = environ
	return c
}
