package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// maxStatements is how many statements are kept prepared. The program has fewer of its
// own; what more there is comes from filters and questions that are put once.
const maxStatements = 256

// statements keeps what was prepared, by SQL. Preparing takes longer than most reads of
// a row, and a label or a key makes a dozen of them.
type statements struct {
	mu      sync.Mutex
	prepare func(context.Context, string) (*sql.Stmt, error)
	kept    map[string]*sql.Stmt
}

// of is the statement kept for a query, and nil where there is none: then the query
// goes the long way, which says what is wrong with it.
func (s *statements) of(ctx context.Context, query string) *sql.Stmt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept := s.kept[query]; kept != nil || len(s.kept) >= maxStatements {
		return kept
	}
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil
	}
	if s.kept == nil {
		s.kept = map[string]*sql.Stmt{}
	}
	s.kept[query] = stmt
	return stmt
}

func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, stmt := range s.kept {
		errs = append(errs, stmt.Close())
	}
	s.kept = nil
	return errors.Join(errs...)
}

// reading is the pool of connections that read; what it is asked stays prepared.
type reading struct {
	*sql.DB
	kept statements
}

func newReading(pool *sql.DB) *reading {
	return &reading{DB: pool, kept: statements{prepare: pool.PrepareContext}}
}

func (r *reading) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if s := r.kept.of(ctx, query); s != nil {
		return s.QueryContext(ctx, args...)
	}
	return r.DB.QueryContext(ctx, query, args...)
}

func (r *reading) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if s := r.kept.of(ctx, query); s != nil {
		return s.QueryRowContext(ctx, args...)
	}
	return r.DB.QueryRowContext(ctx, query, args...)
}

func (r *reading) Close() error { return errors.Join(r.kept.close(), r.DB.Close()) }
