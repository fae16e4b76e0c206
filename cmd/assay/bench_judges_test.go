package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"assay/engine/record"
)

// askedOfJudge is what a grade or compare message asks.
type askedOfJudge struct {
	Type, ID      string
	First, Second struct {
		FinalText record.Text `json:"final_text"`
	}
}

// answer answers a message: with a pass, or with a preference.
func (m *askedOfJudge) answer(preferred string) string {
	if m.Type == "compare" {
		return fmt.Sprintf("{\"type\":\"preference\",\"id\":%q,\"preferred\":%q}\n", m.ID, preferred)
	}
	return fmt.Sprintf("{\"type\":\"verdict\",\"id\":%q,\"reward\":1}\n", m.ID)
}

// firstJudge is a command judge that passes all, and of two prefers what it is shown
// first.
func firstJudge() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var m askedOfJudge
		if json.Unmarshal(in.Bytes(), &m) == nil && m.ID != "" {
			fmt.Print(m.answer("first"))
		}
	}
}

// byContent prefers by the texts alone, whatever their order.
func byContent(w http.ResponseWriter, r *http.Request) {
	var m askedOfJudge
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	word := map[int]string{-1: "first", 0: "tie", 1: "second"}[strings.Compare(string(m.First.FinalText), string(m.Second.FinalText))]
	fmt.Fprint(w, m.answer(word))
}

// A command judge and an HTTP judge are asked about pairs in both orders: the one goes by
// the order, the other does not.
func TestTrustOfPairsOfProgramsAndEndpoints(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(byContent))
	defer server.Close()
	p := newPlace(t)
	p.write("pairs/recipe.yaml", "name: pairs\nagent: {builtin: seeded}\nsimulate: {situations: 20, repeats: 2}\ngrade: {reward: {judge: {command: [first-judge]}}}\n"+
		"tools: [{name: get_order, description: Look up an order., parameters: {type: object, properties: {order_id: {type: string}}, required: [order_id]}}]\n")
	p.must("run", "pairs")
	for _, c := range []struct {
		judge  string
		fooled bool
	}{{"", true}, {"{http: '" + server.URL + "'}", false}} {
		if c.judge != "" {
			p.must("grade", "last", "--judge", c.judge)
		}
		r, _ := p.trust("last", "--pairs")
		if r.Positions == nil || r.Positions.N < 3 || r.Positions.Silent > 0 {
			t.Fatalf("%q: %+v", c.judge, r.Positions)
		}
		pos := r.Positions
		if c.fooled && (pos.Flips != pos.N || pos.ToFirst != pos.N || pos.Ties != pos.N || !pos.Flagged) {
			t.Errorf("one that goes by the order: %+v", pos)
		}
		if !c.fooled && (pos.Flips != 0 || pos.A+pos.B == 0 || pos.Flagged) {
			t.Errorf("one that goes by content: %+v", pos)
		}
	}
}

// Transcripts that were cut for the judge are told from whole ones, from the verdict in
// the file to what trust prints.
func TestTrustTellsCutTranscriptsApart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const rows, long = 12, 5
	var log, labels strings.Builder
	labels.WriteString("task_id,label\n")
	for i := range rows {
		text := "Your order is paid."
		if i < long {
			text = strings.Repeat("Your order is paid, and here is more about it. ", 1500)
		}
		fmt.Fprintf(&log, "{\"schema_version\":\"1\",\"prompt\":\"Where is my order?\",\"steps\":[],\"final_text\":%q,\"scenario_id\":\"task-%d\",\"rollout_index\":0}\n", text, i)
	}
	p.must("import", p.write("log.jsonl", log.String()))
	p.must("grade", "last", "--judge", "{builtin: fair, rubric: It answers.}")
	for i, key := range p.keys("last") {
		fmt.Fprintf(&labels, "%s,%s\n", key, []string{"pass", "fail"}[i%2])
	}
	p.must("labels", "import", "last", p.write("labels.csv", labels.String()), "--kind", "human", "--annotator", "ana")
	r, _ := p.trust("last")
	if r.CutRows == nil || r.CutRows.Cut.N != long || r.CutRows.Whole.N != rows-long {
		t.Fatalf("of %d rows %d were cut: %+v", rows, long, r.CutRows)
	}
	out, _, _ := p.run("trust", "last")
	for _, want := range []string{"cut transcripts", "whole transcripts"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
}
