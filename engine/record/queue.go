package record

import (
	"encoding/json"
	"time"
)

// Strategy is how a rollout came into a labelling queue.
type Strategy string

// Strategies. Only drawn rows count towards trust in a judge; the others are
// diagnostic: worth reading, picked for what they are.
const (
	StrategyRandom       Strategy = "random"       // drawn, with a known probability
	StrategyUnsure       Strategy = "unsure"       // the judge is near its threshold, or gave no verdict
	StrategyDisagreement Strategy = "disagreement" // scorers, or what is known of the row, contradict each other
	StrategyProbe        Strategy = "probe"        // a probe changed the judge's mind on it
	StrategyListed       Strategy = "listed"       // as somebody listed it
	StrategyRecheck      Strategy = "recheck"      // shown again, unannounced
	StrategySettle       Strategy = "settle"       // a second look said something else than the first
)

// Strata of a queue: the verdict that the run's scorer version had given when the
// queue was drawn.
const (
	StratumPass     = "pass"
	StratumFail     = "fail"
	StratumUnjudged = "unjudged"
)

// QueueItem is one place in a labelling queue. All but its position and rollout
// tells something of the judge's verdict, so whoever labels is shown a [Card].
type QueueItem struct {
	Queue     string // the queue's name, unique in its run
	Position  int    // counted from 0
	RolloutID string
	Strategy  Strategy
	Stratum   string
	// Probability is the chance, in (0, 1], with which the rollout was drawn; nil where
	// it was picked or is shown again.
	Probability *float64
	// Revealed is what each annotator had been shown of the row when they labelled it:
	// {annotator: [what]}, nil where nothing.
	Revealed json.RawMessage
}

// Drawn reports whether the item was drawn at random, so that its gold counts.
func (q QueueItem) Drawn() bool { return q.Probability != nil }

// QueueHead is one queue of a run.
type QueueHead struct {
	Queue   string
	Items   int // places
	Rows    int // different rollouts
	Drawn   int // of them drawn at random
	DrawnAt time.Time
}

// Card is what somebody who labels may know of a queue item: nothing that speaks
// of a verdict, and not whether they have seen it before.
type Card struct {
	Position  int
	RolloutID string
	// Verdict is their own word at this place, "" where they have given none.
	Verdict Verdict
}

// What of a rollout somebody can have been shown before labelling it.
const (
	RevealedVerdict = "verdict" // the judge's
	RevealedLabel   = "label"   // another annotator's
)

// Reveal says that somebody was shown something of a rollout.
type Reveal struct {
	RolloutID string
	Annotator string
	What      string // one of the Revealed words
	At        time.Time
}

// Choices of a pairwise comparison, by the order in which the two were shown.
const (
	ChoiceFirst     = "first"
	ChoiceSecond    = "second"
	ChoiceTie       = "tie"
	ChoiceSkip      = "skip"
	ChoiceRetracted = "retracted"
)

// Preference is one choice between two rollouts of a task, as they were shown.
// Preferences are appended; taking one back is another with the choice retracted.
type Preference struct {
	ID            int64 // given by the store, in the order of the acts
	First, Second string
	Choice        string
	Annotator     string
	At            time.Time
}

// SiblingPair is two rollouts of one task that may be compared, in no order.
type SiblingPair struct {
	TaskID  string
	EvalRun int
	A, B    string // rollout ids
}

// Correction is a cause of failure that somebody put in the place of what was
// derived. Corrections are appended; the last one counts.
type Correction struct {
	ID        int64
	RolloutID string
	Cause     Cause // "" takes an earlier one back
	Annotator string
	Why       Text
	At        time.Time
}

// Tag is the name of a kind of failure that labels carry.
type Tag struct {
	Name    string
	Meaning string
}

// Draft is a note that has not become a label yet.
type Draft struct {
	RolloutID string
	Annotator string
	Note      Text
}

// Candidate is one done rollout that a queue may show, as far as drawing needs it.
type Candidate struct {
	RolloutID string
	Key       Key
	Reward    *float64 // of the run's scorer version, nil where it gave none
	// Disagreement says that another scorer version, or a broken rule of conduct, says
	// the contrary of the reward.
	Disagreement bool
	// Probed says that a probe changed the judge's mind on the row.
	Probed bool
}
