package search

// verbClass says how a verb takes its object, so that a phrase can be built
// around it.
type verbClass int

const (
	verbAct     verbClass = iota // restart the service, refund the order
	verbRead                     // pull up the record
	verbList                     // show what there is
	verbSearch                   // look for something by what it is like
	verbCreate                   // open a new one
	verbChange                   // change something of one
	verbRemove                   // cancel, delete
	verbContact                  // page, notify, transfer to
	verbGive                     // send somebody something
	verbCompute                  // work something out
)

// verb is one tool verb in a person's words. Neutral phrases fit "I want to ..."
// and "could you ..." alike; handing ones ("show me") fit only what the agent
// does. Each is put before the object.
type verb struct {
	class   verbClass
	neutral []string
	handing []string
}

var (
	readVerb    = verb{verbRead, []string{"look up", "pull up", "check", "see", "go over", "have a look at", "open"}, []string{"show me", "get me", "find me", "tell me what you have on", "bring up"}}
	listVerb    = verb{verbList, []string{"see", "go through", "list", "look through"}, []string{"show me", "list", "give me", "run me through"}}
	searchVerb  = verb{verbSearch, []string{"find", "look for", "search for"}, []string{"find me", "look for", "search for"}}
	createVerb  = verb{verbCreate, []string{"create", "set up", "put in"}, []string{"create", "set up", "make"}}
	openVerb    = verb{verbCreate, []string{"open", "file", "raise"}, []string{"open", "file", "raise"}}
	changeVerb  = verb{verbChange, []string{"change", "update"}, []string{"change", "update"}}
	deleteVerb  = verb{verbRemove, []string{"delete", "remove", "get rid of", "wipe"}, []string{"delete", "remove", "take out"}}
	computeVerb = verb{verbCompute, []string{"work out", "calculate", "figure out"}, []string{"work out", "calculate", "tell me"}}
)

func plainVerb(class verbClass, words ...string) verb { return verb{class, words, words} }

