package grade

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/engine/record"
)

// A Verifier checks a reply by program. It is built once by [ParseVerifier] and
// safe for concurrent use.
type Verifier struct {
	spec  verifySpec
	check examiner
	parts []*Verifier
	raw   json.RawMessage // canonical, part of the scorer's version
}

// examiner checks one reply. ctx bounds those that take time.
type examiner func(ctx context.Context, reply string, gold reference) checked

// atOnce is a check that takes none.
func atOnce(f func(reply string, gold reference) checked) examiner {
	return func(_ context.Context, reply string, gold reference) checked { return f(reply, gold) }
}

// verifySpec is what a recipe says under grade.reward.verify.
type verifySpec struct {
	Kind string `json:"kind"`
	// Reference names the field of the task's reference to compare with; "" is the
	// whole reference. Value is an expected answer that is the same for all tasks.
	Reference string          `json:"reference,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	// IgnoreCase of exact; includes always ignores case.
	IgnoreCase bool `json:"ignore_case,omitempty"`
	// Pattern of regex, in Go's RE2 syntax.
	Pattern string `json:"pattern,omitempty"`
	// Tolerance of numeric and math, absolute, and RelTolerance, a share of the
	// reference. The larger of both allows.
	Tolerance    float64 `json:"tolerance,omitempty"`
	RelTolerance float64 `json:"rel_tolerance,omitempty"`
	// Choices of choice, A to Z by default to the fifth.
	Choices []string `json:"choices,omitempty"`
	// Field of json_field: a path with dots and indices, such as items.0.id.
	Field string `json:"field,omitempty"`
	// Schema of json_schema.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Of and Weights of all, any and weighted.
	Of      []json.RawMessage `json:"of,omitempty"`
	Weights []float64         `json:"weights,omitempty"`
	codeSpec
}

// reference is what a reply is compared with; missing where a task has none.
type reference struct {
	raw     json.RawMessage
	missing bool
}

// checked is what one check comes to. why never quotes the reference, nor the reply,
// which may equal it.
type checked struct {
	score  float64
	status record.JudgeStatus
	why    string
}

func passed(why string) checked { return checked{1, record.JudgeOK, why} }
func missed(why string) checked { return checked{0, record.JudgeOK, why} }
func noReference(why string) checked {
	return checked{status: record.JudgeMissingReward, why: why}
}
func badReference(why string) checked { return checked{status: record.JudgeError, why: why} }

func verdict(ok bool, yes, no string) checked {
	if ok {
		return passed(yes)
	}
	return missed(no)
}

// kindOfCheck builds the check of one kind from its spec.
type kindOfCheck struct {
	name  string
	says  string
	build func(*verifySpec) (examiner, error)
	needs bool // a reference
}

func kindsOfCheck() []kindOfCheck {
	return []kindOfCheck{
		{"exact", "the reply is the reference, spaces at its ends aside", buildExact, true},
		{"includes", "the reply contains the reference as whole words, or each of a list", buildIncludes, true},
		{"regex", "the reply matches a pattern", buildRegex, false},
		{"choice", "the reply chooses the reference's letter", buildChoice, true},
		{"numeric", "the reply's last number is the reference, within a tolerance", buildNumeric, true},
		{"math", "the reply's answer equals the reference as mathematics: fractions, percent, LaTeX, thousands", buildMath, true},
		{"json_valid", "the reply is JSON", buildJSONValid, false},
		{"json_schema", "the reply is JSON that a schema allows", buildJSONSchema, false},
		{"json_field", "a field of the reply's JSON equals the reference", buildJSONField, true},
		{"code", "the reply's code passes hidden tests, in a limited subprocess", buildCode, true},
	}
}

// VerifierKinds lists the kinds with what each checks.
func VerifierKinds() [][2]string {
	var out [][2]string
	for _, k := range kindsOfCheck() {
		out = append(out, [2]string{k.name, k.says})
	}
	return append(out, [2]string{"all", "every part passes; the reward is the least"}, [2]string{"any", "some part passes; the reward is the most"}, [2]string{"weighted", "the mean of the parts by weight"})
}

// ParseVerifier reads {kind, reference, ...}. Unknown kinds and members are errors
// that name the nearest known one. Of kind code it tries what this system can keep hostile
// code from, and refuses where that is not enough.
func ParseVerifier(raw json.RawMessage) (*Verifier, error) {
	return parseVerifier(raw, 0)
}

// maxVerifierDepth bounds verifiers within verifiers.
const maxVerifierDepth = 8

func parseVerifier(raw json.RawMessage, depth int) (*Verifier, error) {
	if depth > maxVerifierDepth {
		return nil, fmt.Errorf("verify: verifiers lie over %d deep in one another", maxVerifierDepth)
	}
	var spec verifySpec
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&spec); err != nil {
		return nil, fmt.Errorf("verify: %s; the members are kind, reference, value and those of the kind", strings.TrimPrefix(err.Error(), "json: "))
	}
	canonical, err := record.Canonical(raw)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	v := &Verifier{spec: spec, raw: canonical}
	switch spec.Kind {
	case "all", "any", "weighted":
		if spec.given() {
			return nil, fmt.Errorf("verify %s: run, file, tests and their limits belong to code", spec.Kind)
		}
		return v, v.buildParts(depth)
	}
	if len(spec.Of) > 0 || len(spec.Weights) > 0 {
		return nil, fmt.Errorf("verify: of and weights belong to all, any and weighted, not to %s", spec.Kind)
	}
	var names []string
	for _, k := range kindsOfCheck() {
		names = append(names, k.name)
		if k.name != spec.Kind {
			continue
		}
		if v.check, err = k.build(&v.spec); err != nil {
			return nil, fmt.Errorf("verify %s: %w", k.name, err)
		}
		if k.name != "code" && spec.given() {
			return nil, fmt.Errorf("verify %s: run, file, tests and their limits belong to code", k.name)
		}
		if !k.needs && spec.Reference != "" {
			return nil, fmt.Errorf("verify %s: it compares with nothing; leave reference out", k.name)
		}
		return v, nil
	}
	return nil, fmt.Errorf("verify: kind %q is none of %s, all, any, weighted", spec.Kind, strings.Join(names, ", "))
}

func (v *Verifier) buildParts(depth int) error {
	if len(v.spec.Of) == 0 {
		return fmt.Errorf("verify %s: of is empty; list the parts", v.spec.Kind)
	}
	for i, raw := range v.spec.Of {
		part, err := parseVerifier(raw, depth+1)
		if err != nil {
			return fmt.Errorf("%s.of[%d]: %w", v.spec.Kind, i, err)
		}
		v.parts = append(v.parts, part)
	}
	if v.spec.Kind != "weighted" {
		if len(v.spec.Weights) > 0 {
			return fmt.Errorf("verify %s: weights belong to weighted", v.spec.Kind)
		}
		return nil
	}
	if len(v.spec.Weights) != len(v.parts) {
		return fmt.Errorf("verify weighted: %d weights for %d parts", len(v.spec.Weights), len(v.parts))
	}
	total := 0.0
	for _, w := range v.spec.Weights {
		if w < 0 || math.IsNaN(w) || math.IsInf(w, 0) {
			return errors.New("verify weighted: a weight is negative or not a number")
		}
		total += w
	}
	if total <= 0 || math.IsInf(total, 0) {
		return errors.New("verify weighted: the weights come to nothing")
	}
	return nil
}

// Name is the verifier's kind.
func (v *Verifier) Name() string { return v.spec.Kind }

// Verify checks a reply against a task's reference. The reward is nil, with a
// status, where the reference is missing or is none for this kind, and where code could
// not be run. The reason never quotes the reference. ctx bounds a check that takes time.
func (v *Verifier) Verify(ctx context.Context, reply record.Text, ref json.RawMessage) (reward *float64, status record.JudgeStatus, reason string) {
	c := v.verify(ctx, string(reply), ref)
	if c.status != record.JudgeOK {
		return nil, c.status, c.why
	}
	return &c.score, c.status, c.why
}

func (v *Verifier) verify(ctx context.Context, reply string, ref json.RawMessage) checked {
	if len(v.parts) > 0 {
		return v.combine(ctx, reply, ref)
	}
	gold := v.goldOf(ref)
	if gold.missing && v.needsReference() {
		if v.spec.Reference != "" {
			return noReference("the task has no reference." + v.spec.Reference)
		}
		return noReference("the task has no reference")
	}
	return v.check(ctx, reply, gold)
}

func (v *Verifier) needsReference() bool {
	return slices.ContainsFunc(kindsOfCheck(), func(k kindOfCheck) bool { return k.name == v.spec.Kind && k.needs })
}

// goldOf finds what to compare with.
func (v *Verifier) goldOf(ref json.RawMessage) reference {
	if len(v.spec.Value) > 0 {
		return reference{raw: v.spec.Value}
	}
	raw := bytes.TrimSpace(ref)
	if v.spec.Reference != "" && len(raw) > 0 {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			return reference{missing: true}
		}
		raw = bytes.TrimSpace(fields[v.spec.Reference])
	}
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return reference{missing: true}
	}
	return reference{raw: raw}
}

// combine asks every part: one without a reference leaves the whole without a
// reward, so that half a check never passes for one.
func (v *Verifier) combine(ctx context.Context, reply string, ref json.RawMessage) checked {
	out := checked{status: record.JudgeOK}
	total, weights := 0.0, 0.0
	lowest, highest := 1.0, 0.0
	var whys []string
	for i, part := range v.parts {
		c := part.verify(ctx, reply, ref)
		if c.status != record.JudgeOK {
			return c
		}
		weight := 1.0
		if v.spec.Kind == "weighted" {
			weight = v.spec.Weights[i]
		}
		total += weight * c.score
		weights += weight
		lowest, highest = min(lowest, c.score), max(highest, c.score)
		whys = append(whys, c.why)
	}
	switch v.spec.Kind {
	case "all":
		out.score = lowest
	case "any":
		out.score = highest
	default:
		out.score = min(1, total/weights)
	}
	out.why = strings.Join(whys, "; ")
	return out
}

// text is a reference as a text: a JSON string's content, a number or a boolean as
// written.
func (r reference) text() (string, bool) {
	switch {
	case len(r.raw) == 0 || r.raw[0] == '{' || r.raw[0] == '[':
		return "", false
	case r.raw[0] != '"':
		return string(r.raw), true
	}
	var t record.Text
	if t.UnmarshalJSON(r.raw) != nil {
		return "", false
	}
	return string(t), true
}
