package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"assay/engine"
	"assay/engine/record"
	"assay/recipes"
	"assay/store"
)

func runCommand(s *session) *cobra.Command {
	var opts engine.Options
	var watch bool
	knobs := map[string]*string{}
	c := &cobra.Command{
		Use:     "run RECIPE",
		Short:   "Run a recipe: simulate, grade, cut, and compare",
		Long:    "Run a recipe: a folder, its recipe.yaml, or an embedded one by name.\n\nEmbedded recipes:\n" + embeddedList(),
		Example: "assay run seeded-agent\nassay run ./my-recipe --name first --seed 7\nassay run before-and-after --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			opts.Overrides = engine.Overrides{}
			for name, value := range knobs {
				if c.Flags().Changed(name) {
					opts.Overrides[name] = *value
				}
			}
			if err := inlineRubric(opts.Overrides); err != nil {
				return err
			}
			if watch {
				return s.watchRun(c.Context(), args[0], opts)
			}
			return s.runRecipe(c.Context(), args[0], opts)
		},
	}
	f := c.Flags()
	for _, k := range runKnobs {
		knobs[k.name] = f.String(k.name, "", k.says)
	}
	f.StringVar(&opts.Name, "name", "", "a name for the run")
	f.StringVar(&opts.Out, "out", "", "the folder for training files (default the database's)")
	f.StringVar(&opts.Tasks, tasksKnob, "", "pose the tasks of this run instead of new ones")
	f.BoolVar(&watch, "watch", false, "open the app on it")
	return c
}

// runKnobs are the flags that override the recipe; the engine checks them. Those that
// bound a run may be set anew when it is resumed.
var runKnobs = []struct {
	name, says string
	bound      bool
}{
	{name: "situations", says: "how many situations to pose"},
	{name: "phrasings", says: "wordings of each situation"},
	{name: "repeats", says: "rollouts of each task (k)"},
	{name: "seed", says: "the seed of every draw"},
	{name: "fault-rate", says: "share of fault situations that keep their fault, 0 to 1"},
	{name: "concurrency", says: "rollouts in flight; never changes a result", bound: true},
	{name: "mode", says: "eval, rl, sft or explore"},
	{name: "agent", says: "the agent: builtin:NAME, a model such as openai:MODEL, or the recipe's mapping"},
	{name: "judge", says: "the judge: builtin:NAME, a model such as openai:MODEL, or the recipe's mapping"},
	{name: "runs", says: "eval runs a side of the delta, or without a changed arm of the run"},
	{name: "aim", says: "aim by the failures of this run or imported log, and ask first what it has not"},
	{name: "budget", says: "stop after so many rollouts", bound: true},
	{name: "max-tokens", says: "stop after so many tokens, in and out together", bound: true},
	{name: "max-cost", says: "stop after so much money, by the recipe's prices", bound: true},
}

// inlineRubric puts the text of a rubric's file into --judge: what is stored with the
// run must not depend on a file that nobody stored.
func inlineRubric(o engine.Overrides) error {
	text, given := o["judge"]
	if !given {
		return nil
	}
	spec, err := engine.ParseJudgeSpec(text)
	if err != nil || spec.Rubric == "" {
		return nil // the recipe's check says what is wrong
	}
	if err := spec.ReadRubric(os.ReadFile); err != nil {
		return err
	}
	whole, err := record.Marshal(spec) // JSON is YAML
	o["judge"] = string(whole)
	return err
}

func embeddedList() string {
	var b strings.Builder
	for _, r := range recipes.List() {
		fmt.Fprintf(&b, "  %-24s %s\n", r.Name, r.Title)
	}
	return b.String()
}

func (s *session) runRecipe(ctx context.Context, name string, opts engine.Options) error {
	recipe, err := s.loadRecipe(name)
	if err != nil {
		return err
	}
	if err := recipe.Apply(opts.Overrides); err != nil {
		return err
	}
	return s.withStore(ctx, s.open, func(db *store.DB) error {
		if err := s.settle(ctx, db, &opts); err != nil {
			return err
		}
		return s.tell(ctx, db, func(e *engine.Engine, control *engine.Control) (*engine.StoryResult, error) {
			return e.Run(ctx, recipe, opts, control)
		})
	})
}

