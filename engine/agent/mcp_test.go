package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/engine/record"
)

// mcpTools are the kinds and the forms of schema that a recipe may hold, not in
// the order of their names.
func mcpTools() []record.Tool {
	return []record.Tool{
		{Name: "restart_service", Description: "Restart a service.", Kind: record.ToolDestructive,
			Parameters: json.RawMessage(`{"type":"object","properties":{"service":{"type":"string"}},"required":["service"]}`), Returns: json.RawMessage(`{"ok":true}`)},
		{Name: "get_runbook", Description: "Read a runbook.", Kind: record.ToolRead, Parameters: json.RawMessage(`{"properties":{"service":{"type":"string"}}}`)},
		{Name: "note", Kind: record.ToolWrite},
	}
}

// scribe is a world that remembers what it was asked.
type scribe struct {
	mu    sync.Mutex
	name  string
	calls []string
}

func (s *scribe) call(_ context.Context, c record.ToolCall) record.ToolResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c.Tool+string(c.Arguments))
	switch c.Tool {
	case "note":
		return record.ToolResult{Result: json.RawMessage(`"<html>502</html>"`), Fault: "malformed_result"}
	case "restart_service":
		return record.ToolResult{Result: json.RawMessage(`{"error":"timeout"}`), IsError: true, LatencyMS: 30_000}
	case "get_runbook":
		return record.ToolResult{Result: json.RawMessage(fmt.Sprintf(`{"of":%q,"calls":%d}`, s.name, len(s.calls)))}
	}
	return record.ToolResult{Result: json.RawMessage(`{"error":"unknown_tool"}`), IsError: true}
}

