package grade

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"assay/engine/record"
)

// Verdict is what a judge's reply comes to.
type Verdict struct {
	Status       record.JudgeStatus // ok, missing_reward or invalid_result
	Reward       *float64           // 0..1; nil unless Status is ok
	Reason       record.Text        // the judge's, or why there is no reward
	FailureClass string
	Markers      []NamedValue // in the order of the reply
	Criteria     []record.Criterion
	Meta         json.RawMessage // an object of the members with no place here, nil for none
}

// NamedValue is a marker of a judge's; nil does not apply.
type NamedValue struct {
	Name  string
	Value *float64
}

// maxVerdict bounds a reply that is read: a judge that writes more has not
// answered.
const maxVerdict = 1 << 20

// ParseVerdict reads a judge's reply: the object {reward, reason, markers,
// failure_class, criteria, ...} or a bare number, in code fences or with prose
// around it, with Python's True, False, None and single quotes.
//
// It is tolerant of form and guesses no content. Two verdicts in one reply, a
// name twice in one object (in whatever case), a reward that is a text, true, NaN or outside 0..1,
// and a score that says otherwise than the reward are all invalid_result. An
// object without a reward is missing_reward. A missed hard criterion makes the
// reward 0. It never panics.
func ParseVerdict(raw []byte) Verdict { return ParseRating(raw, nil) }

// ParseRating is [ParseVerdict] of a judge that rates on a scale: its reward, which it
// may also call rating or score, and the scores of its criteria, are ratings. Without a
// scale they are rewards.
func ParseRating(raw []byte, scale *Scale) Verdict {
	if len(raw) > maxVerdict {
		return invalid("the reply is over %d bytes", maxVerdict)
	}
	text := strings.TrimSpace(withoutZeroWidth(strings.ToValidUTF8(string(raw), "\uFFFD")))
	if text == "" {
		return invalid("the reply is empty")
	}
	if inner, fenced := insideFence(text); fenced {
		if v, bare := bareVerdict(inner, scale); bare {
			return v
		}
	}
	if v, bare := bareVerdict(text, scale); bare {
		return v
	}
	found, err := verdictObjects(text, ratingNames(scale)...)
	switch {
	case err != nil:
		return invalid("%v", err)
	case len(found) == 0:
		return invalid("the reply holds neither an object nor a bare number")
	case len(found) > 1:
		return invalid("the reply holds %d verdicts", len(found))
	}
	return verdictOf(found[0], scale)
}

// ratingNames are what a verdict may call its reward.
func ratingNames(scale *Scale) []string {
	if scale == nil {
		return []string{"reward"}
	}
	return []string{"reward", "rating", "score"}
}

func invalid(format string, args ...any) Verdict {
	return Verdict{Status: record.JudgeInvalidResult, Reason: record.Text(fmt.Sprintf(format, args...))}
}

// withoutZeroWidth removes characters that are not seen and would hide a brace or
// a digit from the reader.
func withoutZeroWidth(s string) string {
	if !strings.ContainsAny(s, "\u200b\u200c\u200d\u2060\ufeff") {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff':
			return -1
		}
		return r
	}, s)
}

// insideFence is the content of a reply that is one code fence and nothing else.
func insideFence(text string) (string, bool) {
	if !strings.HasPrefix(text, "```") || !strings.HasSuffix(text, "```") || len(text) < 7 {
		return "", false
	}
	inner := text[3 : len(text)-3]
	if strings.Contains(inner, "```") {
		return "", false
	}
	if first, rest, ok := strings.Cut(inner, "\n"); ok && strings.Trim(first, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ") == "" {
		inner = rest
	}
	return strings.TrimSpace(inner), true
}

// bareVerdict reads a reply that is one scalar: a number is the reward, anything
// else is none.
func bareVerdict(text string, scale *Scale) (Verdict, bool) {
	p := looseJSON{s: text}
	v, err := p.value(0)
	p.space()
	if err != nil || p.pos != len(text) || v.kind == looseObject || v.kind == looseList {
		return Verdict{}, false
	}
	reward, status, why := scale.reward(v)
	return Verdict{Status: status, Reward: reward, Reason: record.Text(why)}, true
}

