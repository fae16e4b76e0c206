package search

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/record"
)

func oncallBook() *phrasebook { return newPhrasebook(oncallTools(), nil, oncallRules, nil) }
func airlineBook() *phrasebook {
	return newPhrasebook(airlineTools(), nil, airlineRules, nil)
}

// plainOnly is a phrasebook of people who write plainly, so that their lines can
// be read back.
func plainOnly(p *phrasebook) *phrasebook {
	q := *p
	q.manners = p.manners[:1]
	return &q
}

func axesOf(tool, rule, stance, state, history string) record.Axes {
	return record.Axes{record.AxisTool: tool, record.AxisRule: rule, record.AxisStance: stance, record.AxisWorldState: state, record.AxisToolCondition: record.ConditionSuccess, record.AxisHistory: history}
}

func (p *phrasebook) writeFor(axes record.Axes, n int) (*scene, wording) {
	var tools []*toolSense
	switch name := axes[record.AxisTool]; name {
	case record.ToolMulti:
		tools = []*toolSense{&p.tools[n%len(p.tools)], &p.tools[(n+1)%len(p.tools)]}
	case record.ToolUnrelated:
	default:
		tools = []*toolSense{p.byName[name]}
	}
	s := p.sceneOf(record.Stream("test scene", n), axes, tools)
	return s, p.write(record.Stream("test", n), s, n%2 == 0)
}

func drawAxes(t *rapid.T, tools []record.Tool, rules []string) record.Axes {
	names := []string{record.ToolUnrelated, record.ToolMulti}
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return axesOf(rapid.SampledFrom(names).Draw(t, "tool"), rapid.SampledFrom(rules).Draw(t, "rule"), rapid.SampledFrom(allStances).Draw(t, "stance"),
		rapid.SampledFrom(allStates).Draw(t, "state"), rapid.SampledFrom(allHistories).Draw(t, "history"))
}

// No ask says where on the grid it stands: neither a value of an axis nor the
// name of a tool nor a whole clause.
func TestNoLabelInAnAsk(t *testing.T) {
	labels := slices.Concat(allStances, record.AxisNames(), []string{
		record.ToolMulti, record.ToolUnrelated, "malformed", "stale_result", "prior_failure", "prior failure", "repeat visit", "repeat_visit", "contradicts", "already_acted", "duplicate",
		"missing", "unspecified", "scenario", "persona",
	})
	for name, book := range map[string]*phrasebook{"oncall": oncallBook(), "airline": airlineBook()} {
		tools, rules := oncallTools(), oncallRules
		if name == "airline" {
			tools, rules = airlineTools(), airlineRules
		}
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			axes := drawAxes(t, tools, rules)
			_, w := book.writeFor(axes, rapid.IntRange(0, 1<<20).Draw(t, "n"))
			said := strings.ToLower(string(w.ask))
			for _, line := range w.user.Insists {
				said += "\n" + strings.ToLower(string(line))
			}
			if strings.ContainsAny(said, "{}\uE000\uE001") {
				t.Fatalf("a template shows: %s", said)
			}
			words := regexp.MustCompile(`\w+`).FindAllString(said, -1)
			for _, label := range labels {
				if slices.Contains(words, label) && label != "tool" && label != "rule" && label != "history" {
					t.Fatalf("%v is asked with the label %q: %s", axes, label, w.ask)
				}
			}
			for _, tool := range tools {
				if strings.Contains(tool.Name, "_") && strings.Contains(said, tool.Name) {
					t.Fatalf("the ask names the tool %s: %s", tool.Name, w.ask)
				}
			}
			if strings.Contains(said, strings.ToLower(axes[record.AxisRule])) {
				t.Fatalf("the ask is the clause: %s", w.ask)
			}
		}))
	}
}

