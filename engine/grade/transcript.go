package grade

import (
	"encoding/json"
	"fmt"
	"sort"
	"unicode/utf8"

	"assay/engine/record"
)

// DefaultMaxChars bounds the transcript that a judge is given, in characters of
// its JSON. 60,000 characters are some 15,000 tokens: they fit the smallest
// context of the models that judge, with room for a rubric. Convention, untested.
const DefaultMaxChars = 60_000

// Shares of the bound by field, in parts of 100. What a field does not need goes
// to the others. The steps are what a verdict rests on; convention, untested.
const (
	shareSystemPrompt = 15
	shareTools        = 10
	sharePrompt       = 10
	shareSteps        = 45
	shareFinalText    = 20
)

// CutField says what of one field a judge was not shown.
type CutField struct {
	Chars int `json:"chars"`           // characters of its JSON that are gone
	Of    int `json:"of"`              // characters that it had
	Items int `json:"items,omitempty"` // whole steps or tools that are gone
}

// newJudgeRequest is what a judge may see of a case: neither axes, fault plan,
// reference nor truth, and of a step only what the agent saw.
func newJudgeRequest(c *Case, rubric record.Text) JudgeRequest {
	req := JudgeRequest{SystemPrompt: c.SystemPrompt, Tools: c.tools(), Prompt: c.prompt(), FinalText: c.Rollout.FinalText}
	if rubric != "" {
		req.Rubric = &rubric
	}
	req.Steps = make([]record.Step, len(c.Rollout.Steps))
	for i, s := range c.Rollout.Steps {
		s.Fault, s.LatencyMS, s.Extra = "", 0, nil
		req.Steps[i] = s
	}
	return req
}

// fit shrinks a request to at most maxChars characters of JSON, the rubric not
// counted, and says what was cut; nil where nothing was. It is valid JSON however
// far it is cut: long texts lose their middle, and after that whole steps go, from
// the middle outwards, with a text in their place that says how many.
func fit(req JudgeRequest, maxChars int) (JudgeRequest, json.RawMessage) {
	fields := fieldsOf(&req)
	total := 0
	for i := range fields {
		fields[i].size = fields[i].measure()
		total += fields[i].size
	}
	if total <= maxChars {
		return req, nil
	}
	cut := map[string]CutField{}
	for i, room := range rooms(fields, maxChars) {
		f := &fields[i]
		if f.size <= room {
			continue
		}
		items := f.shrink(room)
		cut[f.name] = CutField{Chars: f.size - f.measure(), Of: f.size, Items: items}
	}
	raw, err := json.Marshal(cut)
	if err != nil {
		panic(fmt.Sprintf("grade: a cut does not marshal: %v", err)) // plain numbers always do
	}
	return req, raw
}

// field is one part of a request that can be shrunk.
type field struct {
	name    string
	share   int
	size    int
	measure func() int
	shrink  func(room int) (items int)
}

func fieldsOf(req *JudgeRequest) []field {
	text := func(name string, share int, t *record.Text) field {
		return field{name: name, share: share,
			measure: func() int { return jsonChars(*t) },
			shrink:  func(room int) int { *t = shortened(*t, room); return 0 }}
	}
	return []field{
		text("system_prompt", shareSystemPrompt, &req.SystemPrompt),
		{name: "tools", share: shareTools,
			measure: func() int { return jsonChars(req.Tools) },
			shrink:  func(room int) int { return shrinkTools(req, room) }},
		text("prompt", sharePrompt, &req.Prompt),
		{name: "steps", share: shareSteps,
			measure: func() int { return jsonChars(req.Steps) },
			shrink:  func(room int) int { return shrinkSteps(req, room) }},
		text("final_text", shareFinalText, &req.FinalText),
	}
}

// rooms deals out the characters by share; a field that needs less than its share
// leaves the rest to those that need more.
func rooms(fields []field, maxChars int) []int {
	out := make([]int, len(fields))
	order := make([]int, len(fields))
	for i := range order {
		order[i] = i
	}
	need := func(i int) float64 { return float64(fields[i].size) / float64(fields[i].share) }
	sort.SliceStable(order, func(a, b int) bool { return need(order[a]) < need(order[b]) })
	left, shares := maxChars, 100
	for _, i := range order {
		room := left * fields[i].share / shares
		out[i] = min(room, fields[i].size)
		left -= out[i]
		shares -= fields[i].share
	}
	return out
}

