// Package report draws a delta report: its headline, its metrics as a forest plot, its
// slices, its warnings. Live shows one as a page, Delta takes it apart line by line.
//
// What it draws has exactly the width that was asked for, and text from the report is
// cleaned here. Its functions keep no state.
package report
