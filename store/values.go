package store

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"assay/engine/record"
)

// timeLayout has a fixed width, so that times sort as text.
const timeLayout = "2006-01-02T15:04:05.000000Z"

func timeText(t time.Time) string { return t.UTC().Format(timeLayout) }

// timeValue is a time as it is kept; the zero time is null.
func timeValue(t time.Time) driver.Value {
	if t.IsZero() {
		return nil
	}
	return timeText(t)
}

func parseTime(s sql.NullString) (time.Time, error) {
	if !s.Valid {
		return time.Time{}, nil
	}
	return time.Parse(timeLayout, s.String)
}

// times parses columns into the times behind them.
func times(pairs ...any) error {
	for i := 0; i < len(pairs); i += 2 {
		t, err := parseTime(pairs[i].(sql.NullString))
		if err != nil {
			return err
		}
		*pairs[i+1].(*time.Time) = t
	}
	return nil
}

// exactTexts collects what a row's cleaned columns cannot hold: a JSON object of
// column to exact text.
type exactTexts struct{ members []byte }

// text is t as a readable column holds it.
func (e *exactTexts) text(column string, t record.Text) driver.Value {
	clean, changed := t.Clean()
	if strings.IndexByte(clean, 0) >= 0 {
		// SQLite keeps a NUL, but its shell and its functions stop reading there.
		clean, changed = strings.ReplaceAll(clean, "\x00", "\uFFFD"), true
	}
	if changed {
		quoted, _ := t.MarshalJSON() // never fails
		e.members = append(e.members, ',')
		e.members = fmt.Appendf(e.members, "%q:%s", column, quoted)
	}
	return clean
}

// optional is text that is null where it is empty.
func (e *exactTexts) optional(column string, t record.Text) driver.Value {
	if t == "" {
		return nil
	}
	return e.text(column, t)
}

// value is the exact column: null where every text was clean.
func (e *exactTexts) value() driver.Value {
	if len(e.members) == 0 {
		return nil
	}
	return "{" + string(e.members[1:]) + "}"
}

// texts puts columns back into the texts behind them, as they were given.
type texts struct {
	columns []string
	clean   []*sql.NullString
	dest    []*record.Text
}

func (x *texts) add(column string, clean *sql.NullString, dest *record.Text) {
	x.columns, x.clean, x.dest = append(x.columns, column), append(x.clean, clean), append(x.dest, dest)
}

func (x *texts) restore(exact sql.NullString) error {
	var kept map[string]record.Text
	if exact.Valid {
		if err := json.Unmarshal([]byte(exact.String), &kept); err != nil {
			return unreadable(fmt.Errorf("exact texts: %w", err))
		}
	}
	for i, column := range x.columns {
		if t, ok := kept[column]; ok {
			*x.dest[i] = t
		} else {
			*x.dest[i] = record.Text(x.clean[i].String)
		}
	}
	return nil
}

// optional is a string that is null where it is empty.
func optional[S ~string](s S) driver.Value {
	if s == "" {
		return nil
	}
	return string(s)
}

// rawValue is received JSON as its bytes, null where there is none.
func rawValue(raw json.RawMessage) driver.Value {
	if len(raw) == 0 {
		return nil
	}
	return string(raw)
}

func rawOf(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	return json.RawMessage(s.String)
}

// jsonValue is v as JSON, null where empty says so.
func jsonValue(v any, empty bool) (driver.Value, error) {
	if empty {
		return nil, nil
	}
	raw, err := record.Marshal(v)
	return string(raw), err
}

// fromJSON reads a JSON column into dest and leaves it where the column is null.
func fromJSON(s sql.NullString, dest any) error {
	if !s.Valid {
		return nil
	}
	return unreadable(json.Unmarshal([]byte(s.String), dest))
}

func boolValue(b bool) driver.Value {
	if b {
		return int64(1)
	}
	return int64(0)
}

// numberValue keeps what SQL numbers cannot hold by its name: SQLite would make
// NaN a null.
func numberValue(p *float64) driver.Value {
	switch {
	case p == nil:
		return nil
	case math.IsNaN(*p):
		return "NaN"
	case math.IsInf(*p, 1):
		return "Infinity"
	case math.IsInf(*p, -1):
		return "-Infinity"
	}
	return *p
}

// number scans what numberValue kept.
type number struct{ dest **float64 }

func (n number) Scan(v any) error {
	var f float64
	switch v := v.(type) {
	case nil:
		*n.dest = nil
		return nil
	case float64:
		f = v
	case int64:
		f = float64(v)
	case string:
		switch v {
		case "NaN":
			f = math.NaN()
		case "Infinity":
			f = math.Inf(1)
		case "-Infinity":
			f = math.Inf(-1)
		default:
			return fmt.Errorf("%q is not a number", v)
		}
	default:
		return fmt.Errorf("%T is not a number", v)
	}
	*n.dest = &f
	return nil
}

func micros(d time.Duration) driver.Value { return d.Microseconds() }

func ofMicros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
