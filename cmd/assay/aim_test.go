package main

import (
	"encoding/json"
	"strings"
	"testing"

	"assay/engine/record"
)

// rowsOf are a run's rows, as far as these tests read them.
func (p *place) rowsOf(run string) []aimedRow {
	p.t.Helper()
	var out []aimedRow
	for line := range strings.Lines(p.must("rows", run)) {
		var row aimedRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			p.t.Fatal(err)
		}
		out = append(out, row)
	}
	return out
}

type aimedRow struct {
	SituationID string      `json:"situation_id"`
	Axes        record.Axes `json:"axes"`
	HeldOut     bool        `json:"held_out"`
}

func situationsOf(rows []aimedRow) map[string]bool {
	out := map[string]bool{}
	for _, r := range rows {
		if r.Axes != nil {
			out[r.SituationID] = true
		}
	}
	return out
}

// A run that is aimed by another asks what that one has not, is told so, and goes
// on as it was aimed after an interruption, whatever became of the other.
func TestAimedRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.hunting()
	p.must("run", "hunting", "--mode", "explore", "--situations", "40", "--name", "first")
	p.must("run", "hunting", "--mode", "explore", "--situations", "40", "--name", "second", "--aim", "first")
	first, second := situationsOf(p.rowsOf("first")), situationsOf(p.rowsOf("second"))
	again := 0
	for id := range second {
		if first[id] {
			again++
		}
	}
	if len(second) < 30 || again > 0 {
		t.Errorf("of %d situations of the second run %d were in the first", len(second), again)
	}
	if shown := p.must("show", "second"); !strings.Contains(shown, "come last") || !strings.Contains(shown, "of the grid are hard") {
		t.Errorf("the run does not say that it was aimed, or its mix:\n%s", shown)
	}

	if _, errs, code := p.run("run", "hunting", "--tasks", "first", "--aim", "first"); code != 2 || !strings.Contains(errs, "--aim") {
		t.Errorf("another run's tasks cannot be aimed: exit %d\n%s", code, errs)
	}

	p.must("run", "hunting", "--mode", "explore", "--situations", "60", "--name", "stopped", "--aim", "first", "--budget", "40")
	p.must("hide", "first")
	p.must("purge", "first")
	if _, errs, code := p.run("resume", "stopped"); code != 0 {
		t.Errorf("an aimed run whose aim is purged does not resume: exit %d\n%s", code, errs)
	}
	_, errs, code := p.run("run", "hunting", "--mode", "explore", "--aim", "first")
	if code != 2 || !strings.Contains(errs, "first") {
		t.Errorf("a run aimed by one that is gone: exit %d\n%s", code, errs)
	}
}

// The app's form offers what the flags do, the aim with what the recipe says of it.
func TestFormOffersTheAim(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.hunting()
	p.write("hunting/recipe.yaml", strings.Replace(p.read("hunting/recipe.yaml"), "batch: 24}", "batch: 24, aim: nightly}", 1))
	knobs, err := (&session{}).knobs(p.file("hunting"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range knobs {
		if k.Name == "aim" && k.Default == "nightly" && strings.Contains(k.About, "imported log") {
			return
		}
	}
	t.Errorf("no aim among %+v", knobs)
}

// An imported log aims too: its failures are of the tools that it called.
func TestAimByAnImportedLog(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.hunting()
	var log strings.Builder
	for i := range 12 {
		tool, reward := "cancel_order", 0
		if i%3 == 0 {
			tool, reward = "get_order", 1
		}
		row, err := json.Marshal(map[string]any{"schema_version": "1", "prompt": "Please look at my order, number " + string(rune('A'+i)), "reward": reward, "final_text": "Done.",
			"steps": []any{map[string]any{"tool": tool, "arguments": map[string]any{"order_id": "ORD-1"}, "result": map[string]any{"ok": true}}}})
		if err != nil {
			t.Fatal(err)
		}
		log.Write(row)
		log.WriteByte('\n')
	}
	p.must("import", p.write("log.jsonl", log.String()))
	imported := "last"
	p.must("run", "hunting", "--mode", "explore", "--situations", "40", "--name", "aimed", "--aim", imported)
	asked, of := 0, 0
	for _, r := range p.rowsOf("aimed") {
		if r.Axes != nil && !r.HeldOut {
			of++
			if r.Axes[record.AxisTool] == "cancel_order" {
				asked++
			}
		}
	}
	if 3*asked < of {
		t.Errorf("%d of %d rollouts are for the tool that failed in the log", asked, of)
	}
}
