package world

import (
	"slices"

	"assay/engine/record"
)

// class is what a field's name says of its value.
type class int

const (
	classText class = iota
	classID
	classStatus
	classEmail
	classPhone
	classPerson
	classFirstName
	classLastName
	classThing // the name of something that is no person
	classTitle
	classProse
	classStep
	classDate
	classTime
	classDueDate // a date to come
	classDueTime // a moment to come
	classURL
	classCurrency
	classCountry
	classCity
	classAddress
	classVersion
	classListed // one of a few words that its name calls for
	classService
	classFlag
	classAmount
	classCount
	classPercent
	classRatio
	classMillis
	classYear
)

// classWords maps the last word of a name to its class. Convention.
var classWords = classTable(map[class]string{
	classStatus:   `status state phase stage`,
	classEmail:    `email mail`,
	classPhone:    `phone mobile tel telephone fax`,
	classPerson:   `customer user owner assignee author reporter agent manager contact passenger employee driver guest recipient sender approver oncall holder`,
	classTitle:    `title subject headline label`,
	classProse:    `description summary text body content message note notes comment reason details detail answer instructions explanation snippet policy terms bio result`,
	classStep:     `step steps procedure checklist action actions`,
	classDate:     `date day birthday dob`,
	classTime:     `time at timestamp since updated created modified`,
	classDueTime:  `eta departure arrival start end until expires renews`,
	classDueDate:  `due expiry deadline delivery`,
	classURL:      `url link uri href website homepage`,
	classCurrency: `currency`,
	classCountry:  `country`,
	classCity:     `city location origin destination place airport region town`,
	classAddress:  `address street`,
	classVersion:  `version release build revision`,
	classService:  `service app application component host server system cluster instance`,
	classFlag:     `enabled active available eligible refundable valid success ok confirmed verified locked paid insured flag found`,
	classAmount:   `amount price total cost balance fee fare subtotal tax value credit limit refund charge salary`,
	classCount:    `count quantity qty stock replicas seats number points age attempts retries pages rating nights score`,
	classPercent:  `percent percentage pct progress humidity utilization discount cpu memory`,
	classRatio:    `rate ratio fraction probability confidence share`,
	classMillis:   `ms latency duration seconds minutes millis uptime distance bytes`,
	classYear:     `year`,
})

func classTable(words map[class]string) map[string]class {
	table := map[string]class{}
	for c, list := range words {
		for w := range wordSet(list) {
			table[w] = c
		}
	}
	return table
}

// listedWords are the words that a field of such a name holds. They are the
// usual case of each: none of them asks for anything to be done.
var listedWords = map[string][]string{
	"priority":   {"low", "medium", "high"},
	"severity":   {"low", "medium", "high"},
	"urgency":    {"low", "medium"},
	"tier":       {"standard", "plus", "basic"},
	"membership": {"regular", "silver", "gold"},
	"plan":       {"starter", "team", "business"},
	"cabin":      {"economy", "business"},
	"level":      {"info", "debug", "notice"},
	"conditions": {"partly cloudy", "clear", "light rain", "overcast"},
	"condition":  {"good", "as new"},
	"unit":       {"ms", "count", "percent"},
	"color":      {"black", "blue", "green", "white"},
	"size":       {"small", "medium", "large"},
	"language":   {"en", "de", "pt", "ja"},
	"category":   {"general", "standard"},
	"kind":       {"general", "standard"},
	"type":       {"general", "standard"},
	"class":      {"general", "standard"},
	"method":     {"card", "transfer"},
	"channel":    {"web", "phone", "mail"},
	"role":       {"member", "editor", "viewer"},
	"department": {"operations", "support", "sales"},
}

// classOf reads a field's class from its name and what its record is of.
func classOf(name, noun string) class {
	words := record.NameWords(name)
	last := lastWord(words)
	if len(words) == 0 {
		return classText
	}
	switch first := words[0]; {
	case last == "name" && len(words) > 1 && (first == "first" || first == "given"):
		return classFirstName
	case last == "name" && len(words) > 1 && (first == "last" || first == "family"):
		return classLastName
	case last == "name" && len(words) == 1:
		return nameClass(noun)
	case (last == "date" || last == "at" || last == "time") && len(words) > 1 && dueWords[words[len(words)-2]]:
		if last == "date" {
			return classDueDate
		}
		return classDueTime
	case len(words) > 1 && (first == "is" || first == "has" || first == "can" || first == "was" || first == "should"):
		return classFlag
	case last == "name":
		return nameClass(words[len(words)-2])
	case last == "email" || last == "number" && slices.Contains(words, "phone"):
		return classWords[words[0]]
	case last == "number" && len(words) == 1, last == "level" && len(words) > 1:
		return classCount
	case last == "code" && len(words) == 2 && (first == "currency" || first == "country"):
		return classWords[first]
	case idWords[last]:
		return classID
	}
	if c, ok := classWords[last]; ok {
		return c
	}
	if listedWords[last] != nil {
		return classListed
	}
	return classWords[singular(last)]
}

