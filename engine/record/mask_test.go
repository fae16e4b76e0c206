package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

const testKey = "skAssay0123456789/abcdefGHIJKL"

// escaped spells every character of s as an escape.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04X`, r)
	}
	return b.String()
}

func TestMaskerFindsKeysHoweverTheyAreWritten(t *testing.T) {
	twice := strings.ReplaceAll(escaped(testKey), `\`, `\\`)
	for name, c := range map[string]struct{ in, want string }{
		"plain text":       {"my key is " + testKey + ".", "my key is [masked key]."},
		"JSON escapes":     {`{"k":"` + escaped(testKey) + `"}`, `{"k":"[masked key]"}`},
		"member name":      {`{"a` + escaped(testKey) + `":1}`, `{"a[masked key]":1}`},
		"some escapes":     {`["` + escaped(testKey[:4]) + testKey[4:] + `"]`, `["[masked key]"]`},
		"escaped slash":    {`"` + strings.ReplaceAll(testKey, "/", `\/`) + `"`, `"[masked key]"`},
		"JSON in JSON":     {`{"arguments":"{\"k\":\"` + twice + `\"}"}`, `{"arguments":"{\"k\":\"[masked key]\"}"}`},
		"the first half":   {"cut " + testKey[:16], "cut [masked key]"},
		"the second half":  {testKey[12:] + " cut", "[masked key] cut"},
		"too short a part": {testKey[:9] + " stays", testKey[:9] + " stays"},
		"twice":            {testKey + testKey, "[masked key][masked key]"},
		"no key":           {"{ \"a\" :\t\"\\u0061\\/\" }", "{ \"a\" :\t\"\\u0061\\/\" }"},
		"a number":         {`{"n":-1234567890123,"s":"1234567890"}`, `{"n":"[masked key]","s":"[masked key]"}`},
		"a bad escape":     {`\u00zz \ud83d ` + testKey + `\`, `\u00zz \ud83d [masked key]\`},
		"outside ASCII":    {`"p\u00e4ssword"`, `"[masked key]"`},
	} {
		m := NewMasker(testKey, "1234567890", "pässword")
		if got := m.Text(c.in); got != c.want {
			t.Errorf("%s: %q became %q, want %q", name, c.in, got, c.want)
		}
		if string(m.Raw([]byte(c.in))) != c.want {
			t.Errorf("%s: raw bytes differ from text", name)
		}
	}
	var none *Masker
	if none.Add(testKey); none.Text(testKey) != testKey || none.Count() != 0 {
		t.Error("a nil masker masks")
	}
}

// What holds no key comes out as the same bytes, and JSON stays JSON with no key
// in any of its strings, whichever characters were escaped.
func TestMaskerProperties(t *testing.T) {
	m := NewMasker(testKey, "hunter2222", "98765432")
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.String().Draw(t, "before")
		key := rapid.SampledFrom([]string{testKey, "hunter2222", "98765432"}).Draw(t, "key")
		depth := rapid.IntRange(0, 3).Draw(t, "depth")
		var spelt strings.Builder
		for _, r := range key {
			if rapid.Bool().Draw(t, "escape") {
				spelt.WriteString(escaped(string(r)))
			} else {
				spelt.WriteRune(r)
			}
		}
		quoted, _ := Text(before).MarshalJSON()
		raw := string(quoted[:len(quoted)-1]) + spelt.String() + `"`
		for range depth {
			quoted, _ := Text(`{"k":` + raw + `}`).MarshalJSON()
			raw = string(quoted)
		}
		out := m.Text(raw)
		if !json.Valid([]byte(out)) {
			t.Fatalf("%q became %q, which is not JSON", raw, out)
		}
		plain := out
		for range depth + 1 {
			var s Text
			for strings.HasPrefix(plain, "{") {
				plain = strings.TrimSuffix(strings.TrimPrefix(plain, `{"k":`), "}")
			}
			if err := s.UnmarshalJSON([]byte(plain)); err != nil {
				t.Fatal(err)
			}
			plain = string(s)
		}
		if strings.Contains(plain, key) {
			t.Fatalf("%q still holds %q", out, key)
		}
		if again := m.Text(out); again != out {
			t.Fatalf("masking %q again gives %q", out, again)
		}
		if !strings.Contains(before, "98765432") && m.Text(string(quoted)) != string(quoted) {
			t.Fatalf("%q was changed", quoted)
		}
	})
}

