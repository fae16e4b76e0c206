package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"assay/engine/record"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Code says for a program what went wrong.
type Code string

// Codes of [Error].
const (
	CodeNotFound     Code = "not_found"
	CodeAmbiguous    Code = "ambiguous"
	CodeNameTaken    Code = "name_taken"
	CodeNameReserved Code = "name_reserved"
	CodeHeld         Code = "run_held"
	CodeHasLabels    Code = "has_labels"
	CodeNotHidden    Code = "not_hidden"
	CodeDuplicate    Code = "duplicate"
	CodeInvalid      Code = "invalid"
	CodeExists       Code = "file_exists"
	CodeNotADatabase Code = "not_a_database"
	CodeForeign      Code = "foreign_file"
	CodeNewer        Code = "newer_version"
	CodeReadOnly     Code = "read_only"
	CodePermission   Code = "no_permission"
	CodeFull         Code = "disk_full"
	CodeDamaged      Code = "damaged"
	CodeBusy         Code = "busy"
	CodeCannotOpen   Code = "cannot_open"
	CodeIO           Code = "io_error"
)

// Error is trouble that a person must hear of: what happened, and what to do.
type Error struct {
	Code    Code
	Where   string // the file, run, name or rollout that it is about
	Message string // one sentence, without a full stop
	Fix     string // what to do next
	Err     error  // the cause, nil where there is none
}

func (e *Error) Error() string {
	if e.Fix == "" {
		return e.Message
	}
	return e.Message + "; " + e.Fix
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// As lets errors.As find the error as the [record.Problem] that the program shows.
func (e *Error) As(target any) bool {
	p, ok := target.(**record.Problem)
	if ok {
		*p = &record.Problem{Code: string(e.Code), Message: e.Message, Where: e.Where, Fix: e.Fix, Err: e.Err}
	}
	return ok
}

// CodeOf is the code of the first [Error] in err's chain, "" where there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// unreadableError is a value of a row that is not what the store writes: SQLite's
// pages are whole, and what stands in one is not.
type unreadableError struct{ err error }

func (e *unreadableError) Error() string { return e.err.Error() }
func (e *unreadableError) Unwrap() error { return e.err }

func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return &unreadableError{err}
}

// explain turns what SQLite says into a sentence about the file. Errors that
// carry one already, and a context's end, pass through.
func explain(path string, err error) error {
	var own *Error
	if err == nil || errors.As(err, &own) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var bad *unreadableError
	if errors.As(err, &bad) {
		return &Error{CodeDamaged, path, fmt.Sprintf("%s is damaged: what one of its rows holds cannot be read (%v)", path, bad.err),
			"run `assay doctor` to copy what can be read into a new file", err}
	}
	var se *sqlite.Error
	if !errors.As(err, &se) {
		if errors.Is(err, fs.ErrPermission) {
			return permissionError(path, err)
		}
		return fmt.Errorf("store %q: %w", path, err)
	}
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB:
		return &Error{CodeNotADatabase, path, fmt.Sprintf("%s is not a database", path), "nothing was changed; give another file with --db", err}
	case sqlite3.SQLITE_CORRUPT:
		return damagedError(path, err)
	case sqlite3.SQLITE_FULL:
		return &Error{CodeFull, path, fmt.Sprintf("the disk that holds %s is full: the last write was not saved, everything saved before it is safe", path),
			"free some space, then go on with `assay resume`", err}
	case sqlite3.SQLITE_READONLY:
		return &Error{CodeReadOnly, path, fmt.Sprintf("%s is read-only: nothing was written, everything in it is safe", path),
			"make the file and its folder writable, or give another file with --db", err}
	case sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return permissionError(path, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return &Error{CodeBusy, path, fmt.Sprintf("another program has held %s for longer than %s", path, busyTimeout),
			"close it and try again; nothing was lost", err}
	case sqlite3.SQLITE_CANTOPEN:
		return cannotOpenError(path, err)
	case sqlite3.SQLITE_IOERR:
		return &Error{CodeIO, path, fmt.Sprintf("the disk failed while %s was in use (%v); everything acknowledged before it was handed to the disk", path, err),
			"check the disk, then run `assay doctor`", err}
	}
	return fmt.Errorf("store %q: %w", path, err)
}

func permissionError(path string, err error) *Error {
	return &Error{CodePermission, path, fmt.Sprintf("there is no permission to open %s", path), "change its owner or mode, or give another file with --db", err}
}

func damagedError(path string, err error) *Error {
	return &Error{CodeDamaged, path, fmt.Sprintf("%s is damaged: it is not written to any more, and what can still be read stays readable", path),
		"run `assay doctor` to copy what can be read into a new file", err}
}

func notFound(kind, name, fix string) *Error {
	return &Error{Code: CodeNotFound, Where: name, Message: fmt.Sprintf("there is no %s %q", kind, name), Fix: fix}
}
