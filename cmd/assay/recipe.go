package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/engine"
	"assay/engine/record"
	"assay/recipes"
)

// loadRecipe reads a recipe that is named as a folder, as its recipe.yaml, or as
// an embedded one. A folder that is there wins over an embedded recipe's name.
func (s *session) loadRecipe(name string) (*engine.Recipe, error) {
	dir := name
	if filepath.Base(name) == engine.RecipeFile {
		dir = filepath.Dir(name)
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("find the recipe's folder: %w", err)
		}
		return engine.LoadRecipe(filesIn(abs), abs)
	}
	all := recipes.List()
	at := slices.IndexFunc(all, func(r recipes.Recipe) bool { return r.Name == name || r.Path == path.Clean(name) })
	if at < 0 {
		names := make([]string, len(all))
		for i, r := range all {
			names[i] = r.Name
		}
		return nil, &record.Problem{Code: "no_recipe", Message: "there is no such folder and no embedded recipe of that name", Where: name,
			Fix: "name a folder with a recipe.yaml, or one of " + strings.Join(names, ", ")}
	}
	return s.loadEmbedded(all[at])
}

// maxRecipeFile bounds a file of a recipe, in bytes: what a recipe names is kept
// whole in the run. Convention, untested: no prompt and no list of tools comes near.
const maxRecipeFile = 16 << 20

// filesIn reads the files of a folder. Only regular ones: a pipe would wait for
// ever for a writer, and a device has no end.
func filesIn(dir string) engine.ReadFile {
	return func(file string) ([]byte, error) {
		name := filepath.Join(dir, filepath.FromSlash(file))
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is not a regular file", file)
		case info.Size() > maxRecipeFile:
			return nil, fmt.Errorf("%s has %d bytes, over %d", file, info.Size(), maxRecipeFile)
		}
		return os.ReadFile(name)
	}
}

// loadEmbedded writes an embedded recipe below the user's cache, in a folder
// named by its content, and reads it there: its commands need a folder to run in.
func (s *session) loadEmbedded(r recipes.Recipe) (*engine.Recipe, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, record.Problemf("no_cache", "set HOME or XDG_CACHE_HOME", "an embedded recipe needs a folder to run in: %w", err)
	}
	dir, err := materialise(recipes.FS(), r.Path, filepath.Join(cache, "assay", "recipes"))
	if err != nil {
		return nil, record.Problemf("no_cache", "make the folder writable, or copy the recipe and name its folder", "write the recipe %s: %w", r.Name, err)
	}
	return engine.LoadRecipe(filesIn(dir), dir)
}

// materialise writes the folder root of fsys below into, in a folder named by the
// hash of its content, unless it is there and whole already. The folder appears
// at once or not at all.
func materialise(fsys fs.FS, root, into string) (string, error) {
	files := map[string][]byte{}
	hash := sha256.New()
	err := fs.WalkDir(fsys, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(hash, "%d %s\n%d\n", len(name), name, len(text))
		hash.Write(text)
		files[strings.TrimPrefix(name, root+"/")] = text
		return nil
	})
	if err != nil {
		return "", err
	}
	dir := filepath.Join(into, path.Base(root)+"-"+hex.EncodeToString(hash.Sum(nil)[:8]))
	if intact(dir, files) {
		return dir, nil
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(into, ".writing-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	for name, text := range files {
		file := filepath.Join(tmp, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return "", err
		}
	}
	if err := os.RemoveAll(dir); err != nil { // somebody changed it: what is run is what is embedded
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		if intact(dir, files) { // another process was first
			return dir, nil
		}
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

// intact reports whether dir holds exactly these files.
func intact(dir string, files map[string][]byte) bool {
	seen := 0
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if want, ok := files[filepath.ToSlash(name)]; !ok || string(want) != string(text) {
			return errors.New("changed")
		}
		seen++
		return nil
	})
	return err == nil && seen == len(files)
}
