package exchange

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/engine/record"
	"assay/store"
)

// LabelOptions say how a file of labels is read.
type LabelOptions struct {
	// RunID is the run that the labels speak of.
	RunID string
	// Annotator and Kind are for labels that name none themselves; an empty Annotator
	// is "imported", an empty Kind unknown.
	Annotator string
	Kind      record.GoldKind
	// At is the time of labels that have none.
	At time.Time
}

// LabelReport says what came of a file of labels.
type LabelReport struct {
	Labels    int        `json:"labels"`    // read
	Matched   int        `json:"matched"`   // and of a rollout of the run
	Unchanged int        `json:"unchanged"` // of these, said before: not saved again
	Unmatched []string   `json:"unmatched"`
	Conflicts []Conflict `json:"conflicts"`
	Skipped   []Skipped  `json:"skipped"`
}

// Conflict is a rollout on which annotators disagree so that it has no gold, or
// one annotator gave two verdicts in the file.
type Conflict struct {
	Rollout string `json:"rollout"`
	Why     string `json:"why"`
}

// labelMembers are the names that label files use, in the order of export.
var labelMembers = []string{"rollout_id", "run", "task", "label", "annotator", "kind", "purpose", "blind", "note", "tags", "took_ms", "at"}

// labelLine is one label of a file.
type labelLine struct {
	RolloutID string          `json:"rollout_id"`
	Run       string          `json:"run"`
	Task      string          `json:"task"` // task_id#k or task_id#eval_run.k
	Label     string          `json:"label"`
	Annotator string          `json:"annotator"`
	Kind      record.GoldKind `json:"kind"`
	Purpose   string          `json:"purpose"`
	Blind     bool            `json:"blind"`
	Note      record.Text     `json:"note"`
	Tags      []string        `json:"tags"`
	TookMS    int64           `json:"took_ms"`
	At        time.Time       `json:"at"`
}

// ImportLabels reads labels from CSV or JSON lines, told apart by their first
// character, and appends them to the run's, all or none. A label whose key is
// that of more than one rollout ends it with the rollouts named; labels of
// rollouts that are not in the run are counted as unmatched, and a file of
// which no label matches is an error. What its annotator has said before is not
// said twice: see [AddNewLabels].
func ImportLabels(ctx context.Context, db *store.DB, r io.Reader, opts LabelOptions) (LabelReport, error) {
	report := LabelReport{Unmatched: []string{}, Conflicts: []Conflict{}, Skipped: []Skipped{}}
	read, err := readLabels(r, &report)
	if err != nil {
		return report, err
	}
	report.Labels = len(read)
	if len(read) == 0 {
		return report, &store.Error{Code: store.CodeInvalid, Where: "labels", Message: "the file holds no label" + firstWhy(report.Skipped),
			Fix: "give columns rollout_id (or task as task_id#k) and label (pass, fail, unsure, skip)"}
	}
	var labels []record.Label
	for i := range read {
		id, err := match(ctx, db, opts.RunID, &read[i])
		if err != nil {
			return report, err
		}
		if id == "" {
			report.Unmatched = append(report.Unmatched, read[i].key())
			continue
		}
		labels = append(labels, read[i].label(id, opts))
	}
	report.Matched = len(labels)
	if len(labels) == 0 {
		return report, &store.Error{Code: store.CodeNotFound, Where: opts.RunID, Message: fmt.Sprintf("none of the %d labels belongs to a rollout of run %s, for example %s", len(read), opts.RunID, report.Unmatched[0]),
			Fix: "check that the file belongs to this run"}
	}
	added, err := AddNewLabels(ctx, db, opts.RunID, labels)
	if err != nil {
		return report, err
	}
	report.Unchanged = len(labels) - added
	report.Conflicts, err = conflicts(ctx, db, opts.RunID, labels)
	return report, err
}

// AddNewLabels appends labels of a run's rollouts, all or none, and says how many.
// One that repeats its annotator's last word on the rollout, or that is an act
// which is there already, adds nothing: importing a file again changes nothing.
func AddNewLabels(ctx context.Context, db *store.DB, runID string, labels []record.Label) (int, error) {
	said, err := db.Labels(ctx, runID)
	if err != nil {
		return 0, err
	}
	type voice struct{ rollout, annotator, purpose string }
	last, acts := map[voice]string{}, map[string]bool{}
	hear := func(l *record.Label) (known bool) {
		who, word := voice{l.RolloutID, l.Annotator, l.Purpose}, wordOf(db.Masker(), l)
		act := fmt.Sprintf("%q %s", who, word) + l.At.UTC().Format(time.RFC3339)
		known = last[who] == word || acts[act]
		if !known {
			last[who] = word
		}
		acts[act] = true
		return known
	}
	for i := range said {
		hear(&said[i])
	}
	var fresh []record.Label
	for i := range labels {
		if !hear(&labels[i]) {
			fresh = append(fresh, labels[i])
		}
	}
	if len(fresh) == 0 {
		return 0, nil
	}
	_, err = db.AddLabels(ctx, fresh)
	return len(fresh), err
}

