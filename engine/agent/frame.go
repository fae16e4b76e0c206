package agent

import (
	"bytes"
	"io"
	"sync/atomic"
)

// maxLine is the longest line of the protocol, version 1, in bytes and without
// its newline.
const maxLine = 16 << 20

// firstChunk is how much is asked of a pipe at once: what Linux keeps in one.
const firstChunk = 64 << 10

// keptBuffer is how large a buffer may stay once its long line is read; many
// processes are kept, long lines are rare.
const keptBuffer = 1 << 20

// frameReader cuts a stream into lines. It holds at most one line, its limit and
// one chunk more.
type frameReader struct {
	r     io.Reader
	limit int
	buf   []byte // what was read and not yet given out
	start int    // where the unread part of buf begins
	err   error  // the stream's end, met while bytes were still there
	// pending is how many bytes stand there without a newline, for whoever explains
	// a silence.
	pending atomic.Int64
}

func newFrameReader(r io.Reader, limit int) *frameReader {
	return &frameReader{r: r, limit: limit}
}

// frame is one line as it was received.
type frame struct {
	line []byte // without the newline; the caller's own
	// more says that bytes behind the line had already arrived.
	more bool
	// long says that the line is over the limit and line is only its beginning.
	// Nothing can be read after it.
	long bool
}

// next gives the next line. At the end of the stream a last line without a
// newline is given out, then io.EOF.
func (f *frameReader) next() (frame, error) {
	searched := f.start
	for {
		if at := bytes.IndexByte(f.buf[searched:], '\n'); at >= 0 {
			end := searched + at
			if end-f.start > f.limit {
				return f.tooLong(), nil
			}
			line := f.cut(end)
			f.pending.Store(int64(len(f.buf) - f.start))
			return frame{line: line, more: f.start < len(f.buf)}, nil
		}
		searched = len(f.buf)
		if len(f.buf)-f.start > f.limit {
			return f.tooLong(), nil
		}
		if f.err != nil {
			return f.last()
		}
		searched -= f.fill()
	}
}

// cut gives out the line that ends at end. A long one takes the buffer with it, and what
// little came behind it moves: copied, each would be held twice while it is read.
func (f *frameReader) cut(end int) []byte {
	line, rest := f.buf[f.start:end:end], f.buf[end+1:]
	if cap(f.buf) > keptBuffer && len(line) > len(rest) {
		f.buf, f.start = bytes.Clone(rest), 0
		return line
	}
	f.start = end + 1
	return bytes.Clone(line)
}

// last gives out what stands behind the last newline of an ended stream.
func (f *frameReader) last() (frame, error) {
	rest := f.buf[f.start:]
	f.buf, f.start = nil, 0
	f.pending.Store(0)
	if len(rest) == 0 {
		return frame{}, f.err
	}
	return frame{line: rest}, nil
}

func (f *frameReader) tooLong() frame {
	line := f.buf[f.start:min(len(f.buf), f.start+f.limit)]
	f.buf, f.start, f.err = nil, 0, io.EOF
	return frame{line: line, long: true}
}

// fill reads once, and says by how much what was there has moved to the front.
func (f *frameReader) fill() (moved int) {
	if f.start == len(f.buf) && cap(f.buf) > keptBuffer {
		moved, f.buf, f.start = f.start, nil, 0
	}
	if f.start > 0 {
		moved = f.start
		f.buf = append(f.buf[:0], f.buf[f.start:]...)
		f.start = 0
	}
	if free := cap(f.buf) - len(f.buf); free < firstChunk/2 {
		// Doubling keeps the copying of a long line linear in its length.
		grown := make([]byte, len(f.buf), max(firstChunk, 2*cap(f.buf)))
		copy(grown, f.buf)
		f.buf = grown
	}
	n, err := f.r.Read(f.buf[len(f.buf):cap(f.buf)])
	f.buf = f.buf[:len(f.buf)+n]
	f.pending.Store(int64(len(f.buf)))
	f.err = err
	return moved
}
