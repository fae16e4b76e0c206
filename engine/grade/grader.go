package grade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"assay/engine/record"
)

// Case is one rollout to grade, with what its agent was given.
type Case struct {
	Task         *record.Task
	Rollout      *record.Rollout
	SystemPrompt record.Text
	// Tools are what the agent was shown in this run; nil means the task's own.
	Tools []record.Tool
}

func (c *Case) tools() []record.Tool {
	if c.Tools == nil && c.Task != nil {
		return c.Task.Tools
	}
	return c.Tools
}

// prompt is what the agent was asked first.
func (c *Case) prompt() record.Text {
	if c.Rollout.Prompt == "" && c.Task != nil {
		return c.Task.Ask
	}
	return c.Rollout.Prompt
}

// What the conduct rules do to the reward.
const (
	ConductMark = "mark" // they are a marker beside it
	ConductGate = "gate" // the reward is the smaller of conduct and reward
	ConductOff  = "off"  // they, the flags, the checklist and grounding are not looked at
)

// DefaultPassThreshold makes a pass the whole reward.
const DefaultPassThreshold = 1.0

// Config is how a run is graded. The zero value marks conduct and gives no reward.
type Config struct {
	Conduct string            // one of the Conduct words; "" is mark
	Markers map[string]string // name to expression
	Reward  *RewardConfig     // nil: the run has no reward
	// PassThreshold is what reward is a pass, in (0, 1]; 0 means
	// [DefaultPassThreshold]. It names failure classes and changes no reward.
	PassThreshold float64
	// Now is the clock of a judge's latency and of At; nil leaves both zero.
	Now func() time.Time
}

// RewardConfig is where the reward comes from: one of the three.
type RewardConfig struct {
	Marker string          // a name in Config.Markers
	Verify json.RawMessage // see [ParseVerifier]
	Judge  *JudgeConfig
}

// Names of the markers that are not the user's own, besides flags and checklist.
const (
	MarkerConduct   = "conduct"
	MarkerGrounding = "argument_grounding"
)

// groundingVersion is part of the grounding scorer's version.
const groundingVersion = 1

// Grader grades the rollouts of one run. It is safe for concurrent use.
type Grader struct {
	conduct   string
	threshold float64
	now       func() time.Time
	markers   []*Marker // by name
	uses      map[string]bool
	reward    rewardSource
	scorers   []record.Scorer
	// The ids of scorers, by what they grade.
	conductID, flagsID, checklistID, groundingID, rewardID string
	markerIDs                                              []string

	frame   atomic.Pointer[frame]
	workers sync.Pool
}

// rewardSource says where a reward comes from; nil where there is none.
type rewardSource interface {
	judge(ctx context.Context, g *Grader, w *worker, markers []record.Marker) (record.Judgment, []record.Marker)
}

// worker is what grading one case needs to itself.
type worker struct {
	trace     trace
	evaluator *evaluator
}

// New makes a grader. A marker that does not compile is an [*ExprError]; every
// other error names the field that is wrong.
func New(cfg Config) (*Grader, error) {
	g := &Grader{conduct: cfg.Conduct, threshold: cfg.PassThreshold, now: cfg.Now, uses: map[string]bool{}}
	if g.conduct == "" {
		g.conduct = ConductMark
	}
	if g.threshold == 0 {
		g.threshold = DefaultPassThreshold
	}
	switch {
	case g.conduct != ConductMark && g.conduct != ConductGate && g.conduct != ConductOff:
		return nil, fmt.Errorf("grade.conduct: %q is none of mark, gate, off", cfg.Conduct)
	case !(g.threshold > 0 && g.threshold <= 1):
		return nil, fmt.Errorf("grade.pass_threshold: %v lies outside 0..1", cfg.PassThreshold)
	}
	g.workers.New = func() any { return &worker{evaluator: newEvaluator()} }
	g.addRuleScorers()
	if err := g.addMarkers(cfg.Markers); err != nil {
		return nil, err
	}
	return g, g.addReward(cfg.Reward)
}

