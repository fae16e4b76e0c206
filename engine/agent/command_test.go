package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/engine/record"
)

// patient is a deadline that no test reaches: what ends before it, ended for
// another reason.
const patient = time.Minute

func TestReplyPassesTheTurnWhole(t *testing.T) {
	c := command(t, "show")
	turn := aTurn()
	turn.Deadline = time.Now().Add(patient)
	turn.World = &record.WorldAddress{MCP: "http://127.0.0.1:1/mcp", Token: "secret"}
	turn.History = []record.Step{
		{Kind: record.StepUser, Text: "hello"},
		{Kind: record.StepTool, Tool: "get_runbook", Arguments: json.RawMessage(`{"service":"a"}`), Result: json.RawMessage(`{"x":1}`), IsError: true, Fault: "stale_result", LatencyMS: 40},
		{Kind: record.StepText, Text: "lone \xed\xa0\x80 surrogate"},
	}
	reply, err := c.Reply(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(reply.FinalText), &got); err != nil {
		t.Fatal(err)
	}
	if left, ok := got["deadline_ms"].(float64); !ok || left <= 0 || left > float64(patient.Milliseconds()) {
		t.Errorf("deadline_ms = %v", got["deadline_ms"])
	}
	delete(got, "deadline_ms")
	want := map[string]any{
		"type": "turn", "protocol": 1.0, "id": "1", "seed": 417301.0,
		"rollout":       map[string]any{"id": "r1", "task_id": "t1", "eval_run": 0.0, "k": 2.0, "turn": 0.0},
		"system_prompt": "Be brief.", "message": "restart billing",
		"history": []any{
			map[string]any{"user": "hello"},
			map[string]any{"tool": "get_runbook", "arguments": map[string]any{"service": "a"}, "result": map[string]any{"x": 1.0}, "is_error": true},
			map[string]any{"text": "lone \uFFFD surrogate"},
		},
		"tools":    []any{map[string]any{"name": "get_runbook", "description": "Reads a runbook.", "parameters": map[string]any{"type": "object"}}},
		"tools_by": "world", "world": map[string]any{"mcp": "http://127.0.0.1:1/mcp", "token": "secret"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the turn as written (-want +got):\n%s", diff)
	}
}

func TestToolCallsAreAnsweredInOrderAndTextIsSaid(t *testing.T) {
	c := command(t, "calls")
	turn := aTurn()
	var did []string
	turn.Call = func(_ context.Context, call record.ToolCall) record.ToolResult {
		did = append(did, fmt.Sprintf("%s %s %s", call.ID, call.Tool, call.Arguments))
		if call.Tool != "get_runbook" {
			return record.ToolResult{IsError: true, Result: json.RawMessage(`{"error":"unknown_tool"}`)}
		}
		return record.ToolResult{Result: json.RawMessage(`{"steps":2}`), Fault: "stale_result"}
	}
	turn.Say = func(text record.Text) { did = append(did, "said "+string(text)) }
	reply, err := c.Reply(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"said let me look", `c1 get_runbook {"service":"billing"}`, "c2 nope {}"}, did); diff != "" {
		t.Errorf("what the world saw (-want +got):\n%s", diff)
	}
	want := record.Reply{
		FinalText:    "c1 false map[steps:2]; c2 true map[error:unknown_tool]",
		FinishReason: record.FinishStop, Usage: &record.Usage{InputTokens: 3, OutputTokens: 4},
		LogProbs:   &record.LogProbs{Sum: -1.5, Tokens: 2, List: []float64{-1, -0.5}},
		Privileged: json.RawMessage(`{"truth":{"ok":true}}`),
		Extra:      map[string]json.RawMessage{"mood": json.RawMessage(`"calm"`), "agent_reward": json.RawMessage("1")},
	}
	if diff := cmp.Diff(want, reply); diff != "" {
		t.Errorf("the reply (-want +got):\n%s", diff)
	}
}

