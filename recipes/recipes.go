// Package recipes holds what a person runs first. Each recipe is a folder,
// numbered by what it teaches, and embedded in the binary, so that it runs
// without a clone.
//
// The files are read only and may be read by any number of goroutines.
package recipes

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
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
	// Needs is what must be on the machine beside Assay, "" for nothing.
	Needs string
}

// FS gives all embedded files, as they lie in the repository's folder recipes.
func FS() fs.FS { return files }

// List lists the recipes in the order in which they are to be read.
func List() []Recipe {
	var list []Recipe
	// The files are part of the binary: reading them cannot fail.
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() == recipeFile {
			list = append(list, read(path.Dir(name)))
		}
		return err
	})
	return list
}

// read takes what a recipe is from the head of its README.
func read(dir string) Recipe {
	r := Recipe{Name: path.Base(dir), Path: dir}
	text, _ := files.ReadFile(dir + "/README.md") // the tests see that it is there
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "# "); ok && r.Title == "" {
			r.Title = title
		}
		if needs, ok := strings.CutPrefix(line, "Needs: "); ok {
			if needs = strings.TrimSuffix(needs, "."); needs != "nothing" {
				r.Needs = needs
			}
			break
		}
	}
	return r
}

// Open gives the folder of the recipe of a name, or of a path as in [Recipe].
func Open(name string) (fs.FS, error) {
	list := List()
	at := slices.IndexFunc(list, func(r Recipe) bool { return r.Name == name || r.Path == path.Clean(name) })
	if at < 0 {
		known := make([]string, len(list))
		for i, r := range list {
			known[i] = r.Name
		}
		return nil, fmt.Errorf("there is no recipe %q: choose from %s", name, strings.Join(known, ", "))
	}
	return fs.Sub(files, list[at].Path)
}
