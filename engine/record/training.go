package record

// Loss says which of the agent's words a row of a training file teaches.
type Loss string

// Losses of a training row.
const (
	LossAssistant Loss = "assistant" // every turn of the agent, calls included
	LossFinal     Loss = "final"     // its last reply alone
)

// Training is what goes into one training file, chosen and in order: what a cut
// hands to whoever writes files. It holds no held-out task and no row of an
// eval run.
type Training struct {
	For string // sft, dpo, grpo or rm
	Run *Run
	// SystemPrompt and Tools are what the agent was shown; nil Tools are each task's
	// own.
	SystemPrompt Text
	Tools        []Tool
	Rows         []TrainingRow   // sft and rm
	Groups       []TrainingGroup // grpo
	Pairs        []TrainingPair  // dpo, and rm where it is made of pairs
}

// TrainingRow is one rollout to learn from.
type TrainingRow struct {
	Sample *Sample
	Loss   Loss // "" means assistant
	// Reward is the score that the trainer is told; nil means the sample's own.
	Reward *float64
}

// TrainingGroup is the rollouts of one task that are compared with each other.
type TrainingGroup struct {
	Samples []*Sample
	// Rewards are the scores that the trainer is told, one for each sample; nil means
	// the samples' own.
	Rewards   []float64
	Mean, Std float64 // of the rewards
}

// TrainingPair is two rollouts of one task, the better one first.
type TrainingPair struct {
	Chosen, Rejected *Sample
	Margin           float64 // between their rewards
}

// TaskIDs are the tasks that the file is made from, each once, in order.
func (t *Training) TaskIDs() []string {
	var ids []string
	seen := map[string]bool{}
	add := func(s *Sample) {
		if id := s.Task.ID; !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	for i := range t.Rows {
		add(t.Rows[i].Sample)
	}
	for i := range t.Groups {
		for _, s := range t.Groups[i].Samples {
			add(s)
		}
	}
	for i := range t.Pairs {
		add(t.Pairs[i].Chosen)
		add(t.Pairs[i].Rejected)
	}
	return ids
}