func TestStepsBelongToTheOneWhoAnswersTheTools(t *testing.T) {
	c := command(t, "own-steps")
	turn := aTurn()
	if _, err := c.Reply(t.Context(), turn); err == nil || !strings.Contains(err.Error(), "tools_by is world") {
		t.Errorf("steps under tools_by world: error %v", err)
	}
	turn.ToolsBy = record.ToolsByAgent
	reply, err := c.Reply(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	want := []record.Step{
		{Kind: record.StepTool, Tool: "get_runbook", Arguments: json.RawMessage("{}"), Result: json.RawMessage(`"ok"`)},
		{Kind: record.StepText, Text: "hm"},
	}
	if diff := cmp.Diff(want, reply.Steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if c.Started() != 1 {
		t.Errorf("%d processes were started: a refused reply ends the turn, not the process", c.Started())
	}
}

// TestMisbehaviourIsNamed has each kind of broken agent answer one turn, and
// reads what a person is told.
func TestMisbehaviourIsNamed(t *testing.T) {
	for _, tc := range []struct {
		name  string
		args  []string
		by    record.ToolsBy
		cause record.Cause
		says  []string
	}{
		{name: "raises", cause: record.CauseAgent, says: []string{"exit status 1", "KeyError: 'billing'"}},
		{name: "exits", cause: record.CauseAgent, says: []string{"ended in mid-turn with exit status 3", "stderr is empty"}},
		{name: "huge-log", cause: record.CauseAgent, says: []string{"exit status 7", "the last words"}},
		{name: "junk", cause: record.CauseAgent, says: []string{"line 1 is not JSON", `"INFO loading weights"`, "print logs to stderr"}},
		{name: "latin", cause: record.CauseAgent, says: []string{"line 1 is not UTF-8"}},
		{name: "long-line", cause: record.CauseAgent, says: []string{"line 1 is over 16 MiB", "xxxx"}},
		{name: "twice", cause: record.CauseAgent, says: []string{"line 2 came after the turn's reply", "two"}},
		{name: "mute", cause: record.CauseAgent, says: []string{"closed its stdout"}},
		{name: "loops", cause: record.CauseAgent, says: []string{"more than 10000 messages in one turn"}},
		{name: "reports", args: []string{"infrastructure"}, cause: record.CauseInfrastructure, says: []string{"the program reported: rate limited"}},
		{name: "reports", args: []string{"context"}, cause: record.CauseContext, says: []string{"rate limited"}},
		{name: "reports", args: []string{"weather"}, cause: record.CauseAgent, says: []string{`"weather"`, "none of agent, infrastructure, context"}},
		{name: "raw", args: []string{`["list"]`}, cause: record.CauseAgent, says: []string{"line 1 is not a JSON object"}},
		{name: "raw", args: []string{`{"id":"ID"}`}, cause: record.CauseAgent, says: []string{"has no type"}},
		{name: "raw", args: []string{`{"type":"reply"}`}, cause: record.CauseAgent, says: []string{"has no id"}},
		{name: "raw", args: []string{`{"type":"reply","id":"77"}`}, cause: record.CauseAgent, says: []string{`the id "77", and this turn's is "1"`}},
		{name: "raw", args: []string{`{"type":"answer","id":"ID"}`}, cause: record.CauseAgent, says: []string{`the type "answer", which is none of tool_call, text, reply, error`}},
		{name: "raw", args: []string{`{"type":"reply","id":"ID"}`}, cause: record.CauseAgent, says: []string{"no final_text"}},
		{name: "raw", args: []string{`{"type":"reply","id":"ID","final_text":"a","final_text":"b"}`}, cause: record.CauseAgent, says: []string{`line 1 has the member "final_text" twice`}},
		{name: "raw", args: []string{`{"type":"reply","id":"ID","final_text":"a","usage":null,"Final_Text":"b"}`}, cause: record.CauseAgent, says: []string{`has the member "Final_Text" twice`}},
		{name: "raw", args: []string{`{"type":"reply","id":"ID","final_text":"a","mood":1,"mood":2}`}, cause: record.CauseAgent, says: []string{`has the member "mood" twice`}},
		{name: "raw", args: []string{`{"type":"tool_call","id":"ID","call":"c","tool":"x","tool":"y"}`}, cause: record.CauseAgent, says: []string{`has the member "tool" twice`}},
		{name: "raw", args: []string{`{"type":"error","id":"ID","error":"a","error":"b"}`}, cause: record.CauseAgent, says: []string{`"error" twice`}},
		{name: "raw", args: []string{`{"type":"reply","id":"ID","final_text":7}`}, cause: record.CauseAgent, says: []string{"the reply is not a message of the protocol: want a JSON string"}},
		{name: "raw", args: []string{`{"type":"reply","id":"ID","final_text":"x","finish_reason":"tired"}`}, cause: record.CauseAgent, says: []string{`"tired" is none of stop, length, tool, error`}},
		{name: "raw", args: []string{`{"type":"reply","id":"ID","final_text":"x","steps":[{"user":"me"}]}`}, by: record.ToolsByAgent, cause: record.CauseAgent, says: []string{"steps[0]", "the user's"}},
		{name: "raw", args: []string{`{"type":"text","id":"ID"}`}, cause: record.CauseAgent, says: []string{"a text without text"}},
		{name: "raw", args: []string{`{"type":"tool_call","id":"ID","tool":"x"}`}, cause: record.CauseAgent, says: []string{"without call"}},
		{name: "raw", args: []string{`{"type":"tool_call","id":"ID","call":"c"}`}, cause: record.CauseAgent, says: []string{"without tool"}},
		{name: "raw", args: []string{`{"type":"tool_call","id":"ID","call":"c","tool":"x"}`}, by: record.ToolsByAgent, cause: record.CauseAgent, says: []string{"tools_by is agent"}},
		{name: "raw", args: []string{`{"type":"tool_call","id":"ID","call":"c","tool":"x"}`}, cause: record.CauseAgent, says: []string{"no world"}},
	} {
		t.Run(strings.Join(append([]string{tc.name}, tc.args...), " "), func(t *testing.T) {
			t.Parallel()
			c := command(t, tc.name, tc.args...)
			turn := aTurn()
			turn.Deadline = time.Now().Add(patient)
			if tc.by != "" {
				turn.ToolsBy = tc.by
			}
			_, err := c.Reply(t.Context(), turn)
			if err == nil {
				t.Fatal("no error")
			}
			if got := record.CauseOf(err); got != tc.cause {
				t.Errorf("cause %q, want %q", got, tc.cause)
			}
			for _, want := range tc.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q:\n%.600s", want, err)
				}
			}
			if len(err.Error()) > keptLog+1024 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestMissingProgram(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain.txt")
	if err := os.WriteFile(plain, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		config CommandConfig
		says   string
	}{
		{"not on the path", CommandConfig{Argv: []string{"no-such-agent-anywhere"}}, `"no-such-agent-anywhere" is not on the PATH`},
		{"no such file", CommandConfig{Argv: []string{"./agent"}, Dir: dir}, `there is no program "./agent"`},
		{"not executable", CommandConfig{Argv: []string{plain}}, "may not be executed"},
		{"no folder", CommandConfig{Argv: []string{"./agent"}, Dir: filepath.Join(dir, "gone")}, "cannot be read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := NewCommand(tc.config)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for range 2 { // the second turn is told the same
				_, err = c.Reply(t.Context(), aTurn())
				if err == nil || !strings.Contains(err.Error(), tc.says) {
					t.Fatalf("error %v, want it to say %q", err, tc.says)
				}
				if record.CauseOf(err) != record.CauseAgent {
					t.Errorf("cause %q", record.CauseOf(err))
				}
			}
		})
	}
	if _, err := NewCommand(CommandConfig{}); err == nil {
		t.Error("an empty command was accepted")
	}
}

func TestDeadlineCancelsThenKills(t *testing.T) {
	for _, tc := range []struct{ name, says string }{
		{"hang", "wrote nothing in this turn"},
		{"deaf", "wrote nothing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := command(t, tc.name)
			turn := aTurn()
			// A big turn fills the pipe of a program that does not read.
			turn.SystemPrompt = record.Text(strings.Repeat("x", 1<<20))
			turn.Deadline = time.Now().Add(500 * time.Millisecond)
			_, err := c.Reply(t.Context(), turn)
			if !errors.Is(err, context.DeadlineExceeded) || record.CauseOf(err) != record.CauseAgent {
				t.Fatalf("error %v of cause %q", err, record.CauseOf(err))
			}
			if !strings.Contains(err.Error(), "no reply after") || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %q, want it to say %q", err, tc.says)
			}
			c.Close()
			if n := len(c.pool.live); n != 0 {
				t.Errorf("%d processes after Close", n)
			}
		})
	}
}

