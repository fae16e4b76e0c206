package grade

import (
	"strings"

	"assay/engine/record"
)

// outcome is what came of one call, as an agent could read it off the result.
type outcome uint8

const (
	outOK         outcome = iota
	outNotFound           // there is no such thing
	outDone               // it was already done
	outAmbiguous          // more than one thing answers
	outRefused            // the arguments were wrong: a correction is asked for
	outUndeclared         // there is no such tool
	outTimeout
	outDenied    // permission denied
	outFailed    // any other error
	outMalformed // a result that cannot be read
	outStale     // a result that says it is old
)

// failed reports outcomes that leave the call's purpose unmet because something
// broke, rather than because the world said no.
func (o outcome) failed() bool {
	return o == outTimeout || o == outDenied || o == outFailed || o == outMalformed
}

// outcomeOf reads a result. An unknown status is no failure: {"status": "paid"},
// and on a read also {"status": "failed"}, is what a record says, not what became
// of the call.
func outcomeOf(s *record.Step, leaves []leaf, kind record.ToolKind) outcome {
	switch s.Fault {
	case "":
	case record.ConditionMalformed:
		return outMalformed
	case record.ConditionStale:
		return outStale
	case record.ConditionTimeout:
		return outTimeout
	case record.ConditionPermissionDenied:
		return outDenied
	}
	for i := range leaves {
		if out, found := outcomeOfMember(&leaves[i], kind); found {
			return out
		}
	}
	if hollow(leaves) && !s.IsError {
		return outMalformed
	}
	if len(leaves) == 1 && leaves[0].depth == 0 && leaves[0].kind == 's' {
		if out, found := outcomeOfText(leaves[0].value, s.IsError); found {
			return out
		}
	}
	if s.IsError {
		return outFailed
	}
	return outOK
}

// outcomeOfMember reads the members by which tools say that a call failed.
func outcomeOfMember(l *leaf, kind record.ToolKind) (outcome, bool) {
	if l.depth == 0 || l.depth > 2 {
		return outOK, false
	}
	switch l.key {
	case "error", "error_code", "code", "errors":
		if l.kind != 's' || l.value == "" || (l.key == "code" && l.depth != 2) {
			return outOK, false
		}
		if out, found := codes[l.value]; found {
			return out, true
		}
		if l.key == "code" {
			return outOK, false
		}
		if out, found := wordsOfFailure(lowerASCII(l.value)); found {
			return out, true
		}
		return outFailed, true
	case "cached", "stale":
		if l.kind == 'b' && l.value == "true" {
			return outStale, true
		}
	case "as_of", "last_updated", "age":
		if l.kind == 's' && strings.HasSuffix(l.value, " ago") {
			return outStale, true
		}
	case "success", "ok":
		if l.depth == 1 && l.kind == 'b' && l.value == "false" {
			return outFailed, true
		}
	case "status", "result":
		if l.depth != 1 || l.kind != 's' {
			return outOK, false
		}
		if out, found := codes[lowerASCII(l.value)]; found && (out == outDone || kind != record.ToolRead) {
			return out, true
		}
	}
	return outOK, false
}

// hollow reports a result that says nothing where something belongs: an object of
// nothing but nulls, or a web server's page. An empty text is none: tools that only
// take note answer so.
func hollow(leaves []leaf) bool {
	if len(leaves) == 1 && leaves[0].depth == 0 && leaves[0].kind == 's' {
		text := strings.TrimSpace(leaves[0].value)
		return strings.HasPrefix(lowerASCII(text), "<html") || strings.HasPrefix(lowerASCII(text), "<!doctype")
	}
	for i := range leaves {
		if leaves[i].kind != '0' || leaves[i].depth == 0 {
			return false
		}
	}
	return len(leaves) > 1
}

// codes are the words of the agent protocol and the common words for the same.
var codes = map[string]outcome{
	record.ErrNotFound:         outNotFound,
	record.ErrUnknownTool:      outUndeclared,
	record.ErrInvalidArguments: outRefused,
	record.ErrTimeout:          outTimeout,
	record.ErrPermissionDenied: outDenied,
	record.ErrAlreadyDone:      outDone,
	record.ErrAmbiguous:        outAmbiguous,
	"already_exists":           outDone,
	"forbidden":                outDenied,
	"unauthorized":             outDenied,
	"error":                    outFailed,
	"failed":                   outFailed,
	"failure":                  outFailed,
}

// maxErrorText is how long a text may be and still be read as an error: a
// document that mentions one is no failure.
const maxErrorText = 300

func outcomeOfText(text string, isError bool) (outcome, bool) {
	if len(text) > maxErrorText {
		return outOK, false
	}
	lower := strings.TrimSpace(lowerASCII(text))
	if !isError && !strings.HasPrefix(lower, "error") && !strings.HasPrefix(lower, "failed") && !strings.HasPrefix(lower, "exception") {
		return outOK, false
	}
	if out, found := wordsOfFailure(lower); found {
		return out, true
	}
	return outFailed, true
}

// wordsOfFailure reads an error message in prose.
func wordsOfFailure(lower string) (outcome, bool) {
	for _, w := range failureWords {
		if strings.Contains(lower, w.words) {
			return w.out, true
		}
	}
	return outOK, false
}

var failureWords = []struct {
	words string
	out   outcome
}{
	{"not found", outNotFound}, {"does not exist", outNotFound}, {"no such", outNotFound},
	{"already", outDone},
	{"timed out", outTimeout}, {"timeout", outTimeout},
	{"permission", outDenied}, {"forbidden", outDenied}, {"not authorized", outDenied}, {"unauthorized", outDenied},
	{"ambiguous", outAmbiguous}, {"more than one", outAmbiguous},
	{"invalid argument", outRefused}, {"missing required", outRefused},
}
