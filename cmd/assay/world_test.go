package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"assay/engine"
	"assay/engine/record"
	"assay/engine/world"
	"assay/recipes"
)

// worldDoc is what world prints with --json.
type worldDoc struct {
	Task     handTask
	Tools    []record.Tool
	Calls    []record.Step
	Warnings []record.Warning
}

func TestWorldByHand(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	task := p.taskWith("seeded-agent", record.EntityExists)
	order := fmt.Sprintf(`{"order_id":%q}`, task.Entities[0].ID)
	call := func(tool string) string { return fmt.Sprintf(`{"tool":%q,"arguments":%s}`, tool, order) }
	doc := decode[worldDoc](t, p.must("world", "seeded-agent", "--task", task.ID[:8], "--without-fault", "--json", "--call", call("get_order"), "--call", call("cancel_order"), "--call", call("cancel_order")))
	if doc.Task.ID != task.ID || doc.Task.Fault != nil || len(doc.Tools) != 3 || len(doc.Calls) != 3 {
		t.Fatalf("%+v", doc)
	}
	if doc.Calls[0].IsError || doc.Calls[1].IsError || !doc.Calls[2].IsError || !strings.Contains(string(doc.Calls[2].Result), record.ErrAlreadyDone) {
		t.Errorf("%s, %s, %s", doc.Calls[0].Result, doc.Calls[1].Result, doc.Calls[2].Result)
	}
	said := p.must("world", "seeded-agent", "--task", task.ID, "--call", call("get_order"))
	for _, want := range []string{task.ID, "refund_order(order_id)", "destructive", "get_order " + order, "-> {"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said: %s", want, said)
		}
	}
}

// speak runs assay with lines on its stdin.
func (p *place) speak(stdin string, args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	c := p.command(args...)
	c.Stdin = strings.NewReader(stdin)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run() // the exit code says how it went
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

func TestWorldLineByLine(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	task := p.taskWith("seeded-agent", record.EntityExists)
	order := fmt.Sprintf(`{"order_id":%q}`, task.Entities[0].ID)
	lines := "cancel_order " + order + "\n\n{\"tool\":\"cancel_order\",\"arguments\":" + order + "}\nagain\ncancel_order " + order + "\nget_order\nquit\nget_order\n"
	out, errs, code := p.speak(lines, "world", "seeded-agent", "--task", task.ID, "--without-fault", "--json")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	doc := decode[worldDoc](t, out)
	var went []bool
	for _, s := range doc.Calls {
		went = append(went, !s.IsError)
	}
	if fmt.Sprint(went) != "[true false true false]" { // again is a fresh world, quit ends it
		t.Errorf("calls went %v", went)
	}
	for lines, says := range map[string]string{
		"get_order\nget_ordr\n":    "line 2 of stdin",
		"get_order {\n":            "not JSON",
		"{\"tool\":1}\n":           "line 1",
		"{\"tool\":\"x\"} {}\n":    "one object",
		"{\"tol\":\"get_order\"}":  "tol",
		"{\"arguments\":{}}\n":     "names a tool",
		strings.Repeat("x", 3<<20): "too long",
	} {
		if out, errs, code := p.speak(lines, "world", "seeded-agent"); code != exitCouldNot || !strings.Contains(errs, says) {
			t.Errorf("%.40q: exit %d, %s%s", lines, code, out, errs)
		}
	}
}

func TestWorldRefuses(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("none/recipe.yaml", "name: none\nagent: {builtin: seeded}\nsimulate: {dimensions: {stance: []}}\n")
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"seeded-agent", "--task", "100000"}, "from 0 to"},
		{[]string{"seeded-agent", "--task", "-1"}, "from 0 to"},
		{[]string{"seeded-agent", "--task", "zzz"}, "no task's id begins"},
		{[]string{"seeded-agent", "--task", ""}, "more than one"},
		{[]string{"seeded-agent", "--call", "{}"}, "names a tool"},
		{[]string{"seeded-agent", "--call", `{"tool":"x"}`, "--mcp", "stdio"}, "--mcp"},
		{[]string{"seeded-agent", "--mcp", "8080"}, "HOST:PORT"},
		{[]string{"seeded-agent", "--mcp", "stdio", "--json"}, "stdout"},
		{[]string{"no-such-recipe"}, "no embedded recipe"},
		{[]string{"none"}, "stance"},
	} {
		if out, errs, code := p.run(append([]string{"world"}, tt.args...)...); code != exitCouldNot || !strings.Contains(errs, tt.says) {
			t.Errorf("%q: exit %d, %s%s", tt.args, code, out, errs)
		}
	}
}

// W4, through the recipes that ship: an entity that a task sets up as existing is
// there, and one that is missing is not, for every read that takes it.
func TestW4AsksAndWorldsOfTheRecipesAgree(t *testing.T) {
	t.Parallel()
	there, missing := 0, 0
	for _, r := range recipes.List() {
		recipe, err := (&session{environ: []string{"HOME=" + t.TempDir()}}).loadRecipe(r.Name)
		if err != nil {
			t.Fatal(err)
		}
		posed, tools, err := engine.Pose(t.Context(), recipe)
		if err != nil {
			t.Fatal(err)
		}
		set := world.Compile(tools)
		for _, p := range posed {
			for _, e := range p.Task.World.Entities {
				for i := range tools {
					if tools[i].Kind != record.ToolRead || !onlyNeeds(&tools[i], e.Argument) {
						continue
					}
					arguments, _ := json.Marshal(map[string]string{e.Argument: e.ID})
					got := set.World(world.Without(p.Task), world.DefaultDials()).Call(record.ToolCall{Tool: tools[i].Name, Arguments: arguments})
					switch {
					case e.State == record.EntityExists && !got.IsError:
						there++
					case e.State == record.EntityMissing && got.IsError && strings.Contains(string(got.Result), record.ErrNotFound):
						missing++
					case e.State == record.EntityExists || e.State == record.EntityMissing:
						t.Errorf("%s, task %s: %s %s is set up as %s, and %s answers %s", r.Name, p.Task.ID, e.Argument, e.ID, e.State, tools[i].Name, got.Result)
					}
				}
			}
		}
	}
	if there < 50 || missing < 20 {
		t.Errorf("only %d entities that exist and %d that are missing were read", there, missing)
	}
}

