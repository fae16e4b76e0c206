package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"assay/engine"
	"assay/engine/record"
	"assay/engine/world"
)

// worldFlags are what the world command is told.
type worldFlags struct {
	task         string
	calls        []string
	mcp          string
	withoutFault bool
}

func worldCommand(s *session) *cobra.Command {
	var f worldFlags
	c := &cobra.Command{
		Use:   "world RECIPE",
		Short: "Call the mock world of a recipe by hand, or serve it over MCP",
		Long: "Call the mock world of one of a recipe's tasks: with --call, or line by line from stdin.\n" +
			"A line is a tool's name and its arguments, or {\"tool\": ..., \"arguments\": {...}}; tools, task\n" +
			"and again (a fresh world) are lines too.\n\n" +
			"--mcp serves the world to an MCP client instead: stdio, :PORT or HOST:PORT; without a host on\n" +
			"127.0.0.1 alone. Over HTTP each token (bearer, or behind the address and a slash) has a world of\n" +
			"its own; clients without one share one.",
		Example: "assay world seeded-agent --call '{\"tool\":\"get_runbook\",\"arguments\":{\"service\":\"billing\"}}'\n" +
			"echo 'get_runbook {\"service\":\"billing\"}' | assay world seeded-agent --task 3\n" +
			"assay world seeded-agent --mcp :8080",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return s.world(c.Context(), args[0], f) },
	}
	c.Flags().StringVar(&f.task, "task", "0", "which of the recipe's tasks: its number, counted from 0, or the beginning of its id")
	c.Flags().StringArrayVar(&f.calls, "call", nil, "one call as JSON, {tool, arguments}; may be given again")
	c.Flags().StringVar(&f.mcp, "mcp", "", "serve over MCP: stdio, :PORT or HOST:PORT")
	c.Flags().BoolVar(&f.withoutFault, "without-fault", false, "switch the task's fault off")
	return c
}

func (s *session) world(ctx context.Context, name string, f worldFlags) error {
	calls, err := readCalls(f.calls)
	switch {
	case err != nil:
		return err
	case f.mcp != "" && len(calls) > 0:
		return record.Problemf("usage", "leave out one of them", "--call and --mcp are both given")
	}
	h, err := s.handWorld(ctx, name, f)
	if err != nil {
		return err
	}
	s.warn(h.Warnings)
	switch f.mcp {
	case "":
		return s.byHand(h, calls)
	case "stdio":
		return s.serveStdio(ctx, h)
	}
	return s.serveHTTP(ctx, h, f.mcp)
}

func readCalls(texts []string) ([]record.ToolCall, error) {
	calls := make([]record.ToolCall, len(texts))
	for i, text := range texts {
		var err error
		if calls[i], err = readCall(text); err != nil {
			return nil, &record.Problem{Code: "bad_call", Message: err.Error(), Where: "--call", Fix: `write {"tool": "name", "arguments": {}}`, Err: err}
		}
	}
	return calls, nil
}

// byHand makes the calls that are given, or those that stdin says.
func (s *session) byHand(h *handWorld, calls []record.ToolCall) error {
	if !s.json {
		h.write(s.out)
	}
	for _, call := range calls {
		s.answer(h, call)
	}
	if len(calls) == 0 {
		if err := s.talk(h); err != nil {
			return err
		}
	}
	if s.json {
		return s.printJSON(h)
	}
	return nil
}

// handWorld is one task's world as it is called by hand; its JSON is what world
// prints.
type handWorld struct {
	Recipe   string           `json:"recipe"`
	Task     handTask         `json:"task"`
	Tools    []record.Tool    `json:"tools"`
	MCP      string           `json:"mcp,omitempty"` // the address, where it is served over HTTP
	Calls    []record.Step    `json:"calls"`
	Warnings []record.Warning `json:"warnings"`

	task    *record.Task
	toolset *world.Toolset
	world   *world.World
}

// handTask is what a person must know of the task.
type handTask struct {
	ID       string          `json:"task_id"`
	Number   int             `json:"number"`
	Of       int             `json:"of"`
	Ask      record.Text     `json:"ask"`
	Axes     record.Axes     `json:"axes"`
	Entities []record.Entity `json:"entities"`
	Fault    *record.Fault   `json:"fault"`
}

func (s *session) handWorld(ctx context.Context, name string, f worldFlags) (*handWorld, error) {
	r, err := s.loadRecipe(name)
	if err != nil {
		return nil, err
	}
	if err := r.AskTools(ctx, s.environ); err != nil {
		return nil, err
	}
	posed, tools, err := engine.Pose(ctx, r)
	if err != nil {
		return nil, err
	}
	at, err := pickTask(posed, f.task)
	if err != nil {
		return nil, err
	}
	task := posed[at].Task
	if f.withoutFault {
		task = world.Without(task)
	}
	h := &handWorld{Recipe: r.Name, Tools: tools, Calls: []record.Step{}, Warnings: []record.Warning{}, task: task, toolset: world.Compile(tools),
		Task: handTask{ID: task.ID, Number: at, Of: len(posed), Ask: task.Ask, Axes: task.Axes, Entities: task.World.Entities, Fault: task.Fault}}
	if h.Tools == nil {
		h.Tools = []record.Tool{}
	}
	h.Warnings = append(h.Warnings, h.toolset.Warnings()...)
	h.again()
	return h, nil
}

