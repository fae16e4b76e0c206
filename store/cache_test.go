package store

import "testing"

func TestCachedReplies(t *testing.T) {
	db := openNew(t)
	ctx := t.Context()
	if _, found, err := db.CachedReply(ctx, "h1"); found || err != nil {
		t.Errorf("found %v in a new file, %v", found, err)
	}
	odd := `{"Text":"lone \ud800, NUL \u0000, é"}`
	for _, reply := range []string{odd, `{"Text":"another"}`} {
		if err := db.CacheReply(ctx, "h1", []byte(reply)); err != nil {
			t.Fatal(err)
		}
	}
	if reply, found, err := db.CachedReply(ctx, "h1"); !found || err != nil || string(reply) != odd {
		t.Errorf("%s, %v, %v: want the first one, byte for byte", reply, found, err)
	}
	if _, found, _ := db.CachedReply(ctx, "h2"); found {
		t.Error("another request is found")
	}
	for request, reply := range map[string]string{"h3": `{`, "": `{}`} {
		if err := db.CacheReply(ctx, request, []byte(reply)); CodeOf(err) != CodeInvalid {
			t.Errorf("%q: %s: %v", request, reply, err)
		}
	}
}
