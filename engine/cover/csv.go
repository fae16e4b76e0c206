package cover

import (
	"encoding/csv"
	"fmt"
	"io"
)

// WriteCSV writes the array with a line of the parameters' names first
// (RFC 4180).
func (a Array) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := make([]string, len(a.Model.Parameters))
	for i, p := range a.Model.Parameters {
		line[i] = p.Name
	}
	if err := out.Write(line); err != nil {
		return fmt.Errorf("write array: %w", err)
	}
	for _, row := range a.Rows {
		for i, v := range row {
			line[i] = a.Model.Parameters[i].Values[v]
		}
		if err := out.Write(line); err != nil {
			return fmt.Errorf("write array: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write array: %w", err)
	}
	return nil
}
