// Package axes reads what varies out of an agent's tools and policy: which
// tools there are, which rules it works under, and the six axes that a
// situation is a point on.
//
// Everything here but [ListTools] is a pure function of its arguments, in their
// order: no map order, no clock, no randomness. The same tools and policy
// give the same axes on every machine, which is what lets situations keep their
// ids. Nothing that is passed in is written to, so all of it may be called from
// many goroutines.
//
// Tools and policies come from outside. They are parsed, never interpreted, and
// every pass over them takes time linear in their length.
package axes
