package engine

import (
	"regexp"

	"assay/engine/agent"
	"assay/engine/record"
)

// learn makes the keys known that the environment holds under the names that a
// recipe lets its programs see: from then on they are in nothing that is told or
// kept.
func (e *Engine) learn(names []string) {
	e.Masker.Add(record.Secrets(e.Environ, names)...)
}

// commandConfig is how a recipe's program is started.
func (e *Engine) commandConfig(argv []string, dir string, env []string) agent.CommandConfig {
	e.learn(env)
	return agent.CommandConfig{Argv: argv, Dir: dir, Environ: e.Environ, Env: env, Masker: e.Masker}
}

// reference is a variable in a header of a recipe.
var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// variables are the names of the environment that a recipe hands on.
func (r *Recipe) variables() []string {
	names := append([]string{}, r.Agent.Env...)
	referred := func(headers map[string]string) {
		for _, value := range headers {
			for _, match := range reference.FindAllStringSubmatch(value, -1) {
				names = append(names, match[1])
			}
		}
	}
	for _, o := range r.modelOptions() {
		referred(o.Headers)
		if o.KeyEnv != "" {
			names = append(names, o.KeyEnv)
		}
	}
	if r.After != nil && r.After.Agent != nil {
		names = append(names, r.After.Agent.Env...)
	}
	if w := r.Grade.Reward; w != nil && w.Judge != nil {
		names = append(names, w.Judge.Env...)
	}
	for _, k := range r.toolSpecs() {
		if k.spec != nil && k.spec.MCP != nil {
			names = append(names, k.spec.MCP.Env...)
			referred(k.spec.MCP.Headers)
		}
	}
	return names
}

// masked is an event without the values of known keys. What it carries of
// committed rows is masked already.
func (e *Engine) masked(ev Event) Event {
	m := e.Masker
	switch ev := ev.(type) {
	case StepTaken:
		ev.Step = m.Step(ev.Step)
		return ev
	case TextStreamed:
		ev.Delta.Text = record.Text(m.Text(string(ev.Delta.Text)))
		return ev
	case RolloutRetried:
		ev.Err = m.Error(ev.Err)
		return ev
	case Warned:
		ev.Warning = m.Warnings([]record.Warning{ev.Warning})[0]
		return ev
	case RunFinished:
		ev.Run.Error, ev.Run.Warnings = record.Text(m.Text(string(ev.Run.Error))), m.Warnings(ev.Run.Warnings)
		return ev
	}
	return ev
}

// masked is the result without them.
func (r *StoryResult) masked(m *record.Masker) *StoryResult {
	r.Error, r.Warnings = record.Text(m.Text(string(r.Error))), m.Warnings(r.Warnings)
	for i := range r.Cut {
		r.Cut[i].Warnings = m.Warnings(r.Cut[i].Warnings)
		if e := r.Cut[i].Error; e != nil {
			said := m.Text(*e)
			r.Cut[i].Error = &said
		}
	}
	return r
}
