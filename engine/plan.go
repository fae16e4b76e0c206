package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/parser"

	"assay/engine/axes"
	"assay/engine/cover"
	"assay/engine/delta"
	"assay/engine/grade"
	"assay/engine/model"
	"assay/engine/record"
	"assay/engine/rollout"
)

// plan is a recipe with everything resolved: nothing has been spent yet, and all
// that can be refused has been.
type plan struct {
	recipe     *Recipe
	settings   Settings
	tools      []record.Tool
	set        axes.Set
	array      cover.Array
	exclusions []cover.Exclusion
	grader     *grade.Grader
	reward     *grade.RewardConfig // nil where the recipe has none
	before     *arm
	after      *arm     // nil without a changed arm
	writer     *backend // nil where the template writes
	user       *backend // nil where users are scripted
	warnings   []record.Warning
	closers    []func()
	backends   []*backend
	readying   []readying     // what is left to do before somebody else is asked
	traffic    *model.Traffic // what all models share; nil until they are ready
}

// arm is one agent as one side of the story runs it.
type arm struct {
	spec      AgentSpec
	agent     rollout.Agent
	policy    rollout.Policy
	toolsBy   record.ToolsBy
	tools     []record.Tool // what it is shown; nil means each task's own
	program   string        // for people
	filesHash string        // a command's, "" for others
	maxTurns  int
	timeout   time.Duration
}

// prepare resolves a recipe. The caller closes the plan.
func (e *Engine) prepare(r *Recipe) (*plan, error) {
	e.learn(r.variables())
	p := &plan{recipe: r, settings: r.Settings()}
	if err := e.resolve(p); err != nil {
		p.close()
		return nil, r.locate(err)
	}
	p.warnings = append(p.warnings, p.notPlayed()...)
	p.warnings = append(p.warnings, p.sameModelWarnings()...)
	p.warnings = append(p.warnings, p.unpricedWarnings()...)
	return p, nil
}

// prepareStored resolves the recipe that is stored with a run.
func (e *Engine) prepareStored(run *record.Run) (*plan, error) {
	if _, err := os.Stat(run.RecipeDir); run.RecipeDir != "" && err != nil {
		return nil, record.Problemf("no_recipe", "put the folder back, or start a new run", "the recipe's folder %s is not there any more: %w", run.RecipeDir, err)
	}
	r, err := storedRecipe(run)
	if err != nil {
		return nil, err
	}
	p, err := e.prepare(r)
	if err == nil && run.PosedBy != "" {
		p.showOwnTools()
	}
	return p, err
}

// showOwnTools: where the tasks are another run's they come with its tools, and what the
// agents are shown, graded by and trained with are this recipe's.
func (p *plan) showOwnTools() {
	for _, a := range []*arm{p.before, p.after} {
		if a != nil && a.tools == nil {
			a.tools = p.tools
		}
	}
}

// storedRecipe is the recipe that is stored with a run, with what flags changed
// and what servers listed then.
func storedRecipe(run *record.Run) (*Recipe, error) {
	r, err := LoadRecipe(func(name string) ([]byte, error) {
		text, ok := run.Files[name]
		if !ok {
			return nil, fmt.Errorf("%s is not stored with run %s: %w", name, run.ID, os.ErrNotExist)
		}
		return []byte(text), nil
	}, run.RecipeDir)
	if err != nil {
		return nil, fmt.Errorf("the recipe stored with run %s: %w", run.ID, err)
	}
	r.recallTools(run.Files)
	return r, r.Apply(run.Overrides)
}

func (p *plan) close() {
	for _, c := range p.closers {
		c()
	}
}

