package grade

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

func buildExact(spec *verifySpec) (examiner, error) {
	ignoreCase := spec.IgnoreCase
	return atOnce(func(reply string, gold reference) checked {
		want, ok := gold.text()
		if !ok {
			return badReference("the reference is not a text")
		}
		a, b := strings.TrimSpace(reply), strings.TrimSpace(want)
		same := a == b || ignoreCase && strings.EqualFold(a, b)
		return verdict(same, "the reply is the reference", "the reply is not the reference")
	}), nil
}

func buildIncludes(*verifySpec) (examiner, error) {
	return atOnce(func(reply string, gold reference) checked {
		wanted, ok := gold.texts()
		if !ok || len(wanted) == 0 {
			return badReference("the reference is neither a text nor a list of texts")
		}
		lower, n := strings.ToLower(reply), 0
		for _, want := range wanted {
			if includesWhole(lower, strings.ToLower(strings.TrimSpace(want))) {
				n++
			}
		}
		if len(wanted) > 1 {
			return verdict(n == len(wanted), "the reply contains every part of the reference", fmt.Sprintf("the reply contains %d of %d parts of the reference", n, len(wanted)))
		}
		return verdict(n == 1, "the reply contains the reference", "the reply does not contain the reference")
	}), nil
}

// texts is a reference as one text or a list of them.
func (r reference) texts() ([]string, bool) {
	if one, ok := r.text(); ok {
		return []string{one}, true
	}
	var list []string
	return list, json.Unmarshal(r.raw, &list) == nil
}

// includesWhole finds want in text where no letter or digit adjoins it, so that
// "12" does not stand in "312". An empty want stands nowhere.
func includesWhole(text, want string) bool {
	if want == "" {
		return false
	}
	for from := 0; ; {
		at := strings.Index(text[from:], want)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(want):])
		first, _ := utf8.DecodeRuneInString(want)
		last, _ := utf8.DecodeLastRuneInString(want)
		if !(wordRune(before) && wordRune(first)) && !(wordRune(after) && wordRune(last)) {
			return true
		}
		from = at + 1
	}
}

func wordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func buildRegex(spec *verifySpec) (examiner, error) {
	if spec.Pattern == "" {
		return nil, errors.New("pattern is empty")
	}
	pattern, err := regexp.Compile(spec.Pattern)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	return atOnce(func(reply string, _ reference) checked {
		return verdict(pattern.MatchString(reply), "the reply matches the pattern", "the reply does not match the pattern")
	}), nil
}

func buildChoice(spec *verifySpec) (examiner, error) {
	choices := spec.Choices
	if len(choices) == 0 {
		choices = []string{"A", "B", "C", "D", "E"}
	}
	quoted := make([]string, len(choices))
	for i, c := range choices {
		if strings.TrimSpace(c) == "" {
			return nil, errors.New("a choice is empty")
		}
		quoted[i] = regexp.QuoteMeta(c)
	}
	one := "(" + strings.Join(quoted, "|") + ")"
	// A reply chooses by saying so, by a box or bold letter, by beginning with it or
	// by being it. A lone letter in prose ("a") is no choice.
	forms := []*regexp.Regexp{
		regexp.MustCompile(`(?i:answer|choice|option)(?i: is|:)?\s*[:=]?\s*[("*\[]*` + one + `(?:[^\pL\pN]|$)`),
		regexp.MustCompile(`\\boxed\{\s*(?:\\text\{)?\s*` + one + `\s*\}`),
		regexp.MustCompile(`\*\*\(?` + one + `\)?[.:]?\*\*`),
		regexp.MustCompile(`^\s*\(?` + one + `(?:\)|[.:]|\s*$)`),
	}
	return atOnce(func(reply string, gold reference) checked {
		want, ok := gold.text()
		if !ok {
			return badReference("the reference is not a choice")
		}
		chosen := map[string]bool{}
		for _, form := range forms {
			for _, m := range form.FindAllStringSubmatch(reply, -1) {
				chosen[m[1]] = true
			}
			if len(chosen) > 0 {
				break
			}
		}
		switch len(chosen) {
		case 0:
			return missed("the reply chooses nothing")
		case 1:
			return verdict(chosen[strings.TrimSpace(want)], "the reply chooses the reference", "the reply chooses another")
		}
		return missed("the reply chooses more than one")
	}), nil
}
