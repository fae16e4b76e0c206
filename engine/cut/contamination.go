package cut

import (
	"fmt"
	"strings"
	"unicode"

	"assay/engine/record"
)

const (
	// gramWords is the length of the word runs whose overlap is measured, as Chowdhery et
	// al. 2022 (PaLM) did; shorter runs meet by chance.
	gramWords = 8
	// gramOverlap is the share of an ask's runs that one eval ask may hold before the two
	// count as one. Convention: PaLM drew the line at 0.7 over all of its eval texts.
	gramOverlap = 0.8
)

// contamination drops rows whose task the eval set holds too: the same task or
// situation, the same text, or most of the same 8-word runs. What embeddings would find
// beyond that is not looked for, and said.
func (s *sieve) contamination() {
	eval := newEvalSet(s.options.EvalTasks)
	verdicts := map[string]string{} // by task: its rollouts share an ask
	short := map[string]bool{}
	s.gate("contamination", func(c *candidate) string {
		task := c.sample.Task
		why, known := verdicts[task.ID]
		if !known {
			var tooShort bool
			why, tooShort = eval.meets(task)
			verdicts[task.ID] = why
			if tooShort {
				short[task.ID] = true
			}
		}
		return why
	})
	if len(s.options.EvalTasks) == 0 {
		s.selection.warnf("contamination_unchecked", "hold tasks out", "no eval tasks were given, so nothing was checked for contamination")
		return
	}
	s.selection.warnf("rule_skipped", "", "contamination was looked for by task, text and %d-word overlap; the embedding rule was skipped, no embedder being given: paraphrases mostly pass, so clean is a weak claim", gramWords)
	if len(short) > 0 {
		s.selection.warnf("rule_skipped", "", "%d asks have under %d words: the overlap rule does not apply to them", len(short), gramWords)
	}
}

// evalSet is what training must not have seen.
type evalSet struct {
	ids, texts map[string]bool
	grams      map[string][]int // run of words to the eval asks that hold it
	asks       int
}

func newEvalSet(posed []record.Posed) *evalSet {
	e := &evalSet{ids: map[string]bool{}, texts: map[string]bool{}, grams: map[string][]int{}}
	for i := range posed {
		task := posed[i].Task
		words := wordsOf(task.Ask)
		e.ids[task.ID], e.ids[task.SituationID] = true, true
		e.texts[strings.Join(words, " ")] = true
		for gram := range gramsOf(words) {
			e.grams[gram] = append(e.grams[gram], i)
		}
	}
	e.asks = len(posed)
	return e
}

// meets says why a task counts as one of the eval set; short is true where its ask has
// too few words for the overlap rule.
func (e *evalSet) meets(task *record.Task) (why string, short bool) {
	if e.ids[task.ID] || e.ids[task.SituationID] || task.Parent != "" && e.ids[task.Parent] {
		return "its situation is in the eval set", false
	}
	words := wordsOf(task.Ask)
	if e.texts[strings.Join(words, " ")] {
		return "its ask is in the eval set, word for word", false
	}
	grams := gramsOf(words)
	if len(grams) == 0 {
		return "", e.asks > 0
	}
	shared, most := make(map[int]int), 0
	for gram := range grams {
		for _, ask := range e.grams[gram] {
			shared[ask]++
			most = max(most, shared[ask])
		}
	}
	if overlap := float64(most) / float64(len(grams)); overlap >= gramOverlap {
		return fmt.Sprintf("%.0f%% of its ask's %d-word runs stand in one eval ask", 100*overlap, gramWords), false
	}
	return "", false
}

// wordsOf are the words of a text in lower case, without punctuation.
func wordsOf(text record.Text) []string {
	return strings.FieldsFunc(strings.ToLower(string(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func gramsOf(words []string) map[string]bool {
	set := map[string]bool{}
	for i := 0; i+gramWords <= len(words); i++ {
		set[strings.Join(words[i:i+gramWords], " ")] = true
	}
	return set
}
