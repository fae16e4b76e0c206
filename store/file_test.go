package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/engine/record"
)

// raw opens a file by the driver alone, as another program would.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, ""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func execAll(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// closedStore is the path of a store with a run in it.
func closedStore(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "assay.db")
	db := open(t, path, Options{Version: "assay 1.0"})
	fill(t, db, "run1", 20, 3, 1)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRefusedFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		code Code
		says string
	}{
		{"text", func(t *testing.T, path string) { write(t, path, strings.Repeat("hello world\n", 1000)) }, CodeNotADatabase, "is not a database"},
		{"short text", func(t *testing.T, path string) { write(t, path, "hi") }, CodeNotADatabase, "is not a database"},
		{"a folder", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, CodeNotADatabase, "is a folder"},
		{"another program's", func(t *testing.T, path string) {
			execAll(t, raw(t, path), "CREATE TABLE people (name TEXT)")
		}, CodeForeign, "another program"},
		{"another program's with an id", func(t *testing.T, path string) {
			execAll(t, raw(t, path), "PRAGMA application_id = 7", "PRAGMA user_version = 1")
		}, CodeForeign, "another program"},
		{"newer", func(t *testing.T, path string) {
			db := open(t, path, Options{})
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			execAll(t, raw(t, path), "PRAGMA user_version = 9", "INSERT INTO migrations VALUES (9, 'later', '2027-01-01', 'assay 3.2')")
		}, CodeNewer, "needs assay 3.2 or later"},
		{"truncated", func(t *testing.T, path string) {
			whole := closedStore(t)
			text, err := os.ReadFile(whole)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, string(text[:len(text)-5000]))
		}, CodeDamaged, "is damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file.db")
			c.make(t, path)
			before, _ := os.ReadFile(path) // a folder has none
			for kind, openIt := range map[string]func(context.Context, string, Options) (*DB, error){"to write": Open, "to read": OpenReadOnly} {
				if kind == "to read" && c.code == CodeDamaged {
					continue // what can be read of a damaged file may be read
				}
				db, err := openIt(t.Context(), path, Options{})
				if err == nil {
					db.Close()
				}
				if CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), ";") {
					t.Errorf("opened %s: %v", kind, err)
				}
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the refused file was changed")
			}
			if left, _ := filepath.Glob(path + ".backup*"); len(left) > 0 {
				t.Errorf("a refused file was backed up: %v", left)
			}
		})
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestErrorsAreProblems(t *testing.T) {
	_, err := OpenReadOnly(t.Context(), filepath.Join(t.TempDir(), "none.db"), Options{})
	var p *record.Problem
	if !errors.As(err, &p) || p.Code != "not_found" || p.Fix == "" || p.Where == "" || !errors.Is(p, fs.ErrNotExist) {
		t.Errorf("%v is the problem %+v", err, p)
	}
}

