package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// queryTime is how long a query that a person typed may take. Convention: longer than
// anybody waits without a reason.
const queryTime = 10 * time.Second

// What a query may bring into memory: one value, and all of them together. A longest
// transcript is kept whole in the file and is read with its rollout. Convention.
const (
	longestValue = 16 << 20
	mostText     = 64 << 20
)

// Table is what came of a query: the names of its columns and its rows as text.
type Table struct {
	Columns []string
	Rows    [][]string
	More    bool // there are more rows than were asked for, or than memory is given to
}

// Query answers a query that a person typed, with at most limit rows. It must be one
// SELECT: whatever would write, attach a file or change a setting is refused before it
// is asked, on a connection that could not write either. It is given ten seconds.
func (db *DB) Query(ctx context.Context, query string, limit int) (Table, error) {
	var t Table
	query = strings.TrimSpace(query)
	if err := oneSelect(query); err != nil {
		return t, err
	}
	timed, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	conn, err := db.read.Conn(timed) // of its own: what is asked once is not kept prepared
	if err != nil {
		return t, queryError(ctx, timed, err)
	}
	defer conn.Close()
	longest, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, longestValue)
	if err != nil {
		return t, queryError(ctx, timed, err)
	}
	defer sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, longest)
	// All of it is computed before its first row is given: the driver ends a query that
	// takes too long until then, and not between rows.
	rows, err := conn.QueryContext(timed, "WITH asked AS MATERIALIZED (SELECT * FROM (\n"+strings.TrimRight(query, "; \n\t")+"\n) LIMIT ?) SELECT * FROM asked", limit+1)
	if err != nil {
		return t, queryError(ctx, timed, err)
	}
	defer rows.Close()
	if t.Columns, err = rows.Columns(); err != nil {
		return t, queryError(ctx, timed, err)
	}
	room := mostText
	for rows.Next() {
		if len(t.Rows) == limit || room < 0 {
			t.More = true
			break
		}
		values := make([]any, len(t.Columns))
		dest := make([]any, len(values))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return t, queryError(ctx, timed, err)
		}
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = cellText(v)
			room -= len(row[i])
		}
		t.Rows = append(t.Rows, row)
	}
	return t, queryError(ctx, timed, rows.Err())
}

func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	case string:
		return v
	}
	return fmt.Sprint(v)
}

func queryError(ctx, timed context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case timed.Err() != nil:
		return &Error{Code: CodeInvalid, Where: "query", Message: fmt.Sprintf("the query took longer than %s", queryTime), Fix: "narrow it, for example to one run_no"}
	}
	var se *sqlite.Error
	if errors.As(err, &se) && se.Code()&0xff == sqlite3.SQLITE_TOOBIG {
		return &Error{Code: CodeInvalid, Where: "query", Message: "a value of the answer is over 16 MiB", Fix: "ask for a part of it with substr()"}
	}
	return &Error{Code: CodeInvalid, Where: "query", Message: "the query cannot be answered: " + err.Error(), Fix: "the tables are runs, tasks, rollouts, transcripts, judgments, markers, labels; see store/schema"}
}

// oneSelect refuses what is not a single SELECT.
func oneSelect(query string) error {
	refuse := func(why string) error {
		return &Error{Code: CodeInvalid, Where: "query", Message: why, Fix: "write one SELECT; nothing is written here"}
	}
	bare, ok := outsideQuotes(query)
	if !ok {
		return refuse("a quote or a comment is not closed")
	}
	words := strings.FieldsFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 || !slices.Contains([]string{"SELECT", "WITH", "VALUES"}, strings.ToUpper(words[0])) {
		return refuse("that is no SELECT")
	}
	if strings.ContainsAny(bare, "?:@$#") {
		return refuse("that has a parameter, and there is nothing to put for it")
	}
	if rest := strings.TrimRight(bare, "; \n\t"); strings.Contains(rest, ";") {
		return refuse("that is more than one statement")
	}
	depth := 0
	for _, r := range bare { // or a bracket would end what the query stands in
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			return refuse("a bracket is closed that was not opened")
		}
	}
	return nil
}

// outsideQuotes is a query without what stands in quotes and comments; ok is false
// where one of them has no end.
func outsideQuotes(query string) (bare string, ok bool) {
	var b strings.Builder
	ends := map[string]string{"'": "'", `"`: `"`, "`": "`", "[": "]", "--": "\n", "/*": "*/"}
	for query != "" {
		at, opens := len(query), ""
		for open := range ends {
			if i := strings.Index(query, open); i >= 0 && i < at {
				at, opens = i, open
			}
		}
		b.WriteString(query[:at])
		if opens == "" {
			return b.String(), true
		}
		rest := query[at+len(opens):]
		end := strings.Index(rest, ends[opens])
		if end < 0 {
			return b.String(), opens == "--"
		}
		b.WriteByte(' ')
		query = rest[end+len(ends[opens]):]
	}
	return b.String(), true
}
