package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/engine/record"
)

// peopleOf sums up what annotators said twice, and of the same rows.
func peopleOf(labels []record.Label) ([]Person, []PeoplePair) {
	first, again := map[rowAndPerson]record.Label{}, map[rowAndPerson]record.Label{}
	people, rows := map[string]record.GoldKind{}, map[string][]string{}
	for _, l := range labels { // in the order of the acts: the last word stays
		at := rowAndPerson{l.RolloutID, l.Annotator}
		people[l.Annotator] = l.Kind
		if l.Purpose == record.PurposeRecheck {
			again[at] = l
			continue
		}
		if _, seen := first[at]; !seen {
			rows[l.RolloutID] = append(rows[l.RolloutID], l.Annotator)
		}
		first[at] = l
	}
	votes := func(l record.Label) bool { return l.Verdict == record.VerdictPass || l.Verdict == record.VerdictFail }
	list := []Person{}
	for _, name := range slices.Sorted(maps.Keys(people)) {
		p := Person{Annotator: name, Kind: people[name]}
		for at, l := range first {
			if at.annotator != name || !votes(l) {
				continue
			}
			p.Labels++
			if second, twice := again[at]; twice && votes(second) {
				p.Twice++
				p.Same += count(second.Verdict == l.Verdict)
			}
		}
		list = append(list, p)
	}
	return list, pairsOf(rows, func(id, annotator string) (record.Verdict, bool) {
		l := first[rowAndPerson{id, annotator}]
		return l.Verdict, votes(l)
	})
}

// pairsOf counts how often two annotators said the same of a row.
func pairsOf(rows map[string][]string, said func(id, annotator string) (record.Verdict, bool)) []PeoplePair {
	type pair struct{ first, second string }
	of := map[pair]*PeoplePair{}
	for id, annotators := range rows {
		slices.Sort(annotators)
		for i, a := range annotators {
			for _, b := range annotators[i+1:] {
				one, okOne := said(id, a)
				other, okOther := said(id, b)
				if !okOne || !okOther {
					continue
				}
				p := of[pair{a, b}]
				if p == nil {
					p = &PeoplePair{First: a, Second: b}
					of[pair{a, b}] = p
				}
				p.N++
				p.Same += count(one == other)
			}
		}
	}
	list := []PeoplePair{}
	for _, p := range of {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b PeoplePair) int {
		return cmp.Or(strings.Compare(a.First, b.First), strings.Compare(a.Second, b.Second))
	})
	return list
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