// wordOf is what a label says, as the store would keep it.
func wordOf(mask *record.Masker, l *record.Label) string {
	tags := slices.Clone(l.Tags)
	slices.Sort(tags)
	return fmt.Sprintf("%s %s %q %q", l.Verdict, l.Kind, mask.Text(string(l.Note)), tags)
}

func firstWhy(skipped []Skipped) string {
	if len(skipped) == 0 {
		return ""
	}
	return fmt.Sprintf(": line %d: %s", skipped[0].Line, skipped[0].Why)
}

// readLabels reads every label that can be read and notes the lines that cannot.
func readLabels(r io.Reader, report *LabelReport) ([]labelLine, error) {
	in := newLines(r)
	first, err := in.next()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if first[0] != '{' {
		return readLabelCSV(io.MultiReader(bytes.NewReader(append(bytes.Clone(first), '\n')), in.r), in.number, report)
	}
	var list []labelLine
	for ; err == nil || errors.Is(err, errLongLine); first, err = in.next() {
		var l labelLine
		lineErr := err
		if lineErr == nil {
			lineErr = l.parseJSON(first)
		}
		if lineErr != nil {
			report.Skipped = append(report.Skipped, Skipped{Line: in.number, Why: lineErr.Error()})
			continue
		}
		list = append(list, l)
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return list, nil
}

func (l *labelLine) parseJSON(line []byte) error {
	m, err := parseObject(line)
	if err != nil {
		return err
	}
	alias(m.raw, "label", "verdict", "gold")
	if v := m.raw["k"]; v != nil && m.raw["task"] == nil { // our own export's other spelling
		m.raw["task"] = json.RawMessage(strconv.Quote(string(m.text("task_id")) + "#" + string(textOf(v))))
	}
	alias(m.raw, "task", "task_id", "key")
	label := m.text("label")
	whole, err := json.Marshal(m.raw)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(whole, l); err != nil {
		return err
	}
	l.Label = string(label)
	return l.check()
}

func (l *labelLine) check() error {
	if l.RolloutID == "" && l.Task == "" {
		return errors.New("it names no rollout: rollout_id, or task as task_id#k")
	}
	switch strings.ToLower(strings.TrimSpace(l.Label)) {
	case "1", "1.0", "true", "good", "yes":
		l.Label = string(record.VerdictPass)
	case "0", "0.0", "false", "bad", "no":
		l.Label = string(record.VerdictFail)
	default:
		l.Label = strings.ToLower(strings.TrimSpace(l.Label))
	}
	if !validVerdict(record.Verdict(l.Label)) {
		return fmt.Errorf("label %.40q is none of pass, fail, unsure, skip", l.Label)
	}
	return nil
}

func readLabelCSV(r io.Reader, offset int, report *LabelReport) ([]labelLine, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("the header of the labels: %w", err)
	}
	columns := map[string]int{}
	for i, name := range header {
		columns[strings.ToLower(strings.TrimSpace(name))] = i
	}
	var list []labelLine
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		var l labelLine
		var line int
		if err == nil {
			line, _ = in.FieldPos(0)
			err = l.parseCSV(columns, fields)
		} else if syntax := (*csv.ParseError)(nil); errors.As(err, &syntax) {
			line, err = syntax.Line, syntax.Err
		} else {
			return nil, err
		}
		if err != nil {
			report.Skipped = append(report.Skipped, Skipped{Line: line + offset - 1, Why: err.Error()})
			continue
		}
		list = append(list, l)
	}
}

func (l *labelLine) parseCSV(columns map[string]int, fields []string) error {
	field := func(names ...string) string {
		for _, name := range names {
			if i, ok := columns[name]; ok && i < len(fields) && fields[i] != "" {
				return strings.Clone(fields[i])
			}
		}
		return ""
	}
	l.RolloutID, l.Task, l.Label = field("rollout_id"), field("task", "task_id", "key"), field("label", "verdict", "gold")
	if k := field("k"); k != "" && l.Task != "" && !strings.Contains(l.Task, "#") {
		l.Task += "#" + k
	}
	l.Run, l.Kind, l.Purpose = field("run"), record.GoldKind(field("kind")), field("purpose")
	texts := map[string]record.Text{}
	for _, name := range []string{"note", "annotator", "tags"} {
		text, err := readCSVText(field(name))
		if err != nil {
			return err
		}
		texts[name] = text
	}
	l.Annotator, l.Note = string(texts["annotator"]), texts["note"]
	l.Blind = field("blind") == "true"
	if tags := texts["tags"]; tags != "" {
		l.Tags = strings.Split(string(tags), ";")
	}
	var err error
	if took := field("took_ms"); took != "" {
		if l.TookMS, err = strconv.ParseInt(took, 10, 64); err != nil {
			return fmt.Errorf("took_ms %.40q is not a number", took)
		}
	}
	if at := field("at"); at != "" {
		if l.At, err = time.Parse(time.RFC3339, at); err != nil {
			return fmt.Errorf("at %.40q is not a time like 2026-01-31T12:00:00Z", at)
		}
	}
	return l.check()
}

