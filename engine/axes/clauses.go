package axes

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ClauseRunes is the longest clause; a longer one is cut at a word. 240 runes
// hold every sentence of tau-bench's airline policy whole and still fit three
// lines of a terminal. Convention, untested.
const ClauseRunes = 240

// minClauseWords is the fewest words that can be a rule: "No refunds".
const minClauseWords = 2

// Clauses are the rules of a policy in their order, each once: its list items
// and paragraphs, cut at sentences and semicolons. Headings cut too and are
// clauses only where they say what to do ("## Never share keys"). The role
// preamble ("You are a support agent.") and the time of day are none.
func Clauses(policy string) []string {
	var out []string
	seen := map[string]bool{}
	for _, block := range policyBlocks(policy) {
		for _, sentence := range sentences(block.text) {
			clause, ok := tidyClause(sentence, block.heading)
			key := strings.ToLower(clause)
			if !ok || seen[key] {
				continue
			}
			seen[key] = true
			out = append(out, clause)
		}
	}
	return out
}

// policyBlock is one heading, list item or paragraph, on one line.
type policyBlock struct {
	text    string
	heading bool
}

var (
	headingMark = regexp.MustCompile(`^#{1,6}\s+`)
	boldLine    = regexp.MustCompile(`^(\*\*|__)[^*_]+(\*\*|__):?$`)
	underline   = regexp.MustCompile(`^(=+|-+)$`)
	bulletMark  = regexp.MustCompile(`^(?:[-*+•‣◦–]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)])\s+(?:\[[ xX]\]\s+)?`)
	fenceMark   = regexp.MustCompile("^(```|~~~)")
	rulerLine   = regexp.MustCompile(`^[-*_=\s]{3,}$`)
	tagLine     = regexp.MustCompile(`^</?[A-Za-z][\w.:-]*(\s[^<>]*)?>$`)
	quoteMark   = regexp.MustCompile(`^(>\s?)+`)
	tableRule   = regexp.MustCompile(`^\|?[\s:|-]+\|?$`)
)

// policyBlocks cuts a policy at its blank lines, headings and list items, and
// joins the lines that were only wrapped.
func policyBlocks(policy string) []policyBlock {
	var blocks []policyBlock
	var open []string
	flush := func() {
		if len(open) > 0 {
			blocks = append(blocks, policyBlock{text: strings.Join(open, " ")})
			open = open[:0]
		}
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(policy, "\r", "\n"), "\n") {
		line = quoteMark.ReplaceAllString(strings.TrimSpace(line), "")
		switch {
		case underline.MatchString(line) && len(open) == 1:
			blocks = append(blocks, policyBlock{text: open[0], heading: true})
			open = open[:0]
		case line == "" || fenceMark.MatchString(line) || rulerLine.MatchString(line) || tagLine.MatchString(line):
			flush()
		case headingMark.MatchString(line):
			flush()
			blocks = append(blocks, policyBlock{text: headingMark.ReplaceAllString(line, ""), heading: true})
		case boldLine.MatchString(line):
			flush()
			blocks = append(blocks, policyBlock{text: line, heading: true})
		case strings.HasPrefix(line, "|"):
			flush()
			if !tableRule.MatchString(line) {
				blocks = append(blocks, policyBlock{text: tableRow(line)})
			}
		case bulletMark.MatchString(line):
			flush()
			open = append(open, bulletMark.ReplaceAllString(line, ""))
		default:
			open = append(open, line)
		}
	}
	flush()
	return blocks
}

func tableRow(line string) string {
	cells := strings.Split(strings.Trim(line, "| "), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return strings.Join(cells, ", ")
}

// abbreviations end in a full stop that ends no sentence.
var abbreviations = wordSet(`e.g i.e etc vs mr mrs ms dr prof st no nos approx est inc ltd co corp dept fig sec art min max a.m p.m u.s u.k cf al`)

// sentences cuts text after full stops, question and exclamation marks, and at
// semicolons outside of quotes and brackets.
func sentences(text string) []string {
	var out []string
	start, depth := 0, 0
	cut := func(end, next int) {
		out = append(out, text[start:end])
		start = next
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth = max(depth-1, 0)
		case ';':
			if depth == 0 {
				cut(i, i+1)
			}
		case '.', '!', '?':
			if end, ok := sentenceEnd(text, start, i); ok {
				cut(end, end)
				i, depth = end-1, 0
			}
		}
	}
	cut(len(text), len(text))
	return out
}

