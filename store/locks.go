package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// beatEvery is how often the holder of a run says that it lives; staleAfter is how
	// long its silence must last before another may take the run over: a laptop's
	// disk that stalls for some seconds must not lose it its run. Conventions, untested.
	beatEvery  = 5 * time.Second
	staleAfter = 30 * time.Second
)

// Owner is the process that holds the locks of runs.
type Owner struct {
	PID  int
	Host string
}

func (o Owner) String() string { return fmt.Sprintf("process %d on %s", o.PID, o.Host) }

func thisProcess() Owner {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return Owner{PID: os.Getpid(), Host: host}
}

// alive reports whether a process of this machine is there. Where the system
// cannot say, it counts as alive and only its silence tells.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}

// Lock says who holds a run.
type Lock struct {
	Owner
	Since, Heartbeat time.Time
}

// Holder is who holds a run; nil where nobody does.
func (db *DB) Holder(ctx context.Context, runID string) (*Lock, error) {
	var l Lock
	var since, beat sql.NullString
	err := db.read.QueryRowContext(ctx, "SELECT pid, host, since, heartbeat FROM locks JOIN runs USING (run_no) WHERE run_id = ?", runID).
		Scan(&l.PID, &l.Host, &since, &beat)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		err = times(since, &l.Since, beat, &l.Heartbeat)
	}
	return &l, explain(db.path, err)
}

// takeLock makes this store the holder of a run, or says who is. The holder's
// place is free when its process is gone or it has been silent for staleAfter.
func (db *DB) takeLock(t *tx, runNo int64, runID string) error {
	now := db.now()
	var holder string
	var owner Owner
	var beat sql.NullString
	err := t.row("SELECT holder, pid, host, heartbeat FROM locks WHERE run_no = ?", []any{runNo}, &holder, &owner.PID, &owner.Host, &beat)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	case holder != db.holder:
		last, err := parseTime(beat)
		if err != nil {
			return err
		}
		gone := owner.Host == db.owner.Host && !alive(owner.PID)
		if !gone && now.Sub(last) < staleAfter {
			return heldError(runID, owner, last)
		}
	}
	at := timeText(now)
	return t.exec("INSERT OR REPLACE INTO locks VALUES (?, ?, ?, ?, ?, ?)", runNo, db.holder, int64(db.owner.PID), db.owner.Host, at, at)
}

func heldError(runID string, owner Owner, last time.Time) *Error {
	return &Error{Code: CodeHeld, Where: runID, Message: fmt.Sprintf("run %s is in the hands of %s, last heard of at %s", runID, owner, timeText(last)),
		Fix: "wait for it to end, or stop it there"}
}

// mayWrite refuses to write to a run that another store has taken over, so that
// a process that slept through its own replacement does no harm.
func (db *DB) mayWrite(t *tx, runNo int64, runID string) error {
	var holder string
	var owner Owner
	var beat sql.NullString
	err := t.row("SELECT holder, pid, host, heartbeat FROM locks WHERE run_no = ?", []any{runNo}, &holder, &owner.PID, &owner.Host, &beat)
	if errors.Is(err, sql.ErrNoRows) || err == nil && holder == db.holder {
		return nil
	}
	if err != nil {
		return err
	}
	last, err := parseTime(beat)
	if err != nil {
		return err
	}
	return heldError(runID, owner, last)
}

// heartbeats keeps the locks of one open store alive while it holds any.
type heartbeats struct {
	mu      sync.Mutex
	held    map[string]bool // by run id
	cancel  context.CancelFunc
	stopped chan struct{}
}

func (h *heartbeats) hold(db *DB, runID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held == nil {
		h.held = map[string]bool{}
	}
	h.held[runID] = true
	if h.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel, h.stopped = cancel, make(chan struct{})
	go db.beat(ctx, h.stopped)
}

func (h *heartbeats) release(runID string) {
	h.mu.Lock()
	delete(h.held, runID)
	last := len(h.held) == 0
	h.mu.Unlock()
	if last {
		h.stop()
	}
}

// stop ends the beating and waits for it.
func (h *heartbeats) stop() {
	h.mu.Lock()
	cancel, stopped := h.cancel, h.stopped
	h.cancel, h.stopped = nil, nil
	h.mu.Unlock()
	if cancel != nil {
		cancel()
		<-stopped
	}
}

// beat says every beatEvery that this store lives. A beat that cannot be written
// is left out: the run's own writes meet the same trouble and report it.
func (db *DB) beat(ctx context.Context, stopped chan<- struct{}) {
	defer close(stopped)
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = db.tx(ctx, func(t *tx) error {
				return t.exec("UPDATE locks SET heartbeat = ? WHERE holder = ?", timeText(db.now()), db.holder)
			})
		}
	}
}

// releaseLocks gives up every run that this store still holds.
func (db *DB) releaseLocks() error {
	db.locks.mu.Lock()
	n := len(db.locks.held)
	clear(db.locks.held)
	db.locks.mu.Unlock()
	if n == 0 || db.damaged.Load() {
		return nil
	}
	return db.tx(context.Background(), func(t *tx) error {
		return t.exec("DELETE FROM locks WHERE holder = ?", db.holder)
	})
}
