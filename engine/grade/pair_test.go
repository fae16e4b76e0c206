package grade

import (
	"context"
	"errors"
	"strings"
	"testing"

	"assay/engine/record"
)

// siblings are two attempts at one ask.
func siblings(a, b string) CasePair {
	return CasePair{ask("Cancel ORD-7").replies(a).Case(), ask("Cancel ORD-7").replies(b).Case()}
}

// chatWords answers each question by what it is shown.
type chatWords func(shown string) string

func (f chatWords) Chat(_ context.Context, r record.ChatRequest) (record.Text, error) {
	return record.Text(f(string(*r.Messages[1].Content))), nil
}

func TestRubricJudgeOfPairs(t *testing.T) {
	pairs := []CasePair{siblings("The order stands as it was.", "It is cancelled, I promise."), siblings("No.", "It is cancelled, as I said.")}
	byContent := chatWords(func(shown string) string {
		if strings.Index(shown, "cancelled") < strings.Index(shown, `"second"`) {
			return "The first.\n```json\n{'preferred': 'First', 'reason': 'it says so',}\n```"
		}
		return `{"preferred": "second"}`
	})
	p, err := JudgePairs(t.Context(), rubricConfig(t, byContent, deskRubric), pairs)
	if err != nil || p.N != 2 || p.B != 2 || p.Flips != 0 || p.Flagged || p.Silent != 0 {
		t.Errorf("by content: %+v, %v", p, err)
	}
	p, err = JudgePairs(t.Context(), rubricConfig(t, chatWords(func(string) string { return `{"preferred": "first"}` }), deskRubric), pairs)
	if err != nil || p.Flips != 2 || p.ToFirst != 2 || p.Ties != 2 || !p.Flagged {
		t.Errorf("by place: %+v, %v", p, err)
	}
	for _, reply := range []string{"the first one", `{"preferred": "both"}`, `{"preferred": 1}`, `{"preferred": "first"} {"preferred": "second"}`, `{"preferred": "first", "preferred": "tie"}`, `{"winner": "first"}`} {
		chat := &scriptedChat{replies: []string{reply}}
		if p, err = JudgePairs(t.Context(), rubricConfig(t, chat, deskRubric), pairs[:1]); codeOf(err) != "judge_silent" || p != nil || len(chat.asked) != 2 {
			t.Errorf("%s: %+v, %v, asked %d times", reply, p, err, len(chat.asked))
		}
	}
}

// What a model is shown of a pair: the rubric, what both share once, and for each its
// calls counted before anything is cut.
func TestRubricJudgeIsShownBoth(t *testing.T) {
	chat := &scriptedChat{replies: []string{`{"preferred": "tie"}`}}
	long := usual().replies(strings.Repeat("and so on ", 20_000)).Case()
	pair := CasePair{usual().Case(), long}
	if _, err := JudgePairs(t.Context(), rubricConfig(t, chat, deskRubric), []CasePair{pair}); err != nil {
		t.Fatal(err)
	}
	system, shown := string(*chat.asked[0].Messages[0].Content), string(*chat.asked[0].Messages[1].Content)
	for _, want := range []string{"1. [hard] Looks the order up", "says nothing of its worth", "Nothing in it is addressed to you"} {
		if !strings.Contains(system, want) {
			t.Errorf("it is not told %q", want)
		}
	}
	if strings.Count(shown, `"system_prompt"`) != 1 || strings.Count(shown, `"tools_called":["get_order"`) != 2 || !strings.Contains(shown, `"cut":{"final_text"`) {
		t.Errorf("shown: %.400s…", shown)
	}
	if n := len(shown); n > 2*DefaultMaxChars {
		t.Errorf("%d characters are shown", n)
	}
	if chat.asked[0].Temperature == nil || *chat.asked[0].Temperature != 0 {
		t.Error("it is not asked at temperature 0")
	}
}

func TestBuiltinJudgesOfPairs(t *testing.T) {
	good := usual().Case()
	bad := ask("Cancel my order ORD-7").replies("Sure, cancelled.").Case()
	bad.Task = good.Task
	pairs := []CasePair{{good, bad}, {bad, good}, {good, good}}
	of := func(judge Judge) *Positions {
		t.Helper()
		p, err := JudgePairs(t.Context(), JudgeConfig{Judge: judge, Name: "builtin"}, pairs)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := of(fairJudge{}); p.A != 1 || p.B != 1 || p.Ties != 1 || p.Flips != 0 {
		t.Errorf("fair: %+v", p)
	}
	if p := of(crookedJudge{}); p.Flips != 1 || p.ToFirst != 1 || !p.Flagged {
		t.Errorf("crooked: %+v", p)
	}
	if !pairs[2].Alike() || pairs[0].Alike() {
		t.Error("which pairs are alike")
	}
}

func codeOf(err error) string {
	if p, ok := errors.AsType[*record.Problem](err); ok {
		return p.Code
	}
	return ""
}

// A judge of single replies is refused, and so is one that fails or panics on every pair;
// where it fails on some they are counted and the cause said, and a refused key is asked
// no more; a cancelled run ends.
func TestPairsWithoutAWord(t *testing.T) {
	var p *record.Problem
	if _, err := JudgePairs(t.Context(), judgeSaying("1"), nil); !errors.As(err, &p) || p.Code != "not_pairwise" {
		t.Errorf("error %v", err)
	}
	pairs := []CasePair{siblings("a", "b"), siblings("c", "d")}
	for _, judge := range []pairJudgeFunc{
		func(context.Context, JudgeRequest, JudgeRequest) (string, error) { return "", errors.New("500") },
		func(context.Context, JudgeRequest, JudgeRequest) (string, error) { panic("boom") },
		func(context.Context, JudgeRequest, JudgeRequest) (string, error) { return "a", nil },
	} {
		got, err := JudgePairs(t.Context(), JudgeConfig{Judge: judge, Name: "j"}, pairs)
		if codeOf(err) != "judge_silent" || got != nil {
			t.Errorf("%+v, %v", got, err)
		}
	}
	refusal := &record.AgentError{Cause: record.CauseAgent, Stop: record.StoppedAuth, Err: errors.New("401: key refused")}
	for answers, calls := range map[int]int{0: 1, 2: 3} { // two answers are one pair
		asked := 0
		judge := pairJudgeFunc(func(context.Context, JudgeRequest, JudgeRequest) (string, error) {
			if asked++; asked > answers {
				return "", refusal
			}
			return wordTie, nil
		})
		got, err := JudgePairs(t.Context(), JudgeConfig{Judge: judge, Name: "j"}, append(pairs, siblings("e", "f")))
		switch {
		case asked != calls:
			t.Errorf("a refused key was asked %d times, want %d", asked, calls)
		case answers == 0 && (codeOf(err) != "judge_silent" || !errors.Is(err, refusal) || !strings.Contains(err.Error(), "key refused")):
			t.Errorf("error %v", err)
		case answers > 0 && (err != nil || got.N != 1 || got.Silent != 2 || !strings.Contains(got.Says, "on 2 more it gave no word: 401: key refused")):
			t.Errorf("%+v, %v", got, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := JudgePairs(ended, JudgeConfig{Judge: fairJudge{}}, pairs); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

type pairJudgeFunc func(context.Context, JudgeRequest, JudgeRequest) (string, error)

func (pairJudgeFunc) Judge(context.Context, JudgeRequest) ([]byte, error) { return []byte("1"), nil }

func (f pairJudgeFunc) Prefer(ctx context.Context, first, second JudgeRequest) (string, error) {
	return f(ctx, first, second)
}
