// Package ui is what every screen is made of: cleaned text, widths, a theme, key
// bindings, virtual lists and transcripts, bars and marks, panes, confirmations,
// the palette.
//
// It imports nothing of the project: a widget knows neither engine nor store.
//
// # Promises
//
// Text from outside passes [Clean] or [CleanLine] before anything else here
// touches it; what they return holds no control character but a line feed, so
// nothing that a model or a tool said can act on the terminal. A drawn row has
// exactly the width that was asked for. A widget draws only what can be seen, so
// its cost does not grow with what it holds.
//
// # Concurrency
//
// Widgets belong to the goroutine that runs the Bubble Tea loop. Clean, CleanLine
// and the width functions keep no state and may be called from anywhere.
//
// # Widths
//
// Text is cut at grapheme clusters and measured as the sum of what each code
// point advances a terminal by. Terminals disagree about joined emoji, so Clean
// takes those apart at a visible mark; what is left has one width everywhere.
package ui
