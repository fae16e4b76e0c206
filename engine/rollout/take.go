package rollout

import (
	"encoding/json"
	"slices"
	"strings"

	"assay/engine/record"
)

// take checks a reply and adds it to the rollout.
func (a *attempt) take(turn int, reply *record.Reply) error {
	if err := a.check(reply); err != nil {
		return err
	}
	for i := range reply.Steps {
		a.append(reply.Steps[i])
	}
	o := a.out
	o.FinishReason = reply.FinishReason
	if o.FinishReason == "" {
		o.FinishReason = record.FinishStop
	}
	a.use(reply.Usage)
	a.logProbs(reply.LogProbs)
	o.PromptTruncated = o.PromptTruncated || reply.PromptTruncated
	if reply.Privileged != nil {
		o.Privileged = reply.Privileged
	}
	for name, value := range reply.Extra {
		a.keep(name, value)
	}
	a.reason(turn, reply.Reasoning)
	if !a.takeEmpty && strings.TrimSpace(string(reply.FinalText)) == "" && a.log[len(a.log)-1].Kind == record.StepUser {
		return errEmpty
	}
	return nil
}

// check refuses a reply that breaks the contract.
func (a *attempt) check(reply *record.Reply) error {
	switch reply.FinishReason {
	case "", record.FinishStop, record.FinishLength, record.FinishTool, record.FinishError:
	default:
		return record.AgentErrorf(record.CauseAgent, "finish_reason %q: want one of stop, length, tool, error", reply.FinishReason)
	}
	if len(reply.Steps) > 0 && a.world != nil {
		return record.AgentErrorf(record.CauseAgent, "the reply has %d steps of its own, but the world answers the tools and has recorded them; leave steps empty, or set tools_by: agent", len(reply.Steps))
	}
	if a.calls += len(reply.Steps); a.world == nil && a.calls > a.runner.ready.maxCalls {
		a.flooded = true
		reply.Steps = reply.Steps[:max(0, len(reply.Steps)-(a.calls-a.runner.ready.maxCalls))]
	}
	reply.Steps = slices.Clone(reply.Steps) // the agent may keep its own
	for i := range reply.Steps {
		step := &reply.Steps[i]
		step.Fault = "" // faults are the world's to inject, not the agent's to claim
		switch {
		case step.Kind == record.StepTool && step.Tool == "":
			return record.AgentErrorf(record.CauseAgent, "steps[%d] of the reply calls a tool without a name", i)
		case step.Kind != record.StepTool && step.Kind != record.StepText:
			return record.AgentErrorf(record.CauseAgent, "steps[%d] of the reply is of kind %q: want a tool call or a text", i, step.Kind)
		case len(step.Arguments) > 0 && !json.Valid(step.Arguments), len(step.Result) > 0 && !json.Valid(step.Result):
			return record.AgentErrorf(record.CauseAgent, "steps[%d] of the reply holds arguments or a result that are not JSON", i)
		}
	}
	return nil
}

// use adds what a reply, or a turn that came to none, has used.
func (a *attempt) use(u *record.Usage) {
	if u == nil {
		return
	}
	total := *u
	if a.out.Usage != nil {
		total = a.out.Usage.Plus(total)
	}
	a.out.Usage = &total
}

// logProbs keeps those of a reply. They are one a reply in its place or none at all: a
// trainer would take a sum with a reply missing for that of the rollout.
func (a *attempt) logProbs(l *record.LogProbs) {
	if l == nil || a.unlogged {
		a.unlogged, a.out.LogProbs = true, nil
		return
	}
	a.out.LogProbs = append(a.out.LogProbs, *l)
}

// thought is what the agent thought aloud in one turn, as the row has it.
type thought struct {
	Turn int         `json:"turn"` // counted from 0
	Text record.Text `json:"text"`
}

// ReasoningMember is the member of a row that holds what an agent thought aloud: a
// list of {turn, text}.
const ReasoningMember = "reasoning"

func (a *attempt) reason(turn int, texts []record.Text) {
	if len(texts) == 0 {
		return
	}
	for _, text := range texts {
		a.thoughts = append(a.thoughts, thought{turn, text})
	}
	if raw, err := record.Marshal(a.thoughts); err == nil { // texts always marshal
		a.keep(ReasoningMember, raw)
	}
}

// keep puts a member on the row that Assay has no field for.
func (a *attempt) keep(name string, value json.RawMessage) {
	if a.out.Extra == nil {
		a.out.Extra = map[string]json.RawMessage{}
	}
	a.out.Extra[name] = value
}