// TestALineWithoutItsEndIsExplained cancels a turn once half a line has come.
func TestALineWithoutItsEndIsExplained(t *testing.T) {
	t.Parallel()
	c := command(t, "half")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		until(func() bool {
			c.pool.mu.Lock()
			defer c.pool.mu.Unlock()
			for proc := range c.pool.live {
				return proc.frames.pending.Load() > 0
			}
			return false
		})
		cancel()
	}()
	if _, err := c.Reply(ctx, aTurn()); err == nil || !strings.Contains(err.Error(), "wrote 15 bytes without a newline") {
		t.Errorf("error %v", err)
	}
}

// until polls for something that another process does; nothing is asserted of
// how long that takes.
func until(done func() bool) {
	for !done() {
		time.Sleep(time.Millisecond)
	}
}

func TestCancelIsWrittenBeforeTheKill(t *testing.T) {
	note := filepath.Join(t.TempDir(), "note")
	c := command(t, "tidy", note)
	ctx, cancel := context.WithCancel(t.Context())
	turn := aTurn()
	turn.Say = func(record.Text) { cancel() }
	_, err := c.Reply(ctx, turn)
	if !errors.Is(err, context.Canceled) || record.CauseOf(err) != record.CauseInterrupted {
		t.Fatalf("error %v of cause %q", err, record.CauseOf(err))
	}
	c.Close() // waits for the process, which ends when it has noted the cancel
	got, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != `{"type":"cancel","id":"1"}` {
		t.Errorf("the program was told %s", got)
	}
}

