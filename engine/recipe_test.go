package engine

import (
	"errors"
	"os"
	"strings"
	"testing"

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
		"misspelt key":          {head + "simulate:\n  situatons: 4\n", "4:3", "did you mean situations"},
		"misspelt top key":      {head + "grades: {}\n", "3:1", "did you mean grade"},
		"misspelt nested key":   {head + "grade:\n  reward:\n    judge:\n      rubrik: x\n", "6:7", "did you mean rubric"},
		"misspelt key in seeds": {head + "simulate:\n  seeds:\n    - {ask: hi, refrence: {a: 1}}\n", "5:17", "did you mean reference"},
		"misspelt key in cut":   {head + "simulate: {mode: rl}\ncut:\n  - {for: sft, formt: trl}\n", "5:16", "did you mean format"},
		"wrong type":            {head + "simulate:\n  situations: many\n", "4:15", ""},
		"unknown mode":          {head + "simulate:\n  mode: evl\n", "4:9", "did you mean eval"},
		"out of bounds":         {head + "simulate:\n  repeats: 0\n", "4:12", "1 to 1000"},
		"share over one":        {head + "simulate:\n  holdout: 1.5\n", "4:12", "no share"},
		"two agents":            {"name: x\nagent:\n  builtin: seeded\n  command: [a]\n", "3:3", "more than one agent"},
		"no agent":              {"name: x\n", "", "no agent"},
		"two rewards":           {head + "grade:\n  reward:\n    marker: a\n    judge: {builtin: fair}\n", "5:5", "exactly one"},
		"few rl repeats":        {head + "simulate:\n  mode: rl\n  repeats: 3\n", "5:12", "probes"},
		"cut in eval":           {head + "simulate: {mode: eval}\ncut: [sft]\n", "4:6", "never trained on"},
		"cut by default mode":   {head + "cut: [sft]\n", "3:6", "never trained on"},
		"empty after":           {head + "after: {}\n", "3:8", "nothing is changed"},
		"bad duration":          {"name: x\nagent:\n  builtin: seeded\n  timeout: soon\n", "4:12", "no duration"},
		"half a situation":      {head + "simulate:\n  situations: 10.5\n", "4:15", "whole number"},
		"a number as text":      {head + "simulate:\n  situations: \"10\"\n", "4:15", "whole number"},
		"half a seed":           {head + "simulate:\n  seed: 1.5\n", "4:9", "whole number"},
		"an empty argument":     {"name: x\nagent:\n  command: [a, null]\n", "3:16", "empty"},
		"a list as text":        {head + "system_prompt: [a]\n", "3:16", "text"},
		"not UTF-8":             {head + "# \xff\n", "3", "UTF-8"},
		"an alias":              {"name: &a x\nagent: {builtin: *a}\n", "1:7", "anchors"},
		"a duplicate key":       {head + "name: y\n", "3:1", ""},
		"not a mapping":         {"- a\n", "1:1", "mapping"},
		"broken yaml":           {"name: [x\n", "", ""},
		"empty":                 {"", "", "empty"},
		"two documents":         {head + "---\nname: z\n", "4:5", "second"},
		"a key in the recipe":   {"name: x\nagent:\n  command: [a, sk-abcdefghijklmnopqrstuvwx]\n", "", "API key"},
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