func (s *scribe) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func listen(t *testing.T, c WorldsConfig) *Worlds {
	t.Helper()
	w, err := ListenWorlds(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// connect is a client of one world, by its token as a bearer token.
func connect(t *testing.T, url, token string) *mcp.ClientSession {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	header := map[string]string{}
	if token != "" {
		header["Authorization"] = "Bearer " + token
	}
	return dial(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: withHeader{header, transport}}, MaxRetries: -1})
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

// callText is a call's text, structured content and whether it is an error.
func callText(t *testing.T, s *mcp.ClientSession, tool string, arguments any) (text string, structured any, isError bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if len(r.Content) != 1 {
		t.Fatalf("%s has %d pieces of content", tool, len(r.Content))
	}
	return r.Content[0].(*mcp.TextContent).Text, r.StructuredContent, r.IsError
}

// overBoth runs a test with a client over stdio's transport and one over HTTP.
func overBoth(t *testing.T, tools []record.Tool, world *scribe, test func(*testing.T, *mcp.ClientSession)) {
	t.Run("http", func(t *testing.T) {
		w := listen(t, WorldsConfig{Tools: tools})
		address, done := w.Open(world.call)
		defer done()
		test(t, connect(t, address.MCP, address.Token))
	})
	t.Run("stdio", func(t *testing.T) {
		clientIn, serverOut := io.Pipe()
		serverIn, clientOut := io.Pipe()
		served := make(chan error, 1)
		go func() {
			served <- ServeStdio(t.Context(), serverIn, serverOut, tools, world.call)
			serverOut.Close()
		}()
		session := dial(t, &mcp.IOTransport{Reader: clientIn, Writer: clientOut})
		test(t, session)
		session.Close()
		if err := <-served; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
}

func TestMCPListsTheRecipesTools(t *testing.T) {
	tools := mcpTools()
	overBoth(t, tools, &scribe{}, func(t *testing.T, s *mcp.ClientSession) {
		var got []*mcp.Tool
		for tool, err := range s.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, tool)
		}
		if len(got) != len(tools) {
			t.Fatalf("%d tools are listed, want %d", len(got), len(tools))
		}
		schemas := []string{
			`{"properties":{"service":{"type":"string"}},"required":["service"],"type":"object"}`,
			`{"properties":{"service":{"type":"string"}},"type":"object"}`,
			`{"type":"object"}`,
		}
		for i, tool := range got {
			schema, _ := json.Marshal(tool.InputSchema)
			if tool.Name != tools[i].Name || tool.Description != tools[i].Description || string(schema) != schemas[i] || tool.OutputSchema != nil {
				t.Errorf("tool %d: %s %q %s, result %v", i, tool.Name, tool.Description, schema, tool.OutputSchema)
			}
		}
		if a := got[0].Annotations; a.ReadOnlyHint || a.DestructiveHint == nil || !*a.DestructiveHint {
			t.Errorf("the destructive tool is annotated %+v", a)
		}
		if a := got[1].Annotations; !a.ReadOnlyHint {
			t.Errorf("the reading tool is annotated %+v", a)
		}
		if a := got[2].Annotations; a.ReadOnlyHint || a.DestructiveHint == nil || *a.DestructiveHint {
			t.Errorf("the writing tool is annotated %+v", a)
		}
	})
}

func TestMCPWithoutTools(t *testing.T) {
	overBoth(t, nil, &scribe{}, func(t *testing.T, s *mcp.ClientSession) {
		if list, err := s.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 0 {
			t.Errorf("%v, %v", list, err)
		}
	})
}

func TestMCPCalls(t *testing.T) {
	world := &scribe{name: "one"}
	overBoth(t, mcpTools(), world, func(t *testing.T, s *mcp.ClientSession) {
		before := len(world.asked())
		if text, structured, isError := callText(t, s, "restart_service", map[string]any{"service": "billing"}); text != `{"error":"timeout"}` || !isError || structured == nil {
			t.Errorf("a refusal: %s, %v, error %v", text, structured, isError)
		}
		if text, structured, isError := callText(t, s, "note", nil); text != "<html>502</html>" || structured != nil || isError {
			t.Errorf("a malformed result: %s, %v, error %v", text, structured, isError)
		}
		if text, structured, isError := callText(t, s, "get_runbok", map[string]any{}); text != `{"error":"unknown_tool"}` || !isError || structured == nil {
			t.Errorf("a tool that there is not: %s, %v, error %v", text, structured, isError)
		}
		want := []string{`restart_service{"service":"billing"}`, `note{}`, `get_runbok{}`}
		if got := world.asked()[before:]; !slices.Equal(got, want) {
			t.Errorf("the world was asked %q, want %q", got, want)
		}
	})
}

// Each token has its own world, whichever way it is sent and however many
// clients call at once.
func TestMCPWorldsAreIsolated(t *testing.T) {
	const worlds, calls = 8, 20
	w := listen(t, WorldsConfig{Tools: mcpTools()})
	var all sync.WaitGroup
	scribes := make([]*scribe, worlds)
	for i := range worlds {
		scribes[i] = &scribe{name: fmt.Sprint(i)}
		address, done := w.Open(scribes[i].call)
		defer done()
		var session *mcp.ClientSession
		if i%2 == 0 {
			session = connect(t, address.MCP, address.Token)
		} else {
			session = connect(t, address.MCP+"/"+address.Token, "")
		}
		all.Go(func() {
			for n := range calls {
				r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_runbook", Arguments: map[string]any{"service": fmt.Sprintf("s%d", i)}})
				if err != nil {
					t.Errorf("world %d, call %d: %v", i, n, err)
					return
				}
				if text, want := r.Content[0].(*mcp.TextContent).Text, fmt.Sprintf(`{"of":"%d","calls":%d}`, i, n+1); text != want {
					t.Errorf("world %d, call %d: %s, want %s", i, n, text, want)
				}
			}
		})
	}
	all.Wait()
	for i, s := range scribes {
		for _, asked := range s.asked() {
			if want := fmt.Sprintf(`get_runbook{"service":"s%d"}`, i); asked != want {
				t.Errorf("world %d was asked %s", i, asked)
			}
		}
	}
}

// post sends one message as a client of an old protocol version does, without
// a session.
func post(t *testing.T, url string, header map[string]string, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

const callRunbook = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_runbook","arguments":{}}}`

func TestMCPLetsInWhoHasAWorld(t *testing.T) {
	w := listen(t, WorldsConfig{Tools: mcpTools()})
	world := &scribe{name: "mine"}
	address, done := w.Open(world.call)
	bearer := map[string]string{"Authorization": "Bearer " + address.Token}
	and := func(name, value string) map[string]string {
		return map[string]string{"Authorization": bearer["Authorization"], name: value}
	}
	for _, tt := range []struct {
		name, url string
		header    map[string]string
		status    int
	}{
		{"a bearer token", address.MCP, bearer, 200},
		{"a token in the path", address.MCP + "/" + address.Token, nil, 200},
		{"no token", address.MCP, nil, 401},
		{"another token", address.MCP, map[string]string{"Authorization": "Bearer x"}, 401},
		{"a token of the server's own header", address.MCP, map[string]string{worldHeader: address.Token}, 401},
		{"another path", strings.TrimSuffix(address.MCP, "mcp") + "else", bearer, 404},
		{"a path below", address.MCP + "/a/b", bearer, 404},
		{"a host that is not this one", address.MCP, and("Host", "evil.example"), 403},
		{"a page of another origin", address.MCP, and("Sec-Fetch-Site", "cross-site"), 403},
		{"an old version of the protocol", address.MCP, and("Mcp-Protocol-Version", "2025-03-26"), 200},
		{"a session of another server", address.MCP, and("Mcp-Session-Id", "gone"), 200},
	} {
		if status, body := post(t, tt.url, tt.header, callRunbook); status != tt.status || status == 200 && !strings.Contains(body, "mine") {
			t.Errorf("%s: status %d, want %d: %s", tt.name, status, tt.status, body)
		}
	}
	for _, body := range []string{"", "{", "[]", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`, `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, strings.Repeat("[", 100_000)} {
		if status, answer := post(t, address.MCP, bearer, body); status == 200 && !strings.Contains(answer, `"error"`) {
			t.Errorf("%.40q is taken: %s", body, answer)
		}
	}
	done()
	before := len(world.asked())
	if status, _ := post(t, address.MCP, bearer, callRunbook); status != 401 || len(world.asked()) != before {
		t.Errorf("after the rollout's end: status %d, %d calls", status, len(world.asked())-before)
	}
}

func TestMCPAdmits(t *testing.T) {
	admitted := map[string]*scribe{}
	w := listen(t, WorldsConfig{Tools: mcpTools(), Admit: func(token string) WorldCall {
		if len(admitted) == 2 {
			return nil
		}
		admitted[token] = &scribe{name: token}
		return admitted[token].call
	}})
	for _, token := range []string{"", "a", ""} {
		if status, body := post(t, w.URL(), map[string]string{"Authorization": "bearer " + token}, callRunbook); status != 200 || !strings.Contains(body, fmt.Sprintf(`\"of\":\"%s\"`, token)) {
			t.Errorf("token %q: status %d, %s", token, status, body)
		}
	}
	if status, _ := post(t, w.URL()+"/b", nil, callRunbook); status != 401 {
		t.Errorf("a third world: status %d", status)
	}
}

func TestMCPListensOnThisMachineUnlessToldElse(t *testing.T) {
	for address, want := range map[string]string{"": "http://127.0.0.1:", ":0": "http://127.0.0.1:", "0.0.0.0:0": "http://127.0.0.1:", "localhost:0": "http://"} {
		w := listen(t, WorldsConfig{Address: address})
		if !strings.HasPrefix(w.URL(), want) {
			t.Errorf("%q is served at %s", address, w.URL())
		}
		if ip := w.listen.Addr().(*net.TCPAddr).IP; ip.IsUnspecified() != strings.HasPrefix(address, "0.0.0.0") || !ip.IsUnspecified() && !ip.IsLoopback() {
			t.Errorf("%q listens on %s", address, ip)
		}
	}
	taken := listen(t, WorldsConfig{})
	for address, says := range map[string]string{"8080": "HOST:PORT", taken.listen.Addr().String(): "port", "127.0.0.1:99999": "port"} {
		if _, err := ListenWorlds(WorldsConfig{Address: address}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// A schema that the protocol does not allow is an error with the tool's name.
func TestMCPRefusesSchemasThatItCannotShow(t *testing.T) {
	bad := []record.Tool{{Name: "odd", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"bad header name\n"}}}`)}}
	if _, err := ListenWorlds(WorldsConfig{Tools: bad}); err == nil || !strings.Contains(err.Error(), "odd") {
		t.Errorf("%v", err)
	}
}

func TestMCPCloseEndsACallThatHangs(t *testing.T) {
	w, err := ListenWorlds(WorldsConfig{Tools: mcpTools()})
	if err != nil {
		t.Fatal(err)
	}
	entered, release := make(chan struct{}), make(chan struct{})
	address, done := w.Open(func(context.Context, record.ToolCall) record.ToolResult {
		close(entered)
		<-release
		return record.ToolResult{}
	})
	defer done()
	answered := make(chan error, 1)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	go func() {
		r, _ := http.NewRequest(http.MethodPost, address.MCP+"/"+address.Token, bytes.NewReader([]byte(callRunbook)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		answer, err := (&http.Client{Transport: transport}).Do(r)
		if err == nil {
			answer.Body.Close()
		}
		answered <- err
	}()
	<-entered
	w.Close()
	if err := <-answered; err == nil {
		t.Error("a call that was cut off was answered")
	}
	close(release)
}

// BenchmarkMCPCalls is how fast one client calls its world over HTTP.
func BenchmarkMCPCalls(b *testing.B) {
	w, err := ListenWorlds(WorldsConfig{Tools: mcpTools()})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	address, done := w.Open((&scribe{}).call)
	defer done()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for b.Loop() {
		r, _ := http.NewRequest(http.MethodPost, address.MCP+"/"+address.Token, strings.NewReader(callRunbook))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		answer, err := client.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
