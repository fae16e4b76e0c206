package cover

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/engine/axes"
)

// maxPICT is the largest model file read.
const maxPICT = 4 << 20

// ParsePICT reads a model in the language of PICT (Czerwonka 2006;
// github.com/microsoft/pict): parameters with their values, comments, aliases
// (the first name counts), references to another parameter's values, weights
// (read and ignored: an array has no use for them), negative values (~v, at most
// one a row) and constraints (IF THEN ELSE, NOT, AND, OR, relations, IN, LIKE,
// one parameter against another). Words are compared without regard to case, as
// PICT does. A submodel ({A, B, C} @ 3) asks for its own strength among its
// parameters where that is above the model's, which is 2.
//
// An error begins with the line that it stands on.
func ParsePICT(r io.Reader) (Model, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxPICT+1))
	switch {
	case err != nil:
		return Model{}, fmt.Errorf("read PICT model: %w", err)
	case len(raw) > maxPICT:
		return Model{}, fmt.Errorf("the PICT model has more than %d bytes", maxPICT)
	}
	p := &pictModel{model: Model{Strength: DefaultStrength}}
	rest, line, err := p.readParameters(string(raw))
	if err != nil {
		return Model{}, err
	}
	if len(p.model.Parameters) == 0 {
		return Model{}, fmt.Errorf("line 1: no parameter; write one as %q", "Name: value, value")
	}
	p.forbidNegativePairs()
	if err := p.readConstraints(rest, line); err != nil {
		return Model{}, err
	}
	p.model.Forbidden = distinct(p.model.Forbidden)
	if err := p.model.Check(); err != nil {
		return Model{}, err
	}
	return p.model, nil
}

// pictModel is a PICT model while it is read.
type pictModel struct {
	model Model
}

var (
	pictConstraint = regexp.MustCompile(`(?i)^\s*(?:if\b|not\b|\[|\()`)
	pictWeight     = regexp.MustCompile(`\s*\(\s*\d+\s*\)\s*$`)
	pictSubmodel   = regexp.MustCompile(`^\s*\{`)
	// "@" and one digit, since no strength has two
	pictSubmodelLine = regexp.MustCompile(`^\s*\{([^{}]*)\}\s*(?:@\s*(\d))?\s*$`)
	pictReference    = regexp.MustCompile(`^<\s*(.+?)\s*>$`)
)

// readParameters reads the lines before the first constraint; the rest comes
// back with the number of its first line. Comments are blanked, so that columns
// and lines stay.
func (p *pictModel) readParameters(text string) (rest string, line int, err error) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "#") {
			lines[i] = ""
		}
	}
	for i, l := range lines {
		switch {
		case strings.TrimSpace(l) == "":
		case pictSubmodel.MatchString(l):
			if err := p.addSubmodel(l); err != nil {
				return "", 0, fmt.Errorf("line %d: %w", i+1, err)
			}
		case pictConstraint.MatchString(l):
			return strings.Join(lines[i:], "\n"), i + 1, nil
		default:
			if err := p.addParameter(l); err != nil {
				return "", 0, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
	}
	return "", len(lines), nil
}

func (p *pictModel) addParameter(line string) error {
	name, list, ok := strings.Cut(line, ":")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		return fmt.Errorf("want %q, not %q", "Name: value, value", strings.TrimSpace(line))
	}
	if p.index(name) >= 0 {
		return fmt.Errorf("a parameter %q stands there already", name)
	}
	parameter := Parameter{Name: name}
	for field := range strings.SplitSeq(list, ",") {
		value := pictWeight.ReplaceAllString(strings.TrimSpace(field), "")
		value, _, _ = strings.Cut(value, "|")
		value = strings.TrimSpace(value)
		if ref := pictReference.FindStringSubmatch(value); ref != nil {
			i := p.index(ref[1])
			if i < 0 {
				return fmt.Errorf("<%s> names no parameter above%s", ref[1], axes.Suggest(ref[1], p.names()))
			}
			parameter.Values = append(parameter.Values, p.model.Parameters[i].Values...)
			continue
		}
		if value == "" {
			return fmt.Errorf("parameter %q has an empty value", name)
		}
		parameter.Values = append(parameter.Values, value)
	}
	p.model.Parameters = append(p.model.Parameters, parameter)
	return nil
}

// addSubmodel reads "{ A, B, C } @ 3"; without a strength it asks for nothing more.
func (p *pictModel) addSubmodel(line string) error {
	m := pictSubmodelLine.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("want a submodel as %q, not %q", "{ A, B, C } @ 3", strings.TrimSpace(line))
	}
	sub := Submodel{Strength: p.model.Strength}
	for name := range strings.SplitSeq(m[1], ",") {
		name = strings.TrimSpace(name)
		i := p.index(name)
		switch {
		case i < 0:
			return fmt.Errorf("the submodel names no parameter above: %q%s", name, axes.Suggest(name, p.names()))
		case slices.Contains(sub.Parameters, i):
			return fmt.Errorf("the submodel names %q twice", name)
		}
		sub.Parameters = append(sub.Parameters, i)
	}
	slices.Sort(sub.Parameters)
	if m[2] == "" {
		return nil
	}
	sub.Strength, _ = strconv.Atoi(m[2]) // one digit
	if err := p.model.checkSubmodel(sub); err != nil {
		return err
	}
	p.model.Submodels = append(p.model.Submodels, sub)
	return nil
}

func (p *pictModel) names() []string {
	out := make([]string, len(p.model.Parameters))
	for i, q := range p.model.Parameters {
		out[i] = q.Name
	}
	return out
}

func (p *pictModel) index(name string) int {
	return slices.IndexFunc(p.model.Parameters, func(q Parameter) bool { return strings.EqualFold(q.Name, name) })
}

// forbidNegativePairs lets a row hold at most one negative value, so that one
// failure does not hide another.
func (p *pictModel) forbidNegativePairs() {
	var negative []Literal
	for i, q := range p.model.Parameters {
		for v, value := range q.Values {
			if strings.HasPrefix(value, "~") {
				negative = append(negative, Literal{i, v})
			}
		}
	}
	for i, a := range negative {
		for _, b := range negative[i+1:] {
			if a.Parameter != b.Parameter {
				p.model.Forbidden = append(p.model.Forbidden, Tuple{a, b})
			}
		}
	}
}

// readConstraints reads constraints that end in semicolons; line is the number
// of the text's first line.
func (p *pictModel) readConstraints(text string, line int) error {
	tokens, err := pictTokens(text, line)
	if err != nil {
		return err
	}
	parse := &pictParser{model: p, tokens: tokens}
	var groups [][]Tuple
	var lines []int
	for !parse.done() {
		start := parse.peek().line
		parse.used = parse.used[:0]
		holds, err := parse.constraint()
		if err != nil {
			return err
		}
		used := slices.Clone(parse.used)
		slices.Sort(used)
		forbidden, err := truthTuples(used, p.model.Parameters, func(row []int) (bool, error) {
			full := make([]int, len(p.model.Parameters))
			for i, q := range used {
				full[q] = row[i]
			}
			return !holds(full), nil
		})
		if err != nil {
			return fmt.Errorf("line %d: %w", start, err)
		}
		groups, lines = append(groups, forbidden), append(lines, start)
		p.model.Forbidden = append(p.model.Forbidden, forbidden...)
	}
	return p.model.contradiction(groups, func(i int) string { return fmt.Sprintf("the constraint on line %d", lines[i]) })
}
