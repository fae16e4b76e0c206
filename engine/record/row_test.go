package record

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestRowKeepsWhatItDoesNotKnow(t *testing.T) {
	const line = `{"schema_version":"1","prompt":"Hi","steps":[{"user":"x"},{"tool":"t","arguments":{"b":1,"a":[ 2]},"result":null,"logprob":-0.5}],"final_text":"\ud800","scenario_id":"s","rollout_index":2,"reward":"NaN","zeta":{"deep":[1,2.50]},"alpha":null}`
	var r Row
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatal(err)
	}
	if r.FinalText != "\xed\xa0\x80" || !math.IsNaN(float64(*r.Reward)) || string(r.Extra["zeta"]) != `{"deep":[1,2.50]}` || string(r.Steps[1].Extra["logprob"]) != "-0.5" {
		t.Errorf("row %+v", r)
	}
	if _, known := r.Extra["prompt"]; known || len(r.Extra) != 2 {
		t.Errorf("extra %v", r.Extra)
	}
	out, err := Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"final_text":"\ud800"`, `"reward":"NaN"`, `"zeta":{"deep":[1,2.50]}`, `"alpha":null`, `"logprob":-0.5`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	var again Row
	if err := json.Unmarshal(out, &again); err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(float64(*again.Reward)) {
		t.Errorf("NaN came back as %v", *again.Reward)
	}
	r.Reward, again.Reward = nil, nil
	if diff := cmp.Diff(r, again, cmp.Transformer("compact", compact)); diff != "" {
		t.Errorf("(-read +written and read):\n%s", diff)
	}
}

// compact makes equal JSON equal bytes.
func compact(raw json.RawMessage) string {
	out, err := Canonical(raw)
	if err != nil {
		return string(raw)
	}
	return string(out)
}

func TestRowUnknownMembersSurvive(t *testing.T) {
	known := map[string]bool{}
	for _, name := range RowMembers() {
		known[name] = true
	}
	rapid.Check(t, func(t *rapid.T) {
		r := Row{SchemaVersion: RowSchema, ScenarioID: "s", Extra: map[string]json.RawMessage{}}
		for name, v := range rapid.MapOf(rapid.StringMatching(`[a-z"\\é ]{1,8}`), rapid.Int()).Draw(t, "extra") {
			if !known[name] {
				raw, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				r.Extra[name] = raw
			}
		}
		out, err := Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var again Row
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if diff := cmp.Diff(r.Extra, again.Extra, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func fullSample() (*Sample, RowContext) {
	reward, marker := 1.0, 0.5
	task := &Task{Ask: "Restart it", Origin: OriginGrid, Axes: Axes{AxisWorldState: "entity exists"}, Fault: &Fault{Tool: "t", Condition: ConditionTimeout},
		Tools: []Tool{{Name: "t", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`), Kind: ToolRead}}, SituationID: "0011223344556677"}
	task.Identify()
	key := Key{TaskID: task.ID, EvalRun: 1, K: 3}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)
	return &Sample{
		Posed: Posed{Task: task, Arm: ArmStructured, Batch: 4, Order: 9, HeldOut: true},
		Outcome: Outcome{
			Rollout: Rollout{ID: RolloutID("run1", key), RunID: "run1", Key: key, Status: StatusDone, FinalText: "Done", FinishReason: FinishStop, EndedBy: EndedByAgent,
				Steps:    []Step{{Kind: StepTool, Tool: "t", Arguments: json.RawMessage(`{}`), Result: json.RawMessage(`{"ok":true}`), LatencyMS: 30_000}},
				Usage:    &Usage{InputTokens: 1, OutputTokens: 2, Cost: 3},
				LogProbs: []LogProbs{{Sum: -1, Tokens: 1, List: []float64{-1}}, {Sum: -2, Tokens: 2, List: []float64{-0.5, -1.5}}},
				Latency:  time.Second, Attempts: 2, PolicyVersion: "p", Privileged: json.RawMessage(`{"truth":{"ok":true}}`), StartedAt: at},
			Judgment: &Judgment{Scorer: "judge:fair@1", Reward: &reward, Status: JudgeOK, Reason: "good"},
			Markers:  []Marker{{Name: "m", Value: &marker, Status: MarkerOK}, {Name: "n", Status: MarkerNotApplicable}},
		},
	}, RowContext{Run: &Run{Mode: ModeEval}, SystemPrompt: "Be kind.", Gold: &Gold{Reward: &reward, Kind: GoldHuman, Voters: 1, Labels: []Label{{Annotator: "ann", Verdict: VerdictPass, Kind: GoldHuman}}}}
}

func TestNewRow(t *testing.T) {
	s, c := fullSample()
	r := NewRow(s, c)
	if r.ScenarioID != s.Task.ID || r.RolloutIndex != 3 || *r.Lineage.EvalRun != 1 || !r.Lineage.Eval || *r.LogProb != -3 || *r.NTokens != 3 || len(r.TokenLogProbs) != 3 {
		t.Errorf("row %+v", r)
	}
	if r.JudgeName != "judge:fair" || *r.Reward != 1 || *r.GoldReward != 1 || r.GoldKind != GoldHuman || string(r.GoldLabels) != `[{"annotator":"ann","label":"pass","kind":"human"}]` {
		t.Errorf("grades %+v", r)
	}
	if v, there := r.Markers["n"]; !there || v != nil || *r.Markers["m"] != 0.5 {
		t.Errorf("markers %v", r.Markers)
	}
	if r.WorldState != "entity exists" || len(r.Faults) != 1 || r.Tools[0].Function.Name != "t" || r.Messages[0].Role != "system" || r.StartedAt != "2026-01-02T03:04:05.006Z" {
		t.Errorf("row %+v", r)
	}
}

// Two runs that differ in nothing but their run, times and luck have equal lines.
func TestCanonicalRowLeavesOutWhatMayDiffer(t *testing.T) {
	one, c := fullSample()
	two, _ := fullSample()
	two.Rollout.RunID, two.Rollout.ID, two.Rollout.Latency, two.Rollout.Attempts = "run2", "ffff", time.Minute, 7
	two.Rollout.StartedAt, two.Rollout.Usage.Cost, two.Batch, two.Order = time.Time{}, 99, 0, 0
	two.Judgment.Latency, two.Judgment.At, two.Rollout.Error = time.Hour, time.Now(), "connection reset"
	a, err := NewRow(one, c).Canonical()
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewRow(two, RowContext{Run: &Run{Mode: ModeEval}, SystemPrompt: "Be kind."}).Canonical()
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("they differ:\n%s\n%s", a, b)
	}
	if again, err := Canonical(a); err != nil || string(again) != string(a) {
		t.Errorf("not canonical: %s", a)
	}
	for name, change := range map[string]func(*Sample){
		"final text":        func(s *Sample) { s.Rollout.FinalText = "Else" },
		"simulated latency": func(s *Sample) { s.Rollout.Steps[0].LatencyMS = 1 },
		"reward":            func(s *Sample) { *s.Judgment.Reward = 0 },
		"tokens":            func(s *Sample) { s.Rollout.Usage.InputTokens = 5 },
		"eval run":          func(s *Sample) { s.Rollout.Key.EvalRun = 0 },
		"status":            func(s *Sample) { s.Rollout.Status = StatusLost },
	} {
		other, _ := fullSample()
		change(other)
		if o, err := NewRow(other, c).Canonical(); err != nil || string(o) == string(a) {
			t.Errorf("another %s makes no difference (%v)", name, err)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, f := range []float64{0, -0.5, 1e300, math.NaN(), math.Inf(1), math.Inf(-1)} {
		raw, err := json.Marshal(Number(f))
		if err != nil {
			t.Fatal(err)
		}
		var back Number
		if err := json.Unmarshal(raw, &back); err != nil || float64(back) != f && !(math.IsNaN(f) && math.IsNaN(float64(back))) {
			t.Errorf("%v written as %s and read as %v (%v)", f, raw, back, err)
		}
	}
	for _, raw := range []string{`"nan"`, `"1"`, `true`, `{}`} {
		var n Number
		if err := json.Unmarshal([]byte(raw), &n); err == nil {
			t.Errorf("%s was taken for %v", raw, n)
		}
	}
}

func TestStepJSON(t *testing.T) {
	for raw, want := range map[string]Step{
		`{"user":"hi"}`: {Kind: StepUser, Text: "hi"},
		`{"text":""}`:   {Kind: StepText},
		`{"tool":"t","arguments":{"a":1},"result":"x","is_error":true,"fault":"timeout","latency_ms":5}`: {Kind: StepTool, Tool: "t", Arguments: json.RawMessage(`{"a":1}`), Result: json.RawMessage(`"x"`), IsError: true, Fault: "timeout", LatencyMS: 5},
		`{"tool":"t","arguments":null,"result":null,"cost":2}`:                                           {Kind: StepTool, Tool: "t", Arguments: json.RawMessage("null"), Result: json.RawMessage("null"), Extra: map[string]json.RawMessage{"cost": json.RawMessage("2")}},
	} {
		var got Step
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
		if out, err := Marshal(got); err != nil || string(out) != raw {
			t.Errorf("%s was written as %s (%v)", raw, out, err)
		}
	}
	var s Step
	if err := json.Unmarshal([]byte(`{"thought":"x"}`), &s); err == nil {
		t.Error("a step without user, text or tool was read")
	}
	if _, err := Marshal(Step{Kind: "thought"}); err == nil {
		t.Error("a step of no kind was written")
	}
}
