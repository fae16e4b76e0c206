package cut

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/engine/record"
)

// columns are the features of a pool that differ from 0 on enough rows and vary within
// tasks, in the order of their names.
func (p *scanPool) columns() []column {
	byName := map[string]*column{}
	add := func(row int, name string, value float64) {
		if value == 0 || math.IsNaN(value) || math.IsInf(value, 0) {
			return
		}
		c := byName[name]
		if c == nil {
			c = &column{name: name}
			byName[name] = c
		}
		c.at, c.values = append(c.at, int32(row)), append(c.values, value)
	}
	terms := make([][]string, len(p.rows))
	for i, s := range p.rows {
		surface(s, func(name string, value float64) { add(i, name, value) })
		terms[i] = termsOf(agentText(s))
	}
	common := commonTerms(terms)
	for i := range terms {
		for _, term := range terms[i] {
			if common[term] {
				add(i, term, 1)
			}
		}
	}
	var out []column
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		c := byName[name]
		c.norm = p.norm(c)
		if len(c.at) >= scanMinRows && c.norm > 1e-9 {
			out = append(out, *c)
		}
	}
	return out
}

// norm is the root of a column's squares after centring within tasks. Its rows come in
// the pool's order, so one walk does.
func (p *scanPool) norm(c *column) float64 {
	squares, next := 0.0, 0
	for from, to := range p.tasks() {
		sum, sumSquares := 0.0, 0.0
		for ; next < len(c.at) && int(c.at[next]) < to; next++ {
			sum += c.values[next]
			sumSquares += c.values[next] * c.values[next]
		}
		squares += sumSquares - sum*sum/float64(to-from)
	}
	return math.Sqrt(math.Max(0, squares))
}

// surface tells the features that need no vocabulary: lengths, counts, tools called and
// markers.
func surface(s *record.Sample, tell func(name string, value float64)) {
	text := agentText(s)
	calls, turns, tools := 0, 1, map[string]bool{}
	for i := range s.Rollout.Steps {
		switch step := &s.Rollout.Steps[i]; step.Kind {
		case record.StepTool:
			calls++
			tools[step.Tool] = true
		case record.StepUser:
			turns++
		}
	}
	tell("reply_length", float64(utf8.RuneCountInString(text)))
	tell("tool_calls", float64(calls))
	tell("turns", float64(turns))
	tell("newlines", float64(strings.Count(text, "\n")))
	tell("digits", float64(countRunes(text, unicode.IsDigit)))
	tell("punctuation", float64(countRunes(text, unicode.IsPunct)))
	if s.Rollout.FinishReason == record.FinishLength {
		tell("truncated", 1)
	}
	for _, tool := range slices.Sorted(maps.Keys(tools)) {
		tell("tool:"+tool, 1)
	}
	told := map[string]bool{}
	for i := range s.Markers {
		m := &s.Markers[i]
		if m.Status == record.MarkerOK && m.Value != nil && !told[m.Name] {
			told[m.Name] = true
			tell("marker:"+m.Name, *m.Value)
		}
	}
}

func countRunes(text string, is func(rune) bool) int {
	n := 0
	for _, r := range text {
		if is(r) {
			n++
		}
	}
	return n
}

// agentText is what the agent said, all of it.
func agentText(s *record.Sample) string {
	var b strings.Builder
	for i := range s.Rollout.Steps {
		if step := &s.Rollout.Steps[i]; step.Kind == record.StepText {
			b.WriteString(string(step.Text))
			b.WriteByte('\n')
		}
	}
	b.WriteString(string(s.Rollout.FinalText))
	return b.String()
}

// termsOf are the different words and word pairs of a text, sorted.
func termsOf(text string) []string {
	words := wordsOf(record.Text(text))
	terms := make([]string, 0, 2*len(words))
	for i, word := range words {
		terms = append(terms, "word:"+word)
		if i > 0 {
			terms = append(terms, "pair:"+words[i-1]+" "+word)
		}
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// commonTerms are those on the most rows, ties by name.
func commonTerms(terms [][]string) map[string]bool {
	rows := map[string]int{}
	for i := range terms {
		for _, term := range terms[i] {
			rows[term]++
		}
	}
	names := slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		if rows[a] != rows[b] {
			return cmp.Compare(rows[b], rows[a])
		}
		return strings.Compare(a, b)
	})
	common := make(map[string]bool, vocabulary)
	for _, name := range names[:min(vocabulary, len(names))] {
		common[name] = true
	}
	return common
}
