package grade

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// looseJSON reads JSON as models write it: also Python's True, False, None and
// single quotes, a comma before a closing bracket, line breaks inside strings,
// NaN and Infinity. A name twice in one object, in whatever case, is an error, not a choice.
type looseJSON struct {
	s   string
	pos int
}

var (
	errDuplicate = errors.New("a name stands twice in one object")
	errLoose     = errors.New("it is not JSON")
)

// maxLooseDepth bounds nesting; no verdict needs a tenth of it.
const maxLooseDepth = 100

func (p *looseJSON) space() {
	for p.pos < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *looseJSON) fail() error { return fmt.Errorf("%w at byte %d", errLoose, p.pos) }

func (p *looseJSON) value(depth int) (looseValue, error) {
	p.space()
	if p.pos >= len(p.s) || depth > maxLooseDepth {
		return looseValue{}, p.fail()
	}
	switch c := p.s[p.pos]; c {
	case '{':
		return p.object(depth)
	case '[':
		return p.list(depth)
	case '"', '\'':
		text, err := p.text(c)
		return looseValue{kind: looseText, text: text}, err
	}
	return p.scalar()
}

func (p *looseJSON) object(depth int) (looseValue, error) {
	v := looseValue{kind: looseObject}
	seen := map[string]bool{}
	p.pos++
	for {
		p.space()
		if p.take('}') {
			return v, nil
		}
		if p.pos >= len(p.s) || (p.s[p.pos] != '"' && p.s[p.pos] != '\'') {
			return v, p.fail()
		}
		name, err := p.text(p.s[p.pos])
		if err != nil {
			return v, err
		}
		p.space()
		if !p.take(':') {
			return v, p.fail()
		}
		value, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		folded := strings.ToLower(strings.ToUpper(name)) // readers that take "Reward" for "reward" would choose
		if seen[folded] {
			return v, fmt.Errorf("%w: %q", errDuplicate, clip(name))
		}
		seen[folded] = true
		v.members = append(v.members, looseMember{name, value})
		p.space()
		if !p.take(',') && !p.at('}') {
			return v, p.fail()
		}
	}
}

func (p *looseJSON) list(depth int) (looseValue, error) {
	v := looseValue{kind: looseList}
	p.pos++
	for {
		p.space()
		if p.take(']') {
			return v, nil
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.list = append(v.list, item)
		p.space()
		if !p.take(',') && !p.at(']') {
			return v, p.fail()
		}
	}
}

func (p *looseJSON) at(c byte) bool { return p.pos < len(p.s) && p.s[p.pos] == c }

func (p *looseJSON) take(c byte) bool {
	if p.at(c) {
		p.pos++
		return true
	}
	return false
}

// text reads a string in either kind of quotes.
func (p *looseJSON) text(quote byte) (string, error) {
	p.pos++
	var b strings.Builder
	for p.pos < len(p.s) {
		c := p.s[p.pos]
		p.pos++
		switch c {
		case quote:
			return b.String(), nil
		case '\\':
			if p.pos >= len(p.s) {
				return "", p.fail()
			}
			if err := p.escape(&b); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", p.fail()
}

func (p *looseJSON) escape(b *strings.Builder) error {
	c := p.s[p.pos]
	p.pos++
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'u':
		if p.pos+4 > len(p.s) {
			return p.fail()
		}
		n, err := strconv.ParseUint(p.s[p.pos:p.pos+4], 16, 32)
		if err != nil {
			return p.fail()
		}
		p.pos += 4
		r := rune(n)
		if low, ok := p.lowSurrogate(r); ok {
			r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
			p.pos += 6
		}
		if !utf8.ValidRune(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	default:
		b.WriteByte(c)
	}
	return nil
}

func (p *looseJSON) lowSurrogate(high rune) (rune, bool) {
	if high < 0xD800 || high > 0xDBFF || p.pos+6 > len(p.s) || p.s[p.pos] != '\\' || p.s[p.pos+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(p.s[p.pos+2:p.pos+6], 16, 32)
	return rune(n), err == nil && n >= 0xDC00 && n <= 0xDFFF
}

// looseWords are the scalars that are written as a word.
var looseWords = map[string]looseValue{
	"true": {kind: looseTrue}, "True": {kind: looseTrue}, "false": {kind: looseFalse}, "False": {kind: looseFalse},
	"null": {kind: looseNull}, "None": {kind: looseNull},
}

func (p *looseJSON) scalar() (looseValue, error) {
	start := p.pos
	for p.pos < len(p.s) && scalarByte(p.s[p.pos]) {
		p.pos++
	}
	word := p.s[start:p.pos]
	if v, ok := looseWords[word]; ok {
		return v, nil
	}
	switch word {
	case "NaN", "nan", "Infinity", "-Infinity", "inf", "-inf":
		f, err := strconv.ParseFloat(word, 64)
		return looseValue{kind: looseNumber, number: f}, err
	}
	if word == "" || strings.Trim(word, "0123456789+-.eE") != "" || !hasDigit(word) {
		p.pos = max(start, p.pos)
		return looseValue{}, p.fail()
	}
	f, err := strconv.ParseFloat(word, 64) // out of range gives an infinity, which is no reward
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return looseValue{}, p.fail()
	}
	return looseValue{kind: looseNumber, number: f}, nil
}

func scalarByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
}
