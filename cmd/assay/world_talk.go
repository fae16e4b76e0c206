package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"

	"assay/engine/record"
)

// maxWorldLine bounds a line of calls by hand: what a world takes as arguments,
// and room for the rest.
const maxWorldLine = 2 << 20

// talk reads calls from stdin, one a line, until it ends. On a terminal a line
// that cannot be read is said and forgotten; in a pipe it ends the command.
func (s *session) talk(h *handWorld) error {
	byHand := s.isTerminal(s.in)
	if byHand && s.json { // one document, and nobody to ask
		return nil
	}
	prompt := func() {
		if byHand {
			fmt.Fprint(s.out, "> ")
		}
	}
	lines := bufio.NewScanner(s.in)
	lines.Buffer(nil, maxWorldLine)
	prompt()
	for n := 1; lines.Scan(); n++ {
		ended, err := s.hear(h, strings.TrimSpace(lines.Text()))
		if err != nil && !byHand {
			return &record.Problem{Code: "bad_call", Message: err.Error(), Where: fmt.Sprintf("line %d of stdin", n), Fix: `write NAME {"argument": "value"}`, Err: err}
		}
		if err != nil {
			s.say(err.Error())
		}
		if ended {
			return nil
		}
		prompt()
	}
	if byHand {
		fmt.Fprintln(s.out)
	}
	return lines.Err()
}

// hear takes one line: a call, or a word that is none.
func (s *session) hear(h *handWorld, line string) (ended bool, err error) {
	name, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "":
		return false, nil
	case line[0] == '{':
		call, err := readCall(line)
		if err != nil {
			return false, err
		}
		s.answer(h, call)
		return false, nil
	case rest != "" || h.has(name):
		arguments := strings.TrimSpace(rest)
		if arguments == "" {
			arguments = "{}"
		}
		if !json.Valid([]byte(arguments)) {
			return false, fmt.Errorf("the arguments %q are not JSON", arguments)
		}
		s.answer(h, record.ToolCall{Tool: name, Arguments: json.RawMessage(arguments)})
		return false, nil
	case line == "quit" || line == "exit":
		return true, nil
	case line == "again":
		h.again()
	case line == "tools" && !s.json:
		h.writeTools(s.out)
	case line == "task" && !s.json:
		h.writeTask(s.out)
	case line == "help" && !s.json:
		fmt.Fprintln(s.out, `  NAME {"argument": "value"}   call a tool`+"\n  tools, task                 what there is\n  again                       a fresh world\n  quit                        leave")
	default:
		return false, fmt.Errorf("there is no tool %q, and it is none of tools, task, again, help, quit", name)
	}
	return false, nil
}

func (h *handWorld) has(tool string) bool {
	for i := range h.Tools {
		if h.Tools[i].Name == tool {
			return true
		}
	}
	return false
}
