package record

import "encoding/json"

// Names of the six axes, in the order in which they are shown.
const (
	AxisTool          = "tool"
	AxisRule          = "rule"
	AxisStance        = "stance"
	AxisWorldState    = "world_state"
	AxisToolCondition = "tool_condition"
	AxisHistory       = "history"
)

// AxisNames lists the axes in their order.
func AxisNames() []string {
	return []string{AxisTool, AxisRule, AxisStance, AxisWorldState, AxisToolCondition, AxisHistory}
}

// Values of the axes that the engine itself acts on.
const (
	ToolUnrelated = "unrelated"  // an ask for none of the tools
	ToolMulti     = "multi_tool" // an ask that needs more than one
	Unspecified   = "unspecified"

	ConditionSuccess          = "success"
	ConditionTimeout          = "timeout"
	ConditionMalformed        = "malformed_result"
	ConditionStale            = "stale_result"
	ConditionPermissionDenied = "permission_denied"
)

// States that an entity of the world can be in.
const (
	EntityExists    = "exists"
	EntityMissing   = "missing"
	EntityActedOn   = "already_acted"
	EntityDuplicate = "duplicate"
	EntityPartial   = "partial"
	EntityUnknown   = "unknown"
)

// Axes is a situation's coordinates, axis name to value. nil where an ask has
// none.
type Axes map[string]string

// Fault is a planned failure of one tool in one situation.
type Fault struct {
	Tool      string `json:"tool"`
	Condition string `json:"condition"`
}

// Generator names the version of what makes situations and their worlds. It is
// part of every situation's identity, so that a change of what is asked never
// passes for a change of the agent.
const Generator = "assay-1"

// SituationID is the identity of a point on the axes.
func SituationID(axes Axes, fault *Fault) string {
	if fault == nil {
		if raw, plain := appendPlain([]byte(`{"axes":`), axes); plain && plainText(Generator) {
			return identityOf("situation", append(raw, `,"fault":null,"generator":"`+Generator+`"}`...))
		}
	}
	return Identity("situation", struct {
		Axes      Axes   `json:"axes"`
		Fault     *Fault `json:"fault"`
		Generator string `json:"generator"`
	}{axes, fault, Generator})
}

// AskSituationID is the identity of an ask without coordinates: given by the
// user, open-ended or mutated. parent is the situation it came from, or "".
func AskSituationID(ask Text, parent string) string {
	return Identity("situation", struct {
		Ask       Text    `json:"ask"`
		Parent    *string `json:"parent"`
		Generator string  `json:"generator"`
	}{ask, nullable(parent), Generator})
}

// ImportedSituationID is the identity, and the task id, of an imported row. key
// is its scenario_id, else its task_id, else its prompt.
func ImportedSituationID(key Text) string {
	return Identity("situation", struct {
		Import Text `json:"import"`
	}{key})
}

func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Entity is one thing that the world knows by an id, as a task sets it up.
type Entity struct {
	// Argument is the name of the tool argument that takes the id, "" for any.
	Argument string `json:"argument,omitempty"`
	ID       string `json:"id"`
	State    string `json:"state"` // one of the Entity states
}

// World is how a task's world begins.
type World struct {
	Entities []Entity `json:"entities,omitempty"`
}

// User is the person on the other side of the conversation.
type User struct {
	Kind string `json:"kind"` // scripted, or model
	// Manner is how they write (terse, rambling, lower_case ...); it stays the same
	// through the conversation.
	Manner string `json:"manner,omitempty"`
	// Wants is what they are after, in their words.
	Wants Text `json:"wants,omitempty"`
	// Knows is what they can tell when asked: argument name to value.
	Knows map[string]Text `json:"knows,omitempty"`
	// Confirms says whether they agree when asked to confirm.
	Confirms bool `json:"confirms,omitempty"`
	// Insists is what they say next when the agent thinks it is finished, in order.
	Insists []Text `json:"insists,omitempty"`
	// Patience is how many replies that bring them no further they bear before they
	// leave; 0 means the default of the player.
	Patience int `json:"patience,omitempty"`
}

// Origins of a task: what made its situation.
const (
	OriginGiven     = "given"
	OriginGrid      = "grid"
	OriginOpenEnded = "open_ended"
	OriginMutated   = "mutated"
	OriginImported  = "imported"
)

// Task is one situation with its wording. It is the same, with the same id, in
// every run that poses it.
type Task struct {
	ID          string `json:"task_id"`
	SituationID string `json:"situation_id"`
	Origin      string `json:"origin"`
	// Parent is the situation of the ask that this one was made from, or "".
	Parent string `json:"parent,omitempty"`
	Axes   Axes   `json:"axes,omitempty"`
	Fault  *Fault `json:"fault,omitempty"`
	World  World  `json:"world"`
	Ask    Text   `json:"ask"`
	User   User   `json:"user"`
	// Tools are the schemas that the task was made with; ToolsHash is their identity.
	Tools     []Tool `json:"-"`
	ToolsHash string `json:"tools_hash"`
	// Reference is the expected answer: privileged, never sent to an agent.
	Reference json.RawMessage `json:"reference,omitempty"`
	Writer    string          `json:"writer,omitempty"` // template, given, imported, or a model
}

// Identify fills ToolsHash and ID from the rest. SituationID must be set.
func (t *Task) Identify() { t.IdentifyUnder(ToolsHash(t.Tools)) }

// IdentifyUnder is Identify for a caller that makes many tasks with the same
// tools and has hashed them once.
func (t *Task) IdentifyUnder(toolsHash string) {
	t.ToolsHash = toolsHash
	reference := t.Reference
	if len(reference) == 0 {
		reference = json.RawMessage("null")
	}
	t.ID = Identity("task", struct {
		SituationID string          `json:"situation_id"`
		Ask         Text            `json:"ask"`
		User        User            `json:"user"`
		Tools       string          `json:"tools"`
		Reference   json.RawMessage `json:"reference"`
	}{t.SituationID, t.Ask, t.User, t.ToolsHash, reference})
}

// Posed is one task as one run poses it.
type Posed struct {
	Task    *Task
	Arm     string // the arm of the search that brought it
	Batch   int    // counted from 0
	Order   int    // its place among the run's tasks, counted from 0
	HeldOut bool
}

// Arms of the search.
const (
	ArmGiven            = "given"
	ArmStructured       = "structured"
	ArmLLMGuided        = "llm_guided"
	ArmOpenEnded        = "open_ended"
	ArmBehaviorTargeted = "behavior_targeted"
	ArmFailureMutation  = "failure_mutation"
	ArmReplay           = "replay"
	ArmImport           = "import"
)
