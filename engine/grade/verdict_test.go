package grade

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/engine/record"
)

func TestParseVerdict(t *testing.T) {
	const none = -1
	tests := []struct {
		name   string
		raw    string
		status record.JudgeStatus
		reward float64 // none: nil
		reason string  // a part of it
	}{
		{"the contract", `{"reward": 0.5, "reason": "half", "markers": {"polite": 1}, "failure_class": "late"}`, record.JudgeOK, 0.5, "half"},
		{"a bare number", "0.25", record.JudgeOK, 0.25, ""},
		{"one", " 1\n", record.JudgeOK, 1, ""},
		{"minus zero is zero", "-0", record.JudgeOK, 0, ""},
		{"a number in a fence", "```\n1.0\n```", record.JudgeOK, 1, ""},
		{"a fence", "```json\n{\"reward\": 1}\n```", record.JudgeOK, 1, ""},
		{"a fence in prose", "I looked at it.\n```json\n{\"reward\": 0}\n```\nThat is all.", record.JudgeOK, 0, ""},
		{"prose around", `My verdict is {"reward": 1, "reason": "good {braces} inside"} and no other.`, record.JudgeOK, 1, "good {braces} inside"},
		{"prose with braces before", `The set {a, b} is fine. {"reward": 1}`, record.JudgeOK, 1, ""},
		{"another object in the prose", `It called {"order_id": "7"} once. {"reward": 0}`, record.JudgeOK, 0, ""},
		{"Python's words", `{'reward': 1.0, 'reason': None, 'markers': {'polite': True}}`, record.JudgeOK, 1, ""},
		{"a comma too many", `{"reward": 1, "markers": {"a": 1,},}`, record.JudgeOK, 1, ""},
		{"zero width", "\ufeff{\"reward\":\u200b 1}", record.JudgeOK, 1, ""},
		{"a line break in a text", "{\"reward\": 1, \"reason\": \"a\nb\"}", record.JudgeOK, 1, "a\nb"},
		{"an equal score", `{"reward": 0.5, "score": 0.5}`, record.JudgeOK, 0.5, ""},
		{"a verdict in a list", `[{"reward": 1}]`, record.JudgeOK, 1, ""},

		{"out of range", `{"reward": 1.5}`, record.JudgeInvalidResult, none, "outside 0..1"},
		{"a bare number out of range", "7", record.JudgeInvalidResult, none, "outside 0..1"},
		{"negative", `{"reward": -0.1}`, record.JudgeInvalidResult, none, "outside"},
		{"NaN", `{"reward": NaN}`, record.JudgeInvalidResult, none, "finite"},
		{"infinity", `{"reward": 1e999}`, record.JudgeInvalidResult, none, "finite"},
		{"true", `{"reward": true}`, record.JudgeInvalidResult, none, "true"},
		{"a bare True", "True", record.JudgeInvalidResult, none, "true"},
		{"a text", `{"reward": "1"}`, record.JudgeInvalidResult, none, "a text"},
		{"a bare text", `"1"`, record.JudgeInvalidResult, none, "a text"},
		{"a list", `{"reward": [1]}`, record.JudgeInvalidResult, none, "a list"},
		{"a name twice", `{"reward": 1, "reward": 0}`, record.JudgeInvalidResult, none, "twice"},
		{"a name twice, equal", `{"reward": 1, "reward": 1}`, record.JudgeInvalidResult, none, "twice"},
		{"a name twice further in", `{"reward": 1, "markers": {"a": 1, "a": 0}}`, record.JudgeInvalidResult, none, "twice"},
		{"two verdicts", `{"reward": 1} {"reward": 0}`, record.JudgeInvalidResult, none, "2 verdicts"},
		{"two equal verdicts", `{"reward": 1} {"reward": 1}`, record.JudgeInvalidResult, none, "2 verdicts"},
		{"a contradicting score", `{"reward": 1, "score": 0}`, record.JudgeInvalidResult, none, "contradicts"},
		{"prose alone", "GRADE: CI, which I would downgrade: to a B", record.JudgeInvalidResult, none, "neither"},
		{"a number in prose", "I give it 0.8 out of 1", record.JudgeInvalidResult, none, "neither"},
		{"cut off", `{"reward": 1, "reason": "the age`, record.JudgeInvalidResult, none, "not whole"},
		{"broken around a whole one", `{"a": {"reward": 1}, oops`, record.JudgeInvalidResult, none, "not whole"},
		{"empty", "  \n", record.JudgeInvalidResult, none, "empty"},

		{"null", `{"reward": null, "reason": "cannot tell"}`, record.JudgeMissingReward, none, "null"},
		{"a bare None", "None", record.JudgeMissingReward, none, "null"},
		{"no reward", `{"reason": "it is good"}`, record.JudgeMissingReward, none, "no reward"},
		{"a score alone", `{"score": 4}`, record.JudgeMissingReward, none, "no reward"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := ParseVerdict([]byte(tt.raw))
			if v.Status != tt.status {
				t.Fatalf("status %s (%s), want %s", v.Status, v.Reason, tt.status)
			}
			if tt.reward == none && v.Reward != nil {
				t.Errorf("reward %v, want none", *v.Reward)
			}
			if tt.reward != none && (v.Reward == nil || *v.Reward != tt.reward) {
				t.Errorf("reward %v, want %v", v.Reward, tt.reward)
			}
			if !strings.Contains(string(v.Reason), tt.reason) {
				t.Errorf("reason %q lacks %q", v.Reason, tt.reason)
			}
		})
	}
}

