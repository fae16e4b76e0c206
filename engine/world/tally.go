package world

import (
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
)

// Dead reports whether the tool is shown not to work: the upper end of the
// Wilson interval of its successes lies under 0.30.
func (u ToolUse) Dead() bool {
	_, upper := stats.Wilson(u.Succeeded, u.Calls, deadZ)
	return u.Calls >= deadCalls && upper < deadShare
}

// Tally counts tool calls over rollouts. The zero value is ready; it is not safe
// for concurrent use.
type Tally struct{ uses map[string]*ToolUse }

// Add counts the calls of one rollout. Calls of tools that there are not say
// nothing of any tool.
func (t *Tally) Add(steps []record.Step) {
	for i := range steps {
		s := &steps[i]
		if s.Kind != record.StepTool || isUnknownTool(s) {
			continue
		}
		if t.uses == nil {
			t.uses = map[string]*ToolUse{}
		}
		u := t.uses[s.Tool]
		if u == nil {
			u = &ToolUse{Tool: s.Tool}
			t.uses[s.Tool] = u
		}
		switch {
		case s.Fault != "":
			u.Faulted++
		case s.IsError:
			u.Calls++
		default:
			u.Calls++
			u.Succeeded++
		}
	}
}

func isUnknownTool(s *record.Step) bool {
	return s.IsError && strings.Contains(string(s.Result), `"`+record.ErrUnknownTool+`"`)
}

// Uses lists the tools by name.
func (t *Tally) Uses() []ToolUse {
	out := make([]ToolUse, 0, len(t.uses))
	for _, u := range t.uses {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b ToolUse) int { return strings.Compare(a.Tool, b.Tool) })
	return out
}

// Dead lists the tools that are shown not to work, by name.
func (t *Tally) Dead() []ToolUse {
	return slices.DeleteFunc(t.Uses(), func(u ToolUse) bool { return !u.Dead() })
}
