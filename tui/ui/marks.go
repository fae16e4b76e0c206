package ui

import (
	"fmt"
	"time"
)

// Mark is a sign of one cell with the word that says the same.
type Mark struct {
	Sign  string
	Word  string
	Style Style
}

// Pass, Fail and the rest are how a rollout stands.
func (t Theme) Pass() Mark     { return Mark{"✓", "pass", t.Good} }
func (t Theme) Fail() Mark     { return Mark{"✗", "fail", t.Bad} }
func (t Theme) Unjudged() Mark { return Mark{"?", "no verdict", t.Warn} }
func (t Theme) Finished() Mark { return Mark{"·", "done", t.Quiet} }
func (t Theme) Lost() Mark     { return Mark{"!", "lost", t.Warn} }
func (t Theme) Aborted() Mark  { return Mark{"~", "aborted", t.Quiet} }
func (t Theme) Running() Mark  { return Mark{"◌", "running", t.Info} }
func (t Theme) Partly() Mark   { return Mark{"◐", "partial", t.Warn} }

// Age is how long ago something was, in one unit: 12s, 5m, 3h, 8d.
func Age(d time.Duration) string {
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// Span of time that is left or was taken, in two units: 12s, 4m 05s, 3h 20m.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return "<1s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Round(time.Second).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Count is a whole number with its thousands set apart: 12,345.
func Count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural is a count with its noun: 1 task, 2 tasks.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}
