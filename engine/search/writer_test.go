package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/engine/record"
)

// scriptedWriter answers each call with the next act of its script, and with the
// last one ever after.
type scriptedWriter struct {
	acts  []func([]Brief) ([]Draft, error)
	calls [][]Brief
}

func (w *scriptedWriter) Name() string { return "scripted:1" }

func (w *scriptedWriter) Write(_ context.Context, briefs []Brief) ([]Draft, error) {
	act := w.acts[min(len(w.calls), len(w.acts)-1)]
	w.calls = append(w.calls, slices.Clone(briefs))
	return act(briefs)
}

// writesWell puts every brief into words of its own.
func writesWell(briefs []Brief) ([]Draft, error) {
	out := make([]Draft, len(briefs))
	for i := range briefs {
		out[i].Ask = wellWritten(&briefs[i])
	}
	return out, nil
}

func wellWritten(b *Brief) record.Text {
	return record.Text(fmt.Sprintf("Number %s %d here, it is about %s: could somebody see to it for case %s?", b.situation[:8], b.phrasing, strings.Join(b.Names, " and "), b.situation[8:]))
}

func fails([]Brief) ([]Draft, error) { return nil, errors.New("429 too many requests") }

func posedBy(t *testing.T, w Writer, situations int) (*Planner, []record.Posed) {
	t.Helper()
	in := oncallInput(t)
	in.Situations, in.Writer = situations, w
	p := mustNew(t, in)
	return p, all(t, p)
}

func byWriter(posed []record.Posed) map[string]int {
	out := map[string]int{}
	for _, d := range posed {
		out[d.Arm+" by "+d.Task.Writer]++
	}
	return out
}

// A writer writes its arm's asks, several in a call, and no other's.
func TestWriterWritesItsArm(t *testing.T) {
	w := &scriptedWriter{acts: []func([]Brief) ([]Draft, error){writesWell}}
	p, posed := posedBy(t, w, 60)
	got := byWriter(posed)
	asks := got["llm_guided by scripted:1"]
	if asks < 20 || got["llm_guided by template"] > 0 || got["structured by scripted:1"]+got["open_ended by scripted:1"] > 0 {
		t.Errorf("posed %v", got)
	}
	r := p.Report()
	if want := (WriterReport{Name: "scripted:1", Asks: asks, Written: asks, Calls: (asks + briefsPerCall - 1) / briefsPerCall}); cmp.Diff(want, r.Writer) != "" {
		t.Errorf("report: %s", cmp.Diff(want, r.Writer))
	}
	if hasWarning(r, "writer_template") || hasWarning(r, "writer_failed") || hasWarning(r, "writer_refused") {
		t.Errorf("warned: %v", r.Warnings)
	}
	plain := all(t, mustNew(t, func() Input { in := oncallInput(t); in.Situations = 60; return in }()))
	for i, d := range posed {
		task := *d.Task
		if d.Task.Writer != templateName {
			task.Ask, task.Writer = plain[i].Task.Ask, templateName
			if d.Task.ID == plain[i].Task.ID {
				t.Errorf("another ask has the id of the template's")
			}
		}
		task.Identify()
		if diff := cmp.Diff(plain[i].Task, &task); diff != "" {
			t.Errorf("a writer changes more than the words:\n%s", diff)
		}
	}
}

// Briefs say in prose how things are, and never where on the grid they stand.
func TestBriefsAreProse(t *testing.T) {
	w := &scriptedWriter{acts: []func([]Brief) ([]Draft, error){writesWell}}
	posedBy(t, w, 300)
	seen := map[string]bool{}
	for _, call := range w.calls {
		for _, b := range call {
			said := strings.ToLower(b.Circumstances)
			for axis, value := range b.scene.axes {
				if label(said, axis) || label(said, value) || strings.Contains(said, "timeout") || strings.Contains(said, "malformed") {
					t.Errorf("%v is told as %q", b.scene.axes, b.Circumstances)
				}
			}
			if b.Wants == "" || b.Draft == "" || !strings.HasSuffix(b.Circumstances, ".") {
				t.Errorf("brief %+v", b)
			}
			for _, id := range b.Names {
				if !mentions(string(b.Draft), id) {
					t.Errorf("the template's ask does not name %s: %s", id, b.Draft)
				}
			}
			seen[b.Circumstances] = true
		}
	}
	if len(seen) < 80 {
		t.Errorf("only %d different circumstances", len(seen))
	}
}

