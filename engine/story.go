package engine

import (
	"fmt"
	"runtime/debug"

	"assay/engine/record"
)

// Story is a story that runs in the background of this process. Its control's
// methods never block.
type Story struct {
	*Control
	done   chan struct{}
	result *StoryResult
	err    error
}

// Begin runs a story in a goroutine of its own: tell is a call of [Engine.Run] or
// [Engine.Resume] with the control that it is given. A panic in it is the
// story's error.
func Begin(tell func(*Control) (*StoryResult, error)) *Story {
	s := &Story{Control: &Control{}, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer func() {
			if p := recover(); p != nil {
				s.err = &record.Problem{Code: "bug", Message: fmt.Sprintf("a fault in assay: %v\n%s", p, debug.Stack()), Fix: "resume the run; if it comes again, report it with these lines"}
			}
		}()
		s.result, s.err = tell(s.Control)
	}()
	return s
}

// Done is closed when the story has ended and all of it is on disk.
func (s *Story) Done() <-chan struct{} { return s.done }

// Err is why the story could not be done; nil while it runs and where it could.
func (s *Story) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Result is what came of the story; nil while it runs and where it could not be
// done.
func (s *Story) Result() *StoryResult {
	select {
	case <-s.done:
		return s.result
	default:
		return nil
	}
}
