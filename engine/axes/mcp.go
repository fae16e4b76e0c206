package axes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"assay/engine/record"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxListed is the most tools that a server's list may have: it comes in pages,
// and a broken server's has no end. The largest published servers list about a
// hundred.
const maxListed = 1000

// Server says where an MCP server is: at a URL (streamable HTTP), or behind a
// command that speaks on stdin and stdout.
type Server struct {
	URL     string
	Command []string
	Dir     string   // where the command runs
	Env     []string // all of the command's environment, as "NAME=value"
}

// ListTools asks an MCP server for its tools, with the kinds that its
// annotations say, and leaves. It waits on the server as long as ctx lets it. It
// is the one function of this package that does I/O.
func ListTools(ctx context.Context, server Server) (tools []record.Tool, err error) {
	transport, name, err := server.transport(ctx)
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "assay", Version: record.Generator}, nil)
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return nil, fmt.Errorf("tools: connect to MCP server %s: %w", name, err)
	}
	// The list is whole by now; a server that ends badly after it changes nothing.
	defer func() { _ = session.Close() }()
	var listed []*mcp.Tool
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("tools: list the tools of MCP server %s: %w", name, err)
		}
		if listed = append(listed, tool); len(listed) > maxListed {
			return nil, fmt.Errorf("tools: MCP server %s lists more than %d tools", name, maxListed)
		}
	}
	raw, err := json.Marshal(listed)
	if err != nil {
		return nil, fmt.Errorf("tools: MCP server %s: %w", name, err)
	}
	if tools, err = LoadTools(raw); err != nil {
		return nil, fmt.Errorf("MCP server %s: %w", name, err)
	}
	return tools, nil
}

// transport is the way to the server, and its name for people.
func (s Server) transport(ctx context.Context) (mcp.Transport, string, error) {
	switch {
	case s.URL != "" && len(s.Command) > 0:
		return nil, "", errors.New("tools.mcp: give a URL or a command, not both")
	case s.URL != "":
		return &mcp.StreamableClientTransport{Endpoint: s.URL, DisableStandaloneSSE: true, MaxRetries: -1}, s.URL, nil
	case len(s.Command) > 0:
		command := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...)
		command.Dir, command.Env = s.Dir, append([]string{}, s.Env...)
		return &mcp.CommandTransport{Command: command}, strings.Join(s.Command, " "), nil
	}
	return nil, "", errors.New("tools.mcp: give the server's URL or command")
}
