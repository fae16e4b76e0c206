package search

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/engine/record"
)

// Numbers of asking a writer.
const (
	// briefsPerCall is how many asks are written in one call: enough that what every
	// call repeats is shared, and few enough that one bad answer costs little.
	// Convention, untested.
	briefsPerCall = 8
	// writerTries is how often an ask is asked for: a refused draft is replaced once,
	// with the reason of the refusal.
	writerTries = 2
	// writerGivesUp is how many calls in a row may fail before the writer is asked no
	// more: each can take as long as its own retries do.
	writerGivesUp = 3
	// maxAskRunes is the longest ask that is taken from a writer: several times the
	// longest that the template writes.
	maxAskRunes = 8000
)

// scribe has a writer other than the template put the asks of one arm into words.
// Without a writer it does nothing.
type scribe struct {
	p      *Planner
	writer Writer
	// kept are the tasks that an earlier part of the run has committed, by situation:
	// their words stand, since a writer may not find the same ones again.
	kept   map[string][]*record.Task
	inRow  int // calls that failed in a row
	report *WriterReport
}

func newScribe(p *Planner) *scribe {
	s := &scribe{p: p, writer: p.in.Writer, report: &p.report.Writer, kept: map[string][]*record.Task{}}
	if s.writer == nil {
		return s
	}
	s.report.Name = s.writer.Name()
	for _, d := range p.in.Stored {
		s.kept[d.Task.SituationID] = append(s.kept[d.Task.SituationID], d.Task)
	}
	return s
}

// commission is a task of a batch that is to be put into other words.
type commission struct {
	at    int // in the batch
	brief Brief
}

// writing is how far the asks of a batch have come.
type writing struct {
	todo, refused []commission
	tries         int
}

// hand notes which tasks of a batch the writer is to write, and takes back the
// words of those that it wrote before.
func (s *scribe) hand(b *batch) {
	if s.writer == nil {
		return
	}
	nth := map[string]int{}
	for i := range b.posed {
		d := &b.posed[i]
		if d.brief == nil || d.posed.Arm != record.ArmLLMGuided {
			continue
		}
		s.report.Asks++
		id := d.posed.Task.SituationID
		if n := nth[id]; n < len(s.kept[id]) {
			s.report.Kept++
			if kept := s.kept[id][n]; kept.Writer != templateName {
				s.report.Written++
				s.replace(b, i, kept)
			}
		} else {
			b.writing.todo = append(b.writing.todo, commission{at: i, brief: s.p.briefOf(*d.brief, d.posed.Task)})
		}
		nth[id]++
	}
}

// write puts the asks of a batch into the writer's words, and keeps the template's
// where it fails, or where what it writes is refused twice. The planner's lock is
// not held while the writer works. False where ctx ended first: what is left of
// the batch is written at the next call.
func (s *scribe) write(ctx context.Context, b *batch) bool {
	w := &b.writing
	for len(w.todo) > 0 && !s.report.GaveUp {
		n := min(briefsPerCall, len(w.todo))
		if !s.call(ctx, b, w.todo[:n]) {
			return false
		}
		w.todo = w.todo[n:]
		if len(w.todo) == 0 && w.tries+1 < writerTries {
			w.todo, w.refused = w.refused, nil
			w.tries++
		}
	}
	return true
}

// call has some asks written together.
func (s *scribe) call(ctx context.Context, b *batch, commissions []commission) bool {
	briefs := make([]Brief, len(commissions))
	for i, e := range commissions {
		briefs[i] = e.brief
		for j := range b.posed {
			if other := b.posed[j].posed.Task; j != e.at && other.SituationID == e.brief.situation {
				briefs[i].Earlier = append(briefs[i].Earlier, other.Ask)
			}
		}
	}
	drafts, err := s.ask(ctx, briefs)
	if ctx.Err() != nil {
		return false
	}
	s.report.Calls++
	if err != nil {
		s.fail(err)
		return true
	}
	s.inRow = 0
	for i, e := range commissions {
		var draft Draft
		if i < len(drafts) {
			draft = drafts[i]
		}
		if why := s.take(b, e, draft); why != "" {
			s.refuse(b, e, why)
		}
	}
	return true
}

// ask lets go of the planner's lock while the writer works. A writer that panics has
// failed.
func (s *scribe) ask(ctx context.Context, briefs []Brief) (drafts []Draft, err error) {
	s.p.mu.Unlock()
	defer func() {
		if fault := recover(); fault != nil {
			drafts, err = nil, fmt.Errorf("the writer panicked: %v", fault)
		}
		s.p.mu.Lock()
	}()
	return s.writer.Write(ctx, briefs)
}