func TestOpenWhereNothingIs(t *testing.T) {
	folder := t.TempDir()
	_, err := Open(t.Context(), filepath.Join(folder, "not", "there.db"), Options{})
	if CodeOf(err) != CodeCannotOpen || !strings.Contains(err.Error(), "mkdir") {
		t.Errorf("no folder: %v", err)
	}
	path := filepath.Join(folder, "new.db")
	if _, err := OpenReadOnly(t.Context(), path, Options{}); CodeOf(err) != CodeNotFound {
		t.Errorf("reading a file that is not there: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("opening to read made a file")
	}
	odd := filepath.Join(folder, "100% ?mode=ro & #1 é.db")
	db := open(t, odd, Options{})
	fill(t, db, "run1", 1, 1, 1)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(odd); err != nil {
		t.Errorf("a path is data: %v", err)
	}
}

// Pages may be whole and what stands in them not: the rows that can be read are, and
// the one that cannot says which file is damaged and what to do.
func TestDamagedRow(t *testing.T) {
	path := closedStore(t)
	for _, change := range []string{"UPDATE transcripts SET steps = substr(steps, 1, length(steps) - 3)", "UPDATE tasks SET axes = '{'"} {
		if _, err := raw(t, path).Exec(change); err != nil {
			t.Fatal(err)
		}
		db, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		met := false
		for _, err := range db.Samples(t.Context(), "run1", record.SampleQuery{}) {
			var p *record.Problem
			if met = met || err != nil; err != nil && (CodeOf(err) != CodeDamaged || !errors.As(err, &p) || !strings.Contains(p.Fix, "assay doctor")) {
				t.Errorf("after %s: %v", change, err)
			}
		}
		if err := db.Close(); err != nil || !met {
			t.Errorf("after %s the rows were read as if nothing were wrong (%v)", change, err)
		}
	}
}

// A damaged page is met while reading: the rest stays readable, nothing is written.
func TestDamagedFile(t *testing.T) {
	path := closedStore(t)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	var root int64 // of the transcripts
	if err := raw(t, path).QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'transcripts'").Scan(&root); err != nil {
		t.Fatal(err)
	}
	junk := make([]byte, 4096)
	for i := range junk {
		junk[i] = 0xA5
	}
	if _, err := f.WriteAt(junk, (root-1)*4096); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found, err := db.Check(t.Context())
	if err != nil || found.OK || len(found.Problems) == 0 {
		t.Errorf("integrity %+v (%v)", found, err)
	}
	for _, err := range db.Samples(t.Context(), "run1", record.SampleQuery{}) {
		if CodeOf(err) != CodeDamaged {
			t.Errorf("samples: %v", err)
		}
	}
	if runs, err := db.Runs(t.Context(), true); err != nil || len(runs) != 1 {
		t.Errorf("what can be read is not: %d runs (%v)", len(runs), err)
	}
	if err := db.Hide(t.Context(), "run1", true); CodeOf(err) != CodeDamaged {
		t.Errorf("a write to a damaged file: %v", err)
	}
	if now, err := os.Stat(path); err != nil || now.Size() != info.Size() {
		t.Errorf("size %d, was %d (%v)", now.Size(), info.Size(), err)
	}
}

// The limit on pages stands in for a disk's: SQLite says the same of both.
func TestFullDisk(t *testing.T) {
	db := openNew(t)
	posed := fill(t, db, "run1", 4, 1, 1)
	if err := db.tx(t.Context(), func(x *tx) error { return x.exec("PRAGMA max_page_count = 80") }); err != nil {
		t.Fatal(err)
	}
	var err error
	k, saved := 1, 4
	for ; err == nil; k++ {
		big := testOutcome("run1", posed[0].Task, 0, k)
		big.Rollout.FinalText = record.Text(strings.Repeat("x", 20000))
		if err = db.CommitOutcomes(t.Context(), "run1", []record.Outcome{big}); err == nil {
			saved++
		}
	}
	if CodeOf(err) != CodeFull || !strings.Contains(err.Error(), "assay resume") {
		t.Errorf("full: %v", err)
	}
	if got := samples(t, db, "run1", record.SampleQuery{}); len(got) != saved {
		t.Errorf("%d rollouts, want the %d that were acknowledged", len(got), saved)
	}
	if err := db.tx(t.Context(), func(x *tx) error { return x.exec("PRAGMA max_page_count = 100000") }); err != nil {
		t.Fatal(err)
	}
	if err := db.CommitOutcomes(t.Context(), "run1", []record.Outcome{testOutcome("run1", posed[0].Task, 0, k)}); err != nil {
		t.Errorf("after space was made: %v", err)
	}
}

