package store

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/engine/record"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// known is what a test knows of one rollout, without the store.
type known struct {
	record.Sample
	gold  *float64
	cause record.Cause // put by hand
}

// varied fills a run whose rollouts differ in all that can be filtered by.
func varied(t testing.TB, db *DB) []known {
	t.Helper()
	ctx := t.Context()
	run := testRun("run1")
	run.Repeats = 3
	var out []known
	var posed []record.Posed
	for i := range 12 {
		task := testTask(i)
		task.Axes = record.Axes{record.AxisTool: pick(i, "get_order", "cancel_order"), record.AxisStance: pick(i/2, "ordinary", "adversarial", "in a hurry"), record.AxisRule: pick(i, `say "please"`, "a, b", `back\slash`)}
		task.Fault = nil
		if i%3 == 0 {
			task.Fault = &record.Fault{Tool: "get_order", Condition: pick(i/3, record.ConditionTimeout, record.ConditionStale)}
		}
		task.SituationID = record.SituationID(task.Axes, task.Fault)
		task.Identify()
		p := record.Posed{Task: task, Arm: pick(i, record.ArmStructured, record.ArmOpenEnded), Order: i, HeldOut: i%4 == 3}
		posed = append(posed, p)
		for k := range 3 {
			o := testOutcome(run.ID, task, 0, k)
			variedOutcome(&o, i, k)
			out = append(out, known{Sample: record.Sample{Posed: p, Outcome: o}})
		}
	}
	outcomes := make([]record.Outcome, len(out))
	for i := range out {
		outcomes[len(out)-1-i] = out[i].Outcome // as they came back, not as they were posed
	}
	if err := db.CreateRun(ctx, run); err != nil {
		t.Fatal(err)
	}
	if err := db.CommitTasks(ctx, run.ID, posed); err != nil {
		t.Fatal(err)
	}
	if err := db.CommitOutcomes(ctx, run.ID, outcomes); err != nil {
		t.Fatal(err)
	}
	for i := range out {
		k := &out[i]
		if i%5 == 0 && k.Rollout.Status == record.StatusDone {
			gold := float64(i % 2)
			k.gold = &gold
			verdict := pick(i, record.VerdictFail, record.VerdictPass)
			if _, err := db.AddLabel(ctx, record.Label{RolloutID: k.Rollout.ID, Annotator: "ann", Verdict: verdict, Purpose: record.PurposeFirst, Kind: record.GoldHuman}); err != nil {
				t.Fatal(err)
			}
		}
		if i%7 == 0 {
			k.cause = record.CauseWorld
			if _, err := db.AddCorrection(ctx, record.Correction{RolloutID: k.Rollout.ID, Cause: k.cause, Annotator: "ann"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

func pick[T any](i int, from ...T) T { return from[i%len(from)] }

func variedOutcome(o *record.Outcome, i, k int) {
	r := &o.Rollout
	r.Behavior = pick(i+k, "get_order:ok|user|", "get_order:ok>cancel_order:ok|agent|acted")
	r.FinalText = record.Text(pick(i+k, "Done, your order is cancelled.", "I'm sorry about that: 100% of it_is gone.", "支払い済みです"))
	r.Steps = r.Steps[:0]
	for n := range (i + k) % 4 {
		r.Steps = append(r.Steps, record.Step{Kind: record.StepTool, Tool: pick(n+i, "get_order", `odd "tool"`, "cancel_order"), Arguments: json.RawMessage(`{}`), Result: json.RawMessage(`"ok"`)})
	}
	reward := pick(i*3+k, 1, 0, 0.5, 1, 0)
	o.Judgment.Reward = &reward
	o.Judgment.FailureClass = pick(i+k, "", "unsafe", "made up")
	o.Markers[0].Value = &reward
	switch {
	case (i+k)%9 == 8:
		r.Status, r.Cause, r.Error = record.StatusLost, pick(i, record.CauseAgent, record.CauseInfrastructure), "gone"
		o.Judgment, o.Markers = nil, nil
	case (i+k)%7 == 6:
		o.Judgment.Reward, o.Judgment.Status = nil, record.JudgeError
		o.Markers[0].Value, o.Markers[0].Status = nil, record.MarkerNotApplicable
	}
}

// condition is a random condition as a line and as a test of one rollout, made
// apart from the parser.
type condition struct {
	text  string
	holds func(k *known, all []known) bool
}

func reward(k *known) *float64 { return k.Reward() }

func wordCondition(t *rapid.T) condition {
	words := map[string]func(k *known) string{
		"status":        func(k *known) string { return string(k.Rollout.Status) },
		"arm":           func(k *known) string { return k.Arm },
		"stance":        func(k *known) string { return k.Task.Axes[record.AxisStance] },
		"tool":          func(k *known) string { return k.Task.Axes[record.AxisTool] },
		"rule":          func(k *known) string { return k.Task.Axes[record.AxisRule] },
		"behavior":      func(k *known) string { return k.Rollout.Behavior },
		"task_id":       func(k *known) string { return k.Task.ID },
		"rollout_id":    func(k *known) string { return k.Rollout.ID },
		"failure_class": func(k *known) string { return classOf(k) },
		"verdict":       verdictOf,
		"fault": func(k *known) string {
			if k.Task.Fault == nil {
				return ""
			}
			return k.Task.Fault.Condition
		},
		"cause": func(k *known) string {
			if k.cause != "" {
				return string(k.cause)
			}
			return string(k.Rollout.Cause)
		},
	}
	name := rapid.SampledFrom(slices.Sorted(mapsKeys(words))).Draw(t, "name")
	word := words[name]
	values := rapid.SliceOfN(rapid.SampledFrom([]string{"done", "lost", "structured", "ordinary", "adversarial", "in a hurry", `say "please"`, "a, b", `back\slash`, "get_order", "timeout", "agent", "world",
		"unsafe", "made up", "pass", "fail", "partial", "unjudged", "", "get_order:ok|user|", "nothing"}), 1, 2).Draw(t, "values")
	value := Quote(values[0])
	if len(values) == 2 && Quote(values[0]) == values[0] && Quote(values[1]) == values[1] {
		value = values[0] + "," + values[1]
	} else {
		values = values[:1]
	}
	if rapid.Bool().Draw(t, "equal") {
		return condition{name + "=" + value, func(k *known, _ []known) bool { return slices.Contains(values, word(k)) }}
	}
	return condition{name + "!=" + value, func(k *known, _ []known) bool { return !slices.Contains(values, word(k)) }}
}

func mapsKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func classOf(k *known) string {
	if k.Judgment == nil {
		return ""
	}
	return k.Judgment.FailureClass
}

func verdictOf(k *known) string {
	r := reward(k)
	switch {
	case k.Rollout.Status != record.StatusDone:
		return string(k.Rollout.Status)
	case r == nil:
		return "unjudged"
	case *r >= 1:
		return "pass"
	case *r > 0:
		return "partial"
	}
	return "fail"
}

func numberCondition(t *rapid.T) condition {
	number := func(v int) *float64 { f := float64(v); return &f }
	numbers := map[string]func(k *known) *float64{
		"reward": reward, "gold": func(k *known) *float64 { return k.gold },
		"k":         func(k *known) *float64 { return number(k.Rollout.Key.K) },
		"steps":     func(k *known) *float64 { return number(len(k.Rollout.Steps)) },
		"calls":     func(k *known) *float64 { return number(len(k.Rollout.Steps)) },
		"marker:m0": func(k *known) *float64 { return k.Marker("m0") },
		"marker:no": func(k *known) *float64 { return nil },
	}
	name := rapid.SampledFrom(slices.Sorted(mapsKeys(numbers))).Draw(t, "name")
	of := numbers[name]
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		if rapid.Bool().Draw(t, "is") {
			return condition{name + "=null", func(k *known, _ []known) bool { return of(k) == nil }}
		}
		return condition{name + "!=null", func(k *known, _ []known) bool { return of(k) != nil }}
	}
	want := rapid.SampledFrom([]float64{0, 0.5, 1, 2, -1}).Draw(t, "want")
	op := rapid.SampledFrom([]string{"=", "!=", "<", "<=", ">", ">="}).Draw(t, "op")
	holds := map[string]func(v float64) bool{
		"=": func(v float64) bool { return v == want }, "!=": func(v float64) bool { return v != want },
		"<": func(v float64) bool { return v < want }, "<=": func(v float64) bool { return v <= want },
		">": func(v float64) bool { return v > want }, ">=": func(v float64) bool { return v >= want },
	}[op]
	return condition{name + op + strconv.FormatFloat(want, 'g', -1, 64), func(k *known, _ []known) bool { v := of(k); return v != nil && holds(*v) }}
}

func otherCondition(t *rapid.T) condition {
	switch rapid.IntRange(0, 4).Draw(t, "which") {
	case 0:
		tool := rapid.SampledFrom([]string{"get_order", `odd "tool"`, "order", "cancel_order"}).Draw(t, "tool")
		return condition{"tool:" + Quote(tool), func(k *known, _ []known) bool {
			return slices.ContainsFunc(k.Rollout.Steps, func(s record.Step) bool { return s.Tool == tool })
		}}
	case 1:
		text := rapid.SampledFrom([]string{"sorry about that", "SORRY", "your order", "支払い", "100%", "number 3", "restart billing", "it_is", "nowhere"}).Draw(t, "text")
		return condition{`"` + text + `"`, func(k *known, _ []known) bool {
			return strings.Contains(strings.ToLower(string(k.Rollout.FinalText+" "+k.Task.Ask)), strings.ToLower(text))
		}}
	case 2:
		return condition{"k-split", func(k *known, all []known) bool {
			var pass, fail bool
			for i := range all {
				if r := reward(&all[i]); all[i].Task.ID == k.Task.ID && all[i].Rollout.Status == record.StatusDone && r != nil {
					pass, fail = pass || *r >= 1, fail || *r < 1
				}
			}
			return pass && fail
		}}
	case 3:
		agrees := rapid.Bool().Draw(t, "agrees")
		op := map[bool]string{true: "=", false: "!="}[agrees]
		return condition{"judge" + op + "gold", func(k *known, _ []known) bool {
			r := reward(k)
			return r != nil && k.gold != nil && (*k.gold == 1 == (*r >= 1)) == agrees
		}}
	}
	held := rapid.Bool().Draw(t, "held")
	return condition{fmt.Sprintf("held_out=%v", held), func(k *known, _ []known) bool { return k.HeldOut == held }}
}

// TestFilterKeepsWhatItSays holds filters against a second reading of their
// conditions in Go, while the text index is whole, partly there, and not there.
func TestFilterKeepsWhatItSays(t *testing.T) {
	for _, indexed := range []int{0, 10, 100} {
		db := openNew(t)
		all := varied(t, db)
		if err := db.tx(t.Context(), func(t *tx) error { // as it was before anything was indexed
			if err := t.exec("DELETE FROM transcript_words"); err != nil {
				return err
			}
			return t.exec("UPDATE words_state SET indexed_to = 0")
		}); err != nil {
			t.Fatal(err)
		}
		db.words.cancel()
		db.words.done.Wait()
		if indexed > 0 {
			if _, err := db.IndexWords(t.Context(), indexed); err != nil {
				t.Fatal(err)
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			var line []string
			var conditions []condition
			for range rapid.IntRange(0, 3).Draw(t, "terms") {
				c := rapid.OneOf(rapid.Custom(wordCondition), rapid.Custom(numberCondition), rapid.Custom(otherCondition)).Draw(t, "condition")
				if positive := c.holds; rapid.IntRange(0, 3).Draw(t, "not") == 0 {
					c = condition{"-" + c.text, func(k *known, all []known) bool { return !positive(k, all) }}
				}
				line, conditions = append(line, c.text), append(conditions, c)
			}
			text := strings.Join(line, rapid.SampledFrom([]string{" ", "  "}).Draw(t, "space"))
			f, err := ParseFilter(text)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := ParseFilter(f.String()); err != nil || again.String() != f.String() {
				t.Fatalf("%q reads back as %q: %v", f, again, err)
			}
			var want []string
			for i := range all {
				if !slices.ContainsFunc(conditions, func(c condition) bool { return !c.holds(&all[i], all) }) {
					want = append(want, all[i].Rollout.ID)
				}
			}
			rows, err := db.FindRows(t.Context(), "run1", RowQuery{Filter: f})
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			got, err := db.RolloutIDs(t.Context(), rows)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s keeps (-want +got):\n%s", text, diff)
			}
		})
	}
}

func TestFilterErrors(t *testing.T) {
	for line, want := range map[string]string{
		"stanse=ordinary":                  `did you mean "stance"?`,
		"reward=high":                      `"high" is no number`,
		"stance>3":                         "only = and != apply",
		"hello":                            "no =",
		"k-spilt":                          `did you mean "k-split"?`,
		`""`:                               "no words",
		"tool:":                            "names no tool",
		"held_out=maybe":                   "true or false",
		"reward!0":                         "write !=",
		strings.Repeat("k=1 ", maxTerms+1): "at most 40",
	} {
		if _, err := ParseFilter(line); err == nil || !strings.Contains(err.Error(), want) || CodeOf(err) != CodeBadFilter {
			t.Errorf("%.40q: %v, want %q", line, err, want)
		}
	}
}

func TestTypingAt(t *testing.T) {
	for _, tt := range []struct {
		line string
		want Typing
	}{
		{"", Typing{}},
		{"stan", Typing{Part: "stan", Raw: 4}},
		{"reward=0 -sta", Typing{Part: "sta", Raw: 3}},
		{"reward=0 ", Typing{}},
		{"stance=adv", Typing{Field: "stance", Part: "adv", Raw: 3}},
		{"stance!=", Typing{Field: "stance"}},
		{"stance=ordinary,adv", Typing{Field: "stance", Part: "adv", Raw: 3}},
		{`stance="in a h`, Typing{Field: "stance", Part: "in a h", Raw: 7}},
		{"x=1 tool:get", Typing{Field: "tool:", Part: "get", Raw: 3}},
		{`"sorry ab`, Typing{Part: `"sorry ab`, Raw: 9}},
		{"stance=支", Typing{Field: "stance", Part: "支", Raw: 1}},
	} {
		if got := TypingAt(tt.line); got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.line, got, tt.want)
		}
	}
}

func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"", `reward=0 tool:issue_refund stance=adversarial fault=timeout "sorry"`, "judge!=gold", "-k-split steps>6", `rule="say \"please\""`, `"`, "--", "marker:x<1", "stance=a,b,", "reward=1e999", "'; DROP TABLE runs; --=1", `tool:"`} {
		f.Add(seed)
	}
	db, err := Open(f.Context(), filepath.Join(f.TempDir(), "assay.db"), Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	varied(f, db)
	f.Fuzz(func(t *testing.T, line string) {
		TypingAt(line)
		parsed, err := ParseFilter(line)
		if err != nil {
			return
		}
		if _, err := db.FindRows(t.Context(), "run1", RowQuery{Filter: parsed}); err != nil {
			t.Fatalf("%q cannot be asked: %v", line, err)
		}
	})
}

