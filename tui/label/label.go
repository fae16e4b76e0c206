package label

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/transcript"
	"assay/tui/ui"
)

// Store is what the screen reads and writes. None of it tells a verdict of a judge
// or another person's label.
type Store interface {
	Run(ctx context.Context, runID string) (*record.Run, error)
	Rubric(ctx context.Context, hash string) (record.Rubric, error)
	Queues(ctx context.Context, runID string) ([]record.QueueHead, error)
	Cards(ctx context.Context, runID, queue, annotator string) ([]record.Card, error)
	BlindSample(ctx context.Context, rolloutID string) (*record.Sample, error)
	LabelCard(ctx context.Context, runID, queue string, position int, label record.Label) (record.Label, error)
	TakeBack(ctx context.Context, runID, queue string, position int, annotator string) (record.Label, error)
	Draft(ctx context.Context, rolloutID, annotator string) (record.Text, error)
	SaveDraft(ctx context.Context, d record.Draft) error
	Tags(ctx context.Context) ([]record.Tag, error)
	SaveTag(ctx context.Context, tag record.Tag) error
	SiblingPairs(ctx context.Context, runID string, tasks int) ([]record.SiblingPair, error)
	OwnPreferences(ctx context.Context, runID, annotator string) ([]record.Preference, error)
	AddPreference(ctx context.Context, p record.Preference) (no int64, err error)
}

// Engine is what the screen asks of the engine; [engine.Engine] has it.
type Engine interface {
	// Queue draws a labelling queue, or goes on with the one of that name.
	Queue(ctx context.Context, runID string, o engine.QueueOptions) (record.QueueHead, error)
	// Meter reads how far a run's gold has come.
	Meter(ctx context.Context, runID string) (*engine.Meter, error)
}

// Options of the screen.
type Options struct {
	Store  Store
	Engine Engine
	// Annotator is who sits at the keyboard, "" where nobody is named.
	Annotator string
	// Queue is the one that a run is opened with; the zero value is the mixed one.
	Queue engine.QueueOptions
	Now   func() time.Time
	Theme ui.Theme
}

// seenAfter is how long a card must have been drawn before a key that judges is
// taken: three frames of 17 ms, so that the terminal has it, and less than anybody
// needs to read a word. Convention, untested.
const seenAfter = 50 * time.Millisecond

// pane is what stands in the large part of the screen.
type pane int

const (
	paneCard pane = iota
	paneRubric
)

// editing is what is typed into the line.
type editing int

const (
	editNothing editing = iota
	editNote
	editTag
)

// card is the rollout that is shown.
type card struct {
	at    int // index into cards
	doc   *transcript.Doc
	note  record.Text
	tags  map[string]bool
	drawn time.Time // when it was first drawn, zero before
}

// Model is the screen.
type Model struct {
	ctx   context.Context
	opts  Options
	theme ui.Theme
	epoch int // of the queue that is open, for answers

	runID  string
	run    *record.Run
	wanted engine.QueueOptions // the queue that was asked for
	queue  record.QueueHead
	queues []record.QueueHead // those that this annotator may go on with
	cards  []record.Card
	tags   []record.Tag
	err    error
	busy   bool // the queue is being read

	at      int // the card that is to be shown
	shown   *card
	next    *card // read ahead, while the one before is being judged
	reading ui.Question
	ahead   ui.Question
	saving  bool
	trail   []int            // cards labelled in this sitting, the last one last
	given   map[int][]string // tags that went with labels of this sitting, by card
	done    int              // labels of this sitting, less those taken back
	spent   time.Duration
	last    string // what was saved last
	lastBad bool
	goal    int // the place to go back to, -1 for the first without a label

	metering ui.Question
	meter    *engine.Meter
	asked    bool // the judge's numbers may be shown

	pairs  *pairs // nil where cards are shown
	pane   pane
	play   ui.Scroll
	search transcript.Search
	leaf   *leaf
	page   ui.Scroll
	edit   editing
	field  ui.Field
	unsent string // a half-written note of another day

	top, height int // of the large part when last drawn
}

