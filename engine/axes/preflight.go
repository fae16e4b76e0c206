package axes

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"assay/engine/record"
)

// thinPolicy is the length in characters under which a policy is called thin:
// about two sentences, from which hardly a rule can be tested. Convention.
const thinPolicy = 200

// maxNamed is how many names a warning spells out before it counts the rest.
const maxNamed = 5

// Preflight says, before anything is spent, what in the tools and the policy
// will make a run say less than it could. Each warning has its fix.
func Preflight(tools []record.Tool, policy string) []record.Warning {
	var out []record.Warning
	warn := func(code, fix, format string, args ...any) {
		out = append(out, record.Warning{Code: code, Text: fmt.Sprintf(format, args...), Fix: fix})
	}
	if len(tools) == 0 {
		warn("no_tools", "name a file under tools, or leave it if the agent has none", "no tools: only asks for none of them can be posed")
	}
	if names := toolsWhere(tools, func(t record.Tool) bool { return strings.TrimSpace(t.Description) == "" }); len(names) > 0 {
		warn("missing_descriptions", "describe what each does and when; the agent chooses by it", "%s without a description: %s", counted(len(names), "tool"), listed(names))
	}
	if names := toolsWhere(tools, func(t record.Tool) bool { return len(t.Parameters) == 0 }); len(names) > 0 {
		warn("missing_schemas", "give each a parameters schema; the world checks arguments by it", "%s without a schema: %s", counted(len(names), "tool"), listed(names))
	}
	if names := toolsWhere(tools, func(t record.Tool) bool { return len(t.Returns) == 0 }); len(names) > 0 {
		warn("missing_returns", "give each returns, a schema or an example; records are then shaped like yours", "%s without returns: %s", counted(len(names), "tool"), listed(names))
	}
	switch n := utf8.RuneCountInString(strings.TrimSpace(policy)); {
	case n == 0:
		warn("no_policy", "name a file under system_prompt", "no policy: no rule can be tested")
	case n < thinPolicy:
		warn("thin_policy", "write down the rules that the agent must keep", "the policy has %d characters, under %d: few rules can be tested", n, thinPolicy)
	case len(Clauses(policy)) == 0:
		warn("no_clauses", "write the rules as sentences or list items", "the policy has no clause that can be tested")
	}
	if names := toolsWhere(tools, func(t record.Tool) bool { return t.Kind == record.ToolDestructive }); len(names) > 0 {
		warn("destructive_tools", "with tools_by: agent they act on real things; use a copy", "%s that cannot be taken back: %s", counted(len(names), "tool"), listed(names))
	}
	if ids := KnownIDs(tools, policy); len(ids) > 0 {
		names := make([]string, len(ids))
		for i, id := range ids {
			names[i] = id.ID
		}
		warn("ids_named", "with tools_by: agent, check that your own backend knows them", "ids named in descriptions are used in the asks and exist in the world: %s", listed(names))
	}
	return out
}

func toolsWhere(tools []record.Tool, is func(record.Tool) bool) []string {
	var names []string
	for _, t := range tools {
		if is(t) {
			names = append(names, t.Name)
		}
	}
	return names
}

func listed(names []string) string {
	if len(names) > maxNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
	}
	return strings.Join(names, ", ")
}
