package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/engine/record"
)

// ToolServer is an MCP server whose tools are asked for: a program that speaks
// MCP on stdin and stdout, or an endpoint of streamable HTTP.
type ToolServer struct {
	Command CommandConfig
	URL     string // where Command is empty
	// Header is sent with every request to URL.
	Header map[string]string
}

const (
	// maxListed bounds a server's list: beyond it no prompt could hold the tools.
	// Convention, untested.
	maxListed = 1000
	// maxListBytes bounds what the list may weigh as JSON. Convention, untested.
	maxListBytes = 8 << 20
)

// ListTools asks a server for its tools and gives them as JSON in MCP's own form,
// {"server": {...}, "tools": [...]}: all that is needed to do without the server
// from then on. Nothing of the server is called.
//
// The error says what the server did wrong, with the end of its stderr.
func ListTools(ctx context.Context, s ToolServer) (json.RawMessage, error) {
	if s.URL != "" {
		return listHTTP(ctx, s)
	}
	prog, err := s.Command.program()
	if err != nil {
		return nil, err
	}
	server, err := startServer(prog)
	if err != nil {
		return nil, err
	}
	defer server.end()
	stop := context.AfterFunc(ctx, server.kill) // a client that waits for a read does not heed its context
	defer stop()
	list, err := listOver(ctx, &mcp.IOTransport{Reader: server.stdout, Writer: server.stdin})
	if err != nil {
		server.end()
		return nil, prog.mask.Error(fmt.Errorf("%w%s", err, server.said()))
	}
	return list, nil
}

// listHTTP asks an endpoint. A redirect is not followed: the headers are for the
// address that the recipe names.
func listHTTP(ctx context.Context, s ToolServer) (json.RawMessage, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: withHeader{s.Header, transport}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return listOver(ctx, &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true})
}

// listOver asks on one connection.
func listOver(ctx context.Context, transport mcp.Transport) (json.RawMessage, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "assay", Version: record.Generator}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return nil, unanswered(ctx, "it does not answer as an MCP server", err)
	}
	defer session.Close()
	out := struct {
		Server *mcp.Implementation `json:"server,omitempty"`
		Tools  []json.RawMessage   `json:"tools"`
	}{Tools: []json.RawMessage{}}
	if hello := session.InitializeResult(); hello != nil {
		out.Server = hello.ServerInfo
		if hello.Capabilities != nil && hello.Capabilities.Tools == nil {
			return nil, errors.New("it is an MCP server without tools")
		}
	}
	size := 0
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, unanswered(ctx, "it does not list its tools", err)
		}
		raw, err := record.Marshal(listedTool(tool))
		if err != nil {
			return nil, fmt.Errorf("a tool cannot be written as JSON: %w", err)
		}
		if size += len(raw); len(out.Tools) == maxListed || size > maxListBytes {
			return nil, fmt.Errorf("it lists more than %d tools, or more than %d MiB of them", maxListed, maxListBytes>>20)
		}
		out.Tools = append(out.Tools, raw)
	}
	return record.Marshal(out)
}

// unanswered says that a deadline passed where that is why.
func unanswered(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s in time: %w", what, context.Cause(ctx))
	}
	return fmt.Errorf("%s: %w", what, err)
}

// listed is what is kept of a listed tool. The SDK's own form writes hints that
// the server did not give.
type listed struct {
	Name         string       `json:"name"`
	Description  string       `json:"description,omitempty"`
	InputSchema  any          `json:"inputSchema,omitempty"`
	OutputSchema any          `json:"outputSchema,omitempty"`
	Annotations  *listedHints `json:"annotations,omitempty"`
}

type listedHints struct {
	ReadOnly    bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
}

func listedTool(t *mcp.Tool) listed {
	l := listed{Name: t.Name, Description: cmp.Or(t.Description, t.Title), InputSchema: t.InputSchema, OutputSchema: t.OutputSchema}
	if a := t.Annotations; a != nil {
		l.Annotations = &listedHints{ReadOnly: a.ReadOnlyHint, Destructive: a.DestructiveHint}
	}
	return l
}

// withHeader adds headers to requests.
type withHeader struct {
	header map[string]string
	next   http.RoundTripper
}

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(h.header) > 0 {
		r = r.Clone(r.Context())
		for name, value := range h.header {
			r.Header.Set(name, value)
		}
	}
	return h.next.RoundTrip(r)
}

// toolServer is a running program that speaks MCP.
type toolServer struct {
	cmd           *exec.Cmd
	group         processGroup
	stdin, stdout *os.File
	log           tail
	mask          *record.Masker
	ended         chan struct{}
}

func startServer(prog program) (*toolServer, error) {
	s := &toolServer{cmd: exec.Command(prog.argv[0], prog.argv[1:]...), log: tail{limit: keptLog}, mask: prog.mask, ended: make(chan struct{})}
	s.cmd.Dir, s.cmd.Env, s.cmd.SysProcAttr = prog.dir, prog.env, groupAttributes()
	s.cmd.Stderr, s.cmd.WaitDelay = &s.log, drainGrace
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, startError(prog, err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		closeAll([]*os.File{theirIn, in})
		return nil, startError(prog, err)
	}
	defer closeAll([]*os.File{theirIn, theirOut})
	s.stdin, s.stdout, s.cmd.Stdin, s.cmd.Stdout = in, out, theirIn, theirOut
	if err := s.cmd.Start(); err != nil {
		closeAll([]*os.File{in, out})
		return nil, startError(prog, err)
	}
	s.group = newProcessGroup(s.cmd.Process)
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait() // how it went is in ProcessState
		s.group.kill()   // what it left behind
		s.group.release()
	}()
	return s, nil
}

// kill ends the program with its children.
func (s *toolServer) kill() {
	select {
	case <-s.ended: // its number may be another's by now
	default:
		s.group.kill()
	}
}

// end asks the program to end by closing its stdin, and kills what is left of it
// two seconds later.
func (s *toolServer) end() {
	_ = s.stdin.Close()
	deadline := time.NewTimer(closeGrace)
	defer deadline.Stop()
	select {
	case <-s.ended:
	case <-deadline.C:
		s.kill()
		<-s.ended
	}
	_ = s.stdout.Close()
}

// said is what the program wrote to stderr, for an error.
func (s *toolServer) said() string {
	log := s.mask.Text(s.log.since(0)) // before it is cut
	clean, _ := record.Text(log[max(0, len(log)-lastLog):]).Clean()
	if clean = strings.TrimSpace(clean); clean == "" {
		return "; it ended with " + s.cmd.ProcessState.String() + ", and its stderr is empty"
	}
	return "; it ended with " + s.cmd.ProcessState.String() + ", and its stderr ends:\n" + clean
}
