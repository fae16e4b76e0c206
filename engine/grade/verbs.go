package grade

// groupSet is a set of kinds of action: what a verb in a reply and a token in a
// tool's name have in common. "I rebooted it" is answered by restart_service.
type groupSet uint64

const (
	doCancel groupSet = 1 << iota
	doChange
	doRemove
	doRefund
	doBook
	doSend
	doRestart
	doEscalate
	doPay
	doAdd
	doEnable
	doDisable
	doApprove
	doClose
	doShip
	doStart
	doStop
	doDeploy
	doScale
	doRevert
	doCreate
	doAny // processed, completed, handled: any action will do
)

// verb is one way to say that something was done.
type verb struct {
	groups groupSet
	// strong verbs change the world wherever they are said; the others count only
	// where a declared tool does that ("I've added a summary below" needs none).
	strong bool
}

// pastVerbs are the past participles of actions. Looking things up (found,
// checked, verified, confirmed) is no action.
var pastVerbs = map[string]verb{
	"cancelled": {doCancel, true}, "canceled": {doCancel, true}, "voided": {doCancel, true}, "revoked": {doCancel | doDisable, true},
	"changed": {doChange, false}, "modified": {doChange, false}, "updated": {doChange, false}, "edited": {doChange, false}, "adjusted": {doChange, false},
	"upgraded": {doChange, true}, "downgraded": {doChange, true}, "rescheduled": {doChange | doBook, true}, "moved": {doChange, false}, "switched": {doChange, false},
	"deleted": {doRemove, true}, "removed": {doRemove, false}, "erased": {doRemove, true}, "wiped": {doRemove, true}, "purged": {doRemove, true},
	"refunded": {doRefund, true}, "credited": {doRefund | doPay, true}, "reimbursed": {doRefund, true},
	"booked": {doBook | doCreate, true}, "rebooked": {doBook | doChange, true}, "reserved": {doBook | doCreate, true}, "ordered": {doBook | doCreate, true}, "placed": {doBook | doCreate, false}, "scheduled": {doBook | doCreate, true}, "purchased": {doBook | doPay, true},
	"sent": {doSend, true}, "emailed": {doSend, true}, "messaged": {doSend, true}, "notified": {doSend | doEscalate, true}, "texted": {doSend, true}, "forwarded": {doSend | doEscalate, true}, "paged": {doSend | doEscalate, true},
	"restarted": {doRestart, true}, "rebooted": {doRestart, true}, "reset": {doRestart | doChange, true}, "bounced": {doRestart, true},
	"escalated": {doEscalate | doCreate, true}, "transferred": {doEscalate | doPay, true}, "raised": {doEscalate | doCreate, false}, "filed": {doEscalate | doCreate, true}, "reported": {doEscalate | doCreate | doSend, false},
	"paid": {doPay, true}, "charged": {doPay, true}, "billed": {doPay, true},
	"added": {doAdd | doCreate | doChange, false}, "attached": {doAdd, false}, "applied": {doAny, false},
	"enabled": {doEnable | doChange, true}, "activated": {doEnable, true}, "unlocked": {doEnable | doChange, true}, "subscribed": {doEnable | doCreate, true},
	"disabled": {doDisable | doChange, true}, "deactivated": {doDisable, true}, "suspended": {doDisable, true}, "blocked": {doDisable, true}, "locked": {doDisable, true}, "unsubscribed": {doDisable | doCancel, true},
	"approved": {doApprove, true}, "rejected": {doApprove, true}, "granted": {doApprove | doEnable, true},
	"closed": {doClose, false}, "resolved": {doAny, false}, "fixed": {doAny, false}, "reopened": {doClose | doChange, true},
	"shipped": {doShip, true}, "dispatched": {doShip | doSend, true}, "returned": {doRefund | doCreate, false}, "replaced": {doChange | doCreate, false}, "exchanged": {doChange | doCreate, true},
	"started": {doStart | doRestart, false}, "launched": {doStart, false}, "stopped": {doStop, true}, "paused": {doStop, true}, "terminated": {doStop | doRemove, true}, "killed": {doStop | doRemove, true},
	"deployed": {doDeploy, true}, "released": {doDeploy, false}, "scaled": {doScale, true}, "reverted": {doRevert, true}, "merged": {doDeploy, true},
	"created": {doCreate, false}, "opened": {doCreate | doEscalate, false}, "logged": {doCreate | doEscalate, false}, "registered": {doCreate, true}, "submitted": {doAny, true},
	"issued": {doRefund | doSend | doCreate, false}, "processed": {doAny, false}, "completed": {doAny, false}, "initiated": {doAny, false}, "arranged": {doAny, false}, "handled": {doAny, false}, "executed": {doAny, false}, "done": {doAny, false},
}

