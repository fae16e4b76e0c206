package agent

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"assay/engine/record"
)

// behaveAs is the first argument by which this test binary becomes an agent.
const behaveAs = "behave-as:"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], behaveAs) {
		os.Exit(behave(strings.TrimPrefix(os.Args[1], behaveAs), os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// playing is what a behaviour works with.
type playing struct {
	in   *bufio.Scanner
	args []string
	turn map[string]any // the last turn
}

func (p *playing) next() bool {
	if !p.in.Scan() {
		return false
	}
	p.turn = nil
	if err := json.Unmarshal(p.in.Bytes(), &p.turn); err != nil {
		panic(err)
	}
	return true
}

func (p *playing) id() string { return p.turn["id"].(string) }

// write writes a message with the turn's id unless it has one.
func (p *playing) write(members map[string]any) {
	if _, has := members["id"]; !has {
		members["id"] = p.id()
	}
	raw, _ := json.Marshal(members)
	fmt.Printf("%s\n", raw)
}

func (p *playing) reply(text string) {
	p.write(map[string]any{"type": "reply", "final_text": text})
}

// behave plays one agent, well or badly behaved, and gives its exit status.
func behave(name string, args []string) int {
	p := &playing{in: bufio.NewScanner(os.Stdin), args: args}
	p.in.Buffer(make([]byte, 0, 1<<20), 1<<26)
	if name == "sleeper" {
		return hang()
	}
	if serve, ok := toolServers[name]; ok {
		return serve()
	}
	play, known := behaviours[name]
	if !known {
		fmt.Fprintln(os.Stderr, "no behaviour", name)
		return 99
	}
	for p.next() {
		if status := play(p); status >= 0 {
			return status
		}
	}
	return 0
}

const goOn = -1

// hang never returns, and is no deadlock that the runtime would notice.
func hang() int {
	for {
		time.Sleep(time.Hour)
	}
}

// behaviours are the ways to answer one turn; each gives an exit status, or goOn.
var behaviours = map[string]func(*playing) int{
	"echo": func(p *playing) int {
		p.reply("you said " + p.turn["message"].(string))
		return goOn
	},
	"pid": func(p *playing) int {
		p.reply(fmt.Sprint(os.Getpid()))
		return goOn
	},
	"show": func(p *playing) int { // the turn itself, as it came
		p.reply(string(p.in.Bytes()))
		return goOn
	},
	"calls": func(p *playing) int {
		p.write(map[string]any{"type": "text", "text": "let me look"})
		p.write(map[string]any{"type": "tool_call", "call": "c1", "tool": "get_runbook", "arguments": map[string]any{"service": "billing"}})
		p.write(map[string]any{"type": "tool_call", "call": "c2", "tool": "nope"})
		id := p.id()
		var got []string
		for range 2 {
			p.next()
			got = append(got, fmt.Sprintf("%v %v %v", p.turn["call"], p.turn["is_error"], p.turn["result"]))
		}
		p.write(map[string]any{"type": "reply", "id": id, "final_text": strings.Join(got, "; "), "mood": "calm", "reward": 1,
			"usage": map[string]any{"input_tokens": 3, "output_tokens": 4}, "logprob": -1.5, "token_logprobs": []float64{-1, -0.5},
			"privileged": map[string]any{"truth": map[string]any{"ok": true}}})
		return goOn
	},
	"own-steps": func(p *playing) int {
		p.write(map[string]any{"type": "reply", "final_text": "done", "steps": []any{
			map[string]any{"tool": "get_runbook", "arguments": map[string]any{}, "result": "ok", "fault": "timeout"},
			map[string]any{"text": "hm"},
		}})
		return goOn
	},
	"raises": func(p *playing) int {
		fmt.Fprintln(os.Stderr, "Traceback (most recent call last):\nKeyError: 'billing'")
		return 1
	},
	"reports": func(p *playing) int {
		p.write(map[string]any{"type": "error", "error": "rate limited", "cause": p.args[0]})
		return goOn
	},
	"junk":  func(*playing) int { fmt.Println("INFO loading weights"); return goOn },
	"half":  func(*playing) int { fmt.Print(`{"type":"reply"`); return goOn },
	"latin": func(*playing) int { fmt.Print("{\"type\":\"reply\",\"final_text\":\"caf\xe9\"}\n"); return goOn },
	"raw":   func(p *playing) int { fmt.Println(strings.ReplaceAll(p.args[0], "ID", p.id())); return goOn },
	"twice": func(p *playing) int { // both in one write
		one := fmt.Sprintf(`{"type":"reply","id":%q,"final_text":"two"}`, p.id())
		fmt.Print(one + "\n" + one + "\n")
		return goOn
	},
	"twice-apart": func(p *playing) int { p.reply("one"); p.reply("two"); return goOn },
	"exits":       func(*playing) int { return 3 },
	"one-shot":    func(p *playing) int { p.reply("once"); return 0 },
	"hang":        func(*playing) int { return hang() },
	"deaf":        func(*playing) int { _ = os.Stdin.Close(); return hang() },
	"mute":        func(*playing) int { _ = os.Stdout.Close(); return hang() },
	"loops": func(p *playing) int {
		for i := 0; ; i++ {
			p.write(map[string]any{"type": "text", "text": fmt.Sprint(i)})
		}
	},
	"calls-unread": func(p *playing) int { // calls without end, and never reads a result
		for i := 0; ; i++ {
			p.write(map[string]any{"type": "tool_call", "call": fmt.Sprint(i), "tool": "get_runbook"})
		}
	},
	"long-line": func(*playing) int {
		fmt.Print(`{"type":"reply","final_text":"`)
		block := strings.Repeat("x", 1<<20)
		for range 40 {
			fmt.Print(block)
		}
		fmt.Println(`"}`)
		return goOn
	},
	"huge-log": func(p *playing) int {
		for range 200_000 {
			fmt.Fprintln(os.Stderr, "a line of a very talkative log")
		}
		fmt.Fprintln(os.Stderr, "the last words")
		return 7
	},
	"tidy": func(p *playing) int { // notes what it is told after a cancel
		p.write(map[string]any{"type": "text", "text": "working"})
		p.next()
		_ = os.WriteFile(p.args[0], p.in.Bytes(), 0o600)
		return 0
	},
	"notes-error": func(p *playing) int {
		fmt.Println("not json")
		p.next()
		_ = os.WriteFile(p.args[0], p.in.Bytes(), 0o600)
		return 0
	},
	"barrier": func(p *playing) int { // answers when so many processes are at it
		want, _ := filepath.Abs(p.args[0])
		_ = os.WriteFile(filepath.Join(want, fmt.Sprint(os.Getpid())), nil, 0o600)
		for {
			entries, _ := os.ReadDir(want)
			if len(entries) >= len(p.args[1]) {
				break
			}
			time.Sleep(time.Millisecond) // this process only polls; the test waits for its answer
		}
		p.reply(fmt.Sprint(os.Getpid()))
		return goOn
	},
	"orphans": func(p *playing) int { // leaves a child that holds the output open
		child := exec.Command(os.Args[0], behaveAs+"sleeper")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		hold, _ := child.StdinPipe()
		_ = hold
		if err := child.Start(); err != nil {
			return 98
		}
		_ = os.WriteFile(p.args[0], fmt.Append(nil, child.Process.Pid), 0o600)
		return 4
	},
	"orphans-hang": func(p *playing) int {
		child := exec.Command(os.Args[0], behaveAs+"sleeper")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		hold, _ := child.StdinPipe()
		if err := child.Start(); err != nil {
			return 98
		}
		_ = os.WriteFile(p.args[0], fmt.Append(nil, child.Process.Pid), 0o600)
		_, _ = hold.Write(nil)
		return hang()
	},
	"preference": func(p *playing) int { // the longer reply
		first, second := p.turn["first"].(map[string]any), p.turn["second"].(map[string]any)
		word := "second"
		if len(first["final_text"].(string)) >= len(second["final_text"].(string)) {
			word = "first"
		}
		p.write(map[string]any{"type": "preference", "preferred": word, "reason": "it is longer"})
		return goOn
	},
	"verdict": func(p *playing) int {
		p.write(map[string]any{"type": "verdict", "reward": 0.5, "reason": p.turn["final_text"], "text": 7, "markers": map[string]any{"m": 1}})
		return goOn
	},
}

func self(t testing.TB, name string, args ...string) CommandConfig {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return CommandConfig{Argv: append([]string{exe, behaveAs + name}, args...)}
}

func command(t testing.TB, name string, args ...string) *Command {
	t.Helper()
	c, err := NewCommand(self(t, name, args...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// aTurn is a plain turn of a rollout whose world knows one runbook.
func aTurn() record.Turn {
	return record.Turn{
		Rollout: record.RolloutRef{ID: "r1", TaskID: "t1", EvalRun: 0, K: 2}, Seed: 417301,
		SystemPrompt: "Be brief.", Message: "restart billing", ToolsBy: record.ToolsByWorld,
		Tools: []record.Tool{{Name: "get_runbook", Description: "Reads a runbook.", Parameters: json.RawMessage(`{"type":"object"}`), Kind: record.ToolRead}},
	}
}
