package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Backup writes a whole copy of the store to file while it is in use. The copy
// appears under its name when it is complete and on disk, or not at all; a file
// that is there already is never replaced.
func (db *DB) Backup(ctx context.Context, file string) (err error) {
	if _, err := os.Lstat(file); err == nil {
		return &Error{Code: CodeExists, Where: file, Message: fmt.Sprintf("there is a file %s already", file), Fix: "give another name, or move that one away"}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return explain(file, err)
	}
	folder, err := os.MkdirTemp(filepath.Dir(file), ".assay-backup-")
	if err != nil {
		return fmt.Errorf("backup to %q: %w", file, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	copied := filepath.Join(folder, "copy.db")
	if err := db.copyTo(ctx, copied); err != nil {
		return fmt.Errorf("backup to %q: %w", file, err)
	}
	if err := syncFile(copied); err != nil {
		return fmt.Errorf("backup to %q: %w", file, err)
	}
	// Link refuses a name that has been taken meanwhile, which Rename would replace.
	if err := os.Link(copied, file); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return &Error{CodeExists, file, fmt.Sprintf("there is a file %s already", file), "give another name", err}
		}
		if err := os.Rename(copied, file); err != nil { // a file system without links
			return fmt.Errorf("backup to %q: %w", file, err)
		}
	}
	return nil
}

// copyTo copies the store as it is at one moment, on a connection of its own: the
// readers may not write anything, a copy included.
func (db *DB) copyTo(ctx context.Context, file string) error {
	params := "mode=ro&_error_rc=1&" + pragmas(fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()))
	if db.closed {
		params += immutable
	}
	pool, err := sql.Open("sqlite", dsn(db.path, params))
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, "VACUUM INTO ?", file)
	err = explain(file, err)
	if CodeOf(err) == CodeDamaged { // what is copied is, not the copy
		err = damagedError(db.path, err)
	}
	return errors.Join(err, pool.Close())
}

// syncFile puts a file that nobody has open on disk.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Integrity is what a check of the file found.
type Integrity struct {
	OK       bool
	Problems []string // at most a hundred
}

// Check reads the whole file and says what is wrong with it. It takes as long as
// reading it does, and changes nothing.
func (db *DB) Check(ctx context.Context) (Integrity, error) {
	var found Integrity
	problems, err := db.strings(ctx, "PRAGMA integrity_check(100)")
	if CodeOf(err) == CodeDamaged {
		problems, err = append(problems, err.Error()), nil
	}
	if err != nil {
		return found, err
	}
	for _, p := range problems {
		if p != "ok" {
			found.Problems = append(found.Problems, p)
		}
	}
	orphans, err := db.strings(ctx, `SELECT printf('row %d of %s refers to a row of %s that is not there', rowid, "table", parent) FROM pragma_foreign_key_check LIMIT 100`)
	if err != nil && CodeOf(err) != CodeDamaged {
		return found, err
	}
	found.Problems = append(found.Problems, orphans...)
	found.OK = len(found.Problems) == 0
	if !found.OK {
		db.damaged.Store(true)
	}
	return found, nil
}
