package world

import (
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"assay/engine/record"
)

// Words that records are made of. They are plain on purpose: a record must read
// like one and must not steer anybody.
var (
	firstNames = []string{"Amara", "Bruno", "Chen", "Dalia", "Elif", "Farid", "Greta", "Hana", "Ivo", "Joana", "Kwame", "Lena", "Mateo", "Nadia", "Olek", "Priya"}
	lastNames  = []string{"Adeyemi", "Baros", "Cho", "Demir", "Eriksen", "Fontaine", "Gupta", "Haddad", "Ito", "Jansen", "Kowalski", "Lindqvist", "Moreno", "Novak", "Okafor", "Petrov"}
	things     = []string{"Aster", "Birch", "Cobalt", "Drift", "Ember", "Fjord", "Grove", "Harbor", "Iris", "Juniper", "Kestrel", "Linden"}
	titles     = []string{"follow-up from last week", "regular check", "open points", "handover", "first look", "weekly summary", "after the last change", "usual procedure"}
	prose      = []string{"Reviewed last week; no open questions.", "Nothing unusual in the last seven days.", "Prepared by the team and checked once.", "See the earlier entry for the background.", "Waiting for the next regular check.", "Covers the usual cases; exceptions go to the owner."}
	steps      = []string{"Check the dashboards for the last hour.", "Make sure that no other change is in progress.", "Take one instance out and watch it for five minutes.", "Carry the change out.", "Watch the error rate for ten minutes.", "Tell the owner what was done.", "If it does not recover, escalate to the owner."}
	// A city and the country at the same place belong together.
	cities    = []string{"Lisbon", "Oslo", "Nairobi", "Osaka", "Denver", "Lyon", "Krakow", "Quito"}
	countries = []string{"PT", "NO", "KE", "JP", "US", "FR", "PL", "EC"}
	streets   = []string{"Mill Lane", "Station Road", "Harbour Street", "Park Avenue", "Hill Road", "Orchard Way"}
	services  = []string{"checkout", "search", "billing", "auth", "inventory", "notifications", "gateway", "reports"}
	words     = []string{"regular", "standard", "primary", "default", "general", "current"}
)

func pick(words []string, u uint64) string { return words[u%uint64(len(words))] }

// text draws the text of a field.
func (d *drawing) text(s *shape, u uint64) string {
	if s.class == classStatus {
		return d.statusText(s, u)
	}
	if s.class == classID {
		return d.idText(s, u)
	}
	if s.example != nil {
		return *s.example
	}
	if t, ok := formatted(s, u, d.w.dials.Now); ok {
		return t
	}
	return sized(d.usualText(s, u), s, u)
}

// idText is another record's id; from now on it exists.
func (d *drawing) idText(s *shape, u uint64) string {
	id := ""
	if s.example != nil {
		id = *s.example
	} else {
		id = d.newID(s, u)
	}
	d.w.issue(id)
	return id
}

func (d *drawing) statusText(s *shape, u uint64) string {
	if t, ok := formatted(s, u, d.w.dials.Now); ok {
		return t
	}
	if d.state != "" && !d.stale {
		return sized(d.state, s, u)
	}
	if s.example != nil {
		return *s.example
	}
	return sized(pick(s.listed, u), s, u)
}