// rewardOf reads a value as a reward.
func rewardOf(v looseValue) (*float64, record.JudgeStatus, string) {
	switch {
	case v.kind == looseNull:
		return nil, record.JudgeMissingReward, "the reward is null"
	case v.kind != looseNumber:
		return nil, record.JudgeInvalidResult, fmt.Sprintf("the reward is %s, not a number", v.kind)
	case math.IsNaN(v.number) || math.IsInf(v.number, 0):
		return nil, record.JudgeInvalidResult, "the reward is not a finite number"
	case v.number < 0 || v.number > 1:
		return nil, record.JudgeInvalidResult, fmt.Sprintf("the reward %v lies outside 0..1; map another scale to it explicitly", v.number)
	}
	reward := v.number + 0 // -0 is 0
	return &reward, record.JudgeOK, ""
}

// verdictObjects finds the objects of a reply that are verdicts: those with one of the
// members, or, where none has one, all of them.
func verdictObjects(text string, members ...string) ([]looseValue, error) {
	var all, rewarded []looseValue
	for at := 0; at < len(text); {
		open := strings.IndexByte(text[at:], '{')
		if open < 0 {
			break
		}
		p := looseJSON{s: text, pos: at + open}
		v, err := p.value(0)
		switch {
		case errors.Is(err, errDuplicate):
			return nil, err
		case err != nil:
			// What was read of a broken object is no verdict, its inner objects included.
			if brokenVerdict(text[at+open:p.pos], members) {
				return nil, fmt.Errorf("the verdict is not whole: %w", err)
			}
			at = max(p.pos, at+open+1)
			continue
		}
		at = p.pos
		all = append(all, v)
		if _, has := v.first(members); has {
			rewarded = append(rewarded, v)
		}
	}
	if len(rewarded) > 0 {
		return rewarded, nil
	}
	return all, nil
}

func brokenVerdict(read string, members []string) bool {
	for _, name := range members {
		if strings.Contains(read, `"`+name+`"`) || strings.Contains(read, `'`+name+`'`) {
			return true
		}
	}
	return false
}

// verdictOf reads one object.
func verdictOf(o looseValue, scale *Scale) Verdict {
	var v Verdict
	meta := looseValue{kind: looseObject}
	reward, has := o.first(ratingNames(scale))
	if !has {
		v.Status, v.Reason = record.JudgeMissingReward, "the verdict has no reward"
	} else {
		var why string
		v.Reward, v.Status, why = scale.reward(reward)
		v.Reason = record.Text(why)
	}
	for _, m := range o.members {
		if !v.take(m, scale) && !framed(o, m.name) {
			meta.members = append(meta.members, m)
		}
	}
	if score, has := o.member("score"); has && score.kind == looseNumber && v.Status == record.JudgeOK && score.number != reward.number {
		v.Reward, v.Status, v.Reason = nil, record.JudgeInvalidResult, "the score contradicts the reward"
	}
	v.checkCriteria()
	v.gate()
	if len(meta.members) > 0 {
		v.Meta = meta.appendJSON(nil)
	}
	return v
}

// framed reports the members that a command judge's message has for its way over
// the wire: they are not the verdict's, and its id differs between equal runs.
func framed(o looseValue, name string) bool {
	kind, _ := o.member("type")
	return kind.text == "verdict" && (name == "type" || name == "id" || name == "protocol")
}

// take puts a member in its place and reports whether it has one.
func (v *Verdict) take(m looseMember, scale *Scale) bool {
	switch m.name {
	case "reward":
		return true
	case "reason":
		if m.value.kind != looseText {
			return m.value.kind == looseNull
		}
		if v.Status == record.JudgeOK || v.Reason == "" {
			v.Reason = record.Text(m.value.text)
		}
		return true
	case "failure_class":
		if m.value.kind != looseText {
			return m.value.kind == looseNull
		}
		v.FailureClass = m.value.text
		return true
	case "markers":
		return v.takeMarkers(m.value)
	case "criteria":
		return v.takeCriteria(m.value, scale)
	}
	return false
}

// takeMarkers reads {name: number, true, false or null}. One that is anything else
// leaves the whole member to the meta, so that nothing is lost.
func (v *Verdict) takeMarkers(o looseValue) bool {
	if o.kind != looseObject {
		return o.kind == looseNull
	}
	markers := make([]NamedValue, 0, len(o.members))
	for _, m := range o.members {
		value, ok := m.value.score()
		if !ok {
			return false
		}
		markers = append(markers, NamedValue{m.name, value})
	}
	v.Markers = markers
	return true
}

