package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"assay/engine"
	"assay/engine/delta"
	"assay/engine/record"
	"assay/store"
)

func deltaCommand(s *session) *cobra.Command {
	var o engine.DeltaOptions
	var format, require, page string
	c := &cobra.Command{
		Use:   "delta BEFORE AFTER",
		Short: "Compare two runs on the held-out tasks that both have",
		Long: "Compare two runs on the held-out tasks that both have. For the first run of a story its parts\n" +
			"may be named by role: RUN:before and RUN:after. What no flag says (target, guards, slices) is taken from\n" +
			"the recipe of the run after.",
		Example: "assay delta last:before last:after\nassay delta base changed --must-not-regress conduct --require PASS\n" +
			"assay delta base changed --format markdown --html delta.html",
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if err := oneOf("--format", format, "text", "markdown", "json"); err != nil {
				return err
			}
			if require != "" && require != "PASS" {
				return record.Problemf("bad_flag", "use --require PASS", "--require %q is not known", require)
			}
			return s.withStore(ctx, s.read, func(db *store.DB) error {
				before, err := s.resolvePart(ctx, db, args[0])
				if err != nil {
					return err
				}
				after, err := s.resolvePart(ctx, db, args[1])
				if err != nil {
					return err
				}
				e := s.newEngine(db, nil)
				if o, err = asked(ctx, c.Flags(), e, after, o); err != nil {
					return err
				}
				r, err := e.Delta(ctx, before, after, o)
				if err != nil {
					return err
				}
				if format == "json" {
					s.json = true
				}
				if page != "" {
					if err := s.writePage(page, r.HTML()); err != nil {
						return err
					}
				}
				text := r.Text
				if format == "markdown" {
					text = r.Markdown
				}
				if err := s.print(r, func(w io.Writer) { fmt.Fprintln(w, strings.TrimSuffix(plain(text()), "\n")) }); err != nil {
					return err
				}
				return deltaStatus(&r, require)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&o.Target, "target", "", "the metric that decides (default pass_at_1)")
	f.StringSliceVar(&o.MustNotRegress, "must-not-regress", nil, "guards, between commas")
	f.StringSliceVar(&o.LowerIsBetter, "lower-is-better", nil, "metrics where less is better, between commas")
	f.StringVar(&o.Proxy, "proxy", "", "the training reward, where it is not the target")
	f.StringVar(&o.By, "by", "", "slice by tool, stance, fault or another axis")
	f.BoolVar(&o.AllTasks, "all-tasks", false, "training tasks too, not only held-out ones")
	f.StringVar(&format, "format", "text", "text, markdown or json")
	f.StringVar(&page, "html", "", "also write the report as one page with pictures into this file")
	f.StringVar(&require, "require", "", "PASS: exit 1 unless the headline is PASS")
	return c
}

// writePage writes a report's page into a file, without the values of known keys.
func (s *session) writePage(file, page string) error {
	if err := os.WriteFile(file, s.mask.Raw([]byte(page)), 0o644); err != nil {
		return record.Problemf("cannot_write", "name a file in a folder that can be written", "write the page: %w", err)
	}
	return nil
}

// asked fills what no flag said from the recipe of the run after: its guards hold
// also where a person compares by hand.
func asked(ctx context.Context, flags *pflag.FlagSet, e *engine.Engine, after string, o engine.DeltaOptions) (engine.DeltaOptions, error) {
	recipe, err := e.DeltaAsked(ctx, after)
	if err != nil {
		return o, err
	}
	if !flags.Changed("target") {
		o.Target = recipe.Target
	}
	if !flags.Changed("must-not-regress") {
		o.MustNotRegress = recipe.MustNotRegress
	}
	if !flags.Changed("lower-is-better") {
		o.LowerIsBetter = recipe.LowerIsBetter
	}
	if !flags.Changed("proxy") {
		o.Proxy = recipe.Proxy
	}
	if !flags.Changed("by") {
		o.By = recipe.By
	}
	return o, nil
}

// deltaStatus is the exit code of a comparison: 0 for a headline that answers, 1
// where the answer is no, 2 where there is none.
func deltaStatus(r *engine.DeltaReport, require string) error {
	switch r.Headline {
	case delta.InsufficientData, delta.NotComparable, delta.TargetNotMeasured:
		return exitStatus(exitCouldNot)
	case delta.Fail:
		return exitStatus(exitGate)
	}
	if require != "" && !r.OK {
		return exitStatus(exitGate)
	}
	return nil
}