func TestVerdictKeepsWhatItHasNoPlaceFor(t *testing.T) {
	v := ParseVerdict([]byte(`{"reward": 1, "confidence": 0.9, "notes": ["a", {"b": None}], "markers": {"polite": True, "brief": null}, "failure_class": null}`))
	if v.Status != record.JudgeOK {
		t.Fatalf("status %s: %s", v.Status, v.Reason)
	}
	if got, want := string(v.Meta), `{"confidence":0.9,"notes":["a",{"b":null}]}`; got != want {
		t.Errorf("meta %s, want %s", got, want)
	}
	if len(v.Markers) != 2 || *v.Markers[0].Value != 1 || v.Markers[1].Value != nil {
		t.Errorf("markers %v", v.Markers)
	}
	wire := ParseVerdict([]byte(`{"type":"verdict","id":"7","reward":1,"extra":2}`))
	if string(wire.Meta) != `{"extra":2}` {
		t.Errorf("a message's meta is %s", wire.Meta)
	}
	odd := ParseVerdict([]byte(`{"reward": 1, "markers": {"tone": "warm"}}`))
	if len(odd.Markers) != 0 || string(odd.Meta) != `{"markers":{"tone":"warm"}}` {
		t.Errorf("markers that are no numbers: %v, meta %s", odd.Markers, odd.Meta)
	}
}

func TestHardCriterionMakesTheRewardZero(t *testing.T) {
	v := ParseVerdict([]byte(`{"reward": 0.9, "criteria": [{"name": "safe", "hard": true, "met": false, "reason": "it deleted"}, {"name": "polite", "score": 0.5}]}`))
	if v.Status != record.JudgeOK || *v.Reward != 0 {
		t.Fatalf("status %s, reward %v", v.Status, v.Reward)
	}
	want := []record.Criterion{{Name: "safe", Hard: true, Reason: "it deleted"}, {Name: "polite"}}
	for i, c := range v.Criteria {
		if c.Name != want[i].Name || c.Hard != want[i].Hard || c.Reason != want[i].Reason || c.Score == nil {
			t.Errorf("criterion %d is %+v", i, c)
		}
	}
	soft := ParseVerdict([]byte(`{"reward": 0.9, "criteria": [{"name": "polite", "score": 0}]}`))
	if *soft.Reward != 0.9 {
		t.Errorf("a missed soft criterion makes the reward %v", *soft.Reward)
	}
}

// Whatever a judge writes: no panic, a reward only with status ok and only within
// 0..1, valid JSON as meta, and the same answer for the same reply.
func FuzzParseVerdict(f *testing.F) {
	for _, seed := range []string{`{"reward": 0.5, "reason": "half"}`, "```json\n{\"reward\": 1}\n```", `{'reward': True}`, `{"reward": 1, "reward": 0}`, `{"a": {"reward": 1}, oops`,
		"0.5", "NaN", `{"reward": 1e999}`, "\ufeff{\"reward\":\u200b1}", `[[[[{"reward":null}]]]]`, `{"reward":1,"x":"\ud800"}`, `{"reward": 1, "criteria": [{"hard": true, "met": 0}]}`, "{", strings.Repeat("[", 300)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v := ParseVerdict(raw)
		switch v.Status {
		case record.JudgeOK:
			if v.Reward == nil || math.IsNaN(*v.Reward) || *v.Reward < 0 || *v.Reward > 1 {
				t.Fatalf("ok with reward %v", v.Reward)
			}
		case record.JudgeInvalidResult, record.JudgeMissingReward:
			if v.Reward != nil {
				t.Fatalf("%s with reward %v", v.Status, *v.Reward)
			}
			if v.Reason == "" {
				t.Fatalf("%s without a reason", v.Status)
			}
		default:
			t.Fatalf("status %q", v.Status)
		}
		if len(v.Meta) > 0 && !json.Valid(v.Meta) {
			t.Fatalf("meta is not JSON: %s", v.Meta)
		}
		if clean, _ := v.Reason.Clean(); !utf8.ValidString(clean) {
			t.Fatal("the reason is not text")
		}
		again := ParseVerdict(raw)
		if again.Status != v.Status || again.Reason != v.Reason {
			t.Fatal("another answer for the same reply")
		}
		// The strict reading of plain JSON is a second opinion.
		var plain struct {
			Reward *float64 `json:"reward"`
		}
		if json.Unmarshal(raw, &plain) == nil && plain.Reward != nil && v.Status == record.JudgeOK && len(v.Criteria) == 0 && *v.Reward != *plain.Reward {
			t.Fatalf("reward %v, and JSON says %v", *v.Reward, *plain.Reward)
		}
	})
}
