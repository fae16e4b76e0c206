package engine

import (
	"time"

	"assay/engine/record"
)

// Settings are a recipe's knobs as delivered: what was written, and the defaults
// for the rest. They are stored with the run.
type Settings struct {
	Mode          record.Mode        `json:"mode"`
	Situations    int                `json:"situations"` // 0: all rows of the array
	Phrasings     int                `json:"phrasings"`
	Repeats       int                `json:"repeats"`
	EvalRuns      int                `json:"eval_runs"`
	Seed          int64              `json:"seed"`
	FaultRate     float64            `json:"fault_rate"`
	Strength      int                `json:"strength"`
	Array         string             `json:"array"`
	Holdout       float64            `json:"holdout"`
	HardShare     float64            `json:"hard_share"`
	ArmWeights    map[string]float64 `json:"arm_weights,omitempty"`
	Batch         int                `json:"batch"`
	Concurrency   int                `json:"concurrency"`
	Budget        int                `json:"budget,omitempty"`     // rollouts; 0: none
	MaxTokens     int64              `json:"max_tokens,omitempty"` // 0: none
	MaxCost       float64            `json:"max_cost,omitempty"`   // 0: none
	MaxTurns      int                `json:"max_turns"`
	Timeout       Duration           `json:"timeout"`
	Conduct       string             `json:"conduct"`
	PassThreshold float64            `json:"pass_threshold"`
	LogProbs      bool               `json:"logprobs,omitempty"`
	DeltaRuns     int                `json:"delta_runs"`
}

// modeDefaults are what each mode changes.
type modeDefaults struct {
	repeats, phrasings int
	faultRate          float64
	batch              int
}

// defaultsOf gives a mode's defaults.
//
//   - eval: k=4, enough for pass^4 to be told from pass@1 (Yao 2024 reports four
//     trials a task); half the faults, convention, untested.
//   - rl: k=8, two probes and a group of six; groups of 8 are the size that GRPO
//     recipes commonly train on (convention). All faults: find what can be learned.
//   - sft: three phrasings, so that one wording is not what is learned; k=4 gives
//     best-of-4 (convention, untested).
//   - explore: k=2, the fewest that shows a split verdict; all faults; batches of
//     32, since feedback is one batch late and acts on the tasks after the first two
//     batches alone: an array of 200 rows is over before two of 512 are. On the agents
//     with planted faults of engine/search, 64 triggers about a tenth fewer faults in
//     the first 400 rollouts and 16 a tenth more; 64 rollouts a batch, with two in
//     flight, keep the default concurrency busy through stragglers.
func defaultsOf(mode record.Mode) modeDefaults {
	switch mode {
	case record.ModeRL:
		return modeDefaults{repeats: 8, phrasings: 1, faultRate: 1, batch: defaultBatch}
	case record.ModeSFT:
		return modeDefaults{repeats: 4, phrasings: 3, faultRate: 0.5, batch: defaultBatch}
	case record.ModeExplore:
		return modeDefaults{repeats: 2, phrasings: 1, faultRate: 1, batch: exploreBatch}
	}
	return modeDefaults{repeats: 4, phrasings: 1, faultRate: 0.5, batch: defaultBatch}
}

// Defaults that hold in every mode, each with its source.
const (
	// defaultStrength is pairs: in the systems that Kuhn, Wallace and Gallo (2004)
	// studied, most failures took one or two factors.
	defaultStrength = 2
	// defaultHoldout is the share of situations kept for comparison; convention,
	// untested.
	defaultHoldout = 0.25
	// defaultHardShare is the share of hard asks; convention, untested.
	defaultHardShare = 0.40
	// defaultBatch is how many tasks are planned before feedback can move the plan.
	// It is the recipe's, never the concurrency's, so that the plan is the same at
	// any speed; convention, untested.
	defaultBatch = 512
	// exploreBatch is that of mode explore; the reason stands with its other defaults.
	exploreBatch = 32
	// defaultConcurrency keeps a provider's usual rate limit busy without storming
	// it; convention, untested.
	defaultConcurrency = 32
	// defaultMaxTurns bounds a conversation at about twice what the scripted users
	// need to be asked back, to confirm and to insist.
	defaultMaxTurns = 8
	// defaultTimeout is an agent's deadline for one reply; convention, untested.
	defaultTimeout = 60 * time.Second
	// defaultPassThreshold makes a pass the whole reward: partial credit is counted
	// apart.
	defaultPassThreshold = 1.0
	// defaultDeltaRuns is the fewest eval runs a side that give the noise band more
	// than one degree of freedom a side.
	defaultDeltaRuns = 3
)

// Settings resolves the knobs against the defaults.
func (r *Recipe) Settings() Settings {
	s := r.Simulate
	mode := s.Mode
	if mode == "" {
		mode = record.ModeEval
	}
	d := defaultsOf(mode)
	out := Settings{
		Mode:          mode,
		Situations:    or(s.Situations, 0),
		Phrasings:     or(s.Phrasings, d.phrasings),
		Repeats:       or(s.Repeats, d.repeats),
		EvalRuns:      max(1, r.evalRuns),
		Seed:          s.Seed,
		FaultRate:     or(s.FaultRate, d.faultRate),
		Strength:      or(s.Strength, defaultStrength),
		Array:         s.Array,
		Holdout:       or(s.Holdout, defaultHoldout),
		HardShare:     or(s.HardShare, defaultHardShare),
		ArmWeights:    s.ArmWeights,
		Batch:         or(s.Batch, d.batch),
		Concurrency:   or(s.Concurrency, defaultConcurrency),
		Budget:        or(s.Budget, 0),
		MaxTokens:     or(s.MaxTokens, 0),
		MaxCost:       or(s.MaxCost, 0),
		MaxTurns:      or(r.Agent.MaxTurns, defaultMaxTurns),
		Timeout:       or(r.Agent.Timeout, Duration(defaultTimeout)),
		Conduct:       r.Grade.Conduct,
		PassThreshold: or(r.Grade.PassThreshold, defaultPassThreshold),
		LogProbs:      s.LogProbs,
		DeltaRuns:     defaultDeltaRuns,
	}
	if out.Array == "" {
		out.Array = "stable"
	}
	if out.Conduct == "" {
		out.Conduct = "mark"
	}
	if r.Delta != nil {
		out.DeltaRuns = or(r.Delta.Runs, defaultDeltaRuns)
	}
	if mode == record.ModeEval && r.After != nil {
		out.EvalRuns = out.DeltaRuns // the run is itself the story's before
	}
	return out
}

func or[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}
