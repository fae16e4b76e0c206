package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/engine/record"
)

// FilesHash is the identity of a command agent's program: its argv, and the
// bytes of every argument that names a file, or of all files below one that
// names a folder, where that lies inside dir. Names are kept relative to dir, so
// that the same recipe has the same hash in every place.
//
// Hidden files are left out, and so is __pycache__, which Python writes there
// while it runs. A symbolic link that leads out of dir is not followed.
func FilesHash(dir string, argv []string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("hash the agent's files: %w", err)
	}
	defer func() { _ = root.Close() }()
	files := map[string]string{}
	for _, arg := range argv {
		name, inside := insideDir(dir, arg)
		if !inside {
			continue
		}
		if err := hashBelow(root.FS(), name, files); err != nil {
			return "", fmt.Errorf("hash the agent's files: %w", err)
		}
	}
	type file struct {
		Path   string `json:"path"`
		SHA256 string `json:"sha256"`
	}
	list := make([]file, 0, len(files))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		list = append(list, file{name, files[name]})
	}
	return record.Identity("program", struct {
		Argv  []string `json:"argv"`
		Files []file   `json:"files"`
	}{argv, list}), nil
}

// insideDir is an argument as a slash-separated name below dir, where it can be
// one.
func insideDir(dir, arg string) (name string, ok bool) {
	if arg == "" {
		return "", false
	}
	if filepath.IsAbs(arg) {
		whole, err := filepath.Abs(dir)
		if err != nil {
			return "", false
		}
		if arg, err = filepath.Rel(whole, arg); err != nil {
			return "", false
		}
	}
	name = path.Clean(filepath.ToSlash(arg))
	return name, fs.ValidPath(name)
}

// hashBelow adds the file of a name, or the files below its folder. A name that
// is neither is no error: most arguments are words.
func hashBelow(fsys fs.FS, name string, into map[string]string) error {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil //nolint:nilerr // an argument that names nothing readable names no file
	}
	if !info.IsDir() {
		return hashFile(fsys, name, into)
	}
	return fs.WalkDir(fsys, name, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p != name && (strings.HasPrefix(d.Name(), ".") || d.Name() == "__pycache__"):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		return hashFile(fsys, p, into)
	})
}

func hashFile(fsys fs.FS, name string, into map[string]string) error {
	if _, done := into[name]; done {
		return nil
	}
	info, err := fs.Stat(fsys, name)
	if err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // a pipe, a socket or a link that leads out has no bytes of the recipe
	}
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	into[name] = hex.EncodeToString(h.Sum(nil))
	return nil
}
