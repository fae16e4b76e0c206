package stats_test

import (
	"testing"

	"assay/engine/stats"
)

// Where labels were drawn with different chances the word is that of the population they
// were drawn from: a judge that is right where labels are dense and wrong where they are
// sparse is no good judge.
func TestTrustWeighsLabelsByTheirChance(t *testing.T) {
	labels := counted(47, 3, 3, 47)
	for i := range labels {
		labels[i].Inclusion = 0.5
		if labels[i].Gold != labels[i].Judge {
			labels[i].Inclusion = 0.05 // each stands for ten of the others
		}
	}
	weighed := stats.TrustPlan{}.Decide(labels)
	if got, want := *weighed.Figures.Agreement.Value, 94.0/(94+60); got < want-1e-9 || got > want+1e-9 {
		t.Errorf("agreement %v, want %v", got, want)
	}
	if weighed.Word == stats.TrustTrusted {
		t.Errorf("%s", weighed.Word)
	}
	for i := range labels {
		labels[i].Inclusion = 0.05
	}
	equal := stats.TrustPlan{}.Decide(labels)
	for i := range labels {
		labels[i].Inclusion = 0
	}
	if none := (stats.TrustPlan{}).Decide(labels); equal.Word != stats.TrustTrusted || none.Word != equal.Word || *none.Figures.Kappa.Lo != *equal.Figures.Kappa.Lo {
		t.Errorf("equal chances change the word: %s and %s", equal.Word, none.Word)
	}
}
