package exchange

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"assay/engine/record"
	"assay/store"
)

// File is one file to read.
type File struct {
	Name string // for messages
	Data io.Reader
}

// ImportOptions say how files become a run.
type ImportOptions struct {
	// RunID is the new run's id, Name its name or "".
	RunID, Name string
	// Train lets the rows into training files. Otherwise imported tasks are held out,
	// all of them: nobody knows what they were measured for.
	Train bool
	// Strict ends the import at the first line that cannot be read.
	Strict bool
	// Map takes fields of a row from paths of the file's own objects; nil reads the
	// row's own names.
	Map map[string]string
	// Started is the time of the import.
	Started time.Time
}

// ImportReport says what an import took and what it left.
type ImportReport struct {
	Run           string           `json:"run"`
	Format        string           `json:"format"` // whileai, openai or jsonl
	Rows          int              `json:"rows"`
	Tasks         int              `json:"tasks"`
	Labels        int              `json:"labels,omitempty"`
	Skipped       []Skipped        `json:"skipped"`
	SkippedCount  int              `json:"skipped_count,omitempty"` // where more were skipped than are listed
	DroppedFields []string         `json:"dropped_fields"`
	Warnings      []record.Warning `json:"warnings"`
}

// Skipped is a line that was left out.
type Skipped struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line"`
	Why  string `json:"why"`
}

const (
	// groupRows and groupBytes bound what is read before it is committed.
	groupRows  = 200
	groupBytes = 8 << 20
	// listedSkips bounds how many skipped lines a report lists: a file of another
	// format would list every one. Convention, untested.
	listedSkips = 1000
)

// Import reads files into one new run. What it reads is committed group by group;
// an import that fails leaves nothing behind.
func Import(ctx context.Context, db *store.DB, files []File, opts ImportOptions) (ImportReport, error) {
	mapping, err := parseMapping(opts.Map)
	if err != nil {
		return ImportReport{}, err
	}
	im := newImporter(db, opts, mapping)
	err = im.readAll(ctx, files)
	if err == nil {
		err = im.finish(ctx)
	}
	if err != nil {
		return im.report, errors.Join(err, im.abandon(ctx))
	}
	return im.report, nil
}

type importer struct {
	db      *store.DB
	opts    ImportOptions
	mapping *mapping
	run     record.Run
	created bool
	report  ImportReport

	tasks  map[string]*importedTask
	keys   map[rowKey]place
	counts map[groupKey]int // rollouts without an index, to number them

	// The group that is not committed yet.
	posed    []record.Posed
	outcomes []record.Outcome
	labels   []record.Label
	size     int

	dropped  map[string]bool
	scorers  map[string]int // rows of each scorer, by name
	shapes   map[shape]int
	prompts  uniform
	policies uniform
	oddities map[string]int // rewards that are none, by what is odd
}

type importedTask struct {
	index   int
	ask     [sha256.Size]byte
	heldOut bool
}

// rowKey is a rollout's key without its text.
type rowKey struct{ task, evalRun, k int32 }

type groupKey struct{ task, evalRun int32 }

// place is where a row stands, for messages.
type place struct {
	file int32
	line int32
}

// uniform is a text that all rows share, as long as they do.
type uniform struct {
	text  record.Text
	seen  bool
	mixed bool
}

func (u *uniform) add(t record.Text) {
	u.mixed = u.mixed || u.seen && t != u.text
	u.text, u.seen = t, true
}

// shared is the text where all rows have it, "" otherwise.
func (u *uniform) shared() record.Text {
	if u.mixed {
		return ""
	}
	return u.text
}

func newImporter(db *store.DB, opts ImportOptions, m *mapping) *importer {
	return &importer{
		db: db, opts: opts, mapping: m,
		run: record.Run{ID: opts.RunID, Name: opts.Name, Role: record.RoleImport, Mode: record.ModeImport, Recipe: "import",
			PassThreshold: 1, Status: record.RunRunning, StartedAt: opts.Started, EvalRuns: 1},
		report: ImportReport{Run: opts.RunID, Skipped: []Skipped{}, DroppedFields: []string{}, Warnings: []record.Warning{}},
		tasks:  map[string]*importedTask{}, keys: map[rowKey]place{}, counts: map[groupKey]int{},
		dropped: map[string]bool{}, scorers: map[string]int{}, shapes: map[shape]int{}, oddities: map[string]int{},
	}
}

func (im *importer) readAll(ctx context.Context, files []File) error {
	for i, f := range files {
		in := newLines(f.Data)
		for {
			line, err := in.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = im.line(line, place{int32(i), int32(in.number)}, files)
			} else if !errors.Is(err, errLongLine) {
				return fmt.Errorf("read %s: %w", f.Name, err)
			}
			if err := im.skip(err, f.Name, in.number); err != nil {
				return err
			}
			if len(im.outcomes) >= groupRows || im.size >= groupBytes {
				if err := im.commit(ctx); err != nil {
					return err
				}
			}
		}
	}
	return im.commit(ctx)
}

