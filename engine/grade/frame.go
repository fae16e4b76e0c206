package grade

import (
	"bytes"
	"slices"
	"strings"

	"assay/engine/record"
)

// frame is what all rollouts of a run share: the policy and the tools, prepared
// once for the rules.
type frame struct {
	prompt record.Text
	tools  []record.Tool
	known  []byte // policy and schemas, squashed: where an argument may come from
	byName map[string]toolInfo
	acting bool // some declared tool may change the world
	secret bool // the policy holds a key
}

// toolInfo is what the rules need of a tool.
type toolInfo struct {
	declared bool
	kind     record.ToolKind
	groups   groupSet // what its name says that it does
	handoff  bool     // it gives the conversation away
}

func newFrame(prompt record.Text, tools []record.Tool) *frame {
	f := &frame{prompt: prompt, tools: tools, byName: make(map[string]toolInfo, len(tools))}
	_, f.secret = secretIn(string(prompt))
	known := appendSquashed(nil, string(prompt))
	for i := range tools {
		t := &tools[i]
		f.byName[t.Name] = toolInfo{declared: true, kind: t.Kind, groups: groupsOfName(t.Name), handoff: isHandoff(t.Name)}
		f.acting = f.acting || t.Kind != record.ToolRead
		known = appendSquashed(known, t.Description)
		for _, l := range appendLeaves(nil, string(t.Parameters)) {
			if l.key != "type" { // "string" is no value that a schema offers
				known = appendSquashed(known, l.value)
			}
		}
	}
	f.known = known
	return f
}

// tool is what is known of a tool by its name; an undeclared one may do anything.
func (f *frame) tool(name string) toolInfo {
	if info, ok := f.byName[name]; ok {
		return info
	}
	return toolInfo{groups: groupsOfName(name), handoff: isHandoff(name)}
}

// declares reports whether some declared tool that acts does what groups say.
func (f *frame) declares(groups groupSet) bool {
	for i := range f.tools {
		info := f.byName[f.tools[i].Name]
		if info.kind != record.ToolRead && info.groups&groups != 0 {
			return true
		}
	}
	return false
}

// sameTools reports whether two lists say the same to the rules. Comparing them
// costs a tenth of a microsecond where they are one list, as they are within a run.
func sameTools(a, b []record.Tool) bool {
	return slices.EqualFunc(a, b, func(a, b record.Tool) bool {
		return a.Name == b.Name && a.Kind == b.Kind && a.Description == b.Description && bytes.Equal(a.Parameters, b.Parameters)
	})
}

// nameTokens cuts a name at underscores, hyphens, dots and capitals.
func nameTokens(name string) []string {
	var tokens []string
	start := 0
	cut := func(end int) {
		if end > start {
			tokens = append(tokens, lowerASCII(name[start:end]))
		}
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == '.' || c == ' ' || c == '/':
			cut(i)
			start = i + 1
		case c >= 'A' && c <= 'Z' && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z':
			cut(i)
			start = i
		}
	}
	cut(len(name))
	return tokens
}

func isHandoff(name string) bool {
	lower := lowerASCII(name)
	for _, word := range []string{"transfer", "handoff", "hand_off", "escalate", "finish", "submit", "end_conversation"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}
