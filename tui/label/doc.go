// Package label is the screen on which a person says by hand what passes: one
// rollout at a time, as a queue shows it, with one key a verdict.
//
// It is blind: what it reads of a rollout holds no verdict and nobody's labels, so
// neither can be shown before the label is on disk, and what the labels say of the
// judge is read only when it is asked for. A label is told as saved when the store
// has said so. While one is on its way, and until a card has been on the screen
// long enough to be seen, keys that judge do nothing: none is applied to a card
// that was not read. Every act is a row of its own; undo adds one.
//
// A Model belongs to the goroutine that runs the Bubble Tea loop.
package label
