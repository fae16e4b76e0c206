package grade

import (
	"math"
	"slices"

	"assay/engine/record"
)

// Order is how a labelling queue is made.
type Order string

// Orders of a queue.
const (
	OrderMixed  Order = "mixed"  // half drawn at random at least, the rest what teaches most
	OrderRandom Order = "random" // all drawn at random
	OrderListed Order = "listed" // as listed; nothing of it counts
)

// Orders lists the orders, the default first.
func Orders() []Order { return []Order{OrderMixed, OrderRandom, OrderListed} }

// How long a queue is where the options do not say: as long as the drawn rows need
// to reach the last look, at 200. A mixed queue of 364 rows is shown 36 of them
// again, and half of those 400 places are drawn.
const (
	mixedRows  = 364
	randomRows = 200
)

const (
	// recheckEvery is a tenth of the rows: enough to see a person's agreement with
	// themselves within a session, few enough not to be felt. Convention, untested.
	recheckEvery = 10
	// recheckGap is how many places lie between two looks at the same row, so that the
	// second is no memory of the first; a quarter of a short queue. Convention, untested.
	recheckGap = 20
)

// QueueOptions say how a queue is drawn.
type QueueOptions struct {
	Name  string // of the queue; part of its stream
	Order Order  // "" is mixed
	Rows  int    // different rollouts to show; 0 is what the last look needs
	Seed  int64
	// Threshold is the least reward that is a pass.
	Threshold float64
}

// DrawQueue draws a labelling queue from a run's rollouts.
//
// Drawn rows are a systematic sample (Madow and Madow 1944) of the candidates sorted
// by verdict and, within a verdict, by task: each has exactly the same chance, each
// verdict its share within one row, and rows of one task are taken as far apart as
// the sample allows. Because the chances are equal, the first n drawn rows count
// without weights at any n.
//
// In a mixed queue the rest is what teaches most: rows on which scorers contradict each
// other, rows that a probe turned, and rows on which the judge is unsure. They have no
// probability. Where most of them are drawn anyway the queue is shorter: how many rows
// are drawn must not depend on which. Every tenth row is shown again, later and
// unannounced. All are shuffled: a pattern in their places would tell verdicts.
//
// The draw depends on the seed, the name and the rollouts' keys alone: neither on the
// run's id nor on the order of the candidates, except in a listed queue, which keeps it.
func DrawQueue(candidates []record.Candidate, o QueueOptions) []record.QueueItem {
	d := queueDraw{QueueOptions: o}
	if o.Order == OrderListed {
		return d.listed(candidates)
	}
	rows := o.Rows
	if rows <= 0 {
		rows = mixedRows
		if o.Order == OrderRandom {
			rows = randomRows
		}
	}
	rows = min(rows, len(candidates))
	again := rows / recheckEvery
	teaching := 0
	if o.Order != OrderRandom && rows < len(candidates) { // of a queue that shows all there is, all is drawn
		teaching = min(rows-(rows+again+1)/2, d.teachers(candidates))
	}
	drawn, rest := d.sample(candidates, rows-teaching)
	picked := d.pick(rest, teaching)
	return d.recheck(d.mix(drawn, picked), again)
}

type queueDraw struct{ QueueOptions }

// rank is a row's own chance for one purpose.
func (d *queueDraw) rank(what string, k record.Key) uint64 {
	return record.Rank("queue", d.Seed, d.Name, what, k.TaskID, k.EvalRun, k.K)
}

// sorted is rows in the order of two numbers that each has, and of chance where
// these are the same.
func (d *queueDraw) sorted(rows []record.Candidate, what string, numbers func(*record.Candidate) [2]uint64) []record.Candidate {
	type ranked struct {
		by  [3]uint64
		row record.Candidate
	}
	all := make([]ranked, len(rows))
	for i := range rows {
		n := numbers(&rows[i])
		all[i] = ranked{[3]uint64{n[0], n[1], d.rank(what, rows[i].Key)}, rows[i]}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		if c := slices.Compare(a.by[:], b.by[:]); c != 0 {
			return c
		}
		return a.row.Key.Compare(b.row.Key)
	})
	out := make([]record.Candidate, len(rows))
	for i := range all {
		out[i] = all[i].row
	}
	return out
}

func (d *queueDraw) stratum(c *record.Candidate) string {
	switch {
	case c.Reward == nil:
		return record.StratumUnjudged
	case *c.Reward >= d.Threshold:
		return record.StratumPass
	}
	return record.StratumFail
}

func (d *queueDraw) item(c *record.Candidate, s record.Strategy) record.QueueItem {
	return record.QueueItem{Queue: d.Name, RolloutID: c.RolloutID, Strategy: s, Stratum: d.stratum(c)}
}

func (d *queueDraw) listed(candidates []record.Candidate) []record.QueueItem {
	if d.Rows > 0 {
		candidates = candidates[:min(d.Rows, len(candidates))]
	}
	items := make([]record.QueueItem, len(candidates))
	for i := range candidates {
		items[i] = d.item(&candidates[i], record.StrategyListed)
		items[i].Position = i
	}
	return items
}

