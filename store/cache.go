package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// CachedReply is the reply that was kept to a request, by the request's hash; found is
// false where none was.
func (db *DB) CachedReply(ctx context.Context, request string) (reply []byte, found bool, err error) {
	err = db.each(ctx, func(row scanner) error {
		var text string
		err := row.Scan(&text)
		reply, found = []byte(text), true
		return err
	}, "SELECT reply FROM cache WHERE request_hash = ?", request)
	return reply, found, err
}

// CacheReply keeps a reply, which is JSON, to a request. The first one that is kept
// stands: two askers of one question get one answer from then on.
func (db *DB) CacheReply(ctx context.Context, request string, reply []byte) error {
	if request == "" || !json.Valid(reply) {
		return &Error{Code: CodeInvalid, Where: request, Message: fmt.Sprintf("the reply to %q is no JSON, or the request has no hash", request), Fix: "give both"}
	}
	return db.tx(ctx, func(t *tx) error {
		return t.exec("INSERT INTO cache (request_hash, reply, cached_at) VALUES (?, ?, ?) ON CONFLICT (request_hash) DO NOTHING", request, string(reply), timeText(db.now()))
	})
}
