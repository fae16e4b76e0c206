package engine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"assay/engine/record"
)

// Duration is a time.Duration written as "30s", or as a number of seconds.
type Duration time.Duration

// UnmarshalYAML reads "1m30s" or 90.
func (d *Duration) UnmarshalYAML(n ast.Node) error {
	var seconds float64
	if yaml.NodeToValue(n, &seconds) == nil {
		return d.set(n, time.Duration(seconds*float64(time.Second)))
	}
	var text string
	if err := yaml.NodeToValue(n, &text); err != nil {
		return atNode(n, "a duration is a text such as 30s, or a number of seconds", "write 30s")
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return atNode(n, fmt.Sprintf("%q is no duration", text), "write 500ms, 30s or 2m")
	}
	return d.set(n, parsed)
}

func (d *Duration) set(n ast.Node, v time.Duration) error {
	if v <= 0 {
		return atNode(n, "a duration must be over 0", "write 30s")
	}
	*d = Duration(v)
	return nil
}

// MarshalJSON writes the text form.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads the text form.
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	parsed, err := time.ParseDuration(text)
	*d = Duration(parsed)
	return err
}

// UnmarshalYAML reads the name of a file, {mcp: ...}, or the schemas themselves.
func (t *ToolsSpec) UnmarshalYAML(n ast.Node) error {
	switch n := n.(type) {
	case *ast.StringNode:
		t.File = n.Value
		return nil
	case *ast.SequenceNode:
		raw, err := nodeJSON(n)
		t.Inline = raw
		return err
	case *ast.MappingNode, *ast.MappingValueNode:
		server, err := toolServer(n)
		t.MCP = server
		return err
	}
	return atNode(n, "tools is the name of a file, a list of tool schemas, or {mcp: ...}", "write tools: tools.json")
}

// UnmarshalYAML reads text, or {ask, user, reference}.
func (s *SeedAsk) UnmarshalYAML(n ast.Node) error {
	if text, ok := n.(*ast.StringNode); ok {
		s.Ask = text.Value
		return nil
	}
	if text, ok := n.(*ast.LiteralNode); ok {
		s.Ask = text.Value.Value
		return nil
	}
	var form struct {
		Ask  string `yaml:"ask"`
		User *struct {
			Manner   string            `yaml:"manner"`
			Wants    string            `yaml:"wants"`
			Knows    map[string]string `yaml:"knows"`
			Confirms bool              `yaml:"confirms"`
			Insists  []string          `yaml:"insists"`
			Patience int               `yaml:"patience"`
		} `yaml:"user"`
		Reference any `yaml:"reference"`
	}
	if err := checkKeys(n, &form, "simulate.seeds"); err != nil {
		return err
	}
	if err := yaml.NodeToValue(n, &form, yaml.Strict()); err != nil {
		return err
	}
	s.Ask = form.Ask
	if u := form.User; u != nil {
		s.User = &record.User{Kind: "scripted", Manner: u.Manner, Wants: record.Text(u.Wants), Confirms: u.Confirms, Patience: u.Patience}
		for name, v := range u.Knows {
			if s.User.Knows == nil {
				s.User.Knows = map[string]record.Text{}
			}
			s.User.Knows[name] = record.Text(v)
		}
		for _, said := range u.Insists {
			s.User.Insists = append(s.User.Insists, record.Text(said))
		}
	}
	if form.Reference != nil {
		raw, err := record.Marshal(form.Reference)
		if err != nil {
			return atNode(n, "the reference cannot be written as JSON: "+err.Error(), "use plain values")
		}
		s.Reference = raw
	}
	return nil
}

// UnmarshalYAML reads a target's name, or {for, format}.
func (c *CutSpec) UnmarshalYAML(n ast.Node) error {
	if text, ok := n.(*ast.StringNode); ok {
		c.For = text.Value
		return nil
	}
	type plain CutSpec
	if err := checkKeys(n, (*plain)(c), "cut"); err != nil {
		return err
	}
	return yaml.NodeToValue(n, (*plain)(c), yaml.Strict())
}

// UnmarshalYAML keeps the mapping as JSON.
func (f *FreeForm) UnmarshalYAML(n ast.Node) error {
	raw, err := nodeJSON(n)
	f.JSON = raw
	return err
}

// MarshalJSON writes the mapping as it was.
func (f FreeForm) MarshalJSON() ([]byte, error) {
	if f.JSON == nil {
		return []byte("null"), nil
	}
	return f.JSON, nil
}

func nodeJSON(n ast.Node) (json.RawMessage, error) {
	var v any
	if err := yaml.NodeToValue(n, &v); err != nil {
		return nil, err
	}
	raw, err := record.Marshal(v)
	if err != nil {
		return nil, atNode(n, "this cannot be written as JSON: "+err.Error(), "use plain values")
	}
	return raw, nil
}