// What no person would say, or says too little, is refused, asked for once more
// with the reason, and then left to the template.
func TestDraftsAreRefused(t *testing.T) {
	for why, draft := range map[string]func(*Brief) record.Text{
		"it is empty":                         func(*Brief) record.Text { return "  \n" },
		"it is not text":                      func(b *Brief) record.Text { return wellWritten(b) + "\xff" },
		"it leaves out an id":                 func(*Brief) record.Text { return "Could somebody see to it?" },
		"it names a tool":                     func(b *Brief) record.Text { return wellWritten(b) + " Please use get_runbook." },
		"it says where on the grid it stands": func(b *Brief) record.Text { return wellWritten(b) + " (tool_condition: fine)" },
		"it is longer than 8000 characters":   func(b *Brief) record.Text { return wellWritten(b) + record.Text(strings.Repeat(" please", 2000)) },
		"it quotes the rule":                  func(b *Brief) record.Text { return wellWritten(b) + " " + record.Text(b.scene.clause.text) },
		"it reads like another ask":           nil,
	} {
		fits := func(b *Brief) bool {
			return (why != "it leaves out an id" || len(b.Names) > 0) && (why != "it quotes the rule" || b.scene.clause != nil)
		}
		if draft == nil {
			draft = func(b *Brief) record.Text {
				return record.Text("It is about " + strings.Join(b.Names, " and ") + ", as always and ever again: could somebody of yours have a look at it before noon, please?")
			}
		}
		act := func(briefs []Brief) ([]Draft, error) {
			out, _ := writesWell(briefs)
			for i := range briefs {
				if fits(&briefs[i]) {
					out[i].Ask = draft(&briefs[i])
				}
			}
			return out, nil
		}
		w := &scriptedWriter{acts: []func([]Brief) ([]Draft, error){act}}
		p, posed := posedBy(t, w, 60)
		r := p.Report().Writer
		refused := r.Asks - r.Written
		if refused == 0 || r.Refused[why] != 2*refused || len(r.Refused) != 1 {
			t.Errorf("%s: %d left to the template, refused %v", why, refused, r.Refused)
		}
		if !hasWarning(p.Report(), "writer_refused") {
			t.Errorf("%s: not said", why)
		}
		if got := byWriter(posed)["llm_guided by template"]; got != refused {
			t.Errorf("%s: the template wrote %d, the report says %d", why, got, refused)
		}
		again := 0
		for _, call := range w.calls {
			for _, b := range call {
				if b.Refused == why {
					again++
				}
			}
		}
		if again != refused {
			t.Errorf("%s: %d of %d were asked for again with the reason", why, again, refused)
		}
	}
}

// A second draft that is good takes the place of the refused one; a draft that is
// missing counts as empty.
func TestRefusedDraftsAreReplaced(t *testing.T) {
	tooFew := func(briefs []Brief) ([]Draft, error) {
		out, _ := writesWell(briefs)
		return out[:len(out)/2], nil
	}
	once := func(briefs []Brief) ([]Draft, error) {
		if briefs[0].Refused == "" {
			return tooFew(briefs)
		}
		return writesWell(briefs)
	}
	p, posed := posedBy(t, &scriptedWriter{acts: []func([]Brief) ([]Draft, error){once}}, 60)
	r := p.Report().Writer
	if r.Written != r.Asks || r.Refused["it is empty"] == 0 || byWriter(posed)["llm_guided by template"] != 0 {
		t.Errorf("report %+v, posed %v", r, byWriter(posed))
	}
}

// A writer that fails is named as what failed, and the template takes over.
func TestFailingWriterIsNamed(t *testing.T) {
	for name, test := range map[string]struct {
		acts   []func([]Brief) ([]Draft, error)
		failed int
		gaveUp bool
	}{
		"always":  {[]func([]Brief) ([]Draft, error){fails}, writerGivesUp, true},
		"panics":  {[]func([]Brief) ([]Draft, error){func([]Brief) ([]Draft, error) { panic("nil map") }}, writerGivesUp, true},
		"once":    {[]func([]Brief) ([]Draft, error){fails, writesWell}, 1, false},
		"in turn": {[]func([]Brief) ([]Draft, error){fails, fails, writesWell, fails, writesWell}, 3, false},
	} {
		p, posed := posedBy(t, &scriptedWriter{acts: test.acts}, 120)
		r := p.Report()
		if len(posed) != 120 {
			t.Errorf("%s: %d tasks of 120", name, len(posed))
		}
		if r.Writer.Failed != test.failed || r.Writer.GaveUp != test.gaveUp || r.Writer.FirstError == "" {
			t.Errorf("%s: report %+v", name, r.Writer)
		}
		left := byWriter(posed)["llm_guided by template"]
		if left == 0 || left != r.Writer.Asks-r.Writer.Written {
			t.Errorf("%s: the template wrote %d of %d, report %+v", name, left, r.Writer.Asks, r.Writer)
		}
		said := ""
		for _, w := range r.Warnings {
			if w.Code == "writer_failed" {
				said = w.Text
			}
		}
		if !strings.Contains(said, "the writer scripted:1 failed") || !strings.Contains(said, string(r.Writer.FirstError)) || strings.Contains(said, "budget") {
			t.Errorf("%s: it says %q", name, said)
		}
	}
}

