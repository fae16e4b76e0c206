package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/engine/axes"
	"assay/engine/record"
	"assay/recipes"
)

// callingAgent calls every tool with each order that the person named: in its
// world over MCP ("mcp") or over the agent protocol ("wire"), and reports its text
// alone; or it says that it called tools of its own ("own"). "lost" asks for an
// order that there is not, and takes 10 ms over it.
func callingAgent() {
	over := os.Args[1]
	in := bufio.NewReader(os.Stdin)
	var turn callingTurn
	read := func() bool {
		line, err := in.ReadBytes('\n')
		turn = callingTurn{}
		return err == nil && json.Unmarshal(line, &turn) == nil
	}
	for read() {
		t := turn
		var call func(n int, tool, arguments string)
		leave := func() error { return nil }
		if over == "mcp" {
			session := t.World.connect()
			call = func(_ int, tool, arguments string) {
				if _, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
			}
			leave = session.Close
		} else if over != "own" {
			call = func(n int, tool, arguments string) {
				fmt.Printf("{\"type\":\"tool_call\",\"id\":%q,\"call\":\"c%d\",\"tool\":%q,\"arguments\":%s}\n", t.ID, n, tool, arguments)
				read()
			}
		}
		n, steps := 0, []record.Step{}
		if call == nil {
			call = func(_ int, tool, arguments string) {
				steps = append(steps, record.Step{Kind: record.StepTool, Tool: tool, Arguments: json.RawMessage(arguments), Result: json.RawMessage(`{"ok":true}`), Fault: "timeout"})
			}
		}
		orders := orderIDs.FindAllString(t.Message, -1)
		if over == "lost" {
			time.Sleep(10 * time.Millisecond)
			orders = []string{"ORD-31313131"}
		}
		for _, order := range orders {
			for _, tool := range t.Tools {
				n++
				call(n, tool.Name, fmt.Sprintf(`{"order_id":%q}`, order))
			}
		}
		if err := leave(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		raw, _ := json.Marshal(steps)
		fmt.Printf("{\"type\":\"reply\",\"id\":%q,\"final_text\":\"I made %d calls.\",\"steps\":%s}\n", t.ID, n, raw)
	}
}

var orderIDs = regexp.MustCompile(`ORD-\d+`)

type callingTurn struct {
	ID, Message string
	Tools       []struct{ Name string }
	World       *worldAddress
}

type worldAddress struct{ MCP, Token string }

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b != "" {
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (w *worldAddress) transport() mcp.Transport {
	return &mcp.StreamableClientTransport{Endpoint: w.MCP, HTTPClient: &http.Client{Transport: bearer(w.Token)}, MaxRetries: -1}
}

func (w *worldAddress) connect() *mcp.ClientSession {
	session, err := mcp.NewClient(&mcp.Implementation{Name: "calling-agent", Version: "1"}, nil).Connect(context.Background(), w.transport(), nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return session
}

// orders writes a folder with the tools and the policy of an embedded recipe.
func (p *place) orders(dir string) {
	p.t.Helper()
	for _, name := range []string{"policy.md", "tools.json"} {
		text, err := recipes.FS().Open("01-simulate/seeded-agent/" + name)
		if err != nil {
			p.t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(text); err != nil {
			p.t.Fatal(err)
		}
		text.Close()
		p.write(dir+"/"+name, b.String())
	}
}

func (p *place) records(run string) []record.Row {
	p.t.Helper()
	var rows []record.Row
	for line := range strings.Lines(p.must("rows", run)) {
		var r record.Row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			p.t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

const callingRecipe = `
name: calling
agent: {command: [calling-agent, %s], version: "1", mcp: %v}
system_prompt: policy.md
tools: tools.json
simulate: {mode: eval, holdout: 1, situations: 24, repeats: 2, fault_rate: 1, concurrency: %d}
`

// An agent that calls its world over MCP leaves the rows that one leaves which
// asks through the agent protocol, at any concurrency; it reported its text alone.
func TestAnAgentOverMCPLeavesItsCallsAsSteps(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	canonical := map[string]string{}
	policy := regexp.MustCompile(`"policy_version":"[^"]*"`)
	for _, c := range []struct {
		over        string
		mcp         bool
		concurrency int
	}{{"mcp", true, 1}, {"mcp", true, 6}, {"wire", false, 3}} {
		name := fmt.Sprintf("%s-%d", c.over, c.concurrency)
		p.orders(name)
		p.write(name+"/recipe.yaml", fmt.Sprintf(callingRecipe, c.over, c.mcp, c.concurrency))
		p.must("run", name, "--name", name, "--json")
		canonical[name] = policy.ReplaceAllString(p.must("rows", name, "--canonical"), "")
	}
	if canonical["mcp-1"] != canonical["mcp-6"] {
		t.Errorf("concurrency changes the rows: %s", firstDifference(canonical["mcp-1"], canonical["mcp-6"]))
	}
	if canonical["mcp-1"] != canonical["wire-3"] {
		t.Errorf("MCP and the agent protocol differ: %s", firstDifference(canonical["mcp-1"], canonical["wire-3"]))
	}
	calls, faulted := 0, 0
	for _, r := range p.records("mcp-6") {
		for _, s := range r.Steps {
			if s.Kind == record.StepTool {
				calls++
				if s.Fault != "" {
					faulted++
				}
			}
		}
	}
	if calls < 48 || faulted == 0 {
		t.Errorf("the rows hold %d calls, %d of them faulted", calls, faulted)
	}
}

// No port is opened unless the recipe asks for it, and one that cannot be opened
// is told before anything is run.
func TestMCPIsServedOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.orders("r")
	p.write("r/recipe.yaml", fmt.Sprintf(callingRecipe, "mcp", false, 1))
	if out, _, code := p.run("run", "r", "--json"); code != exitCouldNot || !strings.Contains(out, `"agent_failed"`) {
		t.Errorf("an agent without an address: exit %d\n%s", code, out)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for value, says := range map[string]string{`"yes please"`: "recipe.yaml:3:", `"` + taken.Addr().String() + `"`: "agent.mcp"} {
		p.write("r/recipe.yaml", fmt.Sprintf(strings.Replace(callingRecipe, "%v", "%s", 1), "mcp", value, 1))
		if _, errs, code := p.run("run", "r"); code != exitCouldNot || !strings.Contains(errs, says) || !strings.Contains(errs, "mcp") {
			t.Errorf("mcp: %s: exit %d, %s", value, code, errs)
		}
	}
	p.write("r/recipe.yaml", "name: b\nagent: {builtin: seeded, mcp: true}\n")
	if _, errs, code := p.run("run", "r"); code != exitCouldNot || !strings.Contains(errs, "agent.mcp") {
		t.Errorf("a builtin agent: exit %d, %s", code, errs)
	}
}

// serveWorld starts assay world on a port and gives its address, and a stop that
// gives its exit code.
func (p *place) serveWorld(args ...string) (*worldAddress, func() int) {
	p.t.Helper()
	c := p.command(append(append([]string{"world"}, args...), "--mcp", ":0", "--json")...)
	out, err := c.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	stopped := false
	stop := func() int {
		if !stopped {
			stopped = true
			_ = c.Process.Signal(os.Interrupt) // it may have ended
			_ = c.Wait()                       // its exit code says how
		}
		return c.ProcessState.ExitCode()
	}
	p.t.Cleanup(func() { stop() })
	var doc struct{ MCP string }
	if err := json.NewDecoder(out).Decode(&doc); err != nil || !strings.HasPrefix(doc.MCP, "http://127.0.0.1:") {
		p.t.Fatalf("served at %q: %v", doc.MCP, err)
	}
	return &worldAddress{MCP: doc.MCP}, stop
}

func dial(t *testing.T, over mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), over, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// recipeTools are the tools of the embedded recipe that the tests serve.
func recipeTools(t *testing.T) []record.Tool {
	t.Helper()
	var b bytes.Buffer
	f, err := recipes.FS().Open("01-simulate/seeded-agent/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := b.ReadFrom(f); err != nil {
		t.Fatal(err)
	}
	tools, err := axes.LoadTools(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// sameTools compares listed tools with the recipe's, schemas as JSON values.
func sameTools(t *testing.T, listed any) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"tools": listed})
	if err != nil {
		t.Fatal(err)
	}
	got, err := axes.LoadTools(raw)
	if err != nil {
		t.Fatal(err)
	}
	want := recipeTools(t)
	for _, tools := range [][]record.Tool{got, want} {
		for i := range tools {
			tools[i].Returns = nil // the shape of results is not for clients
			var v any
			if err := json.Unmarshal(tools[i].Parameters, &v); err != nil {
				t.Fatal(err)
			}
			tools[i].Parameters, _ = json.Marshal(v)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("listed %+v\nwant   %+v", got, want)
	}
}

// textOf is a call's text and whether it is an error.
func textOf(t *testing.T, s *mcp.ClientSession, tool, arguments string) (string, bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

func TestWorldOverStdio(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var errs bytes.Buffer
	c := p.command("world", "seeded-agent", "--task", "0", "--without-fault", "--mcp", "stdio")
	c.Stderr = &errs
	session := dial(t, &mcp.CommandTransport{Command: c})
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	sameTools(t, list.Tools)
	if text, isError := textOf(t, session, "get_order", `{"order_id":"ORD-0"}`); !isError || !strings.Contains(text, record.ErrNotFound) {
		t.Errorf("an unknown order: %s", text)
	}
	if text, isError := textOf(t, session, "get_ordr", `{}`); !isError || !strings.Contains(text, record.ErrUnknownTool) {
		t.Errorf("an unknown tool: %s", text)
	}
	if err := session.Close(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if !strings.Contains(errs.String(), "get_ordr {}") {
		t.Errorf("the calls are not said on stderr: %s", errs.String())
	}
}

// An interrupt ends the server although its client is still there.
func TestWorldOverStdioCanBeInterrupted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.command("world", "seeded-agent", "--mcp", "stdio")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if hello, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(hello, "assay-world") {
		t.Fatalf("%q, %v", hello, err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // its exit code says how
	if code := c.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
}

// Over HTTP each token has its own world: what one client did, the other does not
// see.
func TestWorldOverHTTP(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	task := p.taskWith("seeded-agent", record.EntityExists)
	world, stop := p.serveWorld("seeded-agent", "--task", task.ID, "--without-fault")
	order := fmt.Sprintf(`{"order_id":%q}`, task.Entities[0].ID)
	one, two := dial(t, (&worldAddress{world.MCP, "one"}).transport()), dial(t, (&worldAddress{world.MCP + "/two", ""}).transport())
	for i, s := range []*mcp.ClientSession{one, two} {
		if text, isError := textOf(t, s, "cancel_order", order); isError {
			t.Errorf("client %d cancels: %s", i, text)
		}
	}
	if text, isError := textOf(t, one, "cancel_order", order); !isError || !strings.Contains(text, record.ErrAlreadyDone) {
		t.Errorf("again: %s", text)
	}
	one.Close()
	two.Close()
	if code := stop(); code != exitInterrupted {
		t.Errorf("interrupted, it exits with %d", code)
	}
}

// taskWith is the first task of a recipe whose first entity is in a state.
func (p *place) taskWith(recipe, state string) handTask {
	p.t.Helper()
	s := &session{environ: os.Environ()}
	for n := 0; ; n++ {
		h, err := s.handWorld(p.t.Context(), recipe, worldFlags{task: fmt.Sprint(n)})
		if err != nil {
			break
		}
		if len(h.Task.Entities) > 0 && h.Task.Entities[0].State == state {
			return h.Task
		}
	}
	p.t.Fatalf("no task of %s has an entity that %s", recipe, state)
	return handTask{}
}

// Tools that an MCP server lists are those of the recipe from then on: kinds and
// all, and a run that is resumed asks nobody.
func TestToolsFromAnMCPServer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("served/recipe.yaml", "name: served\nagent: {builtin: seeded}\ntools: tools.json\nsystem_prompt: policy.md\n")
	p.orders("served")
	p.orders("r")
	const recipe = "name: asks\nagent: {builtin: seeded}\ntools: {mcp: %s}\nsystem_prompt: policy.md\nsimulate: {mode: eval, holdout: 1, situations: 12, repeats: 2}\n"
	world, stop := p.serveWorld(p.file("served"))
	for name, server := range map[string]string{
		"a list":     `[assay, world, ../served, --mcp, stdio]`,
		"words":      `assay world ../served --mcp stdio`,
		"an address": world.MCP,
	} {
		p.write("r/recipe.yaml", fmt.Sprintf(recipe, server))
		var doc struct{ Tools []record.Tool }
		if err := json.Unmarshal([]byte(p.must("world", "r", "--json")), &doc); err != nil {
			t.Fatal(err)
		}
		want := recipeTools(t)
		if len(doc.Tools) != len(want) {
			t.Fatalf("%s: %d tools", name, len(doc.Tools))
		}
		for i := range want {
			if got := doc.Tools[i]; got.Name != want[i].Name || got.Kind != want[i].Kind || got.Description != want[i].Description {
				t.Errorf("%s: tool %d is %+v", name, i, got)
			}
		}
	}
	p.must("cover", "r")
	p.must("run", "r", "--name", "half", "--budget", "10")
	p.must("run", "r", "--name", "whole")
	if stop() != exitInterrupted {
		t.Error("the server did not end by the interrupt")
	}
	if err := os.RemoveAll(p.file("served")); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := p.run("run", "r", "--json"); code != exitCouldNot || !strings.Contains(out, `"no_tools"`) || !strings.Contains(errs, "MCP server") {
		t.Errorf("a server that is gone: exit %d, %s%s", code, out, errs)
	}
	p.must("resume", "half")
	whole := p.canonical("whole")
	for row := range strings.Lines(p.canonical("half")) {
		if !strings.Contains(whole, row) {
			t.Errorf("the resumed run has a row that the whole one has not: %s", row)
		}
	}
}

func TestBadToolServersCostASentence(t *testing.T) {
	t.Parallel()
	for server, says := range map[string]string{
		"{mcp: no-such-tool-server}":      "no-such-tool-server",
		"{mcp: [assay, world]}":           "MCP server",
		"{mcp: 'ftp://host/mcp'}":         "recipe.yaml:3:",
		"{mcp: []}":                       "recipe.yaml:3:",
		"{mpc: [x]}":                      "mcp",
		"{env: [A]}":                      "mcp",
		"{mcp: 'http://127.0.0.1:1/mcp'}": "127.0.0.1:1",
		"{mcp: 'http://127.0.0.1:1/mcp', headers: {A: '${NONE_SUCH}'}}": "NONE_SUCH",
		"{mcp: 'http://127.0.0.1:1/mcp', env: [A]}":                     "headers",
		"{mcp: [x], headers: {A: b}}":                                   "env",
		"{mcp: [x, sk-abcdefghijklmnopqrstuvwx]}":                       "API key",
	} {
		p := newPlace(t)
		p.write("r/recipe.yaml", "name: bad\nagent: {builtin: seeded}\ntools: "+server+"\n")
		out, errs, code := p.run("run", "r")
		if code != exitCouldNot || out != "" || !strings.Contains(errs, says) || strings.Count(strings.TrimSpace(errs), "\n") > 12 {
			t.Errorf("%s: exit %d, %q does not say %q", server, code, errs, says)
		}
	}
}

// The world is served to a client of another implementation: the npm SDK.
func TestWorldWithTheNodeClient(t *testing.T) {
	t.Parallel()
	sdk := os.Getenv("ASSAY_NODE_SDK")
	if sdk == "" {
		t.Skip("ASSAY_NODE_SDK names no folder with node_modules/@modelcontextprotocol/sdk")
	}
	script, err := filepath.Abs("testdata/mcp-client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	task := p.taskWith("seeded-agent", record.EntityExists)
	order := map[string]any{"order_id": task.Entities[0].ID}
	calls, _ := json.Marshal([]any{
		map[string]any{"name": "get_order", "arguments": order}, map[string]any{"name": "cancel_order", "arguments": order},
		map[string]any{"name": "cancel_order", "arguments": order}, map[string]any{"name": "get_ordr"}, map[string]any{"name": "get_order", "arguments": map[string]any{"order_id": 7}},
	})
	world, _ := p.serveWorld("seeded-agent", "--task", task.ID, "--without-fault")
	for name, args := range map[string][]string{
		"http":  {script, sdk, "http", world.MCP, "node", string(calls)},
		"stdio": {script, sdk, "stdio", string(calls), "assay", "world", "seeded-agent", "--task", task.ID, "--without-fault", "--mcp", "stdio"},
	} {
		t.Run(name, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), "node", args...)
			c.Dir = p.dir
			var errs bytes.Buffer
			c.Stderr = &errs
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, errs.String())
			}
			var got struct {
				Server  struct{ Name string }
				Tools   []any
				Results []struct {
					Content           []struct{ Text string }
					IsError           bool
					StructuredContent map[string]any
				}
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			sameTools(t, got.Tools)
			var said []string
			for _, r := range got.Results {
				code, _ := r.StructuredContent["error"].(string)
				if r.IsError != (code != "") || len(r.Content) != 1 {
					t.Errorf("%+v", r)
				}
				said = append(said, code)
			}
			want := []string{"", "", record.ErrAlreadyDone, record.ErrUnknownTool, record.ErrInvalidArguments}
			if got.Server.Name != "assay-world" || !slices.Equal(said, want) {
				t.Errorf("%s answers %q, want %q", got.Server.Name, said, want)
			}
		})
	}
}