// People name the things they ask about unless they are vague, and can tell them
// when asked; the world knows them in the state that the coordinates say.
func TestAskUserAndWorldAgree(t *testing.T) {
	for name, book := range map[string]*phrasebook{"oncall": oncallBook(), "airline": airlineBook()} {
		tools, rules := oncallTools(), oncallRules
		if name == "airline" {
			tools, rules = airlineTools(), airlineRules
		}
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			axes := drawAxes(t, tools, rules)
			s, w := book.writeFor(axes, rapid.IntRange(0, 1<<20).Draw(t, "n"))
			world := book.world(s)
			if axes[record.AxisTool] == record.ToolUnrelated && (len(s.refs) > 0 || len(w.user.Knows) > 0) {
				t.Fatalf("an unrelated ask is about %v", s.refs)
			}
			state, _ := stateOf(axes[record.AxisWorldState])
			for _, ref := range s.refs {
				want := record.EntityExists
				if ref.primary {
					want = state
				}
				if !slices.Contains(world.Entities, record.Entity{Argument: ref.argument, ID: ref.id, State: want}) {
					t.Fatalf("the world %v does not hold %s in state %s", world.Entities, ref.id, want)
				}
				if string(w.user.Knows[ref.argument]) != ref.id {
					t.Fatalf("the user knows %v, not %s=%s", w.user.Knows, ref.argument, ref.id)
				}
			}
			for _, tool := range s.tools {
				if tool.primary < 0 {
					continue
				}
				id := s.values[tool.args[tool.primary].name]
				named := mentions(string(w.ask), id)
				if vague := axes[record.AxisStance] == "ambiguous"; named == vague && !inClause(s, id) {
					t.Fatalf("%s names %s: %v\n%s", axes[record.AxisStance], id, named, w.ask)
				}
			}
		}))
	}
}

// inClause is true where the rule itself speaks of the id.
func inClause(s *scene, id string) bool {
	return s.clause != nil && mentions(s.clause.text, id)
}

// Each value of an axis that is not the usual one shows in every ask, in at
// least a dozen wordings.
func TestAxisValuesShow(t *testing.T) {
	book := plainOnly(oncallBook())
	check := func(t *testing.T, axes record.Axes, lines []string) {
		t.Helper()
		seen := map[int]bool{}
		patterns := make([]*regexp.Regexp, len(lines))
		for i, line := range lines {
			patterns[i] = pattern(line)
		}
		for n := range 400 {
			if testing.Short() && n >= 100 && len(seen) >= 12 {
				break
			}
			_, w := book.writeFor(axes, n)
			found := false
			for i, p := range patterns {
				if p.MatchString(string(w.ask)) {
					seen[i], found = true, true
				}
			}
			if !found {
				t.Fatalf("nothing in the ask shows it: %s", w.ask)
			}
		}
		if len(seen) < 12 {
			t.Errorf("%d wordings in 400 asks", len(seen))
		}
	}
	rule := "Be concise"
	for _, stance := range allStances[1:] {
		t.Run(stance, func(t *testing.T) {
			b := book.stances[stance]
			check(t, axesOf("restart_service", rule, stance, record.EntityUnknown, "repeat_visit"), slices.Concat(b.before, b.after, book.frames[stance]))
		})
	}
	for _, state := range allStates[1:] {
		t.Run(state, func(t *testing.T) {
			check(t, axesOf("restart_service", rule, "ordinary", state, "repeat_visit"), book.worlds[state].after)
		})
	}
	for _, history := range allHistories[1:] {
		t.Run(history, func(t *testing.T) {
			b := book.histories[history]
			check(t, axesOf("restart_service", rule, "ordinary", record.EntityUnknown, history), append(slices.Clone(b.before), b.after...))
		})
	}
}

var holes = regexp.MustCompile(`\\\{\w+\\\}`)

// pattern finds a template's fixed words, whatever fills it and whatever case it
// begins in.
func pattern(line string) *regexp.Regexp {
	return regexp.MustCompile("(?i)" + holes.ReplaceAllString(regexp.QuoteMeta(strings.Trim(line, ".,")), ".*"))
}

