package search

import (
	"context"

	"assay/engine/record"
)

// Writer puts situations into the words of people. The template writer needs
// nothing and always has words; a model's may fail, and then the template's
// stand.
type Writer interface {
	// Name stands on every task that it wrote: template, or a model.
	Name() string
	// Write puts several situations into words in one call. Draft i answers brief i; a
	// draft that is missing or empty could not be written. An error means that the
	// whole call came to nothing.
	Write(ctx context.Context, briefs []Brief) ([]Draft, error)
}

// Brief is what a writer is told of one ask. It says in prose what a person in the
// situation would know, and never where on the grid the situation stands.
type Brief struct {
	// Circumstances are who asks and how things are, in a few sentences.
	Circumstances string
	// Wants is what the person is after, in a few words.
	Wants record.Text
	// Names are the ids that the ask must name, word for word.
	Names []string
	// Draft is how the template writer puts it.
	Draft record.Text
	// Earlier are other wordings of the same situation, to differ from.
	Earlier []record.Text
	// Refused says what was wrong with the last draft; "" at the first try.
	Refused string

	situation string
	phrasing  int
	scene     *scene
	texture   bool // more background than most people give
}

// Draft is what a writer makes of a brief.
type Draft struct {
	Ask record.Text
	// User is the person behind the ask; nil is the one that the template drew.
	User *record.User
}

// templateName is the template writer's name.
const templateName = "template"

// template is the writer that composes asks from the phrasebook.
type template struct {
	book *phrasebook
	seed int64
}

// Name is template.
func (w *template) Name() string { return templateName }

// Write never fails.
func (w *template) Write(_ context.Context, briefs []Brief) ([]Draft, error) {
	drafts := make([]Draft, len(briefs))
	for i := range briefs {
		drafts[i] = w.draft(&briefs[i])
	}
	return drafts, nil
}

// draft is a function of the seed, the situation and the phrasing.
func (w *template) draft(b *Brief) Draft {
	d := w.book.write(record.Stream("wording", w.seed, b.situation, b.phrasing), b.scene, b.texture)
	return Draft{Ask: d.ask, User: &d.user}
}

// WriterReport is what came of the asks that a writer other than the template was
// to write.
type WriterReport struct {
	Name    string `json:"name"`
	Asks    int    `json:"asks"`    // that it was to write
	Written int    `json:"written"` // in its words; the rest are the template's
	Kept    int    `json:"kept"`    // of those written, words that an earlier part of the run has committed
	Calls   int    `json:"calls"`
	Failed  int    `json:"failed"` // calls
	// FirstError is the first failed call's, whole.
	FirstError record.Text `json:"first_error,omitempty"`
	// GaveUp says that it was asked no more after failing too often in a row.
	GaveUp bool `json:"gave_up,omitempty"`
	// Refused counts drafts by what was wrong with them.
	Refused map[string]int `json:"refused,omitempty"`
}
