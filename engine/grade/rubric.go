package grade

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"assay/engine/record"
)

// Rubric is what a judge grades by: numbered criteria, each with its own verdict. A hard
// one that is missed makes the reward 0; the reward is else the share of criteria that
// are met, of those that apply.
type Rubric struct {
	Preamble string // what stands before the first criterion
	Criteria []RubricCriterion
}

// RubricCriterion is one numbered criterion.
type RubricCriterion struct {
	Number int // from 1
	Text   string
	Hard   bool
}

// maxRubric bounds a rubric, in characters: it is sent with every verdict. Convention,
// untested.
const maxRubric = 20_000

var (
	numbered = regexp.MustCompile(`^\s{0,3}(\d{1,3})[.)]\s+(.*)$`)
	hardMark = regexp.MustCompile(`(?i)^\s*(?:\[hard\]|\(hard\)|\*\*hard\*\*:?|hard:)\s*`)
	softMark = regexp.MustCompile(`(?i)^\s*(?:\[soft\]|\(soft\)|\*\*soft\*\*:?|soft:)\s*`)
)

// ParseRubric reads criteria out of a rubric's text: lines that begin with "1." or "1)",
// counted from 1 without a gap, each with the lines that follow it. A criterion that
// begins with [hard] is hard. A text without numbers is one criterion. An empty rubric, a
// number out of its order and a criterion without words are errors.
func ParseRubric(text record.Text) (Rubric, error) {
	var r Rubric
	if strings.TrimSpace(string(text)) == "" {
		return r, errors.New("rubric: it is empty; write numbered criteria, such as \"1. [hard] The refund was made\"")
	}
	if n := len([]rune(string(text))); n > maxRubric {
		return r, fmt.Errorf("rubric: it has %d characters, and %d are the most", n, maxRubric)
	}
	var preamble []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, " \t\r\n")
		m := numbered.FindStringSubmatch(line)
		switch {
		case m != nil:
			number, _ := strconv.Atoi(m[1]) // three digits are a number
			if number != len(r.Criteria)+1 {
				return r, fmt.Errorf("rubric: the criterion after %d is numbered %d", len(r.Criteria), number)
			}
			r.Criteria = append(r.Criteria, newCriterion(number, m[2]))
		case len(r.Criteria) > 0:
			last := &r.Criteria[len(r.Criteria)-1]
			last.Text = strings.TrimSpace(last.Text + "\n" + line)
		default:
			preamble = append(preamble, line)
		}
	}
	r.Preamble = strings.TrimSpace(strings.Join(preamble, "\n"))
	if len(r.Criteria) == 0 {
		r.Criteria, r.Preamble = []RubricCriterion{newCriterion(1, r.Preamble)}, ""
	}
	for _, c := range r.Criteria {
		if c.Text == "" {
			return r, fmt.Errorf("rubric: the criterion %d says nothing", c.Number)
		}
	}
	return r, nil
}

func newCriterion(number int, text string) RubricCriterion {
	c := RubricCriterion{Number: number, Text: strings.TrimSpace(text)}
	if at := hardMark.FindStringIndex(c.Text); at != nil {
		c.Hard, c.Text = true, strings.TrimSpace(c.Text[at[1]:])
	} else if at := softMark.FindStringIndex(c.Text); at != nil {
		c.Text = strings.TrimSpace(c.Text[at[1]:])
	}
	return c
}
