package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Recovered says what of one table was copied out of a damaged file.
type Recovered struct {
	Table  string
	Copied int
	Lost   int // rows that could not be read, as far as they could be counted
}

// Recover copies what can be read of a damaged store into a new file, table by
// table and, where a page is broken, row by row. Rows that refer to rows which
// are lost are left out. The damaged file is only read.
func Recover(ctx context.Context, damaged, to string, opts Options) ([]Recovered, error) {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{Code: CodeExists, Where: to, Message: fmt.Sprintf("there is a file %s already", to), Fix: "give another name"}
	}
	if err := statFile(damaged); err != nil {
		return nil, err
	}
	from, err := sql.Open("sqlite", dsn(damaged, "mode=ro&_error_rc=1&"+pragmas("cell_size_check(1)")))
	if err != nil {
		return nil, err
	}
	defer from.Close()
	db, err := Open(ctx, to, opts)
	if err != nil {
		return nil, err
	}
	report, err := db.copyTables(ctx, from)
	return report, errors.Join(err, db.Close())
}

func (db *DB) copyTables(ctx context.Context, from *sql.DB) ([]Recovered, error) {
	tables, err := db.strings(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'transcript_words%'
		AND name NOT IN ('migrations', 'words_state', 'locks') ORDER BY rowid`)
	if err != nil {
		return nil, err
	}
	var report []Recovered
	// Rows are copied in no order that foreign keys would like.
	if err := db.write.foreignKeys(ctx, false); err != nil {
		return nil, err
	}
	for _, table := range tables {
		c := tableCopy{db: db, from: from, report: Recovered{Table: table}}
		if err := c.run(ctx); err != nil {
			return report, fmt.Errorf("recover %s: %w", table, err)
		}
		report = append(report, c.report)
	}
	if err := db.dropOrphans(ctx); err != nil {
		return report, err
	}
	return report, db.write.foreignKeys(ctx, true)
}

func (w *writer) foreignKeys(ctx context.Context, on bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA foreign_keys = %t", on))
	return err
}

// tableCopy copies one table.
type tableCopy struct {
	db      *DB
	from    *sql.DB
	columns []string
	insert  string
	report  Recovered
}

func (c *tableCopy) run(ctx context.Context) error {
	var withoutRowid bool
	table := c.report.Table
	if err := c.db.read.QueryRowContext(ctx, "SELECT wr FROM pragma_table_list WHERE name = ?", table).Scan(&withoutRowid); err != nil {
		return err
	}
	var err error
	if c.columns, err = c.db.strings(ctx, "SELECT name FROM pragma_table_info(?) ORDER BY cid", table); err != nil {
		return err
	}
	c.insert = fmt.Sprintf("INSERT OR IGNORE INTO %s (%s) VALUES (?%s)", table, strings.Join(c.columns, ", "), strings.Repeat(", ?", len(c.columns)-1))
	if withoutRowid {
		return c.fromBothEnds(ctx)
	}
	return c.byRowid(ctx)
}

// byRowid reads forward, and where that meets a broken page asks for the rows
// behind it one at a time.
func (c *tableCopy) byRowid(ctx context.Context) error {
	table := c.report.Table
	columns := "rowid, " + strings.Join(c.columns, ", ")
	last, err := c.copyRows(ctx, fmt.Sprintf("SELECT %s FROM %s ORDER BY rowid", columns, table))
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	var highest int64 // the last page is another than the broken one, more often than not
	if c.from.QueryRowContext(ctx, fmt.Sprintf("SELECT rowid FROM %s ORDER BY rowid DESC LIMIT 1", table)).Scan(&highest) != nil {
		c.report.Lost++ // and nobody can say how many more
		return nil
	}
	one := fmt.Sprintf("SELECT %s FROM %s WHERE rowid = ?", columns, table)
	for id := last + 1; id <= highest && ctx.Err() == nil; id++ {
		if _, err := c.copyRows(ctx, one, id); err != nil {
			c.report.Lost++
		}
	}
	return ctx.Err()
}

// fromBothEnds is for tables without row numbers: what lies between two broken
// pages is lost.
func (c *tableCopy) fromBothEnds(ctx context.Context) error {
	key, err := c.db.strings(ctx, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", c.report.Table)
	if err != nil {
		return err
	}
	columns := "0, " + strings.Join(c.columns, ", ")
	for _, order := range []string{strings.Join(key, ", "), strings.Join(key, " DESC, ") + " DESC"} {
		if _, err := c.copyRows(ctx, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", columns, c.report.Table, order)); err == nil {
			return nil
		}
		c.report.Lost++
	}
	return ctx.Err()
}

// copyRows copies what a query gives until it fails; last is the first column of
// the last row that was read.
func (c *tableCopy) copyRows(ctx context.Context, query string, args ...any) (last int64, err error) {
	rows, err := c.from.QueryContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	values := make([]any, len(c.columns))
	dest := make([]any, len(c.columns)+1)
	dest[0] = &last
	for i := range values {
		dest[i+1] = &values[i]
	}
	more := true
	for more {
		err := c.db.tx(ctx, func(t *tx) error {
			for range 1000 { // rows to a transaction
				if more = rows.Next(); !more {
					return nil
				}
				if err := rows.Scan(dest...); err != nil {
					return err
				}
				result, err := t.execResult(c.insert, driverValues(values)...)
				if err != nil {
					return err
				}
				n, err := result.RowsAffected()
				if err != nil {
					return err
				}
				c.report.Copied += int(n)
			}
			return nil
		})
		if err != nil {
			return last, err
		}
	}
	return last, rows.Err()
}

func driverValues(values []any) []driver.Value {
	out := make([]driver.Value, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// dropOrphans removes rows that refer to rows which are not there, and then those
// that referred to them, until every reference holds.
func (db *DB) dropOrphans(ctx context.Context) error {
	for {
		type orphan struct {
			table string
			row   int64
		}
		var orphans []orphan
		var keyed []string // tables without row numbers, of which the check names no row
		err := db.each(ctx, func(row scanner) error {
			var table string
			var id sql.NullInt64
			err := row.Scan(&table, &id)
			if id.Valid {
				orphans = append(orphans, orphan{table, id.Int64})
			} else if !slices.Contains(keyed, table) {
				keyed = append(keyed, table)
			}
			return err
		}, `SELECT "table", rowid FROM pragma_foreign_key_check`)
		if err != nil || len(orphans)+len(keyed) == 0 {
			return err
		}
		err = db.tx(ctx, func(t *tx) error {
			for _, o := range orphans {
				if err := t.exec("DELETE FROM "+o.table+" WHERE rowid = ?", o.row); err != nil {
					return err
				}
			}
			for _, table := range keyed {
				if err := t.dropKeyedOrphans(table); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// dropKeyedOrphans removes the rows of a table without row numbers whose parents
// are not there.
func (t *tx) dropKeyedOrphans(table string) error {
	rows, err := t.query(`SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq`, table)
	if err != nil {
		return err
	}
	parents, matches := map[int]string{}, map[int][]string{}
	for rows.Next() {
		var id int
		var parent, from, to string
		if err := rows.Scan(&id, &parent, &from, &to); err != nil {
			return errors.Join(err, rows.Close())
		}
		parents[id] = parent
		matches[id] = append(matches[id], fmt.Sprintf("p.%s = %s.%s", to, table, from))
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for id, parent := range parents {
		err := t.exec(fmt.Sprintf("DELETE FROM %s WHERE NOT EXISTS (SELECT 1 FROM %s p WHERE %s)", table, parent, strings.Join(matches[id], " AND ")))
		if err != nil {
			return err
		}
	}
	return nil
}
