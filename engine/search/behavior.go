package search

import (
	"encoding/json"
	"math/bits"
	"slices"

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

// expected are the calls that a point of the grid is there to bring about: its
// tools, under its fault and the state of what it names.
func expected(pt point) []shape {
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

// distance is the Jaccard distance of two sketches in millionths: 0 for equal
// ones, ppm where nothing is shared.
func distance(a, b *sketch) int {
	both, any := 0, 0
	for i := range a {
		both += bits.OnesCount64(a[i] & b[i])
		any += bits.OnesCount64(a[i] | b[i])
	}
	if any == 0 {
		return 0
	}
	return ppm - both*ppm/any
}

// neighbours is the k of novelty: 15, as in the experiments of Lehman and Stanley
// (2011).
const neighbours = 15

// archive holds the distinct behaviours seen so far.
type archive struct {
	seen     map[sketch]bool
	sketches []sketch
}

func newArchive() *archive { return &archive{seen: map[sketch]bool{}} }

// add keeps a behaviour; false where one like it is there.
func (a *archive) add(s sketch) bool {
	if a.seen[s] {
		return false
	}
	a.seen[s] = true
	a.sketches = append(a.sketches, s)
	return true
}

// novelty is the mean distance of a behaviour to its nearest neighbours in the
// archive, in millionths (Lehman and Stanley 2011): the farther, the more novel.
// In an empty archive everything is.
func (a *archive) novelty(s sketch) int {
	nearest := make([]int, 0, neighbours+1)
	for i := range a.sketches {
		d := distance(&s, &a.sketches[i])
		if len(nearest) == neighbours && d >= nearest[neighbours-1] {
			continue
		}
		at, _ := slices.BinarySearch(nearest, d)
		nearest = slices.Insert(nearest, at, d)
		if len(nearest) > neighbours {
			nearest = nearest[:neighbours]
		}
	}
	if len(nearest) == 0 {
		return ppm
	}
	sum := 0
	for _, d := range nearest {
		sum += d
	}
	return sum / len(nearest)
}
