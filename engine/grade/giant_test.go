package grade

import (
	"strings"
	"testing"

	"assay/engine/record"
)

// A text beyond any model's reply is read at its ends, and its words' room is not
// kept for the cases after it.
func TestGiantTextIsReadAtItsEnds(t *testing.T) {
	filler := strings.Repeat("so it goes on and on. ", 4*maxRead/22)
	text := "I have cancelled the order. " + filler + "I have Refunded it."
	var p prose
	p.cut(text)
	if most := maxRead / 3; len(p.words) > most {
		t.Errorf("%d words were cut, more than %d", len(p.words), most)
	}
	for _, i := range []int{0, len(p.words) - 1} {
		if w := p.words[i]; p.lower[w.start:w.end] != w.text {
			t.Errorf("word %d is %q and stands at %q", i, w.text, p.lower[w.start:w.end])
		}
	}
	if first, last := p.at(2), p.at(len(p.words)-2); first != "cancelled" || last != "refunded" {
		t.Errorf("the ends read %q and %q", first, last)
	}
	if len(p.lower) != len(text) {
		t.Error("lower is not the whole text")
	}

	var tr trace
	tr.said = append(tr.said, utterance{text: text, prose: p})
	tr.reset(&Case{Rollout: &record.Rollout{}}, nil)
	if cap(tr.said) != 0 {
		t.Error("a giant's words are kept for the next case")
	}
}
