package record

import (
	"slices"
	"time"
)

// Verdict of a label.
type Verdict string

// Verdicts. Only pass and fail vote for gold.
const (
	VerdictPass      Verdict = "pass"
	VerdictFail      Verdict = "fail"
	VerdictUnsure    Verdict = "unsure"
	VerdictSkip      Verdict = "skip"
	VerdictRetracted Verdict = "retracted"
)

// GoldKind says whose word a label is.
type GoldKind string

// Gold kinds. Model and unknown gold never make a judge trusted.
const (
	GoldHuman   GoldKind = "human"
	GoldProgram GoldKind = "program"
	GoldModel   GoldKind = "model"
	GoldUnknown GoldKind = "unknown"
)

// Purposes of a label.
const (
	PurposeFirst   = "first"
	PurposeRecheck = "recheck" // the unannounced second look: never votes for gold
)

// Label is one act of labelling. Labels are appended; taking one back is another
// row with the verdict retracted.
type Label struct {
	ID        int64 // given by the store, in the order of the acts
	RolloutID string
	Annotator string
	Verdict   Verdict
	Purpose   string
	Note      Text
	Tags      []string
	Kind      GoldKind
	Blind     bool
	Took      time.Duration
	At        time.Time
}

// Gold is what the labels of one rollout come to.
type Gold struct {
	// Reward is 1 or 0, nil where the votes are tied or nobody voted.
	Reward *float64
	// Kind is human only when every voting label is.
	Kind   GoldKind
	Voters int
	Labels []Label // each annotator's last first-look label, by annotator
}

// GoldOf derives gold from one rollout's labels: each annotator's last
// first-look verdict; only pass and fail vote; the majority decides, a tie is no
// gold. ok is false where nobody voted.
func GoldOf(labels []Label) (gold Gold, ok bool) {
	last := map[string]Label{}
	for _, l := range labels {
		if l.Purpose == PurposeRecheck {
			continue
		}
		if prior, seen := last[l.Annotator]; !seen || l.ID >= prior.ID {
			last[l.Annotator] = l
		}
	}
	votes := 0
	for _, l := range last {
		switch l.Verdict {
		case VerdictRetracted:
			continue
		case VerdictPass:
			votes++
			gold.Voters++
		case VerdictFail:
			votes--
			gold.Voters++
		}
		gold.Labels = append(gold.Labels, l)
	}
	slices.SortFunc(gold.Labels, func(a, b Label) int { return int(a.ID - b.ID) })
	if gold.Voters == 0 {
		return gold, false
	}
	gold.Kind = kindOfVotes(gold.Labels)
	if votes != 0 {
		reward := 0.0
		if votes > 0 {
			reward = 1
		}
		gold.Reward = &reward
	}
	return gold, true
}

// kindOfVotes is the weakest kind among the labels that voted: gold is worth
// what its least trustworthy vote is.
func kindOfVotes(labels []Label) GoldKind {
	order := []GoldKind{GoldHuman, GoldProgram, GoldModel, GoldUnknown}
	worst := 0
	for _, l := range labels {
		if l.Verdict != VerdictPass && l.Verdict != VerdictFail {
			continue
		}
		at := slices.Index(order, l.Kind)
		if at < 0 {
			at = len(order) - 1
		}
		worst = max(worst, at)
	}
	return order[worst]
}
