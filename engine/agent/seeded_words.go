package agent

import "strings"

// token is one word of a text: as it was written, and lower-cased with nothing
// but letters, digits and what joins them.
type token struct {
	raw, lower string
	sentence   int
	last       bool // of its sentence
}

// tokenize cuts a text at white space, and sentences at their marks and at line
// ends.
func tokenize(text string) []token {
	out := make([]token, 0, len(text)/5+1)
	sentence := 0
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\n':
			sentence++
			i++
			continue
		case c <= ' ':
			i++
			continue
		}
		start := i
		for i < len(text) && text[i] > ' ' {
			i++
		}
		first, last := start, i
		for first < last && strings.IndexByte("\"'([{<*`-", text[first]) >= 0 {
			first++
		}
		var ends, pauses bool
		for last > first && strings.IndexByte("\"')]}>*`.,!?;:-", text[last-1]) >= 0 {
			last--
			switch text[last] {
			case '.', '!', '?', ';':
				ends = true
			case ',', ':', ')', '"':
				pauses = true
			}
		}
		if raw := text[first:last]; raw != "" {
			out = append(out, token{raw: raw, lower: lower(raw), sentence: sentence, last: ends || pauses})
		}
		if ends {
			sentence++
		}
	}
	return out
}

// signs are pieces of what people say, found by their first word.
type signs map[string][][]string

func signsOf(pieces ...string) signs {
	s := signs{}
	for _, p := range pieces {
		words := strings.Fields(p)
		s[words[0]] = append(s[words[0]], words[1:])
	}
	return s
}

// in reports whether one of the pieces stands in the words.
func (s signs) in(words []token) bool {
	for i := range words {
		for _, rest := range s[words[i].lower] {
			if follows(words[i+1:], rest) {
				return true
			}
		}
	}
	return false
}

// lower is strings.ToLower without an allocation for what is lower already.
func lower(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 'A' && c <= 'Z' || c >= 0x80 {
			return strings.ToLower(strings.ReplaceAll(s, "’", "'"))
		}
	}
	return s
}

// nameWords are the words of a name in snake, kebab or camel case.
func nameWords(name string) []string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c == '_' || c == '-' || c == '.' || c == '/' || c == ' ' || c == ':':
			b.WriteByte(' ')
		case c >= 'A' && c <= 'Z':
			if i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
				b.WriteByte(' ')
			}
			b.WriteByte(c + 'a' - 'A')
		default:
			b.WriteByte(c)
		}
	}
	return strings.Fields(b.String())
}

// singular takes the plural's s off a word.
func singular(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		return w[:len(w)-1]
	}
	return w
}

// family is a kind of action: the words that tool names have for it, and those
// that people have. A word of people stands for its other forms too, where they
// are regular (restart, restarts, restarting, restarted).
type family struct {
	names   string
	phrases string // parted by commas
	past    string // "" is regular
}

// families are the kinds of action. The first is looking things up, whose words
// say little: there the object decides.
var families = []family{
	{names: "get fetch read lookup look retrieve show view describe check list search find query track inspect load display verify validate browse", phrases: "get, look up, pull up, check, see, go over, look at, open, show, find, tell, bring up, read, list, search, look for, verify, track, go through, what does, what is", past: "looked up"},
	{names: "restart reboot reset bounce", phrases: "restart, reboot, reset, bounce, kick"},
	{names: "page notify alert message call contact email ask send forward", phrases: "page, get hold of, wake up, call in, notify, let know, alert, warn, write to, get in touch, message, ring, send, contact, email"},
	{names: "escalate transfer handoff", phrases: "escalate, bring in, transfer, get through to, talk to, put through to, hand over"},
	{names: "cancel void", phrases: "cancel, call off, get out of, void"},
	{names: "delete remove purge drop destroy erase wipe", phrases: "delete, remove, get rid of, wipe, purge, clear out, drop, tear down, destroy, take out, erase"},
	{names: "terminate kill stop close shut archive disable revoke suspend block freeze lock", phrases: "terminate, shut down, kill, stop, halt, close, shut, archive, disable, switch off, turn off, revoke, take away, suspend, put on hold, block, freeze, lock"},
	{names: "create add make new insert register open file raise log submit generate draft write post place", phrases: "create, set up, put in, add, make, register, sign up, open, file, raise, note down, submit, send off, generate, produce, draft, write up, post, put up, place"},
	{names: "book reserve schedule order", phrases: "book, reserve, schedule, order, set up"},
	{names: "update modify change edit set adjust patch rename move reschedule assign upgrade downgrade extend renew", phrases: "update, modify, change, edit, set, adjust, fix, rename, move, shift, reschedule, assign, upgrade, bump up, downgrade, extend, prolong, renew"},
	{names: "refund return reimburse credit", phrases: "refund, get money back, get the money back, return, send back, reimburse, credit"},
	{names: "pay charge bill", phrases: "pay, settle, charge, bill", past: "paid"},
	{names: "exchange replace swap", phrases: "exchange, swap, replace"},
	{names: "deploy rollout ship release launch start run execute trigger scale enable activate unlock resume", phrases: "deploy, ship, roll out, launch, start, run, kick off, execute, trigger, scale, enable, switch on, turn on, activate, unlock, bring up, resume"},
	{names: "rollback revert undo restore", phrases: "roll back, revert, undo, restore, bring back"},
	{names: "approve reject grant acknowledge resolve confirm", phrases: "approve, sign off, wave through, reject, turn down, grant, acknowledge, ack, resolve, close out"},
	{names: "calculate compute convert estimate count", phrases: "calculate, work out, figure out, compute, convert, estimate, count"},
}

