package model

import (
	"bytes"
	"encoding/json"

	"assay/engine/record"
)

// Cache keeps answers by what was asked. A cache that fails is passed by: an answer
// costs more than a place in a file. It is safe for concurrent use.
type Cache interface {
	// Cached is the value under a key; found is false where there is none.
	Cached(key string) (value []byte, found bool, err error)
	// Cache keeps a value under a key.
	Cache(key string, value []byte) error
}

// cacheKey names a whole request: where it goes and all of its body.
func cacheKey(address string, body []byte) string {
	return record.Identity("model call", struct {
		Address string          `json:"address"`
		Body    json.RawMessage `json:"body"`
	}{address, body})
}

// recall is the kept answer to a request. It costs nothing anew, though its tokens are
// counted.
func recall(c Cache, key string, listen func(record.Delta)) (record.ChatReply, bool) {
	value, found, err := c.Cached(key)
	if err != nil || !found {
		return record.ChatReply{}, false
	}
	var reply record.ChatReply
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.DisallowUnknownFields() // of another version
	if dec.Decode(&reply) != nil {
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
func keep(c Cache, key string, reply *record.ChatReply) {
	if reply.FinishReason == record.FinishError {
		return
	}
	if value, err := record.Marshal(reply); err == nil {
		_ = c.Cache(key, value)
	}
}
