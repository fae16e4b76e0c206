package exchange

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxLine bounds one line of a file. A result of 10 MB with its escapes fits; a
// file without line breaks does not fill the memory. Convention, untested.
const maxLine = 64 << 20

// errLongLine is a line over maxLine; the reader stands behind it.
var errLongLine = fmt.Errorf("the line is over %d MiB", maxLine>>20)

// lines reads a file line by line with their numbers, blank ones left out.
type lines struct {
	r      *bufio.Reader
	number int // of the line last read, counted from 1
	buf    []byte
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 1<<16)} }

// next gives the next line, valid until the one after; io.EOF at the end.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.read()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, io.EOF
		}
	}
}

// read gives one line without its end. With the last one comes io.EOF.
func (l *lines) read() ([]byte, error) {
	l.buf = l.buf[:0]
	l.number++
	long := false
	for {
		piece, err := l.r.ReadSlice('\n')
		if long = long || len(l.buf)+len(piece) > maxLine; !long {
			l.buf = append(l.buf, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLongLine
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
		if l.number == 1 {
			l.buf = bytes.TrimPrefix(l.buf, []byte("\xEF\xBB\xBF"))
		}
		return l.buf, err
	}
}

// pendingFile is a file that is written beside its name and takes it at the end.
type pendingFile struct {
	*bufio.Writer
	f    *os.File
	name string
}

func createPending(name string) (*pendingFile, error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, fmt.Errorf("write %q: %w", name, err)
	}
	return &pendingFile{Writer: bufio.NewWriterSize(f, 1<<16), f: f, name: name}, nil
}

// finish puts what was written on disk, calls before, and gives the file its name.
func (p *pendingFile) finish(before func() error) error {
	err := errors.Join(p.Flush(), p.f.Chmod(0o644), p.f.Sync(), p.f.Close())
	if err == nil {
		err = before()
	}
	if err == nil {
		err = os.Rename(p.f.Name(), p.name)
	}
	if err != nil {
		return fmt.Errorf("write %q: %w", p.name, errors.Join(err, os.Remove(p.f.Name())))
	}
	return nil
}

// discard removes what was written.
func (p *pendingFile) discard() error {
	return errors.Join(p.f.Close(), os.Remove(p.f.Name()))
}