const looking = 0 // the index of the family that looks things up

// phrase is one way to say an action.
type phrase struct {
	rest   []string // the words behind the first
	family int
}

// phrasebook finds phrases by their first word.
var phrasebook = makePhrasebook()

func makePhrasebook() map[string][]phrase {
	book := map[string][]phrase{}
	for i, f := range families {
		for _, p := range strings.Split(f.phrases, ",") {
			words := strings.Fields(p)
			for _, form := range forms(words[0]) {
				book[form] = append(book[form], phrase{words[1:], i})
			}
		}
	}
	for word, list := range book { // longer ones first: "get hold of" before "get"
		for i := 1; i < len(list); i++ {
			for j := i; j > 0 && len(list[j].rest) > len(list[j-1].rest); j-- {
				list[j], list[j-1] = list[j-1], list[j]
			}
		}
		book[word] = list
	}
	return book
}

// forms are a verb's regular forms: run itself, -s, -ing, -ed, -e dropped.
func forms(verb string) []string {
	stem := strings.TrimSuffix(verb, "e")
	return []string{verb, verb + "s", stem + "ing", stem + "ed"}
}

// pastOf is a verb's past participle, with the irregular ones that tool names
// use.
func pastOf(verb string, f family) string {
	if f.past != "" {
		return f.past
	}
	switch verb {
	case "send":
		return "sent"
	case "set", "put", "shut":
		return verb
	case "make":
		return "made"
	case "write":
		return "written"
	case "run":
		return "run"
	case "stop", "drop", "ship", "swap":
		return verb + verb[len(verb)-1:] + "ed"
	case "cancel":
		return "cancelled"
	case "transfer":
		return "transferred"
	case "notify", "modify":
		return verb[:len(verb)-1] + "ied"
	case "file", "page":
		return verb + "d"
	case "undo":
		return "undone"
	case "rollback":
		return "rolled back"
	case "bill", "kill":
		return verb + "ed"
	}
	if strings.HasSuffix(verb, "e") {
		return verb + "d"
	}
	return verb + "ed"
}

// common are the words that are never the name of a thing.
var common = wordsOf(`a about above across actually after again all already also always am an and another any anybody anyone anything anyway are around as at away back be because
	been before begin behind being below between both but by call came can cannot case check come could day days dear did different do does doing done down each early earlier either
	else enough ever every everything far few find first for from get give go goes going gone good got had half hand happen hard has have having he hello help her here hey hi him his
	hope hour how however i i'd i'll i'm i've if in instead into is isn't it it's its just keep kind know last later least leave less let like likely little long look lot made make
	many matter may maybe me mean might mine minute minutes more most much must my need needs never new next night no nobody none nor not note nothing now of off often oh ok okay old
	on once one ones only open or other others our ours out over own part people perhaps person place please point possible quick quite rather read really right said same saw say see
	seen several shall she should show side since so some somebody someone something soon sorry sort still stop straight such sure take tell than thank thanks that that's the their
	them then there these they thing things think this those though through time to today together told tomorrow tonight too took tried try turn two under until up upon us use usual
	very want was way we we'll we're we've well went were what what's whatever when where whether which while who whole why will with within without won't word work worked would wrong
	yes yesterday yet you you'd you'll you're you've your yours is'nt don't dont didn't doesn't can't couldn't asap pls thx ty cheers yeah yep nope nah um uh right-away follow-up
	on-call second-hand double-check re-run e-mail so-called half-way well-known somewhere notes hold mentioned morning wrote send looking got lost question believe course happy refer message stated provided`)

func wordsOf(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}