func (e *Engine) resolve(p *plan) error {
	if err := p.resolveAxes(); err != nil {
		return err
	}
	var err error
	if p.grader, err = e.newGrader(p); err != nil {
		return err
	}
	if err := p.checkMetrics(); err != nil {
		return err
	}
	if err := e.speakers(p); err != nil {
		return err
	}
	if p.before, err = e.newArm(p, "agent", p.recipe.Agent, record.Text(p.recipe.SystemPrompt), nil); err != nil {
		return err
	}
	a := p.recipe.After
	if a == nil {
		return nil
	}
	spec, prompt := p.recipe.Agent, record.Text(p.recipe.SystemPrompt)
	var tools []record.Tool
	key := "agent"
	if a.Agent != nil {
		key, spec = "after.agent", *a.Agent
	}
	if a.SystemPrompt != nil {
		prompt = record.Text(*a.SystemPrompt)
	}
	if a.Tools != nil {
		if tools, err = loadTools("after.tools", a.Tools); err != nil {
			return err
		}
	}
	p.after, err = e.newArm(p, key, spec, prompt, tools)
	return err
}

// checkMetrics refuses metrics of the comparison that no rollout will have,
// before anything is spent.
func (p *plan) checkMetrics() error {
	d := p.recipe.Delta
	if d == nil {
		return nil
	}
	known := []string{delta.PassAt1, grade.MarkerConduct, grade.MarkerGrounding}
	for _, names := range [][][2]string{grade.FlagNames(), grade.ChecklistNames()} {
		for _, n := range names {
			known = append(known, n[0])
		}
	}
	known = slices.AppendSeq(known, maps.Keys(p.recipe.Grade.Markers))
	asked := append(append([]string{d.Target, d.Proxy}, d.MustNotRegress...), d.LowerIsBetter...)
	for _, name := range asked {
		if name != "" && !slices.Contains(known, name) {
			return inRecipe("delta", fmt.Errorf("%q is no metric of this recipe%s", name, didYouMean(name, known)))
		}
	}
	return nil
}

// resolveSet is step 01: the tools and the axes.
func (p *plan) resolveSet() error {
	var err error
	if p.recipe.Tools != nil {
		if p.tools, err = loadTools("tools", p.recipe.Tools); err != nil {
			return err
		}
	}
	p.set, err = axes.Build(p.tools, p.recipe.SystemPrompt, p.recipe.Simulate.Dimensions)
	return inRecipe("simulate.dimensions", err)
}

// resolveAxes is steps 01 and 02: the tools, the axes, and the covering array.
func (p *plan) resolveAxes() error {
	if err := p.resolveSet(); err != nil {
		return err
	}
	p.warnings = append(p.warnings, axes.Preflight(p.tools, p.recipe.SystemPrompt)...)
	p.warnings = append(p.warnings, p.set.Warnings()...)
	model, exclusions, err := cover.FromAxes(p.set, p.recipe.Simulate.Exclude, p.settings.Strength)
	if err != nil {
		return inRecipe("simulate.exclude", err)
	}
	p.exclusions = exclusions
	if p.settings.Array == "smallest" {
		p.array, err = cover.Build(context.Background(), model, cover.Options{})
	} else {
		p.array, err = cover.Stable(context.Background(), model, record.AxisRule, cover.Options{})
	}
	return inRecipe("simulate", err)
}

func loadTools(key string, spec *ToolsSpec) ([]record.Tool, error) {
	if spec.MCP != nil && spec.Inline == nil {
		return nil, record.Problemf("no_tools", "call Recipe.AskTools first", "%s: the MCP server %s was not asked for its tools", key, spec.MCP)
	}
	tools, err := axes.LoadTools(spec.Inline)
	if err != nil {
		where := RecipeFile
		switch {
		case spec.File != "":
			where = spec.File
		case spec.MCP != nil:
			where = spec.MCP.String()
		}
		return nil, &record.Problem{Code: "bad_tools", Message: key + ": " + err.Error(), Where: where, Fix: "mend the schema it names", Err: err}
	}
	return tools, nil
}

// inKey is an error of a step that a key of the recipe led to.
type inKey struct {
	key string
	err error
}

