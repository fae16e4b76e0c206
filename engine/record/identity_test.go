package record

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCanonicalRFC8785(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		// RFC 8785, section 3.2.2 and 3.2.4: the serialisation sample.
		"serialisation": {
			"{\n  \"numbers\": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],\n" +
				`  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",` + "\n  \"literals\": [null, true, false]\n}",
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		// RFC 8785, section 3.2.3: members are sorted by their UTF-16 code units.
		"sorting": {
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		},
		"nested":          {`{"b":{"z":1,"a":[ 1 , 2 ]},"a":{}}`, `{"a":{},"b":{"a":[1,2],"z":1}}`},
		"lone surrogate":  {`{"b":"\ud800","a":1}`, `{"a":1,"b":"\ud800"}`},
		"duplicate names": {`{"a":2,"a":1}`, `{"a":1,"a":2}`},
	} {
		got, err := Canonical([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %s (%v)\nwant %s", name, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "{", "{} {}", "NaN"} {
		if got, err := Canonical([]byte(bad)); err == nil {
			t.Errorf("%q is canonically %s", bad, got)
		}
	}
}

// RFC 8785, appendix B: doubles by their bits and the text they have.
func TestCanonicalNumbers(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0", 0x8000000000000000: "0", 0x0000000000000001: "5e-324", 0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308", 0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992", 0xc340000000000000: "-9007199254740992", 0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22", 0x44b52d02c7e14af6: "1e+23", 0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000", 0x444b1ae4d6e2ef4f: "999999999999999900000", 0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7", 0x3eb0c6f7a0b5ed8d: "0.000001", 0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325", 0x41b3de4355555555: "333333333.3333333", 0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343", 0xbecbf647612f3696: "-0.0000033333333333333333", 0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		raw, err := json.Marshal(math.Float64frombits(bits))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Canonical(raw); err != nil || string(got) != want {
			t.Errorf("%016x is %s (%v), want %s", bits, got, err, want)
		}
	}
}

func TestCanonicalIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.MapOf(rapid.String(), rapid.OneOf(rapid.Float64().AsAny(), rapid.String().AsAny(), rapid.SliceOf(rapid.Int32()).AsAny())).Draw(t, "v")
		raw, err := Marshal(v)
		if err != nil {
			t.Skip("not a number")
		}
		once, err := Canonical(raw)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := Canonical(once)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("%s became %s (%v)", once, twice, err)
		}
	})
}

// Ids are published: they stand in files, labels and papers. A value that changes
// here changes everybody's. The values were made by a program in another
// language (Python's json and hashlib).
func TestIdentitiesStay(t *testing.T) {
	axes := Axes{AxisTool: "restart_service", AxisRule: "Read the runbook first.", AxisStance: "hurried", AxisWorldState: "entity exists", AxisToolCondition: ConditionTimeout, AxisHistory: "fresh"}
	fault := &Fault{Tool: "restart_service", Condition: ConditionTimeout}
	tools := []Tool{{Name: "restart_service", Description: "Restarts.", Parameters: json.RawMessage(`{"type": "object"}`), Kind: ToolWrite}}
	task := &Task{SituationID: SituationID(axes, fault), Ask: "Restart <billing> & co, now", User: User{Kind: "scripted", Manner: "terse"}, Tools: tools, Reference: json.RawMessage(`{"answer":1.0}`)}
	task.Identify()
	bare := &Task{SituationID: AskSituationID("é \xed\xa0\x80", ""), Ask: "é \xed\xa0\x80"}
	bare.Identify()
	key := Key{TaskID: task.ID, EvalRun: 1, K: 3}
	for name, c := range map[string]struct{ got, want string }{
		"identity":          {Identity("kind", map[string]any{"b": 1, "a": []any{nil, "x"}}), "0b89f7cc0f4b0651"},
		"situation":         {SituationID(axes, fault), "3b9a962d0d8db07f"},
		"situation, clean":  {SituationID(axes, nil), "e6482a64e4755ba0"},
		"ask":               {AskSituationID("Hello", ""), "556936c2a32db116"},
		"ask with a parent": {AskSituationID("Hello", "0011223344556677"), "7950a1748fc06e26"},
		"imported":          {ImportedSituationID("scn-1"), "566db267bdadbfbd"},
		"tools":             {ToolsHash(tools), "df43bbbcdfe871ae"},
		"no tools":          {ToolsHash(nil), "e1e55bc28e9e3c47"},
		"task":              {task.ID, "42f0c148d7b88682"},
		"bare task":         {bare.ID, "8ba478622b03e209"},
		"rollout":           {RolloutID("run1", key), "c7b780517a9ac778"},
		"scorer":            {NewScorer("judge", "fair", "m", "r", nil).ID, "judge:fair@f5162cd891c1bf12"},
	} {
		if c.got != c.want {
			t.Errorf("%s is %s, published as %s", name, c.got, c.want)
		}
	}
}