// key is how the file names the rollout.
func (l *labelLine) key() string {
	if l.RolloutID != "" {
		return l.RolloutID
	}
	return l.Task
}

// match finds the rollout that a label speaks of: "" where it is not in the run.
func match(ctx context.Context, db *store.DB, runID string, l *labelLine) (string, error) {
	if l.Run != "" && l.Run != runID {
		named, err := db.Resolve(ctx, l.Run)
		if store.CodeOf(err) == store.CodeNotFound || err == nil && named != runID {
			return "", nil
		}
		if err != nil {
			return "", err
		}
	}
	if l.RolloutID != "" {
		if there, err := db.HasRollout(ctx, runID, l.RolloutID); !there || err != nil {
			return "", err
		}
		return l.RolloutID, nil
	}
	task, evalRun, k, ok := parseKey(l.Task)
	if !ok {
		return "", nil
	}
	ids, err := db.FindRollouts(ctx, runID, task, evalRun, k)
	if err == nil && len(ids) == 0 { // an imported task goes by the name that its file gave it
		ids, err = db.FindRollouts(ctx, runID, record.ImportedSituationID(record.Text(task)), evalRun, k)
	}
	switch {
	case err != nil || len(ids) == 0:
		return "", err
	case len(ids) > 1:
		return "", &store.Error{Code: store.CodeAmbiguous, Where: l.Task, Message: fmt.Sprintf("the label key %s is that of %d rollouts: %s", l.Task, len(ids), strings.Join(ids, ", ")),
			Fix: "no label was saved; name the eval run (task_id#eval_run.k) or use rollout_id"}
	}
	return ids[0], nil
}

// parseKey reads task_id#k or task_id#eval_run.k. The task's own name may hold a #.
func parseKey(key string) (task string, evalRun *int, k int, ok bool) {
	at := strings.LastIndexByte(key, '#')
	if at <= 0 {
		return "", nil, 0, false
	}
	task, number := key[:at], key[at+1:]
	if run, rest, several := strings.Cut(number, "."); several {
		e, err := strconv.Atoi(run)
		if err != nil {
			return "", nil, 0, false
		}
		evalRun, number = &e, rest
	}
	k, err := strconv.Atoi(number)
	return task, evalRun, k, err == nil
}

func (l *labelLine) label(rolloutID string, opts LabelOptions) record.Label {
	label := record.Label{RolloutID: rolloutID, Annotator: l.Annotator, Verdict: record.Verdict(l.Label), Kind: l.Kind, Purpose: record.PurposeFirst,
		Note: l.Note, Tags: l.Tags, Blind: l.Blind, Took: time.Duration(l.TookMS) * time.Millisecond, At: l.At}
	if label.Annotator == "" {
		label.Annotator = opts.Annotator
	}
	if label.Annotator == "" {
		label.Annotator = "imported"
	}
	if label.Kind == "" {
		label.Kind = opts.Kind
	}
	label.Kind = validKind(label.Kind)
	if l.Purpose == record.PurposeRecheck {
		label.Purpose = record.PurposeRecheck
	}
	if label.At.IsZero() {
		label.At = opts.At
	}
	return label
}

// conflicts are the labelled rollouts that have no gold because votes are tied,
// and those on which one annotator says two things in this file.
func conflicts(ctx context.Context, db *store.DB, runID string, added []record.Label) ([]Conflict, error) {
	list := []Conflict{}
	type vote struct{ rollout, annotator string }
	said := map[vote]record.Verdict{}
	touched := map[string]bool{}
	for _, l := range added {
		touched[l.RolloutID] = true
		at := vote{l.RolloutID, l.Annotator}
		if before, ok := said[at]; ok && before != l.Verdict && l.Purpose == record.PurposeFirst {
			list = append(list, Conflict{l.RolloutID, fmt.Sprintf("%s said %s and then %s: the last one counts", l.Annotator, before, l.Verdict)})
		}
		said[at] = l.Verdict
	}
	gold, err := db.GoldOf(ctx, runID)
	if err != nil {
		return list, err
	}
	for id := range touched {
		if g, ok := gold[id]; ok && g.Reward == nil {
			list = append(list, Conflict{id, fmt.Sprintf("%d votes are tied: it has no gold", g.Voters)})
		}
	}
	slices.SortFunc(list, func(a, b Conflict) int {
		return strings.Compare(a.Rollout+a.Why, b.Rollout+b.Why)
	})
	return list, nil
}

