package model

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// longestLine bounds one event of a stream, as the agent protocol bounds a line.
const longestLine = 16 << 20

var errLongLine = errors.New("a line of the stream is over 16 MiB")

// events reads the data of a stream of server-sent events. Both dialects send one JSON
// text a data line, so each such line is an event of its own, also from servers that
// leave out the blank lines between them. Comments, by which servers keep a connection
// open, and other fields are passed over.
type events struct {
	r    *bufio.Reader
	line []byte
	over bool // the stream's last byte has been read
}

func newEvents(r io.Reader) *events { return &events{r: bufio.NewReader(r)} }

// next is the data of the next event, valid until the one after. io.EOF is the end of
// the bytes, which is not the end of an answer.
func (e *events) next() ([]byte, error) {
	for !e.over {
		line, err := e.readLine()
		if err != nil {
			return nil, err
		}
		data, isData := bytes.CutPrefix(line, []byte("data:"))
		if data = bytes.TrimSpace(data); (isData || bytes.HasPrefix(data, []byte("{"))) && len(data) > 0 {
			return data, nil
		}
	}
	return nil, io.EOF
}

// readLine is the next line; the last one may lack its end.
func (e *events) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		part, err := e.r.ReadSlice('\n')
		if len(e.line)+len(part) > longestLine {
			return nil, errLongLine
		}
		e.line = append(e.line, part...)
		switch {
		case err == nil:
			return e.line, nil
		case err == io.EOF:
			e.over = true
			return e.line, nil
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}
