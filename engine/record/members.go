package record

import (
	"encoding/json"
	"maps"
	"slices"
)

// unknownMembers is what a JSON object holds beside the known names; nil where
// that is nothing.
func unknownMembers(raw []byte, known []string) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	for _, name := range known {
		delete(all, name)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// appendMembers adds members, in the order of their names, to a JSON object.
func appendMembers(object []byte, members map[string]json.RawMessage) ([]byte, error) {
	out := slices.Clone(object[:len(object)-1])
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = Text(name).appendJSON(out)
		out = append(out, ':')
		out = append(out, orNull(members[name])...)
	}
	return append(out, '}'), nil
}
