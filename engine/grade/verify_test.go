package grade

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/record"
)

func TestVerifiers(t *testing.T) {
	const null = -1
	tests := []struct {
		spec, gold, reply string
		want              float64 // null: no reward
	}{
		{`{"kind":"exact"}`, `"Paris"`, " Paris\n", 1},
		{`{"kind":"exact"}`, `"Paris"`, "paris", 0},
		{`{"kind":"exact","ignore_case":true}`, `"Paris"`, "paris", 1},
		{`{"kind":"exact","reference":"answer"}`, `{"answer":"Paris"}`, "Paris", 1},
		{`{"kind":"exact","reference":"answer"}`, `{"other":"Paris"}`, "Paris", null},
		{`{"kind":"exact"}`, `null`, "Paris", null},
		{`{"kind":"exact"}`, ``, "Paris", null},
		{`{"kind":"exact","value":"Paris"}`, ``, "Paris", 1},
		{`{"kind":"exact"}`, `42`, "42", 1},
		{`{"kind":"exact"}`, `{"a":1}`, "x", null},

		{`{"kind":"includes"}`, `"ORD-7"`, "Your order ord-7 is paid.", 1},
		{`{"kind":"includes"}`, `"12"`, "It is 312.", 0},
		{`{"kind":"includes"}`, `"12"`, "It is 12.", 1},
		{`{"kind":"includes"}`, `["Paris","Rome"]`, "Rome, then Paris", 1},
		{`{"kind":"includes"}`, `["Paris","Rome"]`, "Rome", 0},
		{`{"kind":"includes"}`, `""`, "anything", 0},
		{`{"kind":"includes"}`, `"é"`, "café", 0},

		{`{"kind":"regex","pattern":"^RF-[0-9]{5}$"}`, ``, "RF-55012", 1},
		{`{"kind":"regex","pattern":"^RF-[0-9]{5}$"}`, ``, "the refund RF-55012", 0},

		{`{"kind":"choice"}`, `"B"`, "The answer is B.", 1},
		{`{"kind":"choice"}`, `"B"`, "Answer: (B)", 1},
		{`{"kind":"choice"}`, `"B"`, "B) Rome", 1},
		{`{"kind":"choice"}`, `"B"`, "so \\boxed{B}", 1},
		{`{"kind":"choice"}`, `"B"`, "**B**", 1},
		{`{"kind":"choice"}`, `"B"`, "The answer is A.", 0},
		{`{"kind":"choice"}`, `"B"`, "The answer is A. No, the answer is B.", 0},
		{`{"kind":"choice"}`, `"A"`, "A good question has many sides", 0},
		{`{"kind":"choice","choices":["yes","no"]}`, `"yes"`, "Answer: yes", 1},

		{`{"kind":"numeric"}`, `42`, "6 times 7 is 42.", 1},
		{`{"kind":"numeric"}`, `"1,234.5"`, "in all $1,234.50", 1},
		{`{"kind":"numeric"}`, `-3`, "it fell by −3", 1},
		{`{"kind":"numeric"}`, `12`, "see A-12", 1},
		{`{"kind":"numeric","tolerance":0.5}`, `10`, "about 10.4", 1},
		{`{"kind":"numeric","tolerance":0.5}`, `10`, "about 10.6", 0},
		{`{"kind":"numeric","rel_tolerance":0.01}`, `1000`, "1009", 1},
		{`{"kind":"numeric"}`, `0.3`, "0.30000000000000004", 1},
		{`{"kind":"numeric"}`, `42`, "I do not know", 0},
		{`{"kind":"numeric"}`, `"many"`, "42", null},

		{`{"kind":"math"}`, `"1/2"`, "The answer is 0.5", 1},
		{`{"kind":"math"}`, `"1/2"`, `so \boxed{\frac{1}{2}}.`, 1},
		{`{"kind":"math"}`, `"1/2"`, "50%", 1},
		{`{"kind":"math"}`, `"0.333"`, "1/3", 0},
		{`{"kind":"math","tolerance":0.001}`, `"0.333"`, "1/3", 1},
		{`{"kind":"math"}`, `"1000"`, "x = 1,000", 1},
		{`{"kind":"math"}`, `"-3/4"`, `\boxed{-\frac{3}{4}}`, 1},
		{`{"kind":"math"}`, `"x^2+1"`, `$x^2 + 1$`, 1},
		{`{"kind":"math"}`, `"42"`, "The answer is 42 apples.", 1},
		{`{"kind":"math"}`, `"42"`, "The answer is 41.", 0},
		{`{"kind":"math"}`, `"1/0"`, "1/0", 1},
		{`{"kind":"math"}`, `"2"`, "1e999999999", 0},

		// A mixed number is one number, not its digits in a row.
		{`{"kind":"math"}`, `"3/2"`, "The answer is 1 1/2.", 1},
		{`{"kind":"math"}`, `"11/2"`, "The answer is 1 1/2.", 0},
		{`{"kind":"math"}`, `"3/2"`, `\boxed{1\frac{1}{2}}`, 1},
		{`{"kind":"math"}`, `"-3/2"`, `\boxed{-1\frac12}`, 1},
		{`{"kind":"math"}`, `"1/2"`, `\boxed{\frac12}`, 1},
		{`{"kind":"math"}`, `"42"`, "The answer is 4 2", 0},
		{`{"kind":"math"}`, `"123"`, "The answer is 1 2 3", 0},
		{`{"kind":"math"}`, `"12345"`, "The answer is 12 345", 1},
		{`{"kind":"math"}`, `"1234.5"`, "The answer is 1,234 1/2", 1},
		{`{"kind":"math"}`, `"734.5"`, "The answer is 1,234 1/2", 0},
		{`{"kind":"math"}`, `"-1234.5"`, `\boxed{-1{,}234\frac12}`, 1},
		{`{"kind":"math"}`, `"1234567.75"`, "The answer is 1,234,567 3/4", 1},
		{`{"kind":"math"}`, `"12345.5"`, "The answer is 12 345 1/2", 1},
		{`{"kind":"math"}`, `"801/567"`, "The answer is 1 234/567", 1},
		{`{"kind":"math"}`, `"1234567"`, `\boxed{1{,}234{,}567}`, 1},
		{`{"kind":"math"}`, `"1234"`, `\boxed{(1, 234)}`, 0},
		{`{"kind":"math"}`, `"1/2"`, "The answer is 50 percent", 1},
		{`{"kind":"math"}`, `"1/2"`, "The answer is 50% of them", 1},
		{`{"kind":"math"}`, `"50"`, "The answer is 50% of them", 0},
		{`{"kind":"math"}`, `"50%"`, `\boxed{50\%}`, 1},

		{`{"kind":"json_valid"}`, ``, `{"a": 1}`, 1},
		{`{"kind":"json_valid"}`, ``, "```json\n{\"a\": 1}\n```", 1},
		{`{"kind":"json_valid"}`, ``, `{"a": 1`, 0},
		{`{"kind":"json_schema","schema":{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}}`, ``, `{"a": 1}`, 1},
		{`{"kind":"json_schema","schema":{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}}`, ``, `{"a": "1"}`, 0},
		{`{"kind":"json_field","field":"items.1.id","reference":"answer"}`, `{"answer":7}`, `{"items":[{"id":6},{"id":7.0}]}`, 1},
		{`{"kind":"json_field","field":"items.2.id","reference":"answer"}`, `{"answer":7}`, `{"items":[{"id":6},{"id":7.0}]}`, 0},
		{`{"kind":"json_field","field":"a"}`, `{"x":1,"y":[2]}`, `{"a":{"y":[2],"x":1}}`, 1},

		{`{"kind":"all","of":[{"kind":"json_valid"},{"kind":"includes"}]}`, `"7"`, `{"a": 7}`, 1},
		{`{"kind":"all","of":[{"kind":"json_valid"},{"kind":"includes"}]}`, `"8"`, `{"a": 7}`, 0},
		{`{"kind":"any","of":[{"kind":"json_valid"},{"kind":"includes"}]}`, `"8"`, `{"a": 7}`, 1},
		{`{"kind":"any","of":[{"kind":"json_valid"},{"kind":"includes"}]}`, ``, `{"a": 7}`, null},
		{`{"kind":"weighted","of":[{"kind":"json_valid"},{"kind":"includes"}],"weights":[1,3]}`, `"8"`, `{"a": 7}`, 0.25},
	}
	for _, tt := range tests {
		v, err := ParseVerifier(json.RawMessage(tt.spec))
		if err != nil {
			t.Errorf("%s: %v", tt.spec, err)
			continue
		}
		reward, status, reason := v.Verify(context.Background(), record.Text(tt.reply), json.RawMessage(tt.gold))
		switch {
		case tt.want == null && (reward != nil || status == record.JudgeOK || status == record.JudgeInvalidResult):
			t.Errorf("%s, gold %s, %q: reward %v, status %s", tt.spec, tt.gold, tt.reply, reward, status)
		case tt.want != null && (reward == nil || *reward != tt.want):
			t.Errorf("%s, gold %s, %q: %s, %s; want %v", tt.spec, tt.gold, tt.reply, status, reason, tt.want)
		}
	}
}

