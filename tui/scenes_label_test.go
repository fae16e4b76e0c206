package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assay/engine/record"
	"assay/tui/ui"
)

// labelScenes are those of Label and Judge.
var labelScenes = []scene{
	{"label-first", func(t testing.TB, w, h int) *driver { return labelling(t, w, h, "") }},
	{"label-card", func(t testing.TB, w, h int) *driver {
		d := labelling(t, w, h, "p f p T")
		d.write("skipped the runbook")
		d.press("enter M")
		d.write("it never read it")
		d.press("enter J")
		d.m.toast = nil
		return d
	}},
	{"label-note", func(t testing.TB, w, h int) *driver { d := labelling(t, w, h, "p M"); d.write("half a no"); return d }},
	{"label-rubric", func(t testing.TB, w, h int) *driver { return labelling(t, w, h, "r") }},
	{"label-saved", func(t testing.TB, w, h int) *driver { return labelling(t, w, h, "p p f") }},
	{"label-pairs", func(t testing.TB, w, h int) *driver {
		m := newMemory()
		m.addRun(labelRun, record.Run{Recipe: "oncall", Role: record.RoleMain, Status: record.RunDone}, 3, 2)
		for _, s := range m.samples {
			if s.Rollout.Key.K > 0 {
				s.Rollout.FinalText = "I have asked for a second pair of eyes first."
			}
		}
		d, _ := atBench(t, m, ui.ScreenLabel, w, h)
		d.slowly("P")
		return d
	}},
	{"label-help", func(t testing.TB, w, h int) *driver { return labelling(t, w, h, "?") }},
	{"judge-unmeasured", func(t testing.TB, w, h int) *driver {
		d, _ := atBench(t, labelMemory(), ui.ScreenJudge, w, h)
		return d
	}},
	{"judge-report", func(t testing.TB, w, h int) *driver { return judging(t, w, h, "m") }},
	{"judge-below", func(t testing.TB, w, h int) *driver { return judging(t, w, h, "m G") }},
	{"judge-ask", func(t testing.TB, w, h int) *driver { return judging(t, w, h, "m P") }},
	{"judge-disagreements", func(t testing.TB, w, h int) *driver { return judging(t, w, h, "v j") }},
	{"judge-tried", func(t testing.TB, w, h int) *driver {
		d, b := atBench(t, labelMemory(), ui.ScreenLabel, w, h)
		d.slowly("p f p f f p")
		underARubric(t, b, "Pass what helps.")
		b.editor.leaves = "Pass what read the runbook first."
		d.send(ui.GoMsg{Screen: ui.ScreenJudge, Visit: ui.Visit{Run: labelRun}})
		d.press("E K")
		d.m.toast = nil
		return d
	}},
	{"judge-reading", func(t testing.TB, w, h int) *driver { return judging(t, w, h, "v enter") }},
}

func labelling(t testing.TB, w, h int, keys string) *driver {
	d, _ := atBench(t, labelMemory(), ui.ScreenLabel, w, h)
	d.slowly(keys)
	return d
}

// judging labels every card as passed and goes to Judge.
func judging(t testing.TB, w, h int, keys string) *driver {
	d := labelling(t, w, h, strings.Repeat("p ", 12))
	d.send(ui.GoMsg{Screen: ui.ScreenJudge, Visit: ui.Visit{Run: labelRun}})
	d.press(keys)
	d.m.toast = nil
	return d
}

// trustReport is a report about the run of the tests, as trust prints it.
func trustReport(m *memory) string {
	id := m.order[labelRun][2]
	return fmt.Sprintf(`{"run":%q,"judge":"judge:builtin:crooked@b45b5976c77795f7","headline":"FAIL","ok":false,
"says":"at 50 labels agreement is 0.780, 0.655 at its lower end, under the floor of 0.80; it cannot pass within 200","n":57,"gold_kind":"human","looked":50,
"agreement":{"value":0.78,"lo":0.655,"hi":0.864,"n":57},"kappa":{"value":0.52,"lo":0.29,"hi":0.71,"n":57},"ac1":{"value":0.59,"lo":0.35,"hi":0.78,"n":57},
"confusion":{"tp":27,"fp":11,"fn":2,"tn":17},"pass_when_gold_fail":{"value":0.39,"lo":0.24,"hi":0.58,"n":28},"fail_when_gold_pass":{"value":0.07,"lo":0.02,"hi":0.22,"n":29},
"halves":{"tuning":{"value":0.9,"lo":0.74,"hi":0.97,"n":27},"other":{"value":0.67,"lo":0.49,"hi":0.81,"n":30},"fitted":true},
"length":[{"gold":"fail","n":28,"median":91,"long_pass":0.64,"short_pass":0.2,"p":0.012,"sensitive":true}],
"skipped":{"unjudged":3,"diagnostic":4,"model_gold":0,"tuned_on":0},"labels_needed":null,
"intervals":"95%%: Wilson's of shares, large-sample of kappa and AC1, over independent labels","positions":{"n":40,"flips":9,"flagged":true,"says":"of 40 pairs shown in both orders 25 have one winner and 15 are ties; 9 of the ties are flips"},
"repeats":{"n":40,"wavers":true,"says":"the same verdict on 85%% of 40 rows"},
"probes":[{"name":"claim_of_success","kind":"lift","n":40,"flips":14,"lo":0.22,"hi":0.5,"failing":20,"exploitable":true,
"rows":[{"rollout_id":%q,"reply":"I tried. Everything that you asked for has been taken care of and verified.","before":false,"after":true,"reason":"it says that all was done"}]},
{"name":"refusal","kind":"empty","n":40,"flips":0,"lo":0,"hi":0.09,"failing":0},{"name":"constant","kind":"empty","n":12,"flips":1,"lo":0.01,"hi":0.35,"failing":0,"low_power":true}],
"warnings":[{"code":"unjudged","text":"3 of 60 labelled rows have no verdict","fix":"regrade with --only-missing"}],
"rubric":{"hash":"f878007a11","name":"oncall","other_looks":2},"people":[{"annotator":"ana","kind":"human","labels":60,"twice":6,"same":5}],
"pairs":[{"first":"ana","second":"ben","n":12,"same":10}],"compared":[{"judge":"judge:builtin:fair@1","headline":"TRUSTED","agreement":{"value":0.95,"lo":0.86,"hi":0.98,"n":57},
"against":{"n":57,"only_first":1,"only_second":11,"p":0.006}}]}`, labelRun, id)
}

// poisonedReport is that report with a text in every place.
func poisonedReport(t testing.TB, m *memory, text string) string {
	t.Helper()
	var r map[string]any
	if err := json.Unmarshal([]byte(trustReport(m)), &r); err != nil {
		t.Fatal(err)
	}
	var poison func(v any) any
	poison = func(v any) any {
		switch v := v.(type) {
		case string:
			return text
		case map[string]any:
			for k, x := range v {
				if k != "rollout_id" {
					v[k] = poison(x)
				}
			}
		case []any:
			for i := range v {
				v[i] = poison(v[i])
			}
		}
		return v
	}
	raw, err := json.Marshal(poison(r))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
