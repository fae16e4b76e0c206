package axes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"assay/engine/record"
)

// rawTool is a tool in any of the shapes that it may come in.
type rawTool struct {
	Type        string          `json:"type"`
	Function    json.RawMessage `json:"function"`
	Name        string          `json:"name"`
	Description *string         `json:"description"`
	// The arguments' schema: OpenAI and bare, Anthropic, MCP.
	Parameters  json.RawMessage `json:"parameters"`
	InputSchema json.RawMessage `json:"input_schema"`
	InputMCP    json.RawMessage `json:"inputSchema"`
	// The result's schema or an example of it: ours, MCP, and MCP in snake case.
	Returns     json.RawMessage `json:"returns"`
	OutputMCP   json.RawMessage `json:"outputSchema"`
	Output      json.RawMessage `json:"output_schema"`
	Annotations *Annotations    `json:"annotations"`
}

// LoadTools reads tools from JSON: an array, {"tools": [...]} or one tool, each
// in OpenAI's form ({"type": "function", "function": {...}}), Anthropic's
// (input_schema), MCP's (inputSchema, outputSchema, annotations) or bare
// (parameters). The forms may be mixed. Kinds are filled in.
//
// An error names the place: tools[2].parameters.properties.id.type.
func LoadTools(raw []byte) ([]record.Tool, error) {
	items, err := toolItems(raw)
	if err != nil {
		return nil, err
	}
	tools := make([]record.Tool, 0, len(items))
	for i, item := range items {
		tool, err := loadTool(item)
		if err != nil {
			return nil, fmt.Errorf("tools[%d]%w", i, err)
		}
		if j := slices.IndexFunc(tools, func(t record.Tool) bool { return t.Name == tool.Name }); j >= 0 {
			return nil, fmt.Errorf("tools[%d].name: %q is the name of tools[%d] too; rename one", i, tool.Name, j)
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

func toolItems(raw []byte) ([]json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil, errors.New("tools: the file is empty; write [] for an agent without tools")
	}
	if !json.Valid(raw) {
		var v any
		return nil, fmt.Errorf("tools: not JSON: %s", located(raw, json.Unmarshal(raw, &v)))
	}
	switch raw[0] {
	case '[':
		var items []json.RawMessage
		err := json.Unmarshal(raw, &items)
		return items, err
	case '{':
		var list struct {
			Tools json.RawMessage `json:"tools"`
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("tools: %w", err)
		}
		if list.Tools == nil {
			return []json.RawMessage{raw}, nil
		}
		var items []json.RawMessage
		if err := json.Unmarshal(list.Tools, &items); err != nil {
			return nil, errors.New(`tools: "tools" must be a list`)
		}
		return items, nil
	}
	return nil, errors.New(`tools: want a list of tools, {"tools": [...]}, or one tool`)
}

// located is a JSON error with the line and column at which it stands.
func located(raw []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err.Error()
	}
	before := raw[:min(max(int(syntax.Offset)-1, 0), len(raw))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("line %d, column %d: %v", line, column, err)
}

// errAt is an error that begins with the path of its place, so that each level
// puts its own step before it.
type errAt struct {
	path, says string
}

func (e *errAt) Error() string { return e.path + ": " + e.says }

func at(path, format string, args ...any) *errAt {
	return &errAt{path: path, says: fmt.Sprintf(format, args...)}
}

func loadTool(item json.RawMessage) (record.Tool, error) {
	r, prefix, err := unwrapTool(item)
	if err != nil {
		return record.Tool{}, err
	}
	if r.Name == "" {
		return record.Tool{}, at(prefix+".name", "missing; a tool is called by its name")
	}
	if r.Name == record.ToolUnrelated || r.Name == record.ToolMulti {
		return record.Tool{}, at(prefix+".name", "%q is a value of the tool axis; rename the tool", r.Name)
	}
	schema, key, err := oneOf(prefix, member{"parameters", r.Parameters}, member{"input_schema", r.InputSchema}, member{"inputSchema", r.InputMCP})
	if err != nil {
		return record.Tool{}, err
	}
	if schema != nil {
		if err := checkArguments(prefix+"."+key, schema); err != nil {
			return record.Tool{}, err
		}
	}
	returns, _, err := oneOf(prefix, member{"returns", r.Returns}, member{"outputSchema", r.OutputMCP}, member{"output_schema", r.Output})
	if err != nil {
		return record.Tool{}, err
	}
	tool := record.Tool{Name: r.Name, Parameters: schema, Returns: returns}
	if r.Description != nil {
		tool.Description = *r.Description
	}
	var hints Annotations
	if r.Annotations != nil {
		hints = *r.Annotations
	}
	tool.Kind = KindOf(tool.Name, hints)
	return tool, nil
}

// unwrapTool takes the tool out of OpenAI's envelope; prefix is the path to it.
// What stands beside the envelope (returns, annotations) is kept.
func unwrapTool(item json.RawMessage) (r rawTool, prefix string, err error) {
	if err := decodeTool(item, "", &r); err != nil {
		return rawTool{}, "", err
	}
	if r.Function == nil {
		if r.Type != "" && r.Type != "function" && r.Type != "custom" {
			return rawTool{}, "", at(".type", "%q is no tool that Assay can call; it takes functions", r.Type)
		}
		return r, "", nil
	}
	inner := rawTool{Returns: r.Returns, OutputMCP: r.OutputMCP, Output: r.Output, Annotations: r.Annotations}
	if err := decodeTool(r.Function, ".function", &inner); err != nil {
		return rawTool{}, "", err
	}
	return inner, ".function", nil
}

func decodeTool(item json.RawMessage, path string, into *rawTool) error {
	if len(item) == 0 || bytes.TrimSpace(item)[0] != '{' {
		return at(path, "want an object with a name and a schema")
	}
	err := json.Unmarshal(item, into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return at(path+"."+wrong.Field, "want %s, not %s", jsonWord(wrong.Type.Kind().String()), wrong.Value)
	}
	if err != nil {
		return at(path, "%v", err)
	}
	return nil
}

// jsonWord is a Go kind in JSON's words.
func jsonWord(kind string) string {
	switch kind {
	case "bool":
		return "true or false"
	case "struct":
		return "an object"
	}
	return "a " + kind
}

type member struct {
	key string
	raw json.RawMessage
}

// oneOf is the member that is given and not null; two that differ are an error.
func oneOf(prefix string, members ...member) (json.RawMessage, string, error) {
	var found member
	for _, m := range members {
		if m.raw == nil || string(m.raw) == "null" {
			continue
		}
		if found.raw != nil && !bytes.Equal(found.raw, m.raw) {
			return nil, "", at(prefix+"."+m.key, "stands beside a different %s; keep one", found.key)
		}
		found = m
	}
	if found.raw == nil {
		return nil, "", nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, found.raw); err != nil {
		return nil, "", at(prefix+"."+found.key, "%v", err)
	}
	return compact.Bytes(), found.key, nil
}
