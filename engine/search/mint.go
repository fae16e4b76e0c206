package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Plausible values for what no enum and no description names. They are invented;
// the address domain is the one RFC 2606 reserves for tests.
var mintedNames = map[string][]string{
	"service":     {"billing-api", "checkout", "auth-gateway", "search-indexer", "payments-ledger", "notification-worker", "image-resizer", "session-store", "catalog", "rate-limiter", "webhook-relay", "inventory-sync"},
	"team":        {"payments", "platform", "data-infra", "identity", "checkout", "search", "storage", "networking", "mobile-backend", "fraud"},
	"host":        {"web-03", "db-primary-1", "cache-07", "edge-fra-2", "worker-14", "build-05"},
	"server":      {"web-03", "db-primary-1", "cache-07", "edge-fra-2", "worker-14", "build-05"},
	"region":      {"eu-west-1", "us-east-2", "ap-south-1", "eu-north-1"},
	"queue":       {"invoices-retry", "emails-outbound", "thumbnails", "orders-dlq"},
	"database":    {"orders_prod", "ledger", "analytics_eu", "users_main"},
	"repo":        {"storefront", "infra-modules", "mobile-app", "ledger-core"},
	"repository":  {"storefront", "infra-modules", "mobile-app", "ledger-core"},
	"environment": {"staging", "production", "preview-12", "qa"},
	"cluster":     {"prod-eu-1", "prod-us-2", "batch-3", "edge-1"},
	"namespace":   {"payments", "growth", "ml-serving", "default"},
	"deployment":  {"checkout-v2", "feed-ranker", "api-canary", "frontend-blue"},
	"channel":     {"#ops-alerts", "#support-triage", "#release-eu", "#payments-oncall"},
	"project":     {"atlas", "northstar", "bluebird", "harvest"},
	"branch":      {"release/4.2", "fix-login-loop", "main", "hotfix-tax"},
	"bucket":      {"invoices-archive", "raw-events-eu", "media-cold", "backups-nightly"},
	"table":       {"orders", "ledger_entries", "sessions", "price_history"},
	"city":        {"Lisbon", "Denver", "Osaka", "Gdansk", "Nairobi", "Leeds"},
	"country":     {"Portugal", "Canada", "Japan", "Kenya"},
	"name":        {"Mia Chen", "Tomasz Nowak", "Amara Okafor", "Lucas Meyer", "Priya Nair"},
	"currency":    {"EUR", "USD", "GBP"},
	"language":    {"Portuguese", "German", "Polish"},
	"file":        {"reports/q3-forecast.xlsx", "notes/handover.md", "exports/customers.csv", "config/limits.yaml"},
	"path":        {"/srv/reports/q3-forecast.xlsx", "/etc/relay/limits.yaml", "/var/exports/customers.csv"},
	"origin":      {"SEA", "JFK", "DEN", "ORD", "BOS"},
	"destination": {"SFO", "ATL", "MIA", "PHX", "LAX"},
	"sku":         {"SKU-40718", "SKU-11932", "SKU-88204", "SKU-52066"},
	"plan":        {"starter", "team", "business"},
	"device":      {"laptop-0417", "scanner-22", "tablet-0093"},
	"printer":     {"3f-east", "lobby-1", "warehouse-2"},
	"room":        {"Aspen", "2.14", "North lab"},
}

// otherNames are the names that stand for nouns the table does not know.
var mintedFamilies = map[string]string{
	"hostname": "host", "node": "host", "db": "database", "env": "environment", "app": "service", "application": "service", "component": "service",
	"location": "city", "town": "city", "username": "user", "group": "team", "squad": "team", "filename": "file", "document": "file",
	"airport": "origin", "pod": "deployment", "topic": "queue", "workspace": "project", "model": "deployment", "feature": "branch", "warehouse": "city",
}

