package live

import (
	"hash/fnv"

	tea "charm.land/bubbletea/v2"

	"assay/engine/record"
	"assay/engine/stats"
	"assay/store"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// pageSize is how many rollouts are read at once: more than any screen has rows.
const pageSize = 256

// maxPages bounds what is kept of a list: some hundred thousand bytes.
const maxPages = 16

// rollouts is the list of one run: what is committed, read page by page as it
// comes into sight, and behind it what is in flight.
type rollouts struct {
	runID   string
	list    ui.List
	at      string                      // the rollout under the cursor, "" while that is not read
	goal    int                         // the row that the cursor is to be on, -1 where it is
	top     int                         // and the first row that is to be seen
	pages   map[int][]store.RolloutHead // by offset / pageSize
	total   int                         // committed
	known   bool                        // total was read
	flights []Flight

	counts  record.Counts
	counted bool
	arms    map[int]map[string]int // by batch: batches are heard and read more than once
	armed   bool
	pass    stats.Estimate
	heldOut bool
	passed  bool

	threshold float64
	theme     ui.Theme
	shownRows int // lines of the window when last drawn

	reading, passing, arming ui.Question
}

func newRollouts(runID string) *rollouts {
	return &rollouts{runID: runID, goal: -1, pages: map[int][]store.RolloutHead{}, arms: map[int]map[string]int{}}
}

// inFlight is how many are with the agent now.
func (v *rollouts) inFlight() int {
	n := 0
	for i := range v.flights {
		if !v.flights[i].Returned {
			n++
		}
	}
	return n
}

// Len is the number of rows.
func (v *rollouts) Len() int { return v.total + len(v.flights) }

// head is a committed rollout, nil where it is not read yet.
func (v *rollouts) head(i int) *store.RolloutHead {
	page := v.pages[i/pageSize]
	if at := i % pageSize; at < len(page) {
		return &page[at]
	}
	return nil
}

func (v *rollouts) flight(i int) *Flight {
	if i < v.total || i >= v.Len() {
		return nil
	}
	return &v.flights[i-v.total]
}

// id is the rollout of a row, "" where it is not known yet.
func (v *rollouts) id(i int) string {
	if f := v.flight(i); f != nil {
		return f.ID
	}
	if i < v.total {
		if h := v.head(i); h != nil {
			return h.ID
		}
	}
	return ""
}

// goTo puts the cursor on a row.
func (v *rollouts) goTo(row int) {
	v.list.Set(row, v.Len())
	v.pin()
}

// pin remembers which rollout the cursor is on: rows move as rollouts end.
func (v *rollouts) pin() {
	v.at = ""
	if v.Len() > 0 {
		v.at = v.id(v.list.Cursor())
	}
}

// fly takes what is in flight now. The cursor stays on its rollout.
func (v *rollouts) fly(flights []Flight) {
	v.flights = flights
	v.seekFlight()
}

func (v *rollouts) seekFlight() bool {
	for i := range v.flights {
		if v.flights[i].ID == v.at {
			v.list.Set(v.total+i, v.Len())
			return true
		}
	}
	return false
}

// take keeps a page that was read and reports whether the list grew. The cursor
// stays on its rollout, though that may have moved from the flights to what is
// committed.
func (v *rollouts) take(msg headsMsg) (grew bool) {
	grew = msg.total > v.total || !v.known
	v.total, v.known = msg.total, true
	if len(v.pages) >= maxPages {
		v.pages = map[int][]store.RolloutHead{}
	}
	v.pages[msg.offset/pageSize] = msg.heads
	if v.goal >= 0 {
		v.goTo(v.goal)
		v.list.SetTop(v.top)
		v.goal = -1
		return grew
	}
	if v.at == "" {
		v.list.Set(v.list.Cursor(), v.Len())
		v.pin()
		return grew
	}
	if v.seekFlight() {
		return grew
	}
	for i := range msg.heads {
		if msg.heads[i].ID == v.at {
			v.list.Set(msg.offset+i, v.Len())
		}
	}
	return grew
}

func (v *rollouts) read(m *Model, row int) tea.Cmd {
	if gen, now := v.reading.Ask(); now {
		return m.owned(readHeads(m.ctx, m.opts.Store, gen, v.runID, max(row, 0)/pageSize*pageSize))
	}
	return nil
}

// readTail reads the page where new rollouts appear, if it is in sight or its
// length matters.
func (v *rollouts) readTail(m *Model) tea.Cmd { return v.read(m, v.total) }

// readAround reads what is in sight and missing.
func (v *rollouts) readAround(m *Model) tea.Cmd { return v.readMissing(m, -1) }

// readMissing is readAround without the page that was just read: what that one
// does not hold is not there.
func (v *rollouts) readMissing(m *Model, justRead int) tea.Cmd {
	if !v.known {
		return v.read(m, 0)
	}
	list := v.list // a copy: looking does not scroll
	from, to := list.Window(v.Len(), max(m.rows(), 1))
	for _, row := range []int{from, to - 1, v.list.Cursor()} {
		if row >= 0 && row < v.total && row/pageSize != justRead && v.head(row) == nil {
			return v.read(m, row)
		}
	}
	return nil
}

func (v *rollouts) askPass(m *Model) tea.Cmd {
	if m.opts.Pass == nil {
		return nil
	}
	if gen, now := v.passing.Ask(); now {
		return m.owned(readPass(m.ctx, m.opts.Pass, gen, v.runID))
	}
	return nil
}

func (v *rollouts) askArms(m *Model) tea.Cmd {
	if v.armed {
		return nil
	}
	if gen, now := v.arming.Ask(); now {
		return m.owned(readArms(m.ctx, m.opts.Store, gen, v.runID))
	}
	return nil
}

// Version tells drawn rows apart.
func (v *rollouts) Version(i int) uint64 {
	if f := v.flight(i); f != nil {
		h := fnv.New64a()
		h.Write([]byte(f.ID))
		v := h.Sum64() ^ uint64(len(f.Steps))<<1 ^ uint64(f.Retries)<<40 | 1
		if f.Returned {
			v ^= 1 << 62
		}
		return v
	}
	if h := v.head(i); h != nil {
		hash := fnv.New64a()
		hash.Write([]byte(h.ID))
		return hash.Sum64() &^ 1
	}
	return 0
}

// Draw draws a row.
func (v *rollouts) Draw(i, width int, look ui.Look) string {
	t := v.theme
	if f := v.flight(i); f != nil {
		return drawFlight(t, look, f, width)
	}
	if h := v.head(i); h != nil {
		return transcript.DrawHead(t, h, width, look, v.threshold, false)
	}
	return ui.Row(width, t.Base(look), transcript.Cursor(t, look), ui.S(t.Quiet, "…"))
}

func drawFlight(t ui.Theme, look ui.Look, f *Flight, width int) string {
	base, cursor := t.Base(look), transcript.Cursor(t, look)
	mark := t.Running()
	ask := ""
	if f.Task != nil {
		ask = ui.Line(string(f.Task.Ask), width)
	}
	left := []ui.Span{cursor, ui.S(mark.Style, mark.Sign+" "), ui.S(t.Text, ask)}
	doing := "thinking"
	style := t.Quiet
	for i := len(f.Steps) - 1; i >= 0; i-- {
		if f.Steps[i].Kind == record.StepTool {
			doing, style = ui.Line(f.Steps[i].Tool, width), t.Tool
			if f.Steps[i].IsError {
				doing += " ✗"
			}
			break
		}
	}
	if f.Retries > 0 {
		doing = "again: " + doing
	}
	if f.Returned {
		mark, doing, style = t.Finished(), "being saved", t.Quiet
		left[1] = ui.S(mark.Style, mark.Sign+" ")
	}
	most := max(width/3, 10)
	return ui.Sides(width, base, left, []ui.Span{ui.S(style, " "+ui.Cut(doing, most)+" ")})
}
