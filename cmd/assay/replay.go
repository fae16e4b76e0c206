package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"assay/engine"
	"assay/engine/record"
	"assay/store"
)

func replayCommand(s *session) *cobra.Command {
	var o engine.ReplayOptions
	c := &cobra.Command{
		Use:   "replay ROLLOUT | RUN TASK#K",
		Short: "Run one rollout again in its world, or with the fault off, and compare",
		Long: "Ask the world of a rollout its tool calls again: every answer must be the same, or the exit\n" +
			"code is 1. With --without-fault the difference is what the injected fault did. With --agent the\n" +
			"agent attempts the task again in that world, and is graded; nothing of it is saved.\n\n" +
			"A rollout is named by its rollout_id, or by its run and task_id#k (task_id#eval_run.k).",
		Example: "assay replay 3f2a9c51d07be864\nassay replay last 0b1c2d3e4f5a6978#2 --without-fault --agent",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return s.withStore(ctx, s.read, func(db *store.DB) error { return s.replay(ctx, db, args, o) })
		},
	}
	c.Flags().BoolVar(&o.WithoutFault, "without-fault", false, "switch the task's fault off")
	c.Flags().BoolVar(&o.Agent, "agent", false, "let the agent attempt the task again")
	return c
}

func (s *session) replay(ctx context.Context, db *store.DB, args []string, o engine.ReplayOptions) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	id, err := rolloutNamed(ctx, db, args)
	if err != nil {
		return err
	}
	sample, err := db.Sample(ctx, id)
	if err != nil {
		return err
	}
	r, err := s.newEngine(db, nil).Replay(ctx, sample, o)
	if err != nil {
		return err
	}
	s.warn(r.Warnings)
	if err := s.print(r, func(w io.Writer) { writeReplay(w, r) }); err != nil {
		return err
	}
	if !r.Same && !o.WithoutFault && !o.Agent {
		return exitStatus(exitGate)
	}
	return nil
}

// rolloutNamed is the id of a rollout that is named by it, or by its run and key.
func rolloutNamed(ctx context.Context, db *store.DB, args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	runID, err := db.Resolve(ctx, args[0])
	if err != nil {
		return "", err
	}
	key, err := parseKey(args[1])
	if err != nil {
		return "", err
	}
	return record.RolloutID(runID, key), nil
}

// parseKey reads task_id#k, or task_id#eval_run.k.
func parseKey(text string) (record.Key, error) {
	task, rest, found := strings.Cut(text, "#")
	evalRun, k, several := strings.Cut(rest, ".")
	if !several {
		evalRun, k = "0", rest
	}
	e, evalErr := strconv.Atoi(evalRun)
	n, err := strconv.Atoi(k)
	if !found || evalErr != nil || err != nil {
		return record.Key{}, record.Problemf("no_rollout", "write task_id#k, or task_id#eval_run.k", "%q names no rollout", text)
	}
	return record.Key{TaskID: task, EvalRun: e, K: n}, nil
}

func writeReplay(w io.Writer, r *engine.ReplayReport) {
	fmt.Fprintf(w, "rollout %s (%s) of run %s", r.Rollout, r.Key, r.Run)
	switch {
	case r.Fault == nil:
		fmt.Fprintln(w, ", without a fault")
	case r.WithoutFault:
		fmt.Fprintf(w, ", with its fault switched off (%s of %s)\n", r.Fault.Condition, plain(r.Fault.Tool))
	default:
		fmt.Fprintf(w, ", fault %s of %s\n", r.Fault.Condition, plain(r.Fault.Tool))
	}
	differ := 0
	for i := range r.Calls {
		c := &r.Calls[i]
		if c.Same {
			continue
		}
		differ++
		fmt.Fprintf(w, "  step %d: %s %s\n    before %s\n    after  %s\n", c.Step, plain(c.Tool), plain(string(c.Arguments)), answerText(c.Before), answerText(c.After))
	}
	fmt.Fprintf(w, "  %s, %d with another answer\n", record.Counted(len(r.Calls), "call"), differ)
	if r.Before != nil {
		writeAttempt(w, "before", r.Before)
		writeAttempt(w, "after", r.After)
	}
	if r.Same {
		fmt.Fprintln(w, "  nothing differs")
	}
}

func answerText(a *engine.CallAnswer) string {
	switch {
	case a == nil:
		return "(not called)"
	case a.Fault != "":
		return plain(string(a.Result)) + "  (fault " + a.Fault + ")"
	}
	return plain(string(a.Result))
}

func writeAttempt(w io.Writer, when string, a *engine.Attempted) {
	reward := "no reward"
	if a.Reward != nil {
		reward = fmt.Sprintf("reward %.3f", *a.Reward)
	}
	fmt.Fprintf(w, "  %-6s %s, %s, ended by %s: %s\n", when, a.Status, reward, a.EndedBy, plain(string(a.FinalText)))
	if a.Error != "" {
		fmt.Fprintf(w, "         %s\n", plain(string(a.Error)))
	}
}
