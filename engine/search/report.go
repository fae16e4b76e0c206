package search

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/engine/record"
)

// Report says how many situations were asked for and what became of them.
type Report struct {
	Asked      int `json:"asked"`      // situations, defaults resolved
	Situations int `json:"situations"` // posed, given asks included
	Tasks      int `json:"tasks"`      // posed, phrasings counted
	HeldOut    int `json:"held_out"`   // situations
	Given      int `json:"given"`
	// GivenNotHeldOut counts the given asks that eval poses although they are not
	// held out.
	GivenNotHeldOut int `json:"given_not_held_out"`

	Arms []ArmReport `json:"arms"`
	// Mix is the difficulty mix of the situations that are points of the grid; asks
	// beside it have no tier.
	Mix Mix `json:"mix"`

	Aim AimReport `json:"aim"`
	// Saturation and Suspects are what feedback has brought: how much was seen, and
	// where rollouts fail. Both are empty without it.
	Saturation Saturation `json:"saturation"`
	Suspects   []Suspect  `json:"suspects"`
	// Writer is what came of a writer other than the template.
	Writer WriterReport `json:"writer"`

	Equal          int `json:"equal"`           // tasks dropped: equal to one posed
	NearDuplicates int `json:"near_duplicates"` // tasks dropped: they read like one posed
	Excluded       int `json:"excluded"`        // tasks left out: exported for training
	NotHeldOut     int `json:"not_held_out"`    // points that eval left out
	// ThinnedRows lost their fault; ThinnedDropped of them met a clean point that is
	// planned anyway.
	ThinnedRows    int `json:"thinned_rows"`
	ThinnedDropped int `json:"thinned_dropped"`
	// Released rows of the array came after the points that the search preferred, in
	// mode explore at its default size: all that they ask about was asked about.
	Released int `json:"released"`
	// GridPoints is the size of the grid where the plan went beyond the array, else 0.
	GridPoints int  `json:"grid_points"`
	GridEnded  bool `json:"grid_ended"`

	Plan record.Coverage `json:"plan"` // by the rows that are posed
	// Thinned are the tuples of the array that the lost faults took with them.
	Thinned  []string         `json:"thinned"`
	Warnings []record.Warning `json:"warnings"`
}

// Mix is how many points of the grid were of the hard tier, and which share of them
// was wanted.
type Mix struct {
	Hard   int     `json:"hard"`
	Points int     `json:"points"`
	Wanted float64 `json:"wanted"` // share; 0 left the mix as it fell
}

// String is "60 of 150 hard (40%)", with what was wanted.
func (m Mix) String() string {
	s := fmt.Sprintf("%d of %d hard (%.0f%%)", m.Hard, m.Points, 100*m.share())
	if m.Wanted > 0 {
		s += fmt.Sprintf(", %.0f%% wanted", 100*m.Wanted)
	}
	return s
}

// share is the realised share of the hard tier, 0 where there is no point.
func (m Mix) share() float64 { return float64(m.Hard) / float64(max(m.Points, 1)) }

// ArmReport is what one arm came to.
type ArmReport struct {
	Arm        string `json:"arm"`
	Situations int    `json:"situations"`
	Tasks      int    `json:"tasks"`
	// Weight is the arm's share at the end, in millionths; 0 for given asks.
	Weight int `json:"weight_ppm"`
}

// Report is what was asked for and what came of it, so far.
func (p *Planner) Report() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.report
	r.Arms, r.Writer.Refused = slices.Clone(r.Arms), maps.Clone(r.Writer.Refused)
	r.Plan, r.Thinned = p.coverage(p.rows)
	r.Plan.Points, r.Plan.Hard = r.Mix.Points, r.Mix.Hard
	if p.hunt != nil {
		r.Saturation, r.Suspects = p.hunt.saturation, p.hunt.regions.suspects(suspectsKept)
	}
	r.Warnings = r.warnings(p)
	return r
}

// start is the report of a plan that has posed nothing yet.
func (r *Report) start(p *Planner) {
	r.Aim = p.aimReport()
	r.Asked, r.Given, r.Mix.Wanted = p.quota.total(), len(p.given), p.in.HardShare
	for _, task := range p.given {
		r.count(record.ArmGiven, 1)
		r.Situations++
		r.Tasks++
		if p.heldOut(task.SituationID) {
			r.HeldOut++
		} else if p.in.Mode == record.ModeEval {
			r.GivenNotHeldOut++
		}
	}
	for _, arm := range armNames() {
		r.count(arm, 0)
	}
}

func (r *Report) count(arm string, tasks int) {
	i := slices.IndexFunc(r.Arms, func(a ArmReport) bool { return a.Arm == arm })
	if i < 0 {
		i = len(r.Arms)
		r.Arms = append(r.Arms, ArmReport{Arm: arm})
	}
	if tasks > 0 {
		r.Arms[i].Situations++
		r.Arms[i].Tasks += tasks
	}
}

