package engine

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"assay/engine/agent"
	"assay/engine/record"
)

// ToolServerSpec is an MCP server that a recipe's tools are asked of: a program,
// or the address of a streamable HTTP endpoint.
type ToolServerSpec struct {
	Command []string
	URL     string
	// Env names the variables that the program may see beside PATH, HOME and LANG.
	Env []string
	// Headers are sent to the address; ${NAME} in a value is the variable's value.
	Headers map[string]string
}

// programOrURL is the value of mcp: an address, or a command line, as a list or
// as words between spaces. No shell reads it.
type programOrURL struct {
	command []string
	url     string
}

// UnmarshalYAML reads either form.
func (p *programOrURL) UnmarshalYAML(n ast.Node) error {
	const fix = "write mcp: [program, argument], or mcp: https://host/mcp"
	if _, ok := n.(*ast.SequenceNode); ok {
		if err := yaml.NodeToValue(n, &p.command); err != nil {
			return err
		}
	} else {
		var text string
		if err := yaml.NodeToValue(n, &text); err != nil {
			return atNode(n, "mcp is a command or an address", fix)
		}
		if strings.Contains(text, "://") {
			p.url = text
		} else {
			p.command = strings.Fields(text)
		}
	}
	if at, err := url.Parse(p.url); p.url != "" && (err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https") {
		return atNode(n, fmt.Sprintf("%q is no address of an MCP server", p.url), fix)
	}
	if p.url == "" && (len(p.command) == 0 || p.command[0] == "") {
		return atNode(n, "mcp names no program", fix)
	}
	return nil
}

// toolServer reads {mcp, env, headers}.
func toolServer(n ast.Node) (*ToolServerSpec, error) {
	var form struct {
		MCP     programOrURL      `yaml:"mcp"`
		Env     []string          `yaml:"env"`
		Headers map[string]string `yaml:"headers"`
	}
	if err := checkKeys(n, &form, "tools"); err != nil {
		return nil, err
	}
	if err := yaml.NodeToValue(n, &form, yaml.Strict()); err != nil {
		return nil, err
	}
	s := &ToolServerSpec{Command: form.MCP.command, URL: form.MCP.url, Env: form.Env, Headers: form.Headers}
	switch {
	case s.URL == "" && len(s.Command) == 0:
		return nil, atNode(n, "tools is a mapping without mcp", "write tools: tools.json, or tools: {mcp: [program, argument]}")
	case s.URL != "" && len(s.Env) > 0:
		return nil, atNode(n, "env is for a program, and mcp is an address", "write ${NAME} in headers")
	case s.URL == "" && len(s.Headers) > 0:
		return nil, atNode(n, "headers are for an address, and mcp is a program", "name the variables in env")
	}
	return s, nil
}

// String is the server for people.
func (s *ToolServerSpec) String() string {
	if s.URL != "" {
		return s.URL
	}
	return strings.Join(s.Command, " ")
}

// toolSpecs are the recipe's lists of tools by their key.
func (r *Recipe) toolSpecs() []keyedTools {
	specs := []keyedTools{{"tools", r.Tools}}
	if r.After != nil {
		specs = append(specs, keyedTools{"after.tools", r.After.Tools})
	}
	return specs
}

type keyedTools struct {
	key  string
	spec *ToolsSpec
}

// listFile is the name under which a server's answer is kept with the files of
// the recipe.
func (k keyedTools) listFile() string { return k.key + ".mcp.json" }

// askPatience is how long a server may take to list its tools: the time in which
// a runner such as npx or uvx fetches a small program. Convention, untested.
const askPatience = time.Minute

// AskTools asks the MCP servers that the recipe's tools come from. What they list
// is kept with the files of the recipe, so that a run that is resumed asks
// nobody. Where nothing is to be asked, or it was asked before, it does nothing.
// environ has the form of os.Environ.
func (r *Recipe) AskTools(ctx context.Context, environ []string) error {
	for _, k := range r.toolSpecs() {
		if k.spec == nil || k.spec.MCP == nil || k.spec.Inline != nil {
			continue
		}
		server, err := k.spec.MCP.server(r.Dir, environ)
		if err != nil {
			return inRecipe(k.key, err)
		}
		asking, cancel := context.WithTimeoutCause(ctx, askPatience, fmt.Errorf("%v are over", askPatience))
		list, err := agent.ListTools(asking, server)
		cancel()
		if err != nil {
			return &record.Problem{Code: "no_tools", Message: fmt.Sprintf("%s: the MCP server %s was asked for its tools: %v", k.key, k.spec.MCP, err), Where: RecipeFile,
				Fix: "start it by hand to see what it says, or save its list to tools.json and write tools: tools.json", Err: err}
		}
		if r.Files == nil {
			r.Files = map[string]string{}
		}
		k.spec.Inline, r.Files[k.listFile()] = list, string(list)
	}
	return nil
}

// recallTools takes the lists that were asked for when the run began.
func (r *Recipe) recallTools(files map[string]string) {
	for _, k := range r.toolSpecs() {
		if list, ok := files[k.listFile()]; ok && k.spec != nil && k.spec.MCP != nil {
			k.spec.Inline, r.Files[k.listFile()] = []byte(list), list
		}
	}
}

func (s *ToolServerSpec) server(dir string, environ []string) (agent.ToolServer, error) {
	if s.URL == "" {
		return agent.ToolServer{Command: agent.CommandConfig{Argv: s.Command, Dir: dir, Env: s.Env, Environ: environ}}, nil
	}
	header := map[string]string{}
	for name, value := range s.Headers {
		filled, err := fill(value, environ)
		if err != nil {
			return agent.ToolServer{}, fmt.Errorf("the header %s: %w", name, err)
		}
		header[name] = filled
	}
	return agent.ToolServer{URL: s.URL, Header: header}, nil
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// fill puts variables of the environment in the place of ${NAME}.
func fill(text string, environ []string) (string, error) {
	var missing error
	filled := variable.ReplaceAllStringFunc(text, func(m string) string {
		name := m[2 : len(m)-1]
		for _, entry := range environ {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value
			}
		}
		missing = fmt.Errorf("the environment has no %s", name)
		return ""
	})
	return filled, missing
}

// Listen is where an agent's worlds are served over MCP: HOST:PORT, or "" for
// not at all.
type Listen string

// listenHere is a free port of this machine alone.
const listenHere Listen = "127.0.0.1:0"

// UnmarshalYAML reads true, false, :PORT or HOST:PORT.
func (l *Listen) UnmarshalYAML(n ast.Node) error {
	const fix = "write mcp: true for a free port of this machine, :PORT or HOST:PORT"
	if on, ok := n.(*ast.BoolNode); ok {
		*l = ""
		if on.Value {
			*l = listenHere
		}
		return nil
	}
	var text string
	if err := yaml.NodeToValue(n, &text); err != nil {
		return atNode(n, "mcp says where the world is served over MCP", fix)
	}
	if _, _, err := net.SplitHostPort(text); err != nil {
		return atNode(n, fmt.Sprintf("%q is no address to listen on", text), fix)
	}
	*l = Listen(text)
	return nil
}
