package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"assay/engine/record"
	"assay/store"
)

// Ask is what one line of a file says that a user asked.
type Ask struct {
	Text  record.Text
	Axes  record.Axes // nil where the line has no coordinates
	Turns int         // how often the user spoke, at least 1
}

// ReadAsks reads the asks of a file, in its order: a line is an ask as it stands, a
// JSON string, an object with an ask, or a row in any shape that [Import] reads.
// Nothing is kept of it. name is the file's, for the error of a line that cannot be
// read.
func ReadAsks(r io.Reader, name string) ([]Ask, error) {
	var out []Ask
	in := newLines(r)
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		var ask Ask
		if err == nil {
			ask, err = readAsk(line)
		}
		if err != nil {
			return nil, &store.Error{Code: store.CodeInvalid, Where: fmt.Sprintf("%s:%d", name, in.number), Message: fmt.Sprintf("line %d of %s is no ask: %v", in.number, name, err),
				Fix: `write one ask a line, {"ask": ...}, or rows as assay import reads them`, Err: err}
		}
		out = append(out, ask)
	}
}

func readAsk(line []byte) (Ask, error) {
	switch line[0] {
	case '{':
		return readAskObject(line)
	case '"':
		var t record.Text
		if json.Valid(line) && t.UnmarshalJSON(line) == nil {
			return said(t)
		}
	}
	return said(record.Text(bytes.ToValidUTF8(line, []byte("\uFFFD"))))
}

// said is an ask without coordinates, which must say something.
func said(t record.Text) (Ask, error) {
	if t == "" {
		return Ask{}, errors.New("it is empty")
	}
	return Ask{Text: t, Turns: 1}, nil
}

func readAskObject(line []byte) (Ask, error) {
	m, err := parseObject(line)
	if err != nil {
		return Ask{}, err
	}
	if m.raw["ask"] != nil && m.raw["prompt"] == nil && m.raw["messages"] == nil {
		ask, err := said(m.text("ask"))
		m.read("axes", &ask.Axes)
		return ask, err
	}
	row, err := readRow(line, nil)
	if err != nil {
		return Ask{}, err
	}
	ask, err := said(row.prompt)
	if err != nil {
		return Ask{}, errors.New("it has no ask, no prompt and no message of a user")
	}
	ask.Axes = row.axes
	for _, s := range row.rollout.Steps {
		if s.Kind == record.StepUser {
			ask.Turns++
		}
	}
	return ask, nil
}
