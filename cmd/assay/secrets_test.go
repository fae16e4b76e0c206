package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"assay/engine"
	"assay/engine/record"
)

// leakedKey is what the agent is given under a name that only its recipe knows;
// leakedPassword has a name that says what it is.
const (
	leakedKey      = "qZ7wLeaky/0123456789+ABCDEFghijklMNOPQR"
	leakedPassword = "hX4vSpoken9876543210zyxwvutsrqPONMLK"
)

// spelt is a key as JSON may escape it: all of it, or every other character.
func spelt(key string, every int) string {
	var b strings.Builder
	for i, c := range key {
		if i%every == 0 {
			fmt.Fprintf(&b, `\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// leakingAgent writes its key into every field of every message, in every
// spelling, or fails with it in the way that its argument names.
func leakingAgent() {
	key := os.Getenv("LEAKY_BOT")
	forms := []string{key, spelt(key, 1), spelt(key, 2), key[:20], key[14:], strings.ReplaceAll(key, "/", `\/`)}
	how := os.Args[1]
	eachTurn(func(id string, k int) {
		all := "mine are " + strings.Join(forms, " and ")
		switch how {
		case "speaks":
			nested := strings.ReplaceAll(strings.ReplaceAll(`{"k":"`+spelt(key, 1)+`"}`, `\`, `\\`), `"`, `\"`)
			fmt.Printf("{\"type\":\"text\",\"id\":%q,\"text\":\"%s\"}\n", id, all)
			fmt.Printf("{\"type\":\"tool_call\",\"id\":%q,\"call\":\"a%s\",\"tool\":\"look\",\"arguments\":{\"q\":\"%s\",\"%s\":[\"%s\"]}}\n", id, forms[1], all, forms[1], nested)
			fmt.Printf("{\"type\":\"tool_call\",\"id\":%q,\"call\":\"b\",\"tool\":\"tool %s\",\"arguments\":{}}\n", id, forms[1])
			fmt.Printf("{\"type\":\"reply\",\"id\":%q,\"final_text\":\"%s\",\"reward\":\"%s\",\"note %s\":{\"%s\":\"%s\"}}\n", id, all, all, forms[1], forms[2], nested)
		case "reports":
			fmt.Printf("{\"type\":\"error\",\"id\":%q,\"error\":\"%s\"}\n", id, all)
		case "bad finish":
			fmt.Printf("{\"type\":\"reply\",\"id\":%q,\"final_text\":\"\",\"finish_reason\":\"%s\"}\n", id, all)
		case "bad step":
			fmt.Printf("{\"type\":\"reply\",\"id\":%q,\"final_text\":\"\",\"steps\":[{\"what\":\"%s\"}]}\n", id, all)
		case "bad type":
			fmt.Printf("{\"type\":\"%s\",\"id\":%q}\n", all, id)
		case "exits":
			fmt.Fprintln(os.Stderr, all)
			os.Exit(1)
		case "junk":
			fmt.Println(all)
		default: // junk that is cut inside the key
			at, _ := strconv.Atoi(how)
			fmt.Println(strings.Repeat("x", at) + forms[k%2])
		}
	})
}

// spoken says which ten characters of a key stand in text, in any spelling.
func spoken(text string) string {
	for range 5 {
		for _, key := range []string{leakedKey, leakedPassword} {
			for i := range len(key) - 9 {
				if strings.Contains(text, key[i:i+10]) {
					return key[i : i+10]
				}
			}
		}
		text = unspell(text)
	}
	return ""
}

var speltCharacter = regexp.MustCompile(`\\u00[0-9a-fA-F]{2}|\\[\\/"]`)

func unspell(text string) string {
	return speltCharacter.ReplaceAllStringFunc(text, func(s string) string {
		if s[1] != 'u' {
			return s[1:]
		}
		n, _ := strconv.ParseUint(s[4:], 16, 8) // the expression lets nothing else through
		return string(rune(n))
	})
}

// silent runs assay and wants no key in what it prints.
func (p *place) silent(args ...string) string {
	p.t.Helper()
	out, errs, code := p.run(args...)
	for name, text := range map[string]string{"stdout": out, "stderr": errs} {
		if said := spoken(text); said != "" {
			p.t.Errorf("assay %v: %s holds %q:\n%.2000s", args, name, said, text)
		}
	}
	if code > exitCouldNot {
		p.t.Errorf("assay %v: exit %d", args, code)
	}
	return out
}

