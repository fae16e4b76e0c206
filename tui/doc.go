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
// # A screen
//
// A screen is a package tui/<name> with a Model that is a [ui.Screen], a Store
// interface that says what it reads and writes, and a New that takes the
// program's context and its Options. It is plugged in with one line in
// otherScreens (screens.go) and its Store among those of [Store] (options.go);
// keys, tabs, palette and help follow from that. Its Actions use the reserved keys
// ([ui.Reserve], [ui.Moves]) in their one meaning, and others freely; a test over
// all scenes finds collisions.
//
//   - The run goes along: [ui.Screen.Run] is asked when one leaves a screen and
//     given to the next one's Enter. Another screen is asked for with [ui.Go],
//     which can name two runs, a rollout, a selection or a filter as well.
//   - Questions to the store are commands. Update of every screen hears every
//     answer, so an answer carries its screen's own unexported type and a
//     generation, and an outdated one is dropped.
//   - [ui.ChangedMsg] says that the story which runs here committed something.
//   - A screen with a text field is a [ui.Typist], one that keeps its place for
//     tomorrow a [ui.Keeper], one on which digits are not the screens a
//     [ui.DigitTaker].
//   - [ui.Toast], [ui.Failed] and [ui.Ask] say what was done, what went wrong, and
//     ask, with No as the default, before what cannot be undone.
//
// # Where one was
//
// Some seconds after a key, and on the way out, the frame asks every screen for
// its place and saves what changed (places.go); the next day begins there, unless
// something else is asked for. With it goes whose verdicts were on the screen, so
// that a label given after them does not count as blind.
//
// # Promises
//
// An observer never blocks and never loses the last word: what arrives between
// two frames is drawn together. No input or output is done in Update or View. A
// panic in the loop, in a command or in the feeder restores the terminal, writes
// a report without anything that a model or a tool said, and comes back from Run
// as an error. Leaving while work runs asks first; a signal, or a terminal that is
// gone, lets what is in flight finish without asking, and a second one aborts it.
// When Run returns, no story that it began is running and no goroutine of its own
// is left.
package tui
