package model

import (
	"bytes"
	"context"
	"encoding/json"

	"assay/engine/record"
)

// Cache keeps answers by what was asked, as the store does. One that fails is passed by:
// an answer is worth more than its place in a file. It is safe for concurrent use.
type Cache interface {
	// CachedReply is the reply to a request, by the request's hash.
	CachedReply(ctx context.Context, request string) (reply []byte, found bool, err error)
	// CacheReply keeps a reply, which is JSON.
	CacheReply(ctx context.Context, request string, reply []byte) error
}

// requestHash names a whole request: where it goes and all of its body.
func requestHash(address string, body []byte) string {
	return record.Identity("model call", struct {
		Address string          `json:"address"`
		Body    json.RawMessage `json:"body"`
	}{address, body})
}

// recall is the kept answer to a request. It costs nothing anew, though its tokens are
// told.
func recall(ctx context.Context, c Cache, request string, listen func(record.Delta)) (reply record.ChatReply, found bool) {
	value, found, err := c.CachedReply(ctx, request)
	if err != nil || !found {
		return record.ChatReply{}, false
	}
	known := json.NewDecoder(bytes.NewReader(value))
	known.DisallowUnknownFields() // of another version's
	if known.Decode(&reply) != nil {
		return record.ChatReply{}, false
	}
	if reply.Usage != nil {
		reply.Usage.Cost = 0
	}
	if listen != nil {
		if reply.Reasoning != "" {
			listen(record.Delta{Text: reply.Reasoning, Reasoning: true})
		}
		if reply.Text != "" {
			listen(record.Delta{Text: reply.Text})
		}
	}
	return reply, true
}

// keep stores an answer that came to its own end.
func keep(ctx context.Context, c Cache, request string, reply *record.ChatReply) {
	if reply.FinishReason == record.FinishError {
		return
	}
	if value, err := record.Marshal(reply); err == nil {
		_ = c.CacheReply(ctx, request, value)
	}
}
