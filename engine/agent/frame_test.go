package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"assay/engine/record"
)

// TestFramesAreTheLines compares the reader with strings.Split over random
// streams, chunkings and limits.
func TestFramesAreTheLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := rapid.StringMatching(`([a-c]{0,9}\n?){0,12}`).Draw(t, "stream")
		limit := rapid.IntRange(0, 12).Draw(t, "limit")
		var r io.Reader = strings.NewReader(stream)
		switch rapid.IntRange(0, 2).Draw(t, "chunking") {
		case 1:
			r = iotest.OneByteReader(r)
		case 2:
			r = iotest.DataErrReader(iotest.HalfReader(r))
		}
		want := strings.Split(stream, "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		f := newFrameReader(r, limit)
		for _, line := range want {
			got, err := f.next()
			if err != nil {
				t.Fatalf("%q instead of the line %q", err, line)
			}
			if len(line) > limit {
				if !got.long || string(got.line) != line[:limit] {
					t.Fatalf("line %q over the limit %d came as %q, long %v", line, limit, got.line, got.long)
				}
				return
			}
			if got.long || string(got.line) != line {
				t.Fatalf("line %q came as %q, long %v", line, got.line, got.long)
			}
		}
		if _, err := f.next(); !errors.Is(err, io.EOF) {
			t.Fatalf("after the last line: %v", err)
		}
	})
}

func TestFrameTellsWhatElseArrived(t *testing.T) {
	f := newFrameReader(strings.NewReader("one\ntwo\nthr"), 100)
	for _, want := range []struct {
		line    string
		more    bool
		pending int64
	}{{"one", true, 7}, {"two", true, 3}} {
		got, err := f.next()
		if err != nil || string(got.line) != want.line || got.more != want.more || f.pending.Load() != want.pending {
			t.Errorf("%q, more %v, pending %d, %v; want %+v", got.line, got.more, f.pending.Load(), err, want)
		}
	}
}

func TestALongLineIsNotCopied(t *testing.T) {
	long := strings.Repeat("x", keptBuffer+1<<16)
	r := newFrameReader(strings.NewReader("a\n"+long+"\nb\n"+long+"\nc"), maxLine)
	for _, want := range []string{"a", long, "b", long, "c"} {
		f, err := r.next()
		if err != nil || string(f.line) != want {
			t.Fatalf("got %.10q (%d bytes, %v), want %.10q (%d bytes)", f.line, len(f.line), err, want, len(want))
		}
		if len(want) == len(long) && cap(r.buf) > keptBuffer {
			t.Errorf("%d bytes stay behind a line that was given out", cap(r.buf))
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := tail{limit: rapid.IntRange(1, 20).Draw(t, "limit")}
		var all []byte
		marks := map[int]int64{}
		for i, chunk := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 30)).Draw(t, "chunks") {
			marks[i] = log.mark()
			if _, err := log.Write(chunk); err != nil {
				t.Fatal(err)
			}
			all = append(all, chunk...)
		}
		for _, mark := range marks {
			want := all[max(int(mark), len(all)-log.limit):]
			if got := log.since(mark); got != string(want) {
				t.Fatalf("since %d: %q, want %q", mark, got, want)
			}
		}
	})
}

// FuzzProtocol feeds any bytes to the reader of a program's output: no panic, no
// line over the limit, and a message has a type and was valid JSON.
func FuzzProtocol(f *testing.F) {
	for _, seed := range []string{
		`{"type":"reply","id":"7","final_text":"hi","steps":[],"finish_reason":"stop","usage":{"input_tokens":0,"output_tokens":0}}` + "\n",
		`{"type":"tool_call","id":"7","call":"c1","tool":"get_runbook","arguments":{"service":"billing"}}` + "\n" + `{"type":"text","id":"7","text":"\ud800"}` + "\n",
		`{"type":"error","id":"7","error":"x","cause":"context"}`,
		"INFO hello\n\n\xff\xfe\n[1]\nnull\n",
		`{"type":1,"id":{}}` + "\n" + strings.Repeat("[", 300) + "\n",
		`{"type":"reply","id":"7","final_text":"x","steps":[{"tool":"a"},{"user":"b"},7],"reward":1e999}` + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		const limit = 512
		frames := newFrameReader(iotest.HalfReader(bytes.NewReader(stream)), limit)
		for {
			fr, err := frames.next()
			if err != nil {
				return
			}
			if len(fr.line) > limit {
				t.Fatalf("a line of %d bytes", len(fr.line))
			}
			if fr.long {
				return
			}
			m, err := parseMessage(fr.line)
			if err != nil {
				continue
			}
			if m.Type == nil {
				t.Fatal("a message without a type")
			}
			_, _ = m.toCall()
			_ = m.toError()
			if r, err := m.toReply("agent"); err == nil {
				for _, s := range r.Steps {
					if _, err := s.MarshalJSON(); err != nil {
						t.Fatalf("a step that cannot be written: %v", err)
					}
				}
			}
		}
	})
}

// A lone surrogate in a tool's name is the agent's doing, and stays to be seen.
func TestToolNamesAreExact(t *testing.T) {
	m, err := parseMessage([]byte(`{"type":"tool_call","id":"1","call":"c\udfff","tool":"look\ud800","arguments":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	call, err := m.toCall()
	if err != nil {
		t.Fatal(err)
	}
	steps := []record.Step{{Kind: record.StepTool, Tool: string(call.Tool), Arguments: call.Arguments}}
	for name, v := range map[string]any{
		"the result":  toolResultMessage{Call: call.Call},
		"the history": showSteps(steps),
		"a row":       record.Row{Steps: steps, Messages: record.Messages("", "", steps, "")},
	} {
		raw, err := record.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		want := `look\ud800`
		if name == "the result" {
			want = `c\udfff`
		}
		if !strings.Contains(string(raw), want) || strings.Contains(string(raw), "\uFFFD") {
			t.Errorf("%s is %s", name, raw)
		}
	}
	var back record.Step
	raw, err := record.Marshal(steps[0])
	if err != nil || json.Unmarshal(raw, &back) != nil || back.Tool != steps[0].Tool {
		t.Errorf("%s came back as %q (%v)", raw, back.Tool, err)
	}
}
