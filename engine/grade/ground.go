package grade

import (
	"bytes"
	"strings"
)

// ground counts the arguments of a call that must come from somewhere, and those
// that do: from the user, the policy, the tools' schemas or an earlier result.
func (t *trace) ground(c *call) {
	for i, l := range t.argsOf(c) {
		if !mustBeGrounded(&l) || t.scanned > maxScanned {
			continue
		}
		c.counted++
		switch {
		case t.knows(&l):
			c.grounded++
		case c.ungrounded < 0:
			c.ungrounded = c.args.from + i
		}
	}
}

// knows reports whether a value stood anywhere before.
func (t *trace) knows(l *leaf) bool {
	if isPlaceholder(l.key, l.value) {
		return t.saidByUser(l.value)
	}
	if t.stands(l.value) {
		return true
	}
	if hasDigit(l.value) {
		return false
	}
	// A name may be put together or put in the plural: each of its longer words
	// must stand somewhere.
	for _, w := range nameTokens(l.value) {
		if len(w) >= 4 && !t.stands(strings.TrimSuffix(w, "s")) {
			return false
		}
	}
	return strings.ContainsAny(l.value, " _-./") || t.stands(strings.TrimSuffix(l.value, "s"))
}

// stands reports whether a value was anywhere before, whatever its case and its
// hyphens.
//
// In a giant of a transcript it stops looking after [maxScanned] bytes: what comes
// after is not counted as an argument, and nothing in it is called invented.
func (t *trace) stands(value string) bool {
	if t.scanned += len(t.known) + len(t.frame.known); t.scanned > maxScanned {
		return true
	}
	t.needle = appendSquashed(t.needle[:0], value)
	needle := t.needle[:len(t.needle)-1]
	return len(needle) == 0 || bytes.Contains(t.known, needle) || bytes.Contains(t.frame.known, needle)
}

// maxScanned bounds the look for where values come from to some tens of
// milliseconds. A usual rollout takes a ten-thousandth of it.
const maxScanned = 1 << 28

func (t *trace) saidByUser(value string) bool {
	for _, text := range t.asked {
		if strings.Contains(string(text), value) {
			return true
		}
	}
	return false
}

// maxGroundedValue is how long a value may be and still be taken for a name, an
// id or a number rather than prose of the agent's own.
const maxGroundedValue = 64

// mustBeGrounded leaves out what an agent may rightly compose: booleans, prose,
// code, single digits, dates and times ("tomorrow" becomes one), and codes of up
// to three letters (an airport for a city).
func mustBeGrounded(l *leaf) bool {
	switch {
	case l.kind == 'n':
		return len(l.value) > 1
	case l.kind != 's', l.value == "", len(l.value) > maxGroundedValue:
		return false
	case freeText(l.key), codeArgument(l.key), strings.Count(l.value, " ") > 4:
		return false
	}
	return !isDateOrTime(l.value) && !(len(l.value) <= 3 && !hasDigit(l.value))
}

// freeText reports argument names that take prose.
func freeText(key string) bool {
	switch key {
	case "message", "reason", "note", "notes", "summary", "query", "text", "body", "comment", "description",
		"expression", "thought", "subject", "title", "question", "answer", "details", "explanation", "search", "prompt":
		return true
	}
	return false
}

// isReference reports argument names that take the name of a thing.
func isReference(key string) bool {
	switch lowerASCII(key) {
	case "order", "ticket", "invoice", "reservation", "booking", "account", "customer", "user", "service", "host", "incident", "device", "subscription":
		return true
	}
	cut := strings.LastIndexAny(key, "_-.") + 1
	switch last := lowerASCII(key[cut:]); last {
	case "id", "ids", "uuid", "number", "no", "ref", "reference", "sku", "email", "username":
		return true
	}
	return strings.HasSuffix(key, "Id") || strings.HasSuffix(key, "ID") || strings.HasSuffix(key, "Number")
}

// isPlaceholder reports values that stand for a value: what a schema, a manual or
// an example says instead of a real reference.
func isPlaceholder(key, value string) bool {
	v := lowerASCII(strings.TrimSpace(value))
	if v == "" {
		return false
	}
	switch v {
	case "string", "number", "integer", "id", "uuid", "none", "null", "undefined", "n/a", "na", "tbd", "todo", "example",
		"placeholder", "sample", "dummy", "foo", "foobar", "abc123", "12345", "123456", "first name", "last name", "username",
		"user@example.com", "email@example.com", "john.doe@example.com", "jane.doe@example.com", "test@example.com":
		return true
	}
	switch {
	case strings.Trim(v, "x") == "" && len(v) >= 3, strings.Trim(v, "0") == "" && len(v) >= 4:
		return true
	case v[0] == '<' && v[len(v)-1] == '>', v[0] == '[' && v[len(v)-1] == ']', strings.HasPrefix(v, "{{"), strings.HasPrefix(v, "${"):
		return true
	case strings.HasPrefix(v, "your_"), strings.HasPrefix(v, "your-"), strings.HasPrefix(v, "insert_"), strings.HasSuffix(v, "_here"):
		return true
	}
	return squash(v) == squash(key) && len(v) > 2
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// isDateOrTime reports values of digits and the signs of dates and times, with a
// T, a Z or a month's sign at most: "2024-05-24", "15:00", "2024-05-14T06:33:04Z".
func isDateOrTime(s string) bool {
	digits, signs := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '-' || c == ':' || c == '/':
			signs++
		case c == 'T' || c == 'Z' || c == '.' || c == '+' || c == ' ':
		default:
			return false
		}
	}
	return signs > 0 && digits >= 3
}
