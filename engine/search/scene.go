package search

import (
	"math/rand/v2"
	"slices"
	"strings"

	"assay/engine/record"
)

// reference is one thing that an ask names by its id.
type reference struct {
	argument string
	noun     string
	id       string
	state    string // one of record's Entity states
	named    bool   // the id is a word that people say as it is
	primary  bool
}

// scene is what stands behind an ask, the same for all its phrasings: which
// tools it needs, which things it names, in which state they are, and what the
// person could tell if they were asked.
type scene struct {
	axes   record.Axes
	tools  []*toolSense
	refs   []reference
	values map[string]string // argument name to what the person would say
	clause *clauseSense      // nil where no rule is touched
	state  string            // the entity state of the primary reference, "" without one
}

// stateOf maps a value of the world_state axis, ours or one of the recipe's own
// words, to an entity state; ok is false where it says nothing of an entity.
func stateOf(worldState string) (state string, ok bool) {
	w := strings.ReplaceAll(strings.ToLower(worldState), "_", " ")
	switch {
	case w == "" || w == record.Unspecified:
		return "", false
	case strings.Contains(w, "missing") || strings.Contains(w, "not found") || strings.Contains(w, "absent"):
		return record.EntityMissing, true
	case strings.Contains(w, "already"):
		return record.EntityActedOn, true
	case strings.Contains(w, "duplicate"):
		return record.EntityDuplicate, true
	case strings.Contains(w, "partial"):
		return record.EntityPartial, true
	case strings.Contains(w, "unknown"):
		return record.EntityUnknown, true
	}
	return record.EntityExists, true
}

// sceneOf sets the scene of a point of the grid. Its draws come from a stream
// of the situation, so that phrasings name the same things.
func (p *phrasebook) sceneOf(r *rand.Rand, axes record.Axes, tools []*toolSense) *scene {
	s := &scene{axes: axes, tools: tools, values: map[string]string{}, clause: p.clauses[axes[record.AxisRule]]}
	state, ok := stateOf(axes[record.AxisWorldState])
	for i, tool := range tools {
		p.addReferences(r, s, tool, i == 0, state, ok)
	}
	for _, tool := range tools {
		for _, a := range tool.args {
			if _, seen := s.values[a.name]; !seen && a.kind != argumentReference && !a.structured {
				s.values[a.name] = p.value(r, a, pick(r, p.domain.searches))
			}
		}
	}
	return s
}

func (p *phrasebook) addReferences(r *rand.Rand, s *scene, tool *toolSense, first bool, state string, stated bool) {
	for i, a := range tool.args {
		if a.kind != argumentReference || !a.required && i != tool.primary {
			continue
		}
		if _, seen := s.values[a.name]; seen {
			continue
		}
		ref := reference{argument: a.name, noun: a.noun, named: a.named, state: record.EntityExists}
		if ref.noun == "" {
			ref.noun = tool.object
			ref.named = slices.Contains(namedThings, ref.noun)
		}
		if first && i == tool.primary {
			ref.primary = true
			if stated {
				ref.state = state
				s.state = state
			}
		}
		ref.id = p.idFor(r, a, ref.noun, ref.state)
		s.values[a.name] = ref.id
		s.refs = append(s.refs, ref)
	}
}

// idFor draws an id: a known one where there is one and it may exist, a word of
// the enum, else one minted by the argument's name.
func (p *phrasebook) idFor(r *rand.Rand, a argument, noun, state string) string {
	known := p.known[a.name]
	gone := state == record.EntityMissing || state == record.EntityUnknown
	if !gone {
		if len(known) > 0 {
			return pick(r, known)
		}
		if len(a.enum) > 0 {
			return pick(r, a.enum)
		}
	}
	for range 8 {
		id := mintID(r, noun)
		if !slices.Contains(known, id) && !slices.Contains(a.enum, id) && !p.isKnown[id] {
			return id
		}
	}
	return mintID(r, "") // every name of the table is known: a code is not
}

// primaryRef is the reference that the ask is about, nil where it names none.
func (s *scene) primaryRef() *reference {
	for i := range s.refs {
		if s.refs[i].primary {
			return &s.refs[i]
		}
	}
	if len(s.refs) > 0 {
		return &s.refs[0]
	}
	return nil
}

// maxKnownEntities bounds how many known ids beside its own a task's world
// holds: descriptions name a handful; a policy with a table of ids would make
// every task as long as the table. Convention, untested.
const maxKnownEntities = 64

// world is how the task's world begins: the ask's own things in their states,
// and the ids that tools and policy name, which exist unless the ask says
// otherwise.
func (p *phrasebook) world(s *scene) record.World {
	var w record.World
	taken := map[string]bool{}
	for _, ref := range s.refs {
		w.Entities = append(w.Entities, record.Entity{Argument: ref.argument, ID: ref.id, State: ref.state})
		taken[ref.argument+"\x00"+ref.id] = true
	}
	added := 0
	for _, k := range p.knownIDs {
		if added < maxKnownEntities && !taken[k.Argument+"\x00"+k.ID] {
			w.Entities = append(w.Entities, record.Entity{Argument: k.Argument, ID: k.ID, State: record.EntityExists})
			added++
		}
	}
	return w
}
