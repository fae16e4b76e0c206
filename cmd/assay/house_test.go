package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// steps are the packages of the eight steps, in order: each may import the one
// before it.
var steps = []string{"axes", "cover", "search", "world", "rollout", "grade", "cut", "delta"}

// mayImport is the house's rule: which of the project's packages a package may
// import. nil, true means any.
func mayImport(pkg string) (allowed []string, any bool) {
	const record, stats = "engine/record", "engine/stats"
	switch {
	case pkg == record, pkg == stats, pkg == "recipes", pkg == "tui/ui":
		return nil, false
	case pkg == "engine/agent", pkg == "engine/model", pkg == "engine/model/modeltest":
		return []string{record}, false
	case pkg == "engine":
		return []string{"engine/*"}, false
	case pkg == "store":
		return []string{record}, false
	case pkg == "store/exchange":
		return []string{record, "store"}, false
	case pkg == "tui" || strings.HasPrefix(pkg, "tui/"):
		return []string{"engine", "store", record, stats, "recipes", "tui/*"}, false
	case strings.HasPrefix(pkg, "cmd/"):
		return nil, true
	case strings.HasPrefix(pkg, "engine/"):
		allowed = []string{record, stats}
		if at := slices.Index(steps, strings.TrimPrefix(pkg, "engine/")); at > 0 {
			allowed = append(allowed, "engine/"+steps[at-1])
		}
		return allowed, false
	}
	return nil, false
}

// testsMayImport is what the tests of a package may import beside what it may itself:
// servers that speak the wire formats, and the real writer of training files.
func testsMayImport(pkg string) []string {
	switch pkg {
	case "engine/model", "engine":
		return []string{"engine/model/modeltest"}
	case "tui":
		return []string{"store/exchange"}
	}
	return nil
}

func permits(allowed []string, imported string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		if folder, ok := strings.CutSuffix(a, "/*"); ok {
			return strings.HasPrefix(imported, folder+"/")
		}
		return a == imported
	})
}

func repositoryRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(dir))
}

// TestImportRules holds every file of the project, tests included, against the
// house's rules. A test in a package of its own (x_test) follows the rule of the
// package that it tests.
func TestImportRules(t *testing.T) {
	t.Parallel()
	root := repositoryRoot(t)
	files := 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != root || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(root, file)
		if err != nil || d.IsDir() || path.Ext(file) != ".go" {
			return err
		}
		pkg := path.Dir(filepath.ToSlash(rel))
		if strings.HasPrefix(pkg, "recipes/") { // programs of recipes: the standard library alone
			pkg = "recipes"
		}
		files++
		allowed, any := mayImport(pkg)
		if any {
			return nil
		}
		if strings.HasSuffix(rel, "_test.go") {
			allowed = append(allowed, testsMayImport(pkg)...)
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			own, ok := strings.CutPrefix(name, "assay/")
			if ok && own != pkg && !permits(allowed, own) {
				t.Errorf("%s imports %s, which package %s may not", rel, name, pkg)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Fatalf("walked %d Go files: the walk does not reach the project", files)
	}
}

// TestTopLevel holds the top of the repository against the house's list.
func TestTopLevel(t *testing.T) {
	t.Parallel()
	known := []string{"cmd", "tui", "engine", "store", "recipes", "go.mod", "go.sum", "README.md", "LICENSE", ".ci", ".gitignore", ".git"}
	entries, err := os.ReadDir(repositoryRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(known, e.Name()) && !strings.HasSuffix(e.Name(), ".db") {
			t.Errorf("%s is not on the house's top level", e.Name())
		}
	}
}

// TestRulesBite makes sure that the rules refuse what they are there to refuse.
func TestRulesBite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pkg, imported string
		want          bool
	}{
		{"engine/record", "engine/stats", false},
		{"engine/cover", "engine/axes", true},
		{"engine/axes", "engine/cover", false},
		{"engine/delta", "engine/grade", false},
		{"engine/agent", "engine/stats", false},
		{"store", "engine", false},
		{"store/exchange", "store", true},
		{"tui/live", "tui/ui", true},
		{"tui/ui", "engine/record", false},
		{"engine", "store", false},
	} {
		allowed, _ := mayImport(c.pkg)
		if got := permits(allowed, c.imported); got != c.want {
			t.Errorf("%s may import %s: %v, want %v", c.pkg, c.imported, got, c.want)
		}
	}
}

// TestShortRunNamesItsTests wants every name of the short run's list to be a test: one
// that was renamed would leave it unseen.
func TestShortRunNamesItsTests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	names := strings.TrimSuffix(strings.TrimPrefix(concurrent, "^Test("), ")$")
	for _, name := range strings.Split(names, "|") {
		if !strings.Contains(all.String(), "func Test"+name+"(t *testing.T)") {
			t.Errorf("the short run names Test%s, and there is none", name)
		}
	}
}
