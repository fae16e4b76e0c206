package axes

import (
	"slices"
	"strings"

	"assay/engine/record"
)

// Annotations are MCP's hints about a tool; nil where the server gave none.
type Annotations struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
}

// Words that say what a call does to the world. The lists are convention: verbs
// of published tool sets (tau-bench, the MCP reference servers) and their
// synonyms. A tool is destructive where calling another tool does not take the
// call back.
var (
	readWords = wordSet(`get list read search find lookup look fetch show view describe check query status count calculate
		think validate verify preview download inspect browse estimate compare summarize summarise retrieve load scan test
		ping head tail grep stat diff monitor watch explain analyze analyse classify translate is has can who whoami info
		details history balance weather forecast calculator price quote`)
	destructiveWords = wordSet(`delete remove destroy drop purge wipe erase cancel refund revoke terminate kill shutdown
		reset uninstall truncate overwrite deactivate disable ban void restart reboot rollback expire close clear discard
		rm unlink detach archive suspend evict forfeit`)
	writeWords = wordSet(`create add update set put post patch write insert edit modify buy purchase pay charge send transfer
		submit assign approve reject open register enable activate reschedule upload move copy rename merge push commit
		deploy publish grant invite notify reply apply start stop run execute save store replace escalate restore append
		upgrade downgrade confirm subscribe unsubscribe lock unlock make sync generate configure redeem`)
	// destructiveNouns are acts only where no word of reading stands beside them:
	// cancellation_info tells. Words that are nouns as often as verbs (order, book,
	// issue) are in no list, so that order_status tells and book_flight writes.
	destructiveNouns = wordSet(`cancellation deletion removal`)
	joiners          = wordSet(`and or then`)
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// KindOf says what a call of the tool may do, from MCP's hints where they are
// given and otherwise from the whole words of its name: read_runbook is a read
// though "run" is in it.
//
// A name that begins with a verb of reading is a read, unless it goes on "and"
// with another verb; else the most dangerous verb in it decides. A name without
// a known verb is taken for a write, the careful side.
func KindOf(name string, annotations Annotations) record.ToolKind {
	kind := kindByName(name)
	readOnly, destructive := annotations.ReadOnly, annotations.Destructive
	switch {
	case readOnly != nil && *readOnly:
		return record.ToolRead
	case destructive != nil && *destructive:
		return record.ToolDestructive
	case destructive != nil && kind == record.ToolDestructive:
		return record.ToolWrite
	case readOnly != nil && kind == record.ToolRead:
		return record.ToolWrite
	}
	return kind
}

func kindByName(name string) record.ToolKind {
	words := record.NameWords(name)
	if len(words) > 0 && readWords[words[0]] {
		rest := words[1:]
		for len(rest) > 0 && !joiners[rest[0]] {
			rest = rest[1:]
		}
		words = append(rest, words[0])
	}
	has := func(set map[string]bool) bool {
		return slices.ContainsFunc(words, func(w string) bool { return set[w] })
	}
	switch {
	case has(destructiveWords):
		return record.ToolDestructive
	case has(writeWords):
		return record.ToolWrite
	case has(readWords):
		return record.ToolRead
	case has(destructiveNouns):
		return record.ToolDestructive
	}
	return record.ToolWrite
}
