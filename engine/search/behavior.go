package search

import (
	"encoding/json"
	"math/bits"

	"assay/engine/record"
)

// shape is one tool call as behaviours are compared: which tool, and what came
// of it.
type shape struct{ tool, outcome string }

const outcomeOK = "ok"

// shapesOf are the tool calls of a rollout in their order.
func shapesOf(r *record.Rollout) []shape {
	var out []shape
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Kind != record.StepTool {
			continue
		}
		out = append(out, shape{s.Tool, outcomeOf(s)})
	}
	return out
}

func outcomeOf(s *record.Step) string {
	switch {
	case s.Fault != "":
		return s.Fault
	case !s.IsError:
		return outcomeOK
	}
	var e record.ToolError
	if json.Unmarshal(s.Result, &e) == nil && e.Error != "" {
		return e.Error
	}
	return "error"
}

// expectation is what the agent does at a point if it does what the point is there
// to bring about.
type expectation struct {
	calls  []shape
	sketch sketch
}

// expects is the point's expectation, made once.
func (pt *point) expects() *expectation {
	if pt.expected == nil {
		calls := expected(pt)
		pt.expected = &expectation{calls: calls, sketch: sketchOf(calls, record.EndedByAgent)}
	}
	return pt.expected
}

// expected are the calls that a point of the grid is there to bring about: its
// tools, under its fault and the state of what it names.
func expected(pt *point) []shape {
	var out []shape
	for _, tool := range pt.tools {
		outcome := outcomeOK
		switch pt.axes[record.AxisWorldState] {
		case record.EntityMissing:
			outcome = record.ErrNotFound
		case record.EntityActedOn:
			outcome = record.ErrAlreadyDone
		case record.EntityDuplicate:
			outcome = record.ErrAmbiguous
		}
		if pt.fault != nil && pt.fault.Tool == tool.tool.Name {
			outcome = pt.fault.Condition
		}
		out = append(out, shape{tool.tool.Name, outcome})
	}
	return out
}

// sketchBits is the width of a sketch. A rollout has some ten features; at 512
// bits two different ones meet once in fifty, and a distance is eight words.
const sketchBits = 512

// sketch is a behaviour as a set of hashed features: its calls, pairs of calls
// that follow each other, and how it ended.
type sketch [sketchBits / 64]uint64

func (s *sketch) add(parts ...any) {
	bit := record.Rank(parts...) % sketchBits
	s[bit/64] |= 1 << (bit % 64)
}

func sketchOf(shapes []shape, ended string) sketch {
	var s sketch
	previous := shape{"", "start"}
	for _, c := range shapes {
		s.add("tool", c.tool)
		s.add("call", c.tool, c.outcome)
		s.add("then", previous.tool, previous.outcome, c.tool, c.outcome)
		previous = c
	}
	s.add("ended", ended)
	return s
}

// size is the number of features.
func (s *sketch) size() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// shared is the number of features that two sketches have in common.
func (s *sketch) shared(o *sketch) int {
	n := 0
	for i, word := range s {
		n += bits.OnesCount64(word & o[i])
	}
	return n
}

// digest is a sketch in two words, its words laid over each other: two sketches
// share at most the bits that their digests share and those that one of them has
// laid over each other.
type digest [2]uint64

func (s *sketch) digest() digest {
	var d digest
	for i, word := range s {
		d[i%len(d)] |= word
	}
	return d
}

func (d digest) shared(o digest) int {
	return bits.OnesCount64(d[0]&o[0]) + bits.OnesCount64(d[1]&o[1])
}

// distance is the Jaccard distance of two sketches in millionths: 0 for equal
// ones, ppm where nothing is shared.
func distance(a, b *sketch) int {
	return jaccardDistance(a.shared(b), a.size(), b.size())
}

// jaccardDistance is that of two sets of given sizes that share so many members.
func jaccardDistance(shared, a, b int) int {
	any := a + b - shared
	if any == 0 {
		return 0
	}
	return ppm - shared*ppm/any
}