func (d *drawing) usualText(s *shape, u uint64) string {
	if s.shared != 0 {
		u = split(d.base, s.shared)
	}
	v := split(u, hashSecond)
	switch s.class {
	case classFirstName:
		return pick(firstNames, u)
	case classLastName:
		return pick(lastNames, v)
	case classEmail:
		return strings.ToLower(pick(firstNames, u)+"."+pick(lastNames, v)) + "@mail.example"
	case classPhone:
		return fmt.Sprintf("+1 555 01%02d %03d", u%100, v%1000)
	case classPerson:
		return pick(firstNames, u) + " " + pick(lastNames, v)
	case classThing:
		return pick(things, u)
	case classTitle:
		return d.title(u)
	case classProse:
		return pick(prose, u)
	case classStep:
		return pick(steps, u)
	case classDate:
		return d.w.dials.Now.AddDate(0, 0, int(u%60)-20).Format(time.DateOnly)
	case classTime:
		if d.tool.writes() {
			return rfc3339(d.w.dials.Now)
		}
		return rfc3339(d.w.dials.Now.Add(-time.Duration(u%(40*24*60)) * time.Minute))
	case classDueDate:
		return d.w.dials.Now.AddDate(0, 0, 1+int(u%30)).Format(time.DateOnly)
	case classDueTime:
		return rfc3339(d.w.dials.Now.Add(time.Duration(1+u%(30*24)) * time.Hour))
	case classURL:
		return "https://records.example/" + strconv.FormatUint(u%1_000_000, 36)
	case classCurrency:
		return "USD"
	case classCountry:
		return pick(countries, u)
	case classCity:
		return pick(cities, u)
	case classAddress:
		return strconv.FormatUint(1+u%180, 10) + " " + pick(streets, v)
	case classVersion:
		return fmt.Sprintf("%d.%d.%d", 1+u%4, v%20, (u>>32)%10)
	case classListed:
		return pick(s.listed, u)
	case classService:
		return pick(services, u)
	}
	return pick(words, u)
}

func (d *drawing) title(u uint64) string {
	noun := d.tool.noun
	if noun == "" {
		noun = "note"
	}
	first, size := utf8.DecodeRuneInString(noun)
	return string(unicode.ToUpper(first)) + noun[size:] + ": " + pick(titles, u)
}

// formatted draws a text that a schema's format or pattern asks for.
func formatted(s *shape, u uint64, now time.Time) (string, bool) {
	switch s.format {
	case "date":
		return now.AddDate(0, 0, int(u%60)-20).Format(time.DateOnly), true
	case "date-time":
		return rfc3339(now.Add(-time.Duration(u%(40*24*60)) * time.Minute)), true
	case "time":
		return fmt.Sprintf("%02d:%02d:00Z", u%24, (u>>8)%60), true
	case "email":
		return strings.ToLower(pick(firstNames, u)) + "@mail.example", true
	case "uri", "url":
		return "https://records.example/" + strconv.FormatUint(u%1_000_000, 36), true
	case "uuid":
		return uuid(u), true
	case "ipv4":
		return fmt.Sprintf("10.%d.%d.%d", u%256, (u>>8)%256, (u>>16)%256), true
	}
	if s.pattern != "" {
		return matching(s.pattern, u)
	}
	return "", false
}

// uuid writes a draw in the form of a version 4 UUID.
func uuid(u uint64) string {
	v := split(u, 1)
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", u>>32, u>>16&0xffff, u&0xfff, 0x8000|v>>48&0x3fff, v&0xffffffffffff)
}

// sized cuts or pads a text to the characters that its schema allows.
func sized(text string, s *shape, u uint64) string {
	n := utf8.RuneCountInString(text)
	if s.most >= 0 && n > s.most && s.given {
		text = string([]rune(text)[:s.most])
		n = s.most
	}
	const most = 4096 // a schema that asks for more gets that much
	for n < min(s.least, most) {
		extra := pick(words, split(u, uint64(n)))
		if s.most >= 0 {
			extra = extra[:min(len(extra), s.most-n)]
		}
		text += extra
		n += len(extra)
	}
	return text
}

