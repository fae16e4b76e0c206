package store

import (
	"database/sql/driver"

	"assay/engine/record"
)

// Masked stands where the value of a known key stood.
const Masked = record.Masked

// maskValues masks every text among a statement's arguments, the text of JSON
// included.
func maskValues(m *record.Masker, args []driver.NamedValue) {
	for i := range args {
		if s, ok := args[i].Value.(string); ok {
			args[i].Value = m.Text(s)
		}
	}
}
