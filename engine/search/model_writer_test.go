package search

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/engine/record"
)

// writingModel is a model that answers each request with the next of its acts, the last
// one ever after.
type writingModel struct {
	acts  []func(record.ChatRequest) (record.ChatReply, error)
	asked []record.ChatRequest
}

func (m *writingModel) Complete(_ context.Context, r record.ChatRequest) (record.ChatReply, error) {
	act := m.acts[min(len(m.asked), len(m.acts)-1)]
	m.asked = append(m.asked, r)
	return act(r)
}

var situationLine = regexp.MustCompile(`(?m)^Situation (\d+)\n(?:.+\n)*?Draft: (.+)$`)

// rewords answers as it was asked to: each draft in words of its own, which keep the
// names.
func rewords(r record.ChatRequest) (record.ChatReply, error) {
	var entries []string
	for _, m := range situationLine.FindAllStringSubmatch(string(*r.Messages[1].Content), -1) {
		text, _ := record.Text(fmt.Sprintf("Hi, it is me again, number %x: %s (sent from my %s)", record.Rank(m[2]), m[2], m[1])).MarshalJSON()
		entries = append(entries, fmt.Sprintf(`{"situation": %s, "message": %s}`, m[1], text))
	}
	return record.ChatReply{Text: record.Text(`{"asks": [` + strings.Join(entries, ", ") + `]}`)}, nil
}

