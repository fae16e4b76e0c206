package engine

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"

	"assay/engine/cover"
	"assay/engine/record"
)

// CoverOptions of a covering array asked for by hand.
type CoverOptions struct {
	Strength int // 2 to 4; 0 is the recipe's
	Smallest bool
}

// CoverReport is a covering array; its JSON is what cover prints.
type CoverReport struct {
	Strength   int               `json:"strength"`
	Kind       string            `json:"kind"` // stable or smallest
	Rows       int               `json:"rows"`
	LowerBound int               `json:"lower_bound"`
	Planned    int               `json:"planned"`
	Covered    int               `json:"covered"`
	OtherKind  string            `json:"other_kind,omitempty"`
	OtherRows  int               `json:"other_rows,omitempty"`
	Parameters []cover.Parameter `json:"parameters"`
	Excluded   []cover.Exclusion `json:"excluded"`
	Array      [][]string        `json:"array"`
}

// Cover builds the covering array of a recipe without running it. Both kinds are
// built, so that their sizes can be compared.
func Cover(r *Recipe, o CoverOptions) (*CoverReport, error) {
	if o.Strength != 0 {
		r.Simulate.Strength = &o.Strength
	}
	kinds := []string{"stable", "smallest"}
	if o.Smallest || r.Simulate.Array == "smallest" {
		kinds = []string{"smallest", "stable"}
	}
	if err := r.check(nil); err != nil {
		return nil, err
	}
	var report *CoverReport
	for _, kind := range kinds {
		r.Simulate.Array = kind
		p := &plan{recipe: r, settings: r.Settings()}
		if err := p.resolveAxes(); err != nil {
			return nil, r.locate(err)
		}
		if report != nil {
			report.OtherKind, report.OtherRows = kind, len(p.array.Rows)
			break
		}
		report = coverReport(kind, p.array)
		report.Excluded = p.exclusions
	}
	return report, nil
}

// CoverModel builds the joint, smallest array of a PICT model. name is the
// model's for errors.
func CoverModel(model io.Reader, name string, o CoverOptions) (*CoverReport, error) {
	m, err := cover.ParsePICT(model)
	if err != nil {
		return nil, &record.Problem{Code: "bad_model", Message: err.Error(), Where: name, Fix: "mend the model", Err: err}
	}
	if o.Strength != 0 {
		if o.Strength < cover.MinStrength || o.Strength > cover.MaxStrength {
			return nil, record.Problemf("bad_flag", "choose 2, 3 or 4", "--strength is %d", o.Strength)
		}
		m.Strength = o.Strength
	}
	a, err := cover.Build(context.Background(), m, cover.Options{})
	if err != nil {
		return nil, &record.Problem{Code: "bad_model", Message: err.Error(), Where: name, Fix: "loosen the constraints, or lower the strength", Err: err}
	}
	return coverReport("smallest", a), nil
}

func coverReport(kind string, a cover.Array) *CoverReport {
	r := &CoverReport{Kind: kind, Strength: a.Model.Strength, Rows: len(a.Rows), LowerBound: a.LowerBound, Planned: a.Planned, Covered: a.Covered,
		Parameters: a.Model.Parameters, Excluded: []cover.Exclusion{}, Array: make([][]string, len(a.Rows))}
	for i, row := range a.Rows {
		r.Array[i] = make([]string, len(row))
		for p, v := range row {
			r.Array[i][p] = a.Model.Parameters[p].Values[v]
		}
	}
	return r
}

// WriteCSV writes the array with a line of the parameters' names above it.
func (r *CoverReport) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	names := make([]string, len(r.Parameters))
	for i, p := range r.Parameters {
		names[i] = p.Name
	}
	if err := c.Write(names); err != nil {
		return fmt.Errorf("write the array: %w", err)
	}
	if err := c.WriteAll(r.Array); err != nil {
		return fmt.Errorf("write the array: %w", err)
	}
	return nil
}