func (e *inKey) Error() string { return RecipeFile + ": " + e.key + ": " + e.err.Error() }

func (e *inKey) Unwrap() error { return e.err }

// inRecipe says which key of the recipe an error of a step lies in.
func inRecipe(key string, err error) error {
	if err == nil {
		return nil
	}
	return &inKey{key, err}
}

// locate gives an error of a step its line and column in the recipe; any other
// stays as it is.
func (r *Recipe) locate(err error) error {
	var k *inKey
	if !errors.As(err, &k) {
		return err
	}
	fix := "mend " + k.key
	var cause *record.Problem
	message := k.err
	if errors.As(k.err, &cause) && cause.Fix != "" {
		fix, message = cause.Fix, errors.New(cause.Message)
	}
	return r.placed().problem(k.key, message.Error(), fix)
}

// placed is the recipe's text with its places.
func (r *Recipe) placed() placed {
	if file, err := parser.ParseBytes([]byte(r.Files[RecipeFile]), 0); err == nil && len(file.Docs) > 0 {
		return placed{file.Docs[0].Body}
	}
	return placed{}
}

// newRun is a run of this plan that nothing has been done of yet.
func (p *plan) newRun(e *Engine, role string, a *arm) *record.Run {
	r := p.recipe
	config, err := record.Marshal(struct {
		Settings Settings    `json:"settings"`
		Agent    AgentSpec   `json:"agent"`
		Writer   Speaker     `json:"writer"`
		User     Speaker     `json:"user"`
		Reward   *RewardSpec `json:"reward"`
	}{p.settings, a.spec, r.Simulate.Writer, r.Simulate.User, r.Grade.Reward})
	if err != nil { // a recipe's values came from YAML, so they are plain
		config = json.RawMessage("null")
	}
	return &record.Run{
		ID: e.NewRunID(), Role: role,
		Recipe: r.Name, RecipeText: r.Files[RecipeFile], RecipeDir: r.Dir, Files: maps.Clone(r.Files),
		RecipeHash: record.Identity("recipe", r.Files), Config: config,
		Mode: p.settings.Mode, Seed: p.settings.Seed, Repeats: p.settings.Repeats, EvalRuns: p.settings.EvalRuns,
		PassThreshold: p.settings.PassThreshold,
		PolicyVersion: a.policy.Version(), SystemPrompt: a.policy.SystemPrompt, Tools: a.tools,
		Program: a.program, FilesHash: a.filesHash,
		Scorer: p.grader.RewardScorer(), Scorers: p.grader.Scorers(),
		Status: record.RunRunning, StartedAt: e.Now(),
	}
}

// feedback reports whether what a run sees moves what it poses next.
func (p *plan) feedback(run *record.Run) bool {
	return run.Mode != record.ModeEval && run.PosedBy == ""
}

// deltaOptions are the recipe's words on the comparison.
func (p *plan) deltaOptions() DeltaOptions {
	d := p.recipe.Delta
	if d == nil {
		return DeltaOptions{}
	}
	return DeltaOptions{Target: d.Target, MustNotRegress: d.MustNotRegress, LowerIsBetter: d.LowerIsBetter, Proxy: d.Proxy, By: d.By}
}

// programOf is an agent's name for people.
func programOf(a AgentSpec) string {
	switch {
	case a.Builtin != "":
		return "builtin:" + a.Builtin
	case len(a.Command) > 0:
		return strings.Join(a.Command, " ")
	case a.Function != "":
		return "go:" + a.Function
	}
	return a.Model + a.HTTP // one of them
}

// batchesOf splits a run's tasks by batch.
func batchesOf(posed []record.Posed) [][]record.Posed {
	return slices.Collect(func(yield func([]record.Posed) bool) {
		for start := 0; start < len(posed); {
			end := start
			for end < len(posed) && posed[end].Batch == posed[start].Batch {
				end++
			}
			if !yield(posed[start:end]) {
				return
			}
			start = end
		}
	})
}
