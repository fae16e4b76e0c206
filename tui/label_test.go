package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/engine/stats"
	"assay/store"
	"assay/tui/judge"
	"assay/tui/label"
	"assay/tui/ui"
)

var (
	_ ui.Screen     = (*label.Model)(nil)
	_ ui.Typist     = (*label.Model)(nil)
	_ ui.Keeper     = (*label.Model)(nil)
	_ ui.DigitTaker = (*label.Model)(nil)
	_ ui.Screen     = (*judge.Model)(nil)
	_ ui.Keeper     = (*judge.Model)(nil)
	_ ui.Seer       = (*judge.Model)(nil)
	_ label.Engine  = (*engine.Engine)(nil)
	_ judge.Engine  = (*engine.Engine)(nil)
)

// labelRun is the run that is labelled in the tests.
const labelRun = "3f9a0c11d2e4b587"

// bench draws a queue of all rollouts in their order, the first shown again at the
// end, and says what it is told to of meter and trust.
type bench struct {
	Engine
	db     *store.DB
	trusts int
	report string

	editor      writer
	tried, kept []string
	graded      []engine.GradeOptions
}

func (b *bench) Queue(ctx context.Context, runID string, o engine.QueueOptions) (record.QueueHead, error) {
	if o.Name == "" {
		o.Name = "mixed"
	}
	heads, err := b.db.Queues(ctx, runID)
	if err != nil {
		return record.QueueHead{}, err
	}
	if i := slices.IndexFunc(heads, func(h record.QueueHead) bool { return h.Queue == o.Name }); i >= 0 {
		return heads[i], nil
	}
	ids := o.Listed
	if ids == nil {
		candidates, err := b.db.Candidates(ctx, runID)
		if err != nil {
			return record.QueueHead{}, err
		}
		for _, c := range candidates {
			ids = append(ids, c.RolloutID)
		}
	}
	chance := 0.5
	var items []record.QueueItem
	for _, id := range ids {
		items = append(items, record.QueueItem{RolloutID: id, Strategy: record.StrategyRandom, Probability: &chance})
	}
	items = append(items, record.QueueItem{RolloutID: ids[0], Strategy: record.StrategyRecheck})
	if err := b.db.SaveQueue(ctx, runID, o.Name, items); err != nil {
		return record.QueueHead{}, err
	}
	return record.QueueHead{Queue: o.Name, Items: len(items)}, nil
}

func (b *bench) Meter(ctx context.Context, runID string) (*engine.Meter, error) {
	gold, err := b.db.GoldOf(ctx, runID)
	m := &engine.Meter{Labelled: len(gold), Counted: len(gold), NextLook: 50, CannotPass: true}
	m.Tuning.Agreement, m.Tuning.Kappa = stats.NewEstimate(0.876, 0.811, 0.93, 21), stats.NewEstimate(0.7, 0.55, 0.8, 21)
	return m, err
}

func (b *bench) Trust(ctx context.Context, runID string, _ engine.TrustOptions) (*engine.TrustReport, error) {
	b.trusts++
	r := new(engine.TrustReport)
	if err := json.Unmarshal([]byte(b.report), r); err != nil {
		return nil, err
	}
	return r, b.db.SaveReport(ctx, record.SavedReport{Kind: engine.TrustReportKind, RunID: runID, Report: json.RawMessage(b.report)})
}

// labelMemory is one run of twelve rollouts.
func labelMemory() *memory {
	m := unfiledLabelMemory()
	m.template, m.templateOf = labelTemplate, len(m.samples)
	return m
}

func unfiledLabelMemory() *memory {
	m := newMemory()
	m.addRun(labelRun, record.Run{Recipe: "bring-your-own-agent", Program: "go run oncall/main.go", Role: record.RoleMain, Status: record.RunDone,
		StoppedBecause: record.StoppedComplete, StartedAt: now(), SystemPrompt: "You are on call.\n- Read the runbook before you restart."}, 13, 1)
	return m
}

