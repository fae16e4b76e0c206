package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"

	"assay/engine/record"
)

const (
	// busyTimeout is how long a write waits for another process's. Their writes are
	// one transaction each and take milliseconds; a backup before a migration is the
	// longest wait a file of ordinary size gives. Convention, untested.
	busyTimeout = 30 * time.Second
	// readers is how many reads may go on at once: a screen, its filter and an export.
	// Convention, untested.
	readers = 4
	// cacheKiB is each connection's page cache. The index over rollout keys is written
	// at random places; 64 MiB holds it for a million rollouts.
	cacheKiB = 64 << 10
	// readerCacheKiB is smaller: a reader walks forward, and four of them must fit the
	// 150 MB that the program may take on a file of a million rollouts.
	readerCacheKiB = 4 << 10
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// Options for opening a store. The zero value works.
type Options struct {
	// Version is this program's own, kept with each migration so that an older
	// program can say which one the file needs.
	Version string
	// Secrets are values of known keys: each is replaced by [Masked] wherever it
	// stands in what is written.
	Secrets []string
	// Masker masks them; nil is one of this store's own. A masker that is shared
	// learns keys while the store is open.
	Masker *record.Masker
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Owner is who holds the locks of runs; the zero value is this process.
	Owner Owner
}

// DB is one open store. It is safe for concurrent use.
type DB struct {
	path     string
	readOnly bool
	// closed says that nobody has the file open and nobody can: its folder cannot be
	// written, and it was closed whole.
	closed bool
	now    func() time.Time
	mask   *record.Masker
	owner  Owner
	holder string // random: this open store, as the holder of locks

	write *writer // nil when read-only
	read  *reading

	damaged atomic.Bool
	locks   heartbeats
	words   wordIndexer

	closeOnce sync.Once
	closeErr  error
}

// Open opens the store at path and makes it where there is none. A file of an
// older schema is backed up beside itself and migrated.
func Open(ctx context.Context, path string, opts Options) (*DB, error) {
	// fdatasync leaves out the file's times, which nothing here reads, and a commit
	// takes half as long. Where the system has none, fsync stays.
	sqlite.Fdatasync(true)
	db := newDB(path, opts)
	migrations, err := embeddedMigrations(schemaFiles)
	if err != nil {
		return nil, err
	}
	if err := prepareFile(ctx, path, migrations, opts.Version, db.now()); err != nil {
		return nil, explain(path, err)
	}
	if db.write, err = openWriter(ctx, path, db.mask); err != nil {
		return nil, explain(path, err)
	}
	if db.read, err = openReaders(ctx, path, ""); err != nil {
		return nil, errors.Join(explain(path, err), db.write.close())
	}
	db.words.start(db)
	return db, nil
}

// OpenReadOnly opens the store at path for looking at it: nothing is written to
// it, not even by a migration. A schema older than this program's is refused.
func OpenReadOnly(ctx context.Context, path string, opts Options) (*DB, error) {
	db := newDB(path, opts)
	db.readOnly = true
	migrations, err := embeddedMigrations(schemaFiles)
	if err != nil {
		return nil, err
	}
	if err := statFile(path); err != nil {
		return nil, err
	}
	db.read, err = openReaders(ctx, path, "")
	if err != nil && walIsEmpty(path) {
		// A closed store in a folder that cannot be written: SQLite cannot make the
		// shared memory that a WAL needs, and without a WAL it needs none.
		db.closed = true
		db.read, err = openReaders(ctx, path, immutable)
	}
	if err != nil {
		return nil, explain(path, err)
	}
	if err := checkVersion(ctx, db.read.DB, path, migrations); err != nil {
		return nil, errors.Join(explain(path, err), db.read.Close())
	}
	return db, nil
}

// immutable tells SQLite that nobody changes the file.
const immutable = "&immutable=1"

func newDB(path string, opts Options) *DB {
	db := &DB{path: path, now: opts.Now, mask: opts.Masker, owner: opts.Owner, holder: rand.Text()}
	if db.mask == nil {
		db.mask = record.NewMasker()
	}
	db.mask.Add(opts.Secrets...)
	if db.now == nil {
		db.now = time.Now
	}
	if db.owner == (Owner{}) {
		db.owner = thisProcess()
	}
	return db
}

// Path is the file.
func (db *DB) Path() string { return db.path }

// ReadOnly says that nothing can be written through this store.
func (db *DB) ReadOnly() bool { return db.readOnly }

// Masked is how many values of known keys were masked in what was written.
func (db *DB) Masked() int64 { return db.mask.Count() }

// Masker is what masks the values of known keys in what is written. Exports go
// through it once more.
func (db *DB) Masker() *record.Masker { return db.mask }

// AddSecrets makes more values of keys known, from the next write on.
func (db *DB) AddSecrets(values ...string) { db.mask.Add(values...) }

// Close finishes the text index, gives up the locks it holds, checkpoints and
// truncates the WAL, so that the one file holds everything, and closes it. A store
// that was only read leaves nothing beside the file either, unless another process
// has it open.
func (db *DB) Close() error {
	db.closeOnce.Do(func() { db.closeErr = db.close() })
	return db.closeErr
}

func (db *DB) close() error {
	if db.readOnly {
		err := db.read.Close()
		if !db.closed {
			sweep(db.path)
		}
		return err
	}
	db.locks.stop()
	err := errors.Join(db.words.stop(), db.releaseLocks(), db.read.Close())
	if !db.damaged.Load() {
		err = errors.Join(err, db.write.truncateWAL())
	}
	return explain(db.path, errors.Join(err, db.write.close()))
}

// sweep takes away the empty -wal and -shm that reading leaves beside a file: a
// connection that only reads makes them and may not remove them. The last one that
// may write does so when it closes, under SQLite's own lock, so one is opened for
// that; while another process has the file open, and where it cannot be written,
// they stay.
func sweep(path string) {
	if _, err := os.Stat(path + "-wal"); err != nil || !walIsEmpty(path) {
		return // a WAL with something in it is the next writer's to recover
	}
	last, err := sql.Open("sqlite", dsn(path, "mode=rw&_error_rc=1"))
	if err != nil {
		return
	}
	var n int
	_ = last.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&n) // what opens the WAL
	_ = last.Close()                                                 // nothing was written: nothing is lost where this fails
}

