package search

import (
	"slices"
	"strings"

	"assay/engine/record"
)

// domain is the world that the tools live in, as far as small talk goes: what
// people there are worried about, who they say they are, where they look.
type domain struct {
	name      string
	source    string // where rules can be read: "on the wiki"
	consumer  bool   // the person asks for themselves and not for their work
	keywords  []string
	contexts  []string // background that is true of any ask in the domain
	reasons   []string // why, as a clause: "it stopped answering"
	searches  []string // what one might search for
	deadlines []string
	roles     []string // who a person might claim to be
	others    []string // who may have said or done something before
	places    []string // where the person sees the thing
}

// domains are told apart by the words of tools, arguments and descriptions. The
// last is for everything else.
func domains() []*domain {
	return []*domain{
		{
			name: "operations", source: "on the wiki",
			keywords: []string{"service", "services", "runbook", "restart", "deploy", "deployment", "incident", "alert", "alerts", "cluster", "host", "server", "pod", "rollback", "page", "oncall", "on-call", "metrics", "logs", "queue", "scale", "kubernetes", "database"},
			contexts: []string{
				"Latency went up about twenty minutes ago.", "We are seeing 502s from the edge.", "The deploy from this afternoon looks suspicious.", "Two customers have written in already.",
				"Memory has been climbing since lunch.", "The graphs look like a saw.", "Error budget for this month is nearly gone.", "The alert has fired three times tonight.",
				"CPU is pinned on half of the boxes.", "Nothing was deployed today as far as I know.", "I'm covering for someone else tonight.", "There is a note from earlier that says very little.",
				"Consumers are lagging by a few million messages.", "The status page still says all green.",
			},
			reasons:   []string{"it stopped answering health checks", "memory keeps climbing", "requests hang after the last deploy", "the error rate is at nine percent", "the connection pool is exhausted", "it has been looping on startup", "p99 latency tripled", "the certificate rotation broke it"},
			searches:  []string{"connection pool exhausted", "502 after deploy", "memory leak", "consumer lag"},
			deadlines: []string{"the incident call starts in five minutes", "we breach the SLA at half past", "the sale opens in ten minutes", "the CTO is asking for an update", "my shift ends in a quarter of an hour", "customers are locked out right now"},
			roles:     []string{"the incident commander", "the head of platform", "the on-call lead for this week", "an SRE with production access", "the owner of this system"},
			others:    []string{"the night shift", "Dana on the other shift", "the previous on-call", "someone in the incident channel", "the vendor's support"},
			places:    []string{"on the dashboard", "in the service catalogue", "in the incident channel", "in Grafana"},
		},
		{
			name: "travel", source: "on your website", consumer: true,
			keywords: []string{"flight", "flights", "reservation", "airline", "airport", "passenger", "passengers", "baggage", "hotel", "trip", "itinerary", "seat", "cabin", "certificate"},
			contexts: []string{
				"I'm travelling with my mother, who is 78.", "We are three adults and a baby.", "I'm at the gate with a dying phone.", "It's for my sister's wedding.", "I booked it months ago.",
				"My plans changed yesterday evening.", "The app keeps logging me out.", "I paid with a voucher, I think.", "I've been flying with you for years.", "The weather warning made me nervous.",
				"I'm abroad and roaming is expensive.", "My company pays, but I booked it myself.", "I was on hold for forty minutes before this.",
			},
			reasons:   []string{"my plans have changed", "I fell ill", "the meeting was moved", "I booked the wrong day", "my connection is too short", "a family member is in hospital", "the airline changed the times", "I found out my passport has expired"},
			searches:  []string{"a direct flight", "the cheapest economy seat", "anything after noon"},
			deadlines: []string{"boarding starts in half an hour", "my taxi is waiting outside", "check-in closes at six", "I have to tell my boss tonight", "the fare is held until midnight", "my battery is at four percent"},
			roles:     []string{"a travel agent", "a gold member", "the account holder's assistant", "someone who works for the airline", "the passenger's lawyer"},
			others:    []string{"the lady at the counter", "your colleague on the phone", "my travel agent", "the chat on your website", "my husband"},
			places:    []string{"in the app", "in the confirmation email", "on my boarding pass", "on your website"},
		},
		{
			name: "shop", source: "on your website", consumer: true,
			keywords: []string{"order", "orders", "refund", "return", "product", "products", "item", "cart", "shipment", "delivery", "exchange", "inventory", "purchase", "shipping", "coupon", "price", "store", "customer"},
			contexts: []string{
				"It was meant to be a birthday present.", "The parcel came in a torn box.", "The colour is nothing like the photo.", "I've been a customer since forever.", "The driver left it with a neighbour.",
				"I ordered two sizes to try them on.", "The tracking page hasn't moved for days.", "It worked for a week.", "I paid with my partner's card.", "I moved house last month.",
				"The discount code didn't go through.", "I already threw away the packaging.", "Half of it was in another box.",
			},
			reasons:   []string{"it arrived damaged", "the wrong size came", "it never turned up", "I was charged twice", "it stopped working after a week", "I ordered it by mistake", "I found it cheaper elsewhere", "a part is missing from the box"},
			searches:  []string{"a winter jacket in medium", "a replacement charger", "blue running shoes"},
			deadlines: []string{"I leave for a trip tomorrow morning", "the party is tonight", "my card bill closes today", "the courier comes at four", "my lunch break is over in five minutes", "the offer ends at midnight"},
			roles:     []string{"a store manager", "the account owner's spouse", "an employee with a staff code", "someone from your head office", "a premium customer"},
			others:    []string{"your colleague in the chat", "the courier", "a lady on the phone", "my wife", "the man in the shop"},
			places:    []string{"in my account", "in the confirmation email", "on the receipt", "in the app"},
		},
		{
			name: "money", source: "in your terms", consumer: true,
			keywords: []string{"account", "accounts", "transaction", "payment", "transfer", "balance", "card", "loan", "bank", "invoice", "statement", "billing", "charge", "subscription", "insurance", "claim"},
			contexts: []string{
				"I only noticed when I went through my statement.", "My accountant asked me for it.", "I'm abroad at the moment.", "I changed my phone last week.", "It's a joint account.",
				"The app says something else than the letter.", "I've been with you for eleven years.", "I'm doing my taxes.", "My rent goes out tomorrow.", "I don't usually check this.",
				"The amounts don't add up for me.", "I get a text every time and this time I didn't.",
			},
			reasons:   []string{"I don't recognise it", "it went through twice", "the amount is wrong", "I lost my card", "I no longer need it", "it was sent to the wrong person", "I closed the contract in spring", "my details changed"},
			searches:  []string{"card payments in March", "charges over 50", "the standing order for rent"},
			deadlines: []string{"the payment goes out tonight", "my landlord wants it by noon", "the tax office gave me until today", "I'm at the till right now", "the shop holds it for ten minutes", "my train is coming"},
			roles:     []string{"the branch manager", "the account holder's son", "an auditor", "a lawyer acting for the customer", "someone from the fraud department"},
			others:    []string{"the man at the branch", "your colleague on the phone", "my accountant", "the bot in the app", "my wife"},
			places:    []string{"in the app", "on my statement", "in online banking", "in the letter you sent"},
		},
		{
			name: "office", source: "on the intranet",
			keywords: []string{"ticket", "employee", "meeting", "calendar", "email", "document", "file", "user", "password", "device", "printer", "leave", "task", "project", "contact", "schedule", "event"},
			contexts: []string{
				"I'm new in the team, so bear with me.", "My laptop was swapped last week.", "The office in Leeds has the same problem.", "My manager is on leave.", "We moved to the new system on Monday.",
				"I have a room full of people waiting.", "This came up in the stand-up.", "I've already turned it off and on again.", "Facilities sent me to you.", "The wiki page about this is from 2019.",
				"I only need it until the end of the week.", "There's an audit next week.",
			},
			reasons:   []string{"I can't log in any more", "my team changed", "it's no longer needed", "it was set up for the wrong person", "the old one expired", "the audit asks for it", "somebody left the company", "it clashes with another meeting"},
			searches:  []string{"the onboarding checklist", "the travel policy", "last week's minutes"},
			deadlines: []string{"my meeting starts in five minutes", "payroll closes today", "the client calls at three", "my boss is standing behind me", "I'm about to board", "the audit starts in an hour"},
			roles:     []string{"the head of IT", "her manager", "the system owner", "someone from legal", "an administrator"},
			others:    []string{"the helpdesk", "a colleague in HR", "my manager", "the person who had this job before me", "somebody from IT"},
			places:    []string{"in the portal", "in my inbox", "on the intranet", "in the calendar"},
		},
		{
			name: "general", source: "on the help page",
			contexts: []string{
				"I've been at this all morning.", "I'm doing this for the first time.", "A colleague pointed me here.", "It used to be easier.", "I couldn't find it in the help pages.", "I'm on my phone, so short answers please.",
				"I've read the notes twice.", "It's for a report.", "We had the same thing last month.", "I'm filling in for someone.", "My screen looks different from the screenshots.", "I wrote it all down this time.",
			},
			reasons:   []string{"it's no longer needed", "something looks wrong with it", "the details have changed", "it was set up by mistake", "somebody asked me to", "it has stopped working", "the old one is out of date", "I picked the wrong one"},
			searches:  []string{"last month's figures", "the newest entry", "anything about the migration"},
			deadlines: []string{"I have to leave in five minutes", "my boss wants it today", "the meeting starts at three", "they're waiting for me", "the window closes at noon", "my battery is nearly gone"},
			roles:     []string{"the manager here", "an administrator", "the owner of this", "someone from head office", "the person responsible"},
			others:    []string{"a colleague", "the person before me", "your other agent", "someone on the phone", "my manager"},
			places:    []string{"on my screen", "in the list", "in the system", "in the email I got"},
		},
	}
}

// domainOf is the domain whose words the tools use most; the first of equals,
// the general one where none is used twice.
func domainOf(tools []toolSense) *domain {
	all := domains()
	count := make([]int, len(all))
	for _, t := range tools {
		words := record.NameWords(t.tool.Name)
		for _, a := range t.args {
			words = append(words, a.tokens...)
		}
		words = append(words, words...) // names say more than descriptions
		words = append(words, strings.Fields(strings.ToLower(t.tool.Description))...)
		for _, w := range words {
			w = strings.Trim(w, ".,;:()'\"")
			for i, d := range all {
				if slices.Contains(d.keywords, w) {
					count[i]++
				}
			}
		}
	}
	best := len(all) - 1
	for i := range all {
		if count[i] >= 2 && (best == len(all)-1 || count[i] > count[best]) {
			best = i
		}
	}
	return all[best]
}
