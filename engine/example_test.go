package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"sync"
	"time"

	"assay/engine"
	"assay/engine/record"
	"assay/engine/rollout"
)

// support is an agent that is a Go function. It asks the world of its rollout through
// the turn, which records the call as a step.
func support(ctx context.Context, turn record.Turn) (record.Reply, error) {
	order := orderID.FindString(string(turn.Message))
	if order == "" {
		return record.Reply{FinalText: "Which order is it? Please send its id."}, nil
	}
	arguments, err := json.Marshal(map[string]string{"order_id": order})
	if err != nil {
		return record.Reply{}, err
	}
	found := turn.Call(ctx, record.ToolCall{Tool: "get_order", Arguments: arguments})
	if found.IsError {
		return record.Reply{FinalText: record.Text("I could not look up order " + order + ".")}, nil
	}
	return record.Reply{FinalText: record.Text("Here is order " + order + ": " + string(found.Result))}, nil
}

var orderID = regexp.MustCompile(`\b[A-Z]+-[0-9]+\b`)

// A recipe names the function by the key that it is registered under. Read from disk, it
// is engine.LoadRecipe with os.ReadFile in the recipe's folder.
var files = map[string]string{
	"recipe.yaml": `
name: support-function
agent: {function: support}
system_prompt: You look up orders. You change nothing.
tools: tools.json
simulate: {situations: 12, repeats: 2, holdout: 0.5, fault_rate: 0.5}
grade:
  markers: {looked_up: "called('get_order')"}
  reward: {marker: looked_up}
`,
	"tools.json": `[{"name": "get_order", "description": "Looks up an order, such as ORD-1042.",
  "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}}]`,
}

func readFile(name string) ([]byte, error) {
	text, ok := files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

// A program runs its own agent through a recipe: the same story as assay run, without
// the command. What is committed is kept in memory here; a program that wants to look at
// it in the app gives the engine a store.DB for both Sink and Source.
func Example() {
	recipe, err := engine.LoadRecipe(readFile, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	kept := &memory{}
	e := &engine.Engine{
		Sink: kept, Source: kept, Now: time.Now, NewRunID: func() string { return "example" },
		Functions: map[string]rollout.Agent{"support": rollout.AgentFunc(support)},
	}
	result, err := e.Run(context.Background(), recipe, engine.Options{}, &engine.Control{})
	if err != nil {
		fmt.Println(err)
		return
	}
	passed, looked := 0, 0
	for i := range kept.outcomes {
		o := &kept.outcomes[i]
		if reward := o.Reward(); reward != nil && *reward == 1 {
			passed++
		}
		if slices.ContainsFunc(o.Rollout.Steps, func(s record.Step) bool { return s.Tool == "get_order" }) {
			looked++
		}
	}
	fmt.Printf("%s: %d tasks, %d rollouts\n", result.StoppedBecause, result.Tasks, result.Rollouts)
	fmt.Println("some passed:", passed > 0, "- as many as looked an order up:", passed == looked)
	// Output:
	// situations_complete: 12 tasks, 24 rollouts
	// some passed: true - as many as looked an order up: true
}

// memory keeps the outcomes of one run. Of a sink and a source it has what a run without
// training files and without a comparison asks for.
type memory struct {
	engine.Sink
	engine.Source
	mu       sync.Mutex
	run      *record.Run
	outcomes []record.Outcome
}

func (m *memory) CreateRun(_ context.Context, run *record.Run) error {
	m.run = run
	return nil
}

func (m *memory) Run(context.Context, string) (*record.Run, error) { return m.run, nil }

func (m *memory) UpdateRun(context.Context, *record.Run) error { return nil }

func (m *memory) SaveProgress(context.Context, string, record.Counts, *record.Coverage) error {
	return nil
}

func (m *memory) CommitTasks(context.Context, string, []record.Posed) error { return nil }

func (m *memory) CommitSearch(context.Context, string, record.SearchState) error { return nil }

func (m *memory) CommitOutcomes(_ context.Context, _ string, outcomes []record.Outcome) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outcomes = append(m.outcomes, outcomes...)
	return nil
}

func (m *memory) Trained(context.Context, []string) (map[string]bool, error) { return nil, nil }

func (m *memory) TaskRates(context.Context, string) ([]record.TaskRate, error) { return nil, nil }