// A dozen wordings at least for every value, also of those that show seldom, and
// for every kind of rule.
func TestADozenWordings(t *testing.T) {
	book := oncallBook()
	count := func(name string, n int) {
		if n < 12 {
			t.Errorf("%s has %d wordings", name, n)
		}
	}
	count("a plain request", len(requestFrames))
	for _, stance := range allStances[1:] {
		count(stance, book.stances[stance].size())
	}
	for _, state := range allStates {
		count(state, book.worlds[state].size())
	}
	for _, history := range allHistories {
		count(history, book.histories[history].size())
	}
	for kind := clauseFact; kind <= clauseWhen; kind++ {
		for tone := toneOpen; tone <= toneEdge; tone++ {
			key := touchKey{kind, tone}
			if len(book.touches[key]) < 6 || len(book.shortTouches[key]) < 3 {
				t.Errorf("rule kind %d in tone %d has %d and %d wordings", kind, tone, len(book.touches[key]), len(book.shortTouches[key]))
			}
		}
		count(fmt.Sprintf("rule kind %d", kind), len(book.touches[touchKey{kind, toneOpen}]))
	}
	count("people", len(manners()))
}

// Every ask comes near its rule: it shares a word that carries the rule's
// meaning.
func TestAsksTouchTheirRule(t *testing.T) {
	for _, c := range []struct {
		book  *phrasebook
		tool  string
		rules []string
	}{{oncallBook(), "page_human", oncallRules}, {airlineBook(), "calculate", airlineRules}} {
		book := plainOnly(c.book)
		for _, rule := range c.rules {
			for n := range 100 {
				axes := axesOf(c.tool, rule, allStances[n%len(allStances)], record.EntityExists, "fresh")
				_, w := book.writeFor(axes, n)
				said := strings.ToLower(string(w.ask))
				if !slices.ContainsFunc(contentWords(rule), func(word string) bool { return strings.Contains(said, word[:4]) }) {
					t.Fatalf("nothing of %q in: %s", rule, w.ask)
				}
			}
		}
	}
}

func TestKnownIDsReachTheAsks(t *testing.T) {
	known := []KnownID{{"service", "payments-api"}, {"service", "ledger"}, {"", "OPS-7"}}
	book := newPhrasebook(oncallTools(), nil, oncallRules, known)
	drawn := map[string]bool{}
	for n := range 60 {
		s, w := book.writeFor(axesOf("restart_service", "Be concise", "ordinary", record.EntityExists, "fresh"), n)
		id := s.primaryRef().id
		if id != "payments-api" && id != "ledger" || !mentions(string(w.ask), id) {
			t.Fatalf("known ids are not drawn: %s", w.ask)
		}
		drawn[id] = true
		s, _ = book.writeFor(axesOf("restart_service", "Be concise", "ordinary", record.EntityMissing, "fresh"), n)
		if id := s.primaryRef().id; id == "payments-api" || id == "ledger" {
			t.Fatalf("%s is known, and said to be missing", id)
		}
		for _, e := range book.world(s).Entities {
			if e.ID == "payments-api" && e.State != record.EntityExists {
				t.Fatalf("known id in state %s", e.State)
			}
		}
	}
	if len(drawn) != 2 {
		t.Errorf("only %v were drawn", drawn)
	}
}

func TestGivenAskNamesItsWorld(t *testing.T) {
	book := newPhrasebook(append(oncallTools(), airlineTools()...), nil, nil, []KnownID{{"service", "payments-api"}})
	for ask, want := range map[string][]string{
		"The billing service is down, please restart it.":          {"billing"},
		"Please look at payments-api again.":                       {"payments-api"},
		"Cancel reservation ZFA04Y and refund order number 48213.": {"ZFA04Y", "48213"},
		"My service is down. Which team should I call?":            nil,
		"Page the data-infra team.":                                {"data-infra"},
	} {
		var got []string
		for _, e := range book.worldOfAsk(ask).Entities {
			if e.State != record.EntityExists {
				t.Errorf("%q: %s is %s", ask, e.ID, e.State)
			}
			got = append(got, e.ID)
		}
		slices.Sort(got)
		got = slices.Compact(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q names %v, want %v", ask, got, want)
		}
	}
}

