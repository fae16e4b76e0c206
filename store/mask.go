package store

import (
	"cmp"
	"database/sql/driver"
	"slices"
	"strings"
	"sync/atomic"

	"assay/engine/record"
)

// Masked stands where the value of a known key stood.
const Masked = "[masked key]"

// shortestSecret is the length under which a value is left alone: a shorter one
// stands in ordinary text by chance, and no provider's key is so short.
// Convention, untested.
const shortestSecret = 8

// masker replaces known values, in their own form and in that of a JSON string.
type masker struct {
	secrets []string // longest first: one key may hold another
	count   atomic.Int64
}

func newMasker(values []string) *masker {
	m := &masker{}
	for _, v := range values {
		if len(v) < shortestSecret {
			continue
		}
		m.secrets = append(m.secrets, v)
		quoted, _ := record.Text(v).MarshalJSON() // never fails
		if inner := string(quoted[1 : len(quoted)-1]); inner != v {
			m.secrets = append(m.secrets, inner)
		}
	}
	slices.SortFunc(m.secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	m.secrets = slices.Compact(m.secrets)
	return m
}

// text is s without the known values.
func (m *masker) text(s string) string {
	for _, secret := range m.secrets {
		if n := strings.Count(s, secret); n > 0 {
			m.count.Add(int64(n))
			s = strings.ReplaceAll(s, secret, Masked)
		}
	}
	return s
}

// values masks every text among a statement's arguments.
func (m *masker) values(args []driver.NamedValue) {
	if len(m.secrets) == 0 {
		return
	}
	for i := range args {
		if s, ok := args[i].Value.(string); ok {
			args[i].Value = m.text(s)
		}
	}
}
