package engine

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/engine/record"
)

// readMap serves a recipe's folder from memory.
func readMap(files map[string]string) ReadFile {
	return func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, os.ErrNotExist
		}
		return []byte(text), nil
	}
}

func TestRecipeErrorsSayWhere(t *testing.T) {
	const head = "name: x\nagent: {builtin: seeded}\n"
	for name, c := range map[string]struct {
		text  string
		where string // line:column
		says  string
	}{
		"misspelt key":           {head + "simulate:\n  situatons: 4\n", "4:3", "did you mean situations"},
		"misspelt top key":       {head + "grades: {}\n", "3:1", "did you mean grade"},
		"misspelt nested key":    {head + "grade:\n  reward:\n    judge:\n      rubrik: x\n", "6:7", "did you mean rubric"},
		"misspelt key in seeds":  {head + "simulate:\n  seeds:\n    - {ask: hi, refrence: {a: 1}}\n", "5:17", "did you mean reference"},
		"misspelt key in cut":    {head + "simulate: {mode: rl}\ncut:\n  - {for: sft, formt: trl}\n", "5:16", "did you mean format"},
		"wrong type":             {head + "simulate:\n  situations: many\n", "4:15", ""},
		"unknown mode":           {head + "simulate:\n  mode: evl\n", "4:9", "did you mean eval"},
		"out of bounds":          {head + "simulate:\n  repeats: 0\n", "4:12", "1 to 1000"},
		"share over one":         {head + "simulate:\n  holdout: 1.5\n", "4:12", "no share"},
		"two agents":             {"name: x\nagent:\n  builtin: seeded\n  command: [a]\n", "3:3", "more than one agent"},
		"no agent":               {"name: x\n", "", "no agent"},
		"two rewards":            {head + "grade:\n  reward:\n    marker: a\n    judge: {builtin: fair}\n", "5:5", "exactly one"},
		"few rl repeats":         {head + "simulate:\n  mode: rl\n  repeats: 3\n", "5:12", "probes"},
		"cut in eval":            {head + "simulate: {mode: eval}\ncut: [sft]\n", "4:6", "never trained on"},
		"cut by default mode":    {head + "cut: [sft]\n", "3:6", "never trained on"},
		"empty after":            {head + "after: {}\n", "3:8", "nothing is changed"},
		"bad duration":           {"name: x\nagent:\n  builtin: seeded\n  timeout: soon\n", "4:12", "no duration"},
		"half a situation":       {head + "simulate:\n  situations: 10.5\n", "4:15", "whole number"},
		"a number as text":       {head + "simulate:\n  situations: \"10\"\n", "4:15", "whole number"},
		"half a seed":            {head + "simulate:\n  seed: 1.5\n", "4:9", "whole number"},
		"an empty argument":      {"name: x\nagent:\n  command: [a, null]\n", "3:16", "empty"},
		"a list as text":         {head + "system_prompt: [a]\n", "3:16", "text"},
		"not UTF-8":              {head + "# \xff\n", "3", "UTF-8"},
		"an alias":               {"name: &a x\nagent: {builtin: *a}\n", "1:7", "anchors"},
		"a duplicate key":        {head + "name: y\n", "3:1", ""},
		"not a mapping":          {"- a\n", "1:1", "mapping"},
		"broken yaml":            {"name: [x\n", "", ""},
		"empty":                  {"", "", "empty"},
		"two documents":          {head + "---\nname: z\n", "4:5", "second"},
		"misspelt provider":      {"name: x\nagent:\n  model: opnai:gpt-x\n", "3:10", "did you mean openai:gpt-x"},
		"no provider":            {"name: x\nagent:\n  model: gpt-x\n", "3:10", "openai:gpt-x"},
		"no address":             {"name: x\nagent: {model: vllm:m}\n", "2:16", "http://"},
		"misspelt judge":         {head + "grade:\n  reward:\n    judge: {model: \"antropic:c\", rubric: \"1. Good.\"}\n", "5:20", "did you mean anthropic:c"},
		"misspelt user":          {head + "simulate: {user: scrpted}\n", "3:18", "did you mean scripted"},
		"misspelt user's model":  {head + "simulate:\n  user: {model: olama:m}\n", "4:17", "did you mean ollama:m"},
		"misspelt writer":        {head + "simulate: {writer: opnai:m}\n", "3:20", "did you mean openai:m"},
		"misspelt after":         {head + "after: {agent: {model: vlm:m@http://h/v1}}\n", "3:24", "did you mean vllm:m@http://h/v1"},
		"misspelt option":        {"name: x\nagent:\n  model: openai:m\n  temprature: 1\n", "4:3", "did you mean temperature"},
		"misspelt price":         {"name: x\nagent: {model: openai:m, price: {inputs: 1}}\n", "2:34", "did you mean input"},
		"too hot":                {"name: x\nagent: {model: openai:m, temperature: 3}\n", "2:39", "0 to 2"},
		"two keys":               {"name: x\nagent: {model: openai:m, key_env: A, key_command: [pass]}\n", "2:51", "not from both"},
		"a key as its name":      {"name: x\nagent: {model: openai:m, key_env: \"a key\"}\n", "2:35", "never the key itself"},
		"an option of models":    {head[:8] + "agent: {builtin: seeded, temperature: 1}\n", "2:39", "only a model"},
		"a price of a command":   {"name: x\nagent: {command: [a], price: {input: 1}}\n", "2:31", "only a model"},
		"no endpoint":            {"name: x\nagent: {http: localhost:8080}\n", "2:15", "http://"},
		"a judge's temperature":  {head + "grade: {reward: {judge: {model: openai:m, rubric: \"1. A.\", temperature: 1}}}\n", "3:73", "temperature 0"},
		"a model's own tools":    {"name: x\nagent: {model: openai:m, tools_by: agent}\n", "2:36", "no tools of their own"},
		"a judge with no rubric": {head + "grade: {reward: {judge: {model: openai:m}}}\n", "3:26", "judges by a rubric"},
		"a key in a header":      {"name: x\nagent: {http: \"http://h/\", headers: {a: sk-abcdefghijklmnopqrstuvwx}}\n", "", "API key"},
		"a key in a judge":       {head + "grade: {reward: {judge: {model: openai:m, rubric: \"1. A.\", extra: {a: sk-abcdefghijklmnopqrstuvwx}}}}\n", "", "API key"},
		"a key in the recipe":    {"name: x\nagent:\n  command: [a, sk-abcdefghijklmnopqrstuvwx]\n", "", "API key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseRecipe([]byte(c.text))
			var p *record.Problem
			if !errors.As(err, &p) {
				t.Fatalf("got %v, want a problem", err)
			}
			want := RecipeFile
			if c.where != "" {
				want += ":" + c.where
			}
			if !strings.HasPrefix(p.Where, want) {
				t.Errorf("where is %q, want %q (%v)", p.Where, want, p)
			}
			if !strings.Contains(p.Error(), c.says) {
				t.Errorf("%q does not say %q", p.Error(), c.says)
			}
			if p.Fix == "" {
				t.Errorf("%q has no fix", p.Error())
			}
		})
	}
}

