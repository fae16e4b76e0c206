package cover

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/engine/axes"
)

// maxNesting bounds how deep a constraint may nest; people write two or three.
const maxNesting = 100

// predicate says whether a row meets a condition.
type predicate func(row []int) bool

// pictToken is one word of a constraint.
type pictToken struct {
	kind string // word, string, number, parameter, or the mark itself
	text string
	line int
}

var pictWord = regexp.MustCompile(`^(?:\[([^\]\n]*)\]|"([^"\n]*)"|([+-]?\d+(?:\.\d+)?)|([A-Za-z]+)|(<>|<=|>=|[=<>(){},;]))`)

func pictTokens(text string, line int) ([]pictToken, error) {
	var out []pictToken
	for text != "" {
		switch text[0] {
		case '\n':
			line++
			text = text[1:]
			continue
		case ' ', '\t', '\r':
			text = text[1:]
			continue
		}
		m := pictWord.FindStringSubmatchIndex(text)
		if m == nil {
			return nil, fmt.Errorf("line %d: cannot read %q", line, text[:min(len(text), 20)])
		}
		for group, kind := range []string{"parameter", "string", "number", "word", ""} {
			if from := m[2+2*group]; from >= 0 {
				t := pictToken{kind: kind, text: text[from:m[3+2*group]], line: line}
				if kind == "" {
					t.kind = t.text
				}
				out = append(out, t)
			}
		}
		text = text[m[1]:]
	}
	return out, nil
}

// pictParser is a recursive descent over the tokens of all constraints.
type pictParser struct {
	model  *pictModel
	tokens []pictToken
	at     int
	depth  int
	used   []int // parameters of the present constraint
}

func (p *pictParser) done() bool { return p.at >= len(p.tokens) }

func (p *pictParser) peek() pictToken {
	if p.done() {
		last := pictToken{kind: "the end", line: 1}
		if len(p.tokens) > 0 {
			last.line = p.tokens[len(p.tokens)-1].line
		}
		return last
	}
	return p.tokens[p.at]
}

func (p *pictParser) next() pictToken {
	t := p.peek()
	p.at++
	return t
}

// keyword takes the next token if it is that word.
func (p *pictParser) keyword(word string) bool {
	if t := p.peek(); t.kind == "word" && strings.EqualFold(t.text, word) {
		p.at++
		return true
	}
	return false
}

func (p *pictParser) expect(kind string) error {
	if t := p.next(); t.kind != kind {
		return fmt.Errorf("line %d: want %q, not %s", t.line, kind, t.said())
	}
	return nil
}

func (t pictToken) said() string {
	if t.text == "" {
		return t.kind
	}
	return strconv.Quote(t.text)
}

// constraint reads "IF a THEN b ELSE c;" or "a;": what a row must meet.
func (p *pictParser) constraint() (predicate, error) {
	if !p.keyword("if") {
		holds, err := p.any()
		if err != nil {
			return nil, err
		}
		return holds, p.expect(";")
	}
	condition, err := p.any()
	if err != nil {
		return nil, err
	}
	if !p.keyword("then") {
		return nil, fmt.Errorf("line %d: want THEN, not %s", p.peek().line, p.peek().said())
	}
	then, err := p.any()
	if err != nil {
		return nil, err
	}
	otherwise := predicate(func([]int) bool { return true })
	if p.keyword("else") {
		if otherwise, err = p.any(); err != nil {
			return nil, err
		}
	}
	return func(row []int) bool {
		if condition(row) {
			return then(row)
		}
		return otherwise(row)
	}, p.expect(";")
}

// any reads terms joined by OR; AND binds closer.
func (p *pictParser) any() (predicate, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, fmt.Errorf("line %d: a constraint nested more than %d deep", p.peek().line, maxNesting)
	}
	defer func() { p.depth-- }()
	left, err := p.all()
	for err == nil && p.keyword("or") {
		var right predicate
		if right, err = p.all(); err == nil {
			a := left
			left = func(row []int) bool { return a(row) || right(row) }
		}
	}
	return left, err
}

func (p *pictParser) all() (predicate, error) {
	left, err := p.clause()
	for err == nil && p.keyword("and") {
		var right predicate
		if right, err = p.clause(); err == nil {
			a := left
			left = func(row []int) bool { return a(row) && right(row) }
		}
	}
	return left, err
}

