package world

import (
	"slices"
	"strings"

	"assay/engine/record"
)

// operation is what a call does to the records it names.
type operation int

const (
	opRead   operation = iota // shows one record, or one answer
	opList                    // shows several
	opCreate                  // makes a new one
	opUpdate                  // changes fields
	opAct                     // moves one to another state: cancel, restart, refund
	opDelete                  // removes it
)

// verbs says what the first word of a tool's name that stands here means. The
// words are those of published tool sets (tau-bench, the MCP reference servers)
// and their synonyms; convention.
var verbs = verbTable(map[operation]string{
	opRead: `get fetch read show view describe check inspect retrieve load lookup look open_file calculate compute convert
		count status validate verify preview estimate think analyze analyse summarize translate explain diff compare test ping`,
	opList:   `list search find query browse filter scan grep select`,
	opCreate: `create add new book schedule send post submit register place make insert upload log reserve publish notify page email message write record raise report escalate invite request order buy purchase reply comment transfer_to`,
	opUpdate: `update edit change modify set put patch rename move assign extend adjust configure save replace tag label`,
	opDelete: `delete remove destroy drop purge wipe erase discard rm`,
	opAct: `cancel refund restart reboot reset rollback revoke terminate kill shutdown shut stop start close open resolve approve reject
		activate deactivate enable disable ban suspend resume transfer pay charge ship return exchange archive lock unlock freeze
		merge deploy run execute trigger acknowledge ack confirm unsubscribe subscribe renew redeem void expire evict detach`,
})

func verbTable(words map[operation]string) map[string]operation {
	table := map[string]operation{}
	for op, list := range words {
		for _, w := range strings.Fields(list) {
			table[w] = op
		}
	}
	return table
}

// operationOf reads what a tool does from its kind and the words of its name,
// and the verb that says so, "" where none does.
func operationOf(kind record.ToolKind, words []string) (operation, string) {
	op, verb := opAct, ""
	for _, w := range words {
		if o, ok := verbs[w]; ok {
			op, verb = o, w
			break
		}
	}
	plural := len(words) > 0 && isPlural(words[len(words)-1])
	switch {
	case kind == record.ToolRead && op == opList, kind == "" && op == opList:
		return opList, verb
	case kind == record.ToolRead, kind == "" && (op == opRead || verb == ""):
		if plural && (op == opRead || verb == "") {
			return opList, verb
		}
		return opRead, verb
	case op == opRead, op == opList:
		return opAct, "" // a write whose name says nothing of what it writes
	}
	return op, verb
}

// Writes reports whether a tool of this name changes the world, going by its
// words alone. It is for steps whose tool nobody declared.
func Writes(name string) bool {
	op, _ := operationOf("", record.NameWords(name))
	return op != opRead && op != opList
}

// pastOf is the state that a verb leaves behind: cancel gives cancelled.
func pastOf(verb string) string {
	if past, ok := irregularPast[verb]; ok {
		return past
	}
	last := verb[len(verb)-1]
	switch {
	case last == 'e':
		return verb + "d"
	case last == 'y' && len(verb) > 1 && !strings.ContainsRune("aeiou", rune(verb[len(verb)-2])):
		return verb[:len(verb)-1] + "ied"
	}
	return verb + "ed"
}

var irregularPast = map[string]string{
	"cancel": "cancelled", "send": "sent", "pay": "paid", "buy": "bought", "sell": "sold", "reset": "reset", "set": "set",
	"put": "put", "shut": "shut", "stop": "stopped", "ban": "banned", "drop": "dropped", "submit": "submitted", "commit": "committed",
	"ship": "shipped", "plan": "planned", "tag": "tagged", "log": "logged", "run": "completed", "make": "made", "hold": "held",
	"rollback": "rolled_back", "roll": "rolled_back", "shutdown": "shut_down", "rm": "removed", "withdraw": "withdrawn", "freeze": "frozen",
	"transfer": "transferred", "write": "written", "begin": "begun", "undo": "undone", "redo": "redone", "split": "split", "cut": "cut",
}

// isPlural is a guess from the last letters, good enough for tool names.
func isPlural(word string) bool {
	switch word {
	case "status", "details", "news", "address", "access", "progress", "diagnosis", "analysis", "basis", "process", "business", "class", "canvas":
		return false
	}
	return len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us")
}

// singular undoes the usual plural.
func singular(word string) string {
	switch {
	case !isPlural(word):
		return word
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "xes"), strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "shes"):
		return word[:len(word)-2]
	}
	return word[:len(word)-1]
}

// lastWord is the last word of a name, "" for none.
func lastWord(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// idWords end the names of arguments and fields that hold a reference.
var idWords = wordSet(`id ids identifier identifiers key number no num code ref reference uuid guid handle slug username email sku pnr isbn vin`)

// freeWords end the names of arguments that hold free text or a plain setting,
// never a reference.
var freeWords = wordSet(`message text body query question note notes reason comment content description title subject summary
	details date time start end from to limit offset page size count quantity amount price status state type kind format language
	currency priority severity reply prompt expression thought value url unit units mode level sort order_by filter filters force
	address city country zip phone name options data payload params dry_run confirm verbose window duration minutes hours days cabin`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// sameReference reports whether two names speak of the same kind of reference:
// order_id and order_number do, order_id and customer_id do not; a bare id may
// be any.
func sameReference(a, b string) bool {
	if a == b || a == "" || b == "" {
		return true
	}
	aw, bw := subjectWords(a), subjectWords(b)
	if len(aw) == 0 || len(bw) == 0 {
		return true
	}
	for _, x := range aw {
		for _, y := range bw {
			if x == y {
				return true
			}
		}
	}
	return false
}

// subjectWords are the words of a name without those that only say "reference".
func subjectWords(name string) []string {
	var out []string
	for _, w := range record.NameWords(name) {
		if !idWords[w] && w != "name" {
			out = append(out, singular(w))
		}
	}
	return out
}

// nearest is the name that was meant, "" where none is near or the name is one of
// them. A name beyond 64 bytes is no misspelling, and is not compared: whatever an
// agent sends, the answer is quick.
func nearest(name string, names []string) string {
	if len(name) > 64 || slices.Contains(names, name) {
		return ""
	}
	return record.Nearest(name, names)
}