func TestBreachIsToldToTheProgram(t *testing.T) {
	note := filepath.Join(t.TempDir(), "note")
	c := command(t, "notes-error", note)
	if _, err := c.Reply(t.Context(), aTurn()); err == nil {
		t.Fatal("no error")
	}
	c.Close()
	got, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	var told map[string]string
	if err := json.Unmarshal(got, &told); err != nil {
		t.Fatal(err)
	}
	if told["type"] != "error" || told["id"] != "1" || !strings.HasPrefix(told["error"], "line 1 is not JSON: ") {
		t.Errorf("the program was told %s", got)
	}
}

func TestABrokenProcessIsReplaced(t *testing.T) {
	c := command(t, "raises")
	for i := 1; i <= 3; i++ {
		if _, err := c.Reply(t.Context(), aTurn()); err == nil {
			t.Fatal("no error")
		}
		if c.Started() != i {
			t.Fatalf("%d processes after %d turns", c.Started(), i)
		}
	}
}

// TestASecondReplyIsFoundOut: where it comes late, the next turn of the process
// finds it, since it was written before that turn was read.
func TestASecondReplyIsFoundOut(t *testing.T) {
	c := command(t, "twice-apart")
	_, err := c.Reply(t.Context(), aTurn())
	if err == nil {
		_, err = c.Reply(t.Context(), aTurn())
	}
	if err == nil || !strings.Contains(err.Error(), "turn was answered twice") && !strings.Contains(err.Error(), "came after the turn's reply") {
		t.Errorf("error %v", err)
	}
}