// numberDigits is the most digits that a task's number has; longer ones are the
// beginning of an id.
const numberDigits = 6

// pickTask is the place of a task by its number or the beginning of its id.
func pickTask(posed []record.Posed, name string) (int, error) {
	if len(posed) == 0 {
		return 0, record.Problemf("no_task", "write tools: in the recipe, or asks in simulate.seeds", "the recipe poses no task")
	}
	fix := fmt.Sprintf("choose one from 0 to %d", len(posed)-1)
	if n, err := strconv.Atoi(name); err == nil && len(name) <= numberDigits {
		if n < 0 || n >= len(posed) {
			return 0, record.Problemf("no_task", fix, "there is no task %d: %d tasks can be told before a run", n, len(posed))
		}
		return n, nil
	}
	found := -1
	for i := range posed {
		if !strings.HasPrefix(posed[i].Task.ID, name) {
			continue
		}
		if found >= 0 {
			return 0, record.Problemf("no_task", "write more of the id", "more than one task's id begins with %s", name)
		}
		found = i
	}
	if found < 0 {
		return 0, record.Problemf("no_task", fix, "no task's id begins with %q", name)
	}
	return found, nil
}

// again makes a fresh world.
func (h *handWorld) again() { h.world = h.toolset.World(h.task, world.DefaultDials()) }

// call asks the world and gives the step.
func (h *handWorld) call(c record.ToolCall) record.Step { return stepOf(c, h.world.Call(c)) }

func stepOf(c record.ToolCall, r record.ToolResult) record.Step {
	return record.Step{Kind: record.StepTool, Tool: c.Tool, Arguments: c.Arguments, Result: r.Result, IsError: r.IsError, Fault: r.Fault, LatencyMS: r.LatencyMS}
}

// apart is a world of its own for each client that is given it.
func (h *handWorld) apart(heard func(record.Step)) func(context.Context, record.ToolCall) record.ToolResult {
	w := h.toolset.World(h.task, world.DefaultDials())
	var mu sync.Mutex // a client may call side by side
	return func(_ context.Context, c record.ToolCall) record.ToolResult {
		mu.Lock()
		defer mu.Unlock()
		r := w.Call(c)
		heard(stepOf(c, r))
		return r
	}
}

// answer makes one call and shows what came of it.
func (s *session) answer(h *handWorld, c record.ToolCall) {
	step := h.call(c)
	h.Calls = append(h.Calls, step)
	if s.json {
		return
	}
	line := callLine(step)
	if s.isTerminal(s.in) { // whoever typed the call sees it
		_, line, _ = strings.Cut(line, "\n")
	}
	fmt.Fprintln(s.out, line)
}

// callLine is one call and its answer on a line.
func callLine(s record.Step) string {
	arguments := string(s.Arguments)
	if arguments == "" {
		arguments = "{}"
	}
	line := fmt.Sprintf("%s %s\n  -> %s", s.Tool, arguments, s.Result)
	var notes []string
	if s.IsError {
		notes = append(notes, "error")
	}
	if s.Fault != "" {
		notes = append(notes, "fault "+s.Fault)
	}
	notes = append(notes, fmt.Sprintf("%d ms", s.LatencyMS))
	return plain(line + "  (" + strings.Join(notes, ", ") + ")")
}

// readCall reads {tool, arguments}.
func readCall(text string) (record.ToolCall, error) {
	var form struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&form); err != nil {
		return record.ToolCall{}, fmt.Errorf("%q is no call: %w", text, err)
	}
	if d.More() || form.Tool == "" {
		return record.ToolCall{}, fmt.Errorf("%q is no call: it is one object that names a tool", text)
	}
	if form.Arguments == nil {
		form.Arguments = json.RawMessage("{}")
	}
	return record.ToolCall{Tool: form.Tool, Arguments: form.Arguments}, nil
}

func (h *handWorld) write(w io.Writer) {
	h.writeTask(w)
	h.writeTools(w)
}

func (h *handWorld) writeTask(w io.Writer) {
	t := h.Task
	fmt.Fprintf(w, "recipe %s, task %d of %d (%s)\n  ask: %s\n", plain(h.Recipe), t.Number, t.Of, t.ID, strings.ReplaceAll(plain(string(t.Ask)), "\n", "\n       "))
	for _, name := range record.AxisNames() {
		if v := t.Axes[name]; v != "" {
			fmt.Fprintf(w, "  %s: %s\n", name, plain(v))
		}
	}
	for _, e := range t.Entities {
		fmt.Fprintf(w, "  %s %s: %s\n", plain(e.Argument), plain(e.ID), strings.ReplaceAll(e.State, "_", " "))
	}
	if t.Fault != nil {
		fmt.Fprintf(w, "  fault: %s of %s\n", t.Fault.Condition, plain(t.Fault.Tool))
	}
}

func (h *handWorld) writeTools(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range h.Tools {
		t := &h.Tools[i]
		fmt.Fprintf(table, "  %s(%s)\t%s\t%s\n", plain(t.Name), plain(strings.Join(argumentNames(t.Parameters), ", ")), t.Kind, plain(firstLine(t.Description)))
	}
	table.Flush()
}

// argumentNames lists a schema's properties, those that need not be given with a
// question mark.
func argumentNames(schema json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	var names []string
	for name := range s.Properties {
		if !slices.Contains(s.Required, name) {
			name += "?"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
