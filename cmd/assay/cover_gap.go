package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"assay/engine"
	"assay/engine/axes"
	"assay/engine/record"
	"assay/store"
	"assay/store/exchange"
)

// askedBy says where asks are read from: a file, a run, or both together.
type askedBy struct{ file, run string }

func (a askedBy) any() bool { return a.file != "" || a.run != "" }

// coverGap prints what asks leave untested of a recipe.
func (s *session) coverGap(c *cobra.Command, args []string, from askedBy) error {
	for _, name := range []string{"strength", "smallest", "csv", "model"} {
		if c.Flags().Changed(name) {
			return record.Problemf("usage", "leave it out", "--%s is of an array, and asks are read", name)
		}
	}
	if len(args) == 0 {
		return record.Problemf("usage", "write assay cover RECIPE --asks FILE", "no recipe is named")
	}
	ctx := c.Context()
	r, err := s.recipeWithTools(ctx, args[0])
	if err != nil {
		return err
	}
	asks, err := s.asked(ctx, from)
	if err != nil {
		return err
	}
	if len(asks) == 0 {
		return record.Problemf("no_asks", "name a file with an ask a line, or a run with rollouts", "there is no ask to read")
	}
	report, err := engine.CoverageGap(r, asks)
	if err != nil {
		return err
	}
	return s.print(report, func(w io.Writer) { writeGap(w, report) })
}

// asked reads the asks.
func (s *session) asked(ctx context.Context, from askedBy) ([]axes.Asked, error) {
	var asks []axes.Asked
	if from.file != "" {
		f, err := os.Open(from.file)
		if err != nil {
			return nil, record.Problemf("no_file", "name a file that can be read", "read the asks: %w", err)
		}
		defer f.Close()
		read, err := exchange.ReadAsks(f, from.file)
		if err != nil {
			return nil, err
		}
		for _, a := range read {
			asks = append(asks, axes.Asked{Ask: a.Text, Axes: a.Axes, Turns: a.Turns})
		}
	}
	if from.run == "" {
		return asks, nil
	}
	err := s.withRun(ctx, s.read, from.run, func(db *store.DB, id string) error {
		ran, err := s.newEngine(db, nil).AsksOf(ctx, id)
		asks = append(asks, ran...)
		return err
	})
	return asks, err
}

// writeGap prints all that is not reached, each name whole: it is a list to work off.
func writeGap(w io.Writer, r *engine.GapReport) {
	fmt.Fprintf(w, "%s: %d of %d rules and %d of %d tools are not reached\n", countOf(r.Asks, "different ask"), len(r.Rules), r.RulesOf, len(r.Tools), r.ToolsOf)
	for _, warning := range r.Warnings {
		text, names := warning.Text, []string(nil)
		switch warning.Code {
		case "rules_untested":
			text, names = "rules that no ask reaches", r.Rules
		case "tools_untested":
			text, names = "tools that no ask reaches", r.Tools
		}
		fmt.Fprintf(w, "  %s (%s)\n", plain(text), plain(warning.Fix))
		for _, name := range names {
			fmt.Fprintf(w, "    %s\n", plain(name))
		}
	}
}

// countOf is a number of things in words.
func countOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
