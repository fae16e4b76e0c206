package ui

import "testing"

func TestOnlyTheLatestAnswerIsWanted(t *testing.T) {
	var q Latest
	if q.Busy() || q.Answered(0) {
		t.Fatal("an answer to nothing is wanted")
	}
	first, was := q.Ask(t.Context())
	second, is := q.Ask(t.Context())
	if first.Err() == nil || second.Err() != nil {
		t.Error("asking anew does not cancel what was asked before, or cancels itself")
	}
	if q.Answered(was) || !q.Busy() {
		t.Error("an outdated answer is wanted")
	}
	if !q.Answered(is) || q.Busy() || q.Answered(is) {
		t.Error("the answer is not wanted once")
	}
	if second.Err() == nil {
		t.Error("the context of an answered question lives on")
	}
	third, gen := q.Ask(t.Context())
	q.Drop()
	if third.Err() == nil || q.Busy() || q.Answered(gen) {
		t.Error("a dropped question is open")
	}
}
