package engine

import (
	"context"
	"fmt"

	"assay/engine/agent"
	"assay/engine/record"
	"assay/engine/rollout"
	"assay/engine/world"
)

// checkWorlds finds out, before anything is spent, whether an arm's worlds can
// be served where the recipe says.
func checkWorlds(a *arm) error {
	if a.spec.MCP == "" {
		return nil
	}
	served, err := a.listen()
	if err != nil {
		return inRecipe("agent.mcp", err)
	}
	served.Close()
	return nil
}

func (a *arm) listen() (*agent.Worlds, error) {
	return agent.ListenWorlds(agent.WorldsConfig{Address: string(a.spec.MCP), Tools: a.policy.Tools})
}

// serveWorlds serves the worlds of a runner's rollouts over MCP where the recipe
// asks for it. The caller calls closed when the last rollout is over.
func serveWorlds(r *rollout.Runner, a *arm) (closed func(), err error) {
	if a.spec.MCP == "" {
		return func() {}, nil
	}
	worlds, err := a.listen()
	if err != nil {
		return nil, inRecipe("agent.mcp", err)
	}
	r.Serve = worlds.Open
	return worlds.Close, nil
}

// Pose gives the first tasks of a recipe, as a run of it would pose them, and the
// tools of their world: in mode eval all tasks, else those that depend on nothing
// that a rollout did. Nothing is run.
func Pose(ctx context.Context, r *Recipe) (posed []record.Posed, tools []record.Tool, err error) {
	p := &plan{recipe: r, settings: r.Settings()}
	if err := p.resolveAxes(); err != nil {
		return nil, nil, err
	}
	t := &taskSource{}
	if err := p.newSearch(&record.Run{Mode: p.settings.Mode, Seed: p.settings.Seed}, nil, t); err != nil {
		return nil, nil, err
	}
	for batch := 0; p.settings.Mode == record.ModeEval || batch < batchesInFlight; batch++ {
		next, ok := t.planner.Next(ctx)
		if !ok {
			break
		}
		posed = append(posed, next...)
	}
	for i := range posed {
		if err := world.Check(posed[i].Task); err != nil {
			return nil, nil, err
		}
	}
	return posed, p.tools, ctx.Err()
}

// deadTools are warnings of the tools that are shown not to work, injected
// faults aside.
func deadTools(tally *world.Tally, runID string) []record.Warning {
	var ws []record.Warning
	for _, u := range tally.Dead() {
		ws = append(ws, deadTool(u, runID))
	}
	return ws
}

// deadTool says what is known of a tool that never, or hardly ever, worked, and
// what to do about what it answered most.
func deadTool(u world.ToolUse, runID string) record.Warning {
	w := record.Warning{Code: "dead_tool", Text: fmt.Sprintf("the tool %s worked in %d of %d calls that no injected fault shaped: what needs it was hardly tested", u.Tool, u.Succeeded, u.Calls),
		Fix: "read what it answered: assay rows " + runID + " --where tool:" + u.Tool}
	switch u.Mostly {
	case "":
		return w
	case record.ErrNotFound:
		w.Fix = "name ids that exist in its description or in simulate.seeds, or " + w.Fix
	case record.ErrInvalidArguments:
		w.Fix = "see that its parameters say what it takes, or " + w.Fix
	}
	w.Text += fmt.Sprintf("; most of the others ended in %s", u.Mostly)
	return w
}

// notPlayed says that an agent with tools of its own meets no planned fault. It
// is empty where the world answers, or nothing is planned.
func (p *plan) notPlayed() []record.Warning {
	if p.settings.FaultRate == 0 || len(p.tools) == 0 {
		return nil
	}
	for _, a := range []*arm{p.before, p.after} {
		if a != nil && a.toolsBy == record.ToolsByAgent {
			return []record.Warning{{Code: "faults_not_played", Text: "the agent answers its own tool calls, so that neither faults nor states of the world are played: fault_rate does not apply to it, and what the asks name may not exist",
				Fix: "write tools_by: world to test it under faults, or simulate.fault_rate: 0"}}
		}
	}
	return nil
}
