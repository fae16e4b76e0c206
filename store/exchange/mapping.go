package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/engine/record"
	"assay/store"
)

// mapping takes a row's fields from paths of another shape's objects.
type mapping struct {
	fields []mappedField
}

type mappedField struct {
	name string
	text string   // the path as it was given
	path []string // its parts
	seen bool     // some row had it
}

// parseMapping reads field=path pairs. A field is one of the row's own members, or
// markers.NAME; a path is names and indexes: a.b[0].c.
func parseMapping(given map[string]string) (*mapping, error) {
	if len(given) == 0 {
		return nil, nil
	}
	m := &mapping{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := checkField(name); err != nil {
			return nil, err
		}
		path, err := parsePath(given[name])
		if err != nil {
			return nil, &store.Error{Code: store.CodeInvalid, Where: "--map " + name, Message: fmt.Sprintf("%q is not a path: %v", given[name], err), Fix: "write names and indexes, for example run.output[0].text"}
		}
		m.fields = append(m.fields, mappedField{name: name, text: given[name], path: path})
	}
	return m, nil
}

func checkField(name string) error {
	if marker, ok := strings.CutPrefix(name, "markers."); ok && marker != "" {
		return nil
	}
	if slices.Contains(record.RowMembers(), name) {
		return nil
	}
	fix := "see the fields of a row: prompt, final_text, steps, messages, reward, scenario_id, rollout_index, markers.NAME, ..."
	if near := nearest(name, record.RowMembers()); near != "" {
		fix = fmt.Sprintf("did you mean %q?", near)
	}
	return &store.Error{Code: store.CodeInvalid, Where: "--map " + name, Message: fmt.Sprintf("a row has no field %q", name), Fix: fix}
}

// nearest is the known name that shares most letter pairs with name, "" where
// none shares half of them.
func nearest(name string, known []string) string {
	best, most := "", 0.5
	for _, k := range known {
		if share := pairShare(name, k); share >= most {
			best, most = k, share
		}
	}
	return best
}

// pairShare is Dice's coefficient over the letter pairs of two names (Dice 1945).
func pairShare(a, b string) float64 {
	pairs := map[string]int{}
	for i := range len(a) - 1 {
		pairs[a[i:i+2]]++
	}
	shared := 0
	for i := range len(b) - 1 {
		if pairs[b[i:i+2]] > 0 {
			pairs[b[i:i+2]]--
			shared++
		}
	}
	total := len(a) + len(b) - 2
	if total <= 0 {
		return 0
	}
	return 2 * float64(shared) / float64(total)
}

func parsePath(text string) ([]string, error) {
	var path []string
	for _, part := range strings.Split(text, ".") {
		name, rest, _ := strings.Cut(part, "[")
		if name != "" {
			path = append(path, name)
		} else if rest == "" {
			return nil, fmt.Errorf("a name is missing")
		}
		for rest != "" {
			index, after, closed := strings.Cut(rest, "]")
			if _, err := strconv.ParseUint(index, 10, 31); err != nil || !closed {
				return nil, fmt.Errorf("[%s is not an index", rest)
			}
			path = append(path, "["+index)
			rest = strings.TrimPrefix(after, "[")
			if after != "" && rest == after {
				return nil, fmt.Errorf("%q follows an index", after)
			}
		}
	}
	return path, nil
}

// apply puts the mapped fields among a line's members. A member from which a
// field was taken whole is gone from its old name.
func (m *mapping) apply(row *members) error {
	whole := row.raw
	mapped := map[string]json.RawMessage{}
	markers := map[string]json.RawMessage{}
	for i := range m.fields {
		f := &m.fields[i]
		v := follow(whole, f.path)
		if v == nil {
			continue
		}
		f.seen = true
		if marker, ok := strings.CutPrefix(f.name, "markers."); ok {
			markers[marker] = v
		} else {
			mapped[f.name] = v
		}
	}
	for _, f := range m.fields {
		if len(f.path) == 1 {
			delete(row.raw, f.path[0])
		}
	}
	if len(markers) > 0 && mapped["markers"] == nil {
		raw, err := json.Marshal(markers)
		if err != nil {
			return err
		}
		mapped["markers"] = raw
	}
	for name, v := range mapped {
		if old := row.raw[name]; old != nil {
			row.keepAside(name, old)
		}
		row.raw[name] = v
	}
	return nil
}

// follow walks a path; nil where it ends in nothing.
func follow(object map[string]json.RawMessage, path []string) json.RawMessage {
	at := object[path[0]]
	for _, part := range path[1:] {
		if index, ok := strings.CutPrefix(part, "["); ok {
			var list []json.RawMessage
			n, err := strconv.Atoi(index)
			if err != nil || json.Unmarshal(at, &list) != nil || n >= len(list) {
				return nil
			}
			at = list[n]
			continue
		}
		var next map[string]json.RawMessage
		if json.Unmarshal(at, &next) != nil {
			return nil
		}
		at = next[part]
	}
	if len(at) == 0 || bytes.Equal(at, []byte("null")) {
		return nil
	}
	return at
}

// unused lists the paths that no row had.
func (m *mapping) unused() []string {
	var list []string
	for _, f := range m.fields {
		if !f.seen {
			list = append(list, fmt.Sprintf("%s (mapped to %s)", f.text, f.name))
		}
	}
	return list
}