func TestAProgramThatAnswersOnceIsStartedAgain(t *testing.T) {
	c := command(t, "one-shot")
	for range 5 {
		reply, err := c.Reply(t.Context(), aTurn())
		if err != nil || reply.FinalText != "once" {
			t.Fatalf("%q, %v", reply.FinalText, err)
		}
	}
}

func TestProcessesAreKeptAlive(t *testing.T) {
	c := command(t, "pid")
	first, err := c.Reply(t.Context(), aTurn())
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := c.Reply(t.Context(), aTurn())
		if err != nil || again.FinalText != first.FinalText {
			t.Fatalf("%q, %v, want the process %q", again.FinalText, err, first.FinalText)
		}
	}
}

func TestPoolGrowsWhenTurnsWait(t *testing.T) {
	t.Parallel()
	c := command(t, "barrier", t.TempDir(), "four")
	c.pool.firstPatience = time.Millisecond
	pids := map[record.Text]bool{}
	var mu sync.Mutex
	var turns sync.WaitGroup
	for range 4 {
		turns.Go(func() {
			reply, err := c.Reply(t.Context(), aTurn())
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			pids[reply.FinalText] = true
		})
	}
	turns.Wait()
	if len(pids) != 4 {
		t.Errorf("%d processes answered four turns that needed one each", len(pids))
	}
}

