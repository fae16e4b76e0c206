package exchange

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"assay/engine/record"
	"assay/store"
)

// Rows yields a run's rollouts as public rows, ordered by (eval_run, task_id, k),
// with their gold.
func Rows(ctx context.Context, db *store.DB, runID string, q record.SampleQuery) iter.Seq2[record.Row, error] {
	return func(yield func(record.Row, error) bool) {
		run, err := db.Run(ctx, runID)
		if err != nil {
			yield(record.Row{}, err)
			return
		}
		gold, err := db.GoldOf(ctx, runID)
		if err != nil {
			yield(record.Row{}, err)
			return
		}
		for s, err := range db.Samples(ctx, runID, q) {
			if err != nil {
				yield(record.Row{}, err)
				return
			}
			if !yield(rowOf(run, s, gold), nil) {
				return
			}
		}
	}
}

func rowOf(run *record.Run, s *record.Sample, gold map[string]record.Gold) record.Row {
	c := record.RowContext{Run: run, SystemPrompt: run.SystemPrompt, Tools: run.Tools}
	if g, ok := gold[s.Rollout.ID]; ok {
		c.Gold = &g
	}
	r := record.NewRow(s, c)
	// A reward that came with a file goes out under the name it came with.
	r.JudgeName = strings.TrimPrefix(r.JudgeName, "import:")
	return r
}

// WriteRows writes a run's rows as JSON lines and says how many.
func WriteRows(ctx context.Context, db *store.DB, runID string, q record.SampleQuery, w io.Writer) (int, error) {
	w = masked{w, db.Masker()}
	n := 0
	for row, err := range Rows(ctx, db, runID, q) {
		if err != nil {
			return n, err
		}
		if err := writeLine(w, row); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// ExportRows writes a run's rows, lost ones too, into a file, whole or not at all.
func ExportRows(ctx context.Context, db *store.DB, runID, file string) (int, error) {
	pending, err := createPending(file)
	if err != nil {
		return 0, err
	}
	q := record.SampleQuery{Statuses: []record.Status{record.StatusDone, record.StatusLost}}
	n, err := WriteRows(ctx, db, runID, q, pending)
	if err == nil && n == 0 {
		err = nothingToWrite(runID, "the run has no finished rollout")
	}
	if err != nil {
		return 0, errors.Join(err, pending.discard())
	}
	return n, pending.finish(func() error { return nil })
}

func nothingToWrite(where, why string) error {
	return &store.Error{Code: store.CodeInvalid, Where: where, Message: "there is nothing to write: " + why, Fix: "no file was made"}
}

// masked writes lines without the values of known keys: what was stored before a
// key was known, and what another program wrote into the file, holds them still.
// Each Write must be a whole line.
type masked struct {
	w    io.Writer
	mask *record.Masker
}

func (m masked) Write(line []byte) (int, error) {
	if _, err := m.w.Write(m.mask.Raw(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// writeLine writes one value as one line of JSON, in one Write. Characters that
// would act on a terminal are escaped.
func writeLine(w io.Writer, v any) error {
	raw, err := record.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(record.EscapeHidden(raw), '\n'))
	return err
}
