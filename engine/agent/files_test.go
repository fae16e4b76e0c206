package agent

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFilesHashFollowsWhatTheCommandNames(t *testing.T) {
	tree := func(files map[string]string) string {
		dir := t.TempDir()
		for name, text := range files {
			whole := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(whole), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(whole, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	hash := func(dir string, argv ...string) string {
		t.Helper()
		h, err := FilesHash(dir, argv)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	base := map[string]string{"oncall/main.go": "package main", "agent.py": "print()", "README.md": "hello"}
	with := func(name, text string) map[string]string {
		changed := map[string]string{name: text}
		for k, v := range base {
			if k != name {
				changed[k] = v
			}
		}
		return changed
	}
	first := tree(base)
	goRun := []string{"go", "run", "oncall/main.go"}
	for _, tc := range []struct {
		name string
		dir  string
		argv []string
		same bool
		as   []string
	}{
		{"another place", tree(base), goRun, true, goRun},
		{"an absolute name", first, []string{"python3", filepath.Join(first, "agent.py")}, false, goRun},
		{"the program's bytes", tree(with("oncall/main.go", "package main // changed")), goRun, false, goRun},
		{"a file that is not named", tree(with("agent.py", "changed")), goRun, true, goRun},
		{"a file below a named folder", tree(with("agent.py", "changed")), []string{"run", "."}, false, []string{"run", "."}},
		{"a hidden file below it", tree(with(".cache", "x")), []string{"run", "."}, true, []string{"run", "."}},
		{"a hidden folder below it", tree(with(".git/config", "x")), []string{"run", "."}, true, []string{"run", "."}},
		{"what Python leaves behind", tree(with("__pycache__/agent.pyc", "x")), []string{"run", "."}, true, []string{"run", "."}},
		{"another argument", first, []string{"go", "run", "-v", "oncall/main.go"}, false, goRun},
		{"a folder and its file", first, []string{"run", ".", "agent.py"}, false, []string{"run", "."}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := hash(tc.dir, tc.argv...) == hash(first, tc.as...); got != tc.same {
				t.Errorf("equal hashes: %v, want %v", got, tc.same)
			}
		})
	}
}

func TestFilesHashStaysInsideTheFolder(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	argv := []string{"sh", outside, "../secret", "link", ".", "", "no such thing"}
	before, err := FilesHash(dir, argv)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if after, err := FilesHash(dir, argv); err != nil || after != before {
		t.Errorf("a file outside the recipe changed the hash (%v)", err)
	}
	if _, err := FilesHash(filepath.Join(dir, "gone"), argv); err == nil {
		t.Error("a missing folder was hashed")
	}
}
