package cover

import (
	"context"
	"fmt"
	"slices"

	"assay/engine/record"
)

// Stable makes an array in blocks: one that holds no planned value of the axis,
// then one for each value. A block is a function of its value and of the other
// axes alone, so that changing one value of the axis (editing a clause) leaves
// every row of the other blocks, and its situation's id, as it was. The rows are
// more than a joint array's; that is the price of pairing two versions.
//
// The axis must have a spare value for the first block. Where it has none (there
// is no policy) the array is the joint one.
func Stable(ctx context.Context, m Model, axis string, o Options) (Array, error) {
	if len(o.Pinned) > 0 {
		return Array{}, fmt.Errorf("a stable array takes no pinned rows: a block depends on nothing but its value")
	}
	if len(m.Submodels) > 0 {
		return Array{}, fmt.Errorf("a stable array takes no submodels; build the joint one")
	}
	at := slices.IndexFunc(m.Parameters, func(p Parameter) bool { return p.Name == axis })
	if at < 0 {
		return Array{}, fmt.Errorf("stable array: no axis %q", axis)
	}
	if m.Parameters[at].Spare == 0 {
		return Build(ctx, m, o)
	}
	p, err := prepare(m, o)
	if err != nil {
		return Array{}, err
	}
	b := blocks{plan: p, at: at}
	rows, owners, err := b.build(ctx)
	if err != nil {
		return Array{}, fmt.Errorf("build covering array: %w", err)
	}
	return m.array(p.space, rows, owners), nil
}

// blocks builds a stable array over the parameter at.
type blocks struct {
	*plan
	at int
	// without says which tuples of the other parameters the first block covers.
	without *space
}

func (b *blocks) build(ctx context.Context) (rows [][]int, owners []int, err error) {
	parameter := b.model.Parameters[b.at]
	add := func(block [][]int, value, owner int) {
		for _, row := range block {
			rows = append(rows, slices.Insert(row, b.at, value))
			owners = append(owners, owner)
		}
	}
	spare := parameter.planned()
	base, err := b.base(ctx, spare)
	if err != nil {
		return nil, nil, err
	}
	add(base, spare, 0)
	for value := range parameter.planned() {
		block, err := b.block(ctx, value)
		if err != nil {
			return nil, nil, err
		}
		add(block, value, 1+value)
	}
	return rows, owners, nil
}

// others is the model of the other parameters where the axis has a value: the
// forbidden tuples that name another value of it fall away.
func (b *blocks) others(value, strength int) Model {
	m := Model{Parameters: slices.Delete(slices.Clone(b.model.Parameters), b.at, b.at+1), Strength: strength}
	for _, t := range b.model.Forbidden {
		if rest, applies := t.given(b.at, value); applies {
			m.Forbidden = append(m.Forbidden, rest)
		}
	}
	return m
}

// given is what is left of a forbidden tuple where one parameter has a value, in
// the numbering without that parameter; false where it cannot be held any more.
func (t Tuple) given(parameter, value int) (Tuple, bool) {
	var rest Tuple
	for _, l := range t {
		switch {
		case l.Parameter < parameter:
			rest = append(rest, l)
		case l.Parameter > parameter:
			rest = append(rest, Literal{l.Parameter - 1, l.Value})
		case l.Value != value:
			return nil, false
		}
	}
	return rest, true
}

// base covers every tuple of the other parameters at the spare value.
func (b *blocks) base(ctx context.Context, spare int) ([][]int, error) {
	m := b.others(spare, min(b.model.strength(), len(b.model.Parameters)-1))
	if len(m.Parameters) == 0 {
		return nil, nil
	}
	s, ok := m.solverWithin()
	b.without = newSpaceOrEmpty(m.sizes(), m.Strength, s, ok)
	if !ok {
		return nil, nil
	}
	return (&plan{model: m, opts: b.opts, space: b.without, solver: s, key: m.key()}).joint(ctx)
}

// block covers every tuple of one value of the axis with the others, and those
// of the others alone that this value allows and the spare value does not.
func (b *blocks) block(ctx context.Context, value int) ([][]int, error) {
	m := b.others(value, b.model.strength()-1)
	s, ok := m.solverWithin()
	if !ok {
		return nil, nil // the constraints leave this value no row
	}
	key := record.Identity("cover-block", struct {
		Value string `json:"value"`
		Model Model  `json:"model"`
	}{b.model.Parameters[b.at].Values[value], m})
	if m.Strength == 0 {
		return [][]int{{}}, nil
	}
	p := &plan{model: m, opts: b.opts, space: newSpace(m.sizes(), m.Strength, s), solver: s, key: key}
	rows, err := p.joint(ctx)
	if err != nil || b.without.strength > len(m.Parameters) {
		return rows, err
	}
	return b.rescue(ctx, p, rows)
}

// rescue adds rows for the tuples of the other parameters that the first block
// could not hold.
func (b *blocks) rescue(ctx context.Context, p *plan, rows [][]int) ([][]int, error) {
	whole := newSpace(b.without.sizes, b.without.strength, p.solver)
	for i := range whole.valid {
		whole.valid[i] &^= b.without.valid[i]
	}
	if whole.planned = whole.valid.count(); whole.planned == 0 {
		return rows, nil
	}
	g := newGrower(whole, p.solver, record.Stream("cover", p.key, "rescue"))
	for _, row := range rows {
		g.cover(row)
	}
	return g.grow(ctx, rows)
}

// solverWithin is a started solver; false where no row is allowed.
func (m Model) solverWithin() (*solver, bool) {
	for _, t := range m.Forbidden {
		if len(t) == 0 {
			return nil, false
		}
	}
	s := newSolver(m.sizes(), m.Forbidden)
	return s, s.start()
}

// newSpaceOrEmpty is a space in which nothing is valid where the model allows no
// row.
func newSpaceOrEmpty(sizes []int, strength int, s *solver, satisfiable bool) *space {
	if satisfiable {
		return newSpace(sizes, strength, s)
	}
	none := newSolver(sizes, []Tuple{})
	sp := newSpace(sizes, strength, none)
	clear(sp.valid)
	sp.planned = 0
	return sp
}
