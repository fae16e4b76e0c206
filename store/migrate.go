package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// migrateTimeout is how long a migration waits for others to leave the file. They
// are viewers and runs, which stay for minutes, so waiting longer would not help.
const migrateTimeout = 5 * time.Second

// applicationID marks a file as Assay's in its header: "ASAY".
const applicationID = 0x41534159

// migration is one numbered step of the schema. Migrations are never changed
// once released; a new one is added.
type migration struct {
	number int
	name   string
	sql    string
}

// embeddedMigrations reads NNNN_name.sql files, which must be numbered from 1
// without a gap.
func embeddedMigrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "schema/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	list := make([]migration, len(names))
	for i, name := range names {
		number, rest, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".sql"), "_")
		n, err := strconv.Atoi(number)
		if err != nil || n != i+1 {
			return nil, fmt.Errorf("migration %q is not number %d", name, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		list[i] = migration{number: n, name: rest, sql: string(text)}
	}
	return list, nil
}

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

type fileVersion struct {
	application, schema, tables int
}

func readVersion(ctx context.Context, q queryer) (v fileVersion, err error) {
	err = q.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&v.application, &v.schema, &v.tables)
	return v, err
}

func (v fileVersion) empty() bool { return v == fileVersion{} }

// check refuses a file that this program must not write to.
func (v fileVersion) check(ctx context.Context, q queryer, file string, known int) error {
	switch {
	case v.empty():
		return nil
	case v.application != applicationID:
		return &Error{Code: CodeForeign, Where: file, Message: fmt.Sprintf("%s is a database of another program", file), Fix: "nothing was changed; give another file with --db"}
	case v.schema > known:
		needed := ""
		// The table is as old as the first schema, so this works on any newer file.
		_ = q.QueryRowContext(ctx, "SELECT applied_by FROM migrations ORDER BY number DESC LIMIT 1").Scan(&needed)
		if needed == "" {
			needed = "a newer assay"
		}
		return &Error{Code: CodeNewer, Where: file,
			Message: fmt.Sprintf("%s has schema %d and this program knows up to %d: it needs %s or later", file, v.schema, known, needed),
			Fix:     "nothing was changed; update assay, or give another file with --db"}
	}
	return nil
}

// checkVersion is the check for those who only read.
func checkVersion(ctx context.Context, q queryer, file string, migrations []migration) error {
	v, err := readVersion(ctx, q)
	if err != nil {
		return err
	}
	if v.empty() {
		return &Error{Code: CodeNotADatabase, Where: file, Message: fmt.Sprintf("%s is empty", file), Fix: "run a recipe to make a database of it, or give another file with --db"}
	}
	if err := v.check(ctx, q, file, len(migrations)); err != nil {
		return err
	}
	if v.schema < len(migrations) {
		return &Error{Code: CodeReadOnly, Where: file, Message: fmt.Sprintf("%s has schema %d, older than this program's %d, and may not be changed", file, v.schema, len(migrations)),
			Fix: "open it once where it can be written, so that it is backed up and migrated"}
	}
	return nil
}

