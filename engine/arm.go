package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"assay/engine/agent"
	"assay/engine/grade"
	"assay/engine/record"
	"assay/engine/rollout"
)

// newArm makes the agent of one side of the story, and its policy version.
func (e *Engine) newArm(p *plan, spec AgentSpec, prompt record.Text, tools []record.Tool) (*arm, error) {
	a := &arm{spec: spec, tools: tools, program: programOf(spec), toolsBy: record.ToolsByWorld,
		maxTurns: or(spec.MaxTurns, defaultMaxTurns), timeout: time.Duration(or(spec.Timeout, Duration(defaultTimeout)))}
	if spec.ToolsBy != "" {
		a.toolsBy = record.ToolsBy(spec.ToolsBy)
	}
	program, err := e.program(p, a)
	if err != nil {
		return nil, err
	}
	shown := tools
	if shown == nil {
		shown = p.tools
	}
	sampling, err := record.Marshal(struct {
		Temperature *float64 `json:"temperature,omitempty"`
		MaxTokens   *int     `json:"max_tokens,omitempty"`
		LogProbs    bool     `json:"logprobs,omitempty"`
	}{spec.Temperature, spec.MaxTokens, p.settings.LogProbs})
	if err != nil {
		return nil, fmt.Errorf("sampling settings: %w", err)
	}
	a.policy = rollout.Policy{Kind: program.kind, Program: program.identity, Model: spec.Model, Checkpoint: spec.Checkpoint,
		SystemPrompt: prompt, Tools: shown, Sampling: sampling}
	return a, checkWorlds(a)
}

// program is what makes an agent itself: part of its policy version.
type program struct {
	kind     string
	identity json.RawMessage
}

func (e *Engine) program(p *plan, a *arm) (program, error) {
	switch spec := a.spec; {
	case spec.Builtin != "":
		return e.builtin(a)
	case len(spec.Command) > 0:
		return e.command(p, a)
	default:
		f, ok := e.Functions[spec.Function]
		if !ok {
			return program{}, record.Problemf("no_agent", "register it in Engine.Functions before the run", "there is no Go function named %q", spec.Function)
		}
		a.agent = f
		return identify("function", spec.Function)
	}
}

func (e *Engine) builtin(a *arm) (program, error) {
	b, err := agent.NewBuiltin(a.spec.Builtin, a.spec.Extra)
	if err != nil {
		return program{}, inRecipe("agent", err)
	}
	a.agent = b
	return identify("builtin", map[string]any{"name": a.spec.Builtin, "options": a.spec.Extra, "version": agent.BuiltinVersion})
}

func (e *Engine) command(p *plan, a *arm) (program, error) {
	spec := a.spec
	hash, err := agent.FilesHash(p.recipe.Dir, spec.Command)
	if err != nil {
		return program{}, inRecipe("agent.command", err)
	}
	a.filesHash = hash
	config := e.commandConfig(spec.Command, p.recipe.Dir, spec.Env)
	if err := config.Check(); err != nil {
		return program{}, inRecipe("agent.command", err)
	}
	c, err := agent.NewCommand(config)
	if err != nil {
		return program{}, inRecipe("agent.command", err)
	}
	p.closers = append(p.closers, c.Close)
	a.agent = c
	if spec.Version != "" {
		return identify("command", map[string]any{"command": spec.Command, "version": spec.Version})
	}
	return identify("command", map[string]any{"files": hash})
}

func identify(kind string, v any) (program, error) {
	raw, err := record.Marshal(v)
	if err != nil {
		return program{}, fmt.Errorf("the identity of the agent: %w", err)
	}
	return program{kind, raw}, nil
}

// newGrader compiles the recipe's markers and readies its reward.
func (e *Engine) newGrader(p *plan) (*grade.Grader, error) {
	c := grade.Config{Conduct: p.settings.Conduct, Markers: p.recipe.Grade.Markers, PassThreshold: p.settings.PassThreshold, Now: e.Now}
	if r := p.recipe.Grade.Reward; r != nil {
		reward, closer, err := e.reward(p.recipe.Dir, r)
		if err != nil {
			return nil, err
		}
		if closer != nil {
			p.closers = append(p.closers, closer)
		}
		c.Reward = reward
	}
	g, err := grade.New(c)
	return g, inRecipe("grade", err)
}

// reward turns the recipe's words into the grader's.
func (e *Engine) reward(dir string, r *RewardSpec) (*grade.RewardConfig, func(), error) {
	switch {
	case r.Marker != "":
		return &grade.RewardConfig{Marker: r.Marker}, nil, nil
	case r.Verify != nil:
		return &grade.RewardConfig{Verify: r.Verify.JSON}, nil, nil
	}
	j := r.Judge
	config := &grade.JudgeConfig{Rubric: record.Text(j.Rubric)}
	if j.Timeout != nil {
		config.Timeout = time.Duration(*j.Timeout)
	}
	if j.Scale != nil {
		scale, err := grade.ParseScale(j.Scale.JSON)
		if err != nil {
			return nil, nil, inRecipe("grade.reward.judge", err)
		}
		config.Scale = scale
	}
	if j.Builtin != "" {
		judge, err := grade.NewBuiltinJudge(j.Builtin)
		config.Name, config.Judge = "builtin:"+j.Builtin, judge
		return &grade.RewardConfig{Judge: config}, nil, inRecipe("grade.reward.judge", err)
	}
	hash, err := agent.FilesHash(dir, j.Command)
	if err != nil {
		return nil, nil, inRecipe("grade.reward.judge.command", err)
	}
	command := e.commandConfig(j.Command, dir, j.Env)
	if err := command.Check(); err != nil {
		return nil, nil, inRecipe("grade.reward.judge.command", err)
	}
	c, err := agent.NewCommandJudge(command)
	if err != nil {
		return nil, nil, inRecipe("grade.reward.judge.command", err)
	}
	config.Name, config.Judge = j.Command[0], commandJudge(c)
	config.Settings, err = record.Marshal(map[string]any{"files": hash})
	return &grade.RewardConfig{Judge: config}, c.Close, err
}

// commandJudge joins the wire of a command judge to the grader.
func commandJudge(c *agent.CommandJudge) grade.Judge {
	return grade.JudgeFunc(func(ctx context.Context, r grade.JudgeRequest) ([]byte, error) { return c.Grade(ctx, r) })
}
