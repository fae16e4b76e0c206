package record

import (
	"fmt"
	"strings"
)

// Problem is an error for a person: what is wrong, where, and what to do next.
// Code is for programs; it is what --json prints.
type Problem struct {
	Code    string // a word such as bad_recipe, not_found, busy
	Message string // one sentence
	Where   string // file:line:column, a run, a row; "" where that says nothing
	Fix     string // the next command, or the field to change
	Err     error  // the cause, or nil
}

// Error is the whole of it on one line: "where: message; fix". A message that begins
// with where says it once.
func (p *Problem) Error() string {
	s := p.Message
	if p.Where != "" && !strings.HasPrefix(s, p.Where+" ") {
		s = p.Where + ": " + s
	}
	if p.Fix != "" {
		s += "; " + p.Fix
	}
	return s
}

// Unwrap gives the cause.
func (p *Problem) Unwrap() error { return p.Err }

// Problemf makes a problem with a code, a fix and a sentence.
func Problemf(code, fix, format string, args ...any) *Problem {
	err := fmt.Errorf(format, args...)
	return &Problem{Code: code, Message: err.Error(), Fix: fix, Err: err}
}