// verbs are the words that tool names begin with, in the words of people.
var verbs = map[string]verb{
	"get": readVerb, "fetch": readVerb, "read": readVerb, "lookup": readVerb, "look": readVerb, "retrieve": readVerb, "show": readVerb, "view": readVerb,
	"describe": readVerb, "load": readVerb, "inspect": readVerb, "display": readVerb, "query": readVerb, "check": plainVerb(verbRead, "check", "look into", "have a look at"),
	"verify": plainVerb(verbRead, "verify", "double-check", "confirm"), "validate": plainVerb(verbRead, "validate", "double-check", "check"), "track": plainVerb(verbRead, "track", "trace", "follow up on"),
	"list": listVerb, "browse": listVerb, "enumerate": listVerb,
	"search": searchVerb, "find": searchVerb,
	"create": createVerb, "add": plainVerb(verbCreate, "add", "put in"), "make": createVerb, "new": createVerb, "insert": createVerb, "register": plainVerb(verbCreate, "register", "sign up"),
	"open": openVerb, "file": openVerb, "raise": openVerb, "log": plainVerb(verbCreate, "log", "note down", "record"), "submit": plainVerb(verbCreate, "submit", "put in", "send off"),
	"book": plainVerb(verbCreate, "book", "reserve"), "reserve": plainVerb(verbCreate, "reserve", "book"), "schedule": plainVerb(verbCreate, "schedule", "set up", "put in"),
	"generate": plainVerb(verbCreate, "generate", "produce", "put together"), "draft": plainVerb(verbCreate, "draft", "write up"), "write": plainVerb(verbCreate, "write", "draft"), "post": plainVerb(verbCreate, "post", "put up"),
	"place": plainVerb(verbCreate, "place", "put in"), "start": plainVerb(verbAct, "start", "kick off", "bring up"), "launch": plainVerb(verbAct, "launch", "start", "bring up"),
	"update": changeVerb, "modify": changeVerb, "change": changeVerb, "edit": plainVerb(verbChange, "edit", "change", "fix"), "set": plainVerb(verbChange, "set", "change"), "adjust": plainVerb(verbChange, "adjust", "change"),
	"rename": plainVerb(verbChange, "rename"), "move": plainVerb(verbAct, "move", "shift"), "reschedule": plainVerb(verbAct, "reschedule", "move"), "assign": plainVerb(verbAct, "assign", "hand over"), "patch": plainVerb(verbChange, "patch", "update"),
	"upgrade": plainVerb(verbAct, "upgrade", "bump up"), "downgrade": plainVerb(verbAct, "downgrade"), "extend": plainVerb(verbAct, "extend", "prolong"), "renew": plainVerb(verbAct, "renew"), "exchange": plainVerb(verbAct, "exchange", "swap"),
	"delete": deleteVerb, "remove": deleteVerb, "purge": plainVerb(verbRemove, "purge", "wipe", "clear out"), "drop": plainVerb(verbRemove, "drop", "delete", "get rid of"), "destroy": plainVerb(verbRemove, "destroy", "tear down", "delete"),
	"cancel": plainVerb(verbRemove, "cancel", "call off", "get out of"), "terminate": plainVerb(verbRemove, "terminate", "shut down", "kill"), "kill": plainVerb(verbRemove, "kill", "stop"), "stop": plainVerb(verbRemove, "stop", "halt"),
	"close": plainVerb(verbRemove, "close", "shut"), "archive": plainVerb(verbRemove, "archive"), "disable": plainVerb(verbRemove, "disable", "switch off", "turn off"), "revoke": plainVerb(verbRemove, "revoke", "take away", "pull"), "suspend": plainVerb(verbRemove, "suspend", "put on hold"),
	"block": plainVerb(verbRemove, "block", "freeze"), "freeze": plainVerb(verbRemove, "freeze", "block"), "void": plainVerb(verbRemove, "void", "cancel"), "reset": plainVerb(verbAct, "reset"), "unlock": plainVerb(verbAct, "unlock"),
	"enable": plainVerb(verbAct, "enable", "switch on", "turn on"), "activate": plainVerb(verbAct, "activate", "switch on"), "grant": plainVerb(verbAct, "grant"), "approve": plainVerb(verbAct, "approve", "sign off", "wave through"), "reject": plainVerb(verbAct, "reject", "turn down"),
	"restart": plainVerb(verbAct, "restart", "bounce", "kick"), "reboot": plainVerb(verbAct, "reboot", "restart"), "deploy": plainVerb(verbAct, "deploy", "ship", "roll out"), "rollback": plainVerb(verbAct, "roll back", "revert"), "roll": plainVerb(verbAct, "roll back"), "revert": plainVerb(verbAct, "revert", "undo"),
	"scale": plainVerb(verbAct, "scale"), "run": plainVerb(verbAct, "run", "kick off"), "execute": plainVerb(verbAct, "run", "execute"), "trigger": plainVerb(verbAct, "trigger", "kick off"), "retry": plainVerb(verbAct, "retry", "re-run"), "merge": plainVerb(verbAct, "merge"), "sync": plainVerb(verbAct, "sync"),
	"refund": plainVerb(verbAct, "refund", "get the money back for", "get a refund on"), "pay": plainVerb(verbAct, "pay", "settle"), "charge": plainVerb(verbAct, "charge", "bill"), "return": plainVerb(verbAct, "return", "send back"), "issue": plainVerb(verbGive, "issue", "send"), "apply": plainVerb(verbAct, "apply", "use"),
	"resolve": plainVerb(verbAct, "resolve", "close out"), "acknowledge": plainVerb(verbAct, "acknowledge", "ack"), "ack": plainVerb(verbAct, "acknowledge", "ack"), "upload": plainVerb(verbAct, "upload"), "download": plainVerb(verbAct, "download", "grab"), "export": plainVerb(verbAct, "export", "pull out"), "import": plainVerb(verbAct, "import", "bring in"),
	"silence": plainVerb(verbAct, "silence", "mute"), "mute": plainVerb(verbAct, "mute", "silence"), "drain": plainVerb(verbAct, "drain", "empty"), "flush": plainVerb(verbAct, "flush", "clear"), "clear": plainVerb(verbAct, "clear", "flush"), "restore": plainVerb(verbAct, "restore", "bring back"),
	"page": plainVerb(verbContact, "page", "get hold of", "wake up", "call in"), "notify": plainVerb(verbContact, "notify", "let know", "tell"), "alert": plainVerb(verbContact, "alert", "warn"), "message": plainVerb(verbContact, "message", "write to"), "call": plainVerb(verbContact, "call", "ring"),
	"contact": plainVerb(verbContact, "contact", "get in touch with"), "email": plainVerb(verbContact, "email", "write to"), "ask": plainVerb(verbContact, "ask"), "escalate": plainVerb(verbContact, "escalate to", "bring in"), "transfer": plainVerb(verbContact, "get through to", "talk to", "be put through to"),
	"send": plainVerb(verbGive, "send"), "give": plainVerb(verbGive, "give", "send"), "forward": plainVerb(verbGive, "forward", "pass on"), "share": plainVerb(verbGive, "share"), "ship": plainVerb(verbGive, "ship", "send out"),
	"calculate": computeVerb, "compute": computeVerb, "convert": plainVerb(verbCompute, "convert", "work out"), "estimate": plainVerb(verbCompute, "estimate", "get a rough figure for"), "count": plainVerb(verbCompute, "count", "work out"),
}

// descriptionVerb is the base form of the word that a description begins with
// ("Restarts a service": restart), "" where it is no verb of the table.
func descriptionVerb(word string) string {
	for _, base := range []string{word, trimEnd(word, "s"), trimEnd(word, "es"), trimEnd(word, "ies") + "y"} {
		if _, ok := verbs[base]; ok {
			return base
		}
	}
	return ""
}

func trimEnd(word, end string) string {
	if n := len(word) - len(end); n > 1 && word[n:] == end {
		return word[:n]
	}
	return word
}
