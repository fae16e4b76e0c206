package search

import (
	"fmt"
	"maps"
	"slices"

	"assay/engine/record"
)

// ppm is one whole in the integer arithmetic of shares: millionths. Steering in
// integers is the same on every machine.
const ppm = 1_000_000

// arm is one arm of the search with its share and the bounds of it, in
// millionths.
type arm struct {
	name               string
	weight, floor, cap int
}

// startingArms are the shares that the search begins with and their bounds: grid
// arms never below 15%, open-ended asks 5 to 10%, the rare arms 1 to 8%.
// Convention, untested.
func startingArms() []arm {
	return []arm{
		{record.ArmStructured, 420_000, 150_000, ppm},
		{record.ArmLLMGuided, 420_000, 150_000, ppm},
		{record.ArmOpenEnded, 100_000, 50_000, 100_000},
		{record.ArmBehaviorTargeted, 30_000, 10_000, 80_000},
		{record.ArmFailureMutation, 30_000, 10_000, 80_000},
	}
}

func armNames() []string {
	var names []string
	for _, a := range startingArms() {
		names = append(names, a.name)
	}
	return names
}

// arms are the shares as they stand.
type arms struct {
	list   []arm
	pinned bool
}

func newArms(pinned map[string]float64) *arms {
	a := &arms{list: startingArms(), pinned: pinned != nil}
	if pinned == nil {
		return a
	}
	for i := range a.list {
		a.list[i].weight = int(share(pinned, pinned[a.list[i].name]))
	}
	return a
}

// share is a pinned weight as a part of all pinned weights, in millionths.
func share(weights map[string]float64, weight float64) int64 {
	total := 0.0
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		total += weights[name]
	}
	if total <= 0 {
		return 0
	}
	return int64(weight/total*ppm + 0.5)
}

func checkWeights(weights map[string]float64) error {
	if weights == nil {
		return nil
	}
	total := 0.0
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		if !slices.Contains(armNames(), name) {
			return fmt.Errorf("arm_weights: unknown arm %q; the arms are %v", name, armNames())
		}
		if w := weights[name]; !(w >= 0 && w <= 1e6) {
			return fmt.Errorf("arm_weights.%s: %v is no weight; give a number from 0 up", name, w)
		}
		total += weights[name]
	}
	if total <= 0 {
		return fmt.Errorf("arm_weights: all are 0; give at least one arm a weight")
	}
	return nil
}

// structuredShare is the structured arm's part of the two grid arms.
func (a *arms) structuredShare() int {
	s, l := a.list[0].weight, a.list[1].weight
	if s+l == 0 {
		return ppm / 2
	}
	return int(int64(s) * ppm / int64(s+l))
}

func (a *arms) byName() map[string]int {
	out := make(map[string]int, len(a.list))
	for _, arm := range a.list {
		out[arm.name] = arm.weight
	}
	return out
}

// yield is what an arm brought in one batch.
type yield struct {
	news     int // behaviours and cells not seen before
	rollouts int
}

// move multiplies each arm's share by 1 + 0.5 x its yield per rollout, within its
// bounds. An arm that did not run moves with the mean of those that did. Pinned
// shares stay.
func (a *arms) move(yields map[string]yield) {
	if a.pinned {
		return
	}
	sum, ran := int64(0), int64(0)
	per := make([]int64, len(a.list))
	for i, arm := range a.list {
		if y := yields[arm.name]; y.rollouts > 0 {
			per[i] = int64(y.news) * ppm / int64(y.rollouts)
			sum += per[i]
			ran++
		}
	}
	if ran == 0 {
		return
	}
	for i, arm := range a.list {
		if yields[arm.name].rollouts == 0 {
			per[i] = sum / ran
		}
		a.list[i].weight = int(int64(arm.weight) * (2*ppm + per[i]) / (2 * ppm))
	}
	a.bound()
}

// bound brings the shares back to one whole with none outside its bounds: an arm
// that would lie outside stands at its bound, and the others share what is left
// in proportion.
func (a *arms) bound() {
	fixed := make([]bool, len(a.list))
	for {
		left, free := int64(ppm), int64(0)
		for i, arm := range a.list {
			if fixed[i] {
				left -= int64(arm.weight)
			} else {
				free += int64(arm.weight)
			}
		}
		again := false
		next := make([]int, len(a.list))
		for i, arm := range a.list {
			if fixed[i] {
				next[i] = arm.weight
				continue
			}
			next[i] = int(int64(arm.weight) * left / max(free, 1))
			if next[i] < arm.floor || next[i] > arm.cap {
				a.list[i].weight, fixed[i], again = min(max(next[i], arm.floor), arm.cap), true, true
				break // the others' shares change with it
			}
		}
		if again {
			continue
		}
		total := 0
		for i := range a.list {
			a.list[i].weight = next[i]
			total += next[i]
		}
		a.list[0].weight += ppm - total // what rounding left over
		return
	}
}
