package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestADamagedFileIsSaid: runs that can be listed are, and that their rollouts cannot
// be read is said, with what to do; a whole file that was only read stands alone.
func TestADamagedFileIsSaid(t *testing.T) {
	p := newPlace(t)
	p.must("run", "before-and-after", "--runs", "1", "--situations", "12")
	p.must("runs")
	if beside, _ := filepath.Glob(p.file("assay.db-*")); len(beside) > 0 {
		t.Errorf("reading leaves %v", beside)
	}
	damage(t, p.file("assay.db"))
	for _, args := range [][]string{{"runs"}, {"runs", "--json"}, {"pass", "last"}, {"show", "last"}, {"rows", "last"}} {
		out, errs, code := p.run(args...)
		if code != exitCouldNot || strings.Count(errs, "is damaged") != 1 || !strings.Contains(errs, "assay doctor") {
			t.Errorf("assay %v: exit %d, stdout %.200q, stderr %q", args, code, out, errs)
		}
	}
}

// damage writes junk over many pages of a database, but not over its first ones.
func damage(t *testing.T, file string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	junk := []byte(strings.Repeat("\xff", page/2))
	for at := int64(3 * page); at < info.Size(); at += 3 * page {
		if _, err := f.WriteAt(junk, at); err != nil {
			t.Fatal(err)
		}
	}
}
