// Package recipes holds what a person runs first. Each recipe is a folder,
// numbered by what it teaches, and embedded in the binary, so that it runs
// without a clone.
//
// The files are read only and may be read by any number of goroutines.
package recipes

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
)

//go:embed 01-simulate 02-measure
var files embed.FS

// recipeFile marks a folder as a recipe.
const recipeFile = "recipe.yaml"

// Recipe is one embedded recipe.
type Recipe struct {
	Name  string // its folder's name, by which it is run
	Title string // the heading of its README
	Path  string // below the root of FS: "01-simulate/seeded-agent"
	// Needs lists the programs that must be on the machine beside Assay.
	Needs []string
	// Keys lists the variables of the environment that must hold a key, unless the recipe
	// is run with another model.
	Keys []string
}

// FS gives all embedded files, as they lie in the repository's folder recipes.
func FS() fs.FS { return files }

// List lists the recipes in the order in which they are to be read: folder by folder,
// and in each first those that need no key.
func List() []Recipe {
	var list []Recipe
	// The files are part of the binary: reading them cannot fail.
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() == recipeFile {
			list = append(list, read(path.Dir(name)))
		}
		return err
	})
	slices.SortStableFunc(list, func(a, b Recipe) int {
		return cmp.Or(strings.Compare(path.Dir(a.Path), path.Dir(b.Path)), min(len(a.Keys), 1)-min(len(b.Keys), 1))
	})
	return list
}

// read takes what a recipe is from the head of its README: the heading, and in the line
// "Needs: ..." the programs between backquotes and the variables behind a dollar sign.
func read(dir string) Recipe {
	r := Recipe{Name: path.Base(dir), Path: dir}
	text, _ := files.ReadFile(dir + "/README.md") // the tests see that it is there
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(line, "# "); ok && r.Title == "" {
			r.Title = strings.TrimSpace(title)
		}
		if needs, ok := strings.CutPrefix(line, "Needs: "); ok {
			for i, part := range strings.Split(needs, "`") {
				if i%2 == 1 {
					r.Needs = append(r.Needs, part)
				}
			}
			r.Keys = variables(needs)
			break
		}
	}
	return r
}

// variables are the names behind the dollar signs of a text.
func variables(text string) []string {
	var names []string
	for _, part := range strings.Split(text, "$")[1:] {
		end := strings.IndexFunc(part, func(r rune) bool { return r != '_' && !unicode.IsUpper(r) && !unicode.IsDigit(r) })
		if end < 0 {
			end = len(part)
		}
		names = append(names, part[:end])
	}
	return names
}

// Find gives the recipe of a name, or of a path as in [Recipe].
func Find(name string) (Recipe, bool) {
	for _, r := range List() {
		if r.Name == name || r.Path == path.Clean(name) {
			return r, true
		}
	}
	return Recipe{}, false
}

// Open gives the folder of the recipe that [Find] finds.
func Open(name string) (fs.FS, error) {
	r, ok := Find(name)
	if !ok {
		return nil, fmt.Errorf("there is no recipe %q", name)
	}
	return fs.Sub(files, r.Path)
}
