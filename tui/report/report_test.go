package report

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"assay/engine"
	"assay/engine/record"
	"assay/engine/stats"
	"assay/tui/ui"
)

var styles = regexp.MustCompile("\x1b\\[[0-9;]*m")

// fits holds that lines have a width and nothing in them acts.
func fits(t interface{ Errorf(string, ...any) }, lines []string, width int) {
	for i, line := range lines {
		text := styles.ReplaceAllString(line, "")
		if w := ui.Width(text); w != width {
			t.Errorf("line %d is %d cells wide, not %d: %q", i, w, width, text)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) || ui.CleanLine(text) != text {
			t.Errorf("line %d is not clean: %q", i, text)
		}
	}
}

func whole(t ui.Theme, width int, r *engine.DeltaReport) []string {
	lines := Page(t, width, r)
	f := NewForest(t, width, r)
	lines = append(lines, f.SlicesHead())
	for i := range r.Slices {
		lines = append(lines, f.Slice(&r.Slices[i], ui.Active))
	}
	return lines
}

// Every report fits every width, whatever its numbers.
func TestReportsFit(t *testing.T) {
	number := rapid.Custom(func(t *rapid.T) *float64 {
		if rapid.Bool().Draw(t, "none") {
			return nil
		}
		v := rapid.SampledFrom([]float64{0, 1, -1, 0.5, 0.0004, -0.25, 123456, math.NaN(), math.Inf(1), 1e-12}).Draw(t, "number")
		return &v
	})
	rapid.Check(t, func(rt *rapid.T) {
		r := &engine.DeltaReport{Target: "pass_at_1", Headline: "FAIL", Line: "because"}
		for range rapid.IntRange(0, 5).Draw(rt, "metrics") {
			r.Metrics = append(r.Metrics, engine.DeltaMetric{Name: rapid.SampledFrom([]string{"pass_at_1", "支払い", strings.Repeat("long", 20)}).Draw(rt, "name"),
				Kind: rapid.SampledFrom([]string{"reward", "rate", "number"}).Draw(rt, "kind"), Guard: rapid.Bool().Draw(rt, "guard"), LowerIsBetter: rapid.Bool().Draw(rt, "lower"),
				Before: number.Draw(rt, "before"), After: number.Draw(rt, "after"), Delta: number.Draw(rt, "delta"), Lo: number.Draw(rt, "lo"), Hi: number.Draw(rt, "hi"), P: number.Draw(rt, "p"), Band: number.Draw(rt, "band")})
		}
		for range rapid.IntRange(0, 3).Draw(rt, "slices") {
			r.Slices = append(r.Slices, engine.DeltaSlice{By: "tool", Value: "x", Before: number.Draw(rt, "before"), Delta: number.Draw(rt, "delta"), Lo: number.Draw(rt, "lo"), Hi: number.Draw(rt, "hi"), LowN: rapid.Bool().Draw(rt, "low")})
		}
		width := rapid.IntRange(20, 260).Draw(rt, "width")
		fits(rt, whole(ui.ThemeNamed("dark"), width, r), width)
	})
}

func TestHostileReports(t *testing.T) {
	files, err := filepath.Glob("../ui/testdata/hostile/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no hostile texts: %v", err)
	}
	half := 0.5
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		warning := record.Warning{Code: text, Text: text, Fix: text}
		r := &engine.DeltaReport{Target: text, Line: text, Scope: text, NotComparable: []string{text}, Warnings: []record.Warning{warning}, Causes: []record.Warning{warning},
			Metrics: []engine.DeltaMetric{{Name: text, Kind: text, Before: &half, After: &half, Delta: &half, Verdict: "x"}}, Slices: []engine.DeltaSlice{{By: text, Value: text, Delta: &half}}}
		for _, width := range []int{200, 80, 34} {
			fits(t, whole(ui.ThemeNamed("mono"), width, r), width)
		}
	}
}

// The target comes first, then the guards, the rest as they were.
func TestOrderAndMarks(t *testing.T) {
	v := 0.5
	r := &engine.DeltaReport{Target: "b", Metrics: []engine.DeltaMetric{{Name: "a", Before: &v}, {Name: "b", Before: &v, Guard: true}, {Name: "c", Before: &v}, {Name: "d", Guard: true, LowerIsBetter: true}}}
	var got []string
	f := NewForest(ui.ThemeNamed("mono"), 120, r)
	metrics := InOrder(r)
	for i := range metrics {
		got = append(got, strings.Join(strings.Fields(styles.ReplaceAllString(f.Metric(&metrics[i], ui.Plain), ""))[:2], " "))
	}
	if want := "◉◆ b|◆ d|a .50|c .50"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", strings.Join(got, "|"), want)
	}
}

func TestFigures(t *testing.T) {
	v := func(f float64) *float64 { return &f }
	for _, c := range []struct{ got, want string }{
		{Value("rate", v(0.5)), ".50"}, {Value("rate", nil), "–"}, {Value("number", v(2.604166)), "2.604"}, {Value("number", v(math.NaN())), "–"},
		{Change("rate", -0.125), "-.125"}, {Change("number", 0.1318), "+0.13"}, {Change("number", -12345), "-1.23e+04"}, {Change("rate", math.NaN()), "–"},
		{PValue(v(0.0005)), "<.001"}, {PValue(v(0.0312)), ".031"}, {PValue(v(1)), "1.0"}, {PValue(nil), "–"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestCorrectedByGold(t *testing.T) {
	d, lo, hi := 0.1, 0.05, 0.15
	r := &engine.DeltaReport{Corrected: &stats.CorrectedChange{MissingBefore: 12, MissingAfter: 3}}
	if got := corrected(r); got != "pass_at_1 by the judge alone; to correct it by gold, label 12 tasks more before and 3 after" {
		t.Error(got)
	}
	r.Corrected = &stats.CorrectedChange{Corrected: stats.Estimate{Value: &d, Lo: &lo, Hi: &hi}, JudgeOnly: stats.Estimate{Value: &hi}, GoldOnly: stats.Estimate{Value: &lo, N: 40}}
	if got := corrected(r); got != "pass_at_1 corrected for the judge by gold: +.100 [+.050, +.150] (the judge alone +.150, gold alone +.050 on 40 tasks)" {
		t.Error(got)
	}
}
