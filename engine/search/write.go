package search

import (
	"math/rand/v2"
	"slices"
	"strings"

	"assay/engine/record"
)

// KnownID is an id that stands in a tool's schema, a policy or a given ask.
// Argument is the tool argument that takes it, "" where that is not said.
type KnownID struct{ Argument, ID string }

// phrasebook is the template writer: all that it needs to put any situation of
// one set of tools and one policy into words. It is read-only once made.
type phrasebook struct {
	tools        []toolSense
	byName       map[string]*toolSense
	clauses      map[string]*clauseSense
	domain       *domain
	manners      []manner
	stances      map[string]bank
	frames       map[string][]string
	worlds       map[string]bank
	histories    map[string]bank
	touches      map[touchKey][]string
	shortTouches map[touchKey][]string
	errands      []errand
	knownIDs     []KnownID
	known        map[string][]string // by argument name
	isKnown      map[string]bool
}

func newPhrasebook(tools []record.Tool, references map[string][]string, rules []string, known []KnownID) *phrasebook {
	p := &phrasebook{
		tools: make([]toolSense, len(tools)), byName: map[string]*toolSense{}, clauses: clausesOf(rules), manners: manners(),
		stances: stanceBanks(), frames: stanceFrames(), worlds: worldBanks(), histories: historyBanks(), touches: touches(), shortTouches: shortTouches(),
		knownIDs: known, known: map[string][]string{}, isKnown: map[string]bool{},
	}
	for i, t := range tools {
		p.tools[i] = senseOf(t, references[t.Name])
		p.byName[t.Name] = &p.tools[i]
	}
	p.domain = domainOf(p.tools)
	p.errands = errandsBeside(p.tools)
	for _, k := range known {
		p.known[k.Argument] = append(p.known[k.Argument], k.ID)
		p.isKnown[k.ID] = true
	}
	return p
}

// wording is what the writer makes of a scene.
type wording struct {
	ask  record.Text
	user record.User
}

// write puts a scene into the words of one person. Texture asks for more
// background than most people give.
func (p *phrasebook) write(r *rand.Rand, s *scene, texture bool) wording {
	m := &p.manners[r.IntN(len(p.manners))]
	in := p.small(r)
	request, want := p.request(r, s, m)
	lines := p.around(r, s, m, request, texture)
	for i := range lines {
		lines[i] = fill(lines[i], in)
	}
	ask := p.say(r, m, lines)
	if c := s.clause; c != nil && holds(ask, c.text) {
		// the clause is so short that the line is the clause: ask about its topic instead
		bare := *s
		bare.clause = &clauseSense{text: c.text, topic: c.topic, kind: clauseFact}
		lines = p.around(r, &bare, m, request, texture)
		for i := range lines {
			lines[i] = fill(lines[i], in)
		}
		ask = p.say(r, m, lines)
	}
	return wording{ask: record.Text(ask), user: p.user(r, s, m, want, in)}
}

// holds says whether an ask holds a clause word for word.
func holds(ask, clause string) bool {
	return strings.Contains(strings.ToLower(ask), strings.ToLower(strings.TrimRight(clause, ".!")))
}

// small is the small talk of one person: the same other, role and place all
// through the ask.
func (p *phrasebook) small(r *rand.Rand) map[string]string {
	other := pick(r, p.domain.others)
	return map[string]string{
		"role": pick(r, p.domain.roles), "other": other, "Other": capital(other), "place": pick(r, p.domain.places),
		"deadline": pick(r, p.domain.deadlines), "source": p.domain.source, "reason": pick(r, p.domain.reasons),
	}
}

// request is the sentence that asks, and what the person wants in a few words.
func (p *phrasebook) request(r *rand.Rand, s *scene, m *manner) (sentence, want string) {
	stance := s.axes[record.AxisStance]
	if len(s.tools) == 0 {
		e := p.errands[r.IntN(len(p.errands))]
		return p.frameErrand(r, e, stance, m.short), e.do
	}
	a, full := p.acts(r, s, stance)
	frames := p.frames[stance]
	switch {
	case frames != nil && !m.short:
	case m.short && stance != "ambiguous":
		frames = terseFrames
	case frames == nil:
		frames = requestFrames
	}
	if a.ask != "" && frames != nil && (p.frames[stance] == nil) && chance(r, 35) {
		return a.ask, full
	}
	return fill(pick(r, frames), map[string]string{
		"give": a.give, "Give": capital(a.give), "giving": gerund(a.give), "do": a.do, "vague": a.give,
	}), full
}

// acts puts the work of the scene's one or two tools into one phrase. An
// ambiguous ask leaves the things unnamed; what is wanted is always named.
func (p *phrasebook) acts(r *rand.Rand, s *scene, stance string) (act, string) {
	how := namedFully
	if stance == "ambiguous" {
		how = namedVaguely
	}
	first := p.actOf(r, s, s.tools[0], how)
	full := first.do
	if how == namedVaguely {
		full = p.actOf(r, s, s.tools[0], namedFully).do
		if chance(r, 40) {
			first.give, first.do = p.vagueAct(r, s, s.tools[0]), ""
		}
	}
	if len(s.tools) == 1 {
		return first, full
	}
	next := how
	if a, b := s.tools[0], s.tools[1]; a.primary >= 0 && b.primary >= 0 && a.args[a.primary].name == b.args[b.primary].name {
		next = namedBefore
	}
	second := p.actOf(r, s, s.tools[1], next)
	link := pick(r, []string{" and then ", ", and after that ", " and ", ", then "})
	full += link + p.actOf(r, s, s.tools[1], max(next, namedFully)).do
	return act{do: first.do + link + second.do, give: first.give + link + second.give}, full
}

