package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"assay/engine"
	"assay/engine/grade"
	"assay/engine/record"
	"assay/store"
)

func labelCommand(s *session) *cobra.Command {
	var byRow bool
	var annotator, order, queue string
	var o engine.QueueOptions
	c := &cobra.Command{
		Use:   "label RUN",
		Short: "Label a run's rollouts by hand, blind",
		Long: "Label a run's rollouts by hand. Rows come from a queue: half of it is drawn at random and counts towards\n" +
			"trust in the judge, the rest is what teaches most, and a tenth is shown again unannounced. The judge's\n" +
			"verdict and the labels of others are not read. Each label is on disk before the next row is shown.\n\n" +
			"It opens the app on its screen Label; ? there lists the keys. --plain needs no screen: it reads one line a row: p pass, f fail, e unsure, s skip, each with a note behind it if you like;\n" +
			"n NOTE keeps a note for later, u takes the last label back, r shows rubric and policy, q leaves.",
		Example: "assay label last\nassay label last --plain\nassay label last --plain --annotator ana --order random",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if annotator == "" {
				annotator = s.person()
			}
			if annotator == "" {
				return record.Problemf("no_annotator", "name yourself with --annotator", "nobody is named who labels, and $USER is empty")
			}
			o.Order = grade.Order(order)
			if !byRow {
				o.Name = queue
				return s.labelInApp(c.Context(), args[0], annotator, o)
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			return s.withRun(ctx, s.open, args[0], func(db *store.DB, id string) error {
				l, err := s.newLabeller(ctx, db, id, annotator, queue, o)
				if err != nil {
					return err
				}
				return l.run(ctx)
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&byRow, "plain", false, "ask row by row, on stdin and stdout")
	f.StringVar(&annotator, "annotator", "", "who labels (default $USER)")
	f.StringVar(&order, "order", "", "mixed (default), random or listed")
	f.IntVar(&o.Rows, "rows", 0, "how many rows a new queue holds (default what trust may need)")
	f.StringVar(&queue, "queue", "", "go on with a queue by its name")
	return c
}

// person is who sits at the keyboard, as the system knows them.
func (s *session) person() string {
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if v := s.getenv(name); v != "" {
			return v
		}
	}
	return ""
}

// labelResult is what came of a labelling session.
type labelResult struct {
	Run       string `json:"run"`
	Queue     string `json:"queue"`
	Annotator string `json:"annotator"`
	Labelled  int    `json:"labelled"` // acts of this session
	TakenBack int    `json:"taken_back"`
	Left      int    `json:"left"` // cards without a label of theirs
	ToSettle  int    `json:"to_settle"`
	Counted   int    `json:"counted"`
	NextLook  int    `json:"next_look"`
	LastLook  int    `json:"last_look"` // whose word stands, 0 before the first
	Tied      int    `json:"tied"`      // rows without gold, as their votes are tied
}

// labeller asks one person about the cards of one queue.
type labeller struct {
	s      *session
	db     *store.DB
	engine *engine.Engine
	out    io.Writer // where cards and prompts go
	cards  []record.Card
	at     int   // the card shown
	trail  []int // cards labelled in this session, the last one last
	help   string
	result labelResult
	shown  time.Time
}

func (s *session) newLabeller(ctx context.Context, db *store.DB, runID, annotator, queue string, o engine.QueueOptions) (*labeller, error) {
	l := &labeller{s: s, db: db, engine: s.newEngine(db, nil), out: s.out}
	if s.json {
		l.out = s.err
	}
	if queue == "" {
		head, err := l.engine.Queue(ctx, runID, o)
		if err != nil {
			return nil, err
		}
		queue = head.Queue
	}
	var err error
	if l.cards, err = db.Cards(ctx, runID, queue, annotator); err != nil {
		return nil, err
	}
	l.result = labelResult{Run: runID, Queue: queue, Annotator: annotator}
	l.help, err = rubricAndPolicy(ctx, db, runID)
	return l, err
}

// rubricAndPolicy are what a label is given by.
func rubricAndPolicy(ctx context.Context, db *store.DB, runID string) (string, error) {
	run, err := db.Run(ctx, runID)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, scorer := range run.Scorers {
		if scorer.ID != run.Scorer || scorer.RubricHash == "" {
			continue
		}
		rubric, err := db.Rubric(ctx, scorer.RubricHash)
		if err == nil {
			fmt.Fprintf(&b, "rubric:\n%s\n", indent(string(rubric.Text)))
		} else if store.CodeOf(err) != store.CodeNotFound {
			return "", err
		}
	}
	if run.SystemPrompt != "" {
		fmt.Fprintf(&b, "policy:\n%s\n", indent(string(run.SystemPrompt)))
	}
	if b.Len() == 0 {
		return "this run has neither rubric nor policy\n", nil
	}
	return b.String(), nil
}

// run asks until the queue, the input or the person ends it.
func (l *labeller) run(ctx context.Context) error {
	lines := readLines(l.s.in)
	fmt.Fprintf(l.out, "queue %s of run %s, labelled by %s: %d cards. A line for each:\n%s", plain(l.result.Queue), plain(l.result.Run), plain(l.result.Annotator), len(l.cards), keysOfPlain)
	l.at = l.next(0)
	var err error
	for ask := true; l.at < len(l.cards) && err == nil; {
		if ask {
			if err = l.show(ctx); err != nil {
				break
			}
		}
		fmt.Fprint(l.out, "p f e s n u r q > ")
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case line, ok := <-lines:
			if !ok {
				fmt.Fprintln(l.out)
				return l.end(ctx)
			}
			ask, err = l.answer(ctx, line)
		}
	}
	switch {
	case errors.Is(err, errLeave):
		return l.end(ctx)
	case ctx.Err() != nil:
		fmt.Fprintf(l.out, "\ninterrupted: saved of this session: %s\n", record.Counted(l.result.Labelled, "label"))
		return exitStatus(exitInterrupted)
	case err != nil:
		return err
	}
	fmt.Fprintln(l.out, "the queue is at its end")
	return l.end(ctx)
}

// keysOfPlain are what a line can say.
const keysOfPlain = "  p pass   f fail   e unsure   s skip, each with a note behind it if you like\n" +
	"  n NOTE keeps a note for later   u takes the last label back\n" +
	"  r shows the rubric and the policy   q leaves; what was said is saved\n"

// errLeave ends a session that the person leaves.
var errLeave = errors.New("leave")

// readLines gives the lines of r one by one and closes the channel at its end. A
// read cannot be taken back, so the goroutine ends with the input or the process.
func readLines(r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			if line != "" {
				lines <- strings.TrimSpace(line)
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// next is the first card from a place on that has no label yet.
func (l *labeller) next(from int) int {
	for i := from; i < len(l.cards); i++ {
		if l.cards[i].Verdict == "" {
			return i
		}
	}
	return len(l.cards)
}

// show prints the card: the conversation, and a note that was begun.
func (l *labeller) show(ctx context.Context) error {
	c := l.cards[l.at]
	sample, err := l.db.BlindSample(ctx, c.RolloutID)
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "\ncard %d of %d\n", l.at+1, len(l.cards))
	writeConversation(l.out, sample)
	note, err := l.db.Draft(ctx, c.RolloutID, l.result.Annotator)
	if err != nil {
		return err
	}
	if note != "" {
		fmt.Fprintf(l.out, "  your note: %s\n", plain(string(note)))
	}
	l.shown = time.Now()
	return nil
}

func writeConversation(w io.Writer, s *record.Sample) {
	ask := s.Rollout.Prompt
	if ask == "" {
		ask = s.Task.Ask
	}
	say := func(who string, text record.Text) {
		fmt.Fprintf(w, "%s:\n%s\n", who, indent(string(text)))
	}
	say("user", ask)
	for i := range s.Rollout.Steps {
		switch step := &s.Rollout.Steps[i]; step.Kind {
		case record.StepUser:
			say("user", step.Text)
		case record.StepText:
			say("agent", step.Text)
		case record.StepTool:
			say("agent calls "+plain(step.Tool), record.Text(step.Arguments))
			result := "result"
			if step.IsError {
				result = "result, an error"
			}
			say(result, record.Text(step.Result))
		}
	}
	say("agent", s.Rollout.FinalText)
}

// lineWidth is where lines end: the terminal would break them inside words.
const lineWidth = 80

// indent is text made safe for a terminal, two spaces before each line.
func indent(text string) string {
	return "  " + strings.ReplaceAll(ansi.Wordwrap(plain(strings.TrimRight(text, "\n")), lineWidth-2, ""), "\n", "\n  ")
}

var verdicts = map[string]record.Verdict{"p": record.VerdictPass, "f": record.VerdictFail, "e": record.VerdictUnsure, "s": record.VerdictSkip}

// answer does what a line asks for. again says that a card is to be shown.
func (l *labeller) answer(ctx context.Context, line string) (again bool, err error) {
	key, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if v, ok := verdicts[key]; ok {
		return true, l.label(ctx, v, record.Text(rest))
	}
	switch {
	case key == "q" && rest == "":
		return false, errLeave
	case key == "u" && rest == "":
		return l.undo(ctx)
	case key == "r" && rest == "":
		fmt.Fprint(l.out, l.help)
	case key == "n":
		return false, l.keepNote(ctx, record.Text(rest))
	default:
		fmt.Fprint(l.out, "nothing was saved:\n", keysOfPlain)
	}
	return false, nil
}

// label saves a verdict and moves on. What it prints is true when it is printed.
func (l *labeller) label(ctx context.Context, v record.Verdict, note record.Text) error {
	c := &l.cards[l.at]
	if note == "" {
		var err error
		if note, err = l.db.Draft(ctx, c.RolloutID, l.result.Annotator); err != nil {
			return err
		}
	}
	now := time.Now()
	_, err := l.db.LabelCard(ctx, l.result.Run, l.result.Queue, c.Position, record.Label{Annotator: l.result.Annotator, Verdict: v, Note: note,
		Kind: record.GoldHuman, Took: now.Sub(l.shown), At: now})
	if err != nil {
		return err
	}
	c.Verdict = v
	l.trail = append(l.trail, l.at)
	l.result.Labelled++
	fmt.Fprintf(l.out, "saved: %s for card %d\n", v, l.at+1)
	l.at = l.next(l.at + 1)
	if l.at == len(l.cards) { // what was skipped over by an undo
		l.at = l.next(0)
	}
	return nil
}

func (l *labeller) keepNote(ctx context.Context, note record.Text) error {
	if err := l.db.SaveDraft(ctx, record.Draft{RolloutID: l.cards[l.at].RolloutID, Annotator: l.result.Annotator, Note: note}); err != nil {
		return err
	}
	fmt.Fprintln(l.out, "note kept for this card")
	return nil
}

// undo takes back the last label of this session, or the last of the queue before it,
// and goes to its card.
func (l *labeller) undo(ctx context.Context) (again bool, err error) {
	at := -1
	if n := len(l.trail); n > 0 {
		at, l.trail = l.trail[n-1], l.trail[:n-1]
	} else {
		for i := range l.cards[:l.at] {
			if l.cards[i].Verdict != "" {
				at = i
			}
		}
	}
	if at < 0 {
		fmt.Fprintln(l.out, "there is no label to take back")
		return false, nil
	}
	c := &l.cards[at]
	if _, err := l.db.TakeBack(ctx, l.result.Run, l.result.Queue, c.Position, l.result.Annotator); err != nil {
		return false, err
	}
	fmt.Fprintf(l.out, "taken back: %s for card %d\n", c.Verdict, at+1)
	c.Verdict = ""
	l.result.TakenBack++
	l.at = at
	return true, nil
}

// end sums the session up.
func (l *labeller) end(ctx context.Context) error {
	r := &l.result
	for _, c := range l.cards {
		if c.Verdict == "" {
			r.Left++
		}
	}
	settle := "settle:" + r.Annotator
	open, err := l.db.Cards(ctx, r.Run, settle, r.Annotator)
	if err != nil && store.CodeOf(err) != store.CodeNotFound {
		return err
	}
	for _, c := range open {
		if c.Verdict == "" {
			r.ToSettle++
		}
	}
	meter, err := l.engine.Meter(ctx, r.Run)
	if err != nil {
		return err
	}
	r.Counted, r.NextLook, r.LastLook, r.Tied = meter.Counted, meter.NextLook, meter.LastLook, meter.Tied
	return l.s.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "%s saved by %s, %d taken back, %s left in queue %s\n", record.Counted(r.Labelled, "label"), plain(r.Annotator), r.TakenBack, record.Counted(r.Left, "card"), plain(r.Queue))
		if r.NextLook > 0 {
			fmt.Fprintf(w, "%d labels count towards trust; %d more to the look at %d: assay trust %s\n", r.Counted, r.NextLook-r.Counted, r.NextLook, r.Run)
		} else {
			fmt.Fprintf(w, "%d labels count towards trust; the word of the look at %d stands, and more labels only narrow the figures: assay trust %s\n", r.Counted, r.LastLook, r.Run)
		}
		if r.Tied > 0 {
			fmt.Fprintf(w, "%d labelled rows have no gold, as their votes are tied: label them again, or have another annotator do\n", r.Tied)
		}
		if r.ToSettle > 0 {
			fmt.Fprintf(w, "%d rows to settle, on which your second word was another: assay label %s --plain --queue %q\n", r.ToSettle, r.Run, settle)
		}
	})
}
