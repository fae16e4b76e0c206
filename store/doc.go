// Package store keeps everything of Assay in one SQLite file that a person can
// copy, mail and open with sqlite3: runs, tasks, rollouts, judgments, markers,
// labels, reports. The schema, with a word on every table, is in schema/.
//
// It promises:
//
//   - What was acknowledged is on disk. A method that writes returns after the
//     commit of one transaction, synced (synchronous=FULL).
//   - One writer, many readers. Writes go through one connection behind a mutex
//     and begin immediate; reads go through read-only connections that never wait
//     for a writer. Other processes may do the same to the same file.
//   - Judgments, markers and labels are appended, never overwritten. A lost
//     rollout may be replaced by another attempt, a done one never.
//   - Text from outside is exact: JSON is kept as its bytes, and a readable column
//     that had to be cleaned has its exact text beside it.
//   - A file of a newer Assay, of another program, or damaged, is not written to.
//   - Known key values are masked before anything is written.
//
// A [DB] is safe for concurrent use. Its errors about the file carry an [Error]
// with a code for the program and a sentence with its fix for the person.
package store