// newID makes an id in the style of those that the task or the schemas name.
func (d *drawing) newID(s *shape, u uint64) string {
	if t, ok := formatted(s, u, d.w.dials.Now); ok {
		return t
	}
	subject := d.tool.noun
	if s.idName != "" {
		subject = s.idName
	}
	if like := d.w.idLike(subject); like != "" {
		return imitate(like, u)
	}
	prefix := strings.ToUpper(subject[:min(3, len(subject))])
	if prefix == "" || !isASCII(prefix) {
		prefix = "REF"
	}
	return prefix + "-" + strconv.FormatUint(10000+u%90000, 10)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// imitate keeps an id's letters and marks and draws its digits again; one
// without digits gets a number behind.
func imitate(id string, u uint64) string {
	out := []byte(id)
	drawn := false
	for i, c := range out {
		if c >= '0' && c <= '9' {
			u = split(u, uint64(i)+1)
			digit := byte(u % 10)
			if digit == 0 && (i == 0 || out[i-1] < '0' || out[i-1] > '9') {
				digit = 1 // a leading zero would change its look
			}
			out[i], drawn = '0'+digit, true
		}
	}
	if !drawn {
		return id + "-" + strconv.FormatUint(2+u%7, 10)
	}
	return string(out)
}

// matching draws a text that a pattern matches; false where the pattern is more
// than this walk can follow.
func matching(pattern string, u uint64) (string, bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	m := matcher{u: u}
	m.write(re.Simplify(), 0)
	return m.b.String(), !m.lost
}

type matcher struct {
	b    strings.Builder
	u    uint64
	lost bool
}

func (m *matcher) next() uint64 {
	m.u = split(m.u, 1)
	return m.u
}

func (m *matcher) write(re *syntax.Regexp, depth int) {
	const maxDepth, maxBytes = 100, 1024
	if depth > maxDepth || m.b.Len() > maxBytes {
		m.lost = true
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		m.b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		m.writeClass(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		m.b.WriteByte("abcdefghijklmnopqrstuvwxyz"[m.next()%26])
	case syntax.OpStar, syntax.OpPlus:
		n := m.next() % 3
		if re.Op == syntax.OpPlus {
			n++
		}
		for range n {
			m.write(re.Sub[0], depth+1)
		}
	case syntax.OpQuest:
		if m.next()%2 == 0 {
			m.write(re.Sub[0], depth+1)
		}
	case syntax.OpAlternate:
		m.write(re.Sub[m.next()%uint64(len(re.Sub))], depth+1)
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			m.write(sub, depth+1)
		}
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine:
	default: // word boundaries, classes that nothing is in
		m.lost = true
	}
}

// writeClass draws from the part of a class that prints, else from all of it.
func (m *matcher) writeClass(ranges []rune) {
	var size uint64
	for i := 0; i+1 < len(ranges); i += 2 {
		if low, high := max(ranges[i], '!'), min(ranges[i+1], '~'); low <= high {
			size += uint64(high-low) + 1
		}
	}
	if size == 0 {
		if len(ranges) == 0 {
			m.lost = true
			return
		}
		m.b.WriteRune(ranges[0])
		return
	}
	at := m.next() % size
	for i := 0; i+1 < len(ranges); i += 2 {
		low, high := max(ranges[i], '!'), min(ranges[i+1], '~')
		if low > high {
			continue
		}
		if n := uint64(high-low) + 1; at >= n {
			at -= n
			continue
		}
		m.b.WriteRune(low + rune(at))
		return
	}
}

// personText is all that the person of a task says or can say, lower case.
func personText(task *record.Task) string {
	var b strings.Builder
	write := func(t record.Text) {
		b.WriteString(string(t))
		b.WriteByte('\n')
	}
	write(task.Ask)
	write(task.User.Wants)
	for _, t := range task.User.Insists {
		write(t)
	}
	for _, t := range task.User.Knows { // only looked into, so the order is free
		write(t)
	}
	return strings.ToLower(b.String())
}

// mentions reports whether a folded id stands in lower-case text as a whole
// word.
func mentions(text, id string) bool {
	for start := 0; ; {
		i := strings.Index(text[start:], id)
		if i < 0 {
			return false
		}
		begin, end := start+i, start+i+len(id)
		if !wordAt(text[:begin], true) && !wordAt(text[end:], false) {
			return true
		}
		start = begin + 1
	}
}

// wordAt reports whether text ends (or begins) with a letter or digit.
func wordAt(text string, atEnd bool) bool {
	if text == "" {
		return false
	}
	c := text[0]
	if atEnd {
		c = text[len(text)-1]
	}
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}
