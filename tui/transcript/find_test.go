package transcript

import (
	"strings"
	"testing"

	"assay/engine/record"
	"assay/tui/ui"
)

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		query string
		want  []string // what stands on the blocks that are found
	}{
		{"LET me", []string{"Let me see."}},
		{"restart_service", []string{"facts", "restart_service", "restart_service", "retries"}},
		{"ask the lead", []string{`"message": "ask the lead"`}},
		{"gave up", []string{"it gave up"}},
		{"nowhere", nil},
		{"", nil},
	} {
		d := Of(theme, sample(), 1)
		hits := d.Finder(tt.query).Hits()
		var got []string
		for _, h := range hits {
			got = append(got, strings.Join(d.Draw(d.Show(h), 80, ui.Plain), "\n"))
		}
		if len(got) != len(tt.want) {
			t.Errorf("%q is found %d times, want %d: %q", tt.query, len(got), len(tt.want), got)
			continue
		}
		for i, want := range tt.want {
			if want != "facts" && !strings.Contains(got[i], want) {
				t.Errorf("%q, hit %d is on %q, want %q", tt.query, i, got[i], want)
			}
		}
	}
}

// TestFoundInTheLastByte of a long reply, without it being laid out.
func TestFoundInTheLastByte(t *testing.T) {
	s := sample()
	s.Rollout.FinalText = record.Text(strings.Repeat("word ", 1<<18) + "needle")
	d := Of(theme, s, 1)
	hits := d.Finder("needle").Hits()
	if len(hits) != 1 || !strings.Contains(strings.Join(d.Draw(d.Show(hits[0]), 80, ui.Plain), "\n"), "needle") {
		t.Errorf("found %v", hits)
	}
}

func TestJumps(t *testing.T) {
	d := Of(theme, sample(), 1)
	walk := func(next func(block, by int) (int, bool), by, from int) []string {
		var out []string
		for at, ok := next(from, by); ok; at, ok = next(at, by) {
			out = append(out, strings.Join(strings.Fields(strings.Join(d.Draw(at, 80, ui.Plain), " ")), " "))
		}
		return out
	}
	if calls := walk(d.NextCall, 1, 0); len(calls) != 2 {
		t.Errorf("calls %q", calls)
	}
	trouble := walk(d.NextTrouble, 1, 0)
	if len(trouble) != 3 || !strings.Contains(trouble[0], "permission_denied") || !strings.Contains(trouble[1], "stale_result") || !strings.Contains(trouble[2], "reward 0") {
		t.Errorf("trouble %q", trouble)
	}
	if back := walk(d.NextTrouble, -1, d.Len()-1); len(back) != 3 || back[2] != trouble[0] {
		t.Errorf("back %q", back)
	}
}

// TestEvidenceIsLit where it stands, also over several lines, and what is looked for.
func TestEvidenceIsLit(t *testing.T) {
	s := sample()
	s.Rollout.FinalText = "I have cancelled the order.\nNothing else was done."
	s.Judgment.Evidence = []record.Evidence{{Step: -1, Fragment: "cancelled the order"}, {Step: 0, Fragment: "Let me see.\nand more"}}
	d := Of(theme, s, 1)
	lit := theme.Warn.With(ui.Underline)
	all := ""
	for i := range d.Len() {
		all += strings.Join(d.Draw(i, 80, ui.Plain), "\n")
	}
	for _, want := range []string{"cancelled the order", "Let me see."} {
		if !strings.Contains(all, lit.Render(want)) {
			t.Errorf("%q is not lit", want)
		}
	}
	d.Light("NOTHING")
	found := ""
	for i := range d.Len() {
		found += strings.Join(d.Draw(i, 80, ui.Plain), "\n")
	}
	if !strings.Contains(found, theme.Text.With(ui.Reverse).Render("Nothing")) {
		t.Error("what is looked for does not stand out")
	}
}
