package cut

// targetSays is what a target is for.
func targetSays(target string) string {
	switch target {
	case "sft":
		return "passes, to imitate"
	case "dpo":
		return "pairs of a pass and a failure of one task"
	case "grpo":
		return "groups of one task's rollouts that neither all pass nor all fail"
	case "rm":
		return "every graded rollout with its score"
	}
	return ""
}

// gateSays is why a gate takes rows.
func gateSays(gate string) string {
	switch gate {
	case "privileged_leak":
		return "The agent quoted what only the truth may know: learning from it would teach to cheat."
	case "eval_set":
		return "Held-out tasks and eval runs are measured on, and never trained on."
	case "unusable_label":
		return "No verdict, or one that cannot be used: a missing verdict is no failure."
	case "junk":
		return "No attempt at the task: an empty reply, a stub, output that degenerated."
	case "contamination":
		return "The task, its ask, or most of its words stand in the eval set too."
	case "duplicates":
		return "Word for word what a rollout of the same task did before."
	case "truncated":
		return "The reply ran into its length limit: its end is not the agent's."
	case "failing":
		return "Under the pass threshold: nothing to imitate."
	case "per_task":
		return "Its task has given as many rows as one task may."
	case "no_contrast":
		return "Its task has no pass beside a failure under one policy version."
	case "margin":
		return "No partner whose reward differs by enough."
	case "length":
		return "No partner of like length: pairs of unlike length teach length."
	case "unpaired":
		return "Its partners are all taken: a rollout stands in one pair at most."
	case "probes":
		return "The first two rollouts of a group decide whether it goes on, so they train none."
	case "mixed_policy":
		return "Rollouts of several policy versions are not compared with each other."
	case "too_small":
		return "A group of one compares with nothing."
	case "unanimous":
		return "All of its group pass, or all fail: there is no gradient."
	case "out_of_band":
		return "Its task passes too rarely or too often to learn much from."
	}
	return ""
}

// regimeSays is what a scan comes to.
func regimeSays(regime string) string {
	switch regime {
	case "unknown":
		return "no training task has two graded rollouts: there is nothing to look into"
	case "degenerate":
		return "the tasks have too few different rollouts to tell features apart"
	case "no_signal":
		return "nothing goes with the reward beyond chance"
	case "reward_hack":
		return "what goes with the reward most is not what was meant"
	case "pool_exhausted":
		return "too many tasks always pass: they give no gradient"
	case "train":
		return "there is something to learn from"
	}
	return ""
}

// formats are those that a set can be written in, with what each is.
func formats() []struct{ name, says string } {
	return []struct{ name, says string }{
		{"whileai", "public rows, with everything a trainer may use"},
		{"trl", "the columns that TRL reads, and no other"},
		{"openai", "chat fine-tuning, for sft"},
	}
}
