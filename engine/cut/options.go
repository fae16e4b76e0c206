package cut

import (
	"strings"

	"assay/engine/record"
)

// Loss says which messages of a training row are learnt from.
type Loss string

// Loss masks.
const (
	LossAssistant Loss = "assistant" // everything the agent said or called
	LossFinal     Loss = "final"     // its last reply alone
)

// Mask is which of a row's messages, in the form of [record.Messages], bear loss: the
// agent's own, all of them or the last. What the user, the tools and the system prompt
// say is never learnt.
func Mask(messages []record.Message, loss Loss) []bool {
	mask := make([]bool, len(messages))
	last := -1
	for i := range messages {
		if messages[i].Role != "assistant" {
			continue
		}
		mask[i] = loss != LossFinal
		last = i
	}
	if last >= 0 {
		mask[last] = true
	}
	return mask
}

// What is done with a reply that ran into its length limit.
const (
	TruncatedDrop     = "drop"
	TruncatedKeep     = "keep"     // as it is: its reward stands
	TruncatedPenalise = "penalise" // it keeps half its reward
)

// penalty is what a penalised reward is multiplied by: enough that a cut pass is no
// pass, not so much that it is worth no more than a failure. Convention, untested.
const penalty = 0.5

// How rows are picked among equals.
const (
	PickBest   = "best"   // the highest reward
	PickRandom = "random" // by hash: the control that says what picking the best is worth
)

// Options say how to cut. The zero value holds the defaults.
type Options struct {
	// Mode of the run. In rl the first two rollouts of a task are probes and train no
	// group; of an eval run nothing is selected.
	Mode record.Mode
	// PassThreshold makes a reward a pass; 0 means 1.
	PassThreshold float64
	// Band is the pass rates, ends included, between which a group has something to
	// learn; the zero value means 0.2 to 0.8.
	Band [2]float64
	// Truncated is one of the Truncated words; "" means drop.
	Truncated string
	// Loss is the mask of sft rows; "" means assistant.
	Loss Loss
	// Pick is one of the Pick words; "" means best.
	Pick string
	// PerTask is how many sft rows one task may give, one per behaviour before any
	// behaviour comes again; 0 means all.
	PerTask int
	// Margin is the least difference of reward of a pair; 0 means 1.
	Margin float64
	// LengthRatio is how many times longer one side of a pair may be than the other; 0
	// means any. Pairs are matched by length in any case.
	LengthRatio float64
	// Seed moves what is picked at random.
	Seed int64
	// EvalTasks are the tasks that training must not have seen: the held-out ones.
	EvalTasks []record.Posed
}

// Defaults of [Options].
const (
	defaultThreshold = 1.0
	// The band in which a group has both passes and failures worth comparing. Convention,
	// untested.
	bandFloor, bandCeiling = 0.2, 0.8
	// A pass against a failure under a binary reward.
	defaultMargin = 1.0
)

// resolve fills in the defaults and refuses what is no option.
func (o Options) resolve() (Options, error) {
	if o.PassThreshold == 0 {
		o.PassThreshold = defaultThreshold
	}
	if o.Band == [2]float64{} {
		o.Band = [2]float64{bandFloor, bandCeiling}
	}
	if o.Band[0] < 0 || o.Band[1] > 1 || o.Band[0] > o.Band[1] {
		return o, record.Problemf("bad_option", "give a low and a high share between 0 and 1", "the band %g..%g is none", o.Band[0], o.Band[1])
	}
	if o.Margin == 0 {
		o.Margin = defaultMargin
	}
	if o.Margin < 0 || o.LengthRatio < 0 || o.PerTask < 0 {
		return o, record.Problemf("bad_option", "give 0 or more", "margin %g, length ratio %g and rows a task %d cannot be negative", o.Margin, o.LengthRatio, o.PerTask)
	}
	for _, choice := range []struct {
		what    string
		value   *string
		allowed []string
	}{
		{"truncated", &o.Truncated, []string{TruncatedDrop, TruncatedKeep, TruncatedPenalise}},
		{"pick", &o.Pick, []string{PickBest, PickRandom}},
		{"loss", (*string)(&o.Loss), []string{string(LossAssistant), string(LossFinal)}},
	} {
		if err := choose(choice.what, choice.value, choice.allowed); err != nil {
			return o, err
		}
	}
	return o, nil
}

// choose sets an empty value to the first of the allowed and refuses any other.
func choose(what string, value *string, allowed []string) error {
	if *value == "" {
		*value = allowed[0]
		return nil
	}
	for _, a := range allowed {
		if *value == a {
			return nil
		}
	}
	return record.Problemf("bad_option", "use one of "+strings.Join(allowed, ", "), "%s is %q", what, *value)
}