func TestOpenEndedKinds(t *testing.T) {
	for name, tools := range map[string][]record.Tool{"oncall": oncallTools(), "airline": airlineTools(), "none": nil} {
		book := newPhrasebook(tools, nil, nil, nil)
		asks := map[record.Text]bool{}
		for n := range 140 {
			o := book.openEnded(record.Stream("open", n), record.Stream("open words", n), n)
			if strings.TrimSpace(string(o.ask)) == "" || strings.ContainsAny(string(o.user.Wants), "{}\uE000") || o.user.Kind != "scripted" {
				t.Errorf("%s: draw %d: %q by %+v", name, n, o.ask, o.user)
			}
			asks[o.ask] = true
		}
		if len(asks) < 100 {
			t.Errorf("%s: %d different asks in 140 draws", name, len(asks))
		}
	}
}

func TestSenseOfTools(t *testing.T) {
	for _, test := range []struct {
		tool            record.Tool
		object, primary string
		class           verbClass
	}{
		{tool("get_order_details", "", record.ToolRead, `{"properties":{"order_id":{"type":"string"}},"required":["order_id"]}`), "order details", "order_id", verbRead},
		{tool("cancelReservation", "", record.ToolDestructive, `{"properties":{"user_id":{},"reservation_id":{}}}`), "reservation", "reservation_id", verbRemove},
		{tool("lookup_user_by_email", "", record.ToolRead, `{"properties":{"email":{"type":"string"}}}`), "user", "", verbRead},
		{tool("transfer_to_human_agents", "", record.ToolWrite, `{"properties":{"summary":{"type":"string"}}}`), "human agents", "", verbContact},
		{tool("svc_ctl", "Restarts the given service.", record.ToolDestructive, `{"properties":{"service":{"type":"string"}}}`), "service", "service", verbAct},
		{tool("weather", "Weather of a city.", record.ToolRead, `{"properties":{"city":{"type":"string"}}}`), "weather", "", verbRead},
		{tool("update_ticket", "", record.ToolWrite, `{"properties":{"id":{"type":"string"},"status":{"enum":["open","closed"]}},"required":["id"]}`), "ticket", "id", verbChange},
		{tool("broken", "", record.ToolRead, `{"properties": 7}`), "broken", "", verbRead},
	} {
		s := senseOf(test.tool, nil)
		primary := ""
		if s.primary >= 0 {
			primary = s.args[s.primary].name
		}
		if s.object != test.object || primary != test.primary || s.verb.class != test.class {
			t.Errorf("%s: object %q, primary %q, class %d; want %q, %q, %d", test.tool.Name, s.object, primary, s.verb.class, test.object, test.primary, test.class)
		}
	}
}

func TestSenseOfClauses(t *testing.T) {
	for _, test := range []struct {
		clause, doing, when, topic string
		kind                       clauseKind
	}{
		{"Never reveal internal notes", "reveal internal notes", "", "internal notes", clauseForbid},
		{"You must not share the customer's address with anyone", "share my address with anyone", "", "my address with anyone", clauseForbid},
		{"Verify the customer's identity before sharing any order details", "verify my identity", "", "my identity", clauseRequire},
		{"If a restart fails twice, stop and page the on-call human", "stop and page the on-call human", "a restart fails twice", "stopping and paging the on-call human", clauseRequire},
		{"If the user is a silver member, two bags are free", "", "I am a silver member", "a silver member", clauseWhen},
		{"Refunds over $200 need a manager's approval", "", "", "refunds over $200", clauseFact},
		{"Passengers: Each reservation can have at most five passengers", "", "", "at most five passengers", clauseFact},
		{"The agent can offer a certificate as a gesture", "offer a certificate as a gesture", "", "a certificate as a gesture", clauseAllow},
		{"The user cannot add insurance after initial booking", "", "", "adding insurance after initial booking", clauseFact},
		{"The user can add but not remove checked bags", "", "", "adding but not removing checked bags", clauseFact},
	} {
		c := senseOfClause(test.clause)
		if c.doing != test.doing || c.when != test.when || c.topic != test.topic || c.kind != test.kind {
			t.Errorf("%q\n got kind %d doing %q when %q topic %q\nwant kind %d doing %q when %q topic %q", test.clause, c.kind, c.doing, c.when, c.topic, test.kind, test.doing, test.when, test.topic)
		}
	}
}