func (r *Report) took(s *situation, tasks int) {
	r.Situations++
	r.Tasks += tasks
	if s.heldOut {
		r.HeldOut++
	}
	if s.row != nil {
		r.Mix.Points++
	}
	if s.hard {
		r.Mix.Hard++
	}
	r.count(s.arm, tasks)
}

// finish brings what is derived up to date after a batch.
func (r *Report) finish(p *Planner) {
	weights := p.arms.byName()
	for i := range r.Arms {
		r.Arms[i].Weight = weights[r.Arms[i].Arm]
	}
	t := p.grid.tallied()
	r.NotHeldOut, r.ThinnedRows, r.ThinnedDropped = t.leftOut, t.thinned, t.dropped
	r.GridEnded = p.grid.ended
	r.Released = p.grid.released
	if p.grid.size > 0 {
		r.GridPoints = p.grid.size + p.grid.spare
	}
}

// warnings says each thing that a reader of the run's numbers must know.
func (r *Report) warnings(p *Planner) []record.Warning {
	var out []record.Warning
	say := func(code, text, fix string) { out = append(out, record.Warning{Code: code, Text: text, Fix: fix}) }
	if p.in.Writer == nil && r.armTasks(record.ArmLLMGuided) > 0 {
		say("writer_template", "llm_guided asks were written by the template writer, with more texture: no writer model is set", "set simulate.writer to a model for asks in a model's words")
	}
	out = append(out, r.Writer.warnings()...)
	if p.in.Situations > 0 && r.Situations < p.in.Situations && p.ended {
		if r.GridEnded {
			say("grid_ended", fmt.Sprintf("grid has %d points, %d situations asked: %d posed", r.GridPoints, p.in.Situations, r.Situations), "raise phrasings or repeats for more")
		} else {
			say("situations_short", fmt.Sprintf("%d situations asked: %d posed", p.in.Situations, r.Situations), "raise phrasings or repeats for more")
		}
	}
	if r.Plan.Covered < r.Plan.Planned {
		fix := "raise situations for the rest"
		switch {
		case r.Excluded > 0:
			fix = "tasks of the other rows were exported for training; another seed, or another file, poses them"
		case r.NotHeldOut > 0:
			fix = "eval leaves out what is not held out; raise situations, or holdout: 1 poses all"
		}
		say("array_partial", fmt.Sprintf("%d of %d rows, %d%% of %s", r.Plan.Posed, r.Plan.Rows, 100*r.Plan.Covered/r.Plan.Planned, tuples(r.Plan.Strength)), fix)
	}
	if w, ok := r.Saturation.warning(); ok && p.in.Mode == record.ModeExplore {
		out = append(out, w)
	}
	if w, ok := r.Aim.warning(p.in.Mode); ok {
		out = append(out, w)
	}
	if r.GivenNotHeldOut > 0 {
		say("given_not_held_out", fmt.Sprintf("%d of %d given asks are not held out and were posed anyway", r.GivenNotHeldOut, r.Given), "numbers over held-out tasks leave them out; holdout: 1 holds all out")
	}
	if n := r.Equal + r.NearDuplicates; n > 0 {
		say("duplicates_dropped", record.Counted(n, "task")+" dropped: "+dropped(r.Equal, r.NearDuplicates), "lower phrasings, or give the tools more distinct descriptions")
	}
	if got := r.Mix.share(); p.in.HardAsked && r.Mix.Points > 0 && math.Abs(got-r.Mix.Wanted) > hardGap {
		say("hard_share", fmt.Sprintf("%.0f%% of the grid's situations are of the hard tier, %.0f%% were asked for", 100*got, 100*r.Mix.Wanted),
			"all rows of an array are posed whatever their tier: ask for fewer situations, or narrow dimensions.stance and dimensions.world_state")
	}
	return out
}

// dropped says why tasks were, leaving out what none was dropped for.
func dropped(equal, near int) string {
	var why []string
	if equal > 0 {
		why = append(why, fmt.Sprintf("%d equal to another", equal))
	}
	if near > 0 {
		why = append(why, fmt.Sprintf("%d nearly another", near))
	}
	return strings.Join(why, ", ")
}

// hardGap is how far the realised difficulty mix may be from the asked one before
// it is said: ten points.
const hardGap = 0.10

func (r *Report) armTasks(arm string) int {
	for _, a := range r.Arms {
		if a.Arm == arm {
			return a.Tasks
		}
	}
	return 0
}

// tuples is what an array of a strength covers.
func tuples(strength int) string {
	if strength == 2 {
		return "pairs"
	}
	return fmt.Sprintf("%d-tuples", strength)
}
