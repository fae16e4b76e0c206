// Package record holds the nouns of Assay: what a task, a rollout, a judgment,
// a marker and a label are, how each gets its identity, and how one becomes a
// row that other tools can read.
//
// It imports nothing of the project and does no I/O. Every other package speaks
// in these types. Values are plain data: they may be shared by goroutines as
// long as nobody writes to them, and nothing here writes to what it is given.
//
// # The field's words
//
// A situation is a point on the axes. A task is a situation with its wording.
// A rollout is one attempt at a task, a group the k rollouts of one task. A
// judgment is what one scorer said of one rollout, a marker one named number,
// and gold what people said.
//
// # Identity
//
// An id is the first 16 hex digits of SHA-256 over its kind, a newline and
// canonical JSON (RFC 8785); see [Identity]. Ids never hold a position, a time
// or anything of the machine, so the same situation has the same id everywhere.
// Random draws come from a [Stream] named by what the draw is for.
package record
