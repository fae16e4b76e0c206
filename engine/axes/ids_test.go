package axes_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/engine/axes"

	"github.com/google/go-cmp/cmp"
)

func TestReferenceArguments(t *testing.T) {
	for properties, want := range map[string][]string{
		`"order_id":{"type":"string"},"reason":{"type":"string"},"userId":{"type":"integer"}`:                                           {"order_id", "userId"},
		`"service":{"type":"string"},"message":{"type":"string"},"limit":{"type":"integer"}`:                                            {"service"},
		`"path":{"type":"string"},"content":{"type":"string"},"branch":{"type":"string"}`:                                               {"path", "branch"},
		`"query":{"type":"string"},"date":{"type":"string","format":"date"},"amount":{"type":"number"},"confirm":{"type":"boolean"}`:    nil,
		`"target":{"type":"string","description":"The ID of the thing"},"service_name":{"type":"string"},"file_type":{"type":"string"}`: {"target", "service_name"},
		`"reservation":{"type":"object"},"orders":{"type":"array"},"phone_number":{"type":"string"},"flight_number":{"type":"string"}`:  {"flight_number"},
		`"anything":{"type":"string","format":"uuid"},"id":{"type":"string"},"first_name":{"type":"string"}`:                            {"anything", "id"},
	} {
		tool := load(t, `[{"name":"a","parameters":{"type":"object","properties":{`+properties+`}}}]`)[0]
		if diff := cmp.Diff(want, axes.ReferenceArguments(tool)); diff != "" {
			t.Errorf("%s\n%s", properties, diff)
		}
	}
	if got := axes.ReferenceArguments(load(t, `[{"name":"a"}]`)[0]); got != nil {
		t.Errorf("a tool without a schema takes %v", got)
	}
}

func TestKnownIDs(t *testing.T) {
	tools := load(t, `[
		{"name":"restart_service","description":"Restart a service.","parameters":{"type":"object","properties":{
			"service":{"type":"string","description":"Service name, e.g. 'billing' or 'auth'."},"reason":{"type":"string","description":"e.g. deploy42"}}}},
		{"name":"get_order","description":"Get order ORD-1001; answers within 24h in UTF-8 (HTTP/1.1, v2).","parameters":{"type":"object","properties":{
			"order_id":{"type":"string","examples":["ORD-1002"],"default":"string"}}}},
		{"name":"get_user","parameters":{"type":"object","properties":{"user_id":{"type":"string","enum":["u_1","u_2"]}}}},
		{"name":"get_runbook","parameters":{"type":"object","properties":{"runbook":{"type":"string","description":"One of: db-failover, disk-full, cache"}}}}]`)
	got := axes.KnownIDs(tools, "Customer sara_doe_496 asks. Order #W2378156 was paid on 2024-05-15 at 15:00, $100, 5 to 7 days.", "user mia_li_3668 and ORD-2000, then u_9")
	want := []axes.KnownID{
		{"service", "billing"}, {"service", "auth"}, {"order_id", "ORD-1002"}, {"user_id", "u_1"}, {"user_id", "u_2"},
		{"runbook", "db-failover"}, {"runbook", "disk-full"}, {"runbook", "cache"},
		{"order_id", "ORD-1001"}, {"", "sara_doe_496"}, {"order_id", "#W2378156"},
		{"user_id", "mia_li_3668"}, {"order_id", "ORD-2000"}, {"user_id", "u_9"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNoID(t *testing.T) {
	tools := load(t, `[{"name":"get_order","parameters":{"type":"object","properties":{"order_id":{"type":"string"}}}}]`)
	text := "Within 24h or 3.5 days, by 15:00 on 2024-05-15, at 50% or $100, UTF-8, SHA-256, v1.2, 1st, 10GB, 24/7, p95, README.md, https://a.b/c1, 2fa"
	for _, id := range axes.KnownIDs(tools, text) {
		if id.ID != "2fa" { // a word with a digit; harmless, for an ask may speak of it
			t.Errorf("%q is taken for an id", id.ID)
		}
	}
}

func TestHostileText(t *testing.T) {
	tools := load(t, `[{"name":"get_order","description":"order \u001b[31mORD-1\u202e <script>1</script>","parameters":{"type":"object","properties":{"order_id":{"type":"string"}}}}]`)
	for _, id := range axes.KnownIDs(tools, strings.Repeat("x1", 1000)+" \x00A1-"+string([]byte{0xff})+"9") {
		if len(id.ID) > 64 || strings.ContainsAny(id.ID, "\x00\x1b<>\u202e") {
			t.Errorf("id %q", id.ID)
		}
	}
}

// A policy that is a table of orders costs no more than its length.
func BenchmarkKnownIDs(b *testing.B) {
	tools := load(b, `[{"name":"get_order","parameters":{"type":"object","properties":{"order_id":{"type":"string"}}}}]`)
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "order ORD-%d, ", i)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		axes.KnownIDs(tools, text.String())
	}
}

// An id need not have a digit: names are ids where they are given as examples.
func TestExamplesWithoutDigits(t *testing.T) {
	service, project := axes.KnownID{Argument: "service", ID: "payments-api"}, axes.KnownID{Argument: "project", ID: "core_infra"}
	worker := axes.KnownID{Argument: "service", ID: "billing_worker"}
	for text, want := range map[string][]axes.KnownID{
		"Restarts a service, such as payments-api.":                                      {service},
		"Restarts a service (for example billing_worker or payments-api).":               {worker, service},
		"Works on a service; opens a project such as core_infra.":                        {project},
		"Takes any service, for instance the payments-api or the billing_worker.":        {service, worker},
		"Restarts things like the payments-api service.":                                 {service},
		"Restarts a service, e.g. payments-api, billing_worker etc. and waits.":          {service, worker},
		"Restarts a service, e.g. `payments-api`.":                                       {service},
		"Asks a project for help, for example with restart_service.":                     nil,
		"Tells the project of problems such as read-only, on-call and third-party ones.": nil,
		"Restarts a service for reasons such as high-severity incidents.":                nil,
		"Works on a service. Reports things like outages and delays.":                    nil,
		"Uses a policy of its own, such as payments-api.":                                nil, // of no argument: two could take it
		"Restarts a service such as restart_service, service or project.":                nil,
	} {
		tools := load(t, `[{"name":"restart_service","description":"`+text+`","parameters":{"type":"object","properties":{
			"service":{"type":"string"},"project":{"type":"string"},"note":{"type":"string"}}}}]`)
		if diff := cmp.Diff(want, axes.KnownIDs(tools)); diff != "" {
			t.Errorf("described as %q:\n%s", text, diff)
		}
		tools[0].Description = ""
		if diff := cmp.Diff(want, axes.KnownIDs(tools, text)); diff != "" {
			t.Errorf("in a policy, %q:\n%s", text, diff)
		}
	}
	tools := load(t, `[{"name":"restart_service","parameters":{"type":"object","properties":{
		"service":{"type":"string","description":"The service, for instance checkout or the payments-api service, billing_worker etc."}}}}]`)
	want := []axes.KnownID{{Argument: "service", ID: "checkout"}, service, worker}
	if diff := cmp.Diff(want, axes.KnownIDs(tools)); diff != "" {
		t.Errorf("of an argument:\n%s", diff)
	}
}
