package axes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/engine/axes"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestClauses(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		want   []string
	}{
		"none":          {"", nil},
		"role preamble": {"You are a helpful support agent for Acme. Never share passwords.", []string{"Never share passwords"}},
		"role by name":  {"You are Ada, the assistant of Acme.\nYour name is Ada. Stay polite.", []string{"Stay polite"}},
		"role with a rule": {"You are an agent that must never share passwords. You are not allowed to curse.",
			[]string{"You are an agent that must never share passwords", "You are not allowed to curse"}},
		"semicolons":                     {"Ask first; act second (never both; really); report last.", []string{"Ask first", "act second (never both; really)", "report last"}},
		"headings cut":                   {"# Refunds\nRefund only once.\n## Keys\nSetext heading\n==============\nKeep keys secret.\n\n**Bold heading**\nStay calm.", []string{"Refund only once", "Keep keys secret", "Stay calm"}},
		"a heading that says what to do": {"## Never share keys\nThey are secret to us.", []string{"Never share keys", "They are secret to us"}},
		"lists":                          {"1. First rule here\n2) Second rule here\n- third rule\n  * nested rule\n• bullet rule\n(a) lettered rule\n- [ ] open box", []string{"First rule here", "Second rule here", "third rule", "nested rule", "bullet rule", "lettered rule", "open box"}},
		"wrapped lines":                  {"- Never refund\n  more than once.\n\nAlways ask\nbefore you act.", []string{"Never refund more than once", "Always ask before you act"}},
		"abbreviations": {"Use tools, e.g. Search, for facts. Dr. No. may call vs. Mr. X. Pay 3.5 percent. See Sec. 4 for U.S. Rules.",
			[]string{"Use tools, e.g. Search, for facts", "Dr. No. may call vs. Mr. X. Pay 3.5 percent", "See Sec. 4 for U.S. Rules"}},
		"questions and quotes": {`Is it late? Say "sorry." Then stop!`, []string{"Is it late?", `Say "sorry."`, "Then stop!"}},
		"markup":               {"**Always** use `get_order` and [the guide](https://x.y/z) first.", []string{"Always use get_order and the guide first"}},
		"tables":               {"| tier | limit |\n|---|:--:|\n| gold member | three bags |", []string{"tier, limit", "gold member, three bags"}},
		"tags and fences":      {"<policy>\nNever shout.\n</policy>\n```\nAlways whisper.\n```", []string{"Never shout", "Always whisper"}},
		"said twice":           {"Never shout.\n- never shout", []string{"Never shout"}},
		"no rules":             {"Payment:\n---\n1.\nThe current time is 2024-05-15 15:00:00 EST.\n***\n42", nil},
		"windows lines":        {"Never shout.\r\n\r\n- Always whisper.\r\n", []string{"Never shout", "Always whisper"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, axes.Clauses(c.policy)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLongClausesAreCutAtAWord(t *testing.T) {
	long := strings.Repeat("word ", 200)
	got := axes.Clauses("Never " + long)[0]
	if n := utf8.RuneCountInString(got); n > axes.ClauseRunes || n < axes.ClauseRunes-10 || !strings.HasSuffix(got, " word…") {
		t.Errorf("%d runes: %q", n, got)
	}
	one := axes.Clauses("Never " + strings.Repeat("ü", 1000))[0]
	if n := utf8.RuneCountInString(one); n != axes.ClauseRunes {
		t.Errorf("one word of a thousand letters is cut to %d runes", n)
	}
}

// Whatever the policy, its clauses are one line each, short, distinct, and read
// again they are themselves.
func TestClausesOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"You are a bot. ", "Never ", "e.g. ", "do it. ", "; ", "\n", "\n\n", "- ", "# ", "1. ", "(", ")", "**", "| a | b |", "```", "é ", "X. ", "..", "\t", "\u202e", "word ", "[x](y)"})).Draw(t, "parts"), "")
		seen := map[string]bool{}
		for _, c := range axes.Clauses(policy) {
			if strings.ContainsAny(c, "\n\r\t") || strings.TrimSpace(c) != c || c == "" || utf8.RuneCountInString(c) > axes.ClauseRunes {
				t.Errorf("clause %q", c)
			}
			if seen[c] {
				t.Errorf("%q twice", c)
			}
			seen[c] = true
		}
	})
}

func FuzzClauses(f *testing.F) {
	f.Add("# Title\n- one; two.\nThree e.g. four. **Five**")
	f.Add("You are\x00 a \xff bot.\r\n(((;;;")
	f.Fuzz(func(t *testing.T, policy string) {
		for _, c := range axes.Clauses(policy) {
			if utf8.RuneCountInString(c) > axes.ClauseRunes || strings.ContainsRune(c, '\n') {
				t.Errorf("clause %q", c)
			}
		}
	})
}

// BenchmarkClauses shows that a policy of 200 KB, the largest that is promised,
// takes milliseconds, a hostile one without spaces too.
func BenchmarkClauses(b *testing.B) {
	for name, policy := range map[string]string{
		"lists":     strings.Repeat("- You must never do the thing; ask first, e.g. Ada. Then wait.\n", 3200),
		"no spaces": strings.Repeat("a.", 100_000),
		"one line":  strings.Repeat("Never do it. ", 16_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(policy)))
			for b.Loop() {
				axes.Clauses(policy)
			}
		})
	}
}

// TestRealPolicy reads the policy of tau-bench's airline domain.
func TestRealPolicy(t *testing.T) {
	folder := os.Getenv("ASSAY_CASES")
	if folder == "" {
		t.Skip("ASSAY_CASES is not set")
	}
	raw, err := os.ReadFile(filepath.Join(folder, "taubench_airline_system_prompt.txt"))
	if err != nil {
		t.Fatal(err)
	}
	clauses := axes.Clauses(string(raw))
	if len(clauses) < 45 || len(clauses) > 55 {
		t.Errorf("%d clauses, by hand there are 51", len(clauses))
	}
	whole := strings.Join(strings.Fields(string(raw)), " ")
	for _, c := range clauses {
		if !strings.Contains(whole, strings.TrimSuffix(c, "…")) {
			t.Errorf("clause is not in the policy: %q", c)
		}
	}
	for _, want := range []string{"You should deny user requests that are against this policy", "Change flights: Basic economy flights cannot be modified", "Each extra baggage is 50 dollars"} {
		if !contains(clauses, want) {
			t.Errorf("no clause %q", want)
		}
	}
	for _, no := range []string{"Airline Agent Policy", "Refund", "The current time is 2024-05-15 15:00:00 EST"} {
		if contains(clauses, no) {
			t.Errorf("%q is no rule", no)
		}
	}
}

func contains(list []string, want string) bool {
	for _, s := range list {
		if s == want {
			return true
		}
	}
	return false
}