func modelWriter(t *testing.T, m Completer) *ModelWriter {
	t.Helper()
	w, err := NewModelWriter(ModelWriterConfig{Model: m, Name: "openai:w", Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestModelWriterWritesSeveralInOneCall(t *testing.T) {
	m := &writingModel{acts: []func(record.ChatRequest) (record.ChatReply, error){rewords}}
	w := modelWriter(t, m)
	p, posed := posedBy(t, w, 36)
	r := p.Report().Writer
	if r.Asks == 0 || r.Written != r.Asks || r.Calls != len(m.asked) || r.Calls > (r.Asks+briefsPerCall-1)/briefsPerCall+1 || len(r.Refused) > 0 {
		t.Errorf("report %+v after %d requests", r, len(m.asked))
	}
	if got := byWriter(posed)["llm_guided by openai:w"]; got != r.Asks {
		t.Errorf("%d of %d asks stand as the model's", got, r.Asks)
	}
	again := &writingModel{acts: m.acts}
	if _, same := posedBy(t, modelWriter(t, again), 36); cmp.Diff(posed, same) != "" {
		t.Error("an equal writer wrote other asks")
	}
	seeds := map[int64]bool{}
	for i, r := range m.asked {
		if *r.Seed != *again.asked[i].Seed || seeds[*r.Seed] {
			t.Errorf("request %d has the seed %d, again %d", i, *r.Seed, *again.asked[i].Seed)
		}
		seeds[*r.Seed] = true
	}
}

// TestModelWriterIsToldInProse: no word of the grid that no person would say reaches the
// model, whatever the situation.
func TestModelWriterIsToldInProse(t *testing.T) {
	m := &writingModel{acts: []func(record.ChatRequest) (record.ChatReply, error){rewords}}
	_, posed := posedBy(t, modelWriter(t, m), 36)
	for _, d := range posed {
		for axis, value := range d.Task.Axes {
			for _, r := range m.asked {
				text := strings.ToLower(string(*r.Messages[0].Content) + string(*r.Messages[1].Content))
				if axis != record.AxisTool && (label(text, axis) || label(text, value)) {
					t.Fatalf("the model is told %s: %s\n%s", axis, value, text)
				}
			}
		}
	}
	told := string(*m.asked[0].Messages[1].Content)
	for _, want := range []string{"Situation 1\nSomebody writes to an assistant.", "Situation 8\n", "What they want: ", "Must stand in the message, letter by letter: ", "Draft: "} {
		if !strings.Contains(told, want) {
			t.Errorf("the model is not told %q:\n%s", want, told)
		}
	}
}

// TestModelWriterIsAskedAgainThenTheTemplate: what a model leaves out or gets wrong is
// asked for once more, with what was wrong, and then the template's words stand.
func TestModelWriterIsAskedAgainThenTheTemplate(t *testing.T) {
	labels := func(r record.ChatRequest) (record.ChatReply, error) {
		reply, err := rewords(r)
		reply.Text = record.Text(strings.Replace(string(reply.Text), "Hi, it", "Hi (adversarial, tool_condition), it", 1))
		return reply, err
	}
	m := &writingModel{acts: []func(record.ChatRequest) (record.ChatReply, error){labels, rewords}}
	p, posed := posedBy(t, modelWriter(t, m), 36)
	if r := p.Report().Writer; r.Written != r.Asks || len(r.Refused) != 1 {
		t.Errorf("report %+v", r)
	}
	if told := string(*m.asked[len(m.asked)-1].Messages[1].Content); !strings.Contains(told, "was refused because it says where on the grid it stands. Write another.") {
		t.Errorf("the model is not told what was wrong:\n%s", told)
	}
	for _, d := range posed {
		if strings.Contains(string(d.Task.Ask), "adversarial") {
			t.Errorf("a label stands in %q", d.Task.Ask)
		}
	}
	m = &writingModel{acts: []func(record.ChatRequest) (record.ChatReply, error){labels}}
	p, _ = posedBy(t, modelWriter(t, m), 36)
	if r := p.Report().Writer; r.Written == r.Asks || r.Written == 0 || len(r.warnings()) != 1 {
		t.Errorf("report %+v", r)
	}
}

func TestModelWriterFailures(t *testing.T) {
	says := func(text string, why record.FinishReason) func(record.ChatRequest) (record.ChatReply, error) {
		return func(record.ChatRequest) (record.ChatReply, error) {
			return record.ChatReply{Text: record.Text(text), FinishReason: why}, nil
		}
	}
	for want, act := range map[string]func(record.ChatRequest) (record.ChatReply, error){
		"401":                  func(record.ChatRequest) (record.ChatReply, error) { return record.ChatReply{}, errors.New("401") },
		"holds no messages":    says("I cannot help with that.", record.FinishStop),
		"raise max_tokens":     says(`{"asks": [{"situation": 1, "mess`, record.FinishLength),
		`holds no messages: "`: says("", record.FinishStop),
	} {
		p, posed := posedBy(t, modelWriter(t, &writingModel{acts: []func(record.ChatRequest) (record.ChatReply, error){act}}), 60)
		r := p.Report().Writer
		if r.Written != 0 || !r.GaveUp || !strings.Contains(string(r.FirstError), want) || byWriter(posed)["llm_guided by template"] != r.Asks {
			t.Errorf("%s: report %+v", want, r)
		}
	}
	for _, c := range []ModelWriterConfig{{}, {Model: &writingModel{}}, {Model: &writingModel{}, Name: "template"}, {Model: &writingModel{}, Name: "x", MaxTokens: -1}} {
		if _, err := NewModelWriter(c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

func TestReadAsks(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		n      int
		want   map[int]record.Text
	}{
		"as asked":                          {`{"asks": [{"situation": 2, "message": "b"}, {"situation": 1, "message": " a "}]}`, 2, map[int]record.Text{1: "a", 2: "b"}},
		"in fences, with prose":             {"Sure! Here they are [as asked]:\n```json\n{\"asks\": [{\"situation\": \"1\", \"message\": \"a\"}]}\n```\nDone {ok}.", 2, map[int]record.Text{1: "a"}},
		"a bare list":                       {`["a", "b"]`, 2, map[int]record.Text{1: "a", 2: "b"}},
		"a bare list that is short":         {`["a"]`, 2, map[int]record.Text{}},
		"a list of objects":                 {`[{"n": 2, "ask": "b"}, {"id": 1, "text": "a"}]`, 2, map[int]record.Text{1: "a", 2: "b"}},
		"objects without numbers":           {`{"messages": [{"message": "a"}, {"message": "b"}]}`, 2, map[int]record.Text{1: "a", 2: "b"}},
		"by number":                         {`{"2": "b", "1": "a", "9": "z"}`, 2, map[int]record.Text{1: "a", 2: "b"}},
		"one object a line":                 {"{\"situation\": 1, \"message\": \"a\"}\n{\"situation\": 2, \"message\": \"b\"}", 2, map[int]record.Text{1: "a", 2: "b"}},
		"one, alone":                        {`{"message": "a"}`, 1, map[int]record.Text{1: "a"}},
		"twice":                             {`{"asks": [{"situation": 1, "message": "a"}, {"situation": 1, "message": "x"}]}`, 2, map[int]record.Text{1: "a"}},
		"nobody's":                          {`{"asks": [{"situation": 0, "message": "a"}, {"situation": 3, "message": "x"}, {"situation": 1, "message": ""}, {"situation": 2, "message": 5}]}`, 2, map[int]record.Text{}},
		"cut off":                           {`{"asks": [{"situation": 1, "message": "a"}, {"situation": 2, "message": "b`, 2, map[int]record.Text{1: "a"}},
		"numbered":                          {"1. \"a, she said\"\n\n2) b [now]\nand more\n**Situation 3:** c", 3, map[int]record.Text{1: "a, she said", 2: "b [now]\nand more", 3: "c"}},
		"words alone":                       {"“a”", 1, map[int]record.Text{1: "a"}},
		"words with a list in them":         {"I want\n1. this\n2. that", 1, map[int]record.Text{1: "I want\n1. this\n2. that"}},
		"broken JSON for one":               {`{"message": "a`, 1, map[int]record.Text{}},
		"words for several":                 {"a, b and c", 3, map[int]record.Text{}},
		"nothing":                           {"", 2, map[int]record.Text{}},
		"lone surrogates are refused later": {`["\ud800"]`, 1, map[int]record.Text{1: "\xed\xa0\x80"}},
		"brackets without end":              {strings.Repeat("[", 100_000), 1, map[int]record.Text{}},
	} {
		if diff := cmp.Diff(tc.want, readAsks(tc.answer, tc.n)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// FuzzReadAsks feeds any answer to the reader: only situations that were asked for, none
// without words.
func FuzzReadAsks(f *testing.F) {
	f.Add(`{"asks": [{"situation": 1, "message": "a"}]}`, 2)
	f.Add(`["a", {"2": "b"}]`, 1)
	f.Add("1. a\n2) b", 2)
	f.Add("```json\n[\n", 3)
	f.Fuzz(func(t *testing.T, answer string, n int) {
		for at, text := range readAsks(answer, n) {
			if at < 1 || at > n || strings.TrimSpace(string(text)) == "" {
				t.Errorf("situation %d of %d: %q", at, n, text)
			}
		}
	})
}
