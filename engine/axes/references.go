package axes

import (
	"strings"

	"assay/engine/record"
)

var (
	// referenceEndings end the name of an argument that refers to a thing.
	referenceEndings = wordSet(`id ids key number no code ref reference uuid guid slug handle sku iban isbn vin arn urn`)
	// freeWords are names of arguments that say or choose something and refer to
	// nothing, whatever else is in the name.
	freeWords = wordSet(`text message body content note notes reason description comment query search q title subject summary
		prompt question answer amount price total count limit offset page size date time timestamp duration days hours
		minutes status state type kind mode format language currency unit units sort filter fields flag force dry verbose
		latitude longitude temperature zip postal country password token secret expression thought phone color colour`)
	// things are nouns that an agent is asked about by name.
	things = wordSet(`service order user customer account ticket issue invoice reservation booking repository repo project host
		hostname server cluster node device file filename path branch runbook incident product item employee patient policy
		flight email username member subscription payment shipment package claim case document doc record resource instance
		database table channel room contact lead deal contract domain url pod deployment namespace environment pipeline job
		build commit release alert dashboard monitor card certificate playlist article page event meeting appointment asset
		vehicle driver listing property student course vendor supplier warehouse store branch`)
)

// ReferenceArguments are the arguments of a tool that take a reference to a
// thing of the world (order_id, service, path), in the order of its schema: not
// free text, amounts, dates or options.
func ReferenceArguments(tool record.Tool) []string {
	var out []string
	for _, a := range arguments(tool.Parameters) {
		if a.isReference() {
			out = append(out, a.Name)
		}
	}
	return out
}

func (a argument) isReference() bool {
	for _, t := range a.types() {
		if t != "string" && t != "integer" {
			return false
		}
	}
	if a.Format == "uuid" {
		return true
	}
	if a.Format == "date" || a.Format == "date-time" || a.Format == "time" {
		return false
	}
	words := record.NameWords(a.Name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if last == "name" && len(words) > 1 {
		words = words[:len(words)-1]
		last = words[len(words)-1]
		if !things[last] {
			return false
		}
	}
	if len(words) > 1 && referenceEndings[last] || last == "id" || last == "uuid" || last == "sku" {
		return !freeWords[words[0]]
	}
	for _, w := range words {
		if freeWords[w] {
			return false
		}
	}
	return things[last] || describesReference(a.Description)
}

// describesReference is true of "The ID of the order to cancel".
func describesReference(description string) bool {
	words := strings.Fields(strings.ToLower(description))
	for i, w := range words[:min(len(words), 6)] {
		w = strings.Trim(w, ".,:;()'\"")
		if w == "id" || w == "identifier" || w == "identifiers" {
			return true
		}
		if w == "unique" && i+1 < len(words) && strings.HasPrefix(words[i+1], "id") {
			return true
		}
	}
	return false
}

// noun is the thing that a reference argument refers to: order for order_id.
func noun(argument string) string {
	words := record.NameWords(argument)
	for len(words) > 1 && (referenceEndings[words[len(words)-1]] || words[len(words)-1] == "name") {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
