package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
	"assay/store/exchange"
	"assay/tui/ui"
)

// session is one invocation: where it reads and writes, and what every command
// takes.
type session struct {
	in       io.Reader
	out, err io.Writer
	environ  []string
	dbPath   string
	json     bool
	// mask knows the values of keys that stand in the environment, and learns those
	// that a recipe names; nil masks nothing.
	mask *record.Masker
}

// getenv looks a name up in the invocation's environment.
func (s *session) getenv(name string) string {
	for _, kv := range s.environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// file is the path of the database.
func (s *session) file() string {
	switch {
	case s.dbPath != "":
		return s.dbPath
	case s.getenv("ASSAY_DB") != "":
		return s.getenv("ASSAY_DB")
	}
	return "assay.db"
}

// open opens the database for reading and writing, making it where it is not
// there.
func (s *session) open(ctx context.Context) (*store.DB, error) {
	return store.Open(ctx, s.file(), s.storeOptions())
}

// storeOptions hands the store what masks the values of known keys in all that is
// written.
func (s *session) storeOptions() store.Options {
	version, _ := buildVersion()
	return store.Options{Version: version, Masker: s.mask}
}

// read opens a database that must be there, for reading.
func (s *session) read(ctx context.Context) (*store.DB, error) {
	if _, err := os.Stat(s.file()); os.IsNotExist(err) {
		return nil, &record.Problem{Code: "no_database", Message: "there is no database yet", Where: s.file(),
			Fix: "run assay run seeded-agent, or name the file with --db", Err: err}
	}
	return store.OpenReadOnly(ctx, s.file(), s.storeOptions())
}

// withStore opens the file, calls do, and closes it; the first error counts.
func (s *session) withStore(ctx context.Context, open func(context.Context) (*store.DB, error), do func(*store.DB) error) (err error) {
	db, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if closing := db.Close(); err == nil {
			err = closing
		}
	}()
	return do(db)
}

// withRun is withStore for a command about one run: name, or RUN:before and
// RUN:after for the parts of a story, is resolved to its id.
func (s *session) withRun(ctx context.Context, open func(context.Context) (*store.DB, error), name string, do func(db *store.DB, runID string) error) error {
	return s.withStore(ctx, open, func(db *store.DB) error {
		id, err := s.resolvePart(ctx, db, name)
		if err != nil {
			return err
		}
		return do(db, id)
	})
}

// newEngine is an engine on one database; nil is none, for what needs none.
func (s *session) newEngine(db *store.DB, observe func(engine.Event)) *engine.Engine {
	e := &engine.Engine{
		Sink:     db,
		Source:   db,
		Exporter: exchange.Exporter{DB: db},
		Observe:  observe,
		Now:      time.Now,
		NewRunID: newRunID,
		Environ:  s.environ,
		Masker:   s.mask,
	}
	if db != nil {
		e.Cache = db
	}
	return e
}

// newRunID is 12 random hex digits: short enough to type a prefix of, and two in
// one file are as good as never equal.
func newRunID() string {
	var b [6]byte
	rand.Read(b[:]) // never fails: crypto/rand.Read crashes the program instead
	return hex.EncodeToString(b[:])
}

// say writes a line of progress or warning to stderr.
func (s *session) say(line string) { fmt.Fprintln(s.err, plain(s.mask.Text(line))) }

// plain is text made safe for a terminal, line by line.
func plain(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = ui.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// print writes the result: as JSON where that was asked for, else as text.
func (s *session) print(v any, text func(io.Writer)) error {
	if s.json {
		return s.printJSON(v)
	}
	return s.printText(func(w io.Writer) error {
		text(w)
		return nil
	})
}

// printText writes a text without the values of known keys.
func (s *session) printText(text func(io.Writer) error) error {
	var b bytes.Buffer
	if err := text(&b); err != nil {
		return err
	}
	_, err := s.out.Write(s.mask.Raw(b.Bytes()))
	return err
}

func (s *session) printJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := s.out.Write(s.shown(b.Bytes()))
	return err
}

// shown is a JSON text as it may reach a terminal: without the values of known
// keys, hidden characters escaped.
func (s *session) shown(raw []byte) []byte { return record.EscapeHidden(s.mask.Raw(raw)) }

// warn prints warnings for people on stderr; with --json they stand in the
// document too.
func (s *session) warn(warnings []record.Warning) {
	for _, w := range warnings {
		line := "warning: " + w.Text
		if w.Fix != "" {
			line += " (" + w.Fix + ")"
		}
		s.say(line)
	}
}

// isTerminal reports whether w is a terminal that can be drawn on.
func (s *session) isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(f.Fd()) && s.getenv("TERM") != "dumb"
}
