package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"assay/store"
)

func backupCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "backup FILE",
		Short:   "Copy the whole database while it is in use",
		Example: "assay backup copy.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return s.withStore(ctx, s.read, func(db *store.DB) error {
				if err := db.Backup(ctx, args[0]); err != nil {
					return err
				}
				return s.print(map[string]string{"file": args[0]}, func(w io.Writer) { fmt.Fprintf(w, "copied to %s\n", plain(args[0])) })
			})
		},
	}
}

func hideCommand(s *session) *cobra.Command {
	var undo bool
	c := &cobra.Command{
		Use:     "hide RUN",
		Short:   "Hide a run and its parts from the lists; --undo brings it back",
		Example: "assay hide last\nassay hide 3f2a --undo",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return s.withRun(ctx, s.open, args[0], func(db *store.DB, id string) error {
				if err := db.Hide(ctx, id, !undo); err != nil {
					return err
				}
				return s.print(map[string]any{"run": id, "hidden": !undo}, func(w io.Writer) {
					if undo {
						fmt.Fprintf(w, "run %s is back\n", id)
						return
					}
					fmt.Fprintf(w, "run %s is hidden; assay hide %s --undo brings it back\n", id, id)
				})
			})
		},
	}
	c.Flags().BoolVar(&undo, "undo", false, "bring it back")
	return c
}

func purgeCommand(s *session) *cobra.Command {
	var withLabels bool
	c := &cobra.Command{
		Use:     "purge RUN",
		Short:   "Really remove a hidden run",
		Long:    "Really remove a hidden run, its parts and their rollouts. A run with labels is refused unless --with-labels:\nlabels are a person's work and cannot be made again.",
		Example: "assay hide 3f2a\nassay purge 3f2a",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return s.withRun(ctx, s.open, args[0], func(db *store.DB, id string) error {
				if err := db.Purge(ctx, id, withLabels); err != nil {
					return err
				}
				return s.print(map[string]any{"run": id, "purged": true}, func(w io.Writer) { fmt.Fprintf(w, "run %s is gone\n", id) })
			})
		},
	}
	c.Flags().BoolVar(&withLabels, "with-labels", false, "its labels too")
	return c
}
