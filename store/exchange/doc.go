// Package exchange reads other people's files into the store and writes the
// store's rows into files for others: the public row of the whileai SDK, any
// JSONL with a mapping, labels as CSV and JSONL, and training files as whileai
// rows, for TRL and for OpenAI.
//
// It promises:
//
//   - Bounded memory. Files are read and written line by line; what is kept is
//     the key of each row and nothing of its text.
//   - One bad line costs one line: it is reported with its number and skipped, or
//     ends the import where that is asked for (strict). Two rows with one key end
//     it always, with both rows named.
//   - A file appears under its name whole or not at all, and none is left where
//     there is nothing to write.
//   - Nothing privileged (references, truth, gold) is in a training file, at any
//     depth.
//   - What a format cannot carry is named in the report.
//
// Functions may be called from several goroutines at once.
package exchange