// WriteLabels writes every label of a run, in the order of the acts, as CSV or as
// JSON lines (format csv or jsonl), and says how many.
func WriteLabels(ctx context.Context, db *store.DB, runID, format string, w io.Writer) (int, error) {
	labels, err := db.Labels(ctx, runID)
	if err != nil {
		return 0, err
	}
	keys, err := db.LabelledKeys(ctx, runID)
	if err != nil {
		return 0, err
	}
	switch format {
	case "jsonl":
		return len(labels), writeLabelLines(labels, runID, keys, masked{w, db.Masker()})
	case "csv":
		for i := range labels {
			maskLabel(db.Masker(), &labels[i])
		}
		return len(labels), writeLabelCSV(labels, runID, keys, w)
	}
	return 0, &store.Error{Code: store.CodeInvalid, Where: "--format", Message: fmt.Sprintf("labels are written as csv or jsonl, not %q", format), Fix: "use one of them"}
}

// maskLabel masks before a label is cut into cells: a CSV writer writes pieces of
// lines.
func maskLabel(mask *record.Masker, l *record.Label) {
	l.Annotator, l.Note = mask.Text(l.Annotator), record.Text(mask.Text(string(l.Note)))
	l.Tags = slices.Clone(l.Tags)
	for i := range l.Tags {
		l.Tags[i] = mask.Text(l.Tags[i])
	}
}

func writeLabelLines(labels []record.Label, runID string, keys map[string]record.Key, w io.Writer) error {
	for _, l := range labels {
		line := struct {
			RolloutID string          `json:"rollout_id"`
			Run       string          `json:"run"`
			Task      string          `json:"task"`
			Label     record.Verdict  `json:"label"`
			Annotator string          `json:"annotator"`
			Kind      record.GoldKind `json:"kind"`
			Purpose   string          `json:"purpose"`
			Blind     bool            `json:"blind"`
			Note      record.Text     `json:"note,omitempty"`
			Tags      []string        `json:"tags,omitempty"`
			TookMS    int64           `json:"took_ms"`
			At        string          `json:"at"`
		}{l.RolloutID, runID, keys[l.RolloutID].String(), l.Verdict, l.Annotator, l.Kind, l.Purpose, l.Blind, l.Note, l.Tags, l.Took.Milliseconds(), l.At.UTC().Format(time.RFC3339Nano)}
		if err := writeLine(w, line); err != nil {
			return err
		}
	}
	return nil
}

func writeLabelCSV(labels []record.Label, runID string, keys map[string]record.Key, w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(labelMembers); err != nil {
		return err
	}
	for _, l := range labels {
		err := out.Write([]string{l.RolloutID, runID, keys[l.RolloutID].String(), string(l.Verdict), csvText(record.Text(l.Annotator)), string(l.Kind), l.Purpose, strconv.FormatBool(l.Blind),
			csvText(l.Note), csvText(record.Text(strings.Join(l.Tags, ";"))), strconv.FormatInt(l.Took.Milliseconds(), 10), l.At.UTC().Format(time.RFC3339Nano)})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// formulaStarts are the characters at which a spreadsheet begins to compute.
const formulaStarts = "=+-@\t\r"

// csvText is text as a CSV file can carry it. A cell that a spreadsheet would run
// as a formula, that CSV would change, or that would act on a terminal, is written
// as its JSON string.
func csvText(t record.Text) string {
	clean, changed := t.Clean()
	if !changed && !strings.ContainsFunc(clean, acts) && !strings.HasPrefix(clean, `"`) && (clean == "" || !strings.Contains(formulaStarts, clean[:1])) {
		return clean
	}
	quoted, _ := t.MarshalJSON() // never fails
	return string(record.EscapeHidden(quoted))
}

func acts(r rune) bool { return record.Hidden(r) && r != '\n' && r != '\t' }

// readCSVText undoes csvText. A cell that only looks like a JSON string is as it is.
func readCSVText(cell string) (record.Text, error) {
	var t record.Text
	if strings.HasPrefix(cell, `"`) && json.Valid([]byte(cell)) {
		return t, t.UnmarshalJSON([]byte(cell))
	}
	return record.Text(cell), nil
}
