package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/recipes"
	"assay/store"
)

// check is one thing that doctor looked at.
type check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Says string `json:"says"`
	Fix  string `json:"fix,omitempty"`
}

func doctorCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "doctor",
		Short:   "Check the terminal, the database and what the recipes need, and say what to do",
		Example: "assay doctor",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			checks := []check{s.checkTerminal(), s.checkFolder(), s.checkDatabase(c.Context()), s.checkCache()}
			checks = append(checks, s.checkPrograms()...)
			ok := !slices.ContainsFunc(checks, func(c check) bool { return !c.OK })
			err := s.print(map[string]any{"checks": checks, "ok": ok}, func(w io.Writer) {
				for _, c := range checks {
					mark := "ok  "
					if !c.OK {
						mark = "FIX "
					}
					fmt.Fprintf(w, "%s %-22s %s\n", mark, c.Name, plain(c.Says))
					if !c.OK && c.Fix != "" {
						fmt.Fprintf(w, "                            %s\n", plain(c.Fix))
					}
				}
			})
			if err == nil && !ok {
				err = exitStatus(exitGate)
			}
			return err
		},
	}
}

// checkTerminal looks at what the app would be drawn on. No terminal is no fault:
// the commands work without one.
func (s *session) checkTerminal() check {
	c := check{Name: "terminal", OK: true}
	switch {
	case s.isTerminal(s.out):
		c.Says = fmt.Sprintf("TERM is %s", s.getenv("TERM"))
	default:
		c.Says = "stdout is no terminal: the commands work, the app needs one"
	}
	return c
}

// checkFolder tries to write where the database is or would be.
func (s *session) checkFolder() check {
	dir := filepath.Dir(s.file())
	f, err := os.CreateTemp(dir, ".assay-doctor-")
	if err != nil {
		return check{Name: "folder", Says: fmt.Sprintf("cannot write in %s: %v", dir, err), Fix: "make it writable, or name another file with --db"}
	}
	f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return check{Name: "folder", Says: fmt.Sprintf("cannot remove in %s: %v", dir, err), Fix: "make it writable, or name another file with --db"}
	}
	return check{Name: "folder", OK: true, Says: dir + " can be written"}
}

func (s *session) checkDatabase(ctx context.Context) check {
	c := check{Name: "database"}
	if _, err := os.Stat(s.file()); errors.Is(err, os.ErrNotExist) {
		c.OK, c.Says = true, s.file()+" is not there yet; the first run makes it"
		return c
	}
	var found store.Integrity
	err := s.withStore(ctx, s.read, func(db *store.DB) (err error) {
		found, err = db.Check(ctx)
		return err
	})
	switch {
	case err != nil:
		p := problemOf(err)
		c.Says, c.Fix = p.Message, p.Fix
	case !found.OK:
		c.Says = fmt.Sprintf("%s is damaged: %s", s.file(), strings.Join(found.Problems[:min(3, len(found.Problems))], "; "))
		c.Fix = s.recover(ctx)
	default:
		c.OK, c.Says = true, s.file()+" is whole"
	}
	return c
}

// recover copies what can be read of a damaged database into a new file beside it
// and says so. The damaged file is only read.
func (s *session) recover(ctx context.Context) string {
	to := s.file() + ".recovered"
	if _, err := os.Stat(to); err == nil {
		return "what could be read is in " + to + " from before: use it with --db, or move it away and run doctor again"
	}
	tables, err := store.Recover(ctx, s.file(), to, s.storeOptions())
	if err != nil {
		return "copying what can be read failed: " + problemOf(err).Message
	}
	copied, lost := 0, 0
	for _, t := range tables {
		copied += t.Copied
		lost += t.Lost
	}
	return fmt.Sprintf("%d rows were copied into %s, %d could not be read: go on with --db %s", copied, to, lost, to)
}

func (s *session) checkCache() check {
	dir, err := os.UserCacheDir()
	if err != nil {
		return check{Name: "cache", Says: err.Error(), Fix: "set HOME or XDG_CACHE_HOME: embedded recipes are run from there"}
	}
	return check{Name: "cache", OK: true, Says: "embedded recipes run below " + dir}
}

// checkPrograms looks for what each recipe needs. A missing program costs only
// the recipes that need it.
func (s *session) checkPrograms() []check {
	var checks []check
	for _, r := range recipes.List() {
		c := check{Name: r.Name, OK: true, Says: "can run"}
		if missing := lacking(r); len(missing) > 0 {
			c.OK, c.Says, c.Fix = false, fmt.Sprintf("not found: %s", strings.Join(missing, ", ")), "install it, or run seeded-agent, which needs nothing"
		}
		checks = append(checks, c)
	}
	return checks
}

// lacking are the programs that a recipe needs and that are not on the PATH.
func lacking(r recipes.Recipe) []string {
	var missing []string
	for _, program := range r.Needs {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	return missing
}
