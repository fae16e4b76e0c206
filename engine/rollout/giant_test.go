package rollout

import (
	"strings"
	"testing"
)

// Ten million questions are read at their ends, in time that grows with the text.
func TestReplyOfNothingButQuestions(t *testing.T) {
	r := readReply("Could you tell me which order? " + strings.Repeat("?", 10<<20) + " Shall I go ahead?")
	if !r.asks || !r.confirms || len(r.questions) > 3*maxRead {
		t.Errorf("asks %v, confirms %v, %d bytes of questions", r.asks, r.confirms, len(r.questions))
	}
	if !refuses(strings.Repeat("x ", maxRead) + "I’m not able to do that.") {
		t.Error("a refusal at the end of a long reply is not seen")
	}
}
