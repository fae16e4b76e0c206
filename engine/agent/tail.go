package agent

import "sync"

// keptLog is how much of a program's stderr is kept, by the protocol.
const keptLog = 64 << 10

// tail keeps the last bytes of a stream. It is safe for one writer and many
// readers.
type tail struct {
	mu    sync.Mutex
	limit int
	buf   []byte // the last bytes, oldest first
	total int64  // bytes ever written
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total += int64(len(p))
	t.buf = append(t.buf, p[max(0, len(p)-t.limit):]...)
	if over := len(t.buf) - t.limit; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

// mark is a place in the stream, for since.
func (t *tail) mark() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// since is what was written after mark and is still kept.
func (t *tail) since(mark int64) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(t.total-mark, int64(len(t.buf)))
	return string(t.buf[int64(len(t.buf))-n:])
}
