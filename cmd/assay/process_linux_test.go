package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkStart starts `assay --version` as a process, and beside it in turn the
// least process there is, `true`: what of a start is the machine's.
func BenchmarkStart(b *testing.B) {
	began := func(name string, args ...string) time.Duration {
		from := time.Now()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			b.Fatalf("%s: %v: %s", name, err, out)
		}
		return time.Since(from)
	}
	var ours, empty time.Duration
	for b.Loop() {
		ours += began("assay", "--version")
		empty += began("true")
	}
	per := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.N) }
	b.ReportMetric(per(ours), "ms/start")
	b.ReportMetric(per(empty), "ms/empty-start")
	b.ReportMetric(0, "ns/op")
}

const (
	idleSettles = 3 * time.Second  // the first frame and what follows it are not idling
	idleLasts   = 10 * time.Second // the scheduler counts nanoseconds: 0.01% of a core is 1 ms of this
)

// BenchmarkIdle has the app and an empty Bubble Tea program wait side by side, each
// on a terminal of its own, and reports the processor time of each over the same
// seconds, in percent of a core.
func BenchmarkIdle(b *testing.B) {
	for b.Loop() {
		ours, empty := idle(b, "assay"), idle(b, "empty-app")
		time.Sleep(idleSettles)
		from, oursBefore, emptyBefore := time.Now(), processorTime(b, ours), processorTime(b, empty)
		time.Sleep(idleLasts)
		wall := time.Since(from)
		oursTook, emptyTook := processorTime(b, ours)-oursBefore, processorTime(b, empty)-emptyBefore
		percent := func(d time.Duration) float64 { return 100 * d.Seconds() / wall.Seconds() }
		b.ReportMetric(percent(oursTook), "%core/assay")
		b.ReportMetric(percent(emptyTook), "%core/empty")
		b.ReportMetric(percent(oursTook-emptyTook), "%core/above")
		b.ReportMetric(0, "ns/op")
	}
}

// idle starts a program in an empty folder on a terminal that takes what is written
// and answers nothing.
func idle(b *testing.B, program string) (pid int) {
	b.Helper()
	ours, theirs := line(b, 120, 40)
	cmd := exec.Command(program)
	cmd.Dir = b.TempDir()
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "USER=ana")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	_ = theirs.Close()
	go func() { _, _ = io.Copy(io.Discard, ours) }()
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = ours.Close()
	})
	return cmd.Process.Pid
}

// processorTime is what all threads of a process have run, to the nanosecond
// (proc(5), schedstat). A thread that ended takes its time with it, so a process
// must be at rest; that it is still there is checked.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		b.Fatalf("process %d is not there", pid)
	}
	var sum time.Duration
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		fields := strings.Fields(string(text))
		if len(fields) == 0 {
			b.Fatalf("%s is empty: process %d has ended", file, pid)
		}
		ran, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(ran)
	}
	return sum
}
