package store

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPlaces(t *testing.T) {
	db := openNew(t)
	ctx := t.Context()
	if err := db.SavePlaces(ctx, map[string]json.RawMessage{"frame": json.RawMessage(`{"screen":3}`), "explore": json.RawMessage(`{"row":7}`)}); err != nil {
		t.Fatal(err)
	}
	if err := db.SavePlaces(ctx, map[string]json.RawMessage{"frame": json.RawMessage(`{"screen":1}`)}); err != nil {
		t.Fatal(err)
	}
	places, err := db.Places(ctx)
	if err != nil || len(places) != 2 || string(places["frame"]) != `{"screen":1}` || string(places["explore"]) != `{"row":7}` {
		t.Errorf("%s, %v", places, err)
	}
	if err := db.SavePlaces(ctx, map[string]json.RawMessage{"frame": json.RawMessage(`{`)}); CodeOf(err) != CodeInvalid {
		t.Errorf("half of JSON gives %v", err)
	}
}

func TestFind(t *testing.T) {
	db := openNew(t)
	ctx := t.Context()
	all := varied(t, db)
	for {
		if more, err := db.IndexWords(ctx, 100); err != nil || !more {
			break
		}
	}
	kinds := func(text string) string {
		found, err := db.Find(ctx, text, 3)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var out []string
		for _, f := range found {
			if f.RunID != "run1" || f.ID == "" || f.Text == "" {
				t.Errorf("%s finds %+v", text, f)
			}
			out = append(out, f.Kind)
		}
		return strings.Join(out, " ")
	}
	for text, want := range map[string]string{
		"run":                    "run",
		"seed":                   "run",
		"":                       "",
		"   ":                    "",
		all[4].Task.ID:           "task",
		all[4].Rollout.ID[:12]:   "rollout",
		"sorry abo":              "rollout rollout rollout",
		`"about sorry"`:          "",
		"%":                      "",
		"支払":                     "rollout rollout rollout",
		"' OR 1=1; --":           "",
		"nothing of the kind is": "",
	} {
		if got := kinds(text); got != want {
			t.Errorf("%q finds %q, want %q", text, got, want)
		}
	}
	if err := db.Hide(ctx, "run1", true); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"run", all[4].Task.ID, "sorry"} {
		if got := kinds(text); got != "" {
			t.Errorf("%q finds %s of a hidden run", text, got)
		}
	}
}
