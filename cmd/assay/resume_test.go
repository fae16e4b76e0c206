package main

import (
	"encoding/json"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/engine"
	"assay/recipes"
)

var kills = flag.Int("kills", 20, "how many times TestKilledRunsResume kills a run")

// canonical gives the canonical rows of a story's runs: the run itself, and its
// before and after.
func (p *place) canonical(run string) string {
	p.t.Helper()
	var b strings.Builder
	b.WriteString(p.must("rows", run, "--canonical"))
	var show struct {
		Parts []struct{ Run, Role string }
	}
	if err := json.Unmarshal([]byte(p.must("show", run, "--json")), &show); err != nil {
		p.t.Fatal(err)
	}
	for _, part := range show.Parts {
		b.WriteString(part.Role + "\n")
		b.WriteString(p.must("rows", part.Run, "--canonical"))
	}
	return b.String()
}

// firstDifference names the first line in which two texts differ.
func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return "line " + strconv.Itoa(i+1) + ":\n" + as[i] + "\n" + bs[i]
		}
	}
	return strconv.Itoa(len(as)) + " lines against " + strconv.Itoa(len(bs))
}

// hunting writes a recipe whose feedback really acts: many small batches, each
// planned from what came of those before.
func (p *place) hunting() {
	p.t.Helper()
	for _, name := range []string{"policy.md", "tools.json"} {
		text, err := fs.ReadFile(recipes.FS(), "01-simulate/seeded-agent/"+name)
		if err != nil {
			p.t.Fatal(err)
		}
		p.write("hunting/"+name, string(text))
	}
	p.write("hunting/recipe.yaml", `
name: hunting
agent: {builtin: seeded}
system_prompt: policy.md
tools: tools.json
simulate: {mode: explore, situations: 240, batch: 24}
grade: {markers: {right: "!called('refund_order') || first('get_order') < first('refund_order')"}, reward: {marker: right}}
`)
}

// TestConcurrencyChangesNothing is the law of determinism at concurrency 1, 8
// and 64.
func TestConcurrencyChangesNothing(t *testing.T) {
	t.Parallel()
	recipes := []string{"seeded-agent", "before-and-after", "hunting"}
	if testing.Short() {
		recipes = []string{"hunting"} // the one whose plan depends on what came back
	}
	for _, recipe := range recipes {
		t.Run(recipe, func(t *testing.T) {
			t.Parallel()
			var first string
			for _, n := range []string{"1", "8", "64"} {
				p := newPlace(t)
				p.hunting()
				p.must("run", recipe, "--concurrency", n)
				rows := p.canonical("last")
				if len(strings.Split(rows, "\n")) < 50 {
					t.Fatalf("only %d rows: nothing is compared", len(strings.Split(rows, "\n")))
				}
				if first == "" {
					first = rows
				} else if rows != first {
					t.Errorf("concurrency %s gives other rows: %s", n, firstDifference(first, rows))
				}
			}
		})
	}
}

// TestKilledRunsResume kills a run with SIGKILL at random moments, resumes it,
// and wants the rows of a run that nobody killed.
func TestKilledRunsResume(t *testing.T) {
	t.Parallel()
	times := map[string]int{"seeded-agent": *kills, "hunting": *kills / 4}
	if testing.Short() {
		times = map[string]int{"hunting": 2}
	}
	for recipe, kills := range times {
		t.Run(recipe, func(t *testing.T) {
			t.Parallel()
			killAndResume(t, recipe, kills)
		})
	}
}

func killAndResume(t *testing.T, recipe string, kills int) {
	whole := newPlace(t)
	whole.hunting()
	began := time.Now()
	whole.must("run", recipe)
	took := time.Since(began)
	want := whole.canonical("last")

	rng := rand.New(rand.NewPCG(1, uint64(began.UnixNano())))
	for done := 0; done < kills; {
		p := newPlace(t)
		p.hunting()
		args := []string{"run", recipe}
		for try := 0; ; try++ {
			if try == 5 { // let it end: the rest of the time is not what is tested
				break
			}
			c := p.command(args...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(time.Duration(rng.Int64N(int64(took))), func() { c.Process.Kill() })
			err := c.Wait()
			timer.Stop()
			if err == nil {
				break
			}
			done++
			if _, _, code := p.run("show", "last"); code != 0 {
				continue // killed before the run was on disk: begin again
			}
			args = []string{"resume", "last"}
		}
		if _, _, code := p.run("show", "last"); code != 0 {
			args = []string{"run", recipe}
		} else {
			args = []string{"resume", "last"}
		}
		p.must(args...)
		if rows := p.canonical("last"); rows != want {
			t.Fatalf("a killed and resumed run has other rows: %s", firstDifference(want, rows))
		}
		shown := p.must("show", "last")
		p.must("resume", "last") // a complete story: nothing changes, exit 0
		if rows := p.canonical("last"); rows != want {
			t.Fatalf("resuming a complete run changed it: %s", firstDifference(want, rows))
		}
		if again := p.must("show", "last"); again != shown {
			t.Fatalf("resuming a complete run shows: %s", firstDifference(shown, again))
		}
	}
}

// TestInterruptedRunSavesWhatWasDone sends an interrupt and wants exit 130, a
// stopped run, and a resume that completes it.
func TestInterruptedRunSavesWhatWasDone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("slow/recipe.yaml", slowRecipe)
	c := p.command("run", "slow")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for { // until a rollout is on disk
		out, _, code := p.run("show", "last", "--json")
		var show struct{ Rollouts int }
		if code == 0 && json.Unmarshal([]byte(out), &show) == nil && show.Rollouts > 0 {
			break
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Skip("this system sends no interrupt: ", err)
	}
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != exitInterrupted {
		t.Fatalf("exit %d, want %d", code, exitInterrupted)
	}
	var r engine.StoryResult
	if err := json.Unmarshal([]byte(p.must("resume", "last", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if r.StoppedBecause != "situations_complete" || r.Rollouts == 0 {
		t.Errorf("after the resume: %+v", r)
	}
}