// skip notes a line that cannot be read, or ends the import over it.
func (im *importer) skip(err error, file string, line int) error {
	var refused *store.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return err
	case im.opts.Strict:
		return &store.Error{Code: store.CodeInvalid, Where: fmt.Sprintf("%s:%d", file, line), Message: fmt.Sprintf("line %d of %s cannot be read: %v", line, file, err),
			Fix: "mend the line, or import without --strict to leave it out"}
	}
	if len(im.report.Skipped) < listedSkips {
		im.report.Skipped = append(im.report.Skipped, Skipped{File: file, Line: line, Why: err.Error()})
	}
	im.report.SkippedCount++
	return nil
}

// line takes one line into the group.
func (im *importer) line(line []byte, at place, files []File) error {
	row, err := readRow(line, im.mapping)
	if err != nil {
		return err
	}
	task, fresh := im.task(row)
	key := rowKey{int32(im.tasks[task.ID].index), int32(row.evalRun), 0}
	if row.k == nil {
		key.k = int32(im.counts[groupKey{key.task, key.evalRun}])
	} else {
		key.k = int32(*row.k)
	}
	if first, there := im.keys[key]; there {
		return duplicateRows(record.Key{TaskID: task.ID, EvalRun: row.evalRun, K: int(key.k)}, row.key, first, at, files)
	}
	im.keys[key] = at
	im.counts[groupKey{key.task, key.evalRun}]++
	if fresh {
		im.pose(task, row)
	}
	outcome := im.outcome(row, task.ID, int(key.k))
	im.outcomes = append(im.outcomes, outcome)
	im.labels = append(im.labels, row.labels(outcome.Rollout.ID, im.opts.Started)...)
	im.size += len(line)
	im.note(row)
	return nil
}

func duplicateRows(key record.Key, named record.Text, first, second place, files []File) error {
	return &store.Error{Code: store.CodeDuplicate, Where: key.String(),
		Message: fmt.Sprintf("line %d of %s and line %d of %s are both rollout %d of task %.60q (eval run %d)",
			first.line, files[first.file].Name, second.line, files[second.file].Name, key.K, string(named), key.EvalRun),
		Fix: "nothing was imported; remove one of them, or give them different rollout_index"}
}

// task is the task that a row answers, and whether the row is the first to do so.
// A later row's own wording stays on its rollout.
func (im *importer) task(row *row) (*record.Task, bool) {
	t := row.task()
	known, seen := im.tasks[t.ID]
	if !seen {
		im.tasks[t.ID] = &importedTask{index: len(im.tasks), ask: sha256.Sum256([]byte(t.Ask)), heldOut: im.heldOut(row)}
		return t, true
	}
	row.ownPrompt = known.ask != sha256.Sum256([]byte(row.prompt))
	return t, false
}

// heldOut keeps what rows with our own ids say; others are held out unless they
// are to be trained on, and rows of an eval set always are.
func (im *importer) heldOut(row *row) bool {
	if row.ours() {
		return *row.heldOut
	}
	return row.lineage.Eval || !im.opts.Train
}

func (im *importer) pose(t *record.Task, row *row) {
	arm := record.ArmImport
	if row.ours() && row.arm != "" {
		arm = row.arm
	}
	im.posed = append(im.posed, record.Posed{Task: t, Arm: arm, Order: im.tasks[t.ID].index, HeldOut: im.tasks[t.ID].heldOut})
	im.run.Counts.Tasks++
	if im.tasks[t.ID].heldOut {
		im.run.Counts.HeldOut++
	}
}

func (im *importer) outcome(row *row, taskID string, k int) record.Outcome {
	o := row.outcome(im.opts.RunID, record.Key{TaskID: taskID, EvalRun: row.evalRun, K: k})
	c := &im.run.Counts
	c.Planned++
	if o.Rollout.Status == record.StatusDone {
		c.Done++
	} else {
		if c.Lost == nil {
			c.Lost = map[record.Cause]int{}
		}
		c.Lost[o.Rollout.Cause]++
	}
	if reward := o.Reward(); reward != nil && o.Rollout.Status == record.StatusDone {
		c.Graded++
		if *reward >= im.run.PassThreshold {
			c.Passed++
		}
	}
	for i := range o.Rollout.Steps {
		if o.Rollout.Steps[i].Kind == record.StepTool {
			c.Calls++
		}
	}
	return o
}

// note keeps what the report and the run say of all rows together.
func (im *importer) note(row *row) {
	im.report.Rows++
	im.shapes[row.shape]++
	im.run.EvalRuns = max(im.run.EvalRuns, row.evalRun+1)
	im.prompts.add(row.systemPrompt)
	im.policies.add(record.Text(row.policy))
	for _, field := range row.dropped {
		im.dropped[field] = true
	}
	if row.graded() {
		im.scorers[row.judge]++
	}
	if row.oddReward != "" {
		im.oddities[row.oddReward]++
	}
}

