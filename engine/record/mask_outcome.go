package record

import (
	"encoding/json"
	"slices"
)

// Outcome masks everything in o that came from outside: what was said and done,
// its error, its grades.
func (m *Masker) Outcome(o *Outcome) {
	if m == nil || m.known.Load() == nil {
		return
	}
	r := &o.Rollout
	for _, t := range []*Text{&r.Error, &r.FinalText, &r.Prompt} {
		m.edit(t)
	}
	for i := range r.Steps {
		r.Steps[i] = m.Step(r.Steps[i])
	}
	r.Privileged, r.Sampling, r.Extra = m.Raw(r.Privileged), m.Raw(r.Sampling), m.members(r.Extra)
	if j := o.Judgment; j != nil {
		m.edit(&j.Reason)
		m.edit(&j.Raw)
		j.FailureClass = m.Text(j.FailureClass)
		j.Meta, j.Cut = m.Raw(j.Meta), m.Raw(j.Cut)
		for i := range j.Criteria {
			m.edit(&j.Criteria[i].Reason)
		}
		m.evidence(j.Evidence)
	}
	for i := range o.Markers {
		m.edit(&o.Markers[i].Note)
		m.evidence(o.Markers[i].Evidence)
	}
}

// Step is a step without the known values.
func (m *Masker) Step(s Step) Step {
	m.edit(&s.Text)
	s.Tool = m.Text(s.Tool)
	s.Arguments, s.Result, s.Extra = m.Raw(s.Arguments), m.Raw(s.Result), m.members(s.Extra)
	return s
}

// Warnings are warnings without the known values.
func (m *Masker) Warnings(ws []Warning) []Warning {
	out := slices.Clone(ws)
	for i := range out {
		out[i].Text, out[i].Fix = m.Text(out[i].Text), m.Text(out[i].Fix)
	}
	return out
}

// Error is err, saying nothing of the known values; what it wraps is still found
// in it.
func (m *Masker) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if masked := m.Text(text); masked != text {
		return &maskedError{masked, err}
	}
	return err
}

type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }

func (e *maskedError) Unwrap() error { return e.err }

func (m *Masker) edit(t *Text) { *t = Text(m.Text(string(*t))) }

func (m *Masker) evidence(list []Evidence) {
	for i := range list {
		m.edit(&list[i].Fragment)
	}
}

// members masks names too. Of two that become one the later by its first name
// stays.
func (m *Masker) members(members map[string]json.RawMessage) map[string]json.RawMessage {
	if m == nil || len(members) == 0 {
		return members
	}
	out := make(map[string]json.RawMessage, len(members))
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out[m.Text(name)] = m.Raw(members[name])
	}
	return out
}
