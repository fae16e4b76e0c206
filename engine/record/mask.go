package record

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Masked stands where the value of a known key stood.
const Masked = "[masked key]"

const (
	// shortestSecret is the length under which a value is left alone: a shorter one
	// stands in ordinary text by chance, and no provider's key is so short.
	// Convention, untested.
	shortestSecret = 8
	// shortestPiece is how much of a long key is masked although the rest is not
	// there, as in a line that was cut: ten characters of a key of sixty-four letters
	// stand nowhere by chance. Convention, untested.
	shortestPiece = 10
	// longKey is the length from which pieces are looked for: half of a shorter
	// value may be a word. Convention, untested.
	longKey = 20
	// gram is what pieces are found by: every run of shortestPiece bytes holds a gram
	// at one of the places that are gramStep apart.
	gram     = 5
	gramStep = shortestPiece - gram + 1
	// mostNesting is how many JSON strings inside each other are looked into: a call's
	// arguments are JSON text in a JSON line, and agents wrap them once or twice more.
	mostNesting = 4
)

// Masker replaces the values of known keys by [Masked], wherever they stand: in
// plain text, in the strings and member names of JSON however they are escaped,
// and in pieces where a long key was cut. Bytes that hold no key are left exactly
// as they are. A nil Masker masks nothing. It is safe for concurrent use.
type Masker struct {
	learning sync.Mutex
	known    atomic.Pointer[secretSet]
	count    atomic.Int64
}

// NewMasker masks values; those under eight bytes are left out.
func NewMasker(values ...string) *Masker {
	m := &Masker{}
	m.Add(values...)
	return m
}

