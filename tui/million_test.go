package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"assay/engine/record"
	"assay/store"
	"assay/tui/ui"
)

const (
	millionRun     = "million"
	millionScorer  = "marker:safe_restart@1f2e3d4c5b6a7988" // that of testSample
	millionRepeats = 4
	millionGroup   = 2000 // rollouts in one transaction
	millionRare    = 1000 // one final text in so many has rareWord
	rareWord       = "quarantine"
)

// BenchmarkMillion opens a file of a million rollouts on Explore: the first frame,
// file opened in it; a page under a filter; a search for a word of one text in a
// thousand; and what the process then holds. The file is made by the store's own
// writer at the first run, in minutes, and kept in $ASSAY_BENCH_DIR or else the
// user's cache. ASSAY_BENCH_ROLLOUTS makes it smaller, for a try; the metric
// "rollouts" says what was measured.
func BenchmarkMillion(b *testing.B) {
	rollouts := 1_000_000
	if text := os.Getenv("ASSAY_BENCH_ROLLOUTS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < millionRare {
			b.Fatalf("ASSAY_BENCH_ROLLOUTS is %q: it is a number of %d or more", text, millionRare)
		}
		rollouts = n
	}
	file := millionFile(b, rollouts)
	debug.FreeOSMemory() // what making the file took is not the app's
	var first, filtered, searched time.Duration
	resident, n := 0.0, 0
	for b.Loop() {
		n++
		m := newMemory()
		from := time.Now()
		db, err := store.Open(b.Context(), file, store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		d := drive(b, m, 120, 40, func(o *Options) { o.Store = db })
		first += d.until(from, ui.GoMsg{Screen: ui.ScreenExplore, Visit: ui.Visit{Run: millionRun}}, "payments is down")
		filtered += d.filters("reward=0", "✗ fail")
		d.press("esc") // the filter away
		searched += d.filters(strconv.Quote(rareWord), rareWord+" now.")
		resident = max(resident, residentMB(b))
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
	per := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(n) }
	b.ReportMetric(per(first), "ms/first-frame")
	b.ReportMetric(per(filtered), "ms/filtered-page")
	b.ReportMetric(per(searched), "ms/text-search")
	b.ReportMetric(resident, "MB/resident")
	b.ReportMetric(float64(rollouts), "rollouts")
	b.ReportMetric(0, "ns/op")
}

// filters types a line into Explore's filter and takes the time from Enter to the
// frame that has what it finds.
func (d *driver) filters(line, ready string) time.Duration {
	d.press("/")
	d.write(line)
	from := time.Now()
	return d.until(from, keyOf("enter"), ready)
}

// until sends a message and takes the time since from at which a frame first has
// the text. The app shows a page before it has read the rest: commands go on in the
// order in which they were asked for, and what follows that frame is not timed.
func (d *driver) until(from time.Time, msg tea.Msg, ready string) (took time.Duration) {
	d.t.Helper()
	queue := []tea.Cmd{func() tea.Msg { return msg }}
	for ; len(queue) > 0; queue = queue[1:] {
		if queue[0] == nil {
			continue
		}
		switch msg := queue[0]().(type) {
		case nil:
		case tea.BatchMsg:
			queue = append(queue, msg...)
		default:
			_, next := d.m.Update(msg)
			queue = append(queue, next)
			if strings.Contains(ansi.Strip(d.m.View().Content), ready) && took == 0 {
				took = time.Since(from)
			}
		}
	}
	if took == 0 {
		d.t.Fatalf("%q was never on the screen:\n%s", ready, d.screen())
	}
	return took
}

// millionFile is the path of the file, made when it is not there. It gets its name
// when it is whole, so that a file of a broken making is never measured.
func millionFile(b *testing.B, rollouts int) string {
	b.Helper()
	dir := os.Getenv("ASSAY_BENCH_DIR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			b.Fatal(err)
		}
		dir = filepath.Join(cache, "assay-bench")
	}
	file := filepath.Join(dir, fmt.Sprintf("rollouts-%d.db", rollouts))
	if _, err := os.Stat(file); err == nil {
		return file
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	made, err := os.MkdirTemp(dir, "making")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(made)
	began := time.Now()
	raw := filepath.Join(made, "assay.db")
	if err := writeMillion(b.Context(), raw, rollouts); err != nil {
		b.Fatal(err)
	}
	if err := os.Rename(raw, file); err != nil {
		b.Fatal(err)
	}
	b.Logf("%s made in %s", file, time.Since(began).Round(time.Second))
	return file
}

// writeMillion writes the run as the engine does, group by group, and has the text
// index take all of it in.
func writeMillion(ctx context.Context, file string, rollouts int) error {
	db, err := store.Open(ctx, file, store.Options{Now: now})
	if err != nil {
		return err
	}
	defer db.Close()
	run := &record.Run{ID: millionRun, Recipe: "million", Role: record.RoleMain, Mode: record.ModeRL, Status: record.RunRunning, StartedAt: now(),
		Scorer: millionScorer, Scorers: []record.Scorer{{ID: millionScorer, Kind: "marker", Name: millionScorer}}}
	if err := db.CreateRun(ctx, run); err != nil {
		return err
	}
	lost := 0
	for from := 0; from < rollouts; from += millionGroup {
		var posed []record.Posed
		var outcomes []record.Outcome
		for n := from; n < min(from+millionGroup, rollouts); n++ {
			s := testSample(millionRun, n/millionRepeats, n%millionRepeats)
			s.Markers, s.Rollout.StartedAt = nil, now()
			if n%millionRare == millionRare/2 && s.Rollout.Status == record.StatusDone {
				s.Rollout.FinalText += " It is in " + rareWord + " now."
			}
			if s.Rollout.Status == record.StatusLost {
				lost++
			}
			if n%millionRepeats == 0 {
				posed = append(posed, s.Posed)
			}
			outcomes = append(outcomes, s.Outcome)
		}
		if err := db.CommitTasks(ctx, millionRun, posed); err != nil {
			return err
		}
		if err := db.CommitOutcomes(ctx, millionRun, outcomes); err != nil {
			return err
		}
	}
	for more := true; more; {
		if more, err = db.IndexWords(ctx, millionGroup); err != nil {
			return err
		}
	}
	run.Status, run.StoppedBecause = record.RunDone, record.StoppedComplete
	run.Counts = record.Counts{Tasks: (rollouts + millionRepeats - 1) / millionRepeats, Planned: rollouts, Done: rollouts - lost, Lost: map[record.Cause]int{record.CauseInfrastructure: lost}}
	if err := db.UpdateRun(ctx, run); err != nil {
		return err
	}
	return db.Close()
}

// residentMB is what the process holds in memory, as Linux tells it; elsewhere 0.
func residentMB(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kB, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kB / 1024
		}
	}
	return 0
}
