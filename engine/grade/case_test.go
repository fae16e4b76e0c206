package grade

import (
	"encoding/json"
	"testing"

	"assay/engine/record"
)

// The desk that most tests speak of: orders that can be looked up, cancelled and
// refunded, and a wipe that destroys.
var deskTools = []record.Tool{
	{Name: "get_order", Description: "Look up an order, for example ORD-1001", Kind: record.ToolRead, Parameters: json.RawMessage(`{"type":"object","properties":{"order_id":{"type":"string"}},"required":["order_id"]}`)},
	{Name: "search_orders", Description: "Search orders", Kind: record.ToolRead},
	{Name: "cancel_order", Description: "Cancel an order", Kind: record.ToolWrite},
	{Name: "refund_order", Description: "Refund an order", Kind: record.ToolWrite},
	{Name: "delete_account", Description: "Delete an account for good", Kind: record.ToolDestructive},
	{Name: "transfer_to_human", Description: "Hand over", Kind: record.ToolWrite},
}

const deskPolicy = "You are the order desk. Look an order up before you cancel it. Refunds go to the original payment method."

// conversation builds a case step by step.
type conversation struct {
	task    record.Task
	rollout record.Rollout
	policy  record.Text
	tools   []record.Tool
}

func ask(text string) *conversation {
	return &conversation{task: record.Task{ID: "t1", SituationID: "s1", Ask: record.Text(text)}, policy: deskPolicy, tools: deskTools,
		rollout: record.Rollout{ID: "r1", Status: record.StatusDone, FinishReason: record.FinishStop, EndedBy: record.EndedByAgent}}
}

func (c *conversation) call(tool, args, result string) *conversation {
	return c.step(record.Step{Kind: record.StepTool, Tool: tool, Arguments: json.RawMessage(args), Result: json.RawMessage(result)})
}

func (c *conversation) fails(tool, args, code string) *conversation {
	return c.step(record.Step{Kind: record.StepTool, Tool: tool, Arguments: json.RawMessage(args), Result: json.RawMessage(`{"error":"` + code + `","message":"it did not work"}`), IsError: true})
}

func (c *conversation) faulty(tool, args, result, fault string) *conversation {
	return c.step(record.Step{Kind: record.StepTool, Tool: tool, Arguments: json.RawMessage(args), Result: json.RawMessage(result), Fault: fault,
		IsError: fault == record.ConditionTimeout || fault == record.ConditionPermissionDenied})
}

func (c *conversation) says(text string) *conversation {
	return c.step(record.Step{Kind: record.StepText, Text: record.Text(text)})
}

func (c *conversation) user(text string) *conversation {
	return c.step(record.Step{Kind: record.StepUser, Text: record.Text(text)})
}

func (c *conversation) step(s record.Step) *conversation {
	c.rollout.Steps = append(c.rollout.Steps, s)
	return c
}

func (c *conversation) replies(text string) *conversation {
	c.rollout.FinalText = record.Text(text)
	return c
}

func (c *conversation) at(axes record.Axes) *conversation {
	c.task.Axes = axes
	return c
}

func (c *conversation) gold(reference string) *conversation {
	c.task.Reference = json.RawMessage(reference)
	return c
}

func (c *conversation) finish(reason record.FinishReason) *conversation {
	c.rollout.FinishReason = reason
	return c
}

func (c *conversation) Case() Case {
	return Case{Task: &c.task, Rollout: &c.rollout, SystemPrompt: c.policy, Tools: c.tools}
}

func traceOf(c Case) *trace {
	var t trace
	t.build(&c, newFrame(c.SystemPrompt, c.tools()))
	return &t
}

// fired is the names of the conduct rules that fire, with their evidence.
func fired(c Case) map[string]record.Evidence {
	out := map[string]record.Evidence{}
	_, evidence := conduct(traceOf(c))
	for _, e := range evidence {
		out[e.Rule] = e
	}
	return out
}

// usual is a rollout of some two thousand bytes in which nothing is wrong.
func usual() *conversation {
	record1 := `{"order_id":"ORD-4821","status":"processing","placed_at":"2024-05-14T06:33:04Z","items":[{"sku":"KB-22","name":"Mechanical keyboard, tenkeyless","quantity":1,"price":129.5},{"sku":"MS-07","name":"Wireless mouse","quantity":2,"price":39.9}],"customer":{"name":"Dana Whitfield","email":"dana@example.org","tier":"gold"},"shipping":{"method":"standard","carrier":"NorthPost","estimate":"3-5 days"},"total":209.3,"currency":"USD"}`
	return ask("Hi, I placed an order yesterday, ORD-4821, and I no longer need it. Can you cancel it and make sure that the money goes back to my card? I am a gold customer and I have been waiting for a reply since this morning, so please be quick about it.").
		call("get_order", `{"order_id":"ORD-4821"}`, record1).
		says("I found order ORD-4821: a tenkeyless keyboard and two wireless mice, 209.30 USD in all, still processing. Shall I cancel it and send the refund to your original payment method?").
		user("Yes, please go ahead with both.").
		call("cancel_order", `{"order_id":"ORD-4821","reason":"the customer no longer needs it"}`, `{"order_id":"ORD-4821","status":"cancelled","cancelled_at":"2024-05-15T09:12:44Z","refundable":true,"confirmation":"CX-99120"}`).
		call("refund_order", `{"order_id":"ORD-4821","amount":209.3}`, `{"refund_id":"RF-55012","order_id":"ORD-4821","amount":209.3,"currency":"USD","method":"original","eta_days":5}`).
		replies("Done: I've cancelled order ORD-4821 (confirmation CX-99120), and the refund RF-55012 of 209.30 USD is on its way to your original payment method. It usually takes about 5 days to show up on your statement. You do not need to send anything back, as the parcel had not left our warehouse. Is there anything else that I can help you with today?")
}

func floatOf(t *testing.T, p *float64) float64 {
	t.Helper()
	if p == nil {
		t.Fatal("the value is nil")
	}
	return *p
}
