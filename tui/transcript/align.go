package transcript

import (
	"slices"

	"assay/engine/record"
)

// sameness is how two steps that stand side by side are to each other.
type sameness uint8

const (
	same      sameness = iota
	reworded           // both say something, in other words
	differs            // both call one tool, with other arguments or another result
	onlyLeft           // the right side has none
	onlyRight          // the left side has none
)

// beside is two steps next to each other, by their index; -1 is none.
type beside struct {
	left, right int
	same        sameness
}

// Worth of two steps side by side, for the alignment with the most: a call to one tool
// is worth more than words, and what is alike more than what is not, so that a step
// which one side skipped leaves the steps behind it in line. Convention.
const (
	worthWords = 1 // two texts of one speaker
	worthTool  = 3 // two calls of one tool
	worthEqual = 5 // in every way the same
)

// mostAligned bounds the table of an alignment: 1,000 steps a side, some milliseconds.
// Longer conversations are set side by side by their place where they stop being
// alike. Convention.
const mostAligned = 1 << 20

// act is a step as it is compared: JSON in its canonical form, so that the order of
// members makes no difference.
type act struct {
	kind              record.StepKind
	text              record.Text
	tool              string
	arguments, result string
}

func actsOf(steps []record.Step) []act {
	out := make([]act, len(steps))
	for i := range steps {
		s := &steps[i]
		out[i] = act{s.Kind, s.Text, s.Tool, canonical(s.Arguments), canonical(s.Result)}
	}
	return out
}

func canonical(raw []byte) string {
	if c, err := record.Canonical(raw); err == nil {
		return string(c)
	}
	return string(raw)
}

// to is how two acts stand to each other; worth is 0 where they never stand side by
// side.
func (a *act) to(b *act) (s sameness, worth int) {
	switch {
	case a.kind != b.kind || a.tool != b.tool:
		return differs, 0
	case *a == *b:
		return same, worthEqual
	case a.kind == record.StepTool:
		return differs, worthTool
	}
	return reworded, worthWords
}

// align finds the alignment of two rollouts' steps that is worth the most (Needleman
// and Wunsch 1970). What is alike at the beginning and at the end is set side by side
// first: nothing is worth more.
func align(left, right []record.Step) []beside {
	a, b := actsOf(left), actsOf(right)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := make([]beside, 0, max(len(a), len(b)))
	for i := range head {
		out = append(out, beside{i, i, same})
	}
	middleA, middleB := a[head:len(a)-tail], b[head:len(b)-tail]
	between := byWorth
	if (len(middleA)+1)*(len(middleB)+1) > mostAligned {
		between = byPlace
	}
	for _, p := range between(middleA, middleB) {
		out = append(out, beside{from(p.left, head), from(p.right, head), p.same})
	}
	for i := tail; i > 0; i-- {
		out = append(out, beside{len(a) - i, len(b) - i, same})
	}
	return out
}

// from is an index counted from a start; none stays none.
func from(i, start int) int {
	if i < 0 {
		return -1
	}
	return start + i
}

// Ways to a cell of the table.
const (
	wayBoth uint8 = iota
	wayLeft
	wayRight
)

func byWorth(a, b []act) []beside {
	width := len(b) + 1
	way := make([]uint8, (len(a)+1)*width)
	above, here := make([]int, width), make([]int, width) // the worth so far
	for j := 1; j < width; j++ {
		way[j] = wayRight
	}
	for i := 1; i <= len(a); i++ {
		way[i*width], here[0] = wayLeft, 0
		for j := 1; j < width; j++ {
			best, by := above[j], wayLeft
			if here[j-1] > best {
				best, by = here[j-1], wayRight
			}
			if _, w := a[i-1].to(&b[j-1]); w > 0 && above[j-1]+w >= best {
				best, by = above[j-1]+w, wayBoth
			}
			here[j], way[i*width+j] = best, by
		}
		above, here = here, above
	}
	var out []beside
	for i, j := len(a), len(b); i > 0 || j > 0; {
		switch way[i*width+j] {
		case wayBoth:
			i, j = i-1, j-1
			s, _ := a[i].to(&b[j])
			out = append(out, beside{i, j, s})
		case wayLeft:
			i--
			out = append(out, beside{i, -1, onlyLeft})
		default:
			j--
			out = append(out, beside{-1, j, onlyRight})
		}
	}
	slices.Reverse(out)
	return out
}

func byPlace(a, b []act) []beside {
	var out []beside
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(b):
			out = append(out, beside{i, -1, onlyLeft})
		case i >= len(a):
			out = append(out, beside{-1, i, onlyRight})
		default:
			if s, w := a[i].to(&b[i]); w > 0 {
				out = append(out, beside{i, i, s})
			} else {
				out = append(out, beside{i, -1, onlyLeft}, beside{-1, i, onlyRight})
			}
		}
	}
	return out
}

// parting is where two rollouts part: the first call that is not the same on both
// sides, or else the first difference at all, since words alone differ between any two
// rollouts of a model. It is -1 where they never do.
func parting(rows []beside, left, right []record.Step) int {
	words := -1
	for i, r := range rows {
		call := r.left >= 0 && left[r.left].Kind == record.StepTool || r.right >= 0 && right[r.right].Kind == record.StepTool
		switch {
		case r.same == same:
		case call:
			return i
		case words < 0:
			words = i
		}
	}
	return words
}

// Part is the step where two rollouts of a task part: the first call that is not the
// same, or else the first step in other words. It is the number of steps where only
// the reply differs, or how they ended, and -1 where nothing does.
func Part(a, b *record.Sample) int {
	rows := align(a.Rollout.Steps, b.Rollout.Steps)
	at := parting(rows, a.Rollout.Steps, b.Rollout.Steps)
	switch {
	case at >= 0:
		return max(rows[at].left, rows[at].right)
	case a.Rollout.FinalText != b.Rollout.FinalText || a.Rollout.Status != b.Rollout.Status:
		return len(a.Rollout.Steps)
	}
	return -1
}