// onlyNeeds reports whether a tool can be called with one argument alone.
func onlyNeeds(t *record.Tool, argument string) bool {
	var s struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	if json.Unmarshal(t.Parameters, &s) != nil || s.Properties[argument] == nil {
		return false
	}
	for _, name := range s.Required {
		if name != argument {
			return false
		}
	}
	return true
}

// W9: an agent with tools of its own meets no injected fault, whatever the fault
// rate, and the run says so.
func TestW9FaultsAreNotPlayedOnRealTools(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.orders("r")
	for rate, warned := range map[string]bool{"1": true, "0": false} {
		p.write("r/recipe.yaml", "name: own\nagent: {command: [calling-agent, own], version: \"1\", tools_by: agent}\nsystem_prompt: policy.md\ntools: tools.json\nsimulate: {mode: eval, holdout: 1, situations: 12, repeats: 2, fault_rate: "+rate+"}\n")
		r := decode[engine.StoryResult](t, p.must("run", "r", "--json"))
		said := false
		for _, w := range r.Warnings {
			said = said || w.Code == "faults_not_played" && strings.Contains(w.Text, "fault_rate does not apply")
		}
		if said != warned {
			t.Errorf("fault_rate %s: warned %v: %+v", rate, said, r.Warnings)
		}
		calls := 0
		for _, row := range p.rows("last") {
			for _, s := range row.Steps {
				if s.Fault != "" {
					t.Errorf("a fault %s stands on a call of a real tool", s.Fault)
				}
				if s.Kind == record.StepTool {
					calls++
				}
			}
		}
		if calls == 0 {
			t.Error("the agent called none of its tools")
		}
	}
}

// sayings are the texts of a run's warnings.
func sayings(r *engine.StoryResult) []string {
	var texts []string
	for _, w := range r.Warnings {
		texts = append(texts, w.Text)
	}
	slices.Sort(texts)
	return texts
}

func (p *place) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(p.file(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// deadWarning is the warning that a tool is dead, nil for none.
func deadWarning(r *engine.StoryResult, tool string) *record.Warning {
	for i, w := range r.Warnings {
		if w.Code == "dead_tool" && strings.Contains(w.Text, " "+tool+" ") {
			return &r.Warnings[i]
		}
	}
	return nil
}

// A tool that never works is named at the end of a run, with what it answered;
// one that fails by injected faults alone is not (W8).
func TestDeadToolsAreNamed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.orders("r")
	recipe := func(agent, dimensions string) {
		p.write("r/recipe.yaml", "name: dead\nagent: {command: [calling-agent, "+agent+"], version: \"1\"}\nsystem_prompt: policy.md\ntools: tools.json\n"+
			"simulate: {mode: eval, holdout: 1, situations: 16, repeats: 2, fault_rate: 1, dimensions: {"+dimensions+"}}\n")
	}
	recipe("lost", "")
	r := decode[engine.StoryResult](t, p.must("run", "r", "--json"))
	for _, tool := range []string{"get_order", "refund_order", "cancel_order"} {
		w := deadWarning(&r, tool)
		if w == nil || !strings.Contains(w.Text, "worked in 0 of") || !strings.Contains(w.Text, record.ErrNotFound) || !strings.Contains(w.Fix, "ids") {
			t.Errorf("no order is ever found by %s, and the warning is %+v", tool, w)
		}
	}
	// A run that was interrupted and resumed says it of all its rollouts, and once.
	p.write("r/recipe.yaml", strings.Replace(p.read("r/recipe.yaml"), "situations: 16", "situations: 60, concurrency: 1", 1))
	whole := decode[engine.StoryResult](t, p.must("run", "r", "--json"))
	c := p.command("run", "r", "--name", "cut")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for try := 0; try < 1000; try++ {
		if out, _, code := p.run("rows", "cut"); code == exitOK && out != "" {
			break
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // its exit code says how
	if code := c.ProcessState.ExitCode(); code != exitInterrupted {
		t.Fatalf("the run was not interrupted: exit %d", code)
	}
	resumed := decode[engine.StoryResult](t, p.must("resume", "cut", "--json"))
	if a, b := sayings(&whole), sayings(&resumed); !slices.Equal(a, b) {
		t.Errorf("resumed, it warns %q\nwhole, it warns   %q", b, a)
	}

	recipe("wire", "tool: [get_order], world_state: [exists], tool_condition: [timeout]")
	r = decode[engine.StoryResult](t, p.must("run", "r", "--json"))
	if w := deadWarning(&r, "get_order"); w != nil {
		t.Errorf("every call of get_order was faulted by plan, and it is called dead: %s", w.Text)
	}
	faulted := 0
	for _, row := range p.rows("last") {
		for _, s := range row.Steps {
			if s.Tool == "get_order" && s.Fault == record.ConditionTimeout {
				faulted++
			}
		}
	}
	if faulted == 0 {
		t.Error("no call was faulted: the test shows nothing")
	}
}
