package grade

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/engine/record"
)

// Scale maps what a judge gives to rewards, explicitly: [1, 5] is linear from 0 at its
// first to 1 at its second, which may be the smaller; {"poor": 0, "fair": 0.5, "good": 1}
// maps each rating that there is, numbers by their value. Nothing is mapped by guess: a
// rating that is not on the scale is no verdict.
type Scale struct {
	none, all float64            // the ends of a linear scale
	ratings   map[string]float64 // nil where it is linear
	raw       json.RawMessage    // canonical, part of the scorer's version
}

// ParseScale reads a scale: a list of two different numbers, or an object of rewards in
// 0..1 by rating.
func ParseScale(raw json.RawMessage) (*Scale, error) {
	canonical, err := record.Canonical(raw)
	if err != nil {
		return nil, fmt.Errorf("scale: %w", err)
	}
	s := &Scale{raw: canonical}
	switch canonical[0] {
	case '[':
		var ends []float64
		if json.Unmarshal(canonical, &ends) != nil || len(ends) != 2 || ends[0] == ends[1] {
			return nil, errors.New("scale: a list is of two different numbers, such as [1, 5]: what is worth 0 and what is worth 1")
		}
		s.none, s.all = ends[0], ends[1]
		return s, nil
	case '{':
		return s, s.readRatings(canonical)
	}
	return nil, errors.New("scale: it is neither a list of two numbers nor a map of ratings to rewards")
}

func (s *Scale) readRatings(raw json.RawMessage) error {
	var rewards map[string]*float64
	if json.Unmarshal(raw, &rewards) != nil || len(rewards) < 2 {
		return errors.New("scale: a map is of two ratings at least, each with a number as its reward")
	}
	s.ratings = make(map[string]float64, len(rewards))
	for rating, reward := range rewards {
		key := ratingKey(rating)
		_, twice := s.ratings[key]
		switch {
		case reward == nil || !(*reward >= 0 && *reward <= 1):
			return fmt.Errorf("scale: the reward of %q lies outside 0..1", rating)
		case key == "":
			return errors.New("scale: a rating is empty")
		case twice:
			return fmt.Errorf("scale: the rating %q stands twice", key)
		}
		s.ratings[key] = *reward
	}
	return nil
}

// ratingKey is one form for the ratings that are the same: 4 is 4.0, Good is good.
func ratingKey(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsInf(f, 0) {
		return numberKey(f)
	}
	return s
}

func numberKey(f float64) string { return strconv.FormatFloat(f+0, 'g', -1, 64) } // -0 is 0

// MarshalJSON gives the scale as it was read.
func (s *Scale) MarshalJSON() ([]byte, error) { return bytes.Clone(s.raw), nil }

// reward reads a rating. Without a scale it is a reward already.
func (s *Scale) reward(v looseValue) (*float64, record.JudgeStatus, string) {
	if s == nil {
		return rewardOf(v)
	}
	key := ""
	switch {
	case v.kind == looseNull:
		return nil, record.JudgeMissingReward, "the rating is null"
	case v.kind == looseNumber && !math.IsNaN(v.number) && !math.IsInf(v.number, 0):
		if s.ratings == nil {
			return s.linear(v.number)
		}
		key = numberKey(v.number)
	case v.kind == looseText && s.ratings != nil:
		key = ratingKey(v.text)
	default:
		return nil, record.JudgeInvalidResult, fmt.Sprintf("the rating is %s, which is not on the scale", v.kind)
	}
	reward, ok := s.ratings[key]
	if !ok {
		return nil, record.JudgeInvalidResult, fmt.Sprintf("the rating %q is none of %s", clip(key), s.says())
	}
	return &reward, record.JudgeOK, ""
}

func (s *Scale) linear(rating float64) (*float64, record.JudgeStatus, string) {
	reward := (rating - s.none) / (s.all - s.none)
	if !(reward >= 0 && reward <= 1) {
		return nil, record.JudgeInvalidResult, fmt.Sprintf("the rating %v lies outside the scale %s", rating, s.says())
	}
	return &reward, record.JudgeOK, ""
}

// says names the ratings that there are.
func (s *Scale) says() string {
	if s.ratings == nil {
		return fmt.Sprintf("%v..%v", s.none, s.all)
	}
	names := make([]string, 0, len(s.ratings))
	for name := range s.ratings {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if s.ratings[a] != s.ratings[b] {
			if s.ratings[a] < s.ratings[b] {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return strings.Join(names, ", ")
}