// settle resolves what the options name.
func (s *session) settle(ctx context.Context, db *store.DB, opts *engine.Options) error {
	if opts.Tasks != "" {
		id, err := db.Resolve(ctx, opts.Tasks)
		if err != nil {
			return err
		}
		opts.Tasks = id
	}
	if opts.Out == "" {
		opts.Out = filepath.Dir(s.file())
	}
	return os.MkdirAll(opts.Out, 0o755)
}

func resumeCommand(s *session) *cobra.Command {
	var force bool
	var out string
	bounds := map[string]*string{}
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with an interrupted run, by the recipe stored with it",
		Long: "Go on with an interrupted run, by the recipe stored with it. A run that a budget stopped goes on\n" +
			"where a larger one is given; what it has used up so far counts.",
		Example: "assay resume last\nassay resume last --max-cost 5",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			overrides := engine.Overrides{}
			for name, value := range bounds {
				if c.Flags().Changed(name) {
					overrides[name] = *value
				}
			}
			return s.withRun(ctx, s.open, args[0], func(db *store.DB, id string) error {
				if out == "" {
					out = filepath.Dir(s.file())
				}
				return s.tell(ctx, db, func(e *engine.Engine, control *engine.Control) (*engine.StoryResult, error) {
					return e.Resume(ctx, id, engine.ResumeOptions{Force: force, Out: out, Overrides: overrides}, control)
				})
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "resume although the agent's files have changed")
	c.Flags().StringVar(&out, "out", "", "the folder for training files (default the database's)")
	for _, k := range runKnobs {
		if k.bound {
			bounds[k.name] = c.Flags().String(k.name, "", k.says)
		}
	}
	return c
}

// tell runs a story with a progress line, lets signals drain and then abort it,
// prints what came of it, and gives the exit code.
func (s *session) tell(ctx context.Context, db *store.DB, story func(*engine.Engine, *engine.Control) (*engine.StoryResult, error)) error {
	control := &engine.Control{}
	stop := s.drainOnSignal(control)
	defer stop()
	line := newProgress(s, time.Now)
	result, err := story(s.newEngine(db, line.observe), control)
	line.close()
	if err != nil {
		return err
	}
	line.rest(result.Warnings)
	if err := s.print(result, func(w io.Writer) { writeStory(w, result) }); err != nil {
		return err
	}
	return storyStatus(result)
}

// drainOnSignal makes an interrupt drain the story and a second one abort it.
func (s *session) drainOnSignal(control *engine.Control) (stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-signals:
			}
			control.Stop()
			if n == 0 {
				s.say("stopping: rollouts in flight may finish; interrupt again to abort them")
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// storyStatus is the exit code of a story: 0 when all that was asked was done,
// whatever the delta's word.
func storyStatus(r *engine.StoryResult) error {
	switch r.StoppedBecause {
	case record.StoppedInterrupted:
		return exitStatus(exitInterrupted)
	case record.StoppedAgentFailed, record.StoppedEmptyReplies, record.StoppedAuth, record.StoppedWrongAddress, record.StoppedStorage:
		return exitStatus(exitCouldNot)
	}
	if r.Hollow {
		return exitStatus(exitCouldNot)
	}
	for _, c := range r.Cut {
		if c.Error != nil {
			return exitStatus(exitCouldNot)
		}
	}
	return nil
}

func writeStory(w io.Writer, r *engine.StoryResult) {
	name := r.Run
	if r.Name != "" {
		name += " (" + r.Name + ")"
	}
	fmt.Fprintf(w, "run %s: %s, %s, %s, %.1f s\n", plain(name), record.Counted(r.Tasks, "task"), record.Counted(r.Rollouts, "rollout"), strings.ReplaceAll(string(r.StoppedBecause), "_", " "), r.Seconds)
	for _, cause := range slices.Sorted(maps.Keys(r.Lost)) {
		fmt.Fprintf(w, "  lost to %s: %d\n", cause, r.Lost[cause])
	}
	if r.Error != "" {
		fmt.Fprintf(w, "  first error: %s\n", plain(string(r.Error)))
	}
	if r.Pass != nil {
		fmt.Fprintf(w, "  pass@1 %s\n", estimate(r.Pass.PassAt1, "held-out task"))
	}
	for i := range r.Cut {
		writeCut(w, &r.Cut[i])
	}
	if r.Delta != nil {
		fmt.Fprintln(w)
		fmt.Fprintln(w, strings.TrimSuffix(plain(r.Delta.Text()), "\n"))
	}
}
