package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A pipe in a recipe's place would be waited for without end, and a device has none.
func TestRecipeFilesAreRegularAndBounded(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.DevNull, filepath.Join(dir, "device")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	large, err := os.Create(filepath.Join(dir, "large"))
	if err == nil {
		err = large.Truncate(maxRecipeFile + 1)
		large.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	read := filesIn(dir)
	for name, says := range map[string]string{"folder": "not a regular file", "device": "not a regular file", "large": "over 16777216"} {
		if _, err := read(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want an error with %q", name, err, says)
		}
	}
}
