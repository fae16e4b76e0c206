package search

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"assay/engine/cover"
	"assay/engine/record"
)

func tool(name, description string, kind record.ToolKind, parameters string) record.Tool {
	return record.Tool{Name: name, Description: description, Kind: kind, Parameters: json.RawMessage(parameters)}
}

func oncallTools() []record.Tool {
	return []record.Tool{
		tool("get_runbook", "Returns the runbook of a service.", record.ToolRead, `{"type":"object","properties":{"service":{"type":"string"}},"required":["service"]}`),
		tool("restart_service", "Restarts a service in production.", record.ToolDestructive, `{"type":"object","properties":{"service":{"type":"string"},"reason":{"type":"string"}},"required":["service","reason"]}`),
		tool("page_human", "Pages the on-call human of a team.", record.ToolWrite, `{"type":"object","properties":{"team":{"type":"string"},"summary":{"type":"string"}},"required":["team","summary"]}`),
	}
}

func airlineTools() []record.Tool {
	return []record.Tool{
		tool("get_user_details", "Get the details of a user", record.ToolRead, `{"type":"object","properties":{"user_id":{"type":"string"}},"required":["user_id"]}`),
		tool("cancel_reservation", "Cancel the whole reservation", record.ToolDestructive, `{"type":"object","properties":{"reservation_id":{"type":"string"}},"required":["reservation_id"]}`),
		tool("search_direct_flight", "Search direct flights between two cities on a date", record.ToolRead, `{"type":"object","properties":{"origin":{"type":"string"},"destination":{"type":"string"},"date":{"type":"string"}},"required":["origin","destination","date"]}`),
		tool("send_certificate", "Send a certificate to a user", record.ToolWrite, `{"type":"object","properties":{"user_id":{"type":"string"},"amount":{"type":"number"}},"required":["user_id","amount"]}`),
		tool("update_reservation_flights", "Update the flights of a reservation", record.ToolWrite, `{"type":"object","properties":{"reservation_id":{"type":"string"},"cabin":{"type":"string","enum":["basic_economy","economy","business"]},"payment_id":{"type":"string"}},"required":["reservation_id","cabin","payment_id"]}`),
		tool("transfer_to_human_agents", "Transfer the user to a human agent", record.ToolWrite, `{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]}`),
		tool("refund_order", "Refunds an order", record.ToolDestructive, `{"type":"object","properties":{"order_id":{"type":"string"},"amount":{"type":"number"},"reason":{"type":"string"}},"required":["order_id"]}`),
		tool("list_all_airports", "List all airports", record.ToolRead, `{"type":"object","properties":{}}`),
		tool("calculate", "Calculate the result of an expression", record.ToolRead, `{"type":"object","properties":{"expression":{"type":"string"}},"required":["expression"]}`),
		tool("book_reservation", "Book a reservation", record.ToolWrite, `{"type":"object","properties":{"user_id":{"type":"string"},"origin":{"type":"string"},"destination":{"type":"string"}},"required":["user_id","origin","destination"]}`),
	}
}

var (
	oncallRules = []string{
		"Read the runbook for a service before restarting it", "Never restart the payments-ledger service without approval from the incident commander",
		"If the runbook does not cover the symptoms, page a human instead of guessing", "Keep the restart reason short and factual", "Do not promise a recovery time", "If a restart fails twice, stop and page the on-call human", "Be concise",
	}
	airlineRules = []string{
		"You should deny user requests that are against this policy", "Each reservation can have at most five passengers", "The agent must first obtain the user id and the reservation id",
		"All reservations can be cancelled within 24 hours of booking, or if the airline cancelled the flight", "If the booking user is a silver member, 1 free checked bag for each basic economy passenger",
		"Do not proactively offer these unless the user complains about the situation and explicitly asks for some compensation", "The user can add but not remove checked bags", "Cabin class must be the same across all the flights in the same reservation",
	}
	allStances    = []string{"ordinary", "ambiguous", "boundary", "adversarial", "hurried", "unsure", "retry", "mistaken", "exploratory", "conflicting"}
	allStates     = []string{record.EntityExists, record.EntityMissing, record.EntityActedOn, record.EntityDuplicate, record.EntityPartial, record.EntityUnknown}
	allConditions = []string{record.ConditionSuccess, record.ConditionTimeout, record.ConditionMalformed, record.ConditionStale, record.ConditionPermissionDenied}
	allHistories  = []string{"fresh", "prior_failure", "prior_partial_action", "contradicts_earlier", "repeat_visit"}
)

// modelOf is the grid of a set of tools and rules, with the one exclusion that
// keeps an unrelated ask from meeting a fault.
func modelOf(tools []record.Tool, rules []string) cover.Model {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	names = append(names, record.ToolUnrelated, record.ToolMulti)
	m := cover.Model{Strength: 2, Parameters: []cover.Parameter{
		{Name: record.AxisTool, Values: names}, {Name: record.AxisRule, Values: append(slices.Clone(rules), record.Unspecified), Spare: 1}, {Name: record.AxisStance, Values: allStances},
		{Name: record.AxisWorldState, Values: allStates}, {Name: record.AxisToolCondition, Values: allConditions}, {Name: record.AxisHistory, Values: allHistories},
	}}
	unrelated := slices.Index(names, record.ToolUnrelated)
	for c := 1; c < len(allConditions); c++ {
		m.Forbidden = append(m.Forbidden, cover.Tuple{{Parameter: 0, Value: unrelated}, {Parameter: 4, Value: c}})
	}
	return m
}

// narrow cuts every axis to its first n values, so that a whole grid is small.
func narrow(m cover.Model, n int) cover.Model {
	out := cover.Model{Strength: m.Strength}
	for _, p := range m.Parameters {
		values := slices.Clone(p.Values[:min(n, len(p.Values)-p.Spare)])
		out.Parameters = append(out.Parameters, cover.Parameter{Name: p.Name, Values: append(values, p.Values[len(p.Values)-p.Spare:]...), Spare: p.Spare})
	}
	return out
}

// arrays are the arrays of this package's tests, by model: read-only, and each
// made once.
var arrays sync.Map

func arrayOf(t testing.TB, m cover.Model) cover.Array {
	t.Helper()
	key := record.Identity("test model", m)
	if a, made := arrays.Load(key); made {
		return a.(cover.Array)
	}
	a, err := cover.Stable(context.Background(), m, record.AxisRule, cover.Options{Effort: -1})
	if err != nil {
		t.Fatal(err)
	}
	arrays.Store(key, a)
	return a
}

func oncallInput(t testing.TB) Input {
	t.Helper()
	return Input{Array: arrayOf(t, modelOf(oncallTools(), oncallRules)), Tools: oncallTools(), Mode: record.ModeEval, Holdout: 1, FaultRate: 1}
}

func mustNew(t testing.TB, in Input) *Planner {
	t.Helper()
	p, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// all poses every batch, observing nothing for each.
func all(t testing.TB, p *Planner) []record.Posed {
	t.Helper()
	var out []record.Posed
	for b := 0; ; b++ {
		posed, ok := p.Next(context.Background())
		if !ok {
			return out
		}
		out = append(out, posed...)
		p.Observe(b, nil)
	}
}

func byArm(posed []record.Posed) map[string]int {
	out := map[string]int{}
	for _, p := range posed {
		out[p.Arm]++
	}
	return out
}