// New is a screen without a run; Enter gives it one.
func New(ctx context.Context, o Options) *Model {
	return &Model{ctx: ctx, opts: o, theme: o.Theme, goal: -1}
}

// Enter opens the run's queue, or one of the rollouts that were picked out.
func (m *Model) Enter(v ui.Visit) tea.Cmd {
	wanted := m.opts.Queue
	if len(v.Rollouts) > 0 {
		wanted = pickedQueue(v.Rollouts)
	}
	switch {
	case v.Run == "":
		return nil
	case v.Run == m.runID && (len(v.Rollouts) == 0 || wanted.Name == m.queue.Queue):
		if m.cards == nil && !m.busy {
			return m.openQueue(m.wanted)
		}
		return m.readMeter()
	}
	m.clear()
	m.runID = v.Run
	return m.openQueue(wanted)
}

// clear forgets the run.
func (m *Model) clear() {
	*m = Model{ctx: m.ctx, opts: m.opts, theme: m.theme, epoch: m.epoch + 1, goal: -1}
}

// Run is the run that is labelled.
func (m *Model) Run() string { return m.runID }

// TakesDigits is true: digits are the tags.
func (m *Model) TakesDigits() bool { return m.runID != "" && m.opts.Annotator != "" }

// Update takes a message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case answer:
		if msg.epoch == m.epoch && msg.of == m {
			return m.answered(msg.msg)
		}
	case ui.ChangedMsg:
		if msg.Runs[m.runID] && m.err != nil && !m.busy {
			return m.openQueue(m.wanted) // it may have come to its end
		}
	case tea.PasteMsg:
		switch {
		case m.search.Typing:
			m.search.Field.Insert(msg.Content)
		case m.Typing():
			m.field.Insert(msg.Content)
		}
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case tea.MouseClickMsg:
		m.click(msg)
	}
	return nil
}

// Restyle changes the theme.
func (m *Model) Restyle(t ui.Theme) {
	m.theme = t
	m.play.Forget()
	m.page.Forget()
	for _, c := range []*card{m.shown, m.next} {
		if c != nil {
			c.doc.Restyle(t)
		}
	}
	if m.leaf != nil {
		m.leaf.theme = t
	}
	if m.pairs != nil && m.pairs.shown != nil {
		m.pairs.scroll.Forget()
		m.pairs.shown.Restyle(t)
	}
}

// Where says which queue is gone through, and by whom.
func (m *Model) Where() string {
	if m.queue.Queue == "" {
		return ""
	}
	return ui.Line(m.runName(), 40) + "  ·  " + ui.Line(m.opts.Annotator, 24) + "  ·  queue " + ui.Line(m.queue.Queue, 40)
}

func (m *Model) runName() string {
	if m.run != nil && m.run.Name != "" {
		return m.run.Name
	}
	return m.runID
}

// Status is the card that is shown.
func (m *Model) Status() []ui.Span {
	if p := m.pairs; p != nil {
		return []ui.Span{ui.S(m.theme.Text, "pair "+ui.Count(p.at+1)), ui.S(m.theme.Quiet, " of "+ui.Count(len(p.list)))}
	}
	if m.shown == nil {
		return nil
	}
	return []ui.Span{ui.S(m.theme.Text, "card "+ui.Count(m.shown.at+1)), ui.S(m.theme.Quiet, " of "+ui.Count(len(m.cards)))}
}

// ready reports whether a key that judges may be taken: the card is the one that is
// to be shown, nothing is on its way, and it was drawn long enough to be seen.
func (m *Model) ready() bool {
	c := m.shown
	return c != nil && c.at == m.at && !m.saving && m.pane == paneCard && !c.drawn.IsZero() && m.opts.Now().Sub(c.drawn) >= seenAfter
}
