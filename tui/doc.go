// Package tui is the app: the frame around the screens, the way from an engine's
// events to them, and what holds whatever happens to it.
//
//	engine, many goroutines          one feeder            the Bubble Tea loop
//	  observe(event) ─► mailbox ─► at most one News a frame ─► root ─► screen
//	                                                            │
//	                     store ◄── commands, with generations ──┘
//
// The root only routes: to the screen in front, to the box over it (a question,
// the palette, help), and back. Each screen is its own package and keeps its own
// state; what is true is in the store.
//
// # Promises
//
// An observer never blocks and never loses the last word: what arrives between
// two frames is drawn together. No input or output is done in Update or View. A
// panic in the loop, in a command or in the feeder restores the terminal, writes
// a report without anything that a model or a tool said, and comes back from Run
// as an error. Leaving while work runs asks first; when Run returns, no story
// that it began is running and no goroutine of its own is left.
package tui
