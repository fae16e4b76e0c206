package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"assay/engine"
	"assay/engine/record"
	"assay/engine/stats"
	"assay/recipes"
	"assay/store"
	"assay/tui"
	"assay/tui/ui"
)

// openApp opens the app on the database; runID, where it is set, is the run to
// open on.
func (s *session) openApp(ctx context.Context, runID string) error {
	return s.app(ctx, tui.Options{Open: runID}, engine.Options{})
}

// labelInApp opens the app on Label of a run, with the queue that is asked for.
func (s *session) labelInApp(ctx context.Context, run, annotator string, o engine.QueueOptions) error {
	if !s.onTerminal() {
		return record.Problemf("no_terminal", "add --plain to label row by row", "the label screen needs a terminal, and this is none")
	}
	var id string
	if err := s.withRun(ctx, s.read, run, func(_ *store.DB, runID string) error { id = runID; return nil }); err != nil {
		return err
	}
	return s.app(ctx, tui.Options{Open: id, Screen: ui.ScreenLabel, Queue: o, Annotator: annotator}, engine.Options{})
}

// watchRun opens the app and runs a recipe in it.
func (s *session) watchRun(ctx context.Context, recipe string, opts engine.Options) error {
	return s.app(ctx, tui.Options{Begin: recipe}, opts)
}

func (s *session) onTerminal() bool { return s.isTerminal(s.in) && s.isTerminal(s.out) }

// app draws the app. Without a terminal it never does: it says which command to
// use.
func (s *session) app(ctx context.Context, o tui.Options, opts engine.Options) error {
	if !s.onTerminal() {
		return &record.Problem{Code: "no_terminal", Message: "the app needs a terminal, and this is none",
			Fix: "use a command: assay run RECIPE, assay runs, assay show RUN; assay --help lists them"}
	}
	return s.withStore(ctx, s.openForApp, func(db *store.DB) error {
		if err := s.settle(ctx, db, &opts); err != nil {
			return err
		}
		b := &background{session: s, db: db, ctx: ctx}
		defer b.wait()
		version, _ := buildVersion()
		o.Store, o.Version, o.Environ, o.Now = db, version, s.environ, time.Now
		if o.Annotator == "" {
			o.Annotator = s.person()
		}
		o.CrashDir = filepath.Dir(s.file())
		o.Engine, o.Dir = s.newEngine(db, nil), filepath.Dir(s.file())
		o.Recipes = s.offered(".")
		o.Pass = b.pass
		o.Start = func(what tui.Begin, observe func(engine.Event)) (tui.Story, error) {
			asked := opts
			if what.Recipe != o.Begin || what.Knobs != nil { // the flags are for the run that the command asked for
				var err error
				if asked, err = s.askedFor(ctx, db, what, opts.Out); err != nil {
					return nil, err
				}
			}
			return b.start(what.Recipe, asked, observe)
		}
		o.Knobs = s.knobs
		o.Resume = func(runID string, observe func(engine.Event)) (tui.Story, error) {
			return b.resume(runID, opts, observe)
		}
		if err := tui.Run(ctx, o); err != nil || o.Begin == "" {
			return err
		}
		b.wait()
		return b.status()
	})
}

// tasksKnob is what the form has beside the knobs that override a recipe.
const tasksKnob = "tasks"

// askedFor is what the form asks for, as a command's flags would.
func (s *session) askedFor(ctx context.Context, db *store.DB, what tui.Begin, out string) (engine.Options, error) {
	knobs := maps.Clone(what.Knobs)
	o := engine.Options{Out: out, Name: what.Name, Tasks: knobs[tasksKnob], Overrides: knobs}
	delete(knobs, tasksKnob)
	if err := s.settle(ctx, db, &o); err != nil {
		return o, err
	}
	return o, inlineRubric(o.Overrides)
}

// status is the exit code of the run that a command asked the app for.
func (b *background) status() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.stories) == 0 {
		return nil
	}
	first := b.stories[0]
	if result := first.Result(); result != nil {
		return storyStatus(result)
	}
	return first.Err()
}

// openForApp opens the file for writing, or where it cannot be written for
// reading alone.
func (s *session) openForApp(ctx context.Context) (*store.DB, error) {
	db, err := s.open(ctx)
	if code := store.CodeOf(err); code == store.CodeReadOnly || code == store.CodePermission {
		if readOnly, readErr := s.read(ctx); readErr == nil {
			return readOnly, nil
		}
	}
	return db, err
}

