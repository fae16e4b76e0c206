package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"assay/engine"
	"assay/engine/model/modeltest"
	"assay/engine/record"
)

const endpointRecipe = `
name: endpoints
agent: {http: %q, version: "1", max_turns: 1, headers: {Authorization: "Bearer ${AGENT_BOT}"}}
tools: [{name: look, description: Looks something up, parameters: {type: object}}]
simulate: {mode: eval, holdout: 1, situations: 3, repeats: 2, concurrency: 2}
grade: {reward: {judge: {http: %q, rubric: It helps., headers: {X-Key: "${JUDGE_BOT}"}}}}
`

// TestEndpointsAreAskedWithTheirKeys runs an HTTP agent and an HTTP judge, which are sent
// the keys that the environment holds, and wants these nowhere else.
func TestEndpointsAreAskedWithTheirKeys(t *testing.T) {
	t.Setenv("AGENT_BOT", leakedKey)
	t.Setenv("JUDGE_BOT", leakedPassword)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID    string
			World *record.WorldAddress
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		switch {
		case r.URL.Path == "/turn" && r.Header.Get("Authorization") == "Bearer "+leakedKey && m.World != nil && m.World.Token != "":
			fmt.Fprintf(w, `{"type":"reply","id":%q,"final_text":"served with %s"}`, m.ID, leakedKey)
		case r.URL.Path == "/grade" && r.Header.Get("X-Key") == leakedPassword:
			fmt.Fprintf(w, `{"type":"verdict","id":%q,"reward":1,"reason":"by %s"}`, m.ID, leakedPassword)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	p := newPlace(t)
	p.write("r/recipe.yaml", fmt.Sprintf(endpointRecipe, server.URL+"/turn", server.URL+"/grade"))
	r := decode[engine.StoryResult](t, p.silent("run", "r", "--json"))
	if r.Rollouts != 6 || r.StoppedBecause != record.StoppedComplete || r.Pass == nil || *r.Pass.PassAt1.Value != 1 {
		t.Fatalf("it came to %+v", r)
	}
	for _, args := range [][]string{{"rows", "last"}, {"show", "last", "--json"}, {"doctor", "r"}} {
		p.silent(args...)
	}
	p.filesHoldNoKey()

	t.Setenv("AGENT_BOT", "another-key-0123")
	p.write("r/recipe.yaml", fmt.Sprintf(endpointRecipe, server.URL+"/turn", server.URL+"/grade"))
	wrong := decode[engine.StoryResult](t, p.silent("run", "r", "--json"))
	if wrong.StoppedBecause != record.StoppedWrongAddress || !strings.Contains(string(wrong.Error), "404") {
		t.Errorf("a wrong address ended %s: %s", wrong.StoppedBecause, wrong.Error)
	}
	t.Setenv("AGENT_BOT", "")
	if err := os.Unsetenv("AGENT_BOT"); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := p.run("run", "r"); code != exitCouldNot || !strings.Contains(errs, "AGENT_BOT") {
		t.Errorf("a key that is not there: exit %d: %s", code, errs)
	}
	t.Setenv("AGENT_BOT", "another-key-0123")
	server.Close()
	if _, errs, code := p.run("run", "r"); code != exitCouldNot || !strings.Contains(errs, "nothing was begun") {
		t.Errorf("nobody listens: exit %d: %s", code, errs)
	}
}

// TestAWriterThatStallsCanBeStopped interrupts a run whose asks are still being written.
func TestAWriterThatStallsCanBeStopped(t *testing.T) {
	t.Parallel()
	server := modeltest.NewServer(t, modeltest.Stall())
	p := newPlace(t)
	p.write("r/recipe.yaml", fmt.Sprintf("name: stalls\nagent: {builtin: seeded}\nsimulate: {mode: eval, holdout: 1, situations: 40, writer: %q}\n", "vllm:fake@"+server.URL))
	c := p.command("run", "r")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); len(server.Requests()) == 0; time.Sleep(time.Millisecond) { // a poll: the server tells nobody
		if time.Since(began) > time.Minute {
			t.Fatal("the writer was not asked")
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		_ = c.Process.Kill()
		t.Skip("this system sends no interrupt: ", err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d, want %d", code, exitInterrupted)
	}
}
