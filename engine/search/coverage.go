package search

import (
	"encoding/binary"

	"assay/engine/record"
)

// Coverage is the coverage of the array's tuples by the rows that really came
// back. Planned leaves out what thinning took, which is counted as thinned.
func (p *Planner) Coverage(done []record.Posed) record.Coverage {
	var came [][]int
	hard := 0
	seen := map[string]bool{}
	for _, d := range done {
		if d.Task != nil && d.Task.Axes != nil && !seen[d.Task.SituationID] {
			seen[d.Task.SituationID] = true
			came = append(came, p.in.Array.Model.Point(d.Task.Axes))
			if p.tiers.hard(d.Task.Axes) {
				hard++
			}
		}
	}
	c, _ := p.coverage(came)
	c.Points, c.Hard = len(came), hard
	return c
}

// coverage is that of points of the grid, and the tuples that thinning took, in
// words.
func (p *Planner) coverage(points [][]int) (record.Coverage, []string) {
	array := p.in.Array
	kept := make([][]int, len(array.Rows))
	rows := make(map[string]bool, len(array.Rows))
	for i, row := range array.Rows {
		kept[i] = array.Model.Point(p.pointOf(array.Model.Axes(p.grid.filled(row))).axes)
		rows[rowKey(kept[i])] = true
	}
	posed := 0
	for _, row := range points {
		if rows[rowKey(row)] {
			posed++
		}
	}
	all, _, thinned := array.Between(array.Rows, kept)
	planned, covered, missing := array.Between(kept, points)
	return record.Coverage{
		Strength: array.Model.Strength, Rows: len(array.Rows), Posed: posed, LowerBound: array.LowerBound,
		Planned: planned, Covered: covered, Thinned: all - planned, Missing: missing,
	}, thinned
}

func rowKey(row []int) string {
	b := make([]byte, 0, 2*len(row))
	for _, v := range row {
		b = binary.AppendVarint(b, int64(v))
	}
	return string(b)
}