func (im *importer) commit(ctx context.Context) error {
	if len(im.outcomes) == 0 {
		return nil
	}
	if !im.created {
		if err := im.db.CreateRun(ctx, &im.run); err != nil {
			return err
		}
		im.created = true
	}
	if err := im.db.CommitTasks(ctx, im.run.ID, im.posed); err != nil {
		return err
	}
	if err := im.db.CommitOutcomes(ctx, im.run.ID, im.outcomes); err != nil {
		return err
	}
	if len(im.labels) > 0 {
		if _, err := im.db.AddLabels(ctx, im.labels); err != nil {
			return err
		}
		im.report.Labels += len(im.labels)
	}
	im.posed, im.outcomes, im.labels, im.size = nil, nil, nil, 0
	return nil
}

// finish says what came of the whole and closes the run.
func (im *importer) finish(ctx context.Context) error {
	if im.report.Rows == 0 {
		why := "it holds no line"
		if len(im.report.Skipped) > 0 {
			s := im.report.Skipped[0]
			why = fmt.Sprintf("line %d of %s: %s", s.Line, s.File, s.Why)
		}
		return &store.Error{Code: store.CodeInvalid, Where: "import", Message: "nothing could be read: " + why,
			Fix: "give a file of JSON objects, one a line; name their fields with --map field=path"}
	}
	im.report.Tasks = len(im.tasks)
	im.report.Format = im.format()
	im.report.DroppedFields = append(im.report.DroppedFields, slices.Sorted(maps.Keys(im.dropped))...)
	im.report.Warnings = append(im.report.Warnings, im.warnings()...)
	im.run.Repeats = im.commonestGroup()
	im.run.SystemPrompt, im.run.PolicyVersion = im.prompts.shared(), string(im.policies.shared())
	im.run.Status, im.run.StoppedBecause, im.run.FinishedAt = record.RunDone, record.StoppedComplete, im.opts.Started
	im.run.Warnings = im.report.Warnings
	im.addScorers()
	detail, err := record.Marshal(im.report)
	if err != nil {
		return err
	}
	if err := im.db.AppendJournal(ctx, im.run.ID, record.JournalEntry{At: im.opts.Started, Kind: "import", Detail: detail}); err != nil {
		return err
	}
	return im.db.UpdateRun(ctx, &im.run)
}

// format names what was read: by the shape that most rows had.
func (im *importer) format() string {
	switch {
	case im.mapping != nil:
		return "jsonl"
	case im.shapes[shapeChat] > im.report.Rows/2:
		return "openai"
	}
	return "whileai"
}

// addScorers lists the scorers that rows came with; the one with most rows, the
// first by name among equals, is the run's own.
func (im *importer) addScorers() {
	best := ""
	for _, name := range slices.Sorted(maps.Keys(im.scorers)) {
		if best == "" || im.scorers[name] > im.scorers[best] {
			best = name
		}
		im.run.Scorers = append(im.run.Scorers, importScorer(name))
	}
	if best != "" {
		im.run.Scorer = importScorer(best).ID
	}
	im.run.Scorers = append(im.run.Scorers, importScorer(markersScorer))
}

// commonestGroup is the k of an imported run: the size that most groups have, the
// smaller of two equally common.
func (im *importer) commonestGroup() int {
	sizes := map[int]int{}
	for _, n := range im.counts {
		sizes[n]++
	}
	best := 0
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		if sizes[n] > sizes[best] {
			best = n
		}
	}
	return best
}

func (im *importer) warnings() []record.Warning {
	var list []record.Warning
	add := func(code, fix, format string, args ...any) {
		list = append(list, record.Warning{Code: code, Text: fmt.Sprintf(format, args...), Fix: fix})
	}
	if n := im.report.SkippedCount; n > 0 {
		add("lines_skipped", "see skipped for the lines; --strict stops at the first", "%d lines could not be read and were left out", n)
	}
	for _, odd := range slices.Sorted(maps.Keys(im.oddities)) {
		add("rewards_invalid", "a reward is a number from 0 to 1", "%d rows have a reward that is %s: they count as ungraded (invalid_result)", im.oddities[odd], odd)
	}
	if len(im.scorers) > 1 {
		add("several_judges", "regrade with one judge: assay grade", "the rewards come from %d judges; the run's own is the one with most rows", len(im.scorers))
	}
	if len(im.scorers) == 0 {
		add("no_reward", "map it with --map reward=FIELD, or grade the run: assay grade", "no row has a reward")
	}
	if im.prompts.mixed {
		add("system_prompts_differ", "import the files of each prompt as a run of its own", "the rows were made under different system prompts, and none is kept with the run")
	}
	if !im.opts.Train && im.run.Counts.HeldOut == im.run.Counts.Tasks {
		add("all_held_out", "--train lets them into training files", "all imported tasks are held out")
	}
	if im.mapping != nil {
		for _, path := range im.mapping.unused() {
			add("map_unused", "check the path against a line of the file", "no row has %s", path)
		}
	}
	return list
}

// abandon removes what an import had committed before it failed.
func (im *importer) abandon(ctx context.Context) error {
	if !im.created {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	im.run.Status, im.run.StoppedBecause = record.RunFailed, record.StoppedInterrupted
	if err := im.db.UpdateRun(ctx, &im.run); err != nil {
		return err
	}
	if err := im.db.Hide(ctx, im.run.ID, true); err != nil {
		return err
	}
	return im.db.Purge(ctx, im.run.ID, true)
}
