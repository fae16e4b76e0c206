package axes

import (
	"fmt"
	"slices"
	"strings"

	"assay/engine/record"
)

// Asked is one ask that was posed, or that a user already has: what a [Gap] is
// read from.
type Asked struct {
	Ask  record.Text
	Axes record.Axes // nil where the ask has no coordinates
	// Turns is how often the user spoke; 0 counts as once.
	Turns int
}

// Gap is what a set of asks does not reach. Grid coverage is not policy coverage:
// an array can hold every pair of sixteen clauses of forty.
type Gap struct {
	Asks  int      `json:"asks"`
	Rules []string `json:"rules"` // clauses that no ask is aimed at or speaks of
	Tools []string `json:"tools"` // tools that no ask is aimed at or speaks of
	// Axes are those that cannot be read: no ask carries its value, nor, of a tool or
	// a rule, speaks of one.
	Axes       []string `json:"axes"`
	SingleShot bool     `json:"single_shot"` // no ask goes beyond its first message
	NoPressure bool     `json:"no_pressure"` // no stance presses or opposes the agent
	// Unlabelled is how many asks have no stance. They are never counted as ordinary.
	Unlabelled int `json:"unlabelled"`
}

// pressing are the stances under which agents give way.
var pressing = []string{"adversarial", "boundary", "conflicting", "hurried", "mistaken"}

// ruleShare is the part of a clause's content words that an ask must hold to
// count as speaking of it. Convention, untested.
const ruleShare = 0.5

// unlabelledShare is the share of asks without a stance above which that is a
// warning.
const unlabelledShare = 0.10

// Gap says which rules, tools and ways of asking the asks do not reach.
func (s Set) Gap(asks []Asked) Gap {
	g := Gap{Asks: len(asks), SingleShot: true, NoPressure: true}
	tools, rules, read := map[string]bool{}, map[string]bool{}, map[string]bool{}
	index := indexClauses(s.Clauses)
	for _, a := range asks {
		for axis := range a.Axes {
			read[axis] = true
		}
		tools[a.Axes[record.AxisTool]] = true
		rules[a.Axes[record.AxisRule]] = true
		for _, name := range Mentions(s.Tools, string(a.Ask)) {
			tools[name], read[record.AxisTool] = true, true
		}
		for _, i := range index.spokenOf(string(a.Ask)) {
			rules[s.Clauses[i]], read[record.AxisRule] = true, true
		}
		stance := a.Axes[record.AxisStance]
		if stance == "" {
			g.Unlabelled++
		}
		g.SingleShot = g.SingleShot && a.Turns < 2
		g.NoPressure = g.NoPressure && !slices.Contains(pressing, stance)
	}
	for _, t := range s.Tools {
		if !tools[t.Name] {
			g.Tools = append(g.Tools, t.Name)
		}
	}
	for _, c := range s.Clauses {
		if !rules[c] {
			g.Rules = append(g.Rules, c)
		}
	}
	for _, name := range record.AxisNames() {
		if !read[name] {
			g.Axes = append(g.Axes, name)
		}
	}
	return g
}

// functionWords carry no content of a rule.
var functionWords = wordSet(`the a an of to for in s t on at by with and or but if is are be been was were has have had do does did not no
	must never always should shall may can cannot will would you your user users agent it its this that these those any all
	only before after when unless they their them there as from than then so such each every about into out up`)

// clauseIndex finds the clauses that a text speaks of.
type clauseIndex struct {
	with map[string][]int // stem to the clauses that hold it
	size []int            // clause to its number of stems
}

func indexClauses(clauses []string) clauseIndex {
	index := clauseIndex{with: map[string][]int{}, size: make([]int, len(clauses))}
	for i, c := range clauses {
		for _, w := range contentStems(c) {
			index.with[w] = append(index.with[w], i)
			index.size[i]++
		}
	}
	return index
}

// spokenOf are the clauses of whose content words the text holds ruleShare.
func (x clauseIndex) spokenOf(text string) []int {
	hits, seen := make([]int, len(x.size)), map[string]bool{}
	for _, w := range stems(text) {
		if seen[w] {
			continue
		}
		seen[w] = true
		for _, i := range x.with[w] {
			hits[i]++
		}
	}
	var out []int
	for i, n := range hits {
		if n > 0 && float64(n) >= ruleShare*float64(x.size[i]) {
			out = append(out, i)
		}
	}
	return out
}

// contentStems are the stems of a clause's words that carry content, each once.
func contentStems(clause string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range wordsOf(clause) {
		if s := stem(w); !functionWords[w] && len(s) >= minStem && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// Warnings are the gap in words, each with its fix.
func (g Gap) Warnings() []record.Warning {
	var out []record.Warning
	warn := func(code, fix, format string, args ...any) {
		out = append(out, record.Warning{Code: code, Text: fmt.Sprintf(format, args...), Fix: fix})
	}
	if len(g.Rules) > 0 {
		warn("rules_untested", "name them under dimensions.rule", "%s that no ask reaches: %s", counted(len(g.Rules), "clause"), listed(quotedAll(g.Rules)))
	}
	if len(g.Tools) > 0 {
		warn("tools_untested", "pose more situations, or asks of your own under seeds", "%s that no ask reaches: %s", counted(len(g.Tools), "tool"), listed(g.Tools))
	}
	if g.Asks == 0 {
		return out
	}
	if g.SingleShot {
		warn("single_shot", "let a scripted user answer (user: scripted, max_turns above 1)", "no ask goes beyond its first message")
	}
	if g.NoPressure {
		text := "no ask presses the agent"
		if g.Unlabelled > 0 {
			text = "no ask is known to press the agent"
		}
		warn("no_pressure", "leave adversarial or boundary in dimensions.stance", "%s", text)
	}
	if len(g.Axes) > 0 {
		warn("axes_unread", "asks made by Assay carry their coordinates; for imported ones these are unknown", "axes that cannot be read from the asks: %s", strings.Join(g.Axes, ", "))
	}
	if float64(g.Unlabelled) > unlabelledShare*float64(g.Asks) {
		warn("unlabelled", "slices by stance leave them out", "%d of %d asks have no stance; they are counted as unlabelled, not as ordinary", g.Unlabelled, g.Asks)
	}
	return out
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// namedRunes is how much of a clause a warning quotes.
const namedRunes = 60

func quotedAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = fmt.Sprintf("%q", cutAtWord(t, namedRunes))
	}
	return out
}
