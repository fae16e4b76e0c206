package engine

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"assay/engine/record"
	"assay/engine/rollout"
	"assay/engine/stats"
)

// placed makes problems that point at a key of the recipe. body is nil when a
// recipe is checked again after flags have changed it.
type placed struct{ body ast.Node }

func (p placed) problem(key, message, fix string) error {
	return &record.Problem{Code: "bad_recipe", Message: key + ": " + message, Where: p.where(key), Fix: fix}
}

// where is the place of a key's value; of one that was not written, that of what it would
// stand in.
func (p placed) where(key string) string {
	for p.body != nil && key != "" {
		if at, err := yaml.PathString("$." + key); err == nil {
			if n, err := at.FilterNode(p.body); err == nil && n != nil && n.GetToken() != nil {
				pos := beginning(n).GetToken().Position
				return fmt.Sprintf("%s:%d:%d", RecipeFile, pos.Line, pos.Column)
			}
		}
		key = key[:max(0, strings.LastIndexByte(key, '.'))]
	}
	return RecipeFile
}

// refused is the error of a step about the value of a key: its words, and its fix where
// it has one.
func (p placed) refused(key string, err error, fix string) error {
	message := err.Error()
	var known *record.Problem
	if errors.As(err, &known) {
		message = known.Message
		if known.Fix != "" {
			fix = known.Fix
		}
	}
	return p.problem(key, message, fix)
}

// beginning is the node that stands first in n: a mapping's own token is the
// colon behind its first key.
func beginning(n ast.Node) ast.Node {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return m.Values[0].Key
	}
	return n
}

func (p placed) oneOf(key, value string, known ...string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return p.problem(key, fmt.Sprintf("%q is not known%s", value, didYouMean(value, known)), "use one of "+strings.Join(known, ", "))
}

func (p placed) within(key string, value *int, lo, hi int) error {
	if value == nil || *value >= lo && *value <= hi {
		return nil
	}
	return p.problem(key, fmt.Sprintf("%d is outside %d to %d", *value, lo, hi), fmt.Sprintf("choose a number from %d to %d", lo, hi))
}

func (p placed) tokens(key string, value *int64) error {
	if value == nil || *value >= 1 {
		return nil
	}
	return p.problem(key, fmt.Sprintf("%d is no budget", *value), "choose a whole number over 0, or delete the line")
}

func (p placed) positive(key string, value *float64) error {
	if value == nil || *value > 0 {
		return nil
	}
	return p.problem(key, fmt.Sprintf("%v is no budget", *value), "choose a number over 0, or delete the line")
}

func (p placed) share(key string, value *float64) error {
	if value == nil || *value >= 0 && *value <= 1 {
		return nil
	}
	return p.problem(key, fmt.Sprintf("%v is no share", *value), "choose a number from 0 to 1")
}

// Bounds of the knobs. They keep a slip of the finger from starting a run of a
// billion rollouts; within them the arithmetic is safe.
const (
	maxSituations  = 1_000_000
	maxRepeats     = 1_000
	maxPhrasings   = 100
	maxEvalRuns    = 100
	maxConcurrency = 4096
)

// minRLRepeats is the fewest repeats of mode rl: two are probes, and a group of
// fewer than two after them has no spread to learn from.
const minRLRepeats = 4

