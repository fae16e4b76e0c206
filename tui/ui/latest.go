package ui

import "context"

// Latest is a kind of question of which only the latest counts: asking anew cancels
// what is on its way, where a [Question] waits for it. It is for what takes long or
// is given up. The zero value has asked nothing.
type Latest struct {
	gen    int
	cancel context.CancelFunc
}

// Ask begins anew: the context is for the command that finds the answer, and the
// generation comes back with it.
func (l *Latest) Ask(ctx context.Context) (context.Context, int) {
	l.Drop()
	ctx, l.cancel = context.WithCancel(ctx)
	return ctx, l.gen
}

// Answered takes note of an answer and reports whether it is still wanted.
func (l *Latest) Answered(gen int) bool {
	if gen != l.gen || l.cancel == nil {
		return false
	}
	l.cancel()
	l.cancel = nil
	return true
}

// Busy reports whether an answer is awaited.
func (l *Latest) Busy() bool { return l.cancel != nil }

// Drop gives up what is on its way.
func (l *Latest) Drop() {
	if l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
	l.gen++
}
