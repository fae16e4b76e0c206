// Command assay finds how a tool-using agent fails, lets a person say by hand
// what good means, and proves whether a change helped.
//
// Each subcommand is a small file of its own that wires the engine to the store
// and prints what came of it. Exit codes: 0 it worked; 1 a gate failed (the
// program worked, the answer is no); 2 it could not be done; 130 interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"

	"assay/engine/record"
	"assay/store"
)

func main() {
	os.Exit(execute(context.Background(), os.Args[1:], &session{in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ()}))
}

// execute runs one invocation and gives its exit code.
func execute(ctx context.Context, args []string, s *session) int {
	s.mask = record.NewMasker(record.Secrets(s.environ, nil)...)
	root := rootCommand(s)
	root.SetArgs(args)
	s.json = slices.Contains(args, "--json") // a flag that cannot be read is reported before the others are
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	version, commit := buildVersion()
	err := fang.Execute(ctx, root, fang.WithVersion(version), fang.WithCommit(commit), fang.WithErrorHandler(s.report))
	return codeOf(err)
}

// Exit codes.
const (
	exitOK          = 0
	exitGate        = 1
	exitCouldNot    = 2
	exitInterrupted = 130
)

// exitStatus ends an invocation whose result has been printed with a code other
// than 0.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func codeOf(err error) int {
	var status exitStatus
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitCouldNot
}

// report prints an error once: as a sentence on stderr, and with --json also as
// the one document on stdout.
func (s *session) report(_ io.Writer, _ fang.Styles, err error) {
	var status exitStatus
	if errors.As(err, &status) {
		return
	}
	p := problemOf(err)
	fmt.Fprintln(s.err, "assay: "+plain(s.mask.Text(p.Error())))
	if s.json {
		s.printJSON(map[string]any{"error": map[string]any{"code": p.Code, "message": p.Message, "where": p.Where, "fix": p.Fix}})
	}
}

// problemOf gives any error the form that --json promises.
func problemOf(err error) *record.Problem {
	var p *record.Problem
	if !errors.As(err, &p) {
		return &record.Problem{Code: "usage", Message: err.Error(), Fix: "see assay --help", Err: err}
	}
	var kept *store.Error
	if errors.As(err, &kept) && err.Error() == kept.Error() {
		return p // the store says where apart
	}
	if err.Error() != p.Error() { // context was wrapped around it: keep it
		q := *p
		q.Message = err.Error()
		q.Where, q.Fix = "", ""
		return &q
	}
	return p
}

// buildVersion is what the binary says of itself: the module's version and the
// commit that it was built from, where the build knew them.
func buildVersion() (version, commit string) {
	version = "dev"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, ""
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		version = v
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			commit = setting.Value
		}
	}
	return version, commit
}

func rootCommand(s *session) *cobra.Command {
	root := &cobra.Command{
		Use:   "assay",
		Short: "Find how a tool-using agent fails, and prove whether a change helped",
		Long: "Assay finds how a tool-using agent fails, lets a person say by hand what good means,\n" +
			"shows whether the judge can be trusted, and proves whether a change helped.\n\n" +
			"Without a subcommand it opens the app. Everything is kept in one SQLite file.",
		Example:       "assay\nassay run seeded-agent\nassay show last",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(c *cobra.Command, _ []string) error { return s.openApp(c.Context(), "") },
	}
	root.PersistentFlags().StringVar(&s.dbPath, "db", "", "the database file (default $ASSAY_DB, else ./assay.db)")
	root.PersistentFlags().BoolVar(&s.json, "json", false, "print one JSON document on stdout and nothing else there")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &record.Problem{Code: "usage", Message: err.Error(), Where: c.CommandPath(), Fix: "see " + c.CommandPath() + " --help", Err: err}
	})
	root.AddCommand(
		runCommand(s), resumeCommand(s), runsCommand(s), showCommand(s), rowsCommand(s), coverCommand(s), worldCommand(s), replayCommand(s),
		gradeCommand(s), labelCommand(s), labelsCommand(s), trustCommand(s), passCommand(s), deltaCommand(s), powerCommand(s), scanCommand(s), cutCommand(s),
		importCommand(s), exportCommand(s), backupCommand(s), hideCommand(s), purgeCommand(s), doctorCommand(s),
	)
	return root
}