// check refuses values that no run could use.
func (r *Recipe) check(body ast.Node) error {
	p := placed{body}
	checks := []error{
		r.checkSecrets(),
		p.agent("agent", &r.Agent),
		p.oneOf("simulate.mode", string(r.Simulate.Mode), "eval", "rl", "sft", "explore"),
		p.oneOf("simulate.array", r.Simulate.Array, "stable", "smallest"),
		p.speaker("simulate.writer", &r.Simulate.Writer, "template"),
		p.speaker("simulate.user", &r.Simulate.User, rollout.UserScripted),
		p.oneOf("grade.conduct", r.Grade.Conduct, "mark", "gate", "off"),
		p.within("simulate.situations", r.Simulate.Situations, 1, maxSituations),
		p.within("simulate.phrasings", r.Simulate.Phrasings, 1, maxPhrasings),
		p.within("simulate.repeats", r.Simulate.Repeats, 1, maxRepeats),
		p.within("simulate.strength", r.Simulate.Strength, 2, 4),
		p.within("simulate.concurrency", r.Simulate.Concurrency, 1, maxConcurrency),
		p.within("simulate.budget", r.Simulate.Budget, 1, math.MaxInt32),
		p.within("simulate.batch", r.Simulate.Batch, 1, maxSituations),
		p.share("simulate.fault_rate", r.Simulate.FaultRate),
		p.share("simulate.holdout", r.Simulate.Holdout),
		p.share("simulate.hard_share", r.Simulate.HardShare),
		p.share("grade.pass_threshold", r.Grade.PassThreshold),
		p.within("grade.trust_at", r.Grade.TrustAt, stats.TrustMinLabels, maxSituations),
		p.reward(r.Grade.Reward, r.Grade.Markers),
		p.tokens("simulate.max_tokens", r.Simulate.MaxTokens),
		p.positive("simulate.max_cost", r.Simulate.MaxCost),
	}
	if r.Tools == nil && r.After != nil && r.After.Tools != nil {
		checks = append(checks, p.problem("after.tools", "the first arm has no tools to change", "write tools: too"))
	}
	for i, s := range r.Simulate.Seeds {
		if strings.TrimSpace(s.Ask) == "" {
			checks = append(checks, p.problem(fmt.Sprintf("simulate.seeds[%d]", i), "the ask is empty", "write what the user says, or {ask: ...}"))
		}
	}
	for i, c := range r.Cut {
		key := fmt.Sprintf("cut[%d]", i)
		checks = append(checks, p.oneOf(key, c.For, "sft", "dpo", "grpo", "rm"), p.oneOf(key, c.Format, "whileai", "trl", "openai"))
		if c.For == "" {
			checks = append(checks, p.problem(key, "no target is named", "write sft, dpo, grpo or rm"))
		}
	}
	if r.After != nil {
		checks = append(checks, p.after(r))
	}
	if d := r.Delta; d != nil {
		checks = append(checks, p.within("delta.runs", d.Runs, 1, maxEvalRuns))
	}
	checks = append(checks, r.checkMode(p))
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkMode holds what the mode forbids.
func (r *Recipe) checkMode(p placed) error {
	switch r.Simulate.Mode {
	case record.ModeRL:
		if n := r.Simulate.Repeats; n != nil && *n < minRLRepeats {
			return p.problem("simulate.repeats", fmt.Sprintf("%d is too few in mode rl: two rollouts of each task are probes, and a group needs two more", *n),
				fmt.Sprintf("write repeats: %d or more", minRLRepeats))
		}
	case record.ModeEval, "":
		if len(r.Cut) > 0 {
			return p.problem("cut", "rows of an eval run are never trained on", "delete cut:, or set simulate.mode to rl or sft")
		}
	}
	return nil
}

func (p placed) agent(key string, a *AgentSpec) error {
	named := 0
	for _, set := range []bool{a.Builtin != "", len(a.Command) > 0, a.HTTP != "", a.Model != "", a.Function != ""} {
		if set {
			named++
		}
	}
	switch {
	case named == 0:
		return p.problem(key, "no agent is named", "write builtin: seeded, or command: [program, argument]")
	case named > 1:
		return p.problem(key, "more than one agent is named", "keep one of builtin, command, http, model, function")
	case len(a.Command) > 0 && a.Command[0] == "":
		return p.problem(key+".command", "the program's name is empty", "write command: [program, argument]")
	case a.MCP != "" && (a.ToolsBy == string(record.ToolsByAgent) || a.Builtin != "" || a.Model != ""):
		return p.problem(key+".mcp", "only an agent whose tools the world answers, from outside, can call it over MCP", "delete the line, or write tools_by: world and name a command")
	case a.ToolsBy == string(record.ToolsByAgent) && (a.Builtin != "" || a.Model != ""):
		return p.problem(key+".tools_by", "a builtin agent and a model have no tools of their own", "write tools_by: world, or delete the line")
	}
	for _, err := range []error{
		p.agentOptions(key, a),
		p.oneOf(key+".tools_by", a.ToolsBy, string(record.ToolsByWorld), string(record.ToolsByAgent)),
		p.within(key+".max_turns", a.MaxTurns, 1, 1000),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// agentOptions checks what is written beside the kind of an agent.
func (p placed) agentOptions(key string, a *AgentSpec) error {
	switch {
	case a.Model != "":
		return p.model(key, a.Model, &a.ModelOptions)
	case a.HTTP != "":
		if err := p.endpoint(key+".http", a.HTTP); err != nil {
			return err
		}
		return p.modelOnly(key, &a.ModelOptions, "headers")
	case a.Builtin != "":
		return p.modelOnly(key, &a.ModelOptions, "extra")
	}
	return p.modelOnly(key, &a.ModelOptions)
}

func (p placed) reward(r *RewardSpec, markers map[string]string) error {
	if r == nil {
		return nil
	}
	named := 0
	for _, set := range []bool{r.Marker != "", r.Verify != nil, r.Judge != nil} {
		if set {
			named++
		}
	}
	if named != 1 {
		return p.problem("grade.reward", "the reward comes from exactly one of marker, verify and judge", "keep one of them")
	}
	if _, ok := markers[r.Marker]; r.Marker != "" && !ok {
		known := slices.Sorted(maps.Keys(markers))
		if len(known) == 0 {
			return p.problem("grade.reward.marker", fmt.Sprintf("there is no marker %q: the recipe has none", r.Marker), "write it under grade.markers")
		}
		return p.problem("grade.reward.marker", fmt.Sprintf("there is no marker %q%s", r.Marker, didYouMean(r.Marker, known)), "name one of grade.markers")
	}
	if j := r.Judge; j != nil {
		kinds := 0
		for _, set := range []bool{j.Model != "", len(j.Command) > 0, j.HTTP != "", j.Builtin != ""} {
			if set {
				kinds++
			}
		}
		switch {
		case kinds != 1:
			return p.problem("grade.reward.judge", "a judge is exactly one of model, command, http and builtin", "keep one of them")
		}
		return p.judge("grade.reward.judge", j)
	}
	return nil
}

// judge checks what is written beside the kind of a judge.
func (p placed) judge(key string, j *JudgeSpec) error {
	switch {
	case j.Model != "" && j.Rubric == "":
		return p.problem(key, "a model judges by a rubric, and there is none", "write rubric: rubric.md, with numbered criteria")
	case j.Model != "" && j.Temperature != nil && *j.Temperature != 0:
		return p.problem(key+".temperature", "a judge is asked at temperature 0, so that equal questions get equal answers", "delete the line")
	case j.Model != "":
		return p.model(key, j.Model, &j.ModelOptions)
	case j.HTTP != "":
		if err := p.endpoint(key+".http", j.HTTP); err != nil {
			return err
		}
		return p.modelOnly(key, &j.ModelOptions, "headers")
	}
	if err := p.modelOnly(key, &j.ModelOptions); err != nil {
		return err
	}
	return p.oneOf(key+".builtin", j.Builtin, "fair", "crooked")
}

func (p placed) after(r *Recipe) error {
	a := r.After
	if a.Agent == nil && a.SystemPrompt == nil && a.Tools == nil {
		return p.problem("after", "nothing is changed", "write agent, system_prompt or tools under it")
	}
	if a.Agent != nil {
		return p.agent("after.agent", a.Agent)
	}
	return nil
}

// secretShapes are the forms of keys that providers issue; a recipe is shared,
// so a key in it is already lost.
var secretShapes = regexp.MustCompile(`\b(sk-[A-Za-z0-9_-]{16,}|ghp_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|xox[abp]-[0-9A-Za-z-]{10,}|hf_[A-Za-z0-9]{20,})`)

func (r *Recipe) checkSecrets() error {
	fields := append([]string{r.SystemPrompt}, r.Agent.Command...)
	for _, o := range r.modelOptions() {
		fields = append(fields, o.KeyEnv)
		fields = append(fields, o.KeyCommand...)
		fields = slices.AppendSeq(fields, maps.Values(o.Headers))
		for _, v := range o.Extra {
			fields = append(fields, fmt.Sprint(v))
		}
	}
	for _, k := range r.toolSpecs() {
		if k.spec != nil && k.spec.MCP != nil {
			fields = append(fields, k.spec.MCP.URL)
			fields = append(fields, k.spec.MCP.Command...)
			fields = slices.AppendSeq(fields, maps.Values(k.spec.MCP.Headers))
		}
	}
	for _, f := range fields {
		if secretShapes.MatchString(f) {
			return &record.Problem{Code: "secret_in_recipe", Message: "a value looks like an API key", Where: RecipeFile,
				Fix: "take it out, revoke it, and name its environment variable in env: or as ${NAME}"}
		}
	}
	return nil
}
