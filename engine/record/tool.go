package record

import "encoding/json"

// ToolKind is what a call may do to the world.
type ToolKind string

// The kinds of tool, by how much a wrong call costs.
const (
	ToolRead        ToolKind = "read"
	ToolWrite       ToolKind = "write"
	ToolDestructive ToolKind = "destructive"
)

// Tool is one tool as the agent is shown it.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Parameters is the JSON Schema of the arguments; absent where none was given.
	Parameters json.RawMessage `json:"parameters,omitempty"`
	// Returns is the JSON Schema, or an example, of the result where one was given.
	Returns json.RawMessage `json:"returns,omitempty"`
	Kind    ToolKind        `json:"kind"`
}

// ToolsHash is the identity of a list of tools as an agent is shown them: the
// order, names, descriptions and schemas.
func ToolsHash(tools []Tool) string {
	if tools == nil {
		tools = []Tool{}
	}
	return Identity("tools", tools)
}

// ToolCall is one call that an agent asks for.
type ToolCall struct {
	ID        string          `json:"id,omitempty"` // the agent's own name for the call
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// ToolResult is what came of a call.
type ToolResult struct {
	Result  json.RawMessage `json:"result"`
	IsError bool            `json:"is_error,omitempty"`
	// Fault names the injected fault that shaped this result, "" where none did.
	Fault string `json:"fault,omitempty"`
	// LatencyMS is how long the call took in the world's own, simulated time.
	LatencyMS int `json:"latency_ms,omitempty"`
}

// ToolError is the body of a refused or failed call.
type ToolError struct {
	Error   string `json:"error"` // one of the Err codes below
	Message string `json:"message,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// Codes of [ToolError], as the agent protocol names them.
const (
	ErrNotFound         = "not_found"
	ErrUnknownTool      = "unknown_tool"
	ErrInvalidArguments = "invalid_arguments"
	ErrTimeout          = "timeout"
	ErrPermissionDenied = "permission_denied"
	ErrAlreadyDone      = "already_done"
	ErrAmbiguous        = "ambiguous"
)
