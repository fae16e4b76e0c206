package search

import (
	"cmp"
	"slices"

	"assay/engine/cover"
)

// maxCells is the most cells of which regions keep count: beyond it they know no
// triples. Twelve megabytes of counts.
const maxCells = 1 << 20

// regions is what is known of the parts of the grid. A region is a cell: one value
// of an axis, or two or three values of different axes that meet.
type regions struct {
	model   cover.Model
	subsets []subset
	posed   []int32 // situations, by cell
	tried   []int32 // rollouts that taught, by cell
	failed  []int32 // of those, failures
}

// subset is one, two or three parameters, and where their cells begin.
type subset struct {
	parameters []int
	strides    []int
	first      int
}

func newRegions(m cover.Model) *regions {
	r := &regions{model: m}
	cells := 0
	for size := 1; size <= 3; size++ {
		before, subsets := cells, len(r.subsets)
		for _, parameters := range choose(len(m.Parameters), size) {
			s := subset{parameters: parameters, first: cells, strides: make([]int, size)}
			n := 1
			for i, p := range parameters {
				s.strides[i] = n
				n *= len(m.Parameters[p].Values)
			}
			r.subsets = append(r.subsets, s)
			cells += n
		}
		if cells > maxCells && size > 1 {
			r.subsets, cells = r.subsets[:subsets], before
			break
		}
	}
	r.posed, r.tried, r.failed = make([]int32, cells), make([]int32, cells), make([]int32, cells)
	return r
}

// choose are the ways to choose size of n parameters, each ascending.
func choose(n, size int) [][]int {
	if size == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for last := size - 1; last < n; last++ {
		for _, head := range choose(last, size-1) {
			out = append(out, append(append([]int{}, head...), last))
		}
	}
	return out
}

// cell is the row's cell of a subset, -1 where the row has no value for one of its
// parameters.
func (s *subset) cell(row []int) int {
	at := s.first
	for i, p := range s.parameters {
		if row[p] < 0 {
			return -1
		}
		at += row[p] * s.strides[i]
	}
	return at
}

// pose counts a situation that is posed.
func (r *regions) pose(row []int) { r.add(r.posed, row, 1) }

// learn counts rollouts of a situation and how many of them failed.
func (r *regions) learn(row []int, rollouts, failures int) {
	r.add(r.tried, row, int32(rollouts))
	r.add(r.failed, row, int32(failures))
}

func (r *regions) add(counts []int32, row []int, n int32) {
	for i := range r.subsets {
		if at := r.subsets[i].cell(row); at >= 0 {
			counts[at] += n
		}
	}
}

// undercoverage is how little a point's pairs and triples were asked about, in
// millionths: a cell that n situations had counts 1/(1+n)^2, so that one never
// asked about counts four times one that was once. Pairs and triples count alike,
// as the array holds all pairs before long and only triples tell points apart.
func (r *regions) undercoverage(row []int) int {
	var sum, n [4]int
	for i := range r.subsets {
		s := &r.subsets[i]
		size := len(s.parameters)
		if at := s.cell(row); at >= 0 && size > 1 {
			asked := int(r.posed[at]) + 1
			sum[size] += ppm / (asked * asked)
			n[size]++
		}
	}
	total, kinds := 0, 0
	for size := 2; size <= 3; size++ {
		if n[size] > 0 {
			total += sum[size] / n[size]
			kinds++
		}
	}
	return total / max(kinds, 1)
}

// suspicion is the share of failures in the point's worst cell, in millionths,
// counted as if each cell had passed twice before: one failure alone proves
// nothing about its cells. Convention, untested.
func (r *regions) suspicion(row []int) int {
	worst := 0
	for i := range r.subsets {
		if at := r.subsets[i].cell(row); at >= 0 && r.failed[at] > 0 {
			worst = max(worst, int(r.failed[at])*ppm/(int(r.tried[at])+2))
		}
	}
	return worst
}

// Suspect is a region where rollouts fail, in words.
type Suspect struct {
	Where  string `json:"where"` // "tool=restart_service, stance=hurried"
	Failed int    `json:"failed"`
	Tried  int    `json:"tried"`
}

// suspectsKept is how many suspects a batch's state keeps: what a person reads.
const suspectsKept = 5

// suspects are the n most suspicious cells with two failures or more, the worst
// first; of equals the one of fewer values, since what fails with two values fails
// with any third.
func (r *regions) suspects(n int) []Suspect {
	type ranked struct{ subset, cell, suspicion int }
	var worst []ranked
	for i := range r.subsets {
		end := len(r.failed)
		if i+1 < len(r.subsets) {
			end = r.subsets[i+1].first
		}
		for at := r.subsets[i].first; at < end; at++ {
			if r.failed[at] < 2 {
				continue
			}
			c := ranked{i, at, int(r.failed[at]) * ppm / (int(r.tried[at]) + 2)}
			place, _ := slices.BinarySearchFunc(worst, c, func(a, b ranked) int {
				return cmp.Or(cmp.Compare(b.suspicion, a.suspicion), cmp.Compare(a.subset, b.subset), cmp.Compare(a.cell, b.cell))
			})
			if place < n {
				worst = slices.Insert(worst, place, c)
				worst = worst[:min(len(worst), n)]
			}
		}
	}
	out := make([]Suspect, len(worst))
	for i, c := range worst {
		out[i] = Suspect{Where: r.model.Describe(r.subsets[c.subset].tuple(c.cell)), Failed: int(r.failed[c.cell]), Tried: int(r.tried[c.cell])}
	}
	return out
}

// tuple is a cell as values of parameters.
func (s *subset) tuple(cell int) cover.Tuple {
	t := make(cover.Tuple, len(s.parameters))
	rest := cell - s.first
	for i := len(s.parameters) - 1; i >= 0; i-- {
		t[i] = cover.Literal{Parameter: s.parameters[i], Value: rest / s.strides[i]}
		rest %= s.strides[i]
	}
	return t
}
