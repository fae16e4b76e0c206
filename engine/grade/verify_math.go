package grade

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// numberPattern finds numbers in prose: a sign, thousands in threes or plain
// digits, decimals, an exponent.
var numberPattern = regexp.MustCompile(`[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?|[-+−]?\.\d+`)

func buildNumeric(spec *verifySpec) (examiner, error) {
	if err := spec.checkTolerance(); err != nil {
		return nil, err
	}
	return atOnce(func(reply string, gold reference) checked {
		text, ok := gold.text()
		want, isNumber := plainNumber(text)
		if !ok || !isNumber {
			return badReference("the reference is not a number")
		}
		got, found := lastNumber(reply)
		if !found {
			return missed("the reply holds no number")
		}
		return verdict(spec.allows(got, want), "the reply's last number is the reference", "the reply's last number is not the reference")
	}), nil
}

func (s *verifySpec) checkTolerance() error {
	for _, t := range []float64{s.Tolerance, s.RelTolerance} {
		if t < 0 || math.IsNaN(t) || math.IsInf(t, 0) {
			return errors.New("a tolerance is negative or not a number")
		}
	}
	return nil
}

// allows compares within the larger tolerance. With none, doubles that differ only
// in their last digits are equal: a decimal is rarely a double.
func (s *verifySpec) allows(got, want float64) bool {
	const roundOff = 1e-9 // relative; doubles carry some 16 digits
	within := max(s.Tolerance, s.RelTolerance*math.Abs(want), roundOff*math.Abs(want))
	return math.Abs(got-want) <= within
}

// lastNumber is the last number of a reply: where an answer stands, after the
// working.
func lastNumber(reply string) (float64, bool) {
	all := numberPattern.FindAllStringIndex(reply, -1)
	for i := len(all) - 1; i >= 0; i-- {
		at := all[i]
		text := reply[at[0]:at[1]]
		// A hyphen inside a word or a range is no sign: "A-12", "3-5".
		if at[0] > 0 && (text[0] == '-' || text[0] == '+') && isWordEnd(reply[at[0]-1]) {
			text = text[1:]
		}
		if f, ok := plainNumber(text); ok {
			return f, true
		}
	}
	return 0, false
}

func isWordEnd(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func plainNumber(text string) (float64, bool) {
	text = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(text), ",", ""), "−", "-")
	text = strings.TrimPrefix(text, "$")
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

func buildMath(spec *verifySpec) (examiner, error) {
	if err := spec.checkTolerance(); err != nil {
		return nil, err
	}
	return atOnce(func(reply string, gold reference) checked {
		text, ok := gold.text()
		if !ok {
			return badReference("the reference is not a text or a number")
		}
		want := mathForm(text)
		if want == "" {
			return badReference("the reference is empty")
		}
		got := mathForm(answerIn(reply))
		if whole := mathForm(reply); whole == want {
			got = whole // the reply is the answer and nothing else
		}
		if got == "" {
			return missed("the reply holds no answer")
		}
		if _, isNumber := rational(want); isNumber {
			got = onlyNumber(got)
		}
		return verdict(spec.equalMath(got, want), "the reply's answer equals the reference", "the reply's answer does not equal the reference")
	}), nil
}

// equalMath compares as exact fractions where both are numbers, with the tolerance
// where one is given, and as written else.
func (s *verifySpec) equalMath(got, want string) bool {
	if got == want {
		return true
	}
	a, aNumber := rational(got)
	b, bNumber := rational(want)
	if !aNumber || !bNumber {
		return false
	}
	if s.Tolerance == 0 && s.RelTolerance == 0 {
		return a.Cmp(b) == 0
	}
	x, _ := a.Float64()
	y, _ := b.Float64()
	return s.allows(x, y)
}

