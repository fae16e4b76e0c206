package axes_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"assay/engine/axes"
	"assay/engine/record"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveStdio makes this test binary an MCP server of its own.
const serveStdio = "AXES_TEST_SERVE_STDIO"

func TestMain(m *testing.M) {
	if os.Getenv(serveStdio) != "" {
		if err := toolServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func toolServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "orders", Version: "1"}, &mcp.ServerOptions{PageSize: 1})
	answer := func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	}
	schema := json.RawMessage(schemaText)
	server.AddTool(&mcp.Tool{Name: "cancel_order", Description: "Cancel an order such as ORD-1001.", InputSchema: schema}, answer)
	server.AddTool(&mcp.Tool{Name: "drop_in", InputSchema: schema, OutputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, answer)
	return server
}

func TestListTools(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return toolServer() }, nil))
	defer web.Close()
	for name, server := range map[string]axes.Server{
		"stdio": {Command: []string{self}, Env: []string{serveStdio + "=1"}},
		"http":  {URL: web.URL},
	} {
		t.Run(name, func(t *testing.T) {
			tools, err := axes.ListTools(t.Context(), server)
			if err != nil {
				t.Fatal(err)
			}
			var got [][2]string
			for _, tool := range tools {
				got = append(got, [2]string{tool.Name, string(tool.Kind)})
				if diff := cmp.Diff([]string{"order_id"}, axes.ReferenceArguments(tool)); diff != "" {
					t.Error(tool.Name, diff)
				}
			}
			want := [][2]string{{"cancel_order", string(record.ToolDestructive)}, {"drop_in", string(record.ToolRead)}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if tools[0].Returns != nil || string(tools[1].Returns) != `{"type":"object"}` {
				t.Errorf("returns %s and %s", tools[0].Returns, tools[1].Returns)
			}
		})
	}
}

func TestListToolsErrors(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	for says, server := range map[string]axes.Server{
		"give the server's URL or command":       {},
		"not both":                               {URL: "http://x", Command: []string{"x"}},
		"connect to MCP server /no/such/program": {Command: []string{"/no/such/program"}},
		"connect to MCP server " + gone.URL:      {URL: gone.URL},
	} {
		if _, err := axes.ListTools(t.Context(), server); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("says %v, want %s", err, says)
		}
	}
}
