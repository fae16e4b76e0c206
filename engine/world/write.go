package world

import (
	"encoding/json"
	"fmt"
	"strings"

	"assay/engine/record"
)

// write carries out a call that changes the world and prepares its answer; the
// refusal says why nothing was changed.
func (w *World) write(t *tool, args map[string]any, d *drawing) *refusal {
	for i := range d.refs {
		if ref := d.refs[i].thing; ref != nil && ref.planned && ref.state == record.EntityActedOn {
			return alreadyDone(w.stateWord(ref))
		}
	}
	if d.thing != nil {
		switch {
		case d.thing.state == record.EntityPartial && !d.thing.advanced:
			d.thing.advanced = true
			d.state = statusPartial
			return nil
		case d.thing.state == record.EntityUnknown:
			d.state = statusUnknown // the call is taken, what came of it stays open
			return nil
		}
	}
	if t.op == opCreate {
		w.create(t, args, d)
		return nil
	}
	return w.act(t, args, d)
}

func alreadyDone(state string) *refusal {
	return &refusal{code: record.ErrAlreadyDone, message: fmt.Sprintf("this was done before: it is already %s", strings.ReplaceAll(state, "_", " ")), hint: "nothing was changed"}
}

// act changes each record that the call refers to, or makes a write without a
// reference. The same act on the same record again is already done; changing
// fields is the same act only with the same values.
func (w *World) act(t *tool, args map[string]any, d *drawing) *refusal {
	key := t.name
	if t.op == opUpdate || len(d.refs) == 0 {
		key += "\n" + canonical(args)
	}
	past := pastOf(t.verb)
	if len(d.refs) == 0 {
		d.base = w.callDraw(t, args)
		if w.done[key] {
			return alreadyDone(past)
		}
		if w.done == nil {
			w.done = map[string]bool{}
		}
		w.done[key] = true
		d.state = past
		return nil
	}
	subject := subjectOf(t, d.refs)
	if subject.thing != nil && subject.thing.done[key] {
		return alreadyDone(past)
	}
	for i := range d.refs {
		ref := &d.refs[i]
		if ref != subject && !(ref.many && ref.argument == subject.argument) {
			continue // the other references say where or for whom
		}
		thing := w.touch(ref)
		thing.done[key] = true
		thing.status = past
		thing.deleted = t.op == opDelete
		if t.op == opUpdate {
			thing.store(t, args)
		}
	}
	d.thing, d.state = subject.thing, past
	return nil
}

// touch makes sure that the world knows a thing of its own for a reference.
func (w *World) touch(ref *reference) *thing {
	if ref.thing == nil {
		ref.thing = &thing{id: ref.id, argument: ref.argument.name, state: record.EntityExists}
		w.know(ref.thing)
	}
	if ref.thing.done == nil {
		ref.thing.done = map[string]bool{}
	}
	return ref.thing
}

func (w *World) know(t *thing) {
	if w.things == nil {
		w.things = map[string]*thing{}
	}
	w.things[fold(t.id)] = t
}

// store remembers the fields that a write set.
func (t *thing) store(by *tool, args map[string]any) {
	for name, v := range args {
		if a := by.argument(name); a != nil && a.reference && sameReference(t.argument, name) {
			continue
		}
		raw, err := record.Marshal(v)
		if err != nil {
			continue // decoded JSON always marshals
		}
		if t.written == nil {
			t.written = map[string]json.RawMessage{}
		}
		t.written[placeable(name)] = raw
	}
}

// create makes a new record.
func (w *World) create(t *tool, args map[string]any, d *drawing) {
	thing := &thing{argument: t.noun, state: record.EntityExists, status: pastOf(t.verb)}
	if thing.argument != "" {
		thing.argument += "_id"
	}
	own := &shape{form: formText, most: -1, class: classID}
	if s := t.result; s.form == formObject && s.own >= 0 {
		own = s.fields[s.own].shape
		thing.argument = s.fields[s.own].name
	}
	d.base = record.Rank("world", w.task.ID, "made", t.name, len(w.made))
	for i := range d.refs {
		if a := d.refs[i].argument; a.names {
			thing.id, thing.argument = d.refs[i].id, a.name
		}
	}
	for try := uint64(0); thing.id == ""; try++ { // ids of the same kind may meet; the next draw is another
		u := split(d.base, try)
		id := ""
		if own.form == formNumber {
			id = string(own.number.appendID(nil, d, u))
		} else {
			id = d.newID(own, u)
		}
		if _, taken := w.things[fold(id)]; !taken || try > 16 {
			thing.id = id
		}
	}
	thing.store(t, args)
	w.know(thing)
	w.made = append(w.made, thing)
	d.thing, d.own, d.state = nil, thing.id, thing.status
}
