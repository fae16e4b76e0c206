package record

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTextClean(t *testing.T) {
	for in, want := range map[Text]struct {
		clean   string
		changed bool
	}{
		"":                         {"", false},
		"plain é 漢 👩‍👩‍👧":          {"plain é 漢 👩‍👩‍👧", false},
		"a\xed\xa0\x80b":           {"a\uFFFDb", true},
		"\xed\xbf\xbf\xed\xb0\x80": {"\uFFFD\uFFFD", true},
		"\xff\xfe":                 {"\uFFFD\uFFFD", true},
		"\xed\xa0":                 {"\uFFFD\uFFFD", true},
		"nul \x00 stays":           {"nul \x00 stays", false},
	} {
		clean, changed := in.Clean()
		if clean != want.clean || changed != want.changed {
			t.Errorf("%q.Clean() = %q, %v, want %q, %v", in, clean, changed, want.clean, want.changed)
		}
	}
}

func TestTextJSON(t *testing.T) {
	for raw, want := range map[string]Text{
		`"\ud800"`:                   "\xed\xa0\x80",
		`"\uDFFF x"`:                 "\xed\xbf\xbf x",
		`"\ud83d\ude00"`:             "😀", // a whole pair is its character
		`"\ud83d \ude00"`:            "\xed\xa0\xbd \xed\xb8\x80",
		`"\ude00\ud83d"`:             "\xed\xb8\x80\xed\xa0\xbd",
		`"\ud800\ud83d\ude00"`:       "\xed\xa0\x80😀",
		`"\\ud800"`:                  `\ud800`, // an escaped backslash is no escape
		`"\u0000\u001b"`:             "\x00\x1b",
		`"<&>\u2028"`:                "<&>\u2028",
		` "spaces around" `:          "spaces around",
		`"\ud800\n\"\\\/\b\f\r\t é"`: "\xed\xa0\x80\n\"\\/\b\f\r\t é",
	} {
		var got Text
		if err := json.Unmarshal([]byte(raw), &got); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", raw, got, err, want)
			continue
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var back Text
		if err := json.Unmarshal(again, &back); err != nil || back != got {
			t.Errorf("%q written as %s and read as %q (%v)", got, again, back, err)
		}
	}
	for _, raw := range []string{`1`, `{}`, `["a"]`, `true`} {
		var got Text
		if err := json.Unmarshal([]byte(raw), &got); err == nil {
			t.Errorf("%s was taken for text: %q", raw, got)
		}
	}
	kept := Text("kept")
	if err := json.Unmarshal([]byte("null"), &kept); err != nil || kept != "kept" {
		t.Errorf("null made %q (%v)", kept, err)
	}
}

// FuzzText: whatever bytes a text has, its JSON is valid UTF-8 and valid JSON, and
// reading it gives the text back, invalid bytes apart.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", "\x00\x1f\x7f", "\xed\xa0\x80", "\xed\xa0\x80\xed\xb0\x80", "\xff", "漢字", "\u2028\\\"", "\xed\xa0", "😀\xed\xbf\xbf"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw, err := Text(s).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(raw) || !json.Valid(raw) {
			t.Fatalf("%q is written as %q", s, raw)
		}
		var back Text
		if err := back.UnmarshalJSON(raw); err != nil {
			t.Fatalf("%q written as %s cannot be read: %v", s, raw, err)
		}
		if want := wellFormed(s); string(back) != want {
			t.Errorf("%q came back as %q, want %q", s, back, want)
		}
		if clean, _ := Text(s).Clean(); !utf8.ValidString(clean) {
			t.Errorf("%q cleaned is %q", s, clean)
		}
	})
}

// wellFormed is s with halves that meet joined and invalid bytes replaced, written
// over code points rather than bytes.
func wellFormed(s string) string {
	var units []rune
	for len(s) > 0 {
		if len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1]&0xC0 == 0x80 && s[2]&0xC0 == 0x80 {
			units = append(units, rune(s[0]&0xF)<<12|rune(s[1]&0x3F)<<6|rune(s[2]&0x3F))
			s = s[3:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		units, s = append(units, r), s[n:]
	}
	var b strings.Builder
	for i := 0; i < len(units); i++ {
		u := units[i]
		switch {
		case u >= 0xD800 && u < 0xDC00 && i+1 < len(units) && units[i+1] >= 0xDC00 && units[i+1] < 0xE000:
			b.WriteRune(0x10000 + (u-0xD800)*0x400 + units[i+1] - 0xDC00)
			i++
		case u >= 0xD800 && u < 0xE000:
			b.WriteString(string([]byte{0xED, 0x80 | byte(u>>6&0x3F), 0x80 | byte(u&0x3F)}))
		default:
			b.WriteRune(u)
		}
	}
	return b.String()
}

// FuzzTextUnmarshal: whatever JSON string comes, it is read as encoding/json reads
// it, lone surrogates apart.
func FuzzTextUnmarshal(f *testing.F) {
	for _, raw := range []string{`"a"`, `"\ud800"`, `"\ud83d\ude00"`, `"\\u"`, `"\u00"`, `"`, `"\`, `"\ud8`, `"\ud800\"`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got Text
		err := got.UnmarshalJSON(raw)
		var want string
		wantErr := json.Unmarshal(raw, &want)
		if !json.Valid(raw) {
			return // encoding/json never hands over anything else
		}
		if wantErr != nil {
			if err == nil && strings.TrimSpace(string(raw)) != "null" {
				t.Errorf("%s was taken for text: %q", raw, got)
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if clean, _ := got.Clean(); clean != want {
			t.Errorf("%s is %q cleaned, and %q by encoding/json", raw, clean, want)
		}
	})
}
