package model

import "strings"

const (
	thinkOpens  = "<think>"
	thinkCloses = "</think>"
)

// thinkSplitter parts what stands in <think> tags from what is said, piece by piece: a
// tag may be cut anywhere. Blanks behind a closing tag go with it. A closing tag
// without an opening one ends a thought that began with the answer, since some chat
// templates open it in the prompt.
//
// The pieces that it gives are for a screen; what the whole came to is said and thought.
type thinkSplitter struct {
	said, thought strings.Builder
	held          string // the start of what may be a tag
	inside        bool
	blanks        bool // behind a closing tag
}

// write takes the next piece and gives what can be shown of it.
func (s *thinkSplitter) write(piece string) (said, thought string) {
	fromSaid, fromThought := s.said.Len(), s.thought.Len()
	text := s.held + piece
	s.held = ""
	for text != "" {
		at, tag := nextTag(text)
		if at < 0 {
			keep := tagStart(text)
			s.put(text[:len(text)-keep])
			s.held = text[len(text)-keep:]
			break
		}
		s.put(text[:at])
		text = text[at+len(tag):]
		if tag == thinkCloses {
			if !s.inside && s.thought.Len() == 0 { // the tag that opened it was in the prompt
				s.thought.WriteString(s.said.String())
				s.said.Reset()
				fromSaid, fromThought = 0, s.thought.Len()
			}
			s.blanks = true
		}
		s.inside = tag == thinkOpens
	}
	return s.said.String()[fromSaid:], s.thought.String()[fromThought:]
}

// finish gives what was held back, which was no tag.
func (s *thinkSplitter) finish() (said, thought string) {
	fromSaid, fromThought := s.said.Len(), s.thought.Len()
	s.put(s.held)
	s.held = ""
	return s.said.String()[fromSaid:], s.thought.String()[fromThought:]
}

func (s *thinkSplitter) put(text string) {
	if s.inside {
		s.thought.WriteString(text)
		return
	}
	if s.blanks {
		text = strings.TrimLeft(text, " \t\r\n")
		s.blanks = text == ""
	}
	s.said.WriteString(text)
}

// nextTag is where the first tag of a text stands, -1 without one.
func nextTag(text string) (at int, tag string) {
	opens, closes := strings.Index(text, thinkOpens), strings.Index(text, thinkCloses)
	if closes >= 0 && (opens < 0 || closes < opens) {
		return closes, thinkCloses
	}
	return opens, thinkOpens
}

// tagStart is how many bytes at a text's end may be the start of a tag.
func tagStart(text string) int {
	for n := min(len(text), len(thinkCloses)-1); n > 0; n-- {
		end := text[len(text)-n:]
		if strings.HasPrefix(thinkOpens, end) || strings.HasPrefix(thinkCloses, end) {
			return n
		}
	}
	return 0
}