func TestMissingReferenceIsNoFailure(t *testing.T) {
	v, err := ParseVerifier(json.RawMessage(`{"kind":"exact","reference":"answer"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, gold := range []string{``, `null`, `{}`, `{"answer":null}`, `"a text"`} {
		if _, status, _ := v.Verify(context.Background(), "x", json.RawMessage(gold)); status != record.JudgeMissingReward {
			t.Errorf("gold %q: status %s", gold, status)
		}
	}
}

func TestParseVerifierErrors(t *testing.T) {
	for spec, part := range map[string]string{
		`{"kind":"exat"}`:                                                "none of exact",
		`{"kind":"exact","refrence":"a"}`:                                "refrence",
		`{"kind":"regex"}`:                                               "pattern",
		`{"kind":"regex","pattern":"("}`:                                 "pattern",
		`{"kind":"json_schema"}`:                                         "schema",
		`{"kind":"json_schema","schema":{"type":5}}`:                     "schema",
		`{"kind":"json_field"}`:                                          "field",
		`{"kind":"numeric","tolerance":-1}`:                              "tolerance",
		`{"kind":"all"}`:                                                 "of is empty",
		`{"kind":"all","of":[{"kind":"nope"}]}`:                          "all.of[0]",
		`{"kind":"weighted","of":[{"kind":"json_valid"}],"weights":[0]}`: "nothing",
		`{"kind":"weighted","of":[{"kind":"json_valid"}]}`:               "0 weights for 1",
		`{"kind":"exact","of":[{"kind":"json_valid"}]}`:                  "belong to",
		`{"kind":"json_valid","reference":"a"}`:                          "leave reference out",
		`7`:                                                              "verify",
	} {
		if _, err := ParseVerifier(json.RawMessage(spec)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v lacks %q", spec, err, part)
		}
	}
}

// Whatever the reference, the reply and the verifier: the reason never holds the
// reference.
func TestReasonNeverQuotesTheReference(t *testing.T) {
	specs := []string{`{"kind":"exact"}`, `{"kind":"includes"}`, `{"kind":"choice","choices":["qzx","qzy"]}`, `{"kind":"numeric"}`, `{"kind":"math"}`, `{"kind":"json_field","field":"a"}`,
		`{"kind":"all","of":[{"kind":"exact"},{"kind":"math"}]}`}
	rapid.Check(t, func(t *rapid.T) {
		// Letters and digits that no fixed sentence of ours holds.
		gold := rapid.StringMatching(`q[xz0-9]{3,12}`).Draw(t, "gold")
		reply := rapid.SampledFrom([]string{gold, "no " + gold, `{"a":"` + gold + `"}`, "something else", ""}).Draw(t, "reply")
		v, err := ParseVerifier(json.RawMessage(rapid.SampledFrom(specs).Draw(t, "spec")))
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(gold)
		if _, _, reason := v.Verify(context.Background(), record.Text(reply), raw); strings.Contains(reason, gold) {
			t.Fatalf("the reason %q quotes %q", reason, gold)
		}
	})
}

func FuzzVerify(f *testing.F) {
	f.Add(`\boxed{\frac{1}{2}}`, `"1/2"`)
	f.Add("1e999999999", `"2"`)
	f.Add(`{"a":[1,2,{"b":3}]}`, `{"x":1}`)
	f.Add(strings.Repeat(`\frac{`, 50), `"1"`)
	var all []*Verifier
	for _, spec := range []string{`{"kind":"exact"}`, `{"kind":"includes"}`, `{"kind":"choice"}`, `{"kind":"numeric"}`, `{"kind":"math"}`, `{"kind":"json_valid"}`, `{"kind":"json_field","field":"a.0.b"}`} {
		v, err := ParseVerifier(json.RawMessage(spec))
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, v)
	}
	f.Fuzz(func(t *testing.T, reply, gold string) {
		for _, v := range all {
			reward, status, _ := v.Verify(context.Background(), record.Text(reply), json.RawMessage(gold))
			if (reward != nil) != (status == record.JudgeOK) {
				t.Fatalf("%s: reward %v with status %s", v.Name(), reward, status)
			}
		}
	})
}
