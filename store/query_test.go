package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestQueryOnlyReads tries to write, to reach another file and to change a setting in
// every way that SQLite has, and then asks what may be asked.
func TestQueryOnlyReads(t *testing.T) {
	db := openNew(t)
	varied(t, db)
	other := filepath.Join(t.TempDir(), "other.db")
	for _, query := range []string{
		"", ";", "(", "delete from labels", "INSERT INTO tags VALUES ('a', '', '')", "drop table runs", "vacuum into '" + other + "'", "attach '" + other + "' as o", "PRAGMA query_only = 0",
		"select 1; vacuum into '" + other + "'", "select 1) ; vacuum into '" + other + "' ; select (1", "select 1) UNION SELECT (2", "with x as (select 1) delete from runs", "/* */ vacuum", "select 1 -- '\n; drop table runs",
		"select 'open", "select 1 /* open", "explain select 1", "begin", "select load_extension('x')", "with a as (insert into tags values ('a','','') returning 1) select * from a",
	} {
		if table, err := db.Query(t.Context(), query, 10); CodeOf(err) != CodeInvalid {
			t.Errorf("%q gives %v, %v", query, table, err)
		}
	}
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("another file was written: %v", err)
	}
	if runs, err := db.Runs(t.Context(), true); err != nil || len(runs) != 1 {
		t.Errorf("afterwards %d runs, %v", len(runs), err)
	}
	for query, want := range map[string]string{
		"select rollout_id, k from rollouts order by rollout_no limit 1 ;": "rollout_id k",
		"WITH a(x) AS (VALUES (1)) SELECT x FROM a -- all":                 "x",
		"select ';' as \"a;b\", ')' as [c)], null as d, 1.5 as e":          "a;b c) d e",
	} {
		table, err := db.Query(t.Context(), query, 10)
		if err != nil || strings.Join(table.Columns, " ") != want || len(table.Rows) != 1 {
			t.Errorf("%q gives %v, %v", query, table, err)
		}
	}
	table, err := db.Query(t.Context(), "select task_id from rollouts", 5)
	if err != nil || len(table.Rows) != 5 || !table.More {
		t.Errorf("%d rows, more %v, %v", len(table.Rows), table.More, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Query(ctx, "select 1", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a query nobody waits for gives %v", err)
	}
}

// TestQueryIsBounded in time, even behind a first row that comes at once, and in what it
// brings into memory; and what is asked once is not kept prepared.
func TestQueryIsBounded(t *testing.T) {
	db := openNew(t)
	varied(t, db)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	const endless = "SELECT 1 AS n UNION ALL SELECT count(*) FROM (WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c) SELECT x FROM c)"
	if table, err := db.Query(ctx, endless, 10); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an endless second row gives %v, %v", table, err)
	}
	if _, err := db.Query(t.Context(), "select zeroblob(900000000)", 10); CodeOf(err) != CodeInvalid || !strings.Contains(err.Error(), "substr") {
		t.Errorf("900 MB of zeros: %v", err)
	}
	table, err := db.Query(t.Context(), "WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c WHERE x < 40) SELECT hex(zeroblob(4000000)) FROM c", 1000)
	if err != nil || !table.More || len(table.Rows) > 12 {
		t.Errorf("320 MB in rows of 8: %d rows, more %v, %v", len(table.Rows), table.More, err)
	}
	for _, query := range []string{"select ?", "select :a", "select @a", "select $a(')"} {
		if _, err := db.Query(t.Context(), query, 10); CodeOf(err) != CodeInvalid {
			t.Errorf("%q: %v", query, err)
		}
	}
	kept := len(db.read.kept.kept)
	for n := range 5 {
		if _, err := db.Query(t.Context(), fmt.Sprintf("select %d", n), 1); err != nil {
			t.Error(err)
		}
	}
	if now := len(db.read.kept.kept); now != kept {
		t.Errorf("%d statements more are kept", now-kept)
	}
}
