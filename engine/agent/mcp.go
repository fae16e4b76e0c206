package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/engine/record"
)

// WorldCall asks one world: what [record.Turn] gives an agent as Call. It is
// called from many goroutines where a client sends calls side by side.
type WorldCall = func(context.Context, record.ToolCall) record.ToolResult

// worldName is what the world's server calls itself to a client.
const worldName = "assay-world"

// mcpServer is the MCP side of one list of tools. Which world a call is for is
// found by the headers that it came with; there are none over stdio.
type mcpServer struct {
	shown []*mcp.Tool
	known map[string]bool
	find  func(http.Header) WorldCall
}

// newMCPServer makes a server that lists tools in their order and answers calls
// of them, and of tools that there are not, from the world that find gives.
func newMCPServer(tools []record.Tool, find func(http.Header) WorldCall) (server *mcp.Server, err error) {
	s := &mcpServer{known: make(map[string]bool, len(tools)), find: find}
	server = mcp.NewServer(&mcp.Implementation{Name: worldName, Version: record.Generator}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		PageSize:     len(tools) + 1, // one page: not every client turns it
	})
	adding := ""
	defer func() { // the SDK panics on a schema that the protocol does not allow
		if p := recover(); p != nil {
			err = fmt.Errorf("the tool %s cannot be served over MCP: %v", adding, p)
		}
	}()
	for i := range tools {
		adding = tools[i].Name
		tool := mcpTool(&tools[i])
		server.AddTool(tool, s.call)
		s.shown = append(s.shown, tool)
		s.known[tool.Name] = true
	}
	server.AddReceivingMiddleware(s.receive)
	return server, nil
}

// mcpTool is a tool as an agent may see it: as over the agent protocol its name,
// description and arguments, and its kind in MCP's own words. The shape of its
// results is not declared, since a planned fault may break it and a client would
// refuse what the agent is there to see.
func mcpTool(t *record.Tool) *mcp.Tool {
	hints := &mcp.ToolAnnotations{ReadOnlyHint: t.Kind == record.ToolRead}
	if t.Kind != record.ToolRead {
		destructive := t.Kind == record.ToolDestructive
		hints.DestructiveHint = &destructive
	}
	return &mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: objectSchema(t.Parameters), Annotations: hints}
}

// objectSchema is a schema of arguments as MCP wants it: with the type object,
// which other forms leave unsaid.
func objectSchema(raw json.RawMessage) json.RawMessage {
	const anyObject = `{"type":"object"}`
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil { // none, null, true or false
		return json.RawMessage(anyObject)
	}
	if string(members["type"]) == `"object"` {
		return raw
	}
	members["type"] = json.RawMessage(`"object"`)
	out, err := record.Marshal(members)
	if err != nil {
		return json.RawMessage(anyObject) // members read from JSON always marshal
	}
	return out
}

// receive lists the tools in the recipe's order, and lets the world refuse a tool
// that there is not: that call is a step of the rollout like any other.
func (s *mcpServer) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if call, ok := r.(*mcp.CallToolRequest); ok && call.Params != nil && !s.known[call.Params.Name] {
			return s.call(ctx, call)
		}
		result, err := next(ctx, method, r)
		if list, ok := result.(*mcp.ListToolsResult); ok && list != nil && list.NextCursor == "" && len(list.Tools) == len(s.shown) {
			list.Tools = slices.Clone(s.shown)
		}
		return result, err
	}
}

func (s *mcpServer) call(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var header http.Header
	if r.Extra != nil {
		header = r.Extra.Header
	}
	ask := s.find(header)
	if ask == nil {
		return mcpResult(closedWorld), nil
	}
	arguments := r.Params.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	return mcpResult(ask(ctx, record.ToolCall{Tool: r.Params.Name, Arguments: arguments})), nil
}

// closedWorld answers a call that comes after the rollout's end.
var closedWorld = record.ToolResult{Result: json.RawMessage(`{"error":"closed","message":"the rollout is over"}`), IsError: true}

// mcpResult is a result as a client sees it: its text, and where it is an object
// the object too. Faults and simulated latency stay here.
func mcpResult(r record.ToolResult) *mcp.CallToolResult {
	raw := orNull(r.Result)
	text := string(raw)
	var plain string
	if raw[0] == '"' && json.Unmarshal(raw, &plain) == nil {
		text = plain
	}
	out := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: r.IsError}
	if raw[0] == '{' {
		out.StructuredContent = raw
	}
	return out
}

// ServeStdio serves one world over MCP on a pair of streams, as a client expects
// of a program that it starts: one JSON message a line. It returns when the
// client closes in, or with ctx's error when that ends.
func ServeStdio(ctx context.Context, in io.Reader, out io.Writer, tools []record.Tool, ask WorldCall) error {
	server, err := newMCPServer(tools, func(http.Header) WorldCall { return ask })
	if err != nil {
		return err
	}
	err = server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: leaveOpen{out}})
	if err != nil && ctx.Err() == nil && strings.Contains(err.Error(), io.EOF.Error()) {
		return nil // the client has left
	}
	return err
}

// leaveOpen is a stream that its owner closes.
type leaveOpen struct{ io.Writer }

func (leaveOpen) Close() error { return nil }
