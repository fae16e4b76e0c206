package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"assay/engine/record"
)

// Filter keeps rollouts by conditions that all must hold. It is parsed from one
// line, the same in the app and on the command line:
//
//	reward=0            a number: = != < <= > >=, and =null where there is none
//	stance=adversarial  a word: = and !=; stance=ordinary,hurried is any of them
//	fault=timeout       "fault=" is the rollouts without one
//	tool:issue_refund   that tool was called
//	marker:grounding<1  a marker's number
//	"sorry about that"  the words stand together in what was said
//	k-split             the k verdicts of the task differ
//	judge!=gold         people and the judge differ
//	-tool:get_order     the contrary of any condition
//
// A value with spaces stands in quotes, where \" and \\ are themselves. The zero
// Filter keeps everything. What a person typed reaches SQL as bound values alone.
type Filter struct{ terms []filterTerm }

// filterTerm is one condition: SQL over the aliases of [filterJoins], with ? for
// its values.
type filterTerm struct {
	text  string // as it was written
	sql   string
	args  []any
	needs joins
}

// Empty reports whether the filter keeps everything.
func (f Filter) Empty() bool { return len(f.terms) == 0 }

// String is the line that the filter was parsed from, its terms apart by one space.
func (f Filter) String() string {
	texts := make([]string, len(f.terms))
	for i, t := range f.terms {
		texts[i] = t.text
	}
	return strings.Join(texts, " ")
}

// And is the filter with those conditions too.
func (f Filter) And(more Filter) Filter {
	return Filter{terms: slices.Concat(f.terms, more.terms)}
}

// CodeBadFilter is the code of a filter that cannot be read.
const CodeBadFilter Code = "bad_filter"

// maxTerms bounds a filter: SQLite bounds the depth of an expression to 1,000, and
// nobody writes forty conditions by hand.
const maxTerms = 40

// ParseFilter reads a filter line. Its errors are an [Error] that names the term
// and, for a name that is close to one, that one.
func ParseFilter(line string) (Filter, error) {
	var f Filter
	for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimSpace(rest) {
		var term string
		term, rest = cutTerm(rest)
		t, err := parseTerm(term)
		if err != nil {
			return Filter{}, err
		}
		if f.terms = append(f.terms, t); len(f.terms) > maxTerms {
			return Filter{}, badFilter(term, fmt.Sprintf("a filter has at most %d conditions", maxTerms), "leave some out")
		}
	}
	return f, nil
}

func badFilter(term, why, fix string) error {
	return &Error{Code: CodeBadFilter, Where: "filter", Message: fmt.Sprintf("cannot read %q in the filter: %s", term, why), Fix: fix}
}

