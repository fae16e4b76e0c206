package search

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/engine/record"
)

const (
	// maxAnswer bounds how much of a model's answer is read, in bytes: several times
	// what the longest messages of one call take.
	maxAnswer = 256 << 10
	// maxBroken bounds how many beginnings of values that are none are tried in it: each
	// may be read to its end.
	maxBroken = 50
)

// readAsks reads the messages for situations 1 to n out of a model's answer, by number:
// of the object that it was asked for, alone, in fences or in prose, whole or cut off;
// of a bare list; of numbered paragraphs. Of two messages for one situation the first
// stands. A list without numbers is read in its order, if it is as long as was asked
// for: else nobody knows which message is whose.
func readAsks(answer string, n int) map[int]record.Text {
	answer = answer[:min(len(answer), maxAnswer)]
	r := &askReader{n: n, asks: map[int]record.Text{}}
	rest := answer
	for broken := 0; broken < maxBroken; {
		at := strings.IndexAny(rest, "{[")
		if at < 0 {
			break
		}
		rest = rest[at:]
		d := json.NewDecoder(strings.NewReader(rest))
		var value json.RawMessage
		if d.Decode(&value) != nil {
			rest = rest[1:] // what stands in a value that is cut off may be whole
			broken++
			continue
		}
		r.value(value)
		rest = rest[d.InputOffset():]
	}
	if len(r.asks) == 0 {
		r.paragraphs(strings.TrimSpace(answer))
	}
	return r.asks
}

// askReader gathers messages by the number of their situation.
type askReader struct {
	n    int
	asks map[int]record.Text
}

func (r *askReader) add(n int, text record.Text) {
	if _, has := r.asks[n]; has || n < 1 || n > r.n || strings.TrimSpace(string(text)) == "" {
		return
	}
	r.asks[n] = record.Text(strings.TrimSpace(string(text)))
}

// value reads an object or a list.
func (r *askReader) value(raw json.RawMessage) {
	if raw[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			r.list(list)
		}
		return
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return
	}
	if n, text, ok := entry(object); ok {
		if n == 0 && r.n == 1 {
			n = 1
		}
		r.add(n, text)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) { // {"asks": [...]}, or {"1": "...", "2": "..."}
		member := object[name]
		if n, err := strconv.Atoi(name); err == nil {
			if text, ok := textOf(member); ok {
				r.add(n, text)
			}
		} else if len(object) == 1 && len(member) > 0 && member[0] == '[' {
			r.value(member)
		}
	}
}

// list reads entries with numbers, and where none has one, entries in their order.
func (r *askReader) list(items []json.RawMessage) {
	inOrder := make([]record.Text, 0, len(items))
	for _, item := range items {
		if text, ok := textOf(item); ok {
			inOrder = append(inOrder, text)
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(item, &object) != nil {
			return
		}
		n, text, ok := entry(object)
		if n > 0 {
			r.add(n, text)
		} else if ok {
			inOrder = append(inOrder, text)
		}
	}
	if len(inOrder) == r.n && len(items) == r.n {
		for i, text := range inOrder {
			r.add(i+1, text)
		}
	}
}

// entry reads {"situation": 1, "message": "…"}, and the names that models use in their
// place. n is 0 where no number is there.
func entry(object map[string]json.RawMessage) (n int, text record.Text, ok bool) {
	for _, name := range []string{"message", "ask", "text", "draft"} {
		if text, ok = textOf(object[name]); ok {
			break
		}
	}
	if !ok {
		return 0, "", false
	}
	for _, name := range []string{"situation", "number", "n", "id", "index"} {
		if n, err := strconv.Atoi(strings.Trim(string(object[name]), `" `)); err == nil && n > 0 {
			return n, text, true
		}
	}
	return 0, text, true
}

func textOf(raw json.RawMessage) (text record.Text, ok bool) {
	return text, len(raw) > 0 && raw[0] == '"' && text.UnmarshalJSON(raw) == nil
}

// numbered begins a paragraph: "1.", "2)", "Situation 3:", also in bold.
var numbered = regexp.MustCompile(`(?mi)^[ \t]*(?:[*#]+[ \t]*)?(?:situation[ \t]*)?([0-9]{1,3})(?:[*]+)?[.):](?:[*]+)?[ \t]*`)

// paragraphs reads text whose JSON says nothing: numbered, or for a single situation
// whole.
func (r *askReader) paragraphs(answer string) {
	found := numbered.FindAllStringSubmatchIndex(answer, -1)
	if r.n == 1 && (len(found) == 0 || found[0][0] > 0) {
		if !strings.HasPrefix(answer, "{") && !strings.HasPrefix(answer, "[") && !strings.Contains(answer, "```") {
			r.add(1, unquoted(answer))
		}
		return
	}
	for i, at := range found {
		end := len(answer)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		n, err := strconv.Atoi(answer[at[2]:at[3]])
		if err == nil {
			r.add(n, unquoted(answer[at[1]:end]))
		}
	}
}

// unquoted is a paragraph without the quotes that a model puts around a message.
func unquoted(paragraph string) record.Text {
	s := strings.TrimSpace(paragraph)
	for _, pair := range [][2]string{{`"`, `"`}, {"“", "”"}} {
		if inner, ok := strings.CutPrefix(s, pair[0]); ok {
			if inner, ok = strings.CutSuffix(inner, pair[1]); ok && !strings.Contains(inner, pair[0]) {
				return record.Text(inner)
			}
		}
	}
	return record.Text(s)
}
