package tui

import (
	"context"
	"encoding/json"
	"maps"

	"assay/store"
)

func (m *memory) Find(ctx context.Context, text string, limit int) ([]store.Found, error) {
	db := m.file()
	for more := true; more; {
		var err error
		if more, err = db.IndexWords(ctx, 1000); err != nil {
			return nil, err
		}
	}
	return db.Find(ctx, text, limit)
}

func (m *memory) Places(context.Context) (map[string]json.RawMessage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.places), nil
}

func (m *memory) SavePlaces(_ context.Context, places map[string]json.RawMessage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.places == nil {
		m.places = map[string]json.RawMessage{}
	}
	maps.Copy(m.places, places)
	m.saves++
	return nil
}

func (m *memory) AddReveal(_ context.Context, annotator, what string, rolloutIDs ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range rolloutIDs {
		m.revealed = append(m.revealed, annotator+" "+what+" "+id)
	}
	return nil
}

func (m *memory) RolloutsOfTasks(ctx context.Context, runID string, taskIDs []string) ([]string, error) {
	return m.file().RolloutsOfTasks(ctx, runID, taskIDs)
}