// Add makes more values known. What was masked before is not looked at again.
func (m *Masker) Add(values ...string) {
	if m == nil {
		return
	}
	m.learning.Lock()
	defer m.learning.Unlock()
	var all []string
	if old := m.known.Load(); old != nil {
		all = slices.Clone(old.values)
	}
	before := len(all)
	for _, v := range values {
		if len(v) >= shortestSecret && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	if len(all) > before {
		m.known.Store(newSecretSet(all))
	}
}

// Count is how many values and pieces of values have been masked.
func (m *Masker) Count() int64 {
	if m == nil {
		return 0
	}
	return m.count.Load()
}

// Text is s without the known values. A JSON text stays one.
func (m *Masker) Text(s string) string {
	if m == nil {
		return s
	}
	known := m.known.Load()
	if known == nil {
		return s
	}
	found := known.find(s)
	if len(found) == 0 {
		return s
	}
	m.count.Add(int64(len(found)))
	out := replace(s, found)
	if isJSON(s) && !json.Valid([]byte(out)) {
		out = replace(s, quoteOutside(s, found)) // a key that is a number
	}
	return out
}

// Raw is a JSON value without the known values: the same bytes where there are
// none.
func (m *Masker) Raw(raw []byte) []byte {
	if m == nil || m.known.Load() == nil || len(raw) == 0 {
		return raw
	}
	s := string(raw)
	if out := m.Text(s); out != s {
		return []byte(out)
	}
	return raw
}

func isJSON(s string) bool {
	return s != "" && strings.IndexByte("{[\"-0123456789", s[0]) >= 0 && json.Valid([]byte(s))
}

// secretSet is what is known at one time. It is never changed.
type secretSet struct {
	values []string
	whole  []string // looked for as they are, and as JSON strings
	long   []string // looked for in pieces
	// begins holds the first two bytes of every gram, grams the places of each.
	begins [1 << 16 / 64]uint64
	grams  map[string][]place
	// odd says that a value holds a character that JSON may escape in other ways than
	// \uXXXX and \/; foreign, that one is outside ASCII.
	odd, foreign bool
}

// place is an offset in one of the long keys.
type place struct{ key, at int }

func newSecretSet(values []string) *secretSet {
	k := &secretSet{values: values, grams: map[string][]place{}}
	for _, v := range values {
		quoted, _ := Text(v).MarshalJSON() // never fails
		inner := string(quoted[1 : len(quoted)-1])
		k.foreign = k.foreign || strings.ContainsFunc(v, func(r rune) bool { return r >= utf8.RuneSelf })
		switch {
		case inner != v:
			k.odd = true
			k.whole = append(k.whole, v, inner)
		case inPieces(v):
			k.addLong(v)
		default:
			k.whole = append(k.whole, v)
		}
	}
	return k
}

// inPieces says that a piece of v is as telling as the whole: a long run of
// letters and digits, not a sentence and not an address.
func inPieces(v string) bool {
	return len(v) >= longKey && !strings.ContainsAny(v, " \t\r\n") && !strings.Contains(v, "://") &&
		strings.ContainsAny(v, "0123456789") && strings.ContainsFunc(v, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' })
}

func (k *secretSet) addLong(v string) {
	key := len(k.long)
	k.long = append(k.long, v)
	for at := 0; at+gram <= len(v); at++ {
		begin := uint16(v[at])<<8 | uint16(v[at+1])
		k.begins[begin/64] |= 1 << (begin % 64)
		k.grams[v[at:at+gram]] = append(k.grams[v[at:at+gram]], place{key, at})
	}
}

// stretch is a part of a text that is to be replaced, and what by.
type stretch struct {
	from, to int
	by       string
}

// find gives the stretches of s that hold a key, in order and apart. Escapes are
// decoded only where they could spell one.
func (k *secretSet) find(s string) []stretch {
	found := k.spelt(nil, s, nil)
	view, at := s, []int(nil)
	for range mostNesting {
		if !k.mayHide(view) {
			break
		}
		var changed bool
		if view, at, changed = unescape(view, at); !changed {
			break
		}
		found = k.spelt(found, view, at)
	}
	return apart(found)
}

// mayHide says that s holds an escape that may be a character of a key.
func (k *secretSet) mayHide(s string) bool {
	if strings.IndexByte(s, '\\') < 0 {
		return false
	}
	if k.odd || k.foreign || strings.Contains(s, `\/`) {
		return true
	}
	for {
		i := strings.Index(s, `\u00`)
		if i < 0 || i+4 >= len(s) {
			return false
		}
		if c := s[i+4]; c >= '2' && c <= '7' {
			return true
		}
		s = s[i+4:]
	}
}

// spelt adds the stretches of view that are keys. at maps view to the text that it
// was decoded from; nil is the text itself.
func (k *secretSet) spelt(found []stretch, view string, at []int) []stretch {
	add := func(from, to int) {
		if at != nil {
			from, to = at[from], at[to]
		}
		found = append(found, stretch{from, to, Masked})
	}
	for _, secret := range k.whole {
		for from := 0; ; {
			i := strings.Index(view[from:], secret)
			if i < 0 {
				break
			}
			add(from+i, from+i+len(secret))
			from += i + len(secret)
		}
	}
	if len(k.long) == 0 {
		return found
	}
	for i := 0; i+gram <= len(view); i += gramStep {
		begin := uint16(view[i])<<8 | uint16(view[i+1])
		if k.begins[begin/64]&(1<<(begin%64)) == 0 {
			continue
		}
		for _, p := range k.grams[view[i:i+gram]] {
			if from, to := k.run(view, i, p); to-from >= shortestPiece {
				add(from, to)
			}
		}
	}
	return found
}

// run is how far view agrees with a key around a gram at i.
func (k *secretSet) run(view string, i int, p place) (from, to int) {
	key := k.long[p.key]
	from, to = i, i+gram
	for a := p.at; from > 0 && a > 0 && view[from-1] == key[a-1]; a-- {
		from--
	}
	for a := p.at + gram; to < len(view) && a < len(key) && view[to] == key[a]; a++ {
		to++
	}
	return from, to
}

// apart sorts stretches and joins those that overlap.
func apart(found []stretch) []stretch {
	slices.SortFunc(found, func(a, b stretch) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	out := found[:0]
	for _, f := range found {
		if last := len(out) - 1; last >= 0 && f.from < out[last].to {
			out[last].to = max(out[last].to, f.to)
			continue
		}
		out = append(out, f)
	}
	return out
}

func replace(s string, found []stretch) string {
	var b strings.Builder
	done := 0
	for _, f := range found {
		b.WriteString(s[done:f.from])
		b.WriteString(f.by)
		done = f.to
	}
	b.WriteString(s[done:])
	return b.String()
}

// quoteOutside widens what is found outside the strings of a JSON text to the
// number that it is part of, and makes a string of it.
func quoteOutside(s string, found []stretch) []stretch {
	out := slices.Clone(found)
	inside, at := false, 0
	for i := range out {
		f := &out[i]
		for ; at < f.from; at++ {
			switch {
			case s[at] == '"':
				inside = !inside
			case inside && s[at] == '\\':
				at++
			}
		}
		if inside {
			continue
		}
		const number = "+-.0123456789eE"
		for f.from > 0 && strings.IndexByte(number, s[f.from-1]) >= 0 {
			f.from--
		}
		for f.to < len(s) && strings.IndexByte(number, s[f.to]) >= 0 {
			f.to++
		}
		f.by = `"` + Masked + `"`
	}
	return apart(out)
}

// unescape decodes the escapes of JSON strings in a text that need not be JSON.
// The result's at gives for each byte of the view, and for its end, the offset in
// the text that from belongs to.
func unescape(s string, from []int) (view string, at []int, changed bool) {
	origin := func(i int) int {
		if from == nil {
			return i
		}
		return from[i]
	}
	b := make([]byte, 0, len(s))
	at = make([]int, 0, len(s)+1)
	for i := 0; i < len(s); {
		r, n := escapeAt(s[i:])
		if n == 0 {
			b, at = append(b, s[i]), append(at, origin(i))
			i++
			continue
		}
		changed = true
		b = utf8.AppendRune(b, r)
		for len(at) < len(b) {
			at = append(at, origin(i))
		}
		i += n
	}
	return string(b), append(at, origin(len(s))), changed
}

// escapeAt decodes the escape at the start of s; n is 0 where there is none.
// Halves of surrogate pairs stay as they are: no key holds one.
func escapeAt(s string) (r rune, n int) {
	if len(s) < 2 || s[0] != '\\' {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	if r, ok := hexEscape(s); ok && (r < surrogateMin || r > surrogateMax) {
		return r, 6
	}
	high, ok := escapedSurrogate([]byte(s[:min(len(s), 6)]))
	if !ok || len(s) < 12 {
		return 0, 0
	}
	if low, ok := escapedSurrogate([]byte(s[6:12])); ok && high < 0xDC00 && low >= 0xDC00 {
		return (high-0xD800)<<10 + (low - 0xDC00) + 0x10000, 12
	}
	return 0, 0
}

// hexEscape reads \uXXXX.
func hexEscape(s string) (r rune, ok bool) {
	if len(s) < 6 || s[1] != 'u' {
		return 0, false
	}
	for _, c := range []byte(s[2:6]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
