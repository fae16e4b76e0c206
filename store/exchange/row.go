package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/engine/record"
)

// markersScorer is the scorer that imported markers are kept under.
const markersScorer = "markers"

// importScorer is the scorer of rewards that came with a file.
func importScorer(name string) record.Scorer {
	return record.NewScorer("import", name, "", "", nil)
}

// row is one line read.
type row struct {
	shape        shape
	key          record.Text // what the file calls the task
	prompt       record.Text
	ownPrompt    bool // the task's ask is another row's wording
	systemPrompt record.Text
	k            *int
	evalRun      int
	lineage      record.Lineage

	// Ours, where the row was written by Assay.
	taskID, situationID, arm string
	heldOut                  *bool

	reward      *float64
	oddReward   string      // what is wrong with a reward that is none, in words
	rawReward   record.Text // that reward as it came
	hasReward   bool
	judge       string
	judgeStatus record.JudgeStatus
	reason      record.Text
	class       string
	judgeMeta   json.RawMessage
	markers     map[string]*record.Number

	gold    goldMembers
	tools   []record.Tool
	axes    record.Axes
	fault   *record.Fault
	rollout record.Rollout
	policy  string
	dropped []string
}

type goldMembers struct {
	reward *float64
	kind   record.GoldKind
	votes  []struct {
		Annotator string          `json:"annotator"`
		Label     record.Verdict  `json:"label"`
		Kind      record.GoldKind `json:"kind"`
		Note      record.Text     `json:"note"`
	}
}

// readRow reads one line in any of the shapes, or by a mapping.
func readRow(line []byte, mapped *mapping) (*row, error) {
	m, err := parseObject(line)
	if err != nil {
		return nil, err
	}
	if mapped != nil {
		if err := mapped.apply(m); err != nil {
			return nil, err
		}
	}
	r := &row{}
	if r.shape, err = m.normalise(); err != nil {
		return nil, err
	}
	if r.rollout.Steps, err = readSteps(m.take("steps")); err != nil {
		return nil, err
	}
	r.prompt, r.rollout.FinalText, r.systemPrompt = m.text("prompt"), m.text("final_text"), m.text("system_prompt")
	if err := r.readIdentity(m); err != nil {
		return nil, err
	}
	r.readGrades(m)
	r.readTask(m)
	r.readRollout(m)
	for _, derived := range []string{"schema_version", "messages", "run", "rollout_id", "scorer", "n_tokens"} {
		m.take(derived) // each follows from the rest, or is this file's own to give
	}
	if len(m.raw) > 0 {
		r.rollout.Extra = m.raw
	}
	r.dropped = m.dropped
	return r, nil
}

var ourID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// ours says that the row was written by Assay and keeps its identities.
func (r *row) ours() bool {
	return r.heldOut != nil && ourID.MatchString(r.taskID) && ourID.MatchString(r.situationID)
}

func (r *row) readIdentity(m *members) error {
	scenario, task := m.text("scenario_id"), m.text("task_id")
	r.taskID, r.situationID = string(task), string(m.text("situation_id"))
	m.read("held_out", &r.heldOut)
	r.key = firstText(scenario, task, r.prompt)
	if r.key == "" {
		return errors.New("it has no scenario_id, no task_id and no prompt: nothing says which task it answers")
	}
	if v := m.take("rollout_index"); v != nil {
		k, err := strconv.Atoi(string(textOf(v)))
		if err != nil || k < 0 || k > math.MaxInt32 {
			return fmt.Errorf("rollout_index %.40s is not a count from 0", v)
		}
		r.k = &k
	}
	return r.readLineage(m)
}

