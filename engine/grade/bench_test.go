package grade

import (
	"context"
	"testing"
)

func fiveMarkers() map[string]string {
	return map[string]string{
		"looked_first":  "called('cancel_order') ? first('get_order') < first('cancel_order') : nil",
		"one_refund":    "count('refund_order') <= 1",
		"short":         "len(final_text) < 600",
		"told_the_id":   "said('ORD-4821')",
		"calls_are_few": "1 - min(1.0, len(steps) / 20)",
	}
}

// BenchmarkGrade is the whole of offline grading: conduct, flags, checklist,
// grounding and five markers, of which one is the reward, on a transcript of some
// 2 kB.
func BenchmarkGrade(b *testing.B) {
	g, err := New(Config{Markers: fiveMarkers(), Reward: &RewardConfig{Marker: "one_refund"}})
	if err != nil {
		b.Fatal(err)
	}
	c := usual().Case()
	b.ReportAllocs()
	for b.Loop() {
		g.Grade(context.Background(), c)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rollouts/s")
}

func BenchmarkTrace(b *testing.B) {
	c := usual().Case()
	f := newFrame(c.SystemPrompt, c.Tools)
	var t trace
	b.ReportAllocs()
	for b.Loop() {
		t.build(&c, f)
	}
}

func BenchmarkConduct(b *testing.B) {
	t := traceOf(usual().Case())
	b.ReportAllocs()
	for b.Loop() {
		conduct(t)
	}
}

func BenchmarkParseVerdict(b *testing.B) {
	raw := []byte("Here is my verdict:\n```json\n{\"reward\": 0.5, \"reason\": \"half of it\", \"markers\": {\"polite\": True}, \"failure_class\": None}\n```")
	b.ReportAllocs()
	for b.Loop() {
		ParseVerdict(raw)
	}
}