// takeCriteria reads a list of {name, hard, score, reason}; met and verdict stand
// for score.
func (v *Verdict) takeCriteria(list looseValue, scale *Scale) bool {
	if list.kind != looseList {
		return list.kind == looseNull
	}
	criteria := make([]record.Criterion, 0, len(list.list))
	for i, item := range list.list {
		if item.kind != looseObject {
			return false
		}
		c := record.Criterion{Name: strconv.Itoa(i + 1)}
		for _, m := range item.members {
			switch m.name {
			case "name", "id":
				if m.value.kind == looseText {
					c.Name = m.value.text
				}
			case "hard":
				c.Hard = m.value.kind == looseTrue
			case "reason":
				c.Reason = record.Text(m.value.text)
			case "score", "met", "verdict":
				score, ok := m.value.score()
				if scale != nil && (m.value.kind == looseNumber || m.value.kind == looseText) {
					var status record.JudgeStatus
					score, status, _ = scale.reward(m.value)
					ok = status == record.JudgeOK
				}
				if !ok {
					return false
				}
				c.Score = score
			}
		}
		criteria = append(criteria, c)
	}
	v.Criteria = criteria
	return true
}

// checkCriteria takes a verdict back whose criteria are on another scale than 0..1: what
// a hard one came to cannot be told then.
func (v *Verdict) checkCriteria() {
	for _, c := range v.Criteria {
		if v.Status == record.JudgeOK && c.Score != nil && !(*c.Score >= 0 && *c.Score <= 1) {
			v.Reward, v.Status, v.Reason = nil, record.JudgeInvalidResult, record.Text(fmt.Sprintf("the criterion %s scores %v, outside 0..1; map another scale to it explicitly", clip(c.Name), *c.Score))
		}
	}
}

// gate makes the reward 0 where a hard criterion was missed.
func (v *Verdict) gate() {
	if v.Status != record.JudgeOK {
		return
	}
	for _, c := range v.Criteria {
		if c.Hard && c.Score != nil && *c.Score < 1 {
			zero := 0.0
			v.Reward = &zero
			return
		}
	}
}

// The values of [looseJSON].
type looseKind uint8

const (
	looseNull looseKind = iota
	looseTrue
	looseFalse
	looseNumber
	looseText
	looseList
	looseObject
)

func (k looseKind) String() string {
	return [...]string{"null", "true", "false", "a number", "a text", "a list", "an object"}[k]
}

type looseValue struct {
	kind    looseKind
	number  float64
	text    string
	list    []looseValue
	members []looseMember
}

type looseMember struct {
	name  string
	value looseValue
}

func (v looseValue) member(name string) (looseValue, bool) {
	for _, m := range v.members {
		if m.name == name {
			return m.value, true
		}
	}
	return looseValue{}, false
}

// first is the first of the members that there is.
func (v looseValue) first(names []string) (looseValue, bool) {
	for _, name := range names {
		if value, has := v.member(name); has {
			return value, true
		}
	}
	return looseValue{}, false
}

// score reads a finite number, true, false or null.
func (v looseValue) score() (*float64, bool) {
	var f float64
	switch v.kind {
	case looseNull:
		return nil, true
	case looseTrue:
		f = 1
	case looseFalse:
	case looseNumber:
		f = v.number
	default:
		return nil, false
	}
	return &f, !math.IsNaN(f) && !math.IsInf(f, 0)
}

// appendJSON writes a value as JSON; numbers that JSON does not have become texts.
func (v looseValue) appendJSON(dst []byte) []byte {
	switch v.kind {
	case looseTrue:
		return append(dst, "true"...)
	case looseFalse:
		return append(dst, "false"...)
	case looseNumber:
		raw, _ := record.NewNumber(&v.number).MarshalJSON() // every float has a form
		return append(dst, raw...)
	case looseText:
		return appendText(dst, v.text)
	case looseList:
		dst = append(dst, '[')
		for i, item := range v.list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendJSON(dst)
		}
		return append(dst, ']')
	case looseObject:
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendText(dst, m.name), ':')
			dst = m.value.appendJSON(dst)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

func appendText(dst []byte, s string) []byte {
	raw, _ := record.Text(s).MarshalJSON() // a Text always has a form
	return append(dst, bytes.TrimSpace(raw)...)
}