// nameClass is what a name of such a thing looks like.
func nameClass(noun string) class {
	switch {
	case personNouns[noun]:
		return classPerson
	case classWords[noun] == classService:
		return classService
	}
	return classThing
}

var (
	personNouns = wordSet(`full user customer client owner contact passenger employee author assignee guest agent manager patient member person
		driver doctor student teacher candidate lead recipient sender account profile`)
	dueWords = wordSet(`due delivery expiry expiration renewal renews departure arrival start end eta valid until deadline return shipping estimated scheduled expires`)
)

// nounFields are the fields of a record whose tool gives no result schema, by
// what it is a record of. Convention: the fields that published tool sets agree
// on.
var nounFields = map[string]string{
	"order":        "status total currency items placed_at",
	"item":         "name quantity price",
	"product":      "name price currency stock",
	"inventory":    "stock reorder_level updated_at",
	"customer":     "name email tier created_at",
	"user":         "name email status created_at",
	"account":      "status balance currency opened_at",
	"employee":     "name email title manager",
	"service":      "status version error_rate latency_ms replicas last_deploy_at",
	"server":       "status cpu_percent memory_percent uptime_minutes",
	"runbook":      "title steps owner reviewed_at",
	"incident":     "status severity title opened_at",
	"alert":        "status severity summary opened_at",
	"log":          "at level text",
	"metric":       "value unit at",
	"deployment":   "status version started_at",
	"job":          "status progress_percent started_at",
	"ticket":       "status priority title opened_at",
	"issue":        "status priority title opened_at",
	"case":         "status priority title opened_at",
	"payment":      "status amount currency created_at",
	"invoice":      "status amount currency due_date",
	"transaction":  "status amount currency created_at",
	"refund":       "status amount currency created_at",
	"subscription": "status plan price renews_at",
	"booking":      "status date price currency",
	"reservation":  "status date price currency",
	"flight":       "origin destination departure price available_seats",
	"hotel":        "name city price rating",
	"room":         "kind price available",
	"shipment":     "status location eta",
	"package":      "status location eta",
	"document":     "title summary owner updated_at",
	"file":         "content size_bytes updated_at",
	"page":         "title content updated_at",
	"article":      "title summary updated_at",
	"policy":       "title text updated_at",
	"airport":      "name city country",
	"certificate":  "status amount currency expires_at",
	"airline":      "name country",
	"email":        "subject snippet sent_at",
	"message":      "sender text sent_at",
	"event":        "title start end location",
	"meeting":      "title start end location",
	"appointment":  "status start location",
	"weather":      "conditions temperature humidity_percent",
	"forecast":     "conditions temperature humidity_percent",
	"balance":      "balance currency",
	"price":        "price currency",
	"quote":        "price currency valid_until",
	"repository":   "name status updated_at",
	"branch":       "name status updated_at",
	"result":       "title snippet url",
}

// nounStatuses are the states that a thing which exists, and which nothing was
// done to yet, may be in. None says that it failed or that it is finished.
var nounStatuses = map[string][]string{
	"user":         {"active"},
	"customer":     {"active"},
	"account":      {"active"},
	"employee":     {"active"},
	"order":        {"processing", "confirmed", "packed"},
	"service":      {"running", "degraded"},
	"server":       {"running", "degraded"},
	"incident":     {"open", "investigating"},
	"alert":        {"open", "acknowledged"},
	"ticket":       {"open", "in_progress"},
	"issue":        {"open", "in_progress"},
	"case":         {"open", "in_review"},
	"payment":      {"settled", "paid"},
	"invoice":      {"open", "sent"},
	"transaction":  {"posted", "settled"},
	"subscription": {"active", "trialing"},
	"booking":      {"confirmed", "booked"},
	"reservation":  {"confirmed", "booked"},
	"flight":       {"scheduled", "on_time"},
	"shipment":     {"in_transit", "out_for_delivery"},
	"package":      {"in_transit", "out_for_delivery"},
	"deployment":   {"live", "rolling_out"},
	"job":          {"running", "queued"},
}

var anyStatuses = []string{"active", "open"}
