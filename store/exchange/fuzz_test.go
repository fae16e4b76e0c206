package exchange

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"assay/engine/record"
)

// FuzzReadRow reads any line: it is refused or becomes a row that can be written.
func FuzzReadRow(f *testing.F) {
	text, err := os.ReadFile("testdata/shapes.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f.Add([]byte(line))
	}
	for _, line := range []string{
		`{"prompt":"\ud800","steps":[{"user":"\udc00 x"},{"tool":"t","arguments":"{\"a\":1}","result":NaN}],"reward":"Infinity"}`,
		`{"messages":[{"role":"assistant","content":[{"type":"text","text":"a"}],"tool_calls":[{"name":"x","arguments":{}}]}]}`,
		`{"prompt":"a","lineage":{"eval_run":-1}}`, `{"prompt":"a","faults":{"x":{"mode":1}},"tools":"[]","markers":{"a":"b"}}`, `{"prompt":`, `[]`, "\x00",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := readRow(line, nil)
		if err != nil {
			return
		}
		task := r.task()
		o := r.outcome("run", record.Key{TaskID: task.ID, EvalRun: r.evalRun})
		row := record.NewRow(&record.Sample{Posed: record.Posed{Task: task}, Outcome: o}, record.RowContext{SystemPrompt: r.systemPrompt})
		raw, err := record.Marshal(row)
		if err != nil {
			t.Fatalf("a row that was read cannot be written: %v", err)
		}
		again, err := readRow(raw, nil)
		if err != nil {
			t.Fatalf("a row that was written cannot be read: %v\n%s", err, raw)
		}
		if again.prompt != r.prompt || again.rollout.FinalText != r.rollout.FinalText || len(again.rollout.Steps) != len(r.rollout.Steps) {
			t.Errorf("read %q %q, wrote and read %q %q", r.prompt, r.rollout.FinalText, again.prompt, again.rollout.FinalText)
		}
	})
}

// FuzzReadLabels reads any file of labels: what it takes has a rollout and a verdict.
func FuzzReadLabels(f *testing.F) {
	for _, text := range []string{
		"rollout_id,label,note\na,pass,\"x\ny\"\nb,0,=1\n", "task,label\nt#1,fail\n", `{"rollout_id":"a","label":"pass"}`, "{\n{}\n", "a\n\"", "\xff,\x00\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var report LabelReport
		list, err := readLabels(bytes.NewReader(text), &report)
		if err != nil {
			return
		}
		for _, l := range list {
			if l.key() == "" || !validVerdict(record.Verdict(l.Label)) {
				t.Errorf("took %+v", l)
			}
		}
	})
}

// FuzzScrub: whatever JSON comes, nothing privileged is left in it and it stays JSON.
func FuzzScrub(f *testing.F) {
	for _, raw := range []string{`{"privileged":1}`, `"{\"privileged\":{}}"`, `{"privil\u0065ged":[]}`, `[[[{"gold_reward":1e999}]]]`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		clean := scrub(raw, alwaysPrivileged)
		if clean == nil {
			return
		}
		var v any
		if err := json.Unmarshal(clean, &v); err != nil {
			if json.Unmarshal(raw, &v) == nil {
				t.Fatalf("%s became %s: %v", raw, clean, err)
			}
			return
		}
		if name := leak(v); name != "" {
			t.Errorf("%s still holds %s: %s", raw, name, clean)
		}
	})
}

// leak finds a privileged name by other means than scrub does.
func leak(v any) string {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			for _, p := range alwaysPrivileged {
				if name == p {
					return name
				}
			}
			if found := leak(inner); found != "" {
				return found
			}
		}
	case []any:
		for _, inner := range v {
			if found := leak(inner); found != "" {
				return found
			}
		}
	case string:
		var inner any
		if (strings.Contains(v, "{") || strings.Contains(v, "[")) && json.Unmarshal([]byte(v), &inner) == nil {
			return leak(inner)
		}
	}
	return ""
}