// sample draws n rows, each with the chance n over all, and gives what is left.
func (d *queueDraw) sample(candidates []record.Candidate, n int) (drawn []record.QueueItem, rest []record.Candidate) {
	strata := []string{record.StratumPass, record.StratumFail, record.StratumUnjudged}
	all := d.sorted(candidates, "row", func(c *record.Candidate) [2]uint64 {
		return [2]uint64{uint64(slices.Index(strata, d.stratum(c))), record.Rank("queue", d.Seed, d.Name, "task", c.Key.TaskID)}
	})
	if n == 0 {
		return nil, all
	}
	chance := float64(n) / float64(len(all))
	at := record.Stream("queue", d.Seed, d.Name, "start").IntN(len(all))
	for i := range all {
		// The running sum of chances, in whole numbers, passes a whole one at the rows drawn.
		if at += n; at < len(all) {
			rest = append(rest, all[i])
			continue
		}
		at -= len(all)
		item := d.item(&all[i], record.StrategyRandom)
		item.Probability = &chance
		drawn = append(drawn, item)
	}
	return drawn, rest
}

// teaches says what a row is good for, "" where it is like any other.
func teaches(c *record.Candidate) record.Strategy {
	switch {
	case c.Disagreement:
		return record.StrategyDisagreement
	case c.Probed:
		return record.StrategyProbe
	case c.Reward == nil || *c.Reward > 0 && *c.Reward < 1:
		return record.StrategyUnsure
	}
	return ""
}

func (d *queueDraw) teachers(candidates []record.Candidate) int {
	n := 0
	for i := range candidates {
		n += count(teaches(&candidates[i]) != "")
	}
	return n
}

// pick takes n rows that teach, in turn of each kind, and of a kind first one row a
// task, the judge's deepest doubts before lesser ones.
func (d *queueDraw) pick(rest []record.Candidate, n int) []record.QueueItem {
	kinds := []record.Strategy{record.StrategyDisagreement, record.StrategyProbe, record.StrategyUnsure}
	of := map[record.Strategy][]record.Candidate{}
	for _, c := range rest {
		if kind := teaches(&c); kind != "" {
			of[kind] = append(of[kind], c)
		}
	}
	for _, kind := range kinds {
		of[kind] = oneATask(d.sorted(of[kind], "teach", func(c *record.Candidate) [2]uint64 {
			return [2]uint64{math.Float64bits(d.certainty(c))} // of numbers that are not negative the bits sort as they do
		}))
	}
	var picked []record.QueueItem
	for round := 0; len(picked) < n; round++ {
		before := len(picked)
		for _, kind := range kinds {
			if round < len(of[kind]) && len(picked) < n {
				picked = append(picked, d.item(&of[kind][round], kind))
			}
		}
		if len(picked) == before {
			break
		}
	}
	return picked
}

// certainty is how far a reward lies from the threshold; no reward is no certainty.
func (d *queueDraw) certainty(c *record.Candidate) float64 {
	if c.Reward == nil {
		return 0
	}
	return math.Abs(*c.Reward - d.Threshold)
}

// oneATask moves the second row of a task behind the first rows of all, the third
// behind the second ones, and keeps the order otherwise.
func oneATask(list []record.Candidate) []record.Candidate {
	seen, round := map[string]int{}, make([]int, len(list))
	for i, c := range list {
		round[i] = seen[c.Key.TaskID]
		seen[c.Key.TaskID]++
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return round[a] - round[b] })
	out := make([]record.Candidate, len(list))
	for i, at := range order {
		out[i] = list[at]
	}
	return out
}

// mix shuffles the drawn and the picked rows into one order: any pattern in it would
// tell who labels what the judge said.
func (d *queueDraw) mix(drawn, picked []record.QueueItem) []record.QueueItem {
	items := slices.Concat(drawn, picked)
	record.Stream("queue", d.Seed, d.Name, "places").Shuffle(len(items), func(a, b int) { items[a], items[b] = items[b], items[a] })
	return items
}

// recheck shows n rows again, each some places after its first look, and numbers the
// places.
func (d *queueDraw) recheck(items []record.QueueItem, n int) []record.QueueItem {
	gap := min(recheckGap, len(items)/4)
	draws := record.Stream("queue", d.Seed, d.Name, "recheck")
	again := make([][]record.QueueItem, len(items)+1) // before which row, the end last
	for _, i := range draws.Perm(max(0, len(items)-gap))[:min(n, max(0, len(items)-gap))] {
		at := i + gap + 1 + draws.IntN(len(items)-gap-i)
		again[at] = append(again[at], record.QueueItem{Queue: d.Name, RolloutID: items[i].RolloutID, Strategy: record.StrategyRecheck})
	}
	out := make([]record.QueueItem, 0, len(items)+n)
	for i := range again {
		out = append(out, again[i]...)
		if i < len(items) {
			out = append(out, items[i])
		}
	}
	for i := range out {
		out[i].Position = i
	}
	return out
}

// TuningHalf reports whether a task's gold is of the half that a rubric may be tuned
// on.
func TuningHalf(taskID string) bool { return inTuningHalf(taskID) }
