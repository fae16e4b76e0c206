package cut

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/ui"
)

var (
	_ ui.Screen = (*Model)(nil)
	_ ui.Keeper = (*Model)(nil)
	_ ui.Seer   = (*Model)(nil)
	_ ui.Typist = (*Model)(nil)
)

type fakeStore struct{ Store }

func (fakeStore) Run(_ context.Context, id string) (*record.Run, error) {
	return &record.Run{ID: id}, nil
}

func (fakeStore) Exports(context.Context, string) ([]record.ExportRecord, error) { return nil, nil }

type fakeEngine struct{ err error }

func (f *fakeEngine) CutPreview(ctx context.Context, id string) (engine.CutPreview, error) {
	if err := ctx.Err(); err != nil {
		return engine.CutPreview{}, err
	}
	return engine.CutPreview{Run: &record.Run{ID: id}, Band: [2]float64{0.2, 0.8}, Targets: []engine.CutPlan{{CutResult: engine.CutResult{For: "sft", RowsIn: 3, RowsOut: 3}}}}, f.err
}

func (f *fakeEngine) Scan(context.Context, string, []string) (engine.ScanReport, error) {
	return engine.ScanReport{Regime: "train"}, f.err
}

func (f *fakeEngine) Cut(context.Context, string, string, string, string) (engine.CutResult, error) {
	return engine.CutResult{}, f.err
}

func tell(m *Model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			tell(m, c)
		}
	default:
		tell(m, m.Update(msg))
	}
}

func model(t *testing.T, e *fakeEngine) *Model {
	return New(t.Context(), Options{Store: fakeStore{}, Engine: e, Dir: t.TempDir(), Theme: ui.ThemeNamed("mono")})
}

func TestAnOutdatedPreviewIsDropped(t *testing.T) {
	m := model(t, &fakeEngine{})
	first := m.Enter(ui.Visit{Run: "a"})
	second := m.Enter(ui.Visit{Run: "b"})
	tell(m, second)
	tell(m, first)
	if m.Run() != "b" || m.err != nil {
		t.Errorf("run %s is shown, %v", m.Run(), m.err)
	}
}

func TestErrorsAreSaid(t *testing.T) {
	e := &fakeEngine{err: errors.New("the disk\x1b[2J is gone")}
	m := model(t, e)
	tell(m, m.Enter(ui.Visit{Run: "a"}))
	if text := strings.Join(m.View(80, 20), "\n"); !strings.Contains(text, "the disk␛[2J is gone") {
		t.Error(text)
	}
	e.err = nil
	tell(m, m.Do(doAgain))
	if m.preview == nil {
		t.Error("reading again does nothing")
	}
}

// Every pass rate stands in one bin, and the tiers of the bins are those of the band.
func TestBins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "tasks")
		p := engine.CutPreview{Band: [2]float64{0.2, 0.8}}
		want := map[string]int{}
		for range n {
			graded := rapid.IntRange(1, 12).Draw(t, "graded")
			rate := float64(rapid.IntRange(0, graded).Draw(t, "passed")) / float64(graded)
			p.Rates = append(p.Rates, engine.CutTaskRate{Rate: rate, Graded: graded})
			switch {
			case rate < 0.2:
				want["floor"]++
			case rate > 0.8:
				want["solved"]++
			default:
				want[""]++
			}
		}
		got := map[string]int{}
		for _, b := range bins(&p) {
			if b.tasks > 0 {
				got[b.tier] += b.tasks
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("bins %v of rates %v, want %v", got, p.Rates, want)
		}
	})
}

// Spans laid out on lines keep their words, and every line its width.
func TestWrappedKeepsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(6, 60).Draw(t, "width")
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,9}`), 1, 20).Draw(t, "words")
		at := rapid.IntRange(0, len(words)).Draw(t, "at")
		spans := []ui.Span{ui.S(ui.Style{}, strings.Join(words[:at], " ")), ui.S(ui.Style{}, " "+strings.Join(words[at:], " "))}
		lines := wrapped(width, 1000, spans)
		var got []string
		for _, line := range lines {
			if ui.Width(line) != width {
				t.Fatalf("%q is %d cells wide, not %d", line, ui.Width(line), width)
			}
			got = append(got, strings.Fields(line)...)
		}
		if a, b := strings.Join(got, ""), strings.Join(words, ""); a != b {
			t.Fatalf("%q came out as %q", b, a)
		}
	})
}

func TestEveryGateAndRegimeIsSaid(t *testing.T) {
	for _, gate := range []string{"privileged_leak", "eval_set", "unusable_label", "junk", "contamination", "duplicates", "truncated", "failing", "per_task",
		"no_contrast", "margin", "length", "unpaired", "probes", "mixed_policy", "too_small", "unanimous", "out_of_band"} {
		if gateSays(gate) == "" {
			t.Errorf("nothing is said of the gate %s", gate)
		}
	}
	for _, regime := range []string{"unknown", "degenerate", "no_signal", "reward_hack", "pool_exhausted", "train"} {
		if regimeSays(regime) == "" {
			t.Errorf("nothing is said of %s", regime)
		}
	}
}
