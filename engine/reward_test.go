package engine

import (
	"strings"
	"testing"
)

// What a recipe says under grade.reward reaches the grader whole, or is refused in the
// recipe's words.
func TestRewardOfARecipe(t *testing.T) {
	const head = "agent: {builtin: seeded}\ntools: tools.json\ngrade:\n  reward:\n    "
	parse := func(reward string) (*RewardSpec, error) {
		r, err := ParseRecipe([]byte(head + reward + "\n"))
		if err != nil {
			return nil, err
		}
		return r.Grade.Reward, nil
	}
	for reward, scale := range map[string]string{
		"judge: {builtin: fair}":                                         "",
		"judge: {builtin: fair, scale: [1, 5]}":                          "[1,5]",
		"judge: {builtin: fair, scale: {poor: 0, fair: 0.5, good: 1}}":   `{"fair":0.5,"good":1,"poor":0}`,
		"judge:\n      builtin: fair\n      scale: {1: 0, 2: 0.5, 3: 1}": `{"1":0,"2":0.5,"3":1}`,
	} {
		spec, err := parse(reward)
		if err != nil {
			t.Errorf("%s: %v", reward, err)
			continue
		}
		c, err := (&Engine{}).reward(&plan{recipe: &Recipe{}}, spec)
		if err != nil {
			t.Errorf("%s: %v", reward, err)
			continue
		}
		got := ""
		if c.Judge.Scale != nil {
			raw, err := c.Judge.Scale.MarshalJSON()
			if err != nil {
				t.Error(err)
			}
			got = string(raw)
		}
		if got != scale {
			t.Errorf("%s: scale %s, want %s", reward, got, scale)
		}
	}
	for reward, part := range map[string]string{
		"judge: {builtin: fair, scale: 5}":      "scale",
		"judge: {builtin: fair, scale: [1, 1]}": "two different",
		"judge: {builtin: fair, scale: {a: 2}}": "scale",
	} {
		spec, err := parse(reward)
		if err == nil {
			_, err = (&Engine{}).reward(&plan{recipe: &Recipe{}}, spec)
		}
		if err == nil || !strings.HasPrefix(err.Error(), RecipeFile+": grade.reward.judge: ") || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v lacks %q", reward, err, part)
		}
	}
}