// filesHoldNoKey looks into every file of the place, the database's included.
func (p *place) filesHoldNoKey() {
	p.t.Helper()
	err := filepath.WalkDir(p.dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "given") {
			return err
		}
		raw, err := os.ReadFile(file)
		if said := spoken(string(raw)); said != "" {
			p.t.Errorf("%s holds %q", file, said)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

const leakyRecipe = `
name: leaky
agent: {command: [leaking-agent, %q], version: "1", env: [LEAKY_BOT]}
tools: tools.json
grade: {markers: {good: '1'}, reward: {marker: good}}
simulate: {mode: sft, situations: 6, repeats: 2, concurrency: 2}
%s
`

func newLeakyPlace(t *testing.T, how, more string) *place {
	p := newPlace(t)
	p.env = []string{"LEAKY_BOT=" + leakedKey, "PGPASSWORD=" + leakedPassword}
	p.write("r/recipe.yaml", fmt.Sprintf(leakyRecipe, how, more))
	p.write("r/tools.json", `[{"name":"look","description":"Looks something up","parameters":{"type":"object","properties":{"q":{"type":"string"}}}}]`)
	return p
}

// TestKeysAreNowhere lets an agent say its keys in every way and field, and looks
// for ten characters of them in everything that is kept, exported or printed.
func TestKeysAreNowhere(t *testing.T) {
	t.Parallel()
	p := newLeakyPlace(t, "speaks", "cut: [{for: sft}, {for: sft, format: trl}, {for: sft, format: openai}]")
	r := decode[engine.StoryResult](t, p.silent("run", "r", "--json"))
	if r.Rollouts == 0 || len(r.Cut) != 3 {
		t.Fatalf("nothing was tested: %+v", r)
	}
	for _, c := range r.Cut {
		if c.RowsOut == 0 {
			t.Errorf("%s %s is empty", c.For, c.Format)
		}
	}
	rows := p.rows("last")
	if len(rows) == 0 || !strings.Contains(string(rows[0].FinalText), record.Masked) || !strings.Contains(string(rows[0].Steps[1].Arguments), record.Masked) {
		t.Fatalf("the rows do not say that keys were masked: %+v", rows)
	}
	label, err := record.Marshal(map[string]string{"rollout_id": rows[0].RolloutID, "label": "pass", "annotator": "ann " + leakedPassword, "note": leakedPassword})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(label), leakedPassword, spelt(leakedPassword, 1))
	p.silent("labels", "import", "last", p.write("given.jsonl", text))
	for _, args := range [][]string{
		{"rows", "last"}, {"rows", "last", "--json"}, {"rows", "last", "--canonical"}, {"export", "last"}, {"export", "last", "--out", "rows.jsonl"},
		{"labels", "export", "last"}, {"labels", "export", "last", "--format", "jsonl"}, {"show", "last"}, {"show", "last", "--json"},
		{"runs"}, {"runs", "--json"}, {"pass", "last", "--json"}, {"resume", "last"}, {"run", "r"},
	} {
		p.silent(args...)
	}
	p.filesHoldNoKey()
}

// TestErrorsHoldNoKey wants no piece of a key in what is said of an agent that
// breaks with it.
func TestErrorsHoldNoKey(t *testing.T) {
	t.Parallel()
	hows := []string{"reports", "bad finish", "bad step", "bad type", "exits", "junk"}
	for at := 155; at < 205; at += 7 { // the quoted beginning of a line ends inside the key
		hows = append(hows, strconv.Itoa(at))
	}
	for _, how := range hows {
		t.Run(how, func(t *testing.T) {
			p := newLeakyPlace(t, how, "")
			r := decode[engine.StoryResult](t, p.silent("run", "r", "--json"))
			if r.StoppedBecause != record.StoppedAgentFailed || r.Error == "" {
				t.Fatalf("stopped because %s, saying %q", r.StoppedBecause, r.Error)
			}
			for _, args := range [][]string{{"run", "r"}, {"show", "last"}, {"show", "last", "--json"}, {"rows", "last"}, {"runs"}} {
				p.silent(args...)
			}
			p.filesHoldNoKey()
		})
	}
}

// TestJSONCannotActOnATerminal wants characters that a terminal or an editor obeys
// escaped in all that is printed, and the same text behind them.
func TestJSONCannotActOnATerminal(t *testing.T) {
	t.Parallel()
	const acting = "a\u009b31mb\u202ec\u200bd\u007f\u2066e\U000E0041"
	p := newPlace(t)
	row, err := json.Marshal(map[string]any{"scenario_id": "one", "prompt": acting, "final_text": acting, "rollout_index": 0, "reward": 1,
		"steps": []any{map[string]any{"tool": acting, "arguments": map[string]any{acting: acting}, "result": acting}}})
	if err != nil {
		t.Fatal(err)
	}
	p.must("import", p.write("given.jsonl", string(row)+"\n"))
	label, err := json.Marshal(map[string]any{"task": "one#0", "label": "pass", "annotator": acting, "note": acting, "tags": []string{acting}})
	if err != nil {
		t.Fatal(err)
	}
	p.must("labels", "import", "last", p.write("labels.jsonl", string(label)))
	for _, args := range [][]string{
		{"rows", "last"}, {"rows", "last", "--json"}, {"rows", "last", "--fields", "final_text"}, {"export", "last"}, {"show", "last"}, {"show", "last", "--json"},
		{"labels", "export", "last"}, {"labels", "export", "last", "--format", "jsonl"}, {"runs", "--json"},
	} {
		out := p.must(args...)
		for _, r := range out {
			if record.Hidden(r) && r != '\n' {
				t.Errorf("assay %v prints %U", args, r)
				break
			}
		}
	}
	back := p.rows("last")
	if len(back) != 1 || back[0].FinalText != acting || back[0].Steps[0].Tool != acting {
		t.Errorf("the text came back as %+v", back)
	}
	csv := p.must("labels", "export", "last")
	if out := p.must("labels", "import", "last", p.write("labels.csv", csv), "--json"); decode[struct{ Unchanged int }](t, out).Unchanged != 1 {
		t.Errorf("the exported label is another one when it is read again: %s\n%s", out, csv)
	}
}

// TestTruthTwiceAddsNothing wants one label a rollout however often it is asked.
func TestTruthTwiceAddsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("run", "seeded-agent")
	p.must("labels", "import", "last", "--truth")
	first := p.must("labels", "export", "last")
	out := p.must("labels", "import", "last", "--truth")
	if !strings.Contains(out, " 0 saved") || !strings.Contains(out, "said before") {
		t.Errorf("a second import says %q", out)
	}
	if again := p.must("labels", "export", "last"); again != first {
		t.Errorf("a second import changed the labels: %d bytes became %d", len(first), len(again))
	}
}