func (p *pictParser) clause() (predicate, error) {
	negated := false
	for p.keyword("not") {
		negated = !negated
	}
	var holds predicate
	var err error
	if p.peek().kind == "(" {
		p.next()
		if holds, err = p.any(); err == nil {
			err = p.expect(")")
		}
	} else {
		holds, err = p.term()
	}
	if err != nil || !negated {
		return holds, err
	}
	return func(row []int) bool { return !holds(row) }, nil
}

// term reads one relation of a parameter.
func (p *pictParser) term() (predicate, error) {
	left, err := p.parameter()
	if err != nil {
		return nil, err
	}
	switch t := p.next(); {
	case t.kind == "word" && strings.EqualFold(t.text, "in"):
		return p.membership(left)
	case t.kind == "word" && strings.EqualFold(t.text, "like"):
		return p.pattern(left)
	case slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, t.kind):
		if p.peek().kind == "parameter" {
			right, err := p.parameter()
			if err != nil {
				return nil, err
			}
			return func(row []int) bool {
				return related(t.kind, compareValues(p.value(left, row), p.value(right, row)))
			}, nil
		}
		value, err := p.literal(left, t.kind == "=" || t.kind == "<>")
		if err != nil {
			return nil, err
		}
		return func(row []int) bool { return related(t.kind, compareValues(p.value(left, row), value)) }, nil
	default:
		return nil, fmt.Errorf("line %d: want a relation (=, <>, <, <=, >, >=, IN, LIKE), not %s", t.line, t.said())
	}
}

func (p *pictParser) parameter() (int, error) {
	t := p.next()
	if t.kind != "parameter" {
		return 0, fmt.Errorf("line %d: want a parameter in brackets, not %s", t.line, t.said())
	}
	i := p.model.index(strings.TrimSpace(t.text))
	if i < 0 {
		return 0, fmt.Errorf("line %d: unknown parameter %q%s", t.line, t.text, axes.Suggest(t.text, p.model.names()))
	}
	if !slices.Contains(p.used, i) {
		p.used = append(p.used, i)
	}
	return i, nil
}

// value is a parameter's value in a row, without the mark of a negative one.
func (p *pictParser) value(parameter int, row []int) string {
	return strings.TrimPrefix(p.model.model.Parameters[parameter].Values[row[parameter]], "~")
}

// literal reads a text or number; where known, it must be one of the parameter's
// values.
func (p *pictParser) literal(parameter int, known bool) (string, error) {
	t := p.next()
	if t.kind != "string" && t.kind != "number" {
		return "", fmt.Errorf("line %d: want a text in quotes or a number, not %s", t.line, t.said())
	}
	q := p.model.model.Parameters[parameter]
	is := func(v string) bool { return compareValues(strings.TrimPrefix(v, "~"), t.text) == 0 }
	if known && !slices.ContainsFunc(q.Values, is) {
		return "", fmt.Errorf("line %d: parameter %s has no value %q%s", t.line, q.Name, t.text, axes.Suggest(t.text, q.Values))
	}
	return t.text, nil
}

func (p *pictParser) membership(parameter int) (predicate, error) {
	if err := p.expect("{"); err != nil {
		return nil, err
	}
	var values []string
	for {
		v, err := p.literal(parameter, true)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		t := p.next()
		if t.kind == "}" {
			break
		}
		if t.kind != "," {
			return nil, fmt.Errorf("line %d: want , or }, not %s", t.line, t.said())
		}
	}
	return func(row []int) bool {
		have := p.value(parameter, row)
		return slices.ContainsFunc(values, func(v string) bool { return compareValues(have, v) == 0 })
	}, nil
}

// pattern reads what LIKE takes: * for any text, ? for one character.
func (p *pictParser) pattern(parameter int) (predicate, error) {
	t := p.next()
	if t.kind != "string" {
		return nil, fmt.Errorf("line %d: want a pattern in quotes, not %s", t.line, t.said())
	}
	quoted := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(t.text))
	like, err := regexp.Compile(`(?is)^` + quoted + `$`)
	if err != nil {
		return nil, fmt.Errorf("line %d: pattern %q: %w", t.line, t.text, err)
	}
	return func(row []int) bool { return like.MatchString(p.value(parameter, row)) }, nil
}

// compareValues compares as numbers where both are numbers, else as words
// without regard to case.
func compareValues(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil && x == x && y == y { // a value "nan" is a word
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	return strings.Compare(strings.ToLower(a), strings.ToLower(b))
}

func related(relation string, compared int) bool {
	switch relation {
	case "=":
		return compared == 0
	case "<>":
		return compared != 0
	case "<":
		return compared < 0
	case "<=":
		return compared <= 0
	case ">":
		return compared > 0
	}
	return compared >= 0
}
