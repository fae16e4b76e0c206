package search

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"

	"assay/engine/record"
)

// parent is a task whose rollout is worth going near.
type parent struct {
	pose
	aim     string
	novelty int
	used    int
}

// mutantSource rewrites the asks of rollouts that failed, or that a fault of the
// world struck.
type mutantSource struct {
	h       *hunt
	parents []*parent
	index   map[string]*parent // by situation
	queue   []*parent
	aims    map[string]int // mutations posed by aim
}

// wants reports whether a task is to be offered as a parent: of one situation the
// first rollout that is worth going near counts, and a failure rather than a
// fault of the world. Novelty is asked of those alone, for it costs most.
func (m *mutantSource) wants(posed pose, aim string) bool {
	known := m.index[posed.task.SituationID]
	return known == nil || known.aim != aimFailure && aim == aimFailure
}

// offer adds a parent, or says more of the one that is there.
func (m *mutantSource) offer(candidate parent) {
	if known := m.index[candidate.task.SituationID]; known != nil {
		known.aim, known.novelty = candidate.aim, max(known.novelty, candidate.novelty)
		return
	}
	m.index[candidate.task.SituationID] = &candidate
	m.parents = append(m.parents, &candidate)
}

// aim queues the parents: the least used first, failures before faults, the more
// novel behaviour first, then by hash.
func (m *mutantSource) aim() {
	m.queue = slices.Clone(m.parents)
	slices.SortStableFunc(m.queue, func(a, b *parent) int {
		return cmp.Or(cmp.Compare(a.used, b.used), cmp.Compare(a.aim, b.aim), cmp.Compare(b.novelty, a.novelty), cmp.Compare(a.task.SituationID, b.task.SituationID))
	})
}

func (m *mutantSource) next() (*situation, bool) {
	if len(m.queue) == 0 {
		return nil, false
	}
	from := m.queue[0]
	m.queue = m.queue[1:]
	p := m.h.p
	turn := from.used
	from.used++
	first := p.book.mutate(record.Stream("wording", p.in.Seed, from.task.SituationID, "mutation", turn), from.task)
	id := record.AskSituationID(first.ask, from.task.SituationID)
	s := &situation{from: m, arm: record.ArmFailureMutation, id: id, key: from.key, heldOut: from.heldOut, aim: from.aim}
	s.task = func(phrasing int) (*record.Task, *Brief) {
		w := first
		if phrasing > 0 {
			w = p.book.mutate(record.Stream("wording", p.in.Seed, id, phrasing), from.task)
		}
		task := &record.Task{
			SituationID: id, Origin: record.OriginMutated, Parent: from.task.SituationID, Fault: from.task.Fault, World: from.task.World,
			Ask: w.ask, User: w.user, Tools: p.in.Tools, Reference: from.task.Reference, Writer: templateName,
		}
		task.IdentifyUnder(p.tools)
		return task, nil
	}
	return s, true
}

func (m *mutantSource) took(s *situation) { m.aims[s.aim]++ }

// mutate rewrites an ask so that the same person asks for the same things under
// another pressure: a line more before or after, a line less that names nothing.
func (p *phrasebook) mutate(r *rand.Rand, task *record.Task) wording {
	w := wording{user: task.User}
	in := p.small(r)
	say := func(line string) string {
		line = fill(line, in)
		if m := p.mannerOf(task.User.Manner); m != nil {
			line = m.voice(r, []string{line})
		}
		return unmark.Replace(line)
	}
	sentences := sentencesOf(string(task.Ask))
	if len(sentences) > 3 && chance(r, 40) {
		drop := 1 + r.IntN(len(sentences)-2)
		if !carriesID(sentences[drop], task) {
			sentences = slices.Delete(sentences, drop, drop+1)
		}
	}
	stance := pick(r, []string{"adversarial", "hurried", "mistaken", "boundary", "retry", "unsure"})
	b := p.stances[stance]
	if len(b.before) > 0 && chance(r, 50) {
		sentences = append([]string{say(strings.TrimSuffix(pick(r, b.before), ","))}, sentences...)
	} else {
		sentences = append(sentences, say(pick(r, b.after)))
	}
	if chance(r, 50) {
		sentences = append(sentences, say(pick(r, p.domain.contexts)))
	}
	w.ask = record.Text(strings.Join(sentences, " "))
	w.user.Insists = slices.Clone(task.User.Insists)
	for _, line := range p.insists(r, &scene{}, stance) {
		w.user.Insists = append(w.user.Insists, record.Text(say(line)))
	}
	if stance == "hurried" {
		w.user.Patience = hurriedPatience
	}
	return w
}

func (p *phrasebook) mannerOf(name string) *manner {
	i := slices.IndexFunc(p.manners, func(m manner) bool { return m.name == name })
	if i < 0 {
		return nil // a given user writes as they write
	}
	return &p.manners[i]
}

func carriesID(sentence string, task *record.Task) bool {
	return slices.ContainsFunc(task.World.Entities, func(e record.Entity) bool { return mentions(sentence, e.ID) })
}

// sentencesOf cuts an ask after full stops, question and exclamation marks.
func sentencesOf(ask string) []string {
	var out []string
	start := 0
	for i := 0; i+1 < len(ask); i++ {
		if strings.IndexByte(".?!", ask[i]) >= 0 && ask[i+1] == ' ' {
			out = append(out, strings.TrimSpace(ask[start:i+1]))
			start = i + 1
		}
	}
	if rest := strings.TrimSpace(ask[start:]); rest != "" {
		out = append(out, rest)
	}
	return out
}
