package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"assay/engine/record"
)

// checkpointPages is how long the WAL grows before it is moved into the file: 16 MiB.
// Pages that change often are moved once for many commits; SQLite's own 1,000
// pages cost a twentieth of the insert rate's processor time (BenchmarkCommitOutcomes).
const checkpointPages = 4000

// writer is the one connection that writes. Statements of the hot path go to the
// driver itself: database/sql would copy and check each of the thousands of
// values of a group once more.
type writer struct {
	mask    *record.Masker
	mu      sync.Mutex
	waiting atomic.Int32 // writers at the mutex, so that background work can give way
	pool    *sql.DB      // of one connection
	conn    *sql.Conn
	stmts   map[string]driver.Stmt // by SQL
	reads   statements             // what is read inside transactions
	scorers map[string]int64       // scorer version to number; a scorer is never deleted
}

// tx is one write transaction. It must not be kept.
type tx struct {
	w *writer
	// learned are the scorers that this transaction numbered; the writer takes them
	// over when it commits.
	learned map[string]int64
}

func openWriter(ctx context.Context, path string, mask *record.Masker) (*writer, error) {
	params := "_error_rc=1&_dqs=0&_foreign_keys=1&_synchronous=FULL&_defensive=1&" + pragmas(
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		"journal_mode(WAL)",
		"fullfsync(1)",
		"checkpoint_fullfsync(1)",
		fmt.Sprintf("wal_autocheckpoint(%d)", checkpointPages),
		fmt.Sprintf("cache_size(-%d)", cacheKiB),
		"temp_store(MEMORY)")
	pool, err := sql.Open("sqlite", dsn(path, params))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	w := &writer{mask: mask, pool: pool, conn: conn, stmts: map[string]driver.Stmt{}, scorers: map[string]int64{}, reads: statements{prepare: conn.PrepareContext}}
	// SQLite opens a file that it may not write as a read-only one and says nothing
	// until the first write; ask now.
	if err := w.do(ctx, func(*tx) error { return nil }); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *writer) do(ctx context.Context, fn func(*tx) error) error {
	w.waiting.Add(1)
	w.mu.Lock()
	w.waiting.Add(-1)
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	t := &tx{w: w}
	if err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done { // fn panicked: leave the connection usable
			_ = t.exec("ROLLBACK")
		}
	}()
	err := fn(t)
	if err == nil {
		err = t.exec("COMMIT")
	}
	done = true
	if err != nil {
		// A failed COMMIT may have rolled back by itself; then there is nothing to do.
		_ = t.exec("ROLLBACK")
		return err
	}
	for scorer, no := range t.learned {
		w.scorers[scorer] = no
	}
	return nil
}

// truncateWAL moves everything into the file. Another process that reads may
// keep it from that; then the last one out does it.
func (w *writer) truncateWAL() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	rows, err := w.conn.QueryContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
	if err != nil {
		return err
	}
	return rows.Close()
}

func (w *writer) close() error {
	var errs []error
	for _, s := range w.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.reads.close(), w.conn.Close(), w.pool.Close())...)
}

// exec runs one statement that the writer keeps prepared. Arguments are what the
// driver takes: int64, float64, string, []byte or nil.
func (t *tx) exec(query string, args ...driver.Value) error {
	_, err := t.execResult(query, args...)
	return err
}

func (t *tx) execResult(query string, args ...driver.Value) (driver.Result, error) {
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	maskValues(t.w.mask, named)
	var result driver.Result
	err := t.w.conn.Raw(func(c any) error {
		s, err := t.w.prepare(c, query)
		if err != nil {
			return err
		}
		result, err = s.(driver.StmtExecContext).ExecContext(context.Background(), named)
		return err
	})
	return result, err
}

func (w *writer) prepare(c any, query string) (driver.Stmt, error) {
	if s, ok := w.stmts[query]; ok {
		return s, nil
	}
	s, err := c.(driver.ConnPrepareContext).PrepareContext(context.Background(), query)
	if err == nil {
		w.stmts[query] = s
	}
	return s, err
}

// row reads one row inside the transaction; sql.ErrNoRows where there is none.
func (t *tx) row(query string, args []any, dest ...any) error {
	if s := t.w.reads.of(context.Background(), query); s != nil {
		return s.QueryRowContext(context.Background(), args...).Scan(dest...)
	}
	return t.w.conn.QueryRowContext(context.Background(), query, args...).Scan(dest...)
}

// query reads rows inside the transaction, which are to be closed before the same
// query is asked again: both would be one statement.
func (t *tx) query(query string, args ...any) (*sql.Rows, error) {
	if s := t.w.reads.of(context.Background(), query); s != nil {
		return s.QueryContext(context.Background(), args...)
	}
	return t.w.conn.QueryContext(context.Background(), query, args...)
}

// rowsPerInsert is how many rows one INSERT carries. Twenty save a tenth of the
// time of one at a time; more saves nothing (BenchmarkCommitOutcomes).
const rowsPerInsert = 20

// insertAll inserts rows, given one after another in values, in statements of
// rowsPerInsert rows.
func (t *tx) insertAll(into string, columns int, values []driver.Value) error {
	for len(values) > 0 {
		n := min(len(values)/columns, rowsPerInsert)
		if err := t.exec(insertSQL(into, columns, n), values[:n*columns]...); err != nil {
			return err
		}
		values = values[n*columns:]
	}
	return nil
}

func insertSQL(into string, columns, rows int) string {
	row := "(?" + strings.Repeat(",?", columns-1) + ")"
	return into + " VALUES " + row + strings.Repeat(","+row, rows-1)
}