func TestAFastProgramNeedsFewProcesses(t *testing.T) {
	c := command(t, "echo")
	var turns sync.WaitGroup
	for range 32 {
		turns.Go(func() {
			for range 50 {
				if _, err := c.Reply(t.Context(), aTurn()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	turns.Wait()
	// One is the rule; a machine that stops the process for the time of a start can
	// make another worth its while.
	if n := c.Started(); n > 8 {
		t.Errorf("32 turns at a time of a program that answers at once took %d processes", n)
	}
}

func TestChildrenDieWithTheProgram(t *testing.T) {
	for _, name := range []string{"orphans", "orphans-hang"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			note := filepath.Join(t.TempDir(), "child")
			c := command(t, name, note)
			ctx, cancel := context.WithCancel(t.Context())
			noted := func() bool {
				raw, err := os.ReadFile(note)
				return err == nil && len(raw) > 0
			}
			if name == "orphans-hang" {
				go func() {
					until(noted)
					cancel()
				}()
			}
			defer cancel()
			if _, err := c.Reply(ctx, aTurn()); err == nil {
				t.Fatal("no error")
			}
			c.Close()
			raw, err := os.ReadFile(note)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(string(raw))
			if err != nil {
				t.Fatal(err)
			}
			// The signal is sent; the system takes its moment to carry it out.
			for deadline := time.Now().Add(patient); running(pid); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("the child %d outlived the program", pid)
				}
			}
		})
	}
}

func TestCallsOfAProgramThatNeverReadsAreBounded(t *testing.T) {
	t.Parallel()
	c := command(t, "calls-unread")
	turn := aTurn()
	turn.Deadline = time.Now().Add(time.Second)
	calls := 0
	turn.Call = func(context.Context, record.ToolCall) record.ToolResult {
		calls++
		return record.ToolResult{Result: json.RawMessage(`"` + strings.Repeat("r", 64<<10) + `"`)}
	}
	if _, err := c.Reply(t.Context(), turn); err == nil {
		t.Fatal("no error")
	}
	// The pipe holds one result, the queue maxUnread.
	if calls > maxUnread+4 {
		t.Errorf("%d calls were answered into memory", calls)
	}
}

func TestCloseEndsATurnInFlight(t *testing.T) {
	t.Parallel()
	c := command(t, "hang")
	turn := aTurn()
	failed := make(chan error)
	go func() {
		_, err := c.Reply(context.Background(), turn)
		failed <- err
	}()
	until(func() bool { return c.Started() > 0 })
	c.Close()
	if err := <-failed; record.CauseOf(err) != record.CauseInterrupted {
		t.Errorf("error %v of cause %q", err, record.CauseOf(err))
	}
	if _, err := c.Reply(t.Context(), turn); record.CauseOf(err) != record.CauseInterrupted {
		t.Errorf("a turn after Close: %v", err)
	}
}

func TestEnvironmentIsFiltered(t *testing.T) {
	got := Environment([]string{"PATH=/bin", "HOME=/root", "LANG=C", "SECRET=1", "TOKEN=a=b", "PATHX=no", "broken"}, []string{"TOKEN", "ABSENT"})
	want := []string{"PATH=/bin", "HOME=/root", "LANG=C", "TOKEN=a=b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	judge := func(name string, args ...string) *CommandJudge {
		j, err := NewCommandJudge(self(t, name, args...))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(j.Close)
		return j
	}
	raw, err := judge("verdict").Grade(t.Context(), record.JudgeRequest{Prompt: "ask", FinalText: "the final text"})
	if err != nil {
		t.Fatal(err)
	}
	var verdict struct {
		Reward float64
		Reason string
		Text   int
	}
	if err := json.Unmarshal(raw, &verdict); err != nil || verdict.Reward != 0.5 || verdict.Reason != "the final text" || verdict.Text != 7 {
		t.Errorf("verdict %s, %v", raw, err)
	}
	if _, err := judge("echo2").Grade(t.Context(), record.JudgeRequest{}); record.CauseOf(err) != record.CauseJudge {
		t.Errorf("a judge that ends: %v of cause %q", err, record.CauseOf(err))
	}
	if _, err := judge("raw", `{"type":"reply","id":"ID","final_text":"x"}`).Grade(t.Context(), record.JudgeRequest{}); err == nil || !strings.Contains(err.Error(), "none of verdict, error") {
		t.Errorf("a judge that replies: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := judge("hang").Grade(ctx, record.JudgeRequest{}); !errors.Is(err, context.DeadlineExceeded) || record.CauseOf(err) != record.CauseJudge {
		t.Errorf("a judge that hangs: %v of cause %q", err, record.CauseOf(err))
	}
}

func TestJudgeComparesTwo(t *testing.T) {
	t.Parallel()
	judge := func(name string, args ...string) *CommandJudge {
		j, err := NewCommandJudge(self(t, name, args...))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(j.Close)
		return j
	}
	short, long := record.JudgeRequest{Prompt: "ask", FinalText: "Yes."}, record.JudgeRequest{Prompt: "ask", FinalText: "Yes, it was sent."}
	j := judge("preference")
	for want, pair := range map[string][2]record.JudgeRequest{"first": {long, short}, "second": {short, long}} {
		if word, err := j.Prefer(t.Context(), pair[0], pair[1]); err != nil || word != want {
			t.Errorf("%q, %v; want %s", word, err, want)
		}
	}
	for part, reply := range map[string]string{
		"none of preference, error": `{"type":"verdict","id":"ID","reward":1}`,
		"which is preferred":        `{"type":"preference","id":"ID"}`,
		"preferred is a number":     `{"type":"preference","id":"ID","preferred":1}`,
	} {
		if _, err := judge("raw", reply).Prefer(t.Context(), short, long); err == nil || !strings.Contains(err.Error(), part) || record.CauseOf(err) != record.CauseJudge {
			t.Errorf("%s: %v of cause %q", reply, err, record.CauseOf(err))
		}
	}
}

// BenchmarkCommand is the rate of one-turn rollouts through kept-alive processes
// that answer at once, 32 at a time as a run has them.
func BenchmarkCommand(b *testing.B) {
	c := command(b, "echo")
	turn := aTurn()
	if _, err := c.Reply(b.Context(), turn); err != nil {
		b.Fatal(err)
	}
	b.SetParallelism(16) // times GOMAXPROCS
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Reply(b.Context(), turn); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rollouts/s")
	b.ReportMetric(float64(c.Started()), "processes")
}