// tx runs fn in one write transaction: all of it is on disk when tx returns nil,
// and none of it otherwise. A context that ends before the transaction begins
// ends it; one that ends later does not, so that no commit is left in doubt.
func (db *DB) tx(ctx context.Context, fn func(*tx) error) error {
	if db.readOnly {
		return &Error{Code: CodeReadOnly, Where: db.path, Message: fmt.Sprintf("%s was opened for reading only", db.path), Fix: "run the command again without another program's read-only flag"}
	}
	if db.damaged.Load() {
		return damagedError(db.path, nil)
	}
	err := explain(db.path, db.write.do(ctx, fn))
	if CodeOf(err) == CodeDamaged {
		db.damaged.Store(true)
	}
	if err == nil {
		db.words.wake()
	}
	return err
}

// dsn names the file for the driver. A path is data: nothing in it may read as a
// parameter.
func dsn(path, params string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path // the open fails and says so
	}
	slashed := filepath.ToSlash(abs)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a Windows drive
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String() + "?" + params
}

func pragmas(list ...string) string {
	q := make([]string, len(list))
	for i, p := range list {
		q[i] = "_pragma=" + url.QueryEscape(p)
	}
	return strings.Join(q, "&")
}

func openReaders(ctx context.Context, path, extra string) (*reading, error) {
	params := "mode=ro&_error_rc=1&_dqs=0&_query_only=1&" + pragmas(
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		fmt.Sprintf("cache_size(-%d)", readerCacheKiB),
		"temp_store(MEMORY)") + extra
	pool, err := sql.Open("sqlite", dsn(path, params))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(readers)
	pool.SetMaxIdleConns(readers)
	var n int
	if err := pool.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return newReading(pool), nil
}

// statFile reports a path that cannot be a store without opening it.
func statFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{CodeNotFound, path, fmt.Sprintf("there is no file %s", path), "check the name, or run a recipe to make one", err}
	case errors.Is(err, fs.ErrPermission):
		return permissionError(path, err)
	case err != nil:
		return fmt.Errorf("store %q: %w", path, err)
	case !info.Mode().IsRegular() && !info.IsDir():
		return &Error{Code: CodeNotADatabase, Where: path, Message: fmt.Sprintf("%s is a device or a pipe, not a file", path), Fix: "give a file with --db"}
	case info.IsDir():
		return &Error{Code: CodeNotADatabase, Where: path, Message: fmt.Sprintf("%s is a folder, not a file", path), Fix: "give a file with --db"}
	}
	return nil
}

// cannotOpenError finds out why SQLite could not open a file.
func cannotOpenError(path string, err error) *Error {
	var own *Error
	if errors.As(statFile(path), &own) && own.Code != CodeNotFound {
		return own
	}
	folder := filepath.Dir(path)
	if info, statErr := os.Stat(folder); statErr != nil || !info.IsDir() {
		return &Error{CodeCannotOpen, path, fmt.Sprintf("the folder of %s is not there", path), fmt.Sprintf("make it first (mkdir -p %q), or give another file with --db", folder), err}
	}
	return &Error{CodePermission, path, fmt.Sprintf("%s cannot be opened", path), "check the owner and mode of the file and of its folder, or give another file with --db", err}
}

func walIsEmpty(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err != nil || info.Size() == 0
}