// onlyNumber is the number in an answer with a word beside it ("42apples"), where
// there is just one; else the answer as it is.
func onlyNumber(answer string) string {
	if _, isNumber := rational(answer); isNumber {
		return answer
	}
	all := numberPattern.FindAllStringIndex(answer, 2)
	if len(all) != 1 || strings.ContainsAny(answer, `/^*\`) {
		return answer
	}
	number := answer[all[0][0]:all[0][1]]
	if strings.Contains(number, ",") {
		return answer // the marks of thousands are gone: this is a list
	}
	if strings.HasPrefix(answer[all[0][1]:], "%") {
		number += "%" // "50% of it" is a half, not fifty
	}
	return number
}

// answerPattern finds what a reply calls its answer.
var answerPattern = regexp.MustCompile(`(?i)(?:answer|result)(?: is|:)?\s*[:=]?\s*([^\n]+)`)

// answerIn is the answer of a reply: its last \boxed{}, what it calls its answer
// last, what stands behind its last equals sign, else its last number.
func answerIn(reply string) string {
	if boxed, ok := lastBoxed(reply); ok {
		return boxed
	}
	if all := answerPattern.FindAllStringSubmatch(reply, -1); len(all) > 0 {
		return all[len(all)-1][1]
	}
	text := strings.TrimSpace(reply)
	if at := strings.LastIndexByte(text, '='); at >= 0 {
		return text[at+1:]
	}
	if !strings.ContainsAny(text, " \n") {
		return text
	}
	if _, isNumber := rational(mathForm(text)); isNumber {
		return text
	}
	all := numberPattern.FindAllString(text, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// lastBoxed is the content of the last \boxed{}, braces counted.
func lastBoxed(reply string) (string, bool) {
	const open = `\boxed{`
	at := strings.LastIndex(reply, open)
	if at < 0 {
		return "", false
	}
	rest, depth := reply[at+len(open):], 1
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return rest[:i], true
			}
		}
	}
	return "", false
}

var (
	fractionPattern  = regexp.MustCompile(`\\[dt]?frac\{([^{}]+)\}\{([^{}]+)\}`)
	shortFraction    = regexp.MustCompile(`\\([dt]?frac)\s*(?:\{([^{}]+)\}|(\d))\s*(?:\{([^{}]+)\}|(\d))`) // \frac12, \frac{1}2
	mixedPattern     = regexp.MustCompile(`(^|[^\w.)])(\d{1,9})(?:\s*\((\d{1,9})\)/\((\d{1,9})\)|\s+(\d{1,9})/(\d{1,9}))`)
	percentPattern   = regexp.MustCompile(`(?i)(\d)\s*per ?cent\b`)
	apartPattern     = regexp.MustCompile(`(\d)\s+(\d)`)
	spacedThousands  = regexp.MustCompile(`^([-+−]?\d{1,3})((?: \d{3})+)(\.\d+)?$`)
	mixedThousands   = regexp.MustCompile(`^([-+−]?\d{1,3})((?: \d{3})+)(\s+\d{1,9}/\d{1,9}|\s*\(\d{1,9}\)/\(\d{1,9}\))$`)
	thousandsPattern = regexp.MustCompile(`(\d),(\d{3})\b`)
	latexNoise       = strings.NewReplacer(`\left`, "", `\right`, "", `\,`, "", `\;`, "", `\!`, "", `\ `, "", "$", "", `\text`, "", `\mathrm`, "", `\cdot`, "*", `\times`, "*", `\%`, "%", "−", "-", " ", "", "**", "", "`", "")
)

// mathForm writes an answer plainly: no LaTeX, no spaces, no thousands marks, no
// full stop; a mixed number as one fraction. Numbers that only a space parts stay apart.
func mathForm(text string) string {
	s := strings.TrimSpace(text)
	s = shortFraction.ReplaceAllString(s, `\$1{$2$3}{$4$5}`)
	for fractionPattern.MatchString(s) {
		next := fractionPattern.ReplaceAllString(s, "($1)/($2)")
		if next == s {
			break
		}
		s = next
	}
	s = strings.NewReplacer("{,}", ",", `,\!`, ",", `\%`, "%").Replace(s)
	// Before mixed numbers, which would take the last group of "1,234 1/2" for the whole.
	for thousandsPattern.MatchString(s) {
		s = thousandsPattern.ReplaceAllString(s, "$1$2")
	}
	s = mixedThousands.ReplaceAllStringFunc(s, func(spaced string) string {
		m := mixedThousands.FindStringSubmatch(spaced)
		return m[1] + strings.ReplaceAll(m[2], " ", "") + m[3]
	})
	s = mixedPattern.ReplaceAllStringFunc(s, improper)
	s = percentPattern.ReplaceAllString(s, "$1%")
	if m := spacedThousands.FindStringSubmatch(s); m != nil {
		s = m[1] + strings.ReplaceAll(m[2], " ", "") + m[3]
	}
	// Twice, as matches do not overlap: "1 2 3".
	s = apartPattern.ReplaceAllString(apartPattern.ReplaceAllString(s, "$1_$2"), "$1_$2")
	s = latexNoise.Replace(s)
	s = strings.NewReplacer("{", "(", "}", ")").Replace(strings.TrimRight(s, ".;,!"))
	return strings.ToLower(s)
}

// improper writes a mixed number as a fraction: "1 1/2" as "3/2".
func improper(mixed string) string {
	m := mixedPattern.FindStringSubmatch(mixed)
	var n [3]int64
	for i, digits := range []string{m[2], m[3] + m[5], m[4] + m[6]} {
		n[i], _ = strconv.ParseInt(digits, 10, 64) // nine digits at most
	}
	return fmt.Sprintf("%s%d/%d", m[1], n[0]*n[2]+n[1], n[2])
}

// maxRational bounds a number that is compared exactly: an exponent of a million
// would be a gigabyte of digits.
const maxRational = 64

// rational reads a number, a percentage or a quotient of two.
func rational(s string) (*big.Rat, bool) {
	if len(s) > maxRational {
		return nil, false
	}
	if plain, isPercent := strings.CutSuffix(s, "%"); isPercent {
		r, ok := rational(plain)
		if !ok {
			return nil, false
		}
		return r.Quo(r, big.NewRat(100, 1)), true
	}
	if over, under, isQuotient := strings.Cut(s, "/"); isQuotient {
		a, ok := decimal(unwrapped(over))
		b, ok2 := decimal(unwrapped(under))
		if !ok || !ok2 || b.Sign() == 0 {
			return nil, false
		}
		return a.Quo(a, b), true
	}
	return decimal(unwrapped(s))
}

// decimal reads digits with a sign, a point and a short exponent.
func decimal(s string) (*big.Rat, bool) {
	if mantissa, exponent, has := strings.Cut(s, "e"); has {
		if n, err := strconv.Atoi(exponent); err != nil || n > 300 || n < -300 || mantissa == "" {
			return nil, false
		}
	}
	if strings.Trim(s, "0123456789+-.e") != "" {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// unwrapped takes one pair of brackets off, and a sign out of them.
func unwrapped(s string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(s, "-("); negative {
		s, sign = "("+rest, "-"
	}
	if len(s) > 1 && s[0] == '(' && s[len(s)-1] == ')' {
		s = s[1 : len(s)-1]
	}
	return sign + s
}
