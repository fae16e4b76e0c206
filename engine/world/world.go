package world

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/engine/record"
)

// World is one rollout's own world. It is used by one goroutine at a time.
type World struct {
	tools  *Toolset
	task   *record.Task
	dials  Dials
	things map[string]*thing // by folded id
	issued map[string]bool   // folded ids that answers named
	done   map[string]bool   // writes without a reference that were made
	made   []*thing          // created here, in order
	calls  map[string]int    // calls of each tool, where a fault draws by the call
	loose  bool              // a thing may be named by any argument
	said   string            // what the person says, lower case; "" until it is needed
}

// thing is one record that the world knows something special of.
type thing struct {
	id       string
	argument string // that takes its id, "" for any
	state    string // one of the Entity states
	planned  bool   // set up by the task, so its id belongs to its argument
	status   string // the word for what was last done to it
	done     map[string]bool
	advanced bool // half done, and called once more
	deleted  bool
	written  map[string]json.RawMessage // fields that writes stored
	matches  []string                   // of a duplicate: the ids it may mean
}

// settled is true of a thing that was acted on, before the conversation or in it.
func (t *thing) settled() bool { return t.state == record.EntityActedOn || t.status != "" }

// States as records show them.
const (
	statusPartial = "partially_completed"
	statusUnknown = "unknown"
)

// New makes the world of a task with the default dials. Where many tasks share
// tools, [Compile] them once and use [Toolset.World].
func New(task *record.Task, tools []record.Tool) *World {
	return Compile(tools).World(task, DefaultDials())
}

// World makes the world of a task. The task is not written to.
func (s *Toolset) World(task *record.Task, dials Dials) *World {
	w := &World{tools: s, task: task, dials: dials}
	if len(task.World.Entities) > 0 {
		w.things = make(map[string]*thing, len(task.World.Entities))
	}
	for _, e := range task.World.Entities {
		w.set(e)
		w.loose = w.loose || e.Argument == ""
	}
	return w
}

func (w *World) set(e record.Entity) {
	t := &thing{id: e.ID, argument: e.Argument, state: e.State, planned: true}
	w.things[fold(e.ID)] = t
	if e.State != record.EntityDuplicate {
		return
	}
	u := w.recordDraw(e.ID)
	for i := uint64(1); len(t.matches) < 2 && i < 64; i++ {
		match := imitate(e.ID, split(u, i))
		if _, taken := w.things[fold(match)]; taken {
			continue
		}
		t.matches = append(t.matches, match)
		w.things[fold(match)] = &thing{id: match, argument: e.Argument, state: record.EntityExists, planned: true}
	}
}

// recordDraw is the draw that a record's fields are split from: of the task and
// the record alone.
func (w *World) recordDraw(id string) uint64 {
	return record.Rank("world", w.task.ID, "record", fold(id))
}

// issue notes that an answer named an id: it exists from now on.
func (w *World) issue(id string) {
	if w.issued == nil {
		w.issued = map[string]bool{}
	}
	w.issued[fold(id)] = true
}

// Call answers one tool call. It never fails: what cannot be done is a result
// with IsError and a [record.ToolError] as its body.
func (w *World) Call(call record.ToolCall) record.ToolResult {
	t, ok := w.tools.byName[call.Tool]
	if !ok {
		return w.refuse(w.unknownTool(call.Tool))
	}
	args, refused := t.read(call.Arguments, w.dials.ArgumentBytes)
	if refused == nil {
		refused = t.schemaEcho(args)
	}
	if refused == nil {
		refused = w.placeholder(t, args)
	}
	if refused == nil {
		refused = t.checker.check(args, len(call.Arguments))
	}
	if refused != nil {
		return w.refuse(refused)
	}
	fault := w.fault(t)
	if result, ended := w.failed(t, fault); ended {
		return result
	}
	return w.garbled(t, fault, w.answer(t, args, fault))
}

