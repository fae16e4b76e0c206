package cut

import "assay/engine/record"

// Target is what a training set is for.
type Target string

// Targets.
const (
	SFT  Target = "sft"  // passes, to imitate
	DPO  Target = "dpo"  // a pass and a failure of one task
	GRPO Target = "grpo" // whole groups that are neither all passes nor all failures
	RM   Target = "rm"   // every graded rollout with its score
)

// Targets lists them in the order in which they are documented.
func Targets() []Target { return []Target{SFT, DPO, GRPO, RM} }

// Gate is one test that rows had to pass, with what it did. Out of In rows entered,
// Out went on; Examples name some that did not and why.
type Gate struct {
	Name     string   `json:"name"`
	In       int      `json:"in"`
	Out      int      `json:"out"`
	Examples []string `json:"examples"`
}

// Loss says which messages of a training row are learnt from.
type Loss string

// Loss masks.
const (
	LossAssistant Loss = "assistant" // everything the agent said or called
	LossFinal     Loss = "final"     // its last reply only
)

// Row is one rollout of a training set.
type Row struct {
	Sample *record.Sample
	// Reward is the score the trainer is told: the rollout's, less what a gate took
	// off.
	Reward float64
	// Loss is which of the row's messages are learnt from; see [Mask].
	Loss Loss
}

// Group is the rollouts of one task that a policy-gradient trainer compares with
// each other. In rl they are those after the probes.
type Group struct {
	TaskID    string
	Rows      []Row
	Mean, Std float64 // of the rewards; Std with n in the denominator
	PassRate  float64
	Tier      string // floor, frontier or solved; see [Options.Band]
}

// Pair is a better and a worse rollout of one task under one policy version.
type Pair struct {
	TaskID           string
	Chosen, Rejected Row
	Margin           float64 // reward of chosen minus reward of rejected
}

// Selection is what a cut keeps, and what became of the rest.
type Selection struct {
	For             Target
	RowsIn, RowsOut int
	Gates           []Gate
	Rows            []Row   // sft and rm
	Groups          []Group // grpo
	Pairs           []Pair  // dpo
	Warnings        []record.Warning
}