func (r *row) readLineage(m *members) error {
	raw := m.take("lineage")
	if raw == nil {
		return nil
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &r.lineage) != nil || json.Unmarshal(raw, &all) != nil {
		m.keepAside("lineage", raw)
		return nil
	}
	if e := r.lineage.EvalRun; e != nil {
		if *e < 0 || *e > math.MaxInt32 {
			return fmt.Errorf("lineage.eval_run %d is not a count from 0", *e)
		}
		r.evalRun = *e
	}
	for _, known := range []string{"eval_run", "parent", "eval"} {
		delete(all, known)
	}
	if len(all) > 0 { // what has no place in a row's lineage stays beside it
		m.raw["source_lineage"] = raw
		for _, name := range slices.Sorted(maps.Keys(all)) {
			m.dropped = append(m.dropped, "lineage."+name)
		}
	}
	return nil
}

func firstText(texts ...record.Text) record.Text {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func (r *row) readGrades(m *members) {
	r.judge = strings.TrimPrefix(string(firstText(m.text("judge_name"), m.text("label_source"), "reward")), "import:")
	r.judgeStatus = record.JudgeStatus(m.text("judge_status"))
	r.reason, r.class, r.judgeMeta = m.text("reason"), string(m.text("failure_class")), m.take("judge_meta")
	if v := m.take("reward"); v != nil {
		r.hasReward = true
		r.readReward(v)
	}
	m.read("markers", (*markerMembers)(&r.markers))
	m.read("gold_kind", &r.gold.kind)
	m.read("gold_labels", &r.gold.votes)
	m.read("gold_reward", &r.gold.reward)
}

// readReward takes a number from 0 to 1, also as a boolean or inside a string.
// Anything else is no reward, and is named.
func (r *row) readReward(v json.RawMessage) {
	number, ok := numberOf(v)
	switch {
	case !ok:
		r.oddReward = "not a number"
	case math.IsNaN(number) || math.IsInf(number, 0):
		r.oddReward = "not finite"
	case number < 0 || number > 1:
		r.oddReward = "outside 0..1"
	default:
		r.reward = &number
		return
	}
	r.rawReward = textOf(v)
}

func numberOf(v json.RawMessage) (float64, bool) {
	switch string(v) {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	var n record.Number
	if json.Unmarshal(v, &n) == nil {
		return float64(n), true
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(string(textOf(v))), 64)
	return f, err == nil
}

// markerMembers reads markers of which some are no numbers: those are null.
type markerMembers map[string]*record.Number

func (m *markerMembers) UnmarshalJSON(raw []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	*m = make(markerMembers, len(all))
	for name, v := range all {
		(*m)[name] = nil
		if f, ok := numberOf(v); ok {
			n := record.Number(f)
			(*m)[name] = &n
		}
	}
	return nil
}

func (r *row) readTask(m *members) {
	m.read("axes", &r.axes)
	if state := m.text("world_state"); state != "" {
		r.setAxis(record.AxisWorldState, string(state))
	}
	for _, axis := range []string{record.AxisStance, record.AxisHistory} {
		var value string // the public row has its axes beside each other, and they stay there too
		if v := m.raw[axis]; v != nil && json.Unmarshal(v, &value) == nil {
			r.setAxis(axis, value)
		}
	}
	if v := m.take("faults"); v != nil {
		r.readFaults(v, m)
	}
	if v := m.take("tools"); v != nil {
		tools, err := readTools(v)
		if err != nil {
			m.keepAside("tools", v)
		}
		r.tools = tools
	}
	r.arm = string(m.text("arm"))
	if r.arm != "" && !r.ours() {
		quoted, _ := record.Text(r.arm).MarshalJSON() // never fails
		m.keepAside("arm", quoted)
	}
}

func (r *row) setAxis(axis, value string) {
	if r.axes == nil {
		r.axes = record.Axes{}
	}
	if r.axes[axis] == "" {
		r.axes[axis] = value
	}
}

// readFaults reads the public row's object of tool to {mode, rate}, or our list.
// A task has one fault; more than one is kept as it came.
func (r *row) readFaults(v json.RawMessage, m *members) {
	var list []record.Fault
	if json.Unmarshal(v, &list) != nil {
		var byTool map[string]struct {
			Mode string          `json:"mode"`
			Rate json.RawMessage `json:"rate"`
		}
		if json.Unmarshal(v, &byTool) != nil {
			m.keepAside("faults", v)
			return
		}
		always := true
		for tool, f := range byTool {
			list = append(list, record.Fault{Tool: tool, Condition: f.Mode})
			always = always && string(f.Rate) == "1"
		}
		if !always { // a planned fault has no rate
			m.raw["source_faults"] = v
		}
	}
	if len(list) == 1 {
		r.fault = &list[0]
	} else if len(list) > 1 {
		m.keepAside("faults", v)
	}
}

// readTools reads tool schemas in the OpenAI, Anthropic or bare form.
func readTools(raw json.RawMessage) ([]record.Tool, error) {
	var list []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		InputSchema json.RawMessage `json:"input_schema"`
		Function    *struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	if packed := string(textOf(raw)); len(raw) > 0 && raw[0] == '"' && isStructure(packed) {
		raw = json.RawMessage(packed) // a column of JSON text
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	tools := make([]record.Tool, len(list))
	for i, t := range list {
		tools[i] = record.Tool{Name: t.Name, Description: t.Description, Parameters: rawOr(t.Parameters, t.InputSchema)}
		if f := t.Function; f != nil {
			tools[i] = record.Tool{Name: f.Name, Description: f.Description, Parameters: f.Parameters}
		}
		if tools[i].Name == "" {
			return nil, fmt.Errorf("tools[%d] has no name", i)
		}
	}
	return tools, nil
}

func (r *row) readRollout(m *members) {
	o := &r.rollout
	m.read("sampling", &o.Sampling)
	m.read("usage", &o.Usage)
	m.read("privileged", &o.Privileged)
	m.read("prompt_truncated", &o.PromptTruncated)
	m.read("attempts", &o.Attempts)
	o.Status, o.Cause, o.Error = record.Status(m.text("status")), record.Cause(m.text("cause")), m.text("error")
	o.EndedBy, o.FinishReason = string(m.text("ended_by")), record.FinishReason(m.text("finish_reason"))
	o.PolicyVersion, o.PromptHash = string(m.text("policy_version")), string(m.text("prompt_hash"))
	o.WriterModel, o.UserModel = string(m.text("writer_model")), string(m.text("user_model"))
	r.policy = o.PolicyVersion
	var latency int64
	m.read("latency_ms", &latency)
	o.Latency = time.Duration(latency) * time.Millisecond
	if started := string(m.text("started_at")); started != "" {
		o.StartedAt, _ = time.Parse(time.RFC3339, started) // a time in another form is no time
	}
	r.readLogProbs(m)
	switch o.Status {
	case record.StatusLost, record.StatusAborted:
	default:
		o.Status = record.StatusDone
	}
	if o.Attempts == 0 {
		o.Attempts = 1
	}
}

// readLogProbs keeps the turns where they are given, and the sum as one turn else.
func (r *row) readLogProbs(m *members) {
	var sum *float64
	var tokens int
	var list []float64
	if v := m.raw["n_tokens"]; v != nil {
		_ = json.Unmarshal(v, &tokens) // another type is no count
	}
	m.read("turn_logprobs", &r.rollout.LogProbs)
	m.read("logprob", &sum)
	m.read("token_logprobs", &list)
	if len(r.rollout.LogProbs) == 0 && sum != nil {
		r.rollout.LogProbs = []record.LogProbs{{Sum: *sum, Tokens: max(tokens, len(list)), List: list}}
	}
}

// graded says that the file says something of the row's reward.
func (r *row) graded() bool { return r.hasReward || r.judgeStatus != "" }

// task is the task that the row answers, in the row's own wording.
func (r *row) task() *record.Task {
	id := record.ImportedSituationID(r.key)
	t := &record.Task{
		SituationID: id, Origin: record.OriginImported, Parent: r.lineage.Parent, Axes: r.axes, Fault: r.fault, Ask: r.prompt,
		User: record.User{Kind: "imported"}, Tools: r.tools, Reference: referenceOf(r.rollout.Privileged), Writer: "imported",
	}
	t.Identify() // for the hash of the tools; an imported task's id is that of its situation
	t.ID = id
	if r.ours() {
		t.ID, t.SituationID = r.taskID, r.situationID
	}
	return t
}

// referenceOf is the expected answer inside a privileged block, as an object.
func referenceOf(privileged json.RawMessage) json.RawMessage {
	var p struct {
		Reference json.RawMessage `json:"reference"`
	}
	if len(privileged) == 0 || json.Unmarshal(privileged, &p) != nil || len(p.Reference) == 0 || string(p.Reference) == "null" {
		return nil
	}
	if p.Reference[0] == '{' {
		return p.Reference
	}
	return json.RawMessage(`{"answer":` + string(p.Reference) + `}`)
}

// outcome is the row's rollout and what graded it.
func (r *row) outcome(runID string, key record.Key) record.Outcome {
	o := record.Outcome{Rollout: r.rollout}
	o.Rollout.RunID, o.Rollout.Key, o.Rollout.ID = runID, key, record.RolloutID(runID, key)
	if r.ownPrompt {
		o.Rollout.Prompt = r.prompt
	}
	if r.graded() {
		o.Judgment = r.judgment(o.Rollout.ID)
	}
	for _, name := range slices.Sorted(maps.Keys(r.markers)) {
		m := record.Marker{RolloutID: o.Rollout.ID, Scorer: importScorer(markersScorer).ID, Name: name, Value: r.markers[name].Float(), Status: record.MarkerOK}
		switch {
		case m.Value == nil:
			m.Status = record.MarkerNotApplicable
		case math.IsNaN(*m.Value) || math.IsInf(*m.Value, 0):
			m.Status = record.MarkerError
		}
		o.Markers = append(o.Markers, m)
	}
	return o
}

func (r *row) judgment(rolloutID string) *record.Judgment {
	j := &record.Judgment{RolloutID: rolloutID, Scorer: importScorer(r.judge).ID, Status: r.judgeStatus, Reward: r.reward,
		Reason: r.reason, FailureClass: r.class, Meta: r.judgeMeta, Raw: r.rawReward}
	switch {
	case r.oddReward != "":
		j.Status = record.JudgeInvalidResult
	case r.reward != nil && (j.Status == "" || j.Status == record.JudgeOK):
		j.Status = record.JudgeOK
	case j.Status == "" || j.Status == record.JudgeOK:
		j.Status = record.JudgeMissingReward
	case !slices.Contains(record.JudgeStatuses(), j.Status):
		j.Status = record.JudgeInvalidResult
	}
	if j.Status != record.JudgeOK {
		j.Reward = nil
	}
	return j
}

// labels are what people said of the row, as far as it says so.
func (r *row) labels(rolloutID string, at time.Time) []record.Label {
	var labels []record.Label
	for _, v := range r.gold.votes {
		if v.Label == record.VerdictRetracted || v.Annotator == "" || !validVerdict(v.Label) {
			continue
		}
		labels = append(labels, record.Label{RolloutID: rolloutID, Annotator: v.Annotator, Verdict: v.Label, Kind: validKind(v.Kind), Note: v.Note, At: at})
	}
	if len(labels) == 0 && r.gold.reward != nil {
		if verdict, ok := verdictOf(*r.gold.reward); ok {
			labels = append(labels, record.Label{RolloutID: rolloutID, Annotator: "imported", Verdict: verdict, Kind: validKind(r.gold.kind), At: at})
		}
	}
	return labels
}

func verdictOf(gold float64) (record.Verdict, bool) {
	switch gold {
	case 1:
		return record.VerdictPass, true
	case 0:
		return record.VerdictFail, true
	}
	return "", false
}

func validVerdict(v record.Verdict) bool {
	switch v {
	case record.VerdictPass, record.VerdictFail, record.VerdictUnsure, record.VerdictSkip, record.VerdictRetracted:
		return true
	}
	return false
}

func validKind(k record.GoldKind) record.GoldKind {
	switch k {
	case record.GoldHuman, record.GoldProgram, record.GoldModel:
		return k
	}
	return record.GoldUnknown
}
