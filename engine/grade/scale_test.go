package grade

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/record"
)

func scaleOf(t testing.TB, raw string) *Scale {
	t.Helper()
	s, err := ParseScale(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A rating of 1 to 5 is mapped as the recipe says; without a scale, and off the scale, it
// is no verdict.
func TestG15RatingScaleIsMappedExplicitly(t *testing.T) {
	const none = -1
	for _, tt := range []struct {
		scale, reply string
		want         float64
	}{
		{``, `4`, none},
		{``, `{"reward": 4}`, none},
		{``, `{"score": 4}`, none},
		{`[1,5]`, `1`, 0},
		{`[1,5]`, `{"reward": 4}`, 0.75},
		{`[1,5]`, `{"rating": 5, "reason": "fine"}`, 1},
		{`[1,5]`, `{"score": 2}`, 0.25},
		{`[1,5]`, `{"reward": 4, "score": 4}`, 0.75},
		{`[1,5]`, `{"reward": 4, "score": 0.75}`, none},
		{`[1,5]`, `{"reward": 0}`, none},
		{`[1,5]`, `6`, none},
		{`[1,5]`, `"4"`, none},
		{`[1,5]`, `{"reward": "4"}`, none},
		{`[1,5]`, `{"reward": NaN}`, none},
		{`[5,1]`, `1`, 1},
		{`{"1":0,"2":0,"3":0.5,"4":1,"5":1}`, `4.0`, 1},
		{`{"1":0,"2":0,"3":0.5,"4":1,"5":1}`, `4.5`, none},
		{`{"poor":0,"fair":0.5,"good":1}`, `{"rating": " Good "}`, 1},
		{`{"poor":0,"fair":0.5,"good":1}`, `{"rating": "excellent"}`, none},
		{`{"poor":0,"fair":0.5,"good":1}`, `{"rating": 1}`, none},
		{`[1,5]`, `{"reward": 5, "criteria": [{"name":"1","hard":true,"score":5}]}`, 1},
		{`[1,5]`, `{"reward": 5, "criteria": [{"name":"1","hard":true,"score":2}]}`, 0},
		{``, `{"reward": 1, "criteria": [{"name":"1","hard":true,"score":5}]}`, none},
	} {
		var scale *Scale
		if tt.scale != "" {
			scale = scaleOf(t, tt.scale)
		}
		v := ParseRating([]byte(tt.reply), scale)
		switch {
		case tt.want == none && (v.Reward != nil || v.Status == record.JudgeOK || v.Reason == ""):
			t.Errorf("%s, %s: reward %v, %s", tt.scale, tt.reply, v.Reward, v.Status)
		case tt.want != none && (v.Reward == nil || *v.Reward != tt.want):
			t.Errorf("%s, %s: %v, %s, %s; want %v", tt.scale, tt.reply, v.Reward, v.Status, v.Reason, tt.want)
		}
	}
	rated := judgeSaying(`{"rating": 4}`)
	if j, _ := gradeOne(t, Config{Reward: &RewardConfig{Judge: &rated}}, usual().Case()); j.Reward != nil {
		t.Errorf("unmapped, the rating is %v", *j.Reward)
	}
	rated.Scale = scaleOf(t, `[1,5]`)
	if j, _ := gradeOne(t, Config{Reward: &RewardConfig{Judge: &rated}}, usual().Case()); j.Reward == nil || *j.Reward != 0.75 {
		t.Errorf("mapped, it is %v: %s", j.Reward, j.Reason)
	}
}

func TestScaleErrors(t *testing.T) {
	for raw, part := range map[string]string{
		`5`:                   "neither",
		`[1]`:                 "two different",
		`[1,1]`:               "two different",
		`[1,2,3]`:             "two different",
		`["1","5"]`:           "two different",
		`{}`:                  "two ratings",
		`{"a":1}`:             "two ratings",
		`{"a":1,"b":2}`:       "outside",
		`{"a":1,"b":null}`:    "outside",
		`{"4":1,"4.0":0}`:     "twice",
		`{"Good":1,"good":0}`: "twice",
		`{"":1,"b":0}`:        "empty",
		`{"a":1,`:             "scale",
	} {
		if _, err := ParseScale(json.RawMessage(raw)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v lacks %q", raw, err, part)
		}
	}
}

// A linear scale keeps the order of ratings and stays within 0..1.
func TestScaleIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		width := rapid.Float64Range(1e-3, 1e6).Draw(t, "width")
		raw, _ := json.Marshal([]float64{lo, lo + width})
		s, err := ParseScale(raw)
		if err != nil {
			t.Skip(err)
		}
		last := -1.0
		for i := range 11 {
			reward, status, why := s.reward(looseValue{kind: looseNumber, number: min(lo+width*float64(i)/10, s.all)})
			if status != record.JudgeOK || *reward < last || *reward > 1 {
				t.Fatalf("%d: %v after %v, %s, %s", i, reward, last, status, why)
			}
			last = *reward
		}
	})
}