// A run that is stopped while the writer writes is no failure of the writer, and
// goes on where it was.
func TestStoppedWhileWriting(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stopping := func([]Brief) ([]Draft, error) {
		stop()
		return nil, ctx.Err()
	}
	in := oncallInput(t)
	in.Situations, in.Writer = 60, &scriptedWriter{acts: []func([]Brief) ([]Draft, error){writesWell, stopping, writesWell}}
	p := mustNew(t, in)
	if posed, ok := p.Next(ctx); ok {
		t.Fatalf("a batch of %d after the stop", len(posed))
	}
	if r := p.Report().Writer; r.Failed != 0 || r.Written != briefsPerCall {
		t.Errorf("after the stop the report says %+v", r)
	}
	posed := all(t, p)
	_, want := posedBy(t, &scriptedWriter{acts: []func([]Brief) ([]Draft, error){writesWell}}, 60)
	if diff := cmp.Diff(want, posed); diff != "" {
		t.Errorf("a run that was stopped has other tasks:\n%s", diff)
	}
}

// A resumed run keeps the words that were committed: the writer is asked for the
// rest alone, though it would find other words now.
func TestResumeKeepsTheWriter(t *testing.T) {
	in := oncallInput(t)
	in.Mode, in.Holdout, in.Batch, in.Situations, in.Phrasings = record.ModeExplore, 0.25, 30, 60, 2
	run := func(w Writer, stored []record.Posed) (*Planner, [][]record.Posed) {
		in.Writer, in.Stored = w, stored
		p := mustNew(t, in)
		var batches [][]record.Posed
		for b := 0; ; b++ {
			batch, ok := p.Next(t.Context())
			if !ok {
				return p, batches
			}
			batches = append(batches, batch)
			p.Observe(b, outcomesOf(batch))
		}
	}
	halfBad := func(briefs []Brief) ([]Draft, error) {
		out, _ := writesWell(briefs)
		out[0].Ask = ""
		return out, nil
	}
	_, whole := run(&scriptedWriter{acts: []func([]Brief) ([]Draft, error){halfBad}}, nil)
	otherwise := func(briefs []Brief) ([]Draft, error) {
		out, err := halfBad(briefs)
		for i := range out {
			if out[i].Ask != "" {
				out[i].Ask += " Thanks!"
			}
		}
		return out, err
	}
	stored := slices.Concat(whole[:2]...)
	p, resumed := run(&scriptedWriter{acts: []func([]Brief) ([]Draft, error){otherwise}}, stored)
	if diff := cmp.Diff(stored, slices.Concat(resumed[:2]...)); diff != "" {
		t.Errorf("the committed tasks have other words:\n%s", diff)
	}
	if len(resumed) != len(whole) || p.Report().Writer.Kept == 0 || p.Report().Writer.Kept == p.Report().Writer.Asks {
		t.Errorf("%d batches of %d; report %+v", len(resumed), len(whole), p.Report().Writer)
	}
}

// Whatever a writer writes, it is taken or refused for a reason.
func FuzzDraft(f *testing.F) {
	for _, seed := range []string{"", "Please restart billing.", "tool_condition: timeout", "\x1b[2J", "\xed\xa0\x80", "get_runbook", strings.Repeat("a", 9000), "payments-ledger", "{give} \uE000"} {
		f.Add(seed)
	}
	book := oncallBook()
	clause := book.clauses[oncallRules[1]]
	brief := Brief{Names: []string{"billing"}, scene: &scene{clause: clause, axes: axesOf("restart_service", oncallRules[1], "adversarial", record.EntityMissing, "prior_failure")}}
	f.Fuzz(func(t *testing.T, text string) {
		why := book.faultOf(record.Text(text), &brief)
		if why == "" && (!strings.Contains(text, "billing") || len(text) > 4*maxAskRunes || strings.Contains(text, "get_runbook") || strings.Contains(text, "prior_failure ")) {
			t.Errorf("%q was taken", text)
		}
	})
}

// The template writer fills the interface, and writes what the planner poses.
func TestTemplateIsAWriter(t *testing.T) {
	in := oncallInput(t)
	in.Situations = 60
	p := mustNew(t, in)
	var w Writer = p.template
	for _, d := range all(t, p) {
		if d.Task.Axes == nil {
			continue
		}
		pt := p.pointOf(d.Task.Axes)
		_, brief := p.situationOf(&pt, p.grid).task(0)
		drafts, err := w.Write(t.Context(), []Brief{*brief})
		if err != nil || len(drafts) != 1 || drafts[0].Ask != d.Task.Ask || cmp.Diff(*drafts[0].User, d.Task.User) != "" || w.Name() != d.Task.Writer {
			t.Fatalf("the template writes %v, %v; posed is %q", drafts, err, d.Task.Ask)
		}
	}
}