func version(n int) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"version":%d}`, n)) }

func (g *Grader) addScorer(s record.Scorer) string {
	if !slices.ContainsFunc(g.scorers, func(o record.Scorer) bool { return o.ID == s.ID }) {
		g.scorers = append(g.scorers, s)
	}
	return s.ID
}

func (g *Grader) addRuleScorers() {
	if g.conduct == ConductOff {
		return
	}
	g.conductID = g.addScorer(record.NewScorer("conduct", MarkerConduct, "", "", version(conductVersion)))
	g.flagsID = g.addScorer(record.NewScorer("flags", "flags", "", "", version(flagsVersion)))
	g.checklistID = g.addScorer(record.NewScorer("checklist", "checklist", "", "", version(checklistVersion)))
	g.groundingID = g.addScorer(record.NewScorer("grounding", MarkerGrounding, "", "", version(groundingVersion)))
}

func (g *Grader) addMarkers(exprs map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(exprs)) {
		if err := checkMarkerName(name); err != nil {
			return err
		}
		m, err := CompileMarker(name, exprs[name])
		if err != nil {
			return err
		}
		g.markers = append(g.markers, m)
		maps.Copy(g.uses, m.uses)
		g.markerIDs = append(g.markerIDs, g.addScorer(m.scorer(nil)))
	}
	return nil
}

// scorer is the marker's version: its expression, and what gates it as a reward.
func (m *Marker) scorer(settings json.RawMessage) record.Scorer {
	return record.NewScorer("marker", m.Name, "", record.Identity("expression", m.Expr), settings)
}

// checkMarkerName keeps a user's marker from passing for one of the program's own,
// or for the reward.
func checkMarkerName(name string) error {
	taken := name == "" || name == "pass_at_1" || name == "reward" || name == MarkerConduct || name == MarkerGrounding
	for _, f := range flags {
		taken = taken || f.name == name
	}
	for _, c := range checklist {
		taken = taken || c.name == name
	}
	if taken {
		return fmt.Errorf("grade.markers: the name %q is taken; choose another", name)
	}
	return nil
}

func (g *Grader) addReward(r *RewardConfig) error {
	if r == nil {
		return nil
	}
	given := 0
	for _, set := range []bool{r.Marker != "", len(r.Verify) > 0, r.Judge != nil} {
		if set {
			given++
		}
	}
	if given != 1 {
		return errors.New("grade.reward: the reward comes from exactly one of marker, verify and judge")
	}
	gate := g.gateSettings()
	switch {
	case r.Marker != "":
		i := slices.IndexFunc(g.markers, func(m *Marker) bool { return m.Name == r.Marker })
		if i < 0 {
			return fmt.Errorf("grade.reward.marker: there is no marker %q under grade.markers", r.Marker)
		}
		g.reward, g.rewardID = &markerReward{at: i, name: r.Marker}, g.addScorer(g.markers[i].scorer(gate))
	case len(r.Verify) > 0:
		v, err := ParseVerifier(r.Verify)
		if err != nil {
			return fmt.Errorf("grade.reward.%w", err)
		}
		g.reward, g.rewardID = &verifierReward{v}, g.addScorer(record.NewScorer("verify", v.Name(), "", record.Identity("verifier", v.raw), gate))
	default:
		return g.addJudge(*r.Judge, gate)
	}
	return nil
}

// gateSettings are the settings of a reward that conduct gates: another version of
// the rules is another reward.
func (g *Grader) gateSettings() json.RawMessage {
	if g.conduct != ConductGate {
		return nil
	}
	raw, err := json.Marshal(map[string]string{"gate": g.conductID})
	if err != nil {
		panic(fmt.Sprintf("grade: a setting does not marshal: %v", err)) // two strings always do
	}
	return raw
}

func (g *Grader) addJudge(j JudgeConfig, gate json.RawMessage) error {
	switch {
	case j.Judge == nil:
		return errors.New("grade.reward.judge: there is no judge to call")
	case j.Name == "":
		return errors.New("grade.reward.judge: the judge has no name")
	case j.MaxChars < 0 || j.MaxChars > 0 && j.MaxChars < minChars:
		return fmt.Errorf("grade.reward.judge: a transcript of %d characters is none; give %d at least", j.MaxChars, minChars)
	}
	version := ""
	if v, ok := j.Judge.(Versioned); ok {
		version = v.Version()
	}
	settings, err := json.Marshal(struct {
		Settings json.RawMessage `json:"settings,omitempty"`
		Version  string          `json:"version,omitempty"`
		MaxChars int             `json:"max_chars"`
		Scale    *Scale          `json:"scale,omitempty"`
		Gate     json.RawMessage `json:"gate,omitempty"`
	}{j.Settings, version, j.maxChars(), j.Scale, gate})
	if err != nil {
		return fmt.Errorf("grade.reward.judge: settings: %w", err)
	}
	rubric := ""
	if j.Rubric != "" {
		rubric = record.Identity("rubric", j.Rubric)
	}
	g.rewardID = g.addScorer(record.NewScorer("judge", j.Name, j.Model, rubric, settings))
	g.reward = &judgeReward{j}
	return nil
}

// minChars is the least a bounded transcript may have: below it a judge sees next
// to nothing of any rollout.
const minChars = 1000

// Scorers are the versions of everything that grades in this run.
func (g *Grader) Scorers() []record.Scorer { return slices.Clone(g.scorers) }

// RewardScorer is the id of the version that gives the reward; "" where the run has
// none.
func (g *Grader) RewardScorer() string { return g.rewardID }

// PassThreshold is the least reward that is a pass.
func (g *Grader) PassThreshold() float64 { return g.threshold }

// Grade grades one done rollout. The judgment is nil where the run has no reward.
// A rollout that is not done is not graded at all. It never panics; ctx bounds a
// judge that waits.
func (g *Grader) Grade(ctx context.Context, c Case) (j *record.Judgment, markers []record.Marker) {
	if c.Rollout == nil || c.Rollout.Status != record.StatusDone {
		return nil, nil
	}
	w := g.workers.Get().(*worker)
	defer func() {
		if r := recover(); r != nil {
			// The worker's state is unknown: it is not used again.
			j, markers = g.failed(&c, r), nil
			return
		}
		w.evaluator.release()
		g.workers.Put(w)
	}()
	w.trace.build(&c, g.frameOf(&c))
	markers = g.mark(w)
	if g.reward == nil {
		return nil, markers
	}
	started := g.time()
	out, own := g.reward.judge(ctx, g, w, markers)
	markers = append(markers, own...)
	out.RolloutID, out.Scorer, out.At = c.Rollout.ID, g.rewardID, g.time()
	out.Latency = out.At.Sub(started)
	g.gate(&out, markers)
	g.classify(&out, markers)
	return &out, markers
}

func (g *Grader) time() time.Time {
	if g.now == nil {
		return time.Time{}
	}
	return g.now()
}

// failed is the judgment of a grader that panicked; a run without a reward has
// none.
func (g *Grader) failed(c *Case, cause any) *record.Judgment {
	if g.reward == nil {
		return nil
	}
	return &record.Judgment{RolloutID: c.Rollout.ID, Scorer: g.rewardID, Status: record.JudgeError, At: g.time(),
		Reason: record.Text(fmt.Sprintf("the grader failed on this rollout: %v", cause))}
}

// frameOf prepares policy and tools once for as long as they stay the same.
func (g *Grader) frameOf(c *Case) *frame {
	tools := c.tools()
	if f := g.frame.Load(); f != nil && f.prompt == c.SystemPrompt && sameTools(f.tools, tools) {
		return f
	}
	f := newFrame(c.SystemPrompt, tools)
	g.frame.Store(f)
	return f
}

// mark gives every marker of the rules and of the user's own. Those of the rules
// stand only where they apply; the user's always.
func (g *Grader) mark(w *worker) []record.Marker {
	t := &w.trace
	out := make([]record.Marker, 0, len(g.markers)+6)
	id := t.c.Rollout.ID
	add := func(scorer, name string, value float64, evidence []record.Evidence) {
		out = append(out, record.Marker{RolloutID: id, Scorer: scorer, Name: name, Value: &value, Status: record.MarkerOK, Evidence: evidence})
	}
	if g.conduct != ConductOff {
		score, evidence := conduct(t)
		add(g.conductID, MarkerConduct, score, evidence)
		for i := range flags {
			if h, raised, applies := flags[i].look(t); applies {
				add(g.flagsID, flags[i].name, goodUnless(raised), evidenceIf(raised, flags[i].name, h))
			}
		}
		for i := range checklist {
			if checklist[i].applies(t) {
				h, met := checklist[i].met(t)
				add(g.checklistID, checklist[i].name, goodUnless(!met), evidenceIf(!met, checklist[i].name, h))
			}
		}
		if value, evidence, applies := grounding(t); applies {
			add(g.groundingID, MarkerGrounding, value, evidence)
		}
	}
	if len(g.markers) > 0 {
		w.evaluator.hold(t, g.uses)
	}
	for i, m := range g.markers {
		marker := m.mark(w.evaluator)
		marker.RolloutID, marker.Scorer = id, g.markerIDs[i]
		out = append(out, marker)
	}
	return out
}

func goodUnless(bad bool) float64 {
	if bad {
		return 0
	}
	return 1
}

func evidenceIf(bad bool, rule string, h hit) []record.Evidence {
	if !bad {
		return nil
	}
	return []record.Evidence{{Rule: rule, Step: h.step, Fragment: record.Text(clip(h.fragment))}}
}

// grounding is the share of argument values that come from the user, the policy or
// an earlier result, with the first that does not of each call.
func grounding(t *trace) (value float64, evidence []record.Evidence, applies bool) {
	counted, grounded := 0, 0
	for i := range t.calls {
		c := &t.calls[i]
		counted += c.counted
		grounded += c.grounded
		if c.ungrounded >= 0 {
			l := t.leaves[c.ungrounded]
			evidence = append(evidence, record.Evidence{Rule: MarkerGrounding, Step: c.step, Fragment: record.Text(clip(l.key + ": " + l.value))})
		}
	}
	if counted == 0 {
		return 0, nil, false
	}
	return float64(grounded) / float64(counted), evidence, true
}

// mark runs a marker on the row that e holds.
func (m *Marker) mark(e *evaluator) record.Marker {
	value, ok, err := m.run(e)
	switch {
	case err != nil:
		return record.Marker{Name: m.Name, Status: record.MarkerError, Note: record.Text(err.Error())}
	case !ok:
		return record.Marker{Name: m.Name, Status: record.MarkerNotApplicable}
	}
	return record.Marker{Name: m.Name, Status: record.MarkerOK, Value: &value}
}

// gate makes the reward the smaller of conduct and reward, where conduct gates.
func (g *Grader) gate(j *record.Judgment, markers []record.Marker) {
	if g.conduct != ConductGate || j.Status != record.JudgeOK {
		return
	}
	c := &markers[0] // conduct is the first marker wherever it is looked at
	if *c.Value >= *j.Reward {
		return
	}
	reward := *c.Value
	j.Reward = &reward
	j.Evidence = append(j.Evidence, c.Evidence...)
	j.Reason = record.Text(fmt.Sprintf("conduct gates the reward to %v (%s); %s", reward, rulesOf(c.Evidence), j.Reason))
}

func rulesOf(evidence []record.Evidence) string {
	names := make([]string, len(evidence))
	for i, e := range evidence {
		names[i] = e.Rule
	}
	return strings.Join(names, ", ")
}

// classify names the failure of a rollout that did not pass and whose scorer gave
// it no name: the first conduct rule that it broke, else the scorer's own name.
func (g *Grader) classify(j *record.Judgment, markers []record.Marker) {
	if j.Status != record.JudgeOK || j.FailureClass != "" || *j.Reward >= g.threshold {
		return
	}
	if len(markers) > 0 && markers[0].Name == MarkerConduct && len(markers[0].Evidence) > 0 {
		j.FailureClass = markers[0].Evidence[0].Rule
		return
	}
	_, name, _ := strings.Cut(g.rewardID, ":")
	j.FailureClass, _, _ = strings.Cut(name, "@")
}