func (s *scribe) fail(err error) {
	s.report.Failed++
	if s.report.FirstError == "" {
		s.report.FirstError = record.Text(err.Error())
	}
	if s.inRow++; s.inRow == writerGivesUp {
		s.report.GaveUp = true
	}
}

func (s *scribe) refuse(b *batch, e commission, why string) {
	if s.report.Refused == nil {
		s.report.Refused = map[string]int{}
	}
	s.report.Refused[why]++
	e.brief.Refused = why
	b.writing.refused = append(b.writing.refused, e)
}

// take makes a draft the task's ask, or says why it cannot be.
func (s *scribe) take(b *batch, e commission, draft Draft) (why string) {
	if why := s.p.book.faultOf(draft.Ask, &e.brief); why != "" {
		return why
	}
	task := *b.posed[e.at].posed.Task
	task.Ask, task.Writer = draft.Ask, s.writer.Name()
	if draft.User != nil {
		task.User = *draft.User
	}
	task.IdentifyUnder(s.p.tools)
	switch {
	case s.p.in.Exclude[task.ID]:
		return "it was exported for training"
	case s.p.seen.equal(&task), s.p.seen.near(&task):
		return "it reads like another ask"
	}
	s.report.Written++
	s.replace(b, e.at, &task)
	return ""
}

func (s *scribe) replace(b *batch, at int, task *record.Task) {
	s.p.seen.forget(b.posed[at].posed.Task)
	s.p.seen.add(task)
	b.posed[at].posed.Task = task
}

// faultOf is what keeps a draft from being an ask, "" where nothing does: it must
// be words of a person, about the things of the brief, and must not say where on
// the grid it stands.
func (p *phrasebook) faultOf(ask record.Text, b *Brief) string {
	text, changed := ask.Clean()
	switch {
	case strings.TrimSpace(text) == "":
		return "it is empty"
	case changed:
		return "it is not text"
	case utf8.RuneCountInString(text) > maxAskRunes:
		return fmt.Sprintf("it is longer than %d characters", maxAskRunes)
	case b.scene.clause != nil && holds(text, b.scene.clause.text):
		return "it quotes the rule"
	}
	for _, id := range b.Names {
		if !mentions(text, id) {
			return "it leaves out an id"
		}
	}
	folded := strings.ToLower(text)
	for _, t := range p.tools {
		if strings.Contains(t.tool.Name, "_") && strings.Contains(folded, strings.ToLower(t.tool.Name)) {
			return "it names a tool"
		}
	}
	for _, axis := range record.AxisNames() {
		if label(folded, axis) || label(folded, b.scene.axes[axis]) {
			return "it says where on the grid it stands"
		}
	}
	return ""
}

// label says whether a text holds a word of the grid that no person would say: one
// with an underscore in it, or a name for a kind of person or state.
func label(folded, word string) bool {
	unsaid := strings.Contains(word, "_") || slices.Contains([]string{"adversarial", "exploratory", record.Unspecified}, word)
	return unsaid && mentions(folded, strings.ToLower(word))
}

// warnings say what came of the writer.
func (r *WriterReport) warnings() []record.Warning {
	var out []record.Warning
	if r.Failed > 0 {
		text := fmt.Sprintf("the writer %s failed in %d of %d calls (the first: %s)", r.Name, r.Failed, r.Calls, r.FirstError)
		if r.GaveUp {
			text += ", and was asked no more"
		}
		out = append(out, record.Warning{Code: "writer_failed", Text: text + fmt.Sprintf("; %d of %d asks are the template's", r.Asks-r.Written, r.Asks),
			Fix: "see that the writer's endpoint answers, or write simulate.writer: template"})
	}
	if refused := r.refusals(); refused != "" {
		out = append(out, record.Warning{Code: "writer_refused", Text: fmt.Sprintf("drafts of the writer %s were refused: %s; %d of %d asks are the template's", r.Name, refused, r.Asks-r.Written, r.Asks),
			Fix: "read the asks; a stronger writer is refused less"})
	}
	return out
}

// refusals are the reasons, each with its count, in their order.
func (r *WriterReport) refusals() string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(r.Refused)) {
		parts = append(parts, fmt.Sprintf("%d because %s", r.Refused[why], why))
	}
	return strings.Join(parts, ", ")
}
