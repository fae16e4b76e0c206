package record

import (
	"slices"
	"testing"
)

func TestNameWords(t *testing.T) {
	for name, want := range map[string][]string{
		"get_order": {"get", "order"}, "getHTTPStatus": {"get", "http", "status"}, "refund-order.v2": {"refund", "order", "v2"},
		"": nil, "__": nil, "ID": {"id"}, "userID2": {"user", "id2"}, "ÜberTool": {"über", "tool"},
	} {
		if got := NameWords(name); !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
