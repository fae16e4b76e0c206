package grade

import (
	"bytes"
	"encoding/json"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// decoded walks a value that encoding/json has read: the second implementation of
// appendLeaves. Members of one object come in the order of their names.
func decoded(v any, key string, depth int, out map[leaf]int) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			decoded(value, name, depth+1, out)
		}
	case []any:
		for _, value := range v {
			decoded(value, key, depth, out)
		}
	case string:
		out[leaf{key, depth, 's', v}]++
	case json.Number:
		out[leaf{key, depth, 'n', v.String()}]++
	case bool:
		out[leaf{key, depth, 'b', strconv.FormatBool(v)}]++
	case nil:
		out[leaf{key, depth, '0', "null"}]++
	}
}

func jsonValue() *rapid.Generator[any] {
	scalar := rapid.OneOf(
		rapid.Map(rapid.StringMatching(`[a-z "\\/é\x{1F600}]{0,8}`), func(s string) any { return s }),
		rapid.Map(rapid.Int(), func(n int) any { return n }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil))
	value := scalar
	for range 3 {
		inner := value
		value = rapid.OneOf(scalar,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(s []any) any { return s }),
			rapid.Map(rapid.MapOfN(rapid.StringMatching(`[a-z_é"]{1,6}`), inner, 0, 4), func(m map[string]any) any { return m }))
	}
	return value
}

func TestLeavesAreThoseOfADecoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := jsonValue().Draw(t, "value")
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indented") {
			raw, _ = json.MarshalIndent(v, " ", "\t")
		}
		var again any
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&again); err != nil {
			t.Fatal(err)
		}
		want := map[leaf]int{}
		decoded(again, "", 0, want)
		got := map[leaf]int{}
		for _, l := range appendLeaves(nil, string(raw)) {
			got[l]++
		}
		if len(got) != len(want) {
			t.Fatalf("%s: leaves %v, want %v", raw, got, want)
		}
		for l, n := range want {
			if got[l] != n {
				t.Fatalf("%s: leaf %v stands %d times, want %d", raw, l, got[l], n)
			}
		}
	})
}

func FuzzLeaves(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"b",{"c":null}]}`, `{"a`, `"\u12`, `[[[[[`, `{"a":}`, `{"a":"\`, `tru`, "\x00", `{"a":1,,,"b":2}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if n := len(appendLeaves(nil, raw)); n > len(raw)+1 {
			t.Fatalf("%d leaves of %d bytes", n, len(raw))
		}
	})
}