// mintID makes a plausible id for a noun. Different draws give different ids.
func mintID(r *rand.Rand, noun string) string {
	words := strings.Fields(noun)
	last := noun
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	if family, ok := mintedFamilies[last]; ok {
		last = family
	}
	if names, ok := mintedNames[last]; ok {
		return pick(r, names)
	}
	switch last {
	case "user", "member", "passenger":
		return fmt.Sprintf("%s_%s_%04d", pick(r, []string{"mia", "omar", "lena", "raj", "sofia", "yusuf", "emma", "noah", "ines", "tomas"}),
			pick(r, []string{"chen", "haddad", "fischer", "patel", "rossi", "demir", "novak", "silva", "larsen", "kim"}), 1000+r.IntN(9000))
	case "reservation", "booking", "confirmation":
		return mintRecordLocator(r)
	case "flight":
		return fmt.Sprintf("%s%03d", pick(r, []string{"NW", "KE", "HAT", "BX"}), 100+r.IntN(900))
	case "email", "mail":
		return fmt.Sprintf("%s.%s@post.test", pick(r, []string{"mia", "omar", "lena", "raj"}), pick(r, []string{"chen", "haddad", "fischer", "patel"}))
	case "phone", "mobile":
		return fmt.Sprintf("+44 7700 900%03d", r.IntN(1000)) // Ofcom's range for fiction
	case "url", "link":
		return fmt.Sprintf("https://wiki.post.test/page/%d", 100+r.IntN(900))
	case "version", "release":
		return fmt.Sprintf("%d.%d.%d", 1+r.IntN(6), r.IntN(20), r.IntN(10))
	case "payment":
		return fmt.Sprintf("%s_%07d", pick(r, []string{"credit_card", "gift_card"}), 1000000+r.IntN(9000000))
	case "account":
		return fmt.Sprintf("AC-%06d", 100000+r.IntN(900000))
	}
	return fmt.Sprintf("%s-%d", idPrefix(last), 1000+r.IntN(90000))
}

// mintRecordLocator is six letters and digits without those that are read wrongly
// on the phone, as airlines make them.
func mintRecordLocator(r *rand.Rand) string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	var b [6]byte
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	if b[0] >= '0' && b[0] <= '9' {
		b[0] = 'K'
	}
	return string(b[:])
}

// idPrefix is what ids of a noun begin with in many systems: ORD for an order.
func idPrefix(noun string) string {
	switch noun {
	case "incident":
		return "INC"
	case "ticket", "case", "issue", "request":
		return "TCK"
	case "customer", "client":
		return "CUS"
	case "transaction":
		return "TXN"
	case "invoice":
		return "INV"
	case "subscription":
		return "SUB"
	case "employee":
		return "EMP"
	case "shipment", "parcel", "tracking":
		return "SHP"
	case "":
		return "REC"
	}
	var b strings.Builder
	for _, c := range strings.ToUpper(noun) {
		if c >= 'A' && c <= 'Z' {
			b.WriteRune(c)
		}
		if b.Len() == 3 {
			break
		}
	}
	if b.Len() == 0 {
		return "REC"
	}
	return b.String()
}

// value is what the person would give for an argument that is no reference.
func (p *phrasebook) value(r *rand.Rand, a argument, about string) string {
	if len(a.enum) > 0 {
		return pick(r, a.enum)
	}
	last := ""
	if n := len(a.tokens); n > 0 {
		last = a.tokens[n-1]
	}
	switch a.kind {
	case argumentFlag:
		return pick(r, []string{"yes", "no"})
	case argumentNumber:
		return numberFor(r, a.tokens)
	case argumentDate:
		return dateFor(r, last)
	case argumentText:
		switch last {
		case "expression":
			return fmt.Sprintf("%d * %d + %d", 2+r.IntN(9), 20+r.IntN(180), 5+r.IntN(90))
		case "query", "keyword", "keywords", "search", "question":
			return about
		}
		return pick(r, p.domain.reasons)
	}
	if slices.Contains(dateThings, last) {
		return dateFor(r, last)
	}
	return mintID(r, a.noun)
}

func numberFor(r *rand.Rand, tokens []string) string {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(tokens, w) })
	}
	switch {
	case has("amount", "price", "total", "cost", "fee"):
		return fmt.Sprintf("%d.%02d", 12+r.IntN(480), []int{0, 0, 50, 95, 99}[r.IntN(5)])
	case has("percent", "percentage"):
		return fmt.Sprint(5 * (1 + r.IntN(10)))
	case has("replicas", "passengers", "baggages", "bags", "guests", "nights", "quantity", "seats"):
		return fmt.Sprint(2 + r.IntN(4))
	case has("limit", "page", "size"):
		return fmt.Sprint(10 * (1 + r.IntN(5)))
	}
	return fmt.Sprint(2 + r.IntN(28))
}

// dateFor is a date in the form of the argument. Absolute dates lie in one fixed
// month: a task is the same whenever it is posed.
func dateFor(r *rand.Rand, last string) string {
	if last == "time" {
		return fmt.Sprintf("%02d:%02d", 7+r.IntN(13), 15*r.IntN(4))
	}
	return fmt.Sprintf("2024-05-%02d", 16+r.IntN(15))
}
