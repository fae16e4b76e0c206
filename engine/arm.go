package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"assay/engine/agent"
	"assay/engine/grade"
	"assay/engine/model"
	"assay/engine/record"
	"assay/engine/rollout"
)

// newArm makes the agent of one side of the story, and its policy version. key is where
// the recipe names it.
func (e *Engine) newArm(p *plan, key string, spec AgentSpec, prompt record.Text, tools []record.Tool) (*arm, error) {
	a := &arm{spec: spec, tools: tools, program: programOf(spec), toolsBy: record.ToolsByWorld,
		maxTurns: or(spec.MaxTurns, defaultMaxTurns), timeout: time.Duration(or(spec.Timeout, Duration(defaultTimeout)))}
	if spec.ToolsBy != "" {
		a.toolsBy = record.ToolsBy(spec.ToolsBy)
	}
	if spec.HTTP != "" && spec.MCP == "" && a.toolsBy == record.ToolsByWorld {
		a.spec.MCP = listenHere // it has no other way to its tools
	}
	program, err := e.program(p, key, a)
	if err != nil {
		return nil, err
	}
	shown := tools
	if shown == nil {
		shown = p.tools
	}
	sampling, err := samplingOf(spec, p.settings.LogProbs)
	if err != nil {
		return nil, err
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

func (e *Engine) program(p *plan, key string, a *arm) (program, error) {
	switch spec := a.spec; {
	case spec.Builtin != "":
		return e.builtin(key, a)
	case len(spec.Command) > 0:
		return e.command(p, key, a)
	case spec.Model != "":
		return e.modelAgent(p, key, a)
	case spec.HTTP != "":
		return e.httpAgent(p, key, a)
	default:
		f, ok := e.Functions[spec.Function]
		if !ok {
			return program{}, record.Problemf("no_agent", "register it in Engine.Functions before the run", "there is no Go function named %q", spec.Function)
		}
		a.agent = f
		return identify("function", spec.Function)
	}
}

func (e *Engine) builtin(key string, a *arm) (program, error) {
	b, err := agent.NewBuiltin(a.spec.Builtin, a.spec.Extra)
	if err != nil {
		return program{}, inRecipe(key, err)
	}
	a.agent = b
	return identify("builtin", map[string]any{"name": a.spec.Builtin, "options": a.spec.Extra, "version": agent.BuiltinVersion})
}

func (e *Engine) command(p *plan, key string, a *arm) (program, error) {
	spec := a.spec
	hash, err := agent.FilesHash(p.recipe.Dir, spec.Command)
	if err != nil {
		return program{}, inRecipe(key+".command", err)
	}
	a.filesHash = hash
	config := e.commandConfig(spec.Command, p.recipe.Dir, spec.Env)
	if err := config.Check(); err != nil {
		return program{}, inRecipe(key+".command", err)
	}
	c, err := agent.NewCommand(config)
	if err != nil {
		return program{}, inRecipe(key+".command", err)
	}
	p.closers = append(p.closers, c.Close)
	a.agent = c
	if spec.Version != "" {
		return identify("command", map[string]any{"command": spec.Command, "version": spec.Version})
	}
	return identify("command", map[string]any{"files": hash})
}

// modelAgent is a model whose tool loop is run here.
func (e *Engine) modelAgent(p *plan, key string, a *arm) (program, error) {
	spec := a.spec
	b, err := e.newBackend(p, key, spec.Model, spec.ModelOptions, nil, byAgent)
	if err != nil {
		return program{}, err
	}
	m, err := agent.NewModel(agent.ModelConfig{Completer: b, Temperature: spec.Temperature, MaxTokens: or(spec.MaxTokens, 0), LogProbs: p.settings.LogProbs})
	if err != nil {
		return program{}, inRecipe(key, err)
	}
	a.agent = m
	return identify("model", map[string]any{"loop": agent.ModelVersion, "version": spec.Version})
}

// httpAgent is an endpoint that speaks the JSON of a command agent.
func (e *Engine) httpAgent(p *plan, key string, a *arm) (program, error) {
	spec := a.spec
	p.readying = append(p.readying, readying{key: key, who: spec.HTTP, make: func(context.Context) error {
		config, err := e.endpoint(spec.HTTP, spec.Headers)
		if err != nil {
			return err
		}
		h, err := agent.NewHTTP(config)
		if err != nil {
			return err
		}
		p.closers = append(p.closers, h.Close)
		a.agent = h
		return nil
	}, check: func(ctx context.Context) error { return a.agent.(*agent.HTTP).Check(ctx) }})
	return identify("http", map[string]any{"url": spec.HTTP, "version": spec.Version})
}

// endpoint is an address with the recipe's headers, whose variables are known now.
func (e *Engine) endpoint(address string, headers map[string]string) (agent.HTTPConfig, error) {
	filled, err := e.headers(headers)
	return agent.HTTPConfig{URL: address, Headers: filled, Masker: e.Masker}, err
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
		reward, err := e.reward(p, r)
		if err != nil {
			return nil, err
		}
		p.reward, c.Reward = reward, reward
	}
	g, err := grade.New(c)
	return g, inRecipe("grade", err)
}

// reward turns the recipe's words into the grader's.
func (e *Engine) reward(p *plan, r *RewardSpec) (*grade.RewardConfig, error) {
	switch {
	case r.Marker != "":
		return &grade.RewardConfig{Marker: r.Marker}, nil
	case r.Verify != nil:
		return &grade.RewardConfig{Verify: r.Verify.JSON}, nil
	}
	j := r.Judge
	config := &grade.JudgeConfig{Rubric: record.Text(j.Rubric)}
	if j.Timeout != nil {
		config.Timeout = time.Duration(*j.Timeout)
	}
	if j.Scale != nil {
		scale, err := grade.ParseScale(j.Scale.JSON)
		if err != nil {
			return nil, inRecipe(judgeKey, err)
		}
		config.Scale = scale
	}
	return &grade.RewardConfig{Judge: config}, e.judge(p, j, config)
}

// judgeKey is where a recipe names its judge.
const judgeKey = "grade.reward.judge"

// judge fills in who judges.
func (e *Engine) judge(p *plan, j *JudgeSpec, config *grade.JudgeConfig) error {
	switch {
	case j.Builtin != "":
		judge, err := grade.NewBuiltinJudge(j.Builtin)
		config.Name, config.Judge = "builtin:"+j.Builtin, judge
		return inRecipe(judgeKey, err)
	case j.Model != "":
		return e.modelJudge(p, j, config)
	case j.HTTP != "":
		return e.httpJudge(p, j, config)
	}
	hash, err := agent.FilesHash(p.recipe.Dir, j.Command)
	if err != nil {
		return inRecipe(judgeKey+".command", err)
	}
	command := e.commandConfig(j.Command, p.recipe.Dir, j.Env)
	if err := command.Check(); err != nil {
		return inRecipe(judgeKey+".command", err)
	}
	c, err := agent.NewCommandJudge(command)
	if err != nil {
		return inRecipe(judgeKey+".command", err)
	}
	p.closers = append(p.closers, c.Close)
	config.Name, config.Judge = j.Command[0], commandJudge{c}
	config.Settings, err = record.Marshal(map[string]any{"files": hash})
	return err
}

// modelJudge is a model with a rubric. It is asked for one word before the run.
func (e *Engine) modelJudge(p *plan, j *JudgeSpec, config *grade.JudgeConfig) error {
	b, err := e.newBackend(p, judgeKey, j.Model, j.ModelOptions, j.Timeout, byJudge)
	if err != nil {
		return err
	}
	judge, err := grade.NewRubricJudge(b, config.Rubric, or(j.MaxTokens, 0))
	if err != nil {
		return inRecipe(judgeKey, err)
	}
	asked := &p.readying[len(p.readying)-1]
	asked.who, asked.as, asked.check = "the judge "+b.name(), "", func(ctx context.Context) error { return judge.Warm(model.Anew(ctx)) }
	config.Name, config.Model, config.Judge = b.name(), b.spec.String(), judge
	if len(j.Extra) > 0 {
		config.Settings, err = record.Marshal(map[string]any{"extra": j.Extra})
	}
	return err
}

// httpJudge is an endpoint that speaks the JSON of a command judge.
func (e *Engine) httpJudge(p *plan, j *JudgeSpec, config *grade.JudgeConfig) error {
	judge := &httpJudge{}
	p.readying = append(p.readying, readying{key: judgeKey, who: "the judge " + j.HTTP, make: func(context.Context) error {
		at, err := e.endpoint(j.HTTP, j.Headers)
		if err != nil {
			return err
		}
		if judge.HTTPJudge, err = agent.NewHTTPJudge(at); err == nil {
			p.closers = append(p.closers, judge.Close)
		}
		return err
	}, check: func(ctx context.Context) error { return judge.Check(ctx) }})
	config.Name, config.Judge = j.HTTP, judge
	return nil
}

// httpJudge joins the wire of an HTTP judge, which is made when a run gets ready, to the
// grader.
type httpJudge struct{ *agent.HTTPJudge }

// Judge asks for one verdict.
func (j *httpJudge) Judge(ctx context.Context, r grade.JudgeRequest) ([]byte, error) {
	return j.Grade(ctx, r)
}

// commandJudge joins the wire of a command judge to the grader.
type commandJudge struct{ *agent.CommandJudge }

// Judge asks for one verdict.
func (j commandJudge) Judge(ctx context.Context, r grade.JudgeRequest) ([]byte, error) {
	return j.Grade(ctx, r)
}
