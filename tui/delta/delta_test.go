package delta

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/ui"
)

var (
	_ ui.Screen = (*Model)(nil)
	_ ui.Keeper = (*Model)(nil)
	_ ui.Seer   = (*Model)(nil)
)

// fakeStore holds two runs that are no story's.
type fakeStore struct{ Store }

func (fakeStore) Runs(context.Context, bool) ([]*record.Run, error) {
	return []*record.Run{{ID: "a", Recipe: "r"}, {ID: "b", Recipe: "r"}, {ID: "c", Recipe: "r"}}, nil
}

func (fakeStore) Run(_ context.Context, id string) (*record.Run, error) {
	return &record.Run{ID: id, Recipe: "r"}, nil
}

// fakeEngine answers with the two runs' names, or with an error.
type fakeEngine struct{ err error }

func (f *fakeEngine) Delta(ctx context.Context, before, after string, o engine.DeltaOptions) (engine.DeltaReport, error) {
	if err := ctx.Err(); err != nil {
		return engine.DeltaReport{}, err
	}
	for _, name := range o.MustNotRegress {
		if name == "unknown" {
			return engine.DeltaReport{}, record.Problemf("unknown_metric", "name another", "no metric %s", name)
		}
	}
	one := 1.0
	return engine.DeltaReport{Before: before, After: after, Headline: "PASS", OK: true, Line: "because of " + o.Target, Target: "m", Metrics: []engine.DeltaMetric{{Name: "m", Kind: "rate", Before: &one, After: &one}}}, f.err
}

func (f *fakeEngine) DeltaAsked(context.Context, string) (engine.DeltaOptions, error) {
	return engine.DeltaOptions{MustNotRegress: []string{"unknown"}}, nil
}

func (f *fakeEngine) DeltaTasks(context.Context, *engine.DeltaReport) (engine.DeltaTasks, error) {
	return engine.DeltaTasks{}, f.err
}

func model(t *testing.T, e *fakeEngine) *Model {
	return New(t.Context(), Options{Store: fakeStore{}, Engine: e, Dir: t.TempDir(), Now: time.Now, Theme: ui.ThemeNamed("mono")})
}

// answers runs a command and gives what it sends, batches taken apart.
func answers(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		var out []tea.Msg
		for _, c := range msg {
			out = append(out, answers(c)...)
		}
		return out
	case nil:
		return nil
	default:
		return []tea.Msg{msg}
	}
}

func tell(m *Model, cmd tea.Cmd) {
	for _, msg := range answers(cmd) {
		tell(m, m.Update(msg))
	}
}

func seen(m *Model) string { return strings.Join(m.View(100, 30), "\n") }

// TestAnOutdatedComparisonIsDropped though it comes last.
func TestAnOutdatedComparisonIsDropped(t *testing.T) {
	m := model(t, &fakeEngine{})
	first := m.Enter(ui.Visit{Before: "a", After: "b"})
	second := m.Enter(ui.Visit{Before: "a", After: "c"})
	tell(m, second)
	if r := m.report(); r.After != "c" {
		t.Fatalf("%s is compared", r.After)
	}
	tell(m, first)
	if r := m.report(); r.After != "c" {
		t.Errorf("an outdated answer shows %s", r.After)
	}
}

// TestEscStopsComparing: the context ends, and what was shown stays.
func TestEscStopsComparing(t *testing.T) {
	m := model(t, &fakeEngine{})
	cmd := m.Enter(ui.Visit{Before: "a", After: "b"})
	if !strings.Contains(seen(m), "Comparing a with b") {
		t.Error(seen(m))
	}
	m.Do(ui.Back)
	tell(m, cmd)
	if m.sheet != nil || m.err != nil || m.asking() {
		t.Errorf("a comparison that was given up came, or failed: %v", m.err)
	}
	tell(m, m.Enter(ui.Visit{Before: "a", After: "b"}))
	again := m.Do(doAgain)
	tell(m, m.Do(ui.Back))
	tell(m, again)
	if m.level != levelReport || m.asking() {
		t.Error("the report did not stay")
	}
}

// TestARecipesUnknownGuardIsNoObstacle: it is the recipe of another agent.
func TestARecipesUnknownGuardIsNoObstacle(t *testing.T) {
	m := model(t, &fakeEngine{})
	tell(m, m.Enter(ui.Visit{Before: "a", After: "b"}))
	if m.err != nil || m.sheet == nil {
		t.Fatalf("nothing is shown: %v", m.err)
	}
}

func TestErrorsAreSaid(t *testing.T) {
	e := &fakeEngine{err: errors.New("the disk\x1b[2J is gone")}
	m := model(t, e)
	tell(m, m.Enter(ui.Visit{Before: "a", After: "b"}))
	if text := seen(m); !strings.Contains(text, "the disk␛[2J is gone") {
		t.Error(text)
	}
	e.err = nil
	tell(m, m.Enter(ui.Visit{Before: "a", After: "b"}))
	e.err = errors.New("no tasks")
	var toast ui.ToastMsg
	for _, msg := range answers(m.Do(ui.Open)) {
		for _, msg := range answers(m.Update(msg)) {
			toast, _ = msg.(ui.ToastMsg)
		}
	}
	if !toast.Bad || toast.Text != "no tasks" || m.level != levelReport {
		t.Errorf("%+v at level %d", toast, m.level)
	}
}

// TestAVisitToWhatIsShownKeepsThePlace.
func TestAVisitToWhatIsShownKeepsThePlace(t *testing.T) {
	m := model(t, &fakeEngine{})
	tell(m, m.Enter(ui.Visit{Before: "a", After: "b"}))
	m.Do(ui.Top)
	at := m.sheet.scroll.Cursor()
	for _, v := range []ui.Visit{{}, {Run: "a"}, {Run: "b"}, {Before: "a", After: "b"}} {
		tell(m, m.Enter(v))
		if m.sheet.scroll.Cursor() != at || m.level != levelReport || len(m.history) > 0 {
			t.Errorf("the place is lost by %+v", v)
		}
	}
}