// cutTerm takes one term off the front: up to a space that is in no quotes.
func cutTerm(s string) (term, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r'):
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// unquote gives a value without its quotes; one that is not closed ends with the
// line.
func unquote(s string) (value string, quoted bool) {
	if !strings.HasPrefix(s, `"`) {
		return s, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == '"':
			return b.String(), true
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), true
}

// Quote is a value as a filter line writes it.
func Quote(value string) string {
	plain := value != "" && !strings.ContainsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == ',' || r == '\\' })
	if plain {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

func parseTerm(term string) (filterTerm, error) {
	body, not := strings.CutPrefix(term, "-")
	t, err := parsePositive(term, body)
	if err != nil {
		return filterTerm{}, err
	}
	if t.text = term; not {
		t.sql = "NOT ifnull((" + t.sql + "), 0)"
	}
	return t, nil
}

func parsePositive(term, body string) (filterTerm, error) {
	if text, quoted := unquote(body); quoted {
		return containsText(term, text)
	}
	if tool, ok := strings.CutPrefix(body, "tool:"); ok {
		return calledTool(term, tool)
	}
	if body == "k-split" {
		return filterTerm{sql: kSplit}, nil
	}
	at := strings.IndexAny(body, "!=<>")
	if at <= 0 {
		return filterTerm{}, badFilter(term, "it has no = and no name before it", nearestField(body))
	}
	name, rest := body[:at], body[at:]
	op := rest[:1]
	if len(rest) > 1 && rest[1] == '=' {
		op = rest[:2]
	}
	if op == "!" {
		return filterTerm{}, badFilter(term, "! is no comparison", "write !=")
	}
	value := rest[len(op):]
	if marker, ok := strings.CutPrefix(name, "marker:"); ok {
		marker, _ = unquote(marker)
		return compareNumber(term, op, value, field{sql: markerValue, args: []any{marker}})
	}
	f, ok := fieldNamed(name)
	if !ok {
		return filterTerm{}, badFilter(term, fmt.Sprintf("%s is nothing that rollouts can be kept by", name), nearestField(name))
	}
	switch f.kind {
	case KindNumber:
		return compareNumber(term, op, value, f)
	case KindYesNo:
		return compareYesNo(term, op, value, f)
	}
	return compareWord(term, op, value, f)
}

// nearestField says what to write instead of a name that is none.
func nearestField(name string) string {
	var names []string
	for _, f := range fields() {
		names = append(names, f.name)
	}
	if near := record.Nearest(name, append(names, "k-split", "tool:", "marker:")); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return `use one of ` + strings.Join(names, ", ") + `, tool:NAME, marker:NAME, k-split, or "words"`
}

func compareWord(term, op, value string, f field) (filterTerm, error) {
	if op != "=" && op != "!=" {
		return filterTerm{}, badFilter(term, f.name+" is a word: only = and != apply", "")
	}
	word, quoted := unquote(value)
	words := []string{word}
	if !quoted {
		words = strings.Split(word, ",")
	}
	t := filterTerm{needs: f.needs, sql: "ifnull(" + f.sql + ", '') IN (" + placeholders(len(words)) + ")"}
	for _, w := range words {
		t.args = append(t.args, w)
	}
	if op == "!=" {
		t.sql = "NOT " + t.sql
		if f.name == "judge" { // where either is silent they do not differ
			t.sql = f.sql + " IS NOT NULL AND " + t.sql
		}
	}
	return t, nil
}

func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

func compareYesNo(term, op, value string, f field) (filterTerm, error) {
	value, _ = unquote(value)
	yes, err := strconv.ParseBool(value)
	if err != nil || op != "=" && op != "!=" {
		return filterTerm{}, badFilter(term, f.name+" is true or false", "write "+f.name+"=true")
	}
	if yes == (op == "=") {
		return filterTerm{sql: f.sql, needs: f.needs}, nil
	}
	return filterTerm{sql: "NOT " + f.sql, needs: f.needs}, nil
}

func compareNumber(term, op, value string, f field) (filterTerm, error) {
	t := filterTerm{needs: f.needs, args: slices.Clone(f.args)}
	if value == "null" && (op == "=" || op == "!=") {
		t.sql = f.sql + " IS NULL"
		if op == "!=" {
			t.sql = f.sql + " IS NOT NULL"
		}
		return t, nil
	}
	want, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return filterTerm{}, badFilter(term, fmt.Sprintf("%q is no number", value), "write a number, or null")
	}
	t.sql = f.sql + " " + op + " ?"
	if op == "!=" {
		t.sql = f.sql + " <> ?"
	}
	t.args = append(t.args, want)
	return t, nil
}

// calledTool keeps what called a tool. The name is looked for in the JSON's bytes
// before the JSON is read: most transcripts do not hold it.
func calledTool(term, name string) (filterTerm, error) {
	if name, _ = unquote(name); name == "" {
		return filterTerm{}, badFilter(term, "it names no tool", "write tool:NAME")
	}
	quoted, err := record.Text(name).MarshalJSON()
	if err != nil {
		return filterTerm{}, badFilter(term, "it is no name", "write tool:NAME")
	}
	return filterTerm{
		needs: joinTranscript,
		sql:   "instr(x.steps, ?) > 0 AND EXISTS (SELECT 1 FROM json_each(x.steps) s WHERE s.value ->> '$.tool' = ?)",
		args:  []any{string(quoted), name},
	}, nil
}

// containsText keeps what was said with those words together. Transcripts that
// the text index does not hold yet are read.
func containsText(term, text string) (filterTerm, error) {
	if text == "" {
		return filterTerm{}, badFilter(term, "there are no words between the quotes", "write some")
	}
	quoted, err := record.Text(text).MarshalJSON()
	if err != nil {
		return filterTerm{}, badFilter(term, "it is no text", "write words")
	}
	inText, inSteps := likeOf(text), likeOf(strings.Trim(string(quoted), `"`))
	read := `(t.ask LIKE ? ESCAPE '\' OR ifnull(x.prompt, '') LIKE ? ESCAPE '\' OR x.final_text LIKE ? ESCAPE '\' OR x.steps LIKE ? ESCAPE '\')`
	args := []any{inText, inText, inText, inSteps}
	needs := joinTask | joinTranscript
	match := matchOf(`"` + strings.ReplaceAll(text, `"`, " ") + `"`)
	if match == "" { // there is no word in it that an index could hold
		return filterTerm{sql: read, args: args, needs: needs}, nil
	}
	return filterTerm{
		needs: needs,
		// What the index says stands in a term of its own, about the rollout alone: it is
		// asked before a task or a transcript is read, which of a million takes most of a second.
		sql: `(r.rollout_no IN (SELECT rowid FROM transcript_words WHERE words MATCH ?
				UNION ALL SELECT rollout_no FROM rollouts WHERE rollout_no > (SELECT indexed_to FROM words_state))
			AND (r.rollout_no <= (SELECT indexed_to FROM words_state) OR ` + read + `))`,
		args: append([]any{match}, args...),
	}, nil
}

// likeOf is a pattern of LIKE for text anywhere.
func likeOf(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text) + "%"
}