// Every run of ten characters of a long key is found, wherever it begins.
func TestMaskerFindsEveryPiece(t *testing.T) {
	m := NewMasker(testKey)
	for from := range len(testKey) - shortestPiece + 1 {
		for lead := range gramStep {
			text := strings.Repeat("~", lead) + testKey[from:from+shortestPiece] + "~"
			if got := m.Text(text); got != strings.Repeat("~", lead)+Masked+"~" {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
}

func TestSecrets(t *testing.T) {
	const value = "wJalrXUtnFEMI/K7MDENG"
	for _, c := range []struct {
		entry string
		named bool
		want  bool
	}{
		{"OPENAI_API_KEY=" + value, false, true},
		{"AWS_SECRET_ACCESS_KEY=" + value, false, true},
		{"AWS_SECRET_ACCESS_KEY=/" + value, false, true},
		{"AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", false, true},
		{"STRIPE_KEY=" + value, false, true},
		{"PGPASSWORD=correct horse", false, true},
		{"DB_PASS=password", false, true},
		{"GH_PAT=" + value, false, true},
		{"gh_token=" + value, false, true},
		{"GOOGLE_CREDENTIALS=" + value, false, true},
		{"SSH_PASSPHRASE=" + value, false, true},
		{"APP_PRIVATE_KEY=" + value, false, true},
		{"GOOGLE_APPLICATION_CREDENTIALS=/home/ana/keys/service.json", false, false},
		{"MONKEY=" + value, false, false},
		{"AUTH_METHOD=device-code", true, false},
		{"SHORT_KEY=1234567", false, false},
		{"MODEL=claude-sonnet-4-20250514", true, false},
		{"REGION=eu-central-1", true, false},
		{"BASE_URL=https://api.example.com/v1", true, false},
		{"WEBHOOK=https://hooks.example.com/services/T0AB12CD3/x9Yz8Wv7Ut", true, true},
		{"DATABASE=postgres://ana:hunter22@db.example.com:5432/app", true, true},
		{"WORK_DIR=/tmp/Test123/001", true, false},
		{"COUNT=123456789", true, false},
		{"ASSAY_BOT=" + value, true, true},
		{"ASSAY_BOT=" + value, false, false},
		{"GOCACHE=" + value, true, false},
		{"HOME=" + value, true, false},
		{"LC_ALL=de_DE.UTF-8x9", true, false},
	} {
		name, v, _ := strings.Cut(c.entry, "=")
		var named []string
		if c.named {
			named = []string{name}
		}
		if got := slices.Contains(Secrets([]string{c.entry}, named), v); got != c.want {
			t.Errorf("%s (named %v) is a secret: %v, want %v", c.entry, c.named, got, c.want)
		}
	}
	inside := Secrets([]string{
		"DATABASE=postgres://ana:hunter2222@db/app",
		`SERVICE_CREDENTIALS={"type":"service_account","private_key":"-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END KEY-----\n"}`,
	}, []string{"DATABASE"})
	for _, want := range []string{"hunter2222", "MIIEvQIBADANBgkqhkiG9w0"} {
		if !slices.Contains(inside, want) {
			t.Errorf("%q is not among %q", want, inside)
		}
	}
}

func TestEscapeHiddenIsLossless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.RuneFrom(nil, unicode.Cc, unicode.Cf))).Draw(t, "text")
		raw, err := Text(text).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		out := EscapeHidden(raw)
		if strings.ContainsFunc(string(out), Hidden) {
			t.Fatalf("%q holds a hidden character", out)
		}
		var back Text
		if err := back.UnmarshalJSON(out); err != nil || string(back) != text {
			t.Fatalf("%q came back as %q (%v)", text, back, err)
		}
	})
	if got := EscapeHidden([]byte("\"a\u202eb\U000E0041\u009b\"")); string(got) != `"a\u202eb\udb40\udc41\u009b"` {
		t.Errorf("%s", got)
	}
}

func BenchmarkMaskerText(b *testing.B) {
	m := NewMasker(testKey, "hunter2222", "skAnother9876543210zyxwvutsrq")
	for name, text := range map[string]string{
		"plain":   strings.Repeat(`{"order_id":"A-1009","note":"the customer asked for a refund"},`, 1000),
		"escaped": strings.Repeat(`{"order_id":"A-1009","note":"\u0074he customer asked for a refund"},`, 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m.Text(text)
			}
		})
	}
}
