package record_test

import (
	"testing"

	"assay/engine/record"
)

func TestNearest(t *testing.T) {
	known := []string{"situations", "repeats", "one", "holdout", "ünïcode"}
	for written, want := range map[string]string{
		"situatons": "situations", "SITUATIONS": "situations", "repeat": "repeats", "oen": "one", "on": "one",
		"hold-out": "holdout", "unicode": "ünïcode", "zzz": "", "": "", "completely different": "", "repaets": "repeats",
	} {
		if got := record.Nearest(written, known); got != want {
			t.Errorf("%q is nearest to %q, want %q", written, got, want)
		}
	}
	if got := record.Nearest("x", nil); got != "" {
		t.Errorf("of nothing %q is nearest", got)
	}
	if got := record.Nearest("ab", []string{"ac", "ad"}); got != "ac" {
		t.Errorf("of two as close %q stands, want the first", got)
	}
}
