package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Text is what a model, a tool or a person said: data from outside, never to
// be interpreted and never to reach a terminal as it is.
//
// It keeps what JSON can say and UTF-8 cannot: a lone surrogate escape (\ud800)
// is held as its three generalised UTF-8 bytes (WTF-8) and is written as the
// same escape again. Other invalid bytes become U+FFFD when written.
type Text string

const (
	surrogateMin = 0xD800
	surrogateMax = 0xDFFF
)

// surrogateAt reports the lone surrogate encoded at the start of s.
func surrogateAt(s string) (r rune, ok bool) {
	if len(s) < 3 || s[0] != 0xED || s[1] < 0xA0 || s[1] > 0xBF || s[2] < 0x80 || s[2] > 0xBF {
		return 0, false
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
}

// Clean is the text as valid UTF-8, each byte sequence that is not valid
// replaced by U+FFFD; changed says whether that lost anything.
func (t Text) Clean() (clean string, changed bool) {
	s := string(t)
	if utf8.ValidString(s) {
		return s, false
	}
	var b strings.Builder
	for len(s) > 0 {
		if _, ok := surrogateAt(s); ok {
			b.WriteRune(utf8.RuneError)
			s = s[3:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String(), true
}

// MarshalJSON writes a JSON string, lone surrogates as escapes.
func (t Text) MarshalJSON() ([]byte, error) {
	return t.appendJSON(make([]byte, 0, len(t)+2)), nil
}

func (t Text) appendJSON(dst []byte) []byte {
	s := string(t)
	if utf8.ValidString(s) {
		dst, _ = jsontext.AppendQuote(dst, s) // fails on invalid UTF-8 only
		return dst
	}
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for len(s) > 0 {
		if r, ok := surrogateAt(s); ok {
			dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
			s = s[3:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		quoted, _ := jsontext.AppendQuote(nil, string(r)) // r is valid: DecodeRune gives U+FFFD for what is not
		dst = append(dst, quoted[1:len(quoted)-1]...)
		s = s[n:]
	}
	return append(dst, '"')
}

// UnmarshalJSON reads a JSON string. null leaves t as it is.
func (t *Text) UnmarshalJSON(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	if len(raw) < 2 || raw[0] != '"' {
		return errors.New("want a JSON string")
	}
	if !hasSurrogateEscape(raw) {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		*t = Text(s)
		return nil
	}
	s, err := unquoteSurrogates(raw[1 : len(raw)-1])
	*t = Text(s)
	return err
}

// hasSurrogateEscape is true where raw may hold \ud8xx to \udfxx.
func hasSurrogateEscape(raw []byte) bool {
	for i := 0; i+3 < len(raw); i++ {
		if raw[i] == '\\' {
			if raw[i+1] == 'u' && (raw[i+2] == 'd' || raw[i+2] == 'D') {
				return true
			}
			i++
		}
	}
	return false
}

// unquoteSurrogates decodes the inside of a JSON string: runs without a
// surrogate escape by the standard decoder, escapes of surrogates by hand.
func unquoteSurrogates(in []byte) (string, error) {
	var b strings.Builder
	flush := func(run []byte) error {
		if len(run) == 0 {
			return nil
		}
		quoted := make([]byte, 0, len(run)+2)
		quoted = append(append(append(quoted, '"'), run...), '"')
		var s string
		if err := json.Unmarshal(quoted, &s); err != nil {
			return err
		}
		b.WriteString(s)
		return nil
	}
	start := 0
	for i := 0; i < len(in); {
		if in[i] != '\\' {
			i++
			continue
		}
		r, ok := escapedSurrogate(in[i:])
		if !ok {
			i += 2
			continue
		}
		if err := flush(in[start:i]); err != nil {
			return "", err
		}
		i += 6
		if low, ok := escapedSurrogate(in[i:]); ok && r < 0xDC00 && low >= 0xDC00 {
			b.WriteRune((r-0xD800)<<10 + (low - 0xDC00) + 0x10000)
			i += 6
		} else {
			b.Write([]byte{0xED, byte(0x80 | r>>6&0x3F), byte(0x80 | r&0x3F)})
		}
		start = i
	}
	if err := flush(in[start:]); err != nil {
		return "", err
	}
	return b.String(), nil
}

func escapedSurrogate(in []byte) (rune, bool) {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range in[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, r >= surrogateMin && r <= surrogateMax
}