func TestRecipeBearsAByteOrderMark(t *testing.T) {
	if _, err := ParseRecipe([]byte("\uFEFFname: x\nagent: {builtin: seeded}\n")); err != nil {
		t.Error(err)
	}
}

func TestRecipeReadsItsFiles(t *testing.T) {
	files := map[string]string{
		RecipeFile: "name: x\nagent: {builtin: seeded}\nsystem_prompt: policy.md\ntools: tools.json\n" +
			"grade: {reward: {judge: {builtin: fair, rubric: rubric.md}}}\nafter: {system_prompt: policy-v2.md}\n",
		"policy.md": "Be good.", "policy-v2.md": "Be better.", "rubric.md": "1. It is good.", "tools.json": "[]",
	}
	r, err := LoadRecipe(readMap(files), "/somewhere")
	if err != nil {
		t.Fatal(err)
	}
	if r.SystemPrompt != "Be good." || *r.After.SystemPrompt != "Be better." || r.Grade.Reward.Judge.Rubric != "1. It is good." || string(r.Tools.Inline) != "[]" {
		t.Errorf("files are not read: %+v", r)
	}
	if len(r.Files) != len(files) {
		t.Errorf("%d files are kept, want %d", len(r.Files), len(files))
	}
	delete(files, "policy-v2.md")
	if _, err := LoadRecipe(readMap(files), "/somewhere"); err == nil || !strings.Contains(err.Error(), "policy-v2.md") {
		t.Errorf("a missing file gives %v", err)
	}
	files[RecipeFile] = "name: x\nagent: {builtin: seeded}\nsystem_prompt: ../../etc/passwd.txt\n"
	if _, err := LoadRecipe(readMap(files), "/somewhere"); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Errorf("a file outside the folder gives %v", err)
	}
}

func TestSettingsFollowTheMode(t *testing.T) {
	for mode, want := range map[record.Mode]modeDefaults{
		record.ModeEval: {4, 1, 0.5, 512}, record.ModeRL: {8, 1, 1, 512}, record.ModeSFT: {4, 3, 0.5, 512}, record.ModeExplore: {2, 1, 1, 32}, "": {4, 1, 0.5, 512},
	} {
		r := &Recipe{Simulate: Simulate{Mode: mode}}
		s := r.Settings()
		if (modeDefaults{s.Repeats, s.Phrasings, s.FaultRate, s.Batch}) != want {
			t.Errorf("mode %q: %d repeats, %d phrasings, fault rate %v, batch %d", mode, s.Repeats, s.Phrasings, s.FaultRate, s.Batch)
		}
	}
	three := 3
	r := &Recipe{After: &After{}, Delta: &DeltaSpec{Runs: &three}}
	if s := r.Settings(); s.EvalRuns != 3 {
		t.Errorf("an eval run that is its story's before has %d eval runs, want 3", s.EvalRuns)
	}
}