// TestNoDatabaseSaysSo wants the word for what is wrong with an empty file and a
// device.
func TestNoDatabaseSaysSo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for file, want := range map[string]string{p.write("empty.db", ""): "is empty", os.DevNull: "is a device"} {
		if _, errs, code := p.run("runs", "--db", file); code != exitCouldNot || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", file, code, errs)
		}
	}
	if raw, err := os.ReadFile(p.file("empty.db")); err != nil || !bytes.Equal(raw, nil) {
		t.Errorf("the empty file was changed: %v", err)
	}
}

// TestNoCommandPrintsAKey that stands in what it reads or in a file's name.
func TestNoCommandPrintsAKey(t *testing.T) {
	t.Setenv("PGPASSWORD", leakedPassword)
	p := newPlace(t)
	p.write("given.pict", "colour: red, "+leakedPassword+"\nsize: s, m\n")
	for _, args := range [][]string{
		{"cover", "--model", "given.pict"}, {"cover", "--model", "given.pict", "--csv"}, {"cover", "--model", "given.pict", "--json"},
		{"doctor", "--db", leakedPassword + ".db"}, {"doctor", "--db", leakedPassword + ".db", "--json"}, {"runs", "--db", leakedPassword + ".db"},
	} {
		p.silent(args...)
	}
	if out := p.silent("cover", "--model", "given.pict", "--csv"); !strings.Contains(out, record.Masked) {
		t.Errorf("nothing was tested: %s", out)
	}
}