// answer carries out a call that the tool understands.
func (w *World) answer(t *tool, args map[string]any, fault string) record.ToolResult {
	refs, refused := w.references(t, args)
	if refused != nil {
		return w.refuse(refused)
	}
	d := drawing{w: w, tool: t, args: args, refs: refs, stale: fault == record.ConditionStale}
	if subject := subjectOf(t, refs); subject != nil {
		d.thing, d.base = subject.thing, w.recordDraw(subject.id)
	}
	if text, ok := args[t.expression].(string); ok && t.expression != "" {
		v, err := arithmetic(text)
		if err != nil {
			return w.refuse(invalid(fmt.Sprintf("argument %q cannot be worked out: %v", t.expression, err), "use numbers, + - * / and brackets"))
		}
		d.computed = &v
	}
	switch t.op {
	case opRead:
		if len(refs) == 0 {
			d.base = w.callDraw(t, args)
		}
		if d.thing != nil {
			d.state = w.stateWord(d.thing)
		}
	case opList:
		d.base, d.thing = w.callDraw(t, args), nil
	default:
		if refused := w.write(t, args, &d); refused != nil {
			return w.refuse(refused)
		}
	}
	body := d.append(make([]byte, 0, 256), t.result, 0)
	if d.state == statusPartial && t.op != opRead {
		body = withPartial(body, t.result)
	}
	return record.ToolResult{Result: body, LatencyMS: w.latency(split(d.base, t.hash))}
}

// callDraw is the draw of an answer that no record stands behind: of the task
// and the whole call.
func (w *World) callDraw(t *tool, args map[string]any) uint64 {
	return record.Rank("world", w.task.ID, "call", t.name, canonical(args))
}

// canonical writes decoded arguments in one form: members sorted, no space.
func canonical(args map[string]any) string {
	raw, err := json.Marshal(args)
	if err != nil {
		return "" // decoded JSON always marshals
	}
	return string(raw)
}

func (w *World) latency(u uint64) int {
	span := uint64(w.dials.LatencyMaxMS-w.dials.LatencyMinMS) + 1
	return w.dials.LatencyMinMS + int(split(u, hashLatency)%span)
}

// stateWord is how a record shows its state, "" for a usual one.
func (w *World) stateWord(t *thing) string {
	switch {
	case t.status != "":
		return t.status
	case t.state == record.EntityActedOn:
		return w.tools.actedWord(t.argument)
	case t.state == record.EntityPartial:
		return statusPartial
	case t.state == record.EntityUnknown:
		return statusUnknown
	}
	return ""
}

// withPartial makes sure that a half-done write can be seen to be one.
func withPartial(body []byte, s *shape) []byte {
	if s.form != formObject || body[len(body)-1] != '}' {
		return body
	}
	body = body[:len(body)-1]
	comma := func() {
		if body[len(body)-1] != '{' {
			body = append(body, ',')
		}
	}
	if !s.showsState() {
		comma()
		body = append(body, `"status":"`+statusPartial+`"`...)
	}
	if !s.given {
		comma()
		body = append(body, `"parts_done":1,"parts_total":2`...)
	}
	return append(body, '}')
}

// showsState reports whether a member can say that a record is half done.
func (s *shape) showsState() bool {
	return slices.ContainsFunc(s.fields, func(f field) bool {
		return f.shape.class == classStatus && f.shape.form == formText || f.shape.class == classFlag && f.shape.form == formBool
	})
}

// refuse is the result of a call that was not carried out.
func (w *World) refuse(r *refusal) record.ToolResult {
	body := append(make([]byte, 0, 160), `{"error":`...)
	body = appendString(body, r.code)
	if r.message != "" {
		body = appendString(append(body, `,"message":`...), r.message)
	}
	if r.hint != "" {
		body = appendString(append(body, `,"hint":`...), r.hint)
	}
	if len(r.matches) > 0 {
		body = append(body, `,"matches":[`...)
		for i, m := range r.matches {
			if i > 0 {
				body = append(body, ',')
			}
			body = appendString(body, m)
		}
		body = append(body, ']')
	}
	return record.ToolResult{Result: append(body, '}'), IsError: true, LatencyMS: w.dials.LatencyMinMS}
}

func (w *World) unknownTool(name string) *refusal {
	r := &refusal{code: record.ErrUnknownTool, message: "there is no tool of that name"}
	switch near := nearest(name, w.tools.names); {
	case near != "":
		r.hint = fmt.Sprintf("did you mean %q?", near)
	case len(w.tools.names) == 0:
		r.hint = "there are no tools"
	default:
		r.hint = "the tools are " + shorten(strings.Join(w.tools.names, ", "))
	}
	return r
}

// idLike is an id of the same kind that the task or the schemas name, "" for
// none.
func (w *World) idLike(subject string) string {
	for _, e := range w.task.World.Entities {
		words := subjectWords(e.Argument)
		if subject != "" && slices.Contains(words, subject) {
			return e.ID
		}
	}
	return ""
}

// refText is a reference's value as text; false where it is neither text nor a
// number.
func refText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}