// prepareFile brings the file to the newest schema, making it where there is
// none. Nothing is written to a file that is up to date.
func prepareFile(ctx context.Context, file string, migrations []migration, version string, now time.Time) error {
	var own *Error
	if errors.As(statFile(file), &own) && own.Code != CodeNotFound {
		return own
	}
	params := "_error_rc=1&" + pragmas(fmt.Sprintf("busy_timeout(%d)", migrateTimeout.Milliseconds()))
	pool, err := sql.Open("sqlite", dsn(file, params))
	if err != nil {
		return err
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	v, err := readVersion(ctx, conn)
	if err != nil {
		return err
	}
	if err := v.check(ctx, conn, file, len(migrations)); err != nil {
		return err
	}
	if err := checkSize(ctx, conn, file); err != nil {
		return err
	}
	if v.schema == len(migrations) {
		return nil
	}
	return migrate(ctx, conn, file, migrations, version, now)
}

// checkSize finds a file that lost its end: SQLite would notice only when it
// comes to the missing pages. With a WAL the file may rightly be shorter.
func checkSize(ctx context.Context, conn *sql.Conn, file string) error {
	if !walIsEmpty(file) {
		return nil
	}
	var pages, size int64
	if err := conn.QueryRowContext(ctx, "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size").Scan(&pages, &size); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() == 0 {
		return nil // not there yet
	}
	if info.Size() < pages*size {
		return damagedError(file, fmt.Errorf("%d of %d bytes are there", info.Size(), pages*size))
	}
	return nil
}

// migrate holds the file for itself alone, copies it, and applies what is
// missing, each migration in a transaction of its own.
func migrate(ctx context.Context, conn *sql.Conn, file string, migrations []migration, version string, now time.Time) error {
	for _, q := range []string{"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = OFF"} {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return inUse(file, err)
		}
	}
	// In exclusive locking mode the lock that this takes stays.
	for _, q := range []string{"BEGIN EXCLUSIVE", "COMMIT"} {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return inUse(file, err)
		}
	}
	v, err := readVersion(ctx, conn) // another process may have come first
	if err != nil {
		return err
	}
	if err := v.check(ctx, conn, file, len(migrations)); err != nil {
		return err
	}
	if v.schema == len(migrations) {
		return release(ctx, conn)
	}
	if !v.empty() {
		if err := backupBefore(ctx, conn, file, v.schema); err != nil {
			return err
		}
	}
	for _, m := range migrations[v.schema:] {
		if err := apply(ctx, conn, m, version, now); err != nil {
			return fmt.Errorf("migration %d (%s): %w", m.number, m.name, err)
		}
	}
	return release(ctx, conn)
}

// inUse says of a file that others hold what to do about it.
func inUse(file string, err error) error {
	var se *sqlite.Error
	if errors.As(err, &se) && se.Code()&0xff == sqlite3.SQLITE_BUSY {
		return &Error{CodeBusy, file, fmt.Sprintf("%s must be migrated and another program has it open", file), "close it and try again; nothing was changed", err}
	}
	return err
}

// release gives up the exclusive lock: it goes at the next access.
func release(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, "PRAGMA locking_mode = NORMAL"); err != nil {
		return err
	}
	_, err := readVersion(ctx, conn)
	return err
}

func backupBefore(ctx context.Context, conn *sql.Conn, file string, schema int) error {
	to := fmt.Sprintf("%s.backup-%d", file, schema)
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		}
		to = fmt.Sprintf("%s.backup-%d-%d", file, schema, n)
	}
	if _, err := conn.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		_ = os.Remove(to) // what there is of it, if anything
		return fmt.Errorf("copy to %q before the migration: %w", to, err)
	}
	return syncFile(to)
}

func apply(ctx context.Context, conn *sql.Conn, m migration, version string, now time.Time) (err error) {
	if _, err := conn.ExecContext(ctx, "BEGIN EXCLUSIVE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	if _, err := conn.ExecContext(ctx, m.sql); err != nil {
		return err
	}
	if err := foreignKeyCheck(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "INSERT INTO migrations VALUES (?, ?, ?, ?)", m.number, m.name, timeText(now), version); err != nil {
		return err
	}
	// Both live in the file's header and are part of the transaction.
	for _, q := range []string{fmt.Sprintf("PRAGMA application_id = %d", applicationID), fmt.Sprintf("PRAGMA user_version = %d", m.number)} {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

func foreignKeyCheck(ctx context.Context, conn *sql.Conn) error {
	rows, err := conn.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next() {
		var table, parent string
		var rowid, key sql.NullInt64
		if err := rows.Scan(&table, &rowid, &parent, &key); err != nil {
			return err
		}
		return fmt.Errorf("row %d of %s refers to a row of %s that is not there", rowid.Int64, table, parent)
	}
	return rows.Err()
}