func TestGerund(t *testing.T) {
	for phrase, want := range map[string]string{
		"pull up the runbook": "pulling up the runbook", "cancel it": "cancelling it", "see": "seeing", "give me one": "giving me one", "stop and page the human": "stopping and paging the human",
		"be concise": "being concise", "only restart one": "only restarting one", "tie it": "tying it", "get hold of someone": "getting hold of someone", "read and understand": "reading and understand",
	} {
		if got := gerund(phrase); got != want {
			t.Errorf("%q: %q, want %q", phrase, got, want)
		}
	}
}

func FuzzClause(f *testing.F) {
	for _, rule := range append(slices.Clone(oncallRules), airlineRules...) {
		f.Add(rule)
	}
	f.Add("If ,,, and the")
	f.Add("(((")
	f.Add("\xff{doing}\x00")
	f.Fuzz(func(t *testing.T, rule string) {
		book := newPhrasebook(oncallTools(), nil, []string{rule}, nil)
		for n := range 4 {
			if _, w := book.writeFor(axesOf("restart_service", rule, allStances[n], record.EntityExists, "fresh"), n); strings.TrimSpace(string(w.ask)) == "" {
				t.Errorf("an empty ask for the rule %q", rule)
			}
		}
	})
}

func FuzzTool(f *testing.F) {
	for _, tool := range airlineTools() {
		f.Add(tool.Name, tool.Description, string(tool.Parameters))
	}
	f.Add("", "", `{"properties":{"":{},"id":{"enum":[1,"a",null]}},"required":[""]}`)
	f.Add("_", "Gets", `{"properties":{"a":{"type":["string","null"]}},"required":true}`)
	f.Fuzz(func(t *testing.T, name, description, parameters string) {
		book := newPhrasebook([]record.Tool{tool(name, description, record.ToolWrite, parameters)}, nil, nil, nil)
		for n := range 6 {
			if _, w := book.writeFor(axesOf(name, "", allStances[n], allStates[n], allHistories[n%5]), n); strings.TrimSpace(string(w.ask)) == "" {
				t.Errorf("an empty ask for the tool %q", name)
			}
			book.openEnded(record.Stream(n), record.Stream("w", n), n)
		}
	})
}

func FuzzGivenAsk(f *testing.F) {
	f.Add("The billing service is down.")
	f.Add("service service service \xed\xa0\x80")
	book := oncallBook()
	f.Fuzz(func(t *testing.T, ask string) {
		for _, e := range book.worldOfAsk(ask).Entities {
			if !strings.Contains(ask, e.ID) {
				t.Errorf("%q is not in %q", e.ID, ask)
			}
		}
	})
}

// A long, real policy: every clause can be touched, in words that are not its
// own.
func TestRealPolicy(t *testing.T) {
	folder := os.Getenv("ASSAY_CASES")
	if folder == "" {
		t.Skip("ASSAY_CASES is not set")
	}
	policy, err := os.ReadFile(filepath.Join(folder, "taubench_airline_system_prompt.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for line := range strings.Lines(string(policy)) {
		if rule, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			rules = append(rules, rule)
		}
	}
	book := newPhrasebook(airlineTools(), nil, rules, nil)
	for i, rule := range rules {
		c := book.clauses[rule]
		if c.topic == "" || len(strings.Fields(c.doing)) > 14 || len(strings.Fields(c.when)) > 16 {
			t.Errorf("%q is touched by doing %q, when %q, topic %q", rule, c.doing, c.when, c.topic)
		}
		for n := range 40 {
			_, w := book.writeFor(axesOf("cancel_reservation", rule, allStances[n%10], allStates[n%6], allHistories[n%5]), 100*i+n)
			if strings.Contains(strings.ToLower(string(w.ask)), strings.ToLower(rule)) {
				t.Errorf("the ask is the clause: %s", w.ask)
			}
		}
	}
}
