package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/engine/record"
)

// reference is one argument of a call that says which record is meant.
type reference struct {
	argument *argument
	index    int // of the tool's argument, -1 where it declares none
	id       string
	raw      json.RawMessage // the value as JSON, for the answer to repeat
	many     bool            // one of several in a list
	thing    *thing          // nil where nothing special is known of it
}

// references looks up all that a call refers to; the refusal names the first
// that does not exist or that is not one thing.
func (w *World) references(t *tool, args map[string]any) ([]reference, *refusal) {
	var refs []reference
	for i := range t.arguments {
		a := &t.arguments[i]
		v, given := args[a.name]
		if !given || v == nil || !a.reference && !w.refersBy(a.name) && !w.isLoose(v) {
			continue
		}
		found, refused := w.refer(a, i, v)
		if refused != nil {
			return nil, refused
		}
		refs = append(refs, found...)
	}
	if len(t.arguments) > 0 {
		return refs, nil
	}
	// A tool that declares nothing is asked by whatever names like references.
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !isReference(t.op, name, nil, w.tools.nouns) && !w.refersBy(name) {
			continue
		}
		found, refused := w.refer(&argument{name: name, subject: subjectWords(name), reference: true}, -1, args[name])
		if refused != nil {
			return nil, refused
		}
		refs = append(refs, found...)
	}
	return refs, nil
}

// refer looks up what one argument refers to: one thing, or a list of them.
func (w *World) refer(a *argument, index int, v any) ([]reference, *refusal) {
	items, many := v.([]any)
	if !many {
		items = []any{v}
	}
	refs := make([]reference, 0, len(items))
	for _, item := range items {
		id, ok := refText(item)
		if !ok {
			continue
		}
		ref := reference{argument: a, index: index, id: id, many: many, raw: refRaw(item, id)}
		if !a.names || w.isSetUp(id) {
			if refused := w.find(a, &ref); refused != nil {
				return nil, refused
			}
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// isSetUp reports whether the task put a thing into a state of its own. A name
// for a new record is looked up only then: others need not exist.
func (w *World) isSetUp(id string) bool {
	t := w.things[fold(id)]
	return t != nil && t.planned && !t.deleted && t.state != record.EntityMissing && t.state != record.EntityExists
}

// isLoose reports whether a value is the id of a thing that any argument may
// name.
func (w *World) isLoose(v any) bool {
	id, ok := v.(string)
	if !w.loose || !ok {
		return false
	}
	t := w.things[fold(id)]
	return t != nil && t.argument == ""
}

// refersBy reports whether the task sets up a thing that this argument names.
func (w *World) refersBy(argument string) bool {
	for i := range w.task.World.Entities {
		if w.task.World.Entities[i].Argument == argument {
			return true
		}
	}
	return false
}

func refRaw(item any, id string) json.RawMessage {
	if _, number := item.(float64); number {
		return json.RawMessage(id)
	}
	return appendString(nil, id)
}

// find fills in what the world knows of a reference.
func (w *World) find(a *argument, ref *reference) *refusal {
	folded := fold(ref.id)
	if folded == "" {
		return invalid(fmt.Sprintf("argument %q is empty", a.name), "give the reference, or ask for it")
	}
	t := w.things[folded]
	switch {
	case t == nil && w.exists(a, folded):
		return nil
	case t == nil, t.planned && !sameReference(t.argument, a.name), t.deleted, t.state == record.EntityMissing:
		return &refusal{code: record.ErrNotFound, message: fmt.Sprintf("nothing with this %s was found", a.name), hint: "check it with the person, or look it up"}
	case t.state == record.EntityDuplicate:
		for _, m := range t.matches {
			w.issue(m)
		}
		return &refusal{code: record.ErrAmbiguous, message: fmt.Sprintf("more than one record has this %s", a.name),
			hint: "say which one is meant", matches: t.matches}
	}
	ref.thing = t
	return nil
}

// exists reports whether somebody named an id: an earlier answer, a schema, a
// description, the person.
func (w *World) exists(a *argument, folded string) bool {
	return w.issued[folded] || a.known[folded] || w.saidByPerson(folded) || namedIn(w.tools.mentioned, folded)
}

func (w *World) saidByPerson(folded string) bool {
	if w.said == "" {
		w.said = personText(w.task) + "\n"
	}
	return namedIn(w.said, folded)
}

// namedIn reports whether a text names an id, as a word of its own that is not
// one of the words every text has.
func namedIn(text, folded string) bool {
	const longest = 200 // no id is longer; a text pasted as one is not looked for
	return len(folded) > 1 && len(folded) <= longest && !commonWords[folded] && mentions(text, folded)
}

// commonWords stand in asks and descriptions without naming anything.
var commonWords = wordSet(`the an a my your our this that it is are was be to of in on for with and or not no yes id ids order account customer user service
	please can could you me we they he she i number name thing one all any new old same other which what when where who how first last next
	now today yesterday tomorrow help want need know check look up get set do did done some there here them their by from at as if so but`)

// subjectOf is the reference that a call is about: one that the task set up in a
// state of its own, else the one that the tool's name speaks of, else the first.
func subjectOf(t *tool, refs []reference) *reference {
	var best *reference
	rank := 0
	for i := range refs {
		r, ref := 1, &refs[i]
		switch {
		case ref.thing != nil && ref.thing.state != record.EntityExists:
			r = 3
		case slices.Contains(ref.argument.subject, t.noun):
			r = 2
		}
		if r > rank {
			best, rank = ref, r
		}
	}
	return best
}

// actedWord is the word for a thing that was acted on before the conversation:
// what the first tool that acts on its kind would have done, destructive tools
// first.
func (s *Toolset) actedWord(argument string) string {
	for _, t := range s.actors {
		for i := range t.arguments {
			if t.arguments[i].reference && sameReference(argument, t.arguments[i].name) {
				return pastOf(t.verb)
			}
		}
	}
	return "completed"
}

// listed are the things that a list of this shape must show, as the task and the
// writes left them.
func (w *World) listed(s *shape, noun string) []*thing {
	if s.item == nil && len(s.tuple) == 0 {
		return nil
	}
	var out []*thing
	show := func(t *thing) {
		belongs := noun == "" || t.argument == "" || slices.Contains(subjectWords(t.argument), noun)
		if belongs && !t.deleted && t.state != record.EntityMissing {
			out = append(out, t)
		}
	}
	for _, e := range w.task.World.Entities {
		t := w.things[fold(e.ID)]
		if t == nil {
			continue
		}
		if t.state == record.EntityDuplicate {
			for _, m := range t.matches {
				show(w.things[fold(m)])
			}
			continue
		}
		show(t)
	}
	for _, t := range w.made {
		show(t)
	}
	return out
}

// placeable trims a written argument's name to the field it sets: new_address
// sets address.
func placeable(name string) string {
	return strings.TrimPrefix(name, "new_")
}
