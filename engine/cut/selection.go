package cut

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/engine/record"
)

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

// Gate is one test that rows had to pass, with what it did. Out of In rows went on;
// Examples name some that did not and why.
type Gate struct {
	Name     string   `json:"name"`
	In       int      `json:"in"`
	Out      int      `json:"out"`
	Examples []string `json:"examples"`
}

// Dropped is one rollout that a gate took, with why.
type Dropped struct {
	Sample *record.Sample
	Gate   int // index into [Selection.Gates]
	Why    string
}

// TaskRate is the share of a training task's graded rollouts that pass, before any of
// them is pruned; of a grpo cut in rl mode, of those after the probes.
type TaskRate struct {
	TaskID string
	Rate   float64
	Graded int
}

// Row is one rollout of a training set.
type Row struct {
	Sample *record.Sample
	// Reward is the score the trainer is told: the rollout's, less what a penalty took.
	Reward float64
	// Loss is which of the row's messages are learnt from; see [Mask].
	Loss Loss
}

// Group is the rollouts of one task that a policy-gradient trainer compares with each
// other, less those that a gate of rows took (junk, leaks, ungraded, truncated). In rl
// mode they are those after the probes.
type Group struct {
	TaskID string
	Rows   []Row
	// Mean and Std are of the rows' rewards, Std with n in the denominator: what GRPO
	// centres and scales by (Shao et al. 2024).
	Mean, Std float64
	// PassRate is of the group's graded rollouts before any was pruned.
	PassRate      float64
	PolicyVersion string
}

// Pair is a better and a worse rollout of one task under one policy version.
type Pair struct {
	TaskID           string
	Chosen, Rejected Row
	Margin           float64 // reward of chosen minus reward of rejected
}

// Tier counts the tasks of one difficulty.
type Tier struct {
	Name  string `json:"name"` // floor, frontier or solved
	Tasks int    `json:"tasks"`
}

// Tiers of difficulty, by pass rate against the band.
const (
	TierFloor    = "floor"    // below the band: nothing to learn from yet
	TierFrontier = "frontier" // within it
	TierSolved   = "solved"   // above it
)

// Selection is what a cut keeps, and what became of the rest.
type Selection struct {
	For             Target
	RowsIn, RowsOut int
	Gates           []Gate
	Rows            []Row   // sft and rm
	Groups          []Group // grpo, those with the widest spread first
	Pairs           []Pair  // dpo
	// Dropped is every rollout that a gate took, in the order of the gates.
	Dropped []Dropped
	// Rates are the graded training tasks by id, before any gate of a target, Band the
	// rates between which a group has something to learn, and Tiers count the tasks below,
	// within and above it.
	Rates    []TaskRate
	Band     [2]float64
	Tiers    []Tier
	Warnings []record.Warning
}

// TaskIDs are the tasks that a selection would train on, sorted.
func (s *Selection) TaskIDs() []string {
	seen := map[string]bool{}
	for i := range s.Rows {
		seen[s.Rows[i].Sample.Task.ID] = true
	}
	for i := range s.Groups {
		seen[s.Groups[i].TaskID] = true
	}
	for i := range s.Pairs {
		seen[s.Pairs[i].TaskID] = true
	}
	ids := make([]string, 0, len(seen))
	for id := range seen {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (s *Selection) warnf(code, fix, format string, args ...any) {
	s.Warnings = append(s.Warnings, record.Warning{Code: code, Text: fmt.Sprintf(format, args...), Fix: fix})
}

// ErrEmpty is wrapped by the error of a selection that nothing is left of. Its text says
// which gates emptied it; no file may be written from it.
var ErrEmpty = errors.New("nothing is left to train on")

// empty is the error of a selection without rows: what each gate took.
func (s *Selection) empty() error {
	if s.RowsIn == 0 {
		return fmt.Errorf("%w for %s: there are no rollouts to cut from", ErrEmpty, s.For)
	}
	var took []string
	for _, g := range s.Gates {
		if lost := g.In - g.Out; lost > 0 {
			took = append(took, fmt.Sprintf("%s %d", g.Name, lost))
		}
	}
	return fmt.Errorf("%w for %s: of %d rollouts the gates took %s", ErrEmpty, s.For, s.RowsIn, strings.Join(took, ", "))
}
