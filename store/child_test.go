package store

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/engine/record"
)

// kills is how often a writing process is killed: 20 in every run, 200 by flag.
var kills = flag.Int("kills", 20, "how often to kill a process that writes")

// childVariable makes this test binary a program of its own: see [TestMain].
const childVariable = "ASSAY_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childVariable); job != "" {
		if err := runChild(job, os.Args[1], os.Args[2:]); err != nil {
			fmt.Println("error", CodeOf(err), err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func runChild(job, path string, args []string) error {
	ctx := context.Background()
	open := Open
	if job == "backup" {
		open = OpenReadOnly
	}
	db, err := open(ctx, path, Options{})
	if err != nil {
		return err
	}
	switch job {
	case "backup":
		return errors.Join(db.Backup(ctx, args[0]), db.Close())
	case "outcomes":
		return childOutcomes(ctx, db, args[0])
	case "labels":
		return childLabels(ctx, db, args[0])
	case "hold":
		if err := db.CreateRun(ctx, testRun(args[0])); err != nil {
			return err
		}
		fmt.Println("holding")
		_, err := io.Copy(io.Discard, os.Stdin) // until the parent goes or kills
		return err
	}
	return fmt.Errorf("no job %q", job)
}

// childOutcomes writes rollouts for ever and says each one's id after its commit.
func childOutcomes(ctx context.Context, db *DB, runID string) error {
	posed, err := db.Posed(ctx, runID)
	if err != nil {
		return err
	}
	if err := db.ReopenRun(ctx, runID); err != nil {
		return err
	}
	_, k, err := db.RolloutHeads(ctx, runID, HeadQuery{Limit: 1})
	if err != nil {
		return err
	}
	for ; ; k++ {
		var group []record.Outcome
		for _, p := range posed {
			group = append(group, testOutcome(runID, p.Task, 0, k))
		}
		if err := db.CommitOutcomes(ctx, runID, group); err != nil {
			return err
		}
		for _, o := range group {
			fmt.Println(o.Rollout.ID)
		}
	}
}

// childLabels labels one rollout for ever and says each label's number.
func childLabels(ctx context.Context, db *DB, rolloutID string) error {
	for {
		no, err := db.AddLabel(ctx, record.Label{RolloutID: rolloutID, Annotator: "ann", Verdict: record.VerdictPass, Kind: record.GoldHuman})
		if err != nil {
			return err
		}
		fmt.Println(no)
	}
}

// child starts this test binary as another program.
func child(t testing.TB, job, path string, args ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{path}, args...)...)
	cmd.Env = append(os.Environ(), childVariable+"="+job)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close() })
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone already
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(stdout)
}

// acknowledged reads what a child says until it has said n lines, kills it, and
// reads what had been said meanwhile. A line cut off by the kill was not said.
func acknowledged(t testing.TB, cmd *exec.Cmd, out *bufio.Scanner, n int) []string {
	t.Helper()
	var said []string
	for out.Scan() {
		if strings.HasPrefix(out.Text(), "error") {
			t.Fatalf("the child said: %s", out.Text())
		}
		said = append(said, out.Text())
		if len(said) == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // killed; a dead process that nobody waited for still counts as there
	if len(said) < n {
		t.Fatalf("the child ended after %d lines", len(said))
	}
	return said[:len(said)-1]
}

func TestKilledWriterLosesNothingAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assay.db")
	db := open(t, path, Options{})
	fill(t, db, "run1", 4, 1, 1)
	finished := testRun("run1")
	finished.Status, finished.StoppedBecause = record.RunStopped, record.StoppedInterrupted
	if err := db.UpdateRun(t.Context(), finished); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	times := *kills
	if testing.Short() {
		times = min(times, 5)
	}
	for i := range times {
		cmd, out := child(t, "outcomes", path, "run1")
		for _, id := range acknowledged(t, cmd, out, 1+i*7%23) {
			all[id] = true
		}
	}
	db = open(t, path, Options{})
	found := map[string]bool{}
	perK := map[int]int{}
	for _, s := range samples(t, db, "run1", record.SampleQuery{}) {
		found[s.Rollout.ID] = true
		perK[s.Rollout.Key.K]++
		if s.Judgment == nil || len(s.Markers) != 2 || len(s.Rollout.Steps) != 3 {
			t.Fatalf("rollout %s is there in part", s.Rollout.ID)
		}
	}
	for id := range all {
		if !found[id] {
			t.Errorf("rollout %s was acknowledged and is lost", id)
		}
	}
	for k, n := range perK {
		if n != 4 {
			t.Errorf("the group of k=%d is there in part: %d of 4", k, n)
		}
	}
	if found, err := db.Check(t.Context()); err != nil || !found.OK {
		t.Errorf("integrity %v (%v)", found, err)
	}
}

func TestKilledLabellerLosesNoLabel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assay.db")
	db := open(t, path, Options{})
	posed := fill(t, db, "run1", 1, 1, 1)
	rollout := record.RolloutID("run1", record.Key{TaskID: posed[0].Task.ID})
	said := 0
	for i := range max(*kills/4, 5) {
		cmd, out := child(t, "labels", path, rollout) // while this process has the file open
		for _, no := range acknowledged(t, cmd, out, 1+i*5%11) {
			n, err := strconv.Atoi(no)
			if err != nil {
				t.Fatal(err)
			}
			said = max(said, n)
		}
	}
	labels, err := db.Labels(t.Context(), "run1")
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range labels {
		if l.ID != int64(i+1) {
			t.Fatalf("label %d has number %d", i, l.ID)
		}
	}
	if len(labels) < said {
		t.Errorf("%d labels, and number %d was acknowledged", len(labels), said)
	}
}

func TestTwoProcessesOnOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assay.db")
	db := open(t, path, Options{})
	fill(t, db, "run1", 4, 1, 1)
	stopped := testRun("run1")
	stopped.Status = record.RunStopped
	if err := db.UpdateRun(t.Context(), stopped); err != nil {
		t.Fatal(err)
	}
	here := fill(t, db, "run2", 2, 1, 1)
	cmd, out := child(t, "outcomes", path, "run1")
	if !out.Scan() {
		t.Fatal("the child said nothing")
	}
	// Both write now, and this one reads between its writes.
	for k := range 40 {
		if err := db.CommitOutcomes(t.Context(), "run2", []record.Outcome{testOutcome("run2", here[0].Task, 0, k+1)}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := db.RolloutHeads(t.Context(), "run1", HeadQuery{Limit: 10}); err != nil {
			t.Fatal(err)
		}
	}
	said := acknowledged(t, cmd, out, 200)
	found := map[string]bool{}
	for _, s := range samples(t, db, "run1", record.SampleQuery{}) {
		found[s.Rollout.ID] = true
	}
	for _, id := range said {
		if !found[id] {
			t.Errorf("rollout %s of the other process is lost", id)
		}
	}
	if got := samples(t, db, "run2", record.SampleQuery{}); len(got) != 42 {
		t.Errorf("%d rollouts of this process, want 42", len(got))
	}
}

func TestRunHeldByAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assay.db")
	db := open(t, path, Options{})
	cmd, out := child(t, "hold", path, "run1")
	if !out.Scan() || out.Text() != "holding" {
		t.Fatalf("the child said %q", out.Text())
	}
	err := db.ReopenRun(t.Context(), "run1")
	if CodeOf(err) != CodeHeld || !strings.Contains(err.Error(), fmt.Sprintf("process %d", cmd.Process.Pid)) {
		t.Errorf("a run held by a living process: %v", err)
	}
	holder, err := db.Holder(t.Context(), "run1")
	if err != nil || holder == nil || holder.PID != cmd.Process.Pid {
		t.Errorf("holder %v (%v)", holder, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if err := db.ReopenRun(t.Context(), "run1"); err != nil {
		t.Errorf("a run whose holder is dead: %v", err)
	}
	if holder, err := db.Holder(t.Context(), "run1"); err != nil || holder.PID != os.Getpid() {
		t.Errorf("holder after the takeover: %v (%v)", holder, err)
	}
}

func TestStaleLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assay.db")
	clock := start
	now := func() time.Time { return clock }
	far := Owner{PID: 4, Host: "elsewhere"}
	first := open(t, path, Options{Now: now, Owner: far})
	posed := fill(t, first, "run1", 1, 1, 1)
	second := open(t, path, Options{Now: now})

	clock = start.Add(staleAfter - time.Second)
	if err := second.ReopenRun(t.Context(), "run1"); CodeOf(err) != CodeHeld {
		t.Errorf("before it is stale: %v", err)
	}
	clock = start.Add(staleAfter)
	if err := second.ReopenRun(t.Context(), "run1"); err != nil {
		t.Errorf("when it is stale: %v", err)
	}
	// The first one wakes up and finds that it has been replaced.
	outcome := []record.Outcome{testOutcome("run1", posed[0].Task, 0, 5)}
	for name, err := range map[string]error{
		"outcomes": first.CommitOutcomes(t.Context(), "run1", outcome),
		"tasks":    first.CommitTasks(t.Context(), "run1", posed),
		"search":   first.CommitSearch(t.Context(), "run1", record.SearchState{}),
		"the run":  first.UpdateRun(t.Context(), testRun("run1")),
		"reopen":   first.ReopenRun(t.Context(), "run1"),
	} {
		if CodeOf(err) != CodeHeld {
			t.Errorf("%s after the takeover: %v", name, err)
		}
	}
	done := testRun("run1")
	done.Status = record.RunDone
	if err := second.UpdateRun(t.Context(), done); err != nil {
		t.Fatal(err)
	}
	if holder, err := second.Holder(t.Context(), "run1"); err != nil || holder != nil {
		t.Errorf("a finished run is held by %v (%v)", holder, err)
	}
	if err := first.ReopenRun(t.Context(), "run1"); err != nil {
		t.Errorf("a free run: %v", err)
	}
}

func TestCloseGivesUpLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assay.db")
	first := open(t, path, Options{Owner: Owner{PID: 4, Host: "elsewhere"}})
	fill(t, first, "run1", 1, 1, 1)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open(t, path, Options{})
	if err := second.ReopenRun(t.Context(), "run1"); err != nil {
		t.Error(err)
	}
}

func TestReadersWhileWriting(t *testing.T) {
	db := openNew(t)
	posed := fill(t, db, "run1", 10, 1, 1)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, readers+2)
	for range readers + 2 { // more than there are connections
		go func() {
			var err error
			for ctx.Err() == nil && err == nil {
				n := 0
				for _, e := range db.Samples(ctx, "run1", record.SampleQuery{}) {
					if e != nil && ctx.Err() == nil {
						err = e
					}
					n++
				}
				if ctx.Err() == nil && n < 10 {
					err = fmt.Errorf("a reader saw %d rollouts of at least 10", n)
				}
			}
			failed <- err
		}()
	}
	for k := 1; k <= 30; k++ {
		var group []record.Outcome
		for _, p := range posed {
			group = append(group, testOutcome("run1", p.Task, 0, k))
		}
		if err := db.CommitOutcomes(t.Context(), "run1", group); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	for range readers + 2 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if !slices.IsSortedFunc(samples(t, db, "run1", record.SampleQuery{}), func(a, b *record.Sample) int { return a.Rollout.Key.Compare(b.Rollout.Key) }) {
		t.Error("samples are out of order")
	}
}
