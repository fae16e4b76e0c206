package search

import (
	"regexp"
	"slices"
	"strings"

	"assay/engine/record"
)

// givenTasks are the asks that the user already has, as they are. Their worlds
// know the ids that they name.
func (p *Planner) givenTasks() []*record.Task {
	var out []*record.Task
	seen := map[string]bool{}
	for _, g := range p.in.Given {
		task := &record.Task{
			SituationID: record.AskSituationID(g.Ask, ""), Origin: record.OriginGiven, World: p.book.worldOfAsk(string(g.Ask)),
			Ask: g.Ask, Tools: p.in.Tools, Reference: g.Reference, Writer: "given",
		}
		task.User = givenUser(g.User, task.World)
		task.IdentifyUnder(p.tools)
		switch {
		case p.in.Exclude[task.ID]:
			p.report.Excluded++
		case seen[task.ID]:
			p.report.Equal++
		default:
			seen[task.ID] = true
			out = append(out, task)
		}
	}
	return out
}

// givenUser is the user as given, or one who knows what they wrote.
func givenUser(given *record.User, world record.World) record.User {
	if given != nil {
		u := *given
		if u.Kind == "" {
			u.Kind = "scripted"
		}
		return u
	}
	u := record.User{Kind: "scripted", Confirms: true}
	for _, e := range world.Entities {
		if e.Argument != "" {
			if u.Knows == nil {
				u.Knows = map[string]record.Text{}
			}
			if _, told := u.Knows[e.Argument]; !told {
				u.Knows[e.Argument] = record.Text(e.ID)
			}
		}
	}
	return u
}

// idWord is a word that can be an id: letters and digits with inner marks.
var idWord = regexp.MustCompile(`#?[\pL\pN]+(?:[-_./][\pL\pN]+)*`)

// worldOfAsk finds what an ask names: known ids, words next to the noun of a
// reference ("the billing service"), and words that read as ids by themselves.
func (p *phrasebook) worldOfAsk(ask string) record.World {
	var w record.World
	add := func(argument, id string) {
		e := record.Entity{Argument: argument, ID: id, State: record.EntityExists}
		if !slices.Contains(w.Entities, e) {
			w.Entities = append(w.Entities, e)
		}
	}
	for _, k := range p.knownIDs {
		if mentions(ask, k.ID) {
			add(k.Argument, k.ID)
		}
	}
	words := idWord.FindAllString(ask, -1)
	for i, word := range words {
		for t := range p.tools {
			for _, a := range p.tools[t].args {
				if a.kind == argumentReference && a.noun != "" && p.namesNoun(words, i, lastWord(a.noun), a.named) {
					add(a.name, word)
				}
			}
		}
	}
	return w
}

// namesNoun says whether the i-th word is an id of the noun: it stands beside it
// and is an id by its form, or no everyday word where ids are words.
func (p *phrasebook) namesNoun(words []string, i int, noun string, named bool) bool {
	beside := i > 0 && strings.EqualFold(words[i-1], noun) || i+1 < len(words) && strings.EqualFold(words[i+1], noun) ||
		i > 1 && strings.EqualFold(words[i-2], noun) && slices.Contains([]string{"number", "id", "no", "called", "named"}, strings.ToLower(words[i-1]))
	if !beside {
		return false
	}
	word := strings.ToLower(words[i])
	if strings.ContainsAny(word, "0123456789") {
		return len(word) > 1
	}
	if strings.ContainsAny(word, "-_") {
		return true
	}
	_, isVerb := verbs[word]
	return named && len(word) > 2 && !isVerb && !slices.Contains(functionWords, word) && !slices.Contains(everyday, word)
}

// everyday are words that stand beside a noun without naming one of it.
var everyday = []string{"my", "our", "your", "this", "that", "these", "those", "his", "her", "their", "its", "and", "but", "which", "what", "whole", "same", "other", "another", "new", "old", "first", "last", "next", "one", "each", "every", "all", "any", "some", "no", "please", "has", "have", "had", "was", "are", "will", "would", "should", "could", "can", "number", "name", "again", "now", "today", "back", "down", "up", "before", "after", "because", "then", "service", "services", "team", "teams", "customer", "good", "bad", "does", "did", "not", "wrong", "right", "main", "own", "correct"}
