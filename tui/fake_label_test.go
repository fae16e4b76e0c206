package tui

import (
	"context"

	"assay/engine/record"
)

// What Label and Judge read and write is answered by a real file, see file.

func (m *memory) Rubric(ctx context.Context, hash string) (record.Rubric, error) {
	return m.file().Rubric(ctx, hash)
}

func (m *memory) Queues(ctx context.Context, runID string) ([]record.QueueHead, error) {
	return m.file().Queues(ctx, runID)
}

func (m *memory) Cards(ctx context.Context, runID, queue, annotator string) ([]record.Card, error) {
	return m.file().Cards(ctx, runID, queue, annotator)
}

func (m *memory) BlindSample(ctx context.Context, rolloutID string) (*record.Sample, error) {
	return m.file().BlindSample(ctx, rolloutID)
}

func (m *memory) LabelCard(ctx context.Context, runID, queue string, position int, label record.Label) (record.Label, error) {
	return m.file().LabelCard(ctx, runID, queue, position, label)
}

func (m *memory) TakeBack(ctx context.Context, runID, queue string, position int, annotator string) (record.Label, error) {
	return m.file().TakeBack(ctx, runID, queue, position, annotator)
}

func (m *memory) Draft(ctx context.Context, rolloutID, annotator string) (record.Text, error) {
	return m.file().Draft(ctx, rolloutID, annotator)
}

func (m *memory) SaveDraft(ctx context.Context, d record.Draft) error {
	return m.file().SaveDraft(ctx, d)
}

func (m *memory) Tags(ctx context.Context) ([]record.Tag, error) { return m.file().Tags(ctx) }

func (m *memory) SaveTag(ctx context.Context, tag record.Tag) error {
	return m.file().SaveTag(ctx, tag)
}

func (m *memory) Labels(ctx context.Context, runID string) ([]record.Label, error) {
	return m.file().Labels(ctx, runID)
}

func (m *memory) SiblingPairs(ctx context.Context, runID string, tasks int) ([]record.SiblingPair, error) {
	return m.file().SiblingPairs(ctx, runID, tasks)
}

func (m *memory) OwnPreferences(ctx context.Context, runID, annotator string) ([]record.Preference, error) {
	return m.file().OwnPreferences(ctx, runID, annotator)
}

func (m *memory) AddPreference(ctx context.Context, p record.Preference) (int64, error) {
	return m.file().AddPreference(ctx, p)
}
