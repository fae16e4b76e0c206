package store

import (
	"slices"
	"testing"

	"assay/engine/record"

	"github.com/google/go-cmp/cmp"
)

func TestPreferences(t *testing.T) {
	db, ids := bench(t)
	// ids are ordered by task: three of each.
	want := []record.Preference{
		{First: ids[1], Second: ids[0], Choice: record.ChoiceFirst, Annotator: "ann", At: start},
		{First: ids[3], Second: ids[5], Choice: record.ChoiceTie, Annotator: "bob", At: start},
		{First: ids[3], Second: ids[5], Choice: record.ChoiceRetracted, Annotator: "bob", At: start},
	}
	for i := range want {
		no, err := db.AddPreference(t.Context(), want[i])
		if err != nil {
			t.Fatal(err)
		}
		want[i].ID = no
	}
	got, err := db.Preferences(t.Context(), "run1")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("(%v) (-want +got):\n%s", err, diff)
	}
	for name, p := range map[string]record.Preference{
		"one rollout":    {First: ids[0], Second: ids[0], Choice: record.ChoiceTie, Annotator: "ann"},
		"two tasks":      {First: ids[0], Second: ids[3], Choice: record.ChoiceTie, Annotator: "ann"},
		"no such choice": {First: ids[0], Second: ids[1], Choice: "both", Annotator: "ann"},
		"nobody":         {First: ids[0], Second: ids[1], Choice: record.ChoiceTie},
	} {
		if _, err := db.AddPreference(t.Context(), p); CodeOf(err) != CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRubricVersions(t *testing.T) {
	db := openNew(t)
	version := func(text record.Text, parent string) record.Rubric {
		return record.Rubric{Hash: record.RubricHash(text), Name: "support", Parent: parent, Text: text, CreatedAt: start}
	}
	first := version("Be \x00 honest \xed\xa0\x80", "")
	second := version("Be honest, and brief.", first.Hash)
	for _, r := range []record.Rubric{first, second, version(second.Text, "")} { // the third changes nothing
		if err := db.SaveRubric(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if looks, err := db.CountOtherLook(t.Context(), second.Hash); err != nil || looks != 1 {
		t.Errorf("%d looks (%v)", looks, err)
	}
	if looks, err := db.CountOtherLook(t.Context(), second.Hash); err != nil || looks != 2 {
		t.Errorf("%d looks (%v)", looks, err)
	}
	second.OtherLooks = 2
	got, err := db.Rubrics(t.Context(), "support")
	if diff := cmp.Diff([]record.Rubric{first, second}, got); err != nil || diff != "" {
		t.Errorf("(%v) (-want +got):\n%s", err, diff)
	}
	if r, err := db.Rubric(t.Context(), first.Hash); err != nil || r.Text != first.Text {
		t.Errorf("%+v (%v)", r, err)
	}
	if list, err := db.Rubrics(t.Context(), "others"); err != nil || len(list) != 0 {
		t.Errorf("others: %v (%v)", list, err)
	}
	orphan := version("alone", "0123456789abcdef")
	lying := version("text", "")
	lying.Hash = first.Hash
	_, errLook := db.CountOtherLook(t.Context(), "none")
	_, errRead := db.Rubric(t.Context(), "none")
	for name, c := range map[string]struct {
		err  error
		code Code
	}{"no parent": {db.SaveRubric(t.Context(), orphan), CodeNotFound}, "another's hash": {db.SaveRubric(t.Context(), lying), CodeInvalid},
		"no text": {db.SaveRubric(t.Context(), record.Rubric{}), CodeInvalid}, "a look at none": {errLook, CodeNotFound}, "none": {errRead, CodeNotFound}} {
		if CodeOf(c.err) != c.code {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

func TestCorrections(t *testing.T) {
	db, ids := bench(t)
	for _, c := range []record.Correction{
		{RolloutID: ids[0], Cause: record.CauseWorld, Annotator: "ann", Why: "the record was wrong", At: start},
		{RolloutID: ids[1], Cause: record.CauseUser, Annotator: "ann", At: start},
		{RolloutID: ids[0], Cause: record.CauseAgent, Annotator: "bob", Why: "no, it guessed", At: start},
		{RolloutID: ids[1], Annotator: "ann", At: start}, // taken back
	} {
		if _, err := db.AddCorrection(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	got, err := db.Corrections(t.Context(), "run1")
	want := []record.Correction{{ID: 3, RolloutID: ids[0], Cause: record.CauseAgent, Annotator: "bob", Why: "no, it guessed", At: start}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("(%v) (-want +got):\n%s", err, diff)
	}
	for name, c := range map[string]record.Correction{"an odd cause": {RolloutID: ids[0], Cause: "weather", Annotator: "ann"}, "nobody": {RolloutID: ids[0], Cause: record.CauseAgent},
		"no rollout": {RolloutID: "ffff", Cause: record.CauseAgent, Annotator: "ann"}} {
		if _, err := db.AddCorrection(t.Context(), c); CodeOf(err) != CodeInvalid && CodeOf(err) != CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTagsAndDrafts(t *testing.T) {
	db, ids := bench(t)
	for _, tag := range []record.Tag{{Name: "tone", Meaning: "rude"}, {Name: "leak"}, {Name: "tone", Meaning: "curt"}} {
		if err := db.SaveTag(t.Context(), tag); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := db.Tags(t.Context()); err != nil || !slices.Equal(got, []record.Tag{{Name: "tone", Meaning: "curt"}, {Name: "leak"}}) {
		t.Errorf("tags %v (%v)", got, err)
	}
	if err := db.SaveTag(t.Context(), record.Tag{Name: " "}); CodeOf(err) != CodeInvalid {
		t.Errorf("a tag without a name: %v", err)
	}
	draft := func(annotator string, note record.Text) {
		t.Helper()
		if err := db.SaveDraft(t.Context(), record.Draft{RolloutID: ids[0], Annotator: annotator, Note: note}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(annotator string, note record.Text) {
		t.Helper()
		if got, err := db.Draft(t.Context(), ids[0], annotator); err != nil || got != note {
			t.Errorf("%s's draft is %q, want %q (%v)", annotator, got, note, err)
		}
	}
	draft("ann", "half a th")
	draft("ann", "half a thought 漢字")
	draft("bob", "mine")
	want("ann", "half a thought 漢字")
	draft("ann", "")
	want("ann", "")
	want("bob", "mine")
	if err := db.SaveDraft(t.Context(), record.Draft{RolloutID: "ffff", Annotator: "ann", Note: "x"}); CodeOf(err) != CodeNotFound {
		t.Errorf("a draft of nothing: %v", err)
	}
}
