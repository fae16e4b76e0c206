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

	"assay/engine/grade"
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
		Use:   "doctor [RECIPE...]",
		Short: "Check the terminal, the database and what the recipes need, and say what to do",
		Long: "Check the terminal, the database, the keys of models in the environment, and what the embedded recipes\n" +
			"need. Of the recipes that are named every model and endpoint is asked once, which costs a token or two.",
		Example: "assay doctor\nassay doctor ./my-recipe",
		Args:    cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			checks := []check{s.checkTerminal(), s.checkFolder(), s.checkDatabase(c.Context()), s.checkCache(), checkGuards()}
			checks = append(checks, s.checkKeys()...)
			checks = append(checks, s.checkPrograms()...)
			for _, name := range args {
				checks = append(checks, s.checkEndpoints(c.Context(), name)...)
			}
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

// checkGuards says what a verifier of kind code can keep hostile code from here. Less than
// all is no fault: only such a verifier needs it, and it refuses without.
func checkGuards() check {
	var kept, missing []string
	for _, g := range grade.Guards() {
		if g.Enforced {
			kept = append(kept, string(g.Guard))
			continue
		}
		missing = append(missing, fmt.Sprintf("not %s (%s)", g.Guard, g.How))
	}
	return check{Name: "code of replies", OK: true, Says: "confined here: " + strings.Join(append(kept, missing...), ", ")}
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

// checkKeys says for which providers of models there is a key. None is no fault: only
// recipes with models need one.
func (s *session) checkKeys() []check {
	var checks []check
	for _, provider := range []struct{ name, variable string }{{"openai", "OPENAI_API_KEY"}, {"anthropic", "ANTHROPIC_API_KEY"}} {
		c := check{Name: "key " + provider.name, OK: true, Says: provider.variable + " is set"}
		if s.getenv(provider.variable) == "" {
			c.Says = provider.variable + " is not set; only models of " + provider.name + " need it"
		}
		checks = append(checks, c)
	}
	return checks
}

// checkEndpoints asks everyone whom a recipe names beyond this program.
func (s *session) checkEndpoints(ctx context.Context, name string) []check {
	failed := func(who string, err error) check {
		p := problemOf(err)
		return check{Name: who, Says: s.mask.Text(p.Message), Fix: p.Fix}
	}
	recipe, err := s.loadRecipe(name)
	if err != nil {
		return []check{failed(name, err)}
	}
	reached, err := s.newEngine(nil, nil).Reach(ctx, recipe)
	if err != nil {
		return []check{failed(name, err)}
	}
	checks := []check{}
	for _, r := range reached {
		if r.Err != nil {
			checks = append(checks, failed(r.Key, r.Err))
			continue
		}
		checks = append(checks, check{Name: r.Key, OK: true, Says: s.mask.Text(r.Who + " answers")})
	}
	if len(reached) == 0 {
		checks = append(checks, check{Name: name, OK: true, Says: "it asks nobody beyond this machine"})
	}
	return checks
}

// checkPrograms looks for what each recipe needs. A missing program costs only
// the recipes that need it, and a missing key is no fault of the machine.
func (s *session) checkPrograms() []check {
	var checks []check
	for _, r := range recipes.List() {
		c := check{Name: r.Name, OK: true, Says: "can run"}
		if missing := lackingPrograms(r); len(missing) > 0 {
			c.OK, c.Says, c.Fix = false, fmt.Sprintf("not found: %s", strings.Join(missing, ", ")), "install it, or run seeded-agent, which needs nothing"
		} else if missing := s.lacking(r); len(missing) > 0 {
			c.Says = fmt.Sprintf("needs %s", strings.Join(missing, ", "))
		}
		checks = append(checks, c)
	}
	return checks
}

// lackingPrograms are the programs that a recipe needs and that are not on the PATH.
func lackingPrograms(r recipes.Recipe) []string {
	var missing []string
	for _, program := range r.Needs {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	return missing
}

// lacking is what a recipe needs and this machine has not got, in words.
func (s *session) lacking(r recipes.Recipe) []string {
	missing := lackingPrograms(r)
	for _, key := range r.Keys {
		if s.getenv(key) == "" {
			missing = append(missing, fmt.Sprintf("a key in %s, or another model: assay run %s --agent ollama:MODEL", key, r.Name))
		}
	}
	return missing
}
