package world

import (
	"encoding/json"
	"slices"
	"strings"

	"assay/engine/record"
	"assay/engine/stats"
)

// ToolUse is how calls of one tool went.
type ToolUse struct {
	Tool      string
	Calls     int // those that no injected fault shaped
	Succeeded int
	Faulted   int // by plan; never held against the tool
	// Mostly is the error that most of the calls ended in which did not succeed, ""
	// where none said which.
	Mostly string
}

// Numbers of the dead-tool report.
const (
	// deadCalls is the fewest calls that say anything: below it even a tool that
	// never worked may have been unlucky. It is the contract's.
	deadCalls = 3
	// deadShare is the rate of success that a tool must be shown to lie under. It is
	// the contract's.
	deadShare = 0.30
	// deadZ is the two-sided 95% normal quantile.
	deadZ = 1.959963984540054
	// maxTallied and maxErrors bound what is remembered of an agent that makes up
	// tools, or a tool that makes up errors, without end. Convention, untested.
	maxTallied = 1000
	maxErrors  = 16
)

// Dead reports whether the tool is shown not to work: the upper end of the
// Wilson interval of its successes lies under 0.30.
func (u ToolUse) Dead() bool {
	_, upper := stats.Wilson(u.Succeeded, u.Calls, deadZ)
	return u.Calls >= deadCalls && upper < deadShare
}

// Tally counts tool calls over rollouts, in bounded memory: of the first thousand
// tools that are called. The zero value is ready; it is not safe for concurrent
// use.
type Tally struct{ uses map[string]*tallied }

// tallied is one tool's calls, and its errors by their code.
type tallied struct {
	ToolUse
	errors map[string]int
}

// Add counts the calls of one rollout. Calls of tools that there are not say
// nothing of any tool.
func (t *Tally) Add(steps []record.Step) {
	for i := range steps {
		s := &steps[i]
		if s.Kind != record.StepTool {
			continue
		}
		code := errorCode(s)
		if code == record.ErrUnknownTool {
			continue
		}
		switch u := t.use(s.Tool); {
		case u == nil:
		case s.Fault != "":
			u.Faulted++
		case s.IsError:
			u.Calls++
			u.erred(code)
		default:
			u.Calls++
			u.Succeeded++
		}
	}
}

// use is the count of a tool, nil where there is no room for one more.
func (t *Tally) use(tool string) *tallied {
	u := t.uses[tool]
	if u == nil && len(t.uses) < maxTallied {
		if t.uses == nil {
			t.uses = map[string]*tallied{}
		}
		u = &tallied{ToolUse: ToolUse{Tool: tool}}
		t.uses[tool] = u
	}
	return u
}

func (u *tallied) erred(code string) {
	if code == "" || u.errors[code] == 0 && len(u.errors) == maxErrors {
		return
	}
	if u.errors == nil {
		u.errors = map[string]int{}
	}
	u.errors[code]++
	if n := u.errors[u.Mostly]; u.errors[code] > n || u.errors[code] == n && code < u.Mostly {
		u.Mostly = code
	}
}

// errorCode is what a failed call says went wrong, "" where it says nothing that
// can be read.
func errorCode(s *record.Step) string {
	if !s.IsError {
		return ""
	}
	var body record.ToolError
	if json.Unmarshal(s.Result, &body) != nil {
		return ""
	}
	return body.Error
}

// Uses lists the tools by name.
func (t *Tally) Uses() []ToolUse {
	out := make([]ToolUse, 0, len(t.uses))
	for _, u := range t.uses {
		out = append(out, u.ToolUse)
	}
	slices.SortFunc(out, func(a, b ToolUse) int { return strings.Compare(a.Tool, b.Tool) })
	return out
}

// Dead lists the tools that are shown not to work, by name.
func (t *Tally) Dead() []ToolUse {
	return slices.DeleteFunc(t.Uses(), func(u ToolUse) bool { return !u.Dead() })
}
