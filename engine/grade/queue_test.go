package grade

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"assay/engine/record"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// pool is a run of tasks with k rollouts each. reward gives each its own.
func pool(tasks, k int, reward func(task, k int) *float64) []record.Candidate {
	var out []record.Candidate
	for t := range tasks {
		for i := range k {
			key := record.Key{TaskID: fmt.Sprintf("task%03d", t), K: i}
			out = append(out, record.Candidate{RolloutID: key.String(), Key: key, Reward: reward(t, i)})
		}
	}
	return out
}

func passing(share float64) func(int, int) *float64 {
	return func(task, k int) *float64 {
		v := 0.0
		if record.Under(share, "passes", task, k) {
			v = 1
		}
		return &v
	}
}

// drawnPool is a pool of any kind, for properties.
func drawnPool(t *rapid.T) []record.Candidate {
	rewards := []*float64{nil, new(float64), nil, nil}
	one, half := 1.0, 0.5
	rewards[2], rewards[3] = &one, &half
	all := pool(rapid.IntRange(0, 60).Draw(t, "tasks"), rapid.IntRange(1, 8).Draw(t, "k"), func(int, int) *float64 { return nil })
	for i := range all {
		all[i].Reward = rewards[rapid.IntRange(0, 3).Draw(t, "reward")]
		all[i].Disagreement = rapid.IntRange(0, 4).Draw(t, "disagreement") == 0
		all[i].Probed = rapid.IntRange(0, 9).Draw(t, "probed") == 0
	}
	return all
}

func TestQueueKeepsItsWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawnPool(t)
		o := QueueOptions{Name: "gold", Order: rapid.SampledFrom([]Order{"", OrderMixed, OrderRandom}).Draw(t, "order"), Rows: rapid.IntRange(0, 300).Draw(t, "rows"),
			Seed: rapid.Int64().Draw(t, "seed"), Threshold: 1}
		items := DrawQueue(all, o)
		known := map[string]record.Candidate{}
		for _, c := range all {
			known[c.RolloutID] = c
		}
		first, drawn, again := map[string]int{}, 0, 0
		chances := map[float64]bool{}
		for i, item := range items {
			c, there := known[item.RolloutID]
			if !there || item.Position != i || item.Queue != "gold" {
				t.Fatalf("item %d is %+v", i, item)
			}
			at, seen := first[item.RolloutID]
			if item.Strategy == record.StrategyRecheck {
				again++
				if !seen || i <= at || item.Drawn() || item.Stratum != "" {
					t.Fatalf("a second look %+v, the first at %d (%v)", item, at, seen)
				}
				continue
			}
			if seen {
				t.Fatalf("%s is shown at %d and at %d", item.RolloutID, at, i)
			}
			first[item.RolloutID] = i
			if item.Drawn() != (item.Strategy == record.StrategyRandom) {
				t.Fatalf("strategy %s has probability %v", item.Strategy, item.Probability)
			}
			if item.Drawn() {
				drawn++
				chances[*item.Probability] = true
			} else if item.Strategy != teaches(&c) {
				t.Fatalf("picked for %s, and it teaches %q", item.Strategy, teaches(&c))
			}
		}
		if 2*drawn < len(items) {
			t.Fatalf("%d of %d places are drawn", drawn, len(items))
		}
		if len(items) > 0 && len(chances) != 1 {
			t.Fatalf("chances %v, want one", chances)
		}
		for chance := range chances {
			if math.Abs(chance*float64(len(all))-float64(drawn)) > 1e-9 {
				t.Fatalf("%d of %d rows are drawn, and their chance is %v", drawn, len(all), chance)
			}
		}
		if want := len(first) / recheckEvery; again != want && len(first) == min(o.Rows, len(all)) {
			t.Fatalf("%d of %d rows are shown again, want %d", again, len(first), want)
		}
		slices.Reverse(all)
		if diff := cmp.Diff(items, DrawQueue(all, o)); diff != "" {
			t.Fatalf("the order of the rollouts moves the queue:\n%s", diff)
		}
	})
}

// Each verdict has its share of the drawn rows, within one row.
func TestQueueIsStratified(t *testing.T) {
	for _, share := range []float64{0.05, 0.3, 0.5, 0.9} {
		all := pool(120, 4, passing(share))
		passes := 0
		for _, c := range all {
			passes += int(*c.Reward)
		}
		for _, rows := range []int{50, 100, 200} {
			got := 0
			for _, item := range DrawQueue(all, QueueOptions{Order: OrderRandom, Rows: rows, Seed: 3, Threshold: 1}) {
				if item.Strategy == record.StrategyRandom {
					got += count(item.Stratum == record.StratumPass)
				}
			}
			if want := float64(passes) * float64(rows) / float64(len(all)); math.Abs(float64(got)-want) >= 1 {
				t.Errorf("at %.2f: %d of %d drawn rows pass, their share is %.2f", share, got, rows, want)
			}
		}
	}
}

