package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"assay/engine/model"
	"assay/engine/record"
)

// Overrides are the knobs of a recipe that a flag or a form changed, by the
// flag's name, as text. They are stored with the run, so that a resumed run is
// the same run.
type Overrides map[string]string

// overrides maps each knob that a flag can change to what it does.
var overrides = map[string]func(*Recipe, string) error{
	"situations":  intKnob(1, maxSituations, func(r *Recipe, n int) { r.Simulate.Situations = &n }),
	"phrasings":   intKnob(1, maxPhrasings, func(r *Recipe, n int) { r.Simulate.Phrasings = &n }),
	"repeats":     intKnob(1, maxRepeats, func(r *Recipe, n int) { r.Simulate.Repeats = &n }),
	"concurrency": intKnob(1, maxConcurrency, func(r *Recipe, n int) { r.Simulate.Concurrency = &n }),
	"budget":      intKnob(1, math.MaxInt32, func(r *Recipe, n int) { r.Simulate.Budget = &n }),
	"runs":        intKnob(1, maxEvalRuns, setRuns),
	"seed": func(r *Recipe, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", v)
		}
		r.Simulate.Seed = n
		return nil
	},
	"aim": func(r *Recipe, v string) error {
		r.Simulate.Aim = v
		return nil
	},
	"fault-rate": floatKnob(0, 1, func(r *Recipe, f float64) { r.Simulate.FaultRate = &f }),
	"max-tokens": floatKnob(1, 1e15, func(r *Recipe, f float64) { n := int64(f); r.Simulate.MaxTokens = &n }),
	"max-cost":   floatKnob(0, 1e9, func(r *Recipe, f float64) { r.Simulate.MaxCost = &f }),
	"mode": func(r *Recipe, v string) error {
		r.Simulate.Mode = record.Mode(v)
		return nil
	},
	"agent": func(r *Recipe, v string) error {
		spec, err := parseAgentSpec(v)
		if err != nil {
			return err
		}
		r.Agent = spec
		return nil
	},
	"judge": func(r *Recipe, v string) error {
		spec, err := ParseJudgeSpec(v)
		if err != nil {
			return err
		}
		if old := r.Grade.Reward; old != nil && old.Judge != nil && spec.Rubric == "" {
			spec.Rubric = old.Judge.Rubric
		}
		r.Grade.Reward = &RewardSpec{Judge: spec}
		return nil
	},
}

// KnobNames lists the knobs that [Recipe.Apply] takes.
func KnobNames() []string { return slices.Sorted(maps.Keys(overrides)) }

// Apply changes the recipe by overrides and checks it again.
func (r *Recipe) Apply(o Overrides) error {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		set, ok := overrides[name]
		if !ok {
			return record.Problemf("unknown_knob", "use one of the flags of assay run", "%s is no knob of a recipe%s", name, didYouMean(name, KnobNames()))
		}
		if err := set(r, o[name]); err != nil {
			return &record.Problem{Code: "bad_flag", Message: err.Error(), Where: "--" + name, Fix: "see assay run --help", Err: err}
		}
	}
	return r.check(nil)
}

// setRuns is --runs: the eval runs of each side of the story's delta, or without
// a changed arm those of the run itself.
func setRuns(r *Recipe, n int) {
	if r.After == nil {
		r.evalRuns = n
		return
	}
	if r.Delta == nil {
		r.Delta = &DeltaSpec{}
	}
	r.Delta.Runs = &n
}

func intKnob(lo, hi int, set func(*Recipe, int)) func(*Recipe, string) error {
	return func(r *Recipe, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < lo || n > hi {
			return fmt.Errorf("%q is not a whole number from %d to %d", v, lo, hi)
		}
		set(r, n)
		return nil
	}
}

func floatKnob(lo, hi float64, set func(*Recipe, float64)) func(*Recipe, string) error {
	return func(r *Recipe, v string) error {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || !(f >= lo && f <= hi) {
			return fmt.Errorf("%q is not a number from %v to %v", v, lo, hi)
		}
		set(r, f)
		return nil
	}
}

// specKinds are the kinds that a spec such as builtin:NAME begins with.
var specKinds = append([]string{"builtin"}, model.Providers()...)

// readSpec reads a spec, KIND:NAME or the mapping of the recipe in YAML, into
// what into points to. builtin is called with the name of a builtin one, model with the
// spec of a model.
func readSpec(text string, into any, builtin, model func(string)) error {
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil || len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return fmt.Errorf("%q is neither KIND:NAME nor a mapping", text)
	}
	var scalar string
	if yaml.NodeToValue(file.Docs[0].Body, &scalar) != nil {
		if err := checkKeys(file.Docs[0].Body, into, ""); err != nil {
			return err
		}
		return yaml.NodeToValue(file.Docs[0].Body, into, yaml.Strict())
	}
	kind, name, found := cutSpec(text)
	switch {
	case !found:
		return fmt.Errorf("%q is no spec: write KIND:NAME, for example builtin:seeded", text)
	case kind == "builtin":
		builtin(name)
		return nil
	case slices.Contains(specKinds, kind):
		model(text)
		return nil
	}
	return fmt.Errorf("%q is no kind of spec%s", kind, didYouMean(kind, specKinds))
}

func cutSpec(text string) (kind, name string, found bool) {
	for i := range len(text) {
		if text[i] == ':' {
			return text[:i], text[i+1:], i > 0 && i+1 < len(text)
		}
	}
	return "", "", false
}

func parseAgentSpec(text string) (AgentSpec, error) {
	var spec AgentSpec
	err := readSpec(text, &spec, func(name string) { spec.Builtin = name }, func(text string) { spec.Model = text })
	return spec, err
}

// ParseJudgeSpec reads what --judge takes: builtin:NAME, a model such as openai:MODEL, or
// the mapping of the recipe's grade.reward.judge.
func ParseJudgeSpec(text string) (*JudgeSpec, error) {
	spec := &JudgeSpec{}
	err := readSpec(text, spec, func(name string) { spec.Builtin = name }, func(text string) { spec.Model = text })
	return spec, err
}

// ReadRubric replaces the name of a rubric's file by its text; a rubric that is text
// stays. read is given the name as it stands.
func (j *JudgeSpec) ReadRubric(read ReadFile) error {
	if !looksLikeFile(j.Rubric) {
		return nil
	}
	text, err := read(j.Rubric)
	if err != nil {
		return &record.Problem{Code: "no_file", Message: fmt.Sprintf("the rubric %s cannot be read", j.Rubric), Where: j.Rubric, Fix: "name a file that can be read, or write the text itself", Err: err}
	}
	j.Rubric = string(text)
	return nil
}
