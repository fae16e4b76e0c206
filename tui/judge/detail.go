package judge

import (
	"fmt"
	"strings"

	"assay/engine/record"
	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// para is a paragraph above a transcript.
type para struct {
	title string // clean
	mark  func(ui.Theme) ui.Mark
	text  string // raw: cleaned when drawn
}

// detail is a transcript with what is said of it above.
type detail struct {
	theme ui.Theme
	id    string
	of    string // what the lead says, to tell it from another
	lead  []para
	doc   *transcript.Doc
}

// newDetail divides long texts, so that each is drawn as far as it is seen.
func newDetail(theme ui.Theme, id string, lead []para, doc *transcript.Doc) *detail {
	d := &detail{theme: theme, id: id, of: leadKey(lead), doc: doc}
	for _, p := range lead {
		slices := ui.Slices(p.text)
		if len(slices) == 0 {
			slices = []string{""}
		}
		for i, text := range slices {
			next := para{text: text}
			if i == 0 {
				next.title, next.mark = p.title, p.mark
			}
			d.lead = append(d.lead, next)
		}
	}
	return d
}

func leadKey(lead []para) string {
	var b strings.Builder
	for _, p := range lead {
		b.WriteString(p.title + "\n" + p.text + "\n")
	}
	return b.String()
}

// Len is the number of blocks.
func (d *detail) Len() int { return len(d.lead) + d.doc.Len() }

// Version tells drawn blocks apart.
func (d *detail) Version(i int) uint64 {
	if i < len(d.lead) {
		return 3<<62 | uint64(i)
	}
	return d.doc.Version(i - len(d.lead))
}

// Draw lays out a block.
func (d *detail) Draw(i, width int, look ui.Look) []string {
	if i >= len(d.lead) {
		return d.doc.Draw(i-len(d.lead), width, look)
	}
	t, p := d.theme, d.lead[i]
	base := t.Base(look)
	var lines []string
	row := func(spans ...ui.Span) {
		lines = append(lines, ui.Row(width, base, append([]ui.Span{transcript.Cursor(t, look)}, spans...)...))
	}
	if p.title != "" {
		for n, line := range ui.Wrap(p.title, width-4) {
			mark := p.mark(t)
			if n > 0 {
				mark.Sign = " "
			}
			row(ui.S(mark.Style, mark.Sign+" "), ui.S(t.Strong, line))
		}
	}
	if p.text != "" {
		for _, line := range ui.Wrap(ui.Clean(p.text), width-4) {
			row(ui.S(t.Text, "  "+line))
		}
	}
	if len(lines) == 0 {
		row()
	}
	return lines
}

// Toggle folds or unfolds the tool call of a block.
func (d *detail) Toggle(i int) (at int, ok bool) {
	if i < len(d.lead) {
		return i, false
	}
	at, ok = d.doc.Toggle(i - len(d.lead))
	return at + len(d.lead), ok
}

// Text is what a block holds, for copying.
func (d *detail) Text(i int) string {
	if i < len(d.lead) {
		return strings.TrimSpace(d.lead[i].title + "\n" + d.lead[i].text)
	}
	return d.doc.Text(i - len(d.lead))
}

// disagreement is what judge and people say of a rollout.
func (m *Model) disagreement(h *store.RolloutHead) []para {
	var lead []para
	gold, _ := record.GoldOf(m.labels[h.ID])
	if gold.Reward != nil {
		said := "gold fails it, and the judge passes it"
		if *gold.Reward > 0 {
			said = "gold passes it, and the judge does not"
		}
		lead = append(lead, para{title: said, mark: passOrFail(*gold.Reward > 0)})
	}
	for _, l := range gold.Labels {
		mark := ui.Theme.Finished
		switch l.Verdict {
		case record.VerdictPass, record.VerdictFail:
			mark = passOrFail(l.Verdict == record.VerdictPass)
		case record.VerdictUnsure:
			mark = ui.Theme.Unjudged
		}
		title := ui.Line(l.Annotator, 40) + " (" + string(l.Kind) + "): " + string(l.Verdict)
		if len(l.Tags) > 0 {
			title += "  " + ui.Line(strings.Join(l.Tags, ", "), 80)
		}
		if !l.Blind {
			title += "  not blind"
		}
		lead = append(lead, para{title: title, mark: mark, text: string(l.Note)})
	}
	return lead
}

// judgeSays is the judge's word on a rollout and its reason, above what it judged.
func judgeSays(s *record.Sample, threshold float64) []para {
	j := s.Judgment
	if j == nil {
		return nil
	}
	title, mark := "the judge: "+ui.Line(string(j.Status), 40), ui.Theme.Unjudged
	if j.Status == record.JudgeOK && j.Reward != nil {
		title, mark = "the judge: "+word(*j.Reward >= threshold), passOrFail(*j.Reward >= threshold)
	}
	if j.FailureClass != "" {
		title += "  " + ui.Line(j.FailureClass, 40)
	}
	return []para{{title: title, mark: mark, text: string(j.Reason)}}
}

// probed is what a probe did to a rollout's reply.
func (m *Model) probed(probe, row int) (id string, lead []para) {
	p := &m.report.Probes[probe]
	r := &p.Rows[row]
	was := "a reply without content"
	if r.Before != nil {
		was = word(*r.Before) + " before"
	}
	return r.RolloutID, []para{
		{title: fmt.Sprintf("probe %s: %s, then %s", ui.Line(p.Name, 40), was, word(r.After)), mark: holds(!r.After)},
		{title: "the judge's reason for the changed reply", mark: ui.Theme.Finished, text: string(r.Reason)},
		{title: "the changed reply", mark: ui.Theme.Finished, text: string(r.Reply)},
		{title: "the rollout as it was", mark: ui.Theme.Finished},
	}
}

func word(pass bool) string {
	if pass {
		return "pass"
	}
	return "fail"
}
