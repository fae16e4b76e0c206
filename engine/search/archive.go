package search

import "slices"

// neighbours is the k of novelty: 15, as in the experiments of Lehman and Stanley
// (2011).
const neighbours = 15

// archive holds the distinct behaviours seen so far.
//
// It answers exactly, and stays fast as it grows: beside each sketch stands a
// digest of two words, and only the sketches whose digest leaves them a chance to
// be among the nearest are compared in full. At 100,000 behaviours a question
// takes a tenth of what sorting all distances takes (BenchmarkArchive100k).
type archive struct {
	place    map[sketch]int // in sketches
	sketches []sketch
	digests  []digest
	sizes    []uint16
	largest  int // of the sizes
}

func newArchive() *archive { return &archive{place: map[sketch]int{}} }

// add keeps a behaviour; false where one like it is there.
func (a *archive) add(s sketch) bool {
	if _, known := a.place[s]; known {
		return false
	}
	a.place[s] = len(a.sketches)
	a.sketches = append(a.sketches, s)
	size := s.size()
	a.digests, a.sizes, a.largest = append(a.digests, s.digest()), append(a.sizes, uint16(size)), max(a.largest, size)
	return true
}

// novelty is the mean distance of a behaviour to its nearest neighbours in the
// archive, in millionths (Lehman and Stanley 2011): the farther, the more novel.
// In an empty archive everything is.
func (a *archive) novelty(s sketch) int {
	if len(a.sketches) == 0 {
		return ppm
	}
	near := a.nearest(s)
	sum := 0
	for _, d := range near {
		sum += d
	}
	return sum / len(near)
}

// nearest are the distances of a behaviour to its nearest neighbours, ascending:
// fewer than neighbours only where the archive holds fewer.
func (a *archive) nearest(s sketch) []int {
	near := make([]int, 0, neighbours+1)
	size, digest := s.size(), s.digest()
	// Features that fall together in the digest are those that it can hide.
	hidden := size - digest.shared(digest)
	least := make([]int, a.largest+1) // of each size, the shared features that it takes to be among the nearest
	for i, d := range a.digests {
		of := a.sizes[i]
		if d.shared(digest)+hidden < least[of] {
			continue
		}
		distance := jaccardDistance(s.shared(&a.sketches[i]), size, int(of))
		if len(near) == neighbours && distance >= near[neighbours-1] {
			continue
		}
		place, _ := slices.BinarySearch(near, distance)
		near = slices.Insert(near, place, distance)
		if len(near) >= neighbours {
			near = near[:neighbours]
			raise(least, size, near[neighbours-1])
		}
	}
	return near
}

// raise sets, for each size of a sketch, how many features it must share with one
// of the given size for a distance below the bar.
func raise(least []int, size, bar int) {
	// ppm - shared*ppm/(size+of-shared) < bar, solved for shared; the division rounds
	// down, so that shared*ppm must reach the next whole part.
	similarity := ppm - bar + 1
	for of := range least {
		least[of] = (similarity*(size+of) + ppm + similarity - 1) / (ppm + similarity)
	}
}