func TestRowsAreSorted(t *testing.T) {
	db := openNew(t)
	varied(t, db)
	for _, f := range fields() {
		for _, descending := range []bool{false, true} {
			rows, err := db.FindRows(t.Context(), "run1", RowQuery{Sort: f.name, Descending: descending})
			if err != nil || len(rows) != 36 {
				t.Fatalf("by %s: %d rows, %v", f.name, len(rows), err)
			}
		}
	}
	up, err := db.FindRows(t.Context(), "run1", RowQuery{})
	if err != nil {
		t.Fatal(err)
	}
	down, err := db.FindRows(t.Context(), "run1", RowQuery{Descending: true})
	if slices.Reverse(down); err != nil || !slices.Equal(up, down) {
		t.Errorf("as posed %v, the other way round %v, %v", up, down, err)
	}
	tasks, err := db.TaskRows(t.Context(), "run1", RowQuery{Descending: true})
	if last, lastErr := db.HeadsAt(t.Context(), up[len(up)-1:]); err != nil || lastErr != nil || tasks[0].TaskID != last[0].TaskID {
		t.Errorf("the last task does not come first: %v, %v", err, lastErr)
	}
	rows, err := db.FindRows(t.Context(), "run1", RowQuery{Sort: "reward", Descending: true, Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	heads, err := db.HeadsAt(t.Context(), rows)
	if err != nil || len(heads) != 20 {
		t.Fatalf("%d heads, %v", len(heads), err)
	}
	if !slices.IsSortedFunc(heads, func(a, b RolloutHead) int { return int(2*(*b.Reward) - 2*(*a.Reward)) }) {
		t.Error("the rewards do not fall")
	}
	if _, err := db.FindRows(t.Context(), "run1", RowQuery{Sort: "reward; DROP TABLE runs"}); CodeOf(err) != CodeInvalid {
		t.Errorf("an unknown field to sort by gives %v", err)
	}
}

// TestTasksGroupsAndSiblings counts the same rollouts by hand.
func TestTasksGroupsAndSiblings(t *testing.T) {
	db := openNew(t)
	all := varied(t, db)
	ctx := t.Context()
	cells := map[string]string{}
	codes := map[string]string{"pass": "p", "partial": "h", "fail": "f", "unjudged": "u", "lost": "l"}
	byStance := map[string]Tally{}
	for i := range all {
		k := &all[i]
		cells[k.Task.ID] += codes[verdictOf(k)]
		g := byStance[k.Task.Axes[record.AxisStance]]
		switch verdictOf(k) {
		case "pass":
			g.Graded, g.Passed, g.Done = g.Graded+1, g.Passed+1, g.Done+1
		case "partial", "fail":
			g.Graded, g.Done = g.Graded+1, g.Done+1
		case "unjudged":
			g.Done++
		case "lost":
			g.Lost++
		}
		g.Tasks = 4
		byStance[k.Task.Axes[record.AxisStance]] = g
	}
	tasks, err := db.TaskRows(ctx, "run1", RowQuery{})
	if err != nil || len(tasks) != 12 {
		t.Fatalf("%d tasks, %v", len(tasks), err)
	}
	var ids []string
	for i, task := range tasks {
		if task.Cells != cells[task.TaskID] || task.TaskID != all[3*i].Task.ID {
			t.Errorf("task %d is %+v, want %s of %s", i, task, cells[task.TaskID], all[3*i].Task.ID)
		}
		ids = append(ids, task.TaskID)
	}
	heads, err := db.TaskHeads(ctx, "run1", ids)
	if err != nil || len(heads) != 12 || heads[3].TaskID != ids[3] || heads[3].Ask != all[9].Task.Ask || heads[3].Fault == nil {
		t.Errorf("heads of tasks %+v, %v", heads, err)
	}
	split, err := ParseFilter("k-split")
	if err != nil {
		t.Fatal(err)
	}
	some, err := db.TaskRows(ctx, "run1", RowQuery{Filter: split, Sort: "verdict"})
	if err != nil || len(some) == 0 || len(some) == 12 {
		t.Fatalf("%d tasks are split, %v", len(some), err)
	}
	for i, task := range some {
		if !strings.Contains(task.Cells, "p") || task.Passed == task.Graded {
			t.Errorf("%+v is not split", task)
		}
		if i > 0 && some[i-1].Passed*task.Graded > task.Passed*some[i-1].Graded {
			t.Errorf("%+v stands before %+v", some[i-1], task)
		}
	}
	groups, err := db.TallyBy(ctx, "run1", Filter{}, record.AxisStance)
	if err != nil || len(groups) != 3 {
		t.Fatalf("%+v, %v", groups, err)
	}
	for _, g := range groups {
		want := byStance[g.Values[0]]
		want.Values = g.Values
		if diff := cmp.Diff(want, g); diff != "" {
			t.Errorf("group (-want +got):\n%s", diff)
		}
	}
	for _, by := range GroupFields() {
		if _, err := db.TallyBy(ctx, "run1", split, by, record.AxisTool); err != nil {
			t.Errorf("by %s: %v", by, err)
		}
		values, err := db.FieldValues(ctx, "run1", by)
		if err != nil || by == record.AxisStance && (len(values) != 3 || values[0].N != 12) {
			t.Errorf("values of %s: %v, %v", by, values, err)
		}
	}
	for _, name := range []string{"tool:", "marker:"} {
		if values, err := db.FieldValues(ctx, "run1", name); err != nil || len(values) < 2 {
			t.Errorf("%s has %v, %v", name, values, err)
		}
	}
	siblings, err := db.Siblings(ctx, all[4].Rollout.ID)
	if err != nil || len(siblings) != 3 || siblings[1].ID != all[4].Rollout.ID || siblings[2].Key.K != 2 {
		t.Errorf("siblings %+v, %v", siblings, err)
	}
}

// TestSamplesAreFiltered reads whole rollouts through the filter that lists them.
func TestSamplesAreFiltered(t *testing.T) {
	db := openNew(t)
	varied(t, db)
	for _, line := range []string{"", "reward=0", "fault=timeout verdict=pass", `"sorry" -tool:get_order`, "k-split judge_status=ok", "status=lost", "marker:m0<1 held_out=true"} {
		f, err := ParseFilter(line)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := db.FindRows(t.Context(), "run1", RowQuery{Filter: f})
		if err != nil {
			t.Fatal(err)
		}
		want, err := db.RolloutIDs(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for s, err := range db.Samples(t.Context(), "run1", record.SampleQuery{Where: line, Statuses: []record.Status{record.StatusDone, record.StatusLost}}) {
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			got = append(got, s.Rollout.ID)
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || line != "" && len(want) == 36 {
			t.Errorf("%q (-listed +read):\n%s", line, diff)
		}
	}
	for _, err := range db.Samples(t.Context(), "run1", record.SampleQuery{Where: "nonsense"}) {
		if CodeOf(err) != CodeBadFilter {
			t.Errorf("nonsense gives %v", err)
		}
	}
}