func keyText(k ast.MapKeyNode) string {
	if s, ok := k.(*ast.StringNode); ok {
		return s.Value
	}
	return strings.TrimSpace(k.String())
}

// atNode is a problem at a node's place in recipe.yaml.
func atNode(n ast.Node, message, fix string) error {
	where := RecipeFile
	if t := n.GetToken(); t != nil && t.Position != nil {
		where = fmt.Sprintf("%s:%d:%d", RecipeFile, t.Position.Line, t.Position.Column)
	}
	return &record.Problem{Code: "bad_recipe", Message: message, Where: where, Fix: fix}
}

// refuseAnchors keeps aliases out: a short file must not unfold into a huge one,
// and a key must stand where it is read.
func refuseAnchors(root ast.Node) error {
	for _, kind := range []ast.NodeType{ast.AnchorType, ast.AliasType, ast.MergeKeyType} {
		if found := ast.Filter(kind, root); len(found) > 0 {
			return atNode(found[0], "a recipe has no YAML anchors or aliases", "write the value out")
		}
	}
	return nil
}

var nodeUnmarshaler = reflect.TypeFor[yaml.NodeUnmarshaler]()

// checkKeys walks a node beside the type that it will be read into and refuses
// the first key that the type does not have, with the nearest that it has. Types
// that read their own node check their own keys.
func checkKeys(n ast.Node, into any, at string) error {
	return checkKeysOf(n, reflect.TypeOf(into).Elem(), at, true)
}

func checkKeysOf(n ast.Node, t reflect.Type, at string, top bool) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !top && reflect.PointerTo(t).Implements(nodeUnmarshaler) {
		return nil
	}
	if _, null := n.(*ast.NullNode); null {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		m, err := asMapping(n, at)
		if err != nil {
			return err
		}
		return checkStructKeys(m, t, at)
	case reflect.Slice:
		return checkItems(n, t, at)
	}
	return checkScalar(n, t, at)
}

func checkItems(n ast.Node, t reflect.Type, at string) error {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return atNode(n, at+" is a list, and here it is not", "write "+at+": [first, second]")
	}
	for i, item := range seq.Values {
		place := fmt.Sprintf("%s[%d]", at, i)
		if _, null := item.(*ast.NullNode); null {
			return atNode(item, place+" is empty", "write a value, or delete the item")
		}
		if err := checkKeysOf(item, t.Elem(), place, false); err != nil {
			return err
		}
	}
	return nil
}

// checkScalar refuses a value of another kind than the key's. The YAML library
// would draw 10.5 into a whole number and read "10" as one.
func checkScalar(n ast.Node, t reflect.Type, at string) error {
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		if _, ok := n.(*ast.IntegerNode); !ok {
			return atNode(n, at+" is a whole number, and here it is not", "write a number such as 4")
		}
	case reflect.Float64:
		switch n.(type) {
		case *ast.IntegerNode, *ast.FloatNode:
		default:
			return atNode(n, at+" is a number, and here it is not", "write a number such as 0.5")
		}
	case reflect.Bool:
		if _, ok := n.(*ast.BoolNode); !ok {
			return atNode(n, at+" is true or false, and here it is not", "write true or false")
		}
	case reflect.String:
		switch n.(type) {
		case *ast.MappingNode, *ast.MappingValueNode, *ast.SequenceNode:
			return atNode(n, at+" is text, and here it is not", "write it between quotes")
		}
	case reflect.Map:
		if _, err := asMapping(n, at); err != nil {
			return err
		}
	}
	return nil
}

func asMapping(n ast.Node, at string) (*ast.MappingNode, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n, nil
	case *ast.MappingValueNode:
		return ast.Mapping(n.GetToken(), false, n), nil
	}
	if at == "" {
		return nil, atNode(n, "a recipe is a mapping of keys to values", "begin with name: and agent:")
	}
	return nil, atNode(n, fmt.Sprintf("%s is a mapping of keys to values, and here it is not", at), "see a recipe that ships with assay for its form")
}

func checkStructKeys(m *ast.MappingNode, t reflect.Type, at string) error {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) { // the keys of an embedded struct stand beside its own
		if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
			fields[name] = f.Type
		}
	}
	known := make([]string, 0, len(fields))
	for name := range fields {
		known = append(known, name)
	}
	slices.Sort(known)
	for _, v := range m.Values {
		key := keyText(v.Key)
		path := strings.TrimPrefix(at+"."+key, ".")
		field, ok := fields[key]
		if !ok {
			return atNode(v.Key, fmt.Sprintf("unknown key %s%s", path, didYouMean(key, known)), "correct the key or delete the line")
		}
		if err := checkKeysOf(v.Value, field, path, false); err != nil {
			return err
		}
	}
	return nil
}
