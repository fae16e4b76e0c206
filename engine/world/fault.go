package world

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assay/engine/record"
)

// Conditions lists the tool conditions that a world can play, success first.
func Conditions() []string {
	return []string{record.ConditionSuccess, record.ConditionTimeout, record.ConditionMalformed, record.ConditionStale, record.ConditionPermissionDenied}
}

// Check reports why no world can be made of a task: it plans a fault that no
// world plays, or an entity in a state that there is not. The error names what
// there is.
func Check(task *record.Task) error {
	if f := task.Fault; f != nil && !slices.Contains(Conditions(), f.Condition) {
		return fmt.Errorf("fault mode %q of tool %q: want one of %s", f.Condition, f.Tool, strings.Join(Conditions(), ", "))
	}
	states := []string{record.EntityExists, record.EntityMissing, record.EntityActedOn, record.EntityDuplicate, record.EntityPartial, record.EntityUnknown}
	for _, e := range task.World.Entities {
		if !slices.Contains(states, e.State) {
			return fmt.Errorf("entity %q is in state %q: want one of %s", e.ID, e.State, strings.Join(states, ", "))
		}
	}
	return nil
}

// Without is the task with its fault switched off. The world is the same
// otherwise, as it is drawn from the task's id.
func Without(task *record.Task) *record.Task {
	clean := *task
	clean.Fault = nil
	return &clean
}

// fault is the fault that hits this call, "" for none.
func (w *World) fault(t *tool) string {
	f := w.task.Fault
	if f == nil || f.Tool != t.name || f.Condition == record.ConditionSuccess {
		return ""
	}
	if w.dials.FaultRate >= 1 {
		return f.Condition
	}
	if w.calls == nil {
		w.calls = map[string]int{}
	}
	n := w.calls[t.name]
	w.calls[t.name]++
	if record.Under(w.dials.FaultRate, "world", w.task.ID, "fault", t.name, n) {
		return f.Condition
	}
	return ""
}

// failed answers the faults under which nothing happens.
func (w *World) failed(t *tool, fault string) (record.ToolResult, bool) {
	switch fault {
	case "", record.ConditionMalformed, record.ConditionStale:
		return record.ToolResult{}, false
	case record.ConditionTimeout:
		result := w.refuse(&refusal{code: record.ErrTimeout, message: fmt.Sprintf("%s did not answer within %d ms", t.name, w.dials.TimeoutMS),
			hint: "it is not known whether the request arrived"})
		result.Fault, result.LatencyMS = fault, w.dials.TimeoutMS
		return result, true
	case record.ConditionPermissionDenied:
		result := w.refuse(&refusal{code: record.ErrPermissionDenied, message: "this account may not use " + t.name, hint: "somebody with the right to do it has to"})
		result.Fault = fault
		return result, true
	}
	return w.refuse(&refusal{code: "unknown_fault", message: fmt.Sprintf("the task plans the fault mode %q; there are %s", fault, strings.Join(Conditions(), ", "))}), true
}

// garbled shapes an answer by the faults under which the call is carried out and
// only its answer is bad. A refusal is not stale: nothing was read.
func (w *World) garbled(t *tool, fault string, result record.ToolResult) record.ToolResult {
	switch {
	case fault == record.ConditionMalformed:
		result.Result = w.malformed(t, result.Result)
	case fault == record.ConditionStale && !result.IsError:
		result.Result = w.aged(t, result.Result)
	default:
		return result
	}
	result.Fault, result.IsError = fault, false
	return result
}

// malformed is an answer that arrives broken: cut off, replaced by a gateway's
// page, or emptied.
func (w *World) malformed(t *tool, body json.RawMessage) json.RawMessage {
	u := record.Rank("world", w.task.ID, "malformed", t.name)
	switch u % 3 {
	case 0:
		return appendString(nil, string(body[:len(body)*2/3]))
	case 1:
		return json.RawMessage(`"<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>"`)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return json.RawMessage(`""`)
	}
	for name := range members {
		members[name] = json.RawMessage("null")
	}
	raw, err := record.Marshal(members)
	if err != nil {
		return json.RawMessage(`""`) // names read from JSON always marshal
	}
	return raw
}

// aged marks an answer with its age, in words, as caches and replicas do.
func (w *World) aged(t *tool, body json.RawMessage) json.RawMessage {
	days := 2 + int(record.Rank("world", w.task.ID, "stale", t.name)%uint64(max(1, w.dials.StaleDays-1)))
	age := fmt.Sprintf(`"as_of":"%d days ago","cached":true}`, days)
	switch {
	case len(body) > 2 && body[0] == '{':
		return append(append(slices.Clone(body[:len(body)-1]), ','), age...)
	case string(body) == "{}":
		return json.RawMessage("{" + age)
	}
	return append(append(append(json.RawMessage(`{"result":`), body...), ','), age...)
}
