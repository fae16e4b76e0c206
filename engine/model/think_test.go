package model

import (
	"strings"
	"testing"
	"unicode/utf8"

	"assay/engine/record"
)

func TestThink(t *testing.T) {
	for _, c := range []struct{ text, said, thought string }{
		{"plain", "plain", ""},
		{"<think>a</think>b", "b", "a"},
		{"<think>\na\n</think>\n\nb\n", "b\n", "\na\n"},
		{"<think>never ends", "", "never ends"},
		{"opened in the prompt</think>\nsaid", "said", "opened in the prompt"},
		{"one <think>a</think>two <think>b</think> three", "one two three", "ab"},
		{"1 < 2 <thinking> </thin", "1 < 2 <thinking> </thin", ""},
		{"<think></think>", "", ""},
		{"<<think>a<</think>b", "<b", "a<"},
		{"<think>a<think>b</think>c", "c", "ab"},
		{"<think>a</think>b</think>c", "bc", "a"},
	} {
		var s thinkSplitter
		s.write(c.text)
		s.finish()
		if s.said.String() != c.said || s.thought.String() != c.thought {
			t.Errorf("%q: said %q, thought %q", c.text, s.said.String(), s.thought.String())
		}
	}
}

// However a text is cut, the same is said and thought; nothing but tags and the blanks
// behind them is lost; and nothing that was thought is said.
func FuzzThink(f *testing.F) {
	for _, text := range []string{"<think>a</think>b", "a</think>b", "<think>a", "<<think></think </think>  x", "é<think>ü</think>ß", "</think></think><think>"} {
		f.Add(text, uint8(3))
		f.Add(text, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, width uint8) {
		var whole, parts thinkSplitter
		var heard strings.Builder
		said, thought := whole.write(text)
		tell := func(s, t string) { heard.WriteString(t); heard.WriteString(s) }
		tell(said, thought)
		tell(whole.finish())
		n := max(1, int(width))
		for i := 0; i < len(text); i += n {
			parts.write(text[i:min(i+n, len(text))])
		}
		parts.finish()
		if whole.said.String() != parts.said.String() || whole.thought.String() != parts.thought.String() {
			t.Fatalf("%q in pieces of %d: said %q and %q, thought %q and %q", text, n, whole.said.String(), parts.said.String(), whole.thought.String(), parts.thought.String())
		}
		bare := func(s string) string {
			return strings.Join(strings.Fields(strings.NewReplacer(thinkOpens, "", thinkCloses, "").Replace(s)), "")
		}
		if a, b := len(bare(text)), len(bare(whole.said.String()))+len(bare(whole.thought.String())); utf8.ValidString(text) && !strings.Contains(bare(text), "think") && a != b {
			t.Fatalf("%q: %d bytes came to %d", text, a, b)
		}
		if strings.Contains(whole.said.String(), thinkOpens) && strings.Contains(text, thinkOpens) && !strings.Contains(strings.NewReplacer(thinkOpens, "", thinkCloses, "").Replace(text), "think") {
			t.Fatalf("%q says %q", text, whole.said.String())
		}
	})
}

// Halves of a character that come in two pieces are one character; a half that stays
// alone stays a half.
func TestHalves(t *testing.T) {
	const high, low = "\xed\xa0\xbd", "\xed\xb8\x80" // of U+1F600
	for _, c := range []struct {
		pieces []string
		want   string
	}{
		{[]string{"a" + high, low + "b"}, "a😀b"},
		{[]string{high, low}, "😀"},
		{[]string{high + low}, "😀"},
		{[]string{high, "b"}, high + "b"},
		{[]string{low, high}, low + high},
		{[]string{high}, high},
		{[]string{high, high, low, low}, high + "😀" + low},
	} {
		a := answer{left: 100}
		for _, p := range c.pieces {
			if err := a.say(record.Text(p)); err != nil {
				t.Fatal(err)
			}
		}
		if got := string(a.reply().Text); got != c.want {
			t.Errorf("%q: %q, want %q", c.pieces, got, c.want)
		}
	}
}

// Whatever a server sends, reading it ends, with an answer or an error, and allots no
// more than it was sent.
func FuzzStream(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"), true)
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":{}}},{\"index\":-5,\"id\":\"x\"}]}}]}\n"), true)
	f.Add([]byte("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\ndata: {\"type\":\"message_stop\"}"), false)
	f.Add([]byte("{\"type\":\"message\",\"content\":[{\"type\":\"tool_use\",\"input\":null}],\"stop_reason\":\"tool_use\"}"), false)
	f.Fuzz(func(t *testing.T, body []byte, isOpenAI bool) {
		var d dialect = anthropic{}
		if isOpenAI {
			d = openAI{}
		}
		for _, stream := range []bool{true, false} {
			a := &answer{left: longestAnswer}
			if err := read(d, a, strings.NewReader(string(body)), stream); err != nil {
				continue
			}
			reply := a.reply()
			if reply.FinishReason == "" {
				t.Fatalf("an answer that did not end: %q", body)
			}
			for _, c := range reply.ToolCalls {
				if c.ID == "" || c.Function.Arguments == "" {
					t.Fatalf("a call without a name for it or arguments: %+v", c)
				}
			}
		}
	})
}