// labelTemplate is the file of labelMemory, made once and copied for each test.
var labelTemplate = sync.OnceValue(func() []byte {
	db := unfiledLabelMemory().write()
	file := db.Path()
	if err := db.Close(); err != nil {
		panic(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	return raw
})

// atBench opens a screen of that number on the run, with a database of its own.
func atBench(t testing.TB, m *memory, screen int, w, h int) (*driver, *bench) {
	b := &bench{db: m.file(), report: trustReport(m)}
	t.Cleanup(func() { _ = b.db.Close() })
	d := drive(t, m, w, h, func(o *Options) { o.Store, o.Engine, o.Annotator, o.Edit = b.db, b, "ana", b.editor.edit })
	d.send(ui.GoMsg{Screen: screen, Visit: ui.Visit{Run: labelRun}})
	return d, b
}

// slowly presses keys with a second before each, so that cards are seen.
func (d *driver) slowly(keys string) {
	for _, key := range strings.Fields(keys) {
		d.at = d.at.Add(time.Second)
		d.press(key)
	}
}

// labelsOf are the acts on the run as they lie in the file.
func labelsOf(t testing.TB, db *store.DB) []record.Label {
	t.Helper()
	labels, err := db.Labels(context.Background(), labelRun)
	if err != nil {
		t.Fatal(err)
	}
	return labels
}

func verdictsOf(labels []record.Label) string {
	var out []string
	for _, l := range labels {
		out = append(out, string(l.Verdict))
	}
	return strings.Join(out, " ")
}

func TestLabelling(t *testing.T) {
	d, b := atBench(t, labelMemory(), ui.ScreenLabel, 120, 40)
	d.sees("Card 1 of 13", "queue mixed", "ana", "0 of 13 cards labelled", "payments is down")
	d.slowly("p")
	d.sees("Saved pass for card 1", "Card 2 of 13", "1 of 13 cards labelled")
	d.slowly("f e s")
	d.sees("Saved skip for card 4", "Card 5 of 13", "an hour")
	labels := labelsOf(t, b.db)
	if got := verdictsOf(labels); got != "pass fail unsure skip" {
		t.Errorf("on disk: %s", got)
	}
	for _, l := range labels {
		if l.Annotator != "ana" || l.Kind != record.GoldHuman || !l.Blind || l.Took != time.Second {
			t.Errorf("label %+v", l)
		}
	}
	d.slowly("u")
	d.sees("Taken back: skip for card 4", "Card 4 of 13", "3 of 13 cards labelled")
	d.slowly("u u u u")
	d.sees("There is no label to take back", "Card 1 of 13")
	if got := verdictsOf(labelsOf(t, b.db)); got != "pass fail unsure skip retracted retracted retracted retracted" {
		t.Errorf("on disk: %s", got)
	}
}

// Most runs have a marker as their reward: its version carries the hash of an
// expression, and no rubric of that hash is kept. The cards are there all the same.
func TestLabellingWithoutAKeptRubric(t *testing.T) {
	m := labelMemory()
	b := &bench{db: m.file(), report: trustReport(m)}
	t.Cleanup(func() { _ = b.db.Close() })
	run, err := b.db.Run(t.Context(), labelRun)
	if err != nil {
		t.Fatal(err)
	}
	scorer := record.NewScorer("marker", "safe_restart", "", "5da799b47f781070", nil)
	run.Scorer, run.Scorers = scorer.ID, []record.Scorer{scorer}
	if err := b.db.UpdateRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	d := drive(t, m, 120, 40, func(o *Options) { o.Store, o.Engine, o.Annotator = b.db, b, "ana" })
	d.send(ui.GoMsg{Screen: ui.ScreenLabel, Visit: ui.Visit{Run: labelRun}})
	d.sees("Card 1 of 13")
	d.slowly("p")
	d.sees("Saved pass for card 1")
	d.slowly("r")
	d.sees("Read the runbook before you restart.")
}

func TestTagsAndNotesGoWithTheLabel(t *testing.T) {
	d, b := atBench(t, labelMemory(), ui.ScreenLabel, 120, 40)
	d.press("1")
	d.sees("No failure tag has that number")
	d.press("T")
	d.write("skipped runbook 1")
	d.press("enter M")
	d.write("pf never looked")
	d.press("enter")
	d.sees("● skipped runbook 1", "pf never looked", "Note kept for card 1")
	d.slowly("f")
	d.sees("Saved fail for card 1 with skipped runbook 1 and its note")
	d.slowly("1 1 p")
	labels := labelsOf(t, b.db)
	if len(labels) != 2 || labels[0].Note != "pf never looked" || !slices.Equal(labels[0].Tags, []string{"skipped runbook 1"}) || labels[1].Tags != nil || labels[1].Note != "" {
		t.Errorf("labels %+v", labels)
	}
	d.slowly("u u")
	d.sees("Card 1 of 13", "pf never looked", "● skipped runbook 1")
}

// TestOnlyASeenCardIsJudged presses keys faster than cards can be seen.
func TestOnlyASeenCardIsJudged(t *testing.T) {
	d, b := atBench(t, labelMemory(), ui.ScreenLabel, 100, 30)
	d.press("p")
	d.sees("Card 1 of 13")
	d.slowly("p")
	d.press("f f f") // card 2 has been there for no time at all
	if got := verdictsOf(labelsOf(t, b.db)); got != "pass" {
		t.Errorf("on disk: %s", got)
	}
	d.slowly("r f") // the card is not what is on the screen
	d.sees("Rubric and policy", "Read the runbook before you restart.")
	if got := verdictsOf(labelsOf(t, b.db)); got != "pass" {
		t.Errorf("on disk: %s", got)
	}
}

// TestAKeyForACardThatIsNotDrawn holds the commands back: a second key while a
// label is on its way does nothing, nor does one while the next card is read.
func TestAKeyForACardThatIsNotDrawn(t *testing.T) {
	d, b := atBench(t, labelMemory(), ui.ScreenLabel, 100, 30)
	d.at = d.at.Add(time.Second)
	_, save := d.m.Update(keyOf("p"))
	d.m.View()
	d.seesNot("Saved")
	d.sees("saving", "Card 1 of 13", "0 of 13 cards")
	d.at = d.at.Add(time.Second)
	if _, again := d.m.Update(keyOf("f")); again != nil {
		d.run(again)
	}
	d.seesNot("Saved")
	if n := len(labelsOf(t, b.db)); n != 0 {
		t.Fatalf("%d labels before the command ran", n)
	}
	d.run(save)
	d.sees("Saved pass for card 1")
	if got := verdictsOf(labelsOf(t, b.db)); got != "pass" {
		t.Errorf("on disk: %s", got)
	}
}

// failing is a store that cannot write labels.
type failing struct{ *store.DB }

func (failing) LabelCard(context.Context, string, string, int, record.Label) (record.Label, error) {
	return record.Label{}, errors.New("disk full")
}

// witness is a store that holds each label against another connection to its file,
// as after a kill, before it is told.
type witness struct {
	*store.DB
	file string
	then func(db *store.DB)
}

func (w witness) LabelCard(ctx context.Context, run, queue string, at int, l record.Label) (record.Label, error) {
	kept, err := w.DB.LabelCard(ctx, run, queue, at, l)
	other, openErr := store.OpenReadOnly(ctx, w.file, store.Options{Now: now})
	if openErr != nil {
		return kept, openErr
	}
	defer other.Close()
	w.then(other)
	return kept, err
}

func TestALabelFlashesOnlyWhenItIsOnDisk(t *testing.T) {
	m := labelMemory()
	b := &bench{db: m.file()}
	t.Cleanup(func() { _ = b.db.Close() })
	d := drive(t, m, 100, 30, func(o *Options) { o.Store, o.Engine, o.Annotator = failing{b.db}, b, "ana" })
	d.send(ui.GoMsg{Screen: ui.ScreenLabel, Visit: ui.Visit{Run: labelRun}})
	d.slowly("p")
	d.sees("not saved, card 1: disk full", "Card 1 of 13", "0 of 13 cards labelled")
	d.seesNot("Saved")
}

func TestALabelThatFlashedSurvivesAKill(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "assay.db")
	db, err := store.Open(ctx, file, store.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	m := labelMemory()
	if err := m.writeRun(ctx, db, m.runs[0]); err != nil {
		t.Fatal(err)
	}
	var d *driver
	seen := 0
	w := witness{DB: db, file: file, then: func(other *store.DB) {
		seen = len(labelsOf(t, other))
		d.seesNot(fmt.Sprintf("Saved pass for card %d", seen))
	}}
	d = drive(t, m, 100, 30, func(o *Options) { o.Store, o.Engine, o.Annotator = w, &bench{db: db}, "ana" })
	d.send(ui.GoMsg{Screen: ui.ScreenLabel, Visit: ui.Visit{Run: labelRun}})
	for n := 1; n <= 3; n++ {
		d.slowly("p")
		if seen != n {
			t.Fatalf("%d labels in the file when label %d returned", seen, n)
		}
		d.sees(fmt.Sprintf("Saved pass for card %d", n))
	}
}

// blinded fails the test when anything is read that tells a verdict.
type blinded struct {
	*store.DB
	t testing.TB
}

func (b blinded) Sample(context.Context, string) (*record.Sample, error) {
	b.t.Error("a sample was read with its verdict")
	return nil, errors.New("no")
}

func (b blinded) Labels(context.Context, string) ([]record.Label, error) {
	b.t.Error("labels of others were read")
	return nil, errors.New("no")
}

func TestLabellingIsBlind(t *testing.T) {
	m := labelMemory()
	b := &bench{db: m.file()}
	t.Cleanup(func() { _ = b.db.Close() })
	d := drive(t, m, 120, 40, func(o *Options) { o.Store, o.Engine, o.Annotator = blinded{b.db, t}, b, "ana" })
	d.send(ui.GoMsg{Screen: ui.ScreenLabel, Visit: ui.Visit{Run: labelRun}})
	for range 12 {
		d.seesNot("Verdict", "reward", "unsafe_restart", "kappa", "cannot pass")
		d.slowly("p")
	}
	d.sees("12 of 13 cards labelled", "Card 13 of 13") // the first again, unannounced
	d.slowly("J")
	d.sees("✓ agreement .88 [.81, .93] ≥.80", "✗ kappa .70 [.55, .80] ≥.60", "cannot pass within 200")
	d.slowly("f")
	d.sees("that was the last without a label")
	labels := labelsOf(t, b.db)
	if last := labels[len(labels)-1]; last.Purpose != record.PurposeRecheck {
		t.Errorf("the second look is %+v", last)
	}
}

// TestPairsOfSiblings are compared in an order of sides that stays, by keys that save
// at once, without anything of a verdict, and can be taken back.
func TestPairsOfSiblings(t *testing.T) {
	m := newMemory()
	m.addRun(labelRun, record.Run{Recipe: "oncall", Role: record.RoleMain, Status: record.RunDone, SystemPrompt: "Read the runbook."}, 5, 3)
	for _, s := range m.samples {
		if s.Rollout.Key.K > 0 && s.Task.ID != m.posed[labelRun][0].Task.ID { // the first task's are all the same
			s.Rollout.FinalText = record.Text(fmt.Sprintf("Attempt number %d ends here.", s.Rollout.Key.K))
		}
	}
	b := &bench{db: m.file()}
	t.Cleanup(func() { _ = b.db.Close() })
	d := drive(t, m, 120, 40, func(o *Options) { o.Store, o.Engine, o.Annotator = blinded{b.db, t}, b, "ana" })
	d.send(ui.GoMsg{Screen: ui.ScreenLabel, Visit: ui.Visit{Run: labelRun}})
	d.slowly("/")
	d.write("runbook")
	d.press("enter n")
	d.sees("2 of ", "runbook")
	d.press("P")
	d.sees("Pair 1 of 4: which is better?", "Left: a", "Right: b", "ends here.")
	d.seesNot("Verdict", "reward", "unsafe_restart", "✗ runbook_first")
	sides := d.screen()
	d.press("a") // too soon to have been read
	d.sees("Pair 1 of 4")
	d.slowly("a b =")
	d.sees("Saved neither is better for pair 3", "Pair 4 of 4", "3 of 4 decided")
	d.slowly("u")
	d.sees("Taken back: neither is better for pair 3", "Pair 3 of 4")
	d.slowly("r")
	d.sees("Rubric and policy", "Read the runbook.")
	d.slowly("a")
	d.seesNot("Saved left is better for pair 3") // the pair is not in sight
	d.slowly("r s")
	d.sees("Saved skip for pair 3", "Pair 4 of 4")
	d.slowly("esc")
	d.sees("Card 1 of")
	d.press("P { { {")
	d.sees("Pair 1 of 4", "you said: left is better")
	if again := d.screen(); strings.Split(again, "\n")[8] != strings.Split(sides, "\n")[8] {
		t.Errorf("the sides changed:\n%s\n%s", sides, again)
	}
	prefs, err := b.db.Preferences(t.Context(), labelRun)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, p := range prefs {
		got += p.Choice + " "
		if p.Annotator != "ana" || p.First == p.Second {
			t.Errorf("kept %+v", p)
		}
	}
	if got != "first second tie retracted skip " {
		t.Errorf("on disk: %s", got)
	}
	for _, size := range [][2]int{{80, 24}, {60, 16}, {20, 5}} {
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		checkFrame(t, d)
		d.press("tab j enter )")
		checkFrame(t, d)
	}
}

func TestLabelWithoutAName(t *testing.T) {
	m := labelMemory()
	b := &bench{db: m.file()}
	t.Cleanup(func() { _ = b.db.Close() })
	d := drive(t, m, 100, 30, func(o *Options) { o.Store, o.Engine = b.db, b })
	d.send(ui.GoMsg{Screen: ui.ScreenLabel, Visit: ui.Visit{Run: labelRun}})
	d.sees("Nobody is named who labels.")
}

// TestOpenOnLabel begins on the screen and the queue that were asked for.
func TestOpenOnLabel(t *testing.T) {
	m := labelMemory()
	b := &bench{db: m.file()}
	t.Cleanup(func() { _ = b.db.Close() })
	d := drive(t, m, 140, 30, func(o *Options) {
		o.Store, o.Engine, o.Annotator = b.db, b, "ben"
		o.Open, o.Screen, o.Queue = labelRun, ui.ScreenLabel, engine.QueueOptions{Name: "evening", Order: "random"}
	})
	d.sees("4 Label", "queue evening", "ben", "Card 1 of 13")
}

func TestDigitsAreTagsOnLabel(t *testing.T) {
	d, _ := atBench(t, labelMemory(), ui.ScreenLabel, 100, 30)
	d.press("2")
	d.sees("Card 1 of 13")
	d.press("f2")
	d.seesNot("Card 1 of 13")
}

func TestPickedRolloutsAreAQueue(t *testing.T) {
	m := labelMemory()
	d, b := atBench(t, m, ui.ScreenLabel, 100, 30)
	ids := m.order[labelRun][3:6]
	d.send(ui.GoMsg{Screen: ui.ScreenLabel, Visit: ui.Visit{Run: labelRun, Rollouts: ids}})
	d.sees("Card 1 of 4", "queue picked:")
	d.slowly("p")
	if labels := labelsOf(t, b.db); len(labels) != 1 || labels[0].RolloutID != ids[0] {
		t.Errorf("labels %+v", labels)
	}
	d.slowly("o")
	d.sees("queue mixed", "Card 1 of 13")
}

func TestTheJudgePage(t *testing.T) {
	d, b := atBench(t, labelMemory(), ui.ScreenJudge, 140, 60)
	d.sees("has not been measured")
	d.press("m")
	d.sees("✗ FAIL", "✗ agreement", ".78 [.66, .86]", "floor .80", "Confusion", "tuning half", "other half", "EXPLOITABLE", "rubric f878007a, looked at on the other half 2 times", "! 3 of 60 labelled rows")
	if b.trusts != 1 {
		t.Errorf("measured %d times", b.trusts)
	}
	d.press("P")
	d.sees("Probe the judge?")
	d.press("enter")
	if b.trusts != 1 {
		t.Error("probed without a yes")
	}
	d.press("P y")
	if b.trusts != 2 {
		t.Error("not probed")
	}
	for range 40 {
		if strings.Contains(d.screen(), "▎ ✗ ▸ claim_of_success") {
			break
		}
		d.press("j")
	}
	d.press("enter j")
	d.sees("▾ claim_of_success", "✗ → ✓ pass")
	d.press("enter")
	d.sees("probe claim_of_success: fail before, then pass", "taken care", "the rollout as it was")
}

func TestDisagreements(t *testing.T) {
	d, _ := atBench(t, labelMemory(), ui.ScreenLabel, 140, 40)
	d.slowly("p p M")
	d.write("it restarted twice")
	d.press("enter")
	d.slowly("p f")
	d.send(ui.GoMsg{Screen: ui.ScreenJudge, Visit: ui.Visit{Run: labelRun}})
	d.press("v")
	d.sees("Where judge and gold differ", "gold ✓  judge ✗", "gold passes it, and the judge does not", "ana (human): pass", "it restarted twice", "restarted before the runbook was read")
	d.press("}")
	d.sees("gold ✗  judge ✓", "gold fails it, and the judge passes it", "ana (human): fail")
	d.press("enter j esc v")
	d.sees("Can the judge be trusted")
}

func TestHostileOnLabelAndJudge(t *testing.T) {
	plainOnly(t)
	for name, text := range hostileTexts(t) {
		t.Run(name, func(t *testing.T) {
			m := labelMemory()
			bad := record.Text(text)
			m.runs[0].SystemPrompt = bad
			for _, s := range m.samples {
				s.Task.Ask, s.Rollout.FinalText = bad, bad
				s.Rollout.Steps = append(s.Rollout.Steps, record.Step{Kind: record.StepUser, Text: bad})
			}
			for _, size := range [][2]int{{130, 30}, {46, 14}} {
				d, b := atBench(t, m, ui.ScreenLabel, size[0], size[1])
				b.report = poisonedReport(t, m, text)
				_ = b.db.SaveTag(context.Background(), record.Tag{Name: text})
				for _, keys := range []string{"r", "pgdown", "r", "j", "enter", "1", "M"} {
					d.slowly(keys)
					checkFrame(t, d)
				}
				d.send(tea.PasteMsg{Content: text})
				checkFrame(t, d)
				d.slowly("enter f u")
				checkFrame(t, d)
				d.slowly("p f p f")
				checkFrame(t, d)
				d.send(ui.GoMsg{Screen: ui.ScreenJudge, Visit: ui.Visit{Run: labelRun}})
				d.press("m")
				checkFrame(t, d)
				for range 12 {
					d.press("pgdown")
					checkFrame(t, d)
					d.press("enter")
				}
				d.press("v")
				checkFrame(t, d)
				d.press("enter pgdown")
				checkFrame(t, d)
				underARubric(t, b, text)
				b.editor.leaves = text + "!"
				d.press("r")
				d.send(ui.GoMsg{Screen: ui.ScreenJudge, Visit: ui.Visit{Run: labelRun}})
				for _, keys := range []string{"E", "enter", "pgdown", "/", "enter", "K R", "y"} {
					d.press(keys)
					checkFrame(t, d)
				}
				m.db = nil // the next size gets a file of its own
			}
		})
	}
}

// metered is a bench whose meter is the engine's own.
type metered struct {
	*bench
	engine engine.Engine
}

func (m *metered) Meter(ctx context.Context, runID string) (*engine.Meter, error) {
	return m.engine.Meter(ctx, runID)
}

// BenchmarkLabelKey is from the key to the flash, with the label on disk, the next
// card drawn and the engine's meter read again; beside it, in the same turns, one
// page written and synced to a file in the same folder.
func BenchmarkLabelKey(b *testing.B) {
	m := newMemory()
	m.addRun(labelRun, record.Run{Recipe: "big", Status: record.RunDone, Role: record.RoleMain}, 400, 1)
	db := m.file()
	b.Cleanup(func() { _ = db.Close() })
	d := drive(b, m, 120, 40, func(o *Options) {
		o.Store, o.Annotator = db, "ana"
		o.Engine = &metered{&bench{db: db}, engine.Engine{Sink: db, Source: db, Now: now}}
	})
	d.send(ui.GoMsg{Screen: ui.ScreenLabel, Visit: ui.Visit{Run: labelRun}})
	beside, err := os.Create(filepath.Join(filepath.Dir(db.Path()), "synced"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = beside.Close() })
	page := make([]byte, 4096)
	var took, synced []time.Duration
	for b.Loop() {
		d.at = d.at.Add(time.Second)
		from := time.Now()
		d.press("p")
		took = append(took, time.Since(from))
		from = time.Now()
		if _, err := beside.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := beside.Sync(); err != nil {
			b.Fatal(err)
		}
		synced = append(synced, time.Since(from))
	}
	d.sees("Saved pass for card")
	slices.Sort(took)
	slices.Sort(synced)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms/p99")
	b.ReportMetric(float64(synced[len(synced)/2].Microseconds())/1000, "ms/fsync-p50")
}
