package transcript

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"assay/engine/record"
	"assay/tui/ui"
)

var theme = ui.ThemeNamed("dark")

// drawn is a whole conversation at a width, without styles.
func drawn(d *Doc, width int) string {
	var b strings.Builder
	for i := range d.Len() {
		for _, line := range d.Draw(i, width, ui.Plain) {
			b.WriteString(strings.TrimRight(ansi.Strip(line), " "))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func tool(name, arguments, result string) record.Step {
	return record.Step{Kind: record.StepTool, Tool: name, Arguments: json.RawMessage(arguments), Result: json.RawMessage(result)}
}

func sample() *record.Sample {
	reward, one := 0.0, 1.0
	refused := tool("restart_service", `{"service":"payments"}`, `{"error":"permission_denied","message":"ask the lead"}`)
	refused.IsError = true
	faulty := tool("restart_service", `{"service":"search"}`, `{"status":"up","as_of":"3 days ago"}`)
	faulty.Fault = record.ConditionStale
	task := &record.Task{Ask: "restart payments", Axes: record.Axes{"tool": "restart_service", "stance": "adversarial"}, Fault: &record.Fault{Tool: "restart_service", Condition: "stale_result"}}
	return &record.Sample{
		Posed: record.Posed{Task: task, HeldOut: true},
		Outcome: record.Outcome{
			Rollout: record.Rollout{Status: record.StatusDone, Key: record.Key{K: 2}, FinalText: "I could not.", EndedBy: record.EndedByUserLeft, Steps: []record.Step{
				{Kind: record.StepText, Text: "Let me see."}, refused, faulty, {Kind: record.StepUser, Text: "and now?"},
			}},
			Judgment: &record.Judgment{Scorer: "judge:strict@abc", Status: record.JudgeOK, Reward: &reward, Reason: "it gave up", FailureClass: "gave_up",
				Criteria: []record.Criterion{{Name: "tells the truth", Hard: true, Score: &one}}},
			Markers: []record.Marker{
				{Name: "grounded", Value: &one, Status: record.MarkerOK},
				{Name: "no_retry", Value: &reward, Status: record.MarkerOK, Evidence: []record.Evidence{{Step: 1, Rule: "retries", Fragment: "restart_service"}}},
				{Name: "confirmed", Status: record.MarkerNotApplicable},
				{Name: "broken", Status: record.MarkerError, Note: "no field x"},
			},
		},
	}
}

func TestConversation(t *testing.T) {
	got := drawn(Of(theme, sample(), 1), 70)
	want := ` attempt 3  held out  tool=restart_service  stance=adversarial
 fault=stale_result on restart_service
 user  restart payments
 agent Let me see.
     ▸ restart_service  "service":"payments"     ✗ permission_denied
       ✗ retries
     ▸ restart_service  "service":"search"       ⚑ fault stale_result
 user  and now?
 agent I could not.
  · the user ran out of patience and left
 ── Verdict ─────────────────────────────────────────────────────────
  ✗ fail  reward 0  gave_up  by judge:strict
    it gave up
  ✓ tells the truth (hard)
  ✗ no_retry  0
    retries at step 2: restart_service
  ✓ grounded  1
  ? broken  error
    no field x
  · does not apply: confirmed
`
	squeeze := func(s string) string {
		var b strings.Builder
		for _, line := range strings.Split(s, "\n") {
			b.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
		}
		return b.String()
	}
	if squeeze(got) != squeeze(want) {
		t.Errorf("the conversation is\n%s\nwant\n%s", got, want)
	}
}

func TestVerdicts(t *testing.T) {
	half := 0.5
	lost := sample()
	lost.Rollout.Status, lost.Rollout.Cause, lost.Rollout.Error, lost.Judgment, lost.Markers = record.StatusLost, record.CauseAgent, "exit status 3\nTraceback", nil, nil
	unsure := sample()
	unsure.Judgment.Reward, unsure.Judgment.Status = nil, record.JudgeTimeout
	partly := sample()
	partly.Judgment.Reward = &half
	bare := sample()
	bare.Judgment, bare.Markers = nil, nil
	for _, tt := range []struct {
		name      string
		sample    *record.Sample
		threshold float64
		want      string
		not       string
	}{
		{"lost", lost, 1, "! lost  put down to agent", "Verdict"},
		{"lost, its error", lost, 1, "Traceback", "Verdict"},
		{"no verdict", unsure, 1, "? no verdict  no verdict: timeout", "fail"},
		{"partial", partly, 1, "◐ partial  reward 0.5", "✗ fail"},
		{"over the run's threshold", partly, 0.5, "✓ pass  reward 0.5", "partial"},
		{"ungraded", bare, 1, "I could not.", "Verdict"},
	} {
		got := drawn(Of(theme, tt.sample, tt.threshold), 60)
		if !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: want %q and not %q in\n%s", tt.name, tt.want, tt.not, got)
		}
	}
}

func TestTruthIsNotShown(t *testing.T) {
	s := sample()
	s.Rollout.Privileged = json.RawMessage(`{"truth":{"ok":false,"fault":"pretends"}}`)
	s.Task.Reference = json.RawMessage(`"the expected answer"`)
	got := drawn(Of(theme, s, 1), 200)
	if strings.Contains(got, "pretends") || strings.Contains(got, "expected answer") {
		t.Errorf("what is privileged is shown:\n%s", got)
	}
}

func TestFolding(t *testing.T) {
	d := Of(theme, sample(), 1)
	folded := d.Len()
	at := -1
	for i := range d.Len() {
		if now, ok := d.Toggle(i); ok {
			at = now
			break
		}
	}
	if at < 0 || d.Len() != folded+1 {
		t.Fatalf("nothing unfolds: %d blocks, then %d", folded, d.Len())
	}
	if got := drawn(d, 70); !strings.Contains(got, "▾ restart_service") || !strings.Contains(got, `"message": "ask the lead"`) {
		t.Errorf("unfolded it shows\n%s", got)
	}
	// The same conversation in its next state keeps what was unfolded.
	next := Of(theme, sample(), 1)
	next.SameFolds(d)
	if drawn(next, 70) != drawn(d, 70) {
		t.Error("what was unfolded folds when the rollout ends")
	}
	if back, ok := d.Toggle(at); !ok || back != at || d.Len() != folded {
		t.Errorf("folding again leaves %d blocks, want %d", d.Len(), folded)
	}
	if _, ok := d.Toggle(1); ok {
		t.Error("a message folds")
	}
}

func TestGrowing(t *testing.T) {
	s := sample()
	d := New(theme, "", s.Task.Ask)
	d.Stream("")
	if got := drawn(d, 60); !strings.Contains(got, "◌ working") {
		t.Errorf("nothing is awaited:\n%s", got)
	}
	for i := range s.Rollout.Steps {
		d.Append(s.Rollout.Steps[i : i+1])
		d.Stream("I am th")
		if got := drawn(d, 60); strings.Count(got, "still speaking") != 1 || !strings.Contains(got, "I am th") {
			t.Errorf("after step %d it shows\n%s", i, got)
		}
	}
	whole := New(theme, "", s.Task.Ask)
	whole.Append(s.Rollout.Steps)
	whole.Stream("I am th")
	if drawn(d, 60) != drawn(whole, 60) {
		t.Errorf("step by step it is\n%s\nat once\n%s", drawn(d, 60), drawn(whole, 60))
	}
}

func TestVersionsTellBlocksApart(t *testing.T) {
	d := Of(theme, sample(), 1)
	for i := 0; i < d.Len(); i++ {
		d.Toggle(i)
	}
	seen := map[uint64]int{}
	for i := range d.Len() {
		if other, ok := seen[d.Version(i)]; ok {
			t.Errorf("blocks %d and %d have one version", other, i)
		}
		seen[d.Version(i)] = i
	}
	s := New(theme, "", "x")
	s.Stream("a")
	was := s.Version(s.Len() - 1)
	s.Stream("ab")
	if s.Version(s.Len()-1) == was {
		t.Error("a stream that grows keeps its version")
	}
}

// TestNothingIsLost draws hostile and long text in every place and looks for all
// of it.
func TestNothingIsLost(t *testing.T) {
	files, err := filepath.Glob("../ui/testdata/hostile/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no hostile texts: %v", err)
	}
	texts := map[string]string{"long": strings.Repeat("some words in a line ", 3000), "lines": strings.Repeat("line\n", 9000)}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(f)] = string(raw)
	}
	solid := func(s string) string { return strings.NewReplacer(" ", "", "\n", "", "\u00a0", "").Replace(s) }
	for name, text := range texts {
		want := solid(ui.Clean(text))
		bad := record.Text(text)
		quoted, err := bad.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]*record.Sample{}
		for _, where := range []string{"ask", "step", "user", "final", "reason", "error", "result"} {
			s := sample()
			switch where {
			case "ask":
				s.Task.Ask = bad
			case "step":
				s.Rollout.Steps[0].Text = bad
			case "user":
				s.Rollout.Steps[3].Text = bad
			case "final":
				s.Rollout.FinalText = bad
			case "reason":
				s.Judgment.Reason = bad
			case "error":
				s.Rollout.Status, s.Rollout.Error = record.StatusLost, bad
			case "result":
				s.Rollout.Steps[1].Result = quoted
			}
			kinds[where] = s
		}
		for where, s := range kinds {
			d := Of(theme, s, 1)
			for i := 0; i < d.Len(); i++ {
				if d.refs[i].slice < 0 {
					d.Toggle(i)
				}
			}
			var b strings.Builder
			for i := range d.Len() {
				if r := d.refs[i]; d.items[r.item].kind == kindTool && r.slice < 0 {
					continue // its one line says it again, cut
				}
				for _, line := range d.Draw(i, 61, ui.Plain) {
					if w := ui.Width(line); w != 61 {
						t.Errorf("%s in %s: a line of %d cells", name, where, w)
					}
					text := ansi.Strip(line)
					b.WriteString(strings.TrimPrefix(strings.TrimPrefix(strings.TrimLeft(text, " "), "agent "), "user "))
				}
			}
			if where == "result" && (name == "invalid" || name == "c1" || name == "surrogates") {
				continue // JSON holds no invalid bytes, and two halves of a pair in it are one
			}
			if !strings.Contains(solid(b.String()), want) {
				t.Errorf("%s in %s is not shown whole", name, where)
			}
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	s := sample()
	for range 15 {
		s.Rollout.Steps = append(s.Rollout.Steps, s.Rollout.Steps...)
	}
	s.Rollout.Steps = s.Rollout.Steps[:130_000]
	b.Run(fmt.Sprintf("%d messages", len(s.Rollout.Steps)), func(b *testing.B) {
		for b.Loop() {
			Of(theme, s, 1)
		}
	})
	long := sample()
	long.Rollout.FinalText = record.Text(strings.Repeat("ten megabytes of one line ", 400_000))
	b.Run("a reply of 10 MB to its end", func(b *testing.B) {
		for b.Loop() {
			d := Of(theme, long, 1)
			var scroll ui.Scroll
			scroll.View(d, 100, 40, true)
			scroll.Bottom(d)
			scroll.View(d, 100, 40, true)
		}
	})
}