// The first one by hand, by the words of the design: SHA-256 over kind, newline
// and canonical JSON. printf 'kind\n{"a":[null,"x"],"b":1}' | sha256sum
func TestIdentityIsWhatItSays(t *testing.T) {
	if got := Identity("kind", map[string]any{"b": 1.0, "a": []any{nil, "x"}}); !strings.HasPrefix("0b89f7cc0f4b0651b8219e54f28652e35686bf2e405158f7901fce7577caaf87", got) {
		t.Errorf("identity %s", got)
	}
	if Identity("a", 1) == Identity("b", 1) {
		t.Error("the kind is not part of it")
	}
}

func TestTaskIdentityCoversItsParts(t *testing.T) {
	base := func() *Task {
		return &Task{SituationID: "s", Ask: "a", User: User{Kind: "scripted"}, Tools: []Tool{{Name: "t"}}, Reference: json.RawMessage(`{"answer":1}`)}
	}
	plain := base()
	plain.Identify()
	for name, change := range map[string]func(*Task){
		"situation": func(t *Task) { t.SituationID = "s2" },
		"ask":       func(t *Task) { t.Ask = "b" },
		"user":      func(t *Task) { t.User.Manner = "terse" },
		"tools":     func(t *Task) { t.Tools[0].Description = "d" },
		"reference": func(t *Task) { t.Reference = nil },
	} {
		changed := base()
		change(changed)
		changed.Identify()
		if changed.ID == plain.ID {
			t.Errorf("another %s has the same id", name)
		}
	}
	for name, change := range map[string]func(*Task){
		"writer":                   func(t *Task) { t.Writer = "model" },
		"spelling of the number":   func(t *Task) { t.Reference = json.RawMessage(`{ "answer" : 1.0 }`) },
		"world, which follows":     func(t *Task) { t.World.Entities = []Entity{{ID: "x"}} },
		"origin":                   func(t *Task) { t.Origin = OriginGiven },
		"tools hash, which is set": func(t *Task) { t.ToolsHash = "other" },
	} {
		same := base()
		change(same)
		same.Identify()
		if same.ID != plain.ID {
			t.Errorf("the %s changes the id", name)
		}
	}
}

// The short way to the identity of coordinates is the long one's.
func TestPlainIdentityAgainstCanonical(t *testing.T) {
	text := rapid.OneOf(rapid.StringMatching(`[a-z_ .,'<>&]{0,6}`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		axes := Axes(rapid.MapOfN(text, text, 0, 4).Draw(t, "axes"))
		if got, want := Identity("coordinates", axes), Identity("coordinates", map[string]string(axes)); got != want {
			t.Fatalf("%q is %s, by the long way %s", axes, got, want)
		}
		long := Identity("situation", map[string]any{"axes": map[string]string(axes), "fault": nil, "generator": Generator})
		if got := SituationID(axes, nil); got != long {
			t.Fatalf("the situation %q is %s, by the long way %s", axes, got, long)
		}
	})
}
