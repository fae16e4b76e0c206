package record

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Draws are the same on every machine and in every version. These were made by a
// program in another language: SHA-256 over the parts with their lengths, and
// PCG-DXSM (O'Neill 2014) seeded with its first sixteen bytes.
func TestStreamStays(t *testing.T) {
	r := Stream("agent", int64(7), "0011223344556677", 0, 3)
	for i, want := range []uint64{101384603611430638, 10613392857612320270, 7008748301288034126} {
		if got := r.Uint64(); got != want {
			t.Errorf("draw %d is %d, was %d", i, got, want)
		}
	}
	if got, want := Rank("cell", "fault"), uint64(9603919021300488624); got != want {
		t.Errorf("rank %d, was %d", got, want)
	}
	if got, want := SeedOf("agent", 7), int64(8513923662383799); got != want {
		t.Errorf("seed %d, was %d", got, want)
	}
}

func TestStreamsAreNamedByAllTheirParts(t *testing.T) {
	seen := map[uint64][]any{}
	for _, parts := range [][]any{{}, {""}, {"", ""}, {"a"}, {"a", "b"}, {"ab"}, {"ab", ""}, {"", "ab"}, {"b", "a"}, {"a", 1}, {"a", 11}, {"a", 1, 1}, {"a1"}, {-1}, {1}} {
		rank := Rank(parts...)
		if other, there := seen[rank]; there {
			t.Errorf("%v and %v have one rank", parts, other)
		}
		seen[rank] = parts
	}
	if Rank("a", 1) != Rank("a", int64(1)) || Rank("a", 1) != Rank("a", uint64(1)) || Rank("a") != Rank(Text("a")) {
		t.Error("equal names of other types have other ranks")
	}
	defer func() {
		if recover() == nil {
			t.Error("a float named a stream: its text differs from machine to machine")
		}
	}()
	Rank(0.5)
}

func TestUnder(t *testing.T) {
	for share, want := range map[float64]bool{0: false, -1: false, math.NaN(): false, 1: true, 2: true, math.Inf(1): true} {
		for i := range 100 {
			if Under(share, i) != want {
				t.Fatalf("Under(%v, %d) is not %v", share, i, want)
			}
		}
	}
	const n = 20_000
	for _, share := range []float64{0.03, 0.25, 0.5, 0.9} {
		under := 0
		for i := range n {
			if Under(share, "under", i) {
				under++
			}
		}
		// Five standard errors of a binomial share: one run in two million is wrong.
		if got, limit := float64(under)/n, 5*math.Sqrt(share*(1-share)/n); math.Abs(got-share) > limit {
			t.Errorf("%v of %d are under %v", got, n, share)
		}
	}
}

// What is under a share is under every larger one: raising a rate never drops a row.
func TestUnderGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, name := rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b"), rapid.String().Draw(t, "name")
		if Under(min(a, b), name) && !Under(max(a, b), name) {
			t.Fatalf("%q is under %v and not under %v", name, min(a, b), max(a, b))
		}
	})
}

func TestSeedsAreExactInJSON(t *testing.T) {
	for i := range 1000 {
		seed := SeedOf("seed", i)
		if seed < 0 || seed >= 1<<53 || int64(float64(seed)) != seed {
			t.Fatalf("seed %d", seed)
		}
	}
}