// jsonChars is the length of a value's JSON in characters.
func jsonChars(v any) int {
	raw, err := record.Marshal(v)
	if err != nil {
		return 0
	}
	return utf8.RuneCount(raw)
}

// shortened cuts the middle out of a text so that its JSON has at most room
// characters, and says in its place how many went.
func shortened(t record.Text, room int) record.Text {
	if jsonChars(t) <= room {
		return t
	}
	runes := []rune(string(t))
	// Escapes make JSON longer than the text, so the longest that fits is searched;
	// it is never longer than the room.
	keep := sort.Search(min(len(runes), room+1), func(n int) bool { return jsonChars(withoutMiddle(runes, n)) > room }) - 1
	if keep < 0 {
		return ""
	}
	return withoutMiddle(runes, keep)
}

// withoutMiddle keeps n characters of a text, two thirds of them at its beginning.
func withoutMiddle(runes []rune, n int) record.Text {
	if n >= len(runes) {
		return record.Text(runes)
	}
	head := n - n/3
	note := fmt.Sprintf(" […%d characters cut…] ", len(runes)-n)
	return record.Text(string(runes[:head]) + note + string(runes[len(runes)-n/3:]))
}

// shrinkSteps first shortens what is long in the steps, halving what one text may
// have until the steps fit, and then drops steps.
func shrinkSteps(req *JudgeRequest, room int) (dropped int) {
	for longest := max(room/4, 400); longest >= 200; longest /= 2 {
		for i := range req.Steps {
			s := &req.Steps[i]
			s.Text = shortened(s.Text, longest)
			s.Arguments, s.Result = shortenedJSON(s.Arguments, longest), shortenedJSON(s.Result, longest)
		}
		if jsonChars(req.Steps) <= room {
			return 0
		}
	}
	all := req.Steps
	// The first and the last steps say what was asked and how it ended.
	keep := sort.Search(len(all), func(n int) bool { return jsonChars(withoutMiddleSteps(all, n)) > room }) - 1
	if keep < 0 {
		req.Steps = []record.Step{}
		return len(all)
	}
	req.Steps = withoutMiddleSteps(all, keep)
	return len(all) - keep
}

func withoutMiddleSteps(all []record.Step, n int) []record.Step {
	if n >= len(all) {
		return all
	}
	head := n - n/2
	out := append([]record.Step{}, all[:head]...)
	out = append(out, record.Step{Kind: record.StepText, Text: record.Text(fmt.Sprintf("[…%d steps cut…]", len(all)-n))})
	return append(out, all[len(all)-n/2:]...)
}

// shortenedJSON is a JSON value of at most room characters, as it is or as a text
// that holds its beginning and its end.
func shortenedJSON(raw json.RawMessage, room int) json.RawMessage {
	if len(raw) == 0 || utf8.RuneCount(raw) <= room {
		return raw
	}
	text := record.Text(raw)
	if raw[0] == '"' {
		var inner record.Text
		if inner.UnmarshalJSON(raw) == nil {
			text = inner
		}
	}
	out, err := shortened(text, room).MarshalJSON()
	if err != nil {
		return json.RawMessage("null")
	}
	return out
}

// shrinkTools takes away schemas, then descriptions, then tools from the end. The
// names tell a judge most.
func shrinkTools(req *JudgeRequest, room int) (dropped int) {
	tools := append([]record.Tool{}, req.Tools...)
	req.Tools = tools
	steps := []func(*record.Tool){
		func(t *record.Tool) { t.Returns = nil },
		func(t *record.Tool) { t.Parameters = nil },
		func(t *record.Tool) { t.Description = string(shortened(record.Text(t.Description), 120)) },
	}
	for _, step := range steps {
		for i := range tools {
			step(&tools[i])
		}
		if jsonChars(tools) <= room {
			return 0
		}
	}
	keep := max(0, sort.Search(len(tools), func(n int) bool { return jsonChars(tools[:n+1]) > room }))
	req.Tools = tools[:min(keep, len(tools))]
	return len(tools) - len(req.Tools)
}
