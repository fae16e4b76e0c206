package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/engine/record"
	"assay/store"
	"assay/store/exchange"
)

func rowsCommand(s *session) *cobra.Command {
	var where, fields string
	var canonical bool
	c := &cobra.Command{
		Use:   "rows RUN",
		Short: "Print a run's rollouts as JSON lines",
		Long: "Print a run's rollouts as JSON lines, in the order of (eval run, task, k).\n\n" +
			"--where keeps rows by conditions between spaces, all of which must hold; a - before one is its contrary:\n" +
			"  reward=0  verdict=fail  status=lost  cause=agent  held_out=true  task_id=...  k=2  arm=structured  steps>6\n" +
			"  tool:NAME (called it)  stance=adversarial (any axis; a,b is either)  fault=timeout (fault= is none)\n" +
			"  marker:NAME<1  k-split (the task's verdicts differ)  judge!=gold  \"words\" (together in what was said)",
		Example: "assay rows last\nassay rows last --where 'reward=0 stance=adversarial' --fields task_id,final_text",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if _, err := store.ParseFilter(where); err != nil {
				return err
			}
			names, err := parseFields(fields)
			if err != nil {
				return err
			}
			if canonical && (fields != "" || s.json) {
				return record.Problemf("usage", "leave out --fields and --json", "--canonical prints whole rows as lines")
			}
			return s.withRun(ctx, s.read, args[0], func(db *store.DB, id string) error {
				return s.writeRows(ctx, db, id, where, names, canonical)
			})
		},
	}
	c.Flags().StringVar(&where, "where", "", "keep only the rows that meet this")
	c.Flags().StringVar(&fields, "fields", "", "only these members, between commas")
	c.Flags().BoolVar(&canonical, "canonical", false, "the form for comparing two runs: RFC 8785, without ids of the run, times and attempts")
	return c
}

func parseFields(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := strings.Split(list, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
		if !slices.Contains(record.RowMembers(), names[i]) {
			return nil, record.Problemf("unknown_field", "use members of "+strings.Join(record.RowMembers(), ", "), "%q is no member of a row", names[i])
		}
	}
	return names, nil
}

// writeRows streams rows in bounded memory. With --json they are one document, an
// array.
func (s *session) writeRows(ctx context.Context, db *store.DB, runID, where string, fields []string, canonical bool) error {
	w := bufio.NewWriterSize(s.out, 1<<16)
	n := 0
	query := record.SampleQuery{Statuses: []record.Status{record.StatusDone, record.StatusLost}, Where: where}
	for row, err := range exchange.Rows(ctx, db, runID, query) {
		if err != nil {
			return err
		}
		line, err := rowLine(&row, fields, canonical)
		if err != nil {
			return fmt.Errorf("row %s: %w", row.RolloutID, err)
		}
		if canonical { // RFC 8785 says which characters are escaped
			line = s.mask.Raw(line)
		} else {
			line = s.shown(line)
		}
		if s.json {
			w.WriteString(separator(n))
		}
		n++
		w.Write(line)
		if !s.json {
			w.WriteByte('\n')
		}
	}
	if s.json {
		if n == 0 {
			w.WriteByte('[')
		}
		w.WriteString("]\n")
	}
	return w.Flush()
}

// separator opens the JSON array or goes on in it.
func separator(n int) string {
	if n == 0 {
		return "["
	}
	return ",\n"
}

func rowLine(row *record.Row, fields []string, canonical bool) ([]byte, error) {
	if canonical {
		return row.Canonical()
	}
	line, err := record.Marshal(row)
	if err != nil || fields == nil {
		return line, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(line, &all); err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		value := all[name]
		if value == nil {
			value = json.RawMessage("null")
		}
		fmt.Fprintf(&b, "%q:%s", name, value)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}