// The probability that an item carries is the one with which it is drawn, and any
// beginning of the queue is a sample with equal chances too: counted over seeds.
func TestQueueChancesAreTrue(t *testing.T) {
	const seeds, rows, beginning = 4000, 12, 4
	all := pool(13, 3, passing(0.3))
	drawn, early := map[string]int{}, map[string]int{}
	for seed := range int64(seeds) {
		n := 0
		for _, item := range DrawQueue(all, QueueOptions{Name: "q", Order: OrderRandom, Rows: rows, Seed: seed, Threshold: 1}) {
			if item.Drawn() {
				drawn[item.RolloutID]++
				if n++; n <= beginning {
					early[item.RolloutID]++
				}
			}
		}
	}
	check := func(what string, seen map[string]int, chance float64) {
		sd := math.Sqrt(seeds * chance * (1 - chance))
		for _, c := range all {
			if d := float64(seen[c.RolloutID]) - seeds*chance; math.Abs(d) > 4.5*sd { // of 39 rows, one in 4,000 tests
				t.Errorf("%s: %s in %d of %d queues, want %.0f", what, c.RolloutID, seen[c.RolloutID], seeds, seeds*chance)
			}
		}
	}
	check("drawn", drawn, float64(rows)/float64(len(all)))
	check("among the first drawn", early, float64(beginning)/float64(len(all)))
}

// Where the sample is no larger than the number of tasks, hardly a task is drawn
// twice for one verdict.
func TestQueueSpreadsOverTasks(t *testing.T) {
	all := pool(100, 4, func(int, int) *float64 { v := 1.0; return &v })
	seen := map[string]int{}
	for _, item := range DrawQueue(all, QueueOptions{Order: OrderRandom, Rows: 100, Seed: 1, Threshold: 1}) {
		if item.Drawn() {
			seen[item.RolloutID[:7]]++
		}
	}
	if len(seen) != 100 {
		t.Errorf("100 rows of %d tasks, and there are 100", len(seen))
	}
}

// A mixed queue brings the kinds in turn, and no second look comes soon.
func TestMixedQueue(t *testing.T) {
	all := pool(200, 4, passing(0.7))
	for i := range all {
		switch {
		case i%5 == 0:
			v := float64(1+i%7) / 10
			all[i].Reward = &v
		case i%6 == 1:
			all[i].Disagreement = true
		case i%50 == 2:
			all[i].Probed = true
		}
	}
	items := DrawQueue(all, QueueOptions{Name: "gold", Seed: 7, Threshold: 1})
	by := map[record.Strategy]int{}
	for _, item := range items {
		by[item.Strategy]++
	}
	if len(items) != 400 || by[record.StrategyRandom] != 200 || by[record.StrategyRecheck] != 36 {
		t.Errorf("%d items: %v", len(items), by)
	}
	if by[record.StrategyDisagreement] < 50 || by[record.StrategyUnsure] < 50 || by[record.StrategyProbe] < 10 {
		t.Errorf("the kinds do not come in turn: %v", by)
	}
	place := map[string]int{}
	for i, item := range items {
		if item.Strategy == record.StrategyRecheck {
			if i-place[item.RolloutID] <= recheckGap {
				t.Errorf("%s is shown at %d and again at %d", item.RolloutID, place[item.RolloutID], i)
			}
			continue
		}
		place[item.RolloutID] = i
	}
}

// A queue that a judge could be told from by its places would not be blind: the run
// test of Wald and Wolfowitz (1940) on the drawn verdicts, over many seeds, finds
// neither alternation nor blocks worth seeing.
func TestPlacesTellNoVerdict(t *testing.T) {
	all := pool(150, 4, passing(0.5))
	sum, queues := 0.0, 200
	for seed := range int64(queues) {
		var verdicts []bool
		for _, item := range DrawQueue(all, QueueOptions{Order: OrderRandom, Rows: 100, Seed: seed, Threshold: 1}) {
			if item.Drawn() {
				verdicts = append(verdicts, item.Stratum == record.StratumPass)
			}
		}
		runs, passes := 1, count(verdicts[0])
		for i := 1; i < len(verdicts); i++ {
			runs += count(verdicts[i] != verdicts[i-1])
			passes += count(verdicts[i])
		}
		n, p := float64(len(verdicts)), float64(passes)
		mean := 1 + 2*p*(n-p)/n
		sd := math.Sqrt((mean - 1) * (mean - 2) / (n - 1))
		sum += (float64(runs) - mean) / sd
	}
	if z := sum / math.Sqrt(float64(queues)); math.Abs(z) > 4 {
		t.Errorf("the runs of verdicts lie %.2f standard errors off chance", z)
	}
}

func TestListedQueueKeepsItsOrder(t *testing.T) {
	all := pool(3, 2, passing(0.5))
	slices.Reverse(all)
	items := DrawQueue(all, QueueOptions{Name: "mine", Order: OrderListed, Rows: 4})
	for i, item := range items {
		if item.RolloutID != all[i].RolloutID || item.Drawn() || item.Strategy != record.StrategyListed || item.Position != i {
			t.Errorf("item %d is %+v", i, item)
		}
	}
	if len(items) != 4 || len(DrawQueue(nil, QueueOptions{Order: OrderListed})) != 0 || len(DrawQueue(nil, QueueOptions{})) != 0 {
		t.Errorf("%d items", len(items))
	}
}

func BenchmarkDrawQueue(b *testing.B) {
	all := pool(25_000, 4, passing(0.7))
	for b.Loop() {
		DrawQueue(all, QueueOptions{Name: "gold", Threshold: 1})
	}
	b.ReportMetric(float64(len(all)*b.N)/b.Elapsed().Seconds(), "rollouts/s")
}
