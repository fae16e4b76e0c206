package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/engine"
	"assay/engine/record"
)

// rolloutExpectations are what a careful user would check of rollouts, and the
// tests that hold each, by folder and name.
var rolloutExpectations = map[string][]string{
	"R1":  {"../../engine/rollout.TestMaxTurnsIsExact"},
	"R2":  {"../../engine/rollout.TestThinkingOfTheUserIsStripped", "../../engine/rollout.TestNoThoughtReachesTheAgent"},
	"R3":  {"../../engine/rollout.TestUserLeavesIsAResult"},
	"R5":  {"../../engine/rollout.TestEmptyReplyIsTriedTwiceThenCounts", "../assay.TestBrokenAgentsAreNamed"},
	"R6":  {"../../engine/rollout.TestCauses"},
	"R7":  {"../../engine/model.TestWrongAddressStopsAtTheThird", "../../engine/agent.TestHTTPWrongAddressStops"},
	"R9":  {"../../engine/agent.TestModelAgentNoticesACutPrompt"},
	"R10": {"../assay.TestKilledRunsResume"},
	"R11": {"../assay.TestR11ProgressIsALineInTenSeconds", "../assay.TestBrokenAgentsAreNamed"},
	"R12": {"../../engine/rollout.TestSumsAndIdentities"},
	"R13": {"../assay.TestOneModelInTwoPartsIsSaid"},
	"R14": {"../assay.TestR14ReplayedTasksKeepTheirWriterAndSayK"},
	"R17": {"../../engine/rollout.TestRolloutsDoNotMix", "../../engine/rollout.TestLateCallsAreNotRecorded"},
}

func TestRolloutExpectationsHaveTheirTests(t *testing.T) {
	for name, tests := range rolloutExpectations {
		for _, test := range tests {
			at := strings.LastIndexByte(test, '.')
			files, _ := filepath.Glob(filepath.Join(test[:at], "*_test.go"))
			found := false
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				found = found || strings.Contains(string(text), "\nfunc "+test[at+1:]+"(")
			}
			if !found {
				t.Errorf("%s: there is no %s", name, test)
			}
		}
	}
}

func TestR11ProgressIsALineInTenSeconds(t *testing.T) {
	var out, errs bytes.Buffer
	now := time.Unix(0, 0)
	p := newProgress(&session{out: &out, err: &errs}, func() time.Time { return now })
	for range 300 { // 30 s, ten commits in each
		now = now.Add(100 * time.Millisecond)
		p.observe(engine.OutcomesCommitted{Counts: record.Counts{Planned: 300}})
	}
	p.close()
	if n := strings.Count(errs.String(), "\n"); n != 3 || strings.Contains(errs.String(), "\r") || out.Len() != 0 {
		t.Errorf("%d lines in 30 s:\n%q\nstdout %q", n, errs.String(), out.String())
	}
}

func TestR14ReplayedTasksKeepTheirWriterAndSayK(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", "before-and-after", "--name", "first", "--runs", "1", "--situations", "4")
	_, errs, _ := p.run("run", "before-and-after", "--name", "again", "--tasks", "first", "--runs", "1")
	if !strings.Contains(errs, "with its writers; k is ") {
		t.Errorf("nothing says which k a replay used: %s", errs)
	}
	writers := map[string]string{}
	for _, row := range p.rows("first") {
		writers[row.TaskID] = row.WriterModel
	}
	for _, row := range p.rows("again") {
		if w, ok := writers[row.TaskID]; !ok || w == "" || row.WriterModel != w {
			t.Errorf("task %s is by %q, and was by %q", row.TaskID, row.WriterModel, w)
		}
	}
}