// asNobody runs this test binary as a user with no rights, which root is not.
func asNobody(t *testing.T, job string, args ...string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	folder := t.TempDir()
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(folder, "store.test")
	if err := os.WriteFile(copied, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := folder; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(copied, args...)
	cmd.Env = []string{childVariable + "=" + job, "TMPDIR=/tmp"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, _ := cmd.CombinedOutput() // it exits 1 and says why
	return string(out)
}

func TestNoPermission(t *testing.T) {
	open := func(dir string) {
		for ; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := closedStore(t)
	open(filepath.Dir(path))
	for _, c := range []struct {
		mode fs.FileMode
		code Code
	}{{0o444, CodeReadOnly}, {0o000, CodePermission}} {
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		if said := asNobody(t, "hold", path, "run9"); !strings.HasPrefix(said, "error "+string(c.code)+" ") {
			t.Errorf("mode %o: %q", c.mode, said)
		}
	}
}

// A folder that cannot be written is no reason to have no copy of what is in it.
func TestBackupOfWhatCannotBeWritten(t *testing.T) {
	path, target := closedStore(t), t.TempDir()
	for _, dir := range []string{filepath.Dir(path), target} {
		for ; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(os.Chmod(path, 0o444), os.Chmod(target, 0o777)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(target, "copy.db")
	if said := asNobody(t, "backup", path, file); said != "" {
		t.Fatal(said)
	}
	copied, err := OpenReadOnly(t.Context(), file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if got := samples(t, copied, "run1", record.SampleQuery{}); len(got) != 60 {
		t.Errorf("%d rollouts in the copy, want 60", len(got))
	}
}

func TestReadOnlyStore(t *testing.T) {
	path := closedStore(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := OpenReadOnly(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := samples(t, db, "run1", record.SampleQuery{}); len(got) != 60 {
		t.Errorf("%d rollouts, want 60", len(got))
	}
	if err := db.Hide(t.Context(), "run1", true); CodeOf(err) != CodeReadOnly {
		t.Errorf("a write: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed (%v)", err)
	}
	if beside, _ := filepath.Glob(path + "-*"); len(beside) > 0 {
		t.Errorf("%v is left beside the file", beside)
	}
}

// TestReadingBesideAWriter: a reader that closes takes nothing from a store that is
// open elsewhere.
func TestReadingBesideAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assay.db")
	writer := open(t, path, Options{})
	fill(t, writer, "run1", 20, 1, 1)
	if _, err := writer.write.conn.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	reader, err := OpenReadOnly(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Error("the writer's WAL is gone")
	}
	fill(t, writer, "run2", 20, 1, 1)
	if got := samples(t, writer, "run2", record.SampleQuery{}); len(got) != 20 {
		t.Errorf("%d rollouts after it, want 20", len(got))
	}
}

func TestCloseLeavesOneFile(t *testing.T) {
	path := closedStore(t)
	for _, side := range []string{"-wal", "-shm"} {
		if info, err := os.Stat(path + side); err == nil && info.Size() > 0 {
			t.Errorf("%s is left with %d bytes", side, info.Size())
		}
	}
	var id int
	if err := raw(t, path).QueryRow("SELECT application_id FROM pragma_application_id").Scan(&id); err != nil || id != applicationID {
		t.Errorf("application_id %x (%v)", id, err)
	}
}

func TestBackupWhileWriting(t *testing.T) {
	db := openNew(t)
	posed := fill(t, db, "run1", 10, 1, 1)
	done := make(chan error)
	go func() {
		var err error
		for k := 1; k < 40 && err == nil; k++ {
			var group []record.Outcome
			for _, p := range posed {
				group = append(group, testOutcome("run1", p.Task, 0, k))
			}
			err = db.CommitOutcomes(t.Context(), "run1", group)
		}
		done <- err
	}()
	file := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("beside the copy: %v (%v)", left, err)
	}
	if err := db.Backup(t.Context(), file); CodeOf(err) != CodeExists {
		t.Errorf("over a file that is there: %v", err)
	}
	copied := open(t, file, Options{})
	if found, err := copied.Check(t.Context()); err != nil || !found.OK {
		t.Errorf("integrity %v (%v)", found, err)
	}
	if got := samples(t, copied, "run1", record.SampleQuery{}); len(got) < 10 || len(got)%10 != 0 {
		t.Errorf("%d rollouts in the copy, want whole groups of 10", len(got))
	}
}

// fixture is a store of the first schema as it was released. It is made anew, with
// -fixture, only as long as that schema has not been released.
const fixture = "testdata/schema-0001.db.gz"

var makeFixture = flag.Bool("fixture", false, "write "+fixture+" anew")

func TestOldFilesOpen(t *testing.T) {
	if *makeFixture {
		writeFixture(t)
	}
	packed, err := os.Open(fixture)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old.db")
	write(t, path, string(text))
	db := open(t, path, Options{})
	if got := samples(t, db, "run1", record.SampleQuery{}); len(got) != 6 || got[0].Judgment == nil || len(got[0].Markers) != 2 || len(got[0].Rollout.Steps) != 3 {
		t.Errorf("%d rollouts of the old file", len(got))
	}
	if gold, err := db.GoldOf(t.Context(), "run1"); err != nil || len(gold) != 1 {
		t.Errorf("gold %v (%v)", gold, err)
	}
}

func writeFixture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assay.db")
	db := open(t, path, Options{Version: "assay 0.1"})
	posed := fill(t, db, "run1", 3, 2, 1)
	label := record.Label{RolloutID: record.RolloutID("run1", record.Key{TaskID: posed[0].Task.ID}), Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman, At: start}
	if _, err := db.AddLabel(t.Context(), label); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, fixture, packed.String())
}

func TestMigration(t *testing.T) {
	migrations, err := embeddedMigrations(schemaFiles)
	if err != nil {
		t.Fatal(err)
	}
	next := migration{number: len(migrations) + 1, name: "rebuild", sql: `
		CREATE TABLE tags_new (tag TEXT PRIMARY KEY, meaning TEXT NOT NULL, color TEXT, created_at TEXT NOT NULL);
		INSERT INTO tags_new SELECT tag, meaning, 'red', created_at FROM tags;
		DROP TABLE tags; ALTER TABLE tags_new RENAME TO tags;`}
	broken := migration{number: next.number, name: "orphans", sql: "DELETE FROM rollouts"}
	failing := migration{number: next.number, name: "typo", sql: "CREATE TABLE half (x); CREATE TABEL half2 (x)"}

	t.Run("applied", func(t *testing.T) {
		path := closedStore(t)
		before := raw(t, path)
		execAll(t, before, "INSERT INTO tags VALUES ('late', '', '2026')")
		if err := before.Close(); err != nil {
			t.Fatal(err)
		}
		if err := prepareFile(t.Context(), path, append(migrations, next), "assay 2.0", start); err != nil {
			t.Fatal(err)
		}
		var color, by string
		var version int
		db := raw(t, path)
		if err := db.QueryRow("SELECT (SELECT color FROM tags), (SELECT user_version FROM pragma_user_version), (SELECT applied_by FROM migrations ORDER BY number DESC LIMIT 1)").Scan(&color, &version, &by); err != nil {
			t.Fatal(err)
		}
		if color != "red" || version != next.number || by != "assay 2.0" {
			t.Errorf("color %q, version %d, by %q", color, version, by)
		}
		backup := open(t, fmt.Sprintf("%s.backup-%d", path, len(migrations)), Options{})
		if got := samples(t, backup, "run1", record.SampleQuery{}); len(got) != 60 {
			t.Errorf("%d rollouts in the backup, want 60", len(got))
		}
		if _, err := Open(t.Context(), path, Options{}); CodeOf(err) != CodeNewer || !strings.Contains(err.Error(), "assay 2.0") {
			t.Errorf("this program opens it: %v", err)
		}
	})
	for name, bad := range map[string]migration{"leaves orphans": broken, "fails half way": failing} {
		t.Run(name, func(t *testing.T) {
			path := closedStore(t)
			if err := prepareFile(t.Context(), path, append(migrations, bad), "assay 2.0", start); err == nil {
				t.Fatal("it was applied")
			}
			db := open(t, path, Options{})
			if got := samples(t, db, "run1", record.SampleQuery{}); len(got) != 60 {
				t.Errorf("%d rollouts after it, want 60", len(got))
			}
			var half int
			if err := db.read.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").Scan(&half); err != nil || half != 0 {
				t.Errorf("half of it is there (%v)", err)
			}
		})
	}
	t.Run("refused while others have the file", func(t *testing.T) {
		path := closedStore(t)
		other := open(t, path, Options{})
		fill(t, other, "run2", 1, 1, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if err := prepareFile(ctx, path, append(migrations, next), "assay 2.0", start); err == nil {
			t.Error("it was migrated under another's hands")
		}
	})
}

func TestMigrationNumbers(t *testing.T) {
	if _, err := embeddedMigrations(schemaFiles); err != nil {
		t.Error(err)
	}
	if _, err := embeddedMigrations(os.DirFS("testdata/gap")); err == nil {
		t.Error("a gap in the numbers was not noticed")
	}
}
