package tui

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"assay/engine/record"
	"assay/store"
)

// What Explore asks is answered by a real file that holds the same as the memory:
// filters and groups are the store's own.

func (m *memory) FindRows(ctx context.Context, runID string, q store.RowQuery) ([]store.Row, error) {
	return m.file().FindRows(ctx, runID, q)
}

func (m *memory) HeadsAt(ctx context.Context, rows []store.Row) ([]store.RolloutHead, error) {
	return m.file().HeadsAt(ctx, rows)
}

func (m *memory) RolloutIDs(ctx context.Context, rows []store.Row) ([]string, error) {
	return m.file().RolloutIDs(ctx, rows)
}

func (m *memory) TaskRows(ctx context.Context, runID string, q store.RowQuery) ([]store.TaskRow, error) {
	return m.file().TaskRows(ctx, runID, q)
}

func (m *memory) TaskHeads(ctx context.Context, runID string, taskIDs []string) ([]store.RolloutHead, error) {
	return m.file().TaskHeads(ctx, runID, taskIDs)
}

func (m *memory) TallyBy(ctx context.Context, runID string, f store.Filter, names ...string) ([]store.Tally, error) {
	return m.file().TallyBy(ctx, runID, f, names...)
}

func (m *memory) Siblings(ctx context.Context, rolloutID string) ([]store.RolloutHead, error) {
	return m.file().Siblings(ctx, rolloutID)
}

func (m *memory) FieldValues(ctx context.Context, runID, name string) ([]store.Value, error) {
	return m.file().FieldValues(ctx, runID, name)
}

// file is the memory as a file, made when it is first asked for and again when
// rollouts were added since.
func (m *memory) file() *store.DB {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.db != nil && m.dbRollouts == len(m.samples) {
		return m.db
	}
	if m.like != nil && m.like.unchanged(m) {
		m.db, m.dbRollouts = m.like.db(), len(m.samples)
		return m.db
	}
	m.db, m.dbRollouts = m.write(), len(m.samples)
	return m.db
}

// shared is a file that many memories of the same content are answered from.
type shared struct {
	rollouts int
	db       func() *store.DB
}

func (s *shared) unchanged(m *memory) bool { return s.rollouts == len(m.samples) }

// savedFile is what saved holds, written once for all tests that only read it.
var savedFile = sync.OnceValue(func() *store.DB {
	m := savedMemory()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.write()
})

// write puts everything into a new file. A text that a file cannot hold as it is
// does not matter here, but that anything fails does.
func (m *memory) write() *store.DB {
	dir, err := os.MkdirTemp(testFolder(), "file")
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	file := filepath.Join(dir, "assay.db")
	copied := m.template != nil && m.templateOf == len(m.samples)
	if copied {
		if err := os.WriteFile(file, m.template(), 0o644); err != nil {
			panic(err)
		}
	}
	db, err := store.Open(ctx, file, store.Options{Now: now})
	if err != nil {
		panic(err)
	}
	if copied {
		return db
	}
	for _, run := range m.runs {
		if err := m.writeRun(ctx, db, run); err != nil {
			panic(err)
		}
	}
	return db
}

func (m *memory) writeRun(ctx context.Context, db *store.DB, run *record.Run) error {
	scorers := map[string]record.Scorer{}
	var posed []record.Posed
	var outcomes []record.Outcome
	known := map[string]bool{}
	for _, id := range m.order[run.ID] {
		s := m.samples[id]
		if !known[s.Task.ID] {
			known[s.Task.ID] = true
			posed = append(posed, s.Posed)
		}
		o := s.Outcome
		o.Markers = nil
		if j := s.Judgment; j != nil {
			copied := *j
			copied.RolloutID = id
			o.Judgment = &copied
			scorers[j.Scorer] = record.Scorer{ID: j.Scorer, Kind: "marker", Name: j.Scorer}
		}
		o.Rollout.StartedAt, o.Rollout.FinishedAt = now(), now()
		outcomes = append(outcomes, o)
	}
	c := *run
	if c.Role == "" {
		c.Role = record.RoleMain
	}
	if c.Mode == "" {
		c.Mode = record.ModeRL
	}
	for id, s := range scorers {
		c.Scorer, c.Scorers = id, append(c.Scorers, s)
	}
	c.Status, c.StoppedBecause, c.Warnings, c.Error = record.RunRunning, "", nil, ""
	if err := db.CreateRun(ctx, &c); err != nil {
		return err
	}
	if err := db.CommitTasks(ctx, c.ID, posed); err != nil {
		return err
	}
	return db.CommitOutcomes(ctx, c.ID, outcomes)
}

// testFolder is where the files of the tests lie; [TestMain] removes it.
var testFolder = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "assay-tui")
	if err != nil {
		panic(err)
	}
	return dir
})

func (m *memory) Corrections(ctx context.Context, runID string) ([]record.Correction, error) {
	return m.file().Corrections(ctx, runID)
}

func (m *memory) AddCorrection(ctx context.Context, c record.Correction) (int64, error) {
	return m.file().AddCorrection(ctx, c)
}

func (m *memory) Query(ctx context.Context, query string, limit int) (store.Table, error) {
	return m.file().Query(ctx, query, limit)
}
