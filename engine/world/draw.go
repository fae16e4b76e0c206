package world

import (
	"math"
	"strconv"
	"time"
)

// drawing is one record on its way to JSON.
type drawing struct {
	w     *World
	tool  *tool
	args  map[string]any
	refs  []reference // of the call
	base  uint64      // the record's own draw; its fields are split from it
	own   string      // the record's id where no argument locates it, "" to draw one
	state string      // the word for its state, "" for a usual one
	thing *thing      // nil where the world knows nothing special of it
	stale bool        // as it was some days ago
	list  bool        // inside a list, where only exact names are locators
	depth int
	// computed is the answer to an expression, which a number in the result takes.
	computed *float64
}

// split draws field h of a record (SplitMix64 of Steele, Lea and Flood, 2014).
func split(base, h uint64) uint64 {
	z := base + h*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Names of draws within a record that are no fields.
var (
	hashLength  = hashOf("\x00length")
	hashLatency = hashOf("\x00latency")
	hashStale   = hashOf("\x00stale")
	hashPerson  = hashOf("\x00person")
	hashPlace   = hashOf("\x00place")
	hashSecond  = hashOf("\x00second")
)

// append writes one value of the shape. h names the field within the record.
func (d *drawing) append(dst []byte, s *shape, h uint64) []byte {
	u := split(d.base, h)
	if d.stale && s.volatile() {
		u = split(u, hashStale)
	}
	switch s.form {
	case formObject:
		return d.appendObject(dst, s, h)
	case formList:
		return d.appendList(dst, s, u)
	case formNumber:
		if d.computed != nil {
			return strconv.AppendFloat(dst, *d.computed, 'f', -1, 64)
		}
		if s.class == classID {
			return s.number.appendID(dst, d, u)
		}
		return s.number.append(dst, u, d.w.dials.Jitter)
	case formBool:
		return d.appendBool(dst, s, u)
	case formChoice:
		return append(dst, rawOf(d.choose(s, u))...)
	case formFixed:
		return append(dst, s.fixed...)
	}
	return appendString(dst, d.text(s, u))
}

// appendBool writes a switch. A write that went through says so, one that is half
// done or whose outcome is open does not.
func (d *drawing) appendBool(dst []byte, s *shape, u uint64) []byte {
	switch {
	case d.tool.writes() && s.class == classFlag && (d.state == statusPartial || d.state == statusUnknown):
		return append(dst, "false"...)
	case len(s.fixed) > 0:
		return append(dst, s.fixed...)
	case d.tool.writes() || u%4 != 0: // convention: a switch is mostly on
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

// volatile is what a cache would have wrong after some days.
func (s *shape) volatile() bool {
	switch s.form {
	case formNumber:
		return s.class != classID && s.class != classYear
	case formChoice:
		return s.class == classStatus
	}
	return s.form == formText && (s.class == classStatus || s.class == classTime)
}

func (d *drawing) appendObject(dst []byte, s *shape, h uint64) []byte {
	dst = append(dst, '{')
	nested := *d
	nested.depth++
	if h != 0 {
		nested.base = split(d.base, h)
	}
	for i := range s.fields {
		f := &s.fields[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, f.key...)
		dst = nested.appendField(dst, s, i)
	}
	return append(dst, '}')
}

func (d *drawing) appendField(dst []byte, s *shape, i int) []byte {
	f := &s.fields[i]
	if i == s.own && d.own != "" {
		return f.shape.appendOwn(dst, d.own)
	}
	if f.locator >= 0 && (!d.list || f.exact && f.name != "id") {
		if ref := d.ref(f.locator); ref != nil {
			return append(dst, ref.raw...)
		}
	}
	if d.thing != nil && d.depth == 1 && !d.stale {
		if raw, ok := d.thing.written[f.name]; ok && !d.sets(f.name) {
			return append(dst, raw...)
		}
	}
	return d.append(dst, f.shape, f.hash)
}

// sets reports whether the call itself sets a field: its answer must not hand the
// argument back.
func (d *drawing) sets(name string) bool {
	if !d.tool.writes() {
		return false
	}
	_, own := d.args[name]
	_, renamed := d.args["new_"+name]
	return own || renamed
}

// ref is the call's reference by the argument's index, nil where it has none.
func (d *drawing) ref(argument int) *reference {
	for i := range d.refs {
		if d.refs[i].index == argument && !d.refs[i].many {
			return &d.refs[i]
		}
	}
	return nil
}

// appendOwn writes an id in the form that the shape asks for.
func (s *shape) appendOwn(dst []byte, id string) []byte {
	if s.form == formNumber {
		if _, err := strconv.ParseInt(id, 10, 64); err == nil {
			return append(dst, id...)
		}
	}
	return appendString(dst, id)
}

func (d *drawing) appendList(dst []byte, s *shape, u uint64) []byte {
	n := len(s.tuple)
	var planned []*thing
	if d.tool.op == opList && !d.list {
		planned = d.w.listed(s, d.tool.noun)
	}
	if n == 0 {
		n = 1 + int(split(u, hashLength)%uint64(d.w.dials.ListMax))
		n = max(n+len(planned), s.least)
		if s.most >= 0 {
			n = min(n, max(s.most, s.least))
		}
		n = min(n, maxListItems)
	}
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			if len(s.tuple) == 0 && len(dst) > maxDrawn {
				break
			}
			dst = append(dst, ',')
		}
		item := s.item
		if len(s.tuple) > 0 {
			item = s.tuple[i]
		}
		dst = d.appendItem(dst, item, u, i, planned)
	}
	return append(dst, ']')
}

// maxListItems bounds a list whatever its schema asks for.
const maxListItems = 64

// maxDrawn is how many bytes a result has before its lists end, at one item each,
// whatever their schemas ask for: lists within lists multiply, eight levels of ten
// would be a hundred million items. Convention, untested: no agent reads as much.
const maxDrawn = 256 << 10

func (d *drawing) appendItem(dst []byte, item *shape, u uint64, i int, planned []*thing) []byte {
	inner := *d
	inner.list, inner.depth, inner.thing, inner.state, inner.own = true, 0, nil, "", ""
	inner.base = split(u, uint64(i)+1)
	if d.tool.op == opList && !d.list && item.form == formObject && item.own >= 0 {
		inner.own = d.itemID(item, inner.base, i, planned)
		inner.base = d.w.recordDraw(inner.own)
		if t := d.w.things[fold(inner.own)]; t != nil {
			inner.thing, inner.state = t, d.w.stateWord(t)
		}
	}
	return inner.append(dst, item, 0)
}

// itemID is the id of the i-th record of a list: the things that the task sets
// up first, then what the example says or a draw.
func (d *drawing) itemID(item *shape, base uint64, i int, planned []*thing) string {
	if i < len(planned) {
		return planned[i].id
	}
	own := item.fields[item.own]
	if own.shape.form == formNumber {
		return string(own.shape.number.appendID(nil, d, base))
	}
	return d.text(own.shape, split(base, own.hash))
}

// appendID writes an id that is a number, and remembers it.
func (n *numberShape) appendID(dst []byte, d *drawing, u uint64) []byte {
	mark := len(dst)
	if n.example != nil {
		dst = strconv.AppendFloat(dst, *n.example, 'f', -1, 64) // an id is a name: it does not move
	} else {
		dst = n.append(dst, u, 0)
	}
	d.w.issue(string(dst[mark:]))
	return dst
}

// append writes a number inside its bounds, or around its example by at most
// jitter of its size.
func (n *numberShape) append(dst []byte, u uint64, jitter float64) []byte {
	unit := float64(u>>11) / (1 << 53)
	if n.example != nil {
		return n.appendNear(dst, unit, jitter)
	}
	low, high := n.low, n.high
	step := n.step()
	first := math.Ceil(low/step - 1e-9)
	last := math.Floor(high/step + 1e-9)
	if last < first { // no multiple fits: the bound is the better answer
		return strconv.AppendFloat(dst, low, 'f', -1, 64)
	}
	steps := math.Min(last-first, 1<<52)
	v := (first + math.Floor(unit*(steps+1))) * step
	return strconv.AppendFloat(dst, round(v, n.places()), 'f', -1, 64)
}

func (n *numberShape) step() float64 {
	switch {
	case n.multiple > 0:
		return n.multiple
	case n.whole:
		return 1
	}
	if span := n.high - n.low; span > 0 && span < 1 {
		return math.Pow(10, math.Floor(math.Log10(span))-2)
	}
	return 0.01
}

func (n *numberShape) places() int {
	if n.whole && n.multiple == math.Trunc(n.multiple) {
		return 0
	}
	return 12
}

func (n *numberShape) appendNear(dst []byte, unit, jitter float64) []byte {
	example := *n.example
	v := example * (1 + (2*unit-1)*jitter)
	scale := math.Pow(10, float64(n.decimals))
	if n.whole {
		scale = 1
	}
	if math.Abs(example*scale) < 1<<52 {
		v = math.Round(v*scale) / scale
		if math.Abs(v-example) > math.Abs(example)*jitter { // rounding must not carry it over the edge
			v = example
		}
	} else {
		v = example
	}
	v = min(max(v, n.low), n.high)
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

func round(v float64, places int) float64 {
	scale := math.Pow(10, float64(places))
	if r := math.Round(v*scale) / scale; !math.IsInf(r, 0) && !math.IsNaN(r) {
		return r
	}
	return v
}

// choose takes the enum's member that fits the record's state, else any.
func (d *drawing) choose(s *shape, u uint64) *value {
	choices := s.choices
	if s.class != classStatus || d.stale && d.thing == nil {
		return choices[u%uint64(len(choices))]
	}
	if d.state != "" {
		for _, want := range append([]string{d.state}, stateSynonyms[d.state]...) {
			for _, c := range choices {
				if c.kind == '"' && fold(c.text) == want {
					return c
				}
			}
		}
		for _, c := range choices { // a state that was acted on is some final one
			if c.kind == '"' && d.thing != nil && d.thing.settled() && finalStatuses[fold(c.text)] {
				return c
			}
		}
	}
	for i := range choices {
		if c := choices[(u+uint64(i))%uint64(len(choices))]; !finalStatuses[fold(c.text)] {
			return c
		}
	}
	return choices[u%uint64(len(choices))]
}

// finalStatuses are what a record that still awaits something is not.
var finalStatuses = wordSet(`cancelled canceled closed refunded deleted removed completed complete done resolved expired failed error inactive
	returned delivered archived terminated restarted revoked rejected void stopped finished partial partially_completed unknown`)

// stateSynonyms are other words of enums for the states that the world sets.
var stateSynonyms = map[string][]string{
	statusPartial:  {"partial", "partially_complete", "in_progress", "processing", "pending", "incomplete"},
	statusUnknown:  {"undetermined", "pending", "n/a"},
	"cancelled":    {"canceled", "void", "closed", "inactive"},
	"refunded":     {"returned", "closed", "completed"},
	"restarted":    {"running", "restarting", "healthy"},
	"closed":       {"resolved", "done", "completed"},
	"resolved":     {"closed", "done", "completed"},
	"deleted":      {"removed", "archived", "inactive", "closed"},
	"returned":     {"refunded", "closed", "completed"},
	"deactivated":  {"inactive", "disabled"},
	"disabled":     {"inactive", "deactivated"},
	"activated":    {"active", "enabled"},
	"enabled":      {"active", "activated"},
	"approved":     {"accepted", "completed"},
	"updated":      {"active"},
	"submitted":    {"open", "pending", "new"},
	"created":      {"open", "new", "active", "pending"},
	"booked":       {"confirmed", "reserved"},
	"acknowledged": {"acked", "investigating"},
}

// rfc3339 is how the world writes moments.
func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }
