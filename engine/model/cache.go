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

// requestHash names a whole request: where it goes, all of its body, and its seed, which
// not every body says: the samples of one task differ by it alone.
func requestHash(address string, seed *int64, body []byte) string {
	return record.Identity("model call", struct {
		Address string          `json:"address"`
		Seed    *int64          `json:"seed"`
		Body    json.RawMessage `json:"body"`
	}{address, seed, body})
}

type anewKey struct{}

// Anew is a context whose requests are made though a cache holds their answers, and whose
// answers it does not keep: for those who ask whether somebody answers.
func Anew(ctx context.Context) context.Context { return context.WithValue(ctx, anewKey{}, true) }

// cache is the cache for a request, nil for none.
func (m *Model) cache(ctx context.Context) Cache {
	if ctx.Value(anewKey{}) != nil {
		return nil
	}
	return m.options.Cache
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
	reply.Cached = true
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