// sentenceEnd says whether the mark at i ends the sentence that began at start,
// and where what belongs to it (further marks, closing quotes) ends.
func sentenceEnd(text string, start, i int) (int, bool) {
	end := i + 1
	for end < len(text) && strings.IndexByte(`.!?"')]*_`, text[end]) >= 0 {
		end++
	}
	if end == len(text) {
		return end, true
	}
	if text[end] != ' ' && text[end] != '\t' {
		return 0, false
	}
	if text[i] == '.' && endsInAbbreviation(text[start:i]) {
		return 0, false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[end:], " \t\"'(*_`[“‘"))
	return end, !unicode.IsLower(next)
}

func endsInAbbreviation(before string) bool {
	// The longest abbreviation has four letters, so its bytes are all that is read:
	// a policy without spaces must not cost time quadratic in its length.
	before = before[max(0, len(before)-12):]
	word := before[strings.LastIndexAny(before, " \t(\"'")+1:]
	if len(word) == 1 && word[0] >= 'A' && word[0] <= 'Z' && word != "I" {
		return true // an initial
	}
	return abbreviations[strings.ToLower(word)]
}

var (
	emphasis   = strings.NewReplacer("**", "", "__", "", "`", "")
	link       = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*\)`)
	rolePhrase = regexp.MustCompile(`(?i)^(?:you(?:['’]re| are)(?: now)? (?:an?|the|our|my|called|named) |your name is |act as |as an ai\b|i am (?:an?|the) )`)
	namedRole  = regexp.MustCompile(`^(?i:you(?:['’]re| are)) [A-Z][\w-]*(?:,|\.| -| –|$)`)
	clockFact  = regexp.MustCompile(`(?i)^(?:the |today's )?(?:current )?(?:time|date|day)(?: and time)?(?: is|:)`)
	deontic    = regexp.MustCompile(`(?i)\b(?:must|never|always|not|don['’]t|do not|cannot|can['’]t|only|should|shall|may|required|forbidden|unless|before|refuse|ask|avoid|ensure|require)\b`)
)

// tidyClause strips a clause of its markup; false where it is no rule.
func tidyClause(s string, heading bool) (string, bool) {
	if strings.Contains(s, "](") {
		s = link.ReplaceAllString(s, "$1")
	}
	s = emphasis.Replace(s)
	s = strings.Join(strings.Fields(strings.Map(dropControl, s)), " ")
	s = strings.Trim(s, " *_")
	s = strings.TrimRight(s, ".:;, ")
	switch {
	case len(strings.Fields(s)) < minClauseWords || !strings.ContainsFunc(s, unicode.IsLetter):
		return "", false
	case heading && !deontic.MatchString(s):
		return "", false
	case clockFact.MatchString(s) || isRole(s):
		return "", false
	}
	return cutAtWord(s, ClauseRunes), true
}

func isRole(s string) bool {
	if namedRole.MatchString(s) {
		return !deontic.MatchString(s)
	}
	return rolePhrase.MatchString(s) && !deontic.MatchString(s)
}

func dropControl(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r) || r == '\ufeff' || r == '\u200b':
		return -1
	}
	return r
}

// cutAtWord cuts s to at most limit runes, the mark that says so included.
func cutAtWord(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)[:limit-1]
	end := len(runes)
	for end > limit/2 && runes[end-1] != ' ' {
		end--
	}
	if runes[end-1] != ' ' { // one word longer than half the limit
		end = len(runes)
	}
	return strings.TrimRight(string(runes[:end]), " ,.:;") + "…"
}
