package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"assay/store"
)

// TestPosedTasksMeetTheRecipesTools poses one recipe's tasks to another, whose tools are
// others: what its agent is shown is what its rows are graded by and trained with.
func TestPosedTasksMeetTheRecipesTools(t *testing.T) {
	p := newPlace(t)
	for name, tool := range map[string]string{"a": "get_order", "b": "get_parcel"} {
		p.write(name+"/recipe.yaml", fmt.Sprintf("name: %s\nagent: {builtin: seeded}\ntools: tools.json\nsimulate: {mode: eval, holdout: 1, situations: 6, repeats: 2}\ngrade: {markers: {m: '1'}, reward: {marker: m}}\nafter: {system_prompt: Be brief.}\n", name))
		p.write(name+"/tools.json", fmt.Sprintf(`[{"name":%q,"description":"Look it up.","parameters":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}]`, tool))
	}
	p.must("run", "a")
	if _, errs, code := p.run("run", "b", "--tasks", "last"); code != 0 && code != exitCouldNot { // hollow: nobody asks for its tool
		t.Fatalf("exit %d: %s", code, errs)
	}
	db, err := store.Open(t.Context(), filepath.Join(p.dir, "assay.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	lines, err := db.Runs(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, line := range lines {
		run, err := db.Run(t.Context(), line.ID)
		if err != nil {
			t.Fatal(err)
		}
		if run.Recipe != "b" {
			continue
		}
		seen++
		if len(run.Tools) != 1 || run.Tools[0].Name != "get_parcel" {
			t.Errorf("the %s run was shown %v, want the recipe's own get_parcel", run.Role, run.Tools)
		}
	}
	if seen == 0 {
		t.Errorf("no run of recipe b among %d", len(lines))
	}
}