func TestOverrides(t *testing.T) {
	base := func() *Recipe {
		r, err := ParseRecipe([]byte("name: x\nagent: {builtin: seeded}\nsimulate: {mode: rl}\n"))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := base()
	if err := r.Apply(Overrides{"situations": "12", "fault-rate": "0.25", "agent": "{command: [echo, hi]}", "judge": "builtin:crooked", "runs": "5"}); err != nil {
		t.Fatal(err)
	}
	s := r.Settings()
	if s.Situations != 12 || s.FaultRate != 0.25 || r.Agent.Command[0] != "echo" || r.Grade.Reward.Judge.Builtin != "crooked" || s.EvalRuns != 5 {
		t.Errorf("overrides are not in force: %+v %+v", s, r)
	}
	for name, o := range map[string]Overrides{
		"unknown knob": {"situatons": "3"}, "out of bounds": {"repeats": "0"}, "no number": {"seed": "x"}, "mode's law": {"repeats": "2"},
		"bad spec": {"agent": "builtin"}, "unknown kind": {"agent": "builtn:seeded"}, "NaN": {"fault-rate": "NaN"},
	} {
		if err := base().Apply(o); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

func FuzzParseRecipe(f *testing.F) {
	f.Add([]byte("name: x\nagent: {builtin: seeded}\n"))
	f.Add([]byte("simulate: {seeds: [a, {ask: b}]}\ncut: [sft, {for: grpo}]\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("tools: {mcp: x}\nagent: {timeout: 3}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseRecipe(text)
		if err == nil && r == nil {
			t.Fatal("neither a recipe nor an error")
		}
		if err == nil {
			r.Settings()
		}
	})
}

// A model is written as a word, a spec or a mapping, in every place that takes one, and
// as a flag.
func TestModelsInARecipe(t *testing.T) {
	r, err := ParseRecipe([]byte(`
name: x
agent: {model: "openai:gpt-x", temperature: 0.5, max_tokens: 100, price: {input: 1, output: 2}, extra: {top_p: 0.9}, requests_per_minute: 60, cache: true}
simulate:
  user: {model: "anthropic:claude-x", timeout: 30s, key_command: [pass, show, key]}
  writer: ollama:qwen3
  max_cost: 2.5
after: {agent: {http: "http://127.0.0.1:9/turn", headers: {Authorization: "${MY_BOT}"}}}
grade: {reward: {judge: {model: "vllm:judge@http://h:8000/v1", rubric: "1. Good.", key_env: JUDGE_BOT}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Agent; *a.Temperature != 0.5 || *a.MaxTokens != 100 || *a.Price != (Price{1, 2}) || a.Extra["top_p"] != 0.9 || *a.RequestsPerMinute != 60 || !a.Cache {
		t.Errorf("the agent is %+v", a)
	}
	if u := r.Simulate.User; u.Model != "anthropic:claude-x" || time.Duration(*u.Timeout) != 30*time.Second || len(u.KeyCommand) != 3 {
		t.Errorf("the user is %+v", u)
	}
	if w := r.Simulate.Writer; w.Model != "ollama:qwen3" || w.Word != "" {
		t.Errorf("the writer is %+v", w)
	}
	if names := r.variables(); !slices.Contains(names, "MY_BOT") || !slices.Contains(names, "JUDGE_BOT") {
		t.Errorf("the names of keys are %q", names)
	}
	raw, err := record.Marshal(r.Agent)
	if err != nil {
		t.Fatal(err)
	}
	var back AgentSpec
	if err := json.Unmarshal(raw, &back); err != nil || back.Model != r.Agent.Model || *back.Price != *r.Agent.Price || back.Extra["top_p"] != 0.9 {
		t.Errorf("%s came back as %+v (%v)", raw, back, err)
	}
	if err := r.Apply(Overrides{"agent": "anthropic:claude-y", "judge": "openai:gpt-y"}); err != nil {
		t.Fatal(err)
	}
	if j := r.Grade.Reward.Judge; r.Agent.Model != "anthropic:claude-y" || r.Agent.Temperature != nil || j.Model != "openai:gpt-y" || j.Rubric != "1. Good." {
		t.Errorf("flags gave %+v and %+v", r.Agent, j)
	}
	for flag, says := range map[string]string{"opnai:x": "openai", "openai": "KIND:NAME", "{model: opnai:x}": "did you mean openai:x", "vllm:x": "http://"} {
		if err := r.Apply(Overrides{"agent": flag}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("--agent %s: %v", flag, err)
		}
	}
}
