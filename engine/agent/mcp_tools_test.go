package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/engine/record"
)

// toolServers are programs whose tools are asked for, by the name of how they
// behave.
var toolServers = map[string]func() int{
	"tools": func() int {
		fmt.Fprintln(os.Stderr, "serving")
		if err := ServeStdio(context.Background(), os.Stdin, os.Stdout, mcpTools(), (&scribe{}).call); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	},
	"tools-not-mcp": func() int {
		fmt.Println("Welcome to the tool server!")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	},
	"tools-dead": func() int {
		fmt.Fprintln(os.Stderr, "TOOL_KEY is not set")
		return 3
	},
	"tools-hanging": hang,
	"tools-endless": func() int { return serveOwn(endless) },
	"tools-none": func() int {
		server := mcp.NewServer(&mcp.Implementation{Name: "none"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{}})
		return served(server)
	},
}

// endless gives one more page with every page of tools.
func endless(next mcp.MethodHandler) mcp.MethodHandler {
	pages := 0
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method != "tools/list" {
			return next(ctx, method, r)
		}
		pages++
		tool := &mcp.Tool{Name: fmt.Sprintf("tool_%d", pages), InputSchema: json.RawMessage(`{"type":"object"}`)}
		return &mcp.ListToolsResult{Tools: []*mcp.Tool{tool}, NextCursor: fmt.Sprint(pages)}, nil
	}
}

func serveOwn(middleware mcp.Middleware) int {
	server := mcp.NewServer(&mcp.Implementation{Name: "own"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	server.AddReceivingMiddleware(middleware)
	return served(server)
}

func served(server *mcp.Server) int {
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}

func toolProgram(name string) ToolServer {
	return ToolServer{Command: CommandConfig{Argv: []string{os.Args[0], behaveAs + name}}}
}

// askTools lists a server's tools and wants them to be those of mcpTools.
func askTools(t *testing.T, s ToolServer) {
	t.Helper()
	raw, err := ListTools(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"server":{"name":"assay-world","version":"` + record.Generator + `"},"tools":[` +
		`{"name":"restart_service","description":"Restart a service.","inputSchema":{"properties":{"service":{"type":"string"}},"required":["service"],"type":"object"},"annotations":{"destructiveHint":true}},` +
		`{"name":"get_runbook","description":"Read a runbook.","inputSchema":{"properties":{"service":{"type":"string"}},"type":"object"},"annotations":{"readOnlyHint":true}},` +
		`{"name":"note","inputSchema":{"type":"object"},"annotations":{"destructiveHint":false}}]}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}

func TestToolsOfAProgram(t *testing.T) { askTools(t, toolProgram("tools")) }

func TestToolsOfAnEndpoint(t *testing.T) {
	w := listen(t, WorldsConfig{Tools: mcpTools()})
	address, done := w.Open((&scribe{}).call)
	defer done()
	askTools(t, ToolServer{URL: address.MCP, Header: map[string]string{"Authorization": "Bearer " + address.Token}})
}

func TestToolServersThatAreNone(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("a header reached the address of a redirect")
		}
	}))
	defer elsewhere.Close()
	redirect := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer redirect.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello</html>") }))
	defer page.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, tt := range []struct {
		name   string
		server ToolServer
		says   []string
	}{
		{"no such program", ToolServer{Command: CommandConfig{Argv: []string{"no-such-tool-server"}}}, []string{"no-such-tool-server", "PATH"}},
		{"a program that is no server", toolProgram("tools-not-mcp"), []string{"does not answer as an MCP server"}},
		{"a program that dies", toolProgram("tools-dead"), []string{"exit status 3", "TOOL_KEY is not set"}},
		{"a list without end", toolProgram("tools-endless"), []string{"more than 1000 tools"}},
		{"a server without tools", toolProgram("tools-none"), []string{"without tools"}},
		{"an endpoint that wants a key", ToolServer{URL: listen(t, WorldsConfig{}).URL()}, []string{"does not answer as an MCP server"}},
		{"a page", ToolServer{URL: page.URL}, []string{"does not answer as an MCP server"}},
		{"a redirect", ToolServer{URL: redirect.URL, Header: map[string]string{"Authorization": "Bearer key"}}, []string{"does not answer as an MCP server"}},
		{"nobody", ToolServer{URL: closed.URL}, []string{"does not answer as an MCP server", "refused"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw, err := ListTools(t.Context(), tt.server)
			if err == nil {
				t.Fatalf("it lists %.200s", raw)
			}
			for _, word := range tt.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		})
	}
}

// A server that says nothing is killed when the deadline has passed.
func TestAToolServerThatHangsIsKilled(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("patience is over"))
	defer cancel()
	_, err := ListTools(ctx, toolProgram("tools-hanging"))
	if err == nil || !strings.Contains(err.Error(), "patience is over") || !strings.Contains(err.Error(), "killed") {
		t.Errorf("%v", err)
	}
}