// vagueAct does not even say what is to be done.
func (p *phrasebook) vagueAct(r *rand.Rand, s *scene, tool *toolSense) string {
	thing := "it"
	if ref := s.primaryRef(); ref != nil {
		thing = p.refPhrase(r, ref, namedVaguely)
	} else if tool.object != "" {
		thing = "the " + tool.object + " thing"
	}
	if tool.verb.class == verbContact {
		return pick(r, []string{"get someone on this", "let the right person know", "get somebody to look at this", "call for help"})
	}
	if tool.writes() {
		return pick(r, []string{"sort out ", "deal with ", "take care of ", "do something about ", "fix "}) + thing
	}
	return pick(r, []string{"have a look at ", "tell me about ", "see what's up with ", "check on "}) + thing
}

// oneMention leaves out the lines that name the other person again where one of
// the chosen does: a person who was brought in is not brought in twice.
func oneMention(lines []string, chosen ...[]string) []string {
	names := func(line string) bool { return strings.Contains(line, "{other}") || strings.Contains(line, "{Other}") }
	if !slices.ContainsFunc(slices.Concat(chosen...), names) {
		return lines
	}
	kept := slices.DeleteFunc(slices.Clone(lines), names)
	if len(kept) == 0 {
		return lines
	}
	return kept
}

// around puts the lines that show stance, state, history and rule around the
// request.
func (p *phrasebook) around(r *rand.Rand, s *scene, m *manner, request string, texture bool) []string {
	var before, after []string
	place := func(b bank, percent int) {
		if b.size() == 0 || !chance(r, percent) {
			return
		}
		switch {
		case m.short && len(b.short) > 0:
			after = append(after, pick(r, oneMention(b.short, before, after)))
		case len(b.before) > 0 && len(before) == 0 && (len(b.after) == 0 || chance(r, 50)):
			before = append(before, pick(r, oneMention(b.before, after)))
		default:
			after = append(after, pick(r, oneMention(b.after, before, after)))
		}
	}
	history, stance := s.axes[record.AxisHistory], s.axes[record.AxisStance]
	if history != "fresh" || stance != "retry" && stance != "mistaken" {
		place(p.histories[history], shown(history == "fresh"))
	}
	place(p.stances[stance], 100)
	if s.state != "" {
		place(p.worlds[s.state], shown(s.state == record.EntityExists))
	}
	if why := p.why(r, s); why != "" && !m.short && stance != "exploratory" {
		after = append(after, why)
	}
	r.Shuffle(len(after), func(i, j int) { after[i], after[j] = after[j], after[i] })
	if line := p.touch(r, s, m.short); line != "" {
		after = slices.Insert(after, max(0, len(after)-r.IntN(2)), p.aside(r, line, m))
	}
	return slices.Concat(p.background(r, m, texture), before, []string{request}, after)
}

// shown is how often a line is written for a value: always, except that people
// rarely remark on what is as it should be.
func shown(usual bool) int {
	if usual {
		return 30
	}
	return 100
}

func (p *phrasebook) aside(r *rand.Rand, line string, m *manner) string {
	if m.short || linked(line) || strings.Contains(line, " as well") || strings.Contains(line, "also ") || m.name == "methodical" || chance(r, 60) {
		return line
	}
	return pick(r, []string{"Also, ", "By the way, ", "One more thing: ", "And "}) + uncapital(line)
}

func (p *phrasebook) background(r *rand.Rand, m *manner, texture bool) []string {
	lines := 0
	if chance(r, m.contexts) {
		lines++
	}
	if texture && !m.short {
		lines++
	}
	var out []string
	for range lines {
		if line := pick(r, p.domain.contexts); !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// why gives the reason of a change, now and then; who is not asked keeps it to
// themselves.
func (p *phrasebook) why(r *rand.Rand, s *scene) string {
	if len(s.tools) == 0 || !s.tools[0].writes() || !chance(r, 35) {
		return ""
	}
	reason := pick(r, p.domain.reasons)
	for _, a := range s.tools[0].args {
		if a.kind == argumentText && (a.name == "reason" || strings.HasSuffix(a.name, "_reason")) && len(a.enum) == 0 {
			reason = s.values[a.name]
		}
	}
	return fill(pick(r, []string{"The reason: {reason}.", "It's because {reason}.", "{Reason}.", "Why? Because {reason}."}), map[string]string{"reason": reason, "Reason": capital(reason)})
}

// say puts the lines into a person's manner, with their hello and goodbye.
func (p *phrasebook) say(r *rand.Rand, m *manner, lines []string) string {
	all := slices.Clone(lines)
	if len(m.openers) > 0 && chance(r, m.opening) {
		all = append([]string{pick(r, m.openers)}, all...)
	} else {
		all[0] = capital(all[0])
	}
	if len(m.closers) > 0 && chance(r, m.closing) {
		all = append(all, pick(r, m.closers))
	}
	return unmark.Replace(m.voice(r, all))
}
