package rollout

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"assay/engine/record"
)

// Person is the user of a task in one conversation. It is used by one goroutine
// and forgotten afterwards.
type Person interface {
	// Answer is what they say to a reply, or how the conversation ended for them.
	// history is the conversation before the reply, the ask first; it is not to be
	// written to. An error costs the rollout, with the cause user.
	Answer(ctx context.Context, history []record.Step, reply record.Text) (Answer, error)
}

// Answer is a person's side after one reply: EndedBy is "" where they go on with
// Text, else one of the EndedBy words of package record.
type Answer struct {
	Text    record.Text
	EndedBy string
}

// UserScripted is the kind of user that [Scripted] plays.
const UserScripted = "scripted"

// DefaultPatience is how many replies that bring them no further a person bears
// where the task does not say. Convention, untested: once is a slip, three times
// is being sent round in circles.
const DefaultPatience = 3

// Scripted is a person that needs no model. They answer what they are asked from
// what they know, say yes or no when asked to confirm, come back with what they
// insist on when the agent believes it is done, and leave when replies that
// bring them no further exceed their patience.
//
// What they say depends on the user, the draws and the replies alone.
type Scripted struct {
	user   record.User
	draws  *rand.Rand
	voice  *voice
	topics []topic // what they know, by name

	told      map[string]bool
	insisted  int
	stated    bool // what they want, once more
	agreed    bool
	declined  bool
	fruitless int
	last      record.Text
}

// topic is one thing that a person knows.
type topic struct {
	name  string
	label string   // as a person says it
	words []string // of which a question must have one
	value record.Text
}

// NewScripted is the person of a task at the beginning of a conversation. draws
// choose among wordings.
func NewScripted(user record.User, draws *rand.Rand) *Scripted {
	return &Scripted{user: user, draws: draws, voice: voiceOf(user.Manner)}
}

// Answer implements [Person]; it never fails.
func (p *Scripted) Answer(_ context.Context, _ []record.Step, reply record.Text) (Answer, error) {
	text, further := p.respond(reply)
	p.last = reply
	if text == "" {
		return Answer{EndedBy: p.ending()}, nil
	}
	if !further {
		if p.fruitless++; p.fruitless > p.patience() {
			return Answer{EndedBy: record.EndedByUserLeft}, nil
		}
	}
	return Answer{Text: text}, nil
}

func (p *Scripted) patience() int {
	if p.user.Patience > 0 {
		return p.user.Patience
	}
	return DefaultPatience
}

// ending is how a conversation ends for a person who has nothing more to say.
func (p *Scripted) ending() string {
	if p.insisted > 0 || p.declined {
		return record.EndedByUser
	}
	return record.EndedByAgent
}

// respond is what they say to a reply, "" for nothing, and whether the reply
// brought them further.
func (p *Scripted) respond(reply record.Text) (text record.Text, further bool) {
	if strings.TrimSpace(string(reply)) == "" {
		return p.say(p.voice.nothing), false
	}
	repeated := reply == p.last
	read := readReply(string(reply))
	switch {
	case read.confirms && !p.asksFor(read):
		text, further = p.confirm()
	case read.asks:
		text, further = p.tell(read)
	case p.insisted < len(p.user.Insists):
		p.insisted++
		text, further = p.user.Insists[p.insisted-1], true
	default:
		return "", true
	}
	return text, further && !repeated
}

// asksFor reports whether a request to confirm is one for something they know
// and have not said: "confirm your order number" is no yes-or-no question.
func (p *Scripted) asksFor(read replyReading) bool {
	return read.confirmsValue && len(p.wanted(read)) > 0
}

// confirm says yes or no. Asked again they say it again, and are no further.
func (p *Scripted) confirm() (text record.Text, further bool) {
	switch {
	case !p.user.Confirms:
		further, p.declined = !p.declined, true
		return p.say(p.voice.no), further
	case p.agreed:
		return p.say(p.voice.yesAgain), false
	}
	p.agreed = true
	return p.say(p.voice.yes), true
}

// tell answers a question from what they know: what it names, or all that is
// left where it names nothing, or what they are after.
func (p *Scripted) tell(read replyReading) (text record.Text, further bool) {
	wanted := p.wanted(read)
	if len(wanted) == 0 && read.open {
		wanted = p.untold()
	}
	var fresh, stale []topic
	for _, t := range wanted {
		if p.told[t.name] {
			stale = append(stale, t)
		} else {
			fresh = append(fresh, t)
		}
	}
	switch {
	case len(fresh) > 0:
		if p.told == nil {
			p.told = map[string]bool{}
		}
		parts := make([]string, len(fresh))
		for i, t := range fresh {
			p.told[t.name] = true
			parts[i] = p.fill(p.voice.tell, t)
		}
		return record.Text(strings.Join(parts, " ")), true
	case len(stale) > 0:
		return record.Text(p.fill(p.voice.toldBefore, stale[0])), false
	}
	if read.open && !p.stated && p.user.Wants != "" {
		p.stated = true
		return p.user.Wants, true
	}
	return p.say(p.voice.unknown), false
}

// knows lists what they can tell, in the order of the names.
func (p *Scripted) knows() []topic {
	if p.topics == nil && len(p.user.Knows) > 0 {
		for _, name := range slices.Sorted(maps.Keys(p.user.Knows)) {
			words := record.NameWords(name)
			t := topic{name: name, label: strings.Join(words, " "), words: askWords(words), value: p.user.Knows[name]}
			p.topics = append(p.topics, t)
		}
	}
	return p.topics
}

// askWords are the words that a question about a thing has: those that say what
// it is, not that it is an id.
func askWords(words []string) []string {
	var out []string
	for _, w := range words {
		switch w {
		case "id", "number", "code", "reference", "ref", "key", "name", "new", "old":
		default:
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return words
	}
	return out[len(out)-1:]
}

// wanted is what a reply's questions name of what they know.
func (p *Scripted) wanted(read replyReading) []topic {
	var out []topic
	for _, t := range p.knows() {
		if slices.ContainsFunc(t.words, func(w string) bool { return hasWord(read.questions, w) }) {
			out = append(out, t)
		}
	}
	return out
}

func (p *Scripted) untold() []topic {
	var out []topic
	for _, t := range p.knows() {
		if !p.told[t.name] {
			out = append(out, t)
		}
	}
	return out
}

func (p *Scripted) say(wordings []string) record.Text {
	return record.Text(wordings[p.draws.IntN(len(wordings))])
}

// fill puts a thing they know into a wording. The value stays as it is, whatever
// the manner.
func (p *Scripted) fill(wordings []string, t topic) string {
	before, after, _ := strings.Cut(string(p.say(wordings)), "{value}")
	return strings.ReplaceAll(before, "{label}", t.label) + string(t.value) + strings.ReplaceAll(after, "{label}", t.label)
}