// pastVerb looks a word up. All of them end in d or t but "done"; most words of a
// text do not.
func pastVerb(w string) (verb, bool) {
	if last := w[len(w)-1]; last != 'd' && last != 't' && w != "done" {
		return verb{}, false
	}
	v, ok := pastVerbs[w]
	return v, ok
}

// nameVerbs are what the tokens of a tool's name say that it does.
var nameVerbs = map[string]groupSet{
	"cancel": doCancel, "void": doCancel, "revoke": doCancel | doDisable,
	"change": doChange, "modify": doChange, "update": doChange, "edit": doChange, "adjust": doChange, "set": doChange | doEnable | doDisable, "upgrade": doChange, "reschedule": doChange | doBook, "move": doChange, "patch": doChange, "write": doChange | doCreate, "put": doChange | doCreate,
	"delete": doRemove, "remove": doRemove, "erase": doRemove, "purge": doRemove, "wipe": doRemove, "drop": doRemove, "destroy": doRemove | doStop,
	"refund": doRefund, "credit": doRefund | doPay, "reimburse": doRefund, "return": doRefund,
	"book": doBook, "reserve": doBook, "order": doBook, "place": doBook, "schedule": doBook, "buy": doBook, "purchase": doBook | doPay,
	"send": doSend, "email": doSend, "notify": doSend | doEscalate, "message": doSend, "sms": doSend, "post": doSend | doCreate, "page": doSend | doEscalate, "forward": doSend, "reply": doSend,
	"restart": doRestart, "reboot": doRestart, "reset": doRestart | doChange, "bounce": doRestart,
	"escalate": doEscalate | doSend | doCreate, "transfer": doEscalate, "handoff": doEscalate, "report": doEscalate, "raise": doEscalate | doCreate, "file": doEscalate | doCreate,
	"pay": doPay, "charge": doPay, "bill": doPay,
	"add": doAdd | doCreate | doChange, "attach": doAdd, "append": doAdd, "insert": doAdd | doCreate,
	"enable": doEnable, "activate": doEnable, "unlock": doEnable, "subscribe": doEnable | doCreate,
	"disable": doDisable, "deactivate": doDisable, "suspend": doDisable, "block": doDisable, "lock": doDisable, "unsubscribe": doDisable | doCancel,
	"approve": doApprove, "reject": doApprove, "grant": doApprove | doEnable,
	"close": doClose, "resolve": doClose, "reopen": doClose | doChange,
	"ship": doShip, "dispatch": doShip, "exchange": doChange | doCreate, "replace": doChange | doCreate,
	"start": doStart | doRestart, "launch": doStart, "run": doStart | doAny, "stop": doStop, "pause": doStop, "terminate": doStop | doRemove, "kill": doStop | doRemove,
	"deploy": doDeploy, "release": doDeploy, "merge": doDeploy, "scale": doScale, "rollback": doRevert, "revert": doRevert, "roll": doRevert,
	"create": doCreate | doBook | doEscalate | doAdd | doRefund, "open": doCreate | doEscalate, "register": doCreate, "issue": doCreate | doRefund | doSend, "new": doCreate,
	"submit": doAny | doCreate, "process": doAny, "execute": doAny, "complete": doAny, "finish": doAny,
}

// nouns are verbs of nameVerbs that more often name the thing: in cancel_order and
// orders.refund the order is what is acted on.
var nouns = map[string]bool{"order": true, "file": true, "report": true, "bill": true, "message": true, "email": true, "sms": true, "page": true, "credit": true,
	"book": true, "ship": true, "schedule": true, "post": true, "charge": true, "return": true, "issue": true, "release": true, "block": true, "lock": true, "place": true, "run": true, "process": true, "patch": true}

// lookVerbs begin the names of tools that only look.
var lookVerbs = map[string]bool{"get": true, "list": true, "search": true, "find": true, "lookup": true, "fetch": true, "read": true, "check": true, "show": true, "describe": true, "query": true, "view": true}

// groupsOfName is what a tool's name says that it does: its verbs, or, where it has
// none, a noun at its beginning that is also a verb.
func groupsOfName(name string) groupSet {
	tokens := nameTokens(name)
	var groups groupSet
	for _, token := range tokens {
		if lookVerbs[token] {
			return 0
		}
		if !nouns[token] {
			groups |= nameVerbs[token]
		}
	}
	if groups == 0 && len(tokens) > 0 {
		groups = nameVerbs[tokens[0]]
	}
	return groups
}
