package grade

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/record"
)

func requestChars(req JudgeRequest) int {
	n := 0
	for _, f := range fieldsOf(&req) {
		n += f.measure()
	}
	return n
}

func TestShortTranscriptIsWhole(t *testing.T) {
	c := usual().Case()
	req, cut := fit(newJudgeRequest(&c, "is it good?"), DefaultMaxChars)
	if cut != nil {
		t.Errorf("cut %s", cut)
	}
	if req.FinalText != c.Rollout.FinalText || len(req.Steps) != len(c.Rollout.Steps) || req.Prompt != c.Task.Ask || *req.Rubric != "is it good?" {
		t.Errorf("the request is %+v", req)
	}
}

func TestJudgeSeesNothingPrivileged(t *testing.T) {
	c := ask("hi").at(record.Axes{"stance": "SECRET-AXIS"}).gold(`{"answer":"SECRET-GOLD"}`).
		step(record.Step{Kind: record.StepTool, Tool: "get_order", Arguments: json.RawMessage(`{}`), Result: json.RawMessage(`{"a":1}`), Fault: "SECRET-FAULT", Extra: map[string]json.RawMessage{"SECRET-EXTRA": json.RawMessage("1")}}).
		replies("hello").Case()
	c.Task.Fault = &record.Fault{Tool: "get_order", Condition: "SECRET-PLAN"}
	c.Rollout.Privileged = json.RawMessage(`{"truth":{"ok":false,"fault":"SECRET-TRUTH"}}`)
	raw, err := json.Marshal(newJudgeRequest(&c, ""))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "SECRET") {
		t.Errorf("the judge sees %s", raw)
	}
	if c.Rollout.Steps[0].Fault == "" {
		t.Error("the rollout itself was changed")
	}
}

func TestLongTranscriptIsCutAndSaysSo(t *testing.T) {
	c := usual()
	for i := range 200 {
		c.call("search_orders", fmt.Sprintf(`{"query":"page %d"}`, i), `{"text":"`+strings.Repeat("line of a long log ", 60)+`"}`)
	}
	c.replies(strings.Repeat("A very long reply. ", 3000))
	whole := c.Case()
	req, raw := fit(newJudgeRequest(&whole, "rubric"), DefaultMaxChars)
	if n := requestChars(req); n > DefaultMaxChars {
		t.Errorf("%d characters are left", n)
	}
	var cut map[string]CutField
	if err := json.Unmarshal(raw, &cut); err != nil {
		t.Fatal(err)
	}
	if cut["final_text"].Chars == 0 || cut["steps"].Chars == 0 || cut["prompt"] != (CutField{}) {
		t.Errorf("cut is %s", raw)
	}
	if req.Prompt != whole.Task.Ask || req.SystemPrompt != whole.SystemPrompt {
		t.Error("short fields were cut")
	}
	if !strings.Contains(string(req.FinalText), "characters cut") {
		t.Error("the reply does not say that it was cut")
	}
	if len(whole.Rollout.FinalText) != 57000 {
		t.Error("the rollout itself was changed")
	}
}

// However long each field and whatever is in it: what is left fits, is valid JSON
// throughout, begins and ends as the whole did, and the counts add up.
func TestFitAlwaysFits(t *testing.T) {
	texts := rapid.OneOf(rapid.StringN(0, 40, -1), rapid.Map(rapid.IntRange(0, 4000), func(n int) string { return strings.Repeat("aé\"\n", n) }))
	rapid.Check(t, func(t *rapid.T) {
		c := ask(texts.Draw(t, "ask")).replies(texts.Draw(t, "final"))
		c.policy = record.Text(texts.Draw(t, "policy"))
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			args, _ := json.Marshal(map[string]string{"q": texts.Draw(t, "arg")})
			result, _ := json.Marshal([]string{texts.Draw(t, "result")})
			c.call("search_orders", string(args), string(result)).says(texts.Draw(t, "said"))
		}
		limit := rapid.IntRange(minChars, 20_000).Draw(t, "limit")
		whole := c.Case()
		before := newJudgeRequest(&whole, "")
		total := requestChars(before)
		req, raw := fit(newJudgeRequest(&whole, ""), limit)
		left := requestChars(req)
		if left > limit && total > limit {
			t.Fatalf("%d characters of %d allowed", left, limit)
		}
		if (raw == nil) != (total <= limit) {
			t.Fatalf("cut is %s for %d of %d characters", raw, total, limit)
		}
		for _, s := range req.Steps {
			if s.Kind == record.StepTool && (!json.Valid(s.Arguments) || !json.Valid(s.Result)) {
				t.Fatalf("a step is not JSON: %s %s", s.Arguments, s.Result)
			}
		}
		if raw == nil {
			return
		}
		var cut map[string]CutField
		if err := json.Unmarshal(raw, &cut); err != nil {
			t.Fatal(err)
		}
		gone := 0
		for _, f := range cut {
			gone += f.Chars
		}
		if total-gone != left {
			t.Fatalf("%d characters less %d are not %d", total, gone, left)
		}
	})
}
