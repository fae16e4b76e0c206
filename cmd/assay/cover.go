package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"assay/engine"
	"assay/engine/record"
)

func coverCommand(s *session) *cobra.Command {
	var strength int
	var smallest, csv bool
	var model string
	var asked askedBy
	c := &cobra.Command{
		Use:   "cover RECIPE",
		Short: "Print the covering array of a recipe or of a PICT model, or what asks leave untested",
		Long: "Print the covering array of a recipe, or of a PICT model.\n\n" +
			"With --asks or --run, print which rules, tools and ways of asking of the recipe those asks do\n" +
			"not reach. A file of asks holds one a line, as text or as JSON rows.",
		Example: "assay cover seeded-agent\nassay cover bring-your-own-agent --strength 3 --csv\nassay cover --model model.txt\n" +
			"assay cover seeded-agent --asks asks.txt\nassay cover seeded-agent --run last",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if asked.any() {
				return s.coverGap(c, args, asked)
			}
			report, err := s.coverReport(c.Context(), args, model, engine.CoverOptions{Strength: strength, Smallest: smallest})
			if err != nil {
				return err
			}
			if csv {
				return s.printText(report.WriteCSV)
			}
			return s.print(report, func(w io.Writer) { writeCover(w, report) })
		},
	}
	f := c.Flags()
	f.IntVar(&strength, "strength", 0, "2, 3 or 4: how many values must meet (default the recipe's)")
	f.BoolVar(&smallest, "smallest", false, "the joint array, which an edited clause may move whole")
	f.BoolVar(&csv, "csv", false, "print the rows as CSV")
	f.StringVar(&model, "model", "", "a file with a PICT model instead of a recipe")
	f.StringVar(&asked.file, "asks", "", "print what the asks of this file leave untested")
	f.StringVar(&asked.run, "run", "", "print what the asks of this run leave untested")
	return c
}

func (s *session) coverReport(ctx context.Context, args []string, model string, o engine.CoverOptions) (*engine.CoverReport, error) {
	switch {
	case model != "" && len(args) > 0:
		return nil, record.Problemf("usage", "leave out one of them", "both a recipe and a model are named")
	case model != "":
		f, err := os.Open(model)
		if err != nil {
			return nil, record.Problemf("no_model", "name a file that can be read", "read the model: %w", err)
		}
		defer f.Close()
		return engine.CoverModel(f, model, o)
	case len(args) == 0:
		return nil, record.Problemf("usage", "write assay cover RECIPE, or --model FILE", "no recipe is named")
	}
	r, err := s.recipeWithTools(ctx, args[0])
	if err != nil {
		return nil, err
	}
	return engine.Cover(r, o)
}

// recipeWithTools is a recipe whose MCP server, if it names one, was asked for its
// tools.
func (s *session) recipeWithTools(ctx context.Context, name string) (*engine.Recipe, error) {
	r, err := s.loadRecipe(name)
	if err != nil {
		return nil, err
	}
	return r, r.AskTools(ctx, s.environ)
}

func writeCover(w io.Writer, r *engine.CoverReport) {
	fmt.Fprintf(w, "strength %d: %s, no array has fewer than %d; %d of %d tuples covered\n", r.Strength, record.Counted(r.Rows, "row"), r.LowerBound, r.Covered, r.Planned)
	if r.OtherRows > 0 {
		fmt.Fprintf(w, "  %s array; the %s one has %s\n", r.Kind, r.OtherKind, record.Counted(r.OtherRows, "row"))
	}
	for _, p := range r.Parameters {
		fmt.Fprintf(w, "  %-16s %s\n", plain(p.Name), record.Counted(len(p.Values), "value"))
	}
	for _, x := range r.Excluded {
		fmt.Fprintf(w, "  excluded: %s (%s)\n", plain(x.Expr), plain(x.Reason))
	}
}
