package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// idleBeforeWords is how long nobody must have written before the text index goes
	// on: longer than the pause between two groups of a run (33 ms). Convention, untested.
	idleBeforeWords = 250 * time.Millisecond
	// wordsPerTx is how many transcripts are indexed in one transaction: a writer that
	// comes waits for one of them, some tens of milliseconds. Convention, untested.
	wordsPerTx = 100
	// wordsAtClose bounds how many transcripts are still indexed when the store is
	// closed: a second or two. The rest waits for the next time. Convention, untested.
	wordsAtClose = 5000
)

// wordIndexer builds the text index behind the run, when the writer is idle.
type wordIndexer struct {
	db     *DB
	woken  chan struct{}
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func (x *wordIndexer) start(db *DB) {
	ctx, cancel := context.WithCancel(context.Background())
	x.db, x.woken, x.cancel = db, make(chan struct{}, 1), cancel
	x.wake()
	x.done.Go(func() { x.run(ctx) })
}

// wake says that there was a write.
func (x *wordIndexer) wake() {
	select {
	case x.woken <- struct{}{}:
	default:
	}
}

func (x *wordIndexer) run(ctx context.Context) {
	idle := time.NewTimer(0)
	defer idle.Stop()
	idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.woken:
			idle.Reset(idleBeforeWords)
		case <-idle.C:
			if more, err := x.db.IndexWords(ctx, wordsPerTx); err == nil && more {
				idle.Reset(0)
			}
		}
	}
}

// stop ends the building, after a last bounded piece of it.
func (x *wordIndexer) stop() error {
	x.cancel()
	x.done.Wait()
	for range wordsAtClose / wordsPerTx {
		more, err := x.db.IndexWords(context.Background(), wordsPerTx)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// IndexWords adds up to limit transcripts to the text index and says whether there
// may be more.
func (db *DB) IndexWords(ctx context.Context, limit int) (more bool, err error) {
	if db.readOnly || db.damaged.Load() {
		return false, nil
	}
	var pending bool
	err = db.read.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM rollouts WHERE rollout_no > (SELECT indexed_to FROM words_state))").Scan(&pending)
	if err != nil || !pending {
		return false, explain(db.path, err)
	}
	err = db.write.do(ctx, func(t *tx) error {
		rows, err := t.query(`SELECT r.rollout_no, ifnull(x.prompt, k.ask), x.steps, x.final_text FROM rollouts r JOIN transcripts x USING (rollout_no) JOIN tasks k USING (task_id)
			WHERE r.rollout_no > (SELECT indexed_to FROM words_state) ORDER BY r.rollout_no LIMIT ?`, limit)
		if err != nil {
			return err
		}
		texts, last, err := transcriptWords(rows)
		if err != nil || len(texts) == 0 {
			return err
		}
		for _, w := range texts {
			if err := t.exec("INSERT INTO transcript_words (rowid, words) VALUES (?, ?)", w.rollout, w.words); err != nil {
				return err
			}
		}
		more = len(texts) == limit
		return t.exec("UPDATE words_state SET indexed_to = ?", last)
	})
	return more && err == nil, explain(db.path, err)
}

type rolloutWords struct {
	rollout int64
	words   string
}

func transcriptWords(rows *sql.Rows) (list []rolloutWords, last int64, err error) {
	defer rows.Close()
	for rows.Next() {
		var w rolloutWords
		var ask, steps, final string
		if err := rows.Scan(&w.rollout, &ask, &steps, &final); err != nil {
			return nil, 0, err
		}
		var b strings.Builder
		appendWords(&b, ask)
		stepWords(&b, steps)
		appendWords(&b, final)
		w.words = b.String()
		list, last = append(list, w), w.rollout
	}
	return list, last, rows.Err()
}

// stepWords takes the text out of steps: every string but the names of the steps'
// own members. Steps that cannot be read to their end give what was read.
func stepWords(b *strings.Builder, steps string) {
	dec := jsontext.NewDecoder(bytes.NewReader([]byte(steps)), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) || err != nil {
			return
		}
		if token.Kind() != '"' {
			continue
		}
		kind, length := dec.StackIndex(dec.StackDepth())
		isName := kind == '{' && length%2 == 1
		if isName && dec.StackDepth() == stepDepth {
			continue
		}
		appendWords(b, token.String())
	}
}

// stepDepth is the depth of a step's own members: the array, then the step.
const stepDepth = 2

// appendWords adds text with a space around every letter of a script that is
// written without spaces, so that each is a word and a phrase of them is found
// inside a longer run.
func appendWords(b *strings.Builder, text string) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	for _, r := range text {
		if unspaced(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(r)
	}
}

func unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// WordsPending is how many transcripts are not in the text index yet.
func (db *DB) WordsPending(ctx context.Context) (int, error) {
	var n int
	err := db.read.QueryRowContext(ctx, "SELECT count(*) FROM rollouts WHERE rollout_no > (SELECT indexed_to FROM words_state)").Scan(&n)
	return n, explain(db.path, err)
}

// FindText is the ids of a run's rollouts whose transcript holds every word of
// text, in the order of their commit, at most limit of them, and how many
// transcripts of the whole file the index does not hold yet. A word that ends
// in * is the beginning of a word; "words in quotes" stand together. Nothing
// else in text has a meaning.
func (db *DB) FindText(ctx context.Context, runID, text string, limit int) (ids []string, pending int, err error) {
	match := matchOf(text)
	if match == "" {
		return nil, 0, &Error{Code: CodeInvalid, Where: "search", Message: "there is no word to search for", Fix: "give one"}
	}
	if pending, err = db.WordsPending(ctx); err != nil {
		return nil, 0, err
	}
	ids, err = db.strings(ctx, `SELECT r.rollout_id FROM transcript_words w JOIN rollouts r ON r.rollout_no = w.rowid
		WHERE w.words MATCH ? AND r.run_no = (SELECT run_no FROM runs WHERE run_id = ?) ORDER BY w.rowid LIMIT ?`, match, runID, limit)
	return ids, pending, err
}

// matchOf is text as a query of FTS5: every part a quoted string.
func matchOf(text string) string {
	var parts []string
	for i, piece := range strings.Split(text, `"`) {
		words := strings.Fields(piece)
		if i%2 == 1 {
			words = []string{piece}
		}
		for _, w := range words {
			if part := matchPart(w); part != "" {
				parts = append(parts, part)
			}
		}
	}
	return strings.Join(parts, " AND ")
}

func matchPart(word string) string {
	if !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	stem, prefix := strings.CutSuffix(word, "*")
	var b strings.Builder
	appendWords(&b, strings.ReplaceAll(stem, "\x00", " "))
	part := `"` + b.String() + `"`
	if prefix {
		part += "*"
	}
	return part
}
