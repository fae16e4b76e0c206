package search

import (
	"math/rand/v2"
	"slices"
	"strings"

	"assay/engine/record"
)

// errand is an ask that hardly any agent has a tool for: as a verb phrase, and
// as people speak of it who leave out half.
type errand struct{ do, vague string }

func errands() []errand {
	return []errand{
		{"find a good recipe for mushroom risotto", "the risotto"}, {"translate a birthday card into Portuguese", "the birthday card"}, {"write a limerick about rain", "the thing that has to rhyme"},
		{"work out who won the 1998 football world cup", "the football question"}, {"think of a name for my cat", "the cat"}, {"settle a bet about the capital of Mongolia", "the bet"},
		{"get the coffee machine on the third floor to stop dripping", "the coffee machine"}, {"find a dentist who is open on Sundays", "my tooth"}, {"do fractions homework with my son", "the homework"},
		{"choose between two pairs of running shoes", "the shoes"}, {"remember the name of that song with the whistling", "the song"}, {"find out whether it will snow in Oslo this weekend", "the weekend"},
		{"explain to a seven-year-old how tides work", "the tides"}, {"plan a vegetarian dinner for six", "Saturday's dinner"}, {"write a toast for my brother's wedding", "my brother's wedding"},
		{"find out why my tomatoes have yellow leaves", "the tomatoes"}, {"pick a paint colour for a north-facing room", "the paint"}, {"turn an old cassette into a sound file", "the cassette"},
		{"learn how to fold a fitted sheet", "the sheets"}, {"rank the planets by their number of moons", "the planets"}, {"improve my chess opening as black", "my chess"}, {"find a quiet beach near Split", "the beach"},
		{"get a red wine stain out of a tablecloth", "the tablecloth"}, {"write a cover letter for a bakery", "the letter to the bakery"},
	}
}

// errandsBeside are the errands whose words the tools do not speak of.
func errandsBeside(tools []toolSense) []errand {
	var taken []string
	for _, t := range tools {
		taken = append(taken, record.NameWords(t.tool.Name)...)
		taken = append(taken, contentWords(t.tool.Description)...)
	}
	verbsAreFine := func(w string) bool {
		return len(w) < 5 || slices.Contains([]string{"write", "tell", "help", "explain", "number", "choose", "learn", "improve"}, w)
	}
	kept := slices.DeleteFunc(errands(), func(e errand) bool {
		return slices.ContainsFunc(strings.Fields(e.do), func(w string) bool { return !verbsAreFine(w) && slices.Contains(taken, w) })
	})
	if len(kept) == 0 {
		return errands()
	}
	return kept
}

// frameErrand asks for something that no tool does.
func (p *phrasebook) frameErrand(r *rand.Rand, e errand, stance string, short bool) string {
	frames := []string{
		"Can you help me {do}?", "Could you help me {do}?", "I'd like to {do}.", "I need to {do}.", "I'm trying to {do}.", "How do I {do}?", "This may be the wrong place, but can you help me {do}?",
		"Any idea how to {do}?", "I was hoping you could help me {do}.", "Would you help me {do}?", "Please help me {do}.", "Something quite different: I want to {do}.", "Do you know how to {do}?",
	}
	switch {
	case short && stance != "ambiguous":
		frames = []string{"Need to {do}.", "Help me {do}.", "How to {do}?", "Want to {do}."}
	case p.frames[stance] != nil && stance != "ambiguous":
		frames = slices.DeleteFunc(slices.Clone(p.frames[stance]), func(f string) bool { return strings.Contains(f, "{give") || strings.Contains(f, "{Give") })
		if len(frames) == 0 {
			frames = []string{"I want to {do}. And then again I don't."}
		}
	case stance == "ambiguous":
		frames = []string{"Can you help me with {vague}?", "It's about {vague} again.", "What do I do about {vague}?", "I need someone to sort out {vague}.", "You remember {vague}? Please help.", "Could you take care of {vague} for me?", "I'm stuck with {vague}."}
	}
	return fill(pick(r, frames), map[string]string{"do": e.do, "vague": e.vague})
}