// background runs the app's stories and waits for them.
type background struct {
	session *session
	db      *store.DB
	ctx     context.Context

	mu      sync.Mutex
	stories []*engine.Story
}

func (b *background) start(name string, opts engine.Options, observe func(engine.Event)) (tui.Story, error) {
	recipe, err := b.session.loadRecipe(name)
	if err != nil {
		return nil, err
	}
	if err := recipe.Apply(opts.Overrides); err != nil {
		return nil, err
	}
	return b.begin(func(c *engine.Control) (*engine.StoryResult, error) {
		return b.session.newEngine(b.db, observe).Run(b.ctx, recipe, opts, c)
	}), nil
}

func (b *background) resume(runID string, opts engine.Options, observe func(engine.Event)) (tui.Story, error) {
	return b.begin(func(c *engine.Control) (*engine.StoryResult, error) {
		return b.session.newEngine(b.db, observe).Resume(b.ctx, runID, engine.ResumeOptions{Out: opts.Out}, c)
	}), nil
}

func (b *background) begin(tell func(*engine.Control) (*engine.StoryResult, error)) *engine.Story {
	story := engine.Begin(tell)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stories = append(b.stories, story)
	return story
}

// wait lets every story end before the file is closed.
func (b *background) wait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.stories {
		s.Stop()
		<-s.Done()
	}
}

// pass is a run's pass rate for the screens: on held-out tasks, or where the run
// has none on all.
func (b *background) pass(ctx context.Context, runID string) (stats.Estimate, bool, error) {
	e := b.session.newEngine(b.db, nil)
	r, err := e.Pass(ctx, runID, false)
	if err == nil {
		return r.PassAt1, true, nil
	}
	run, runErr := b.db.Run(ctx, runID)
	switch {
	case runErr != nil:
		return stats.Estimate{}, false, runErr
	case run.Status == record.RunRunning: // its held-out tasks may only not have come back yet
		return stats.Estimate{}, true, nil
	}
	r, err = e.Pass(ctx, runID, true)
	return r.PassAt1, false, err
}

// knobs are what can be set of a recipe, with what it says itself.
func (s *session) knobs(name string) ([]tui.Knob, error) {
	recipe, err := s.loadRecipe(name)
	if err != nil {
		return nil, err
	}
	set := recipe.Settings()
	count := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	says := map[string]string{
		"situations": "as many as cover the axes", "phrasings": count(set.Phrasings), "repeats": count(set.Repeats), "seed": fmt.Sprint(set.Seed),
		"fault-rate": fmt.Sprint(set.FaultRate), "concurrency": count(set.Concurrency), "mode": string(set.Mode), "agent": agentSays(recipe.Agent),
		"budget": count(set.Budget), "runs": count(set.DeltaRuns), "aim": recipe.Simulate.Aim,
	}
	if set.Situations > 0 {
		says["situations"] = count(set.Situations)
	}
	var out []tui.Knob
	for _, k := range runKnobs {
		out = append(out, tui.Knob{Name: k.name, About: k.says, Default: says[k.name]})
	}
	return append(out, tui.Knob{Name: tasksKnob, About: "pose the tasks of this run instead of new ones: by name, id, or last"}), nil
}

// agentSays is a recipe's agent in a few words.
func agentSays(a engine.AgentSpec) string {
	switch {
	case a.Builtin != "":
		return "builtin:" + a.Builtin
	case len(a.Command) > 0:
		return strings.Join(a.Command, " ")
	}
	return a.HTTP + a.Model + a.Function
}

// offered are the recipes of a folder and those that are embedded, with what this
// machine lacks for each of these.
func (s *session) offered(dir string) []tui.Recipe {
	out := recipesOf(dir)
	for _, r := range recipes.List() {
		o := tui.Recipe{Name: r.Name, About: r.Title}
		if missing := s.lacking(r); len(missing) > 0 {
			o.Lacks = strings.Join(missing, ", ")
		}
		out = append(out, o)
	}
	return out
}

// recipesOf are a person's own recipes: the folder itself, or folders in it. They are
// not read before they are run, which says what is wrong with one.
func recipesOf(dir string) []tui.Recipe {
	var out []tui.Recipe
	for _, pattern := range []string{engine.RecipeFile, filepath.Join("*", engine.RecipeFile)} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern)) // its one error is a bad pattern
		for _, file := range files {
			out = append(out, tui.Recipe{Name: "." + string(filepath.Separator) + filepath.Dir(file), About: "your own, in " + file})
		}
	}
	return out
}
