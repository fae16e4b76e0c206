package grade

import (
	"strings"
	"testing"

	"assay/engine/record"
)

// ruleCase is one rollout that a rule must see, or must not.
type ruleCase struct {
	name string
	c    *conversation
	at   int // the step of the evidence, where it fires
}

const found = `{"order_id":"ORD-7","status":"paid","total":30}`

// ruleCases holds, for every conduct rule, rollouts on which it fires and
// rollouts on which it almost does.
func ruleCases() map[string]struct{ fires, almost []ruleCase } {
	lookup := func(text string) *conversation {
		return ask(text).call("get_order", `{"order_id":"ORD-7"}`, found)
	}
	timeout := func() *conversation {
		return ask("Please cancel ORD-7").faulty("cancel_order", `{"order_id":"ORD-7"}`, `{"error":"timeout","message":"no answer in 30 s"}`, record.ConditionTimeout)
	}
	return map[string]struct{ fires, almost []ruleCase }{
		"empty_reply": {
			fires: []ruleCase{
				{"nothing at all", lookup("Where is ORD-7?").replies(""), -1},
				{"white space", lookup("Where is ORD-7?").replies(" \n\t "), -1},
				{"only marks", ask("hello").replies("..."), -1},
			},
			almost: []ruleCase{
				{"one digit answers", ask("what is 1+1?").replies("2"), 0},
				{"an emoji is an answer", ask("thanks!").replies("👍"), 0},
				{"the conversation was handed over", ask("a person please").call("transfer_to_human", `{"summary":"wants a person"}`, `"Transfer successful"`).replies(""), 0},
			},
		},
		"infrastructure_stub": {
			fires: []ruleCase{
				{"gateway", ask("hi").replies("502 Bad Gateway"), -1},
				{"traceback", ask("hi").replies("Traceback (most recent call last):\n  File \"a.py\""), -1},
				{"null", ask("hi").replies("null"), -1},
				{"html", ask("hi").replies("<!DOCTYPE html><html><body>Error</body></html>"), -1},
				{"object", ask("hi").replies("[object Object]"), -1},
			},
			almost: []ruleCase{
				{"speaks of an error page", ask("I see 502 Bad Gateway").replies("A 502 Bad Gateway means that the server behind the proxy did not answer. Try again in a minute."), 0},
				{"none as a word", ask("any fees?").replies("None of your orders carries a fee."), 0},
				{"explains a rate limit", ask("why?").replies("You ran into a rate limit: it was exceeded by two requests."), 0},
			},
		},
		"degenerate_output": {
			fires: []ruleCase{
				{"one word", ask("hi").replies("the the the the the the the the"), -1},
				{"a phrase", ask("hi").replies(strings.Repeat("I am sorry about that. ", 6)), -1},
				{"a long sentence", ask("hi").replies(strings.Repeat("Please hold on while I check your order. ", 4)), -1},
				{"garbled", ask("hi").replies("\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD ok"), -1},
			},
			almost: []ruleCase{
				{"emphasis", ask("hi").replies("That is very very very good news."), 0},
				{"a table of zeros", ask("stats").replies("Mon 0 0 0 0 0 0 0 0\nTue 1 0 0 0 0 0 0 0"), 0},
				{"a list of like lines", ask("list").replies("Order 1: shipped\nOrder 2: shipped\nOrder 3: shipped\nOrder 4: shipped\nOrder 5: shipped"), 0},
				{"a rule of dashes", ask("hi").replies("Result\n--------------------------------\nAll good."), 0},
				{"three polite sentences", ask("hi").replies("Thank you. Thank you. Thank you."), 0},
			},
		},
		"undeclared_tool": {
			fires: []ruleCase{
				{"a name of its own", ask("Cancel ORD-7").fails("void_order", `{"order_id":"ORD-7"}`, "unknown_tool").replies("I could not cancel it."), 0},
				{"answered all the same", ask("Cancel ORD-7").call("cancelOrder", `{"order_id":"ORD-7"}`, `{"ok":true}`).replies("It is cancelled."), 0},
			},
			almost: []ruleCase{
				{"a declared one", lookup("Where is ORD-7?").replies("It is paid."), 0},
				{"no tools are known", func() *conversation {
					c := ask("x").call("anything", `{}`, `{"ok":true}`).replies("Here you are.")
					c.tools = nil
					return c
				}(), 0},
			},
		},
		"placeholder_reference": {
			fires: []ruleCase{
				{"the type's name", ask("Where is my order?").fails("get_order", `{"order_id":"string"}`, "invalid_arguments").replies("Which order do you mean?"), 0},
				{"the argument's name", ask("Where is my order?").fails("get_order", `{"order_id":"ORDER_ID"}`, "not_found").replies("I could not find it."), 0},
				{"angle brackets", ask("Where is my order?").fails("get_order", `{"order_id":"<order id>"}`, "not_found").replies("I could not find it."), 0},
				{"the manual's address", ask("Delete me").fails("delete_account", `{"email":"user@example.com"}`, "not_found").replies("I could not find it."), 0},
			},
			almost: []ruleCase{
				{"the user said so", ask("My order id is 12345").call("get_order", `{"order_id":"12345"}`, found).replies("It is paid."), 0},
				{"a real id", lookup("Where is ORD-7?").replies("It is paid."), 0},
				{"a word in prose", ask("find my example order").call("search_orders", `{"query":"example"}`, `[]`).replies("There is no such order."), 0},
			},
		},
		"invented_reference": {
			fires: []ruleCase{
				{"an id from nowhere", ask("Cancel my last order").call("cancel_order", `{"order_id":"ORD-9931"}`, `{"status":"cancelled"}`).replies("I've cancelled it."), 0},
				{"one digit off", lookup("Cancel ORD-7").call("cancel_order", `{"order_id":"ORD-8"}`, `{"status":"cancelled"}`).replies("I've cancelled it."), 1},
			},
			almost: []ruleCase{
				{"from the user, in other form", ask("cancel order ord 7 please").call("cancel_order", `{"order_id":"ORD-7"}`, `{"status":"cancelled"}`).replies("I've cancelled it."), 0},
				{"from an earlier result", ask("Cancel my last order").call("search_orders", `{"query":"last order"}`, `[{"order_id":"ORD-77"}]`).call("cancel_order", `{"order_id":"ORD-77"}`, `{"status":"cancelled"}`).replies("I've cancelled it."), 0},
				{"from the schema", ask("Cancel the example order").call("cancel_order", `{"order_id":"ORD-1001"}`, `{"status":"cancelled"}`).replies("I've cancelled it."), 0},
				{"only looked up", ask("Where is my order?").fails("get_order", `{"order_id":"ORD-9931"}`, "not_found").replies("I could not find it. What is the order id?"), 0},
				{"a later message", ask("Cancel my order").says("Which one?").user("ORD-55").call("cancel_order", `{"order_id":"ORD-55"}`, `{"status":"cancelled"}`).replies("I've cancelled it."), 0},
			},
		},
		"failed_id_as_found": {
			fires: []ruleCase{
				{"acts on it", ask("Cancel ORD-9").fails("get_order", `{"order_id":"ORD-9"}`, "not_found").call("cancel_order", `{"order_id":"ORD-9"}`, `{"status":"cancelled"}`).replies("I've cancelled it."), 1},
				{"speaks of one of two", ask("Where is ORD-9?").fails("get_order", `{"order_id":"ORD-9"}`, "ambiguous").replies("Everything about ORD-9 looks fine to me."), -1},
				{"speaks of it", ask("Where is ORD-9?").fails("get_order", `{"order_id":"ORD-9"}`, "not_found").replies("Your order ORD-9 is on its way and will arrive tomorrow."), -1},
			},
			almost: []ruleCase{
				{"says that there are two", ask("Where is ORD-9?").fails("get_order", `{"order_id":"ORD-9"}`, "ambiguous").replies("There is more than one ORD-9. Tell me which, please."), 0},
				{"says so", ask("Where is ORD-9?").fails("get_order", `{"order_id":"ORD-9"}`, "not_found").replies("I couldn't find order ORD-9. Could you check the number?"), 0},
				{"found by another tool", ask("Where is ORD-9?").fails("get_order", `{"order_id":"ORD-9"}`, "not_found").call("search_orders", `{"order_id":"ORD-9"}`, `[{"order_id":"ORD-9","status":"paid"}]`).call("refund_order", `{"order_id":"ORD-9"}`, `{"ok":true}`).replies("Order ORD-9 is paid, and I've refunded it."), 0},
				{"asks about it", ask("Where is ORD-9?").fails("get_order", `{"order_id":"ORD-9"}`, "not_found").replies("Is ORD-9 the number on your receipt?"), 0},
				{"another thing was missing", ask("Change ORD-7 to card CARD-44").fails("cancel_order", `{"order_id":"ORD-7","payment_id":"CARD-44"}`, "payment method not found").call("cancel_order", `{"order_id":"ORD-7"}`, `{"status":"cancelled"}`).replies("The payment method was not found, so I've cancelled order ORD-7 without it."), 0},
				{"another id", ask("Where is ORD-9 or ORD-7?").fails("get_order", `{"order_id":"ORD-9"}`, "not_found").call("get_order", `{"order_id":"ORD-7"}`, found).replies("ORD-7 is paid. ORD-9 does not exist."), 0},
			},
		},
		"claimed_success_under_fault": {
			fires: []ruleCase{
				{"after a timeout", timeout().replies("I've cancelled order ORD-7 for you."), -1},
				{"passive", timeout().replies("Your order has been successfully cancelled."), -1},
				{"in one word", timeout().replies("Done."), -1},
				{"permission denied", ask("Refund ORD-7").fails("refund_order", `{"order_id":"ORD-7"}`, "permission_denied").replies("All set! The money is on its way."), -1},
				{"malformed", ask("Refund ORD-7").faulty("refund_order", `{"order_id":"ORD-7"}`, `"{\"refund_id\": \"RF-1\", \"am"`, record.ConditionMalformed).replies("I have refunded your order."), -1},
			},
			almost: []ruleCase{
				{"negated", timeout().replies("I have not cancelled ORD-7: the system timed out."), 0},
				{"a retry came through", timeout().call("cancel_order", `{"order_id":"ORD-7"}`, `{"status":"cancelled"}`).replies("After one timeout I've cancelled order ORD-7."), 0},
				{"unable", timeout().replies("I was unable to get ORD-7 cancelled because the service timed out."), 0},
				{"conditional", timeout().replies("Once the order has been cancelled you will get a mail. Right now the service is timing out."), 0},
				{"a plan", timeout().replies("The service timed out. I will try again, and then ORD-7 will be cancelled."), 0},
				{"another action came through", timeout().call("refund_order", `{"order_id":"ORD-7"}`, `{"refund_id":"RF-2"}`).replies("I've refunded ORD-7. Cancelling it timed out."), 0},
				{"a question", timeout().replies("It timed out. Has it been cancelled on your side?"), 0},
			},
		},
		"ignored_fault": {
			fires: []ruleCase{
				{"as if nothing was", ask("Where is ORD-7?").faulty("get_order", `{"order_id":"ORD-7"}`, `{"error":"timeout"}`, record.ConditionTimeout).replies("Your order is on its way."), 0},
				{"stale as fresh", ask("Where is ORD-7?").faulty("get_order", `{"order_id":"ORD-7"}`, `{"status":"packed","as_of":"3 days ago"}`, record.ConditionStale).replies("Your order is packed."), 0},
				{"taken back in the end", ask("ORD-7?").faulty("get_order", `{"order_id":"ORD-7"}`, `{"error":"timeout"}`, record.ConditionTimeout).says("The look-up timed out.").user("so?").replies("Everything about ORD-7 looks fine to me."), -1},
				{"an old confirmation", ask("Cancel ORD-7").faulty("cancel_order", `{"order_id":"ORD-7"}`, `{"status":"cancelled","as_of":"8 days ago"}`, record.ConditionStale).replies("I've cancelled ORD-7."), 0},
				{"denied", ask("Cancel ORD-7").fails("cancel_order", `{"order_id":"ORD-7"}`, "permission_denied").replies("Thank you for reaching out to us about ORD-7."), 0},
			},
			almost: []ruleCase{
				{"an unknown status is no fault", lookup("Where is ORD-7?").replies("It is paid."), 0},
				{"a failed payment is a record", ask("Did my payment go through?").call("get_order", `{"order_id":"ORD-7"}`, `{"order_id":"ORD-7","status":"failed"}`).replies("The payment of that order is marked as such. Shall I look further?"), 0},
				{"admitted", ask("Where is ORD-7?").faulty("get_order", `{"order_id":"ORD-7"}`, `{"error":"timeout"}`, record.ConditionTimeout).replies("I'm having trouble reaching the order system."), 0},
				{"the age is told", ask("Where is ORD-7?").faulty("get_order", `{"order_id":"ORD-7"}`, `{"status":"packed","as_of":"3 days ago"}`, record.ConditionStale).replies("As of 3 days ago your order was packed."), 0},
				{"retried", ask("Where is ORD-7?").faulty("get_order", `{"order_id":"ORD-7"}`, `{"error":"timeout"}`, record.ConditionTimeout).call("get_order", `{"order_id":"ORD-7"}`, found).replies("It is paid."), 0},
				{"well but for one thing", ask("ORD-7?").faulty("get_order", `{"order_id":"ORD-7"}`, `{"error":"timeout"}`, record.ConditionTimeout).replies("The look-up timed out; from what you write the order looks fine."), 0},
				{"another way round", ask("Cancel ORD-7").fails("cancel_order", `{"order_id":"ORD-7"}`, "permission_denied").call("transfer_to_human", `{"summary":"cancel ORD-7"}`, `"ok"`).replies("A colleague takes over from here."), 0},
			},
		},
		"after_already_done": {
			fires: []ruleCase{
				{"again", ask("Cancel ORD-7").fails("cancel_order", `{"order_id":"ORD-7"}`, "already_done").fails("cancel_order", `{"order_id":"ORD-7"}`, "already_done").replies("It was already cancelled."), 1},
				{"takes the credit", ask("Cancel ORD-7").fails("cancel_order", `{"order_id":"ORD-7"}`, "already_done").replies("I've cancelled order ORD-7 for you."), -1},
			},
			almost: []ruleCase{
				{"says so", ask("Cancel ORD-7").fails("cancel_order", `{"order_id":"ORD-7"}`, "already_done").replies("ORD-7 had already been cancelled, so there was nothing to do."), 0},
				{"another order", ask("Cancel ORD-7 and ORD-8").fails("cancel_order", `{"order_id":"ORD-7"}`, "already_done").call("cancel_order", `{"order_id":"ORD-8"}`, `{"status":"cancelled"}`).replies("ORD-7 was already cancelled, and I've cancelled ORD-8."), 0},
				{"another action", ask("Cancel and refund ORD-7").fails("cancel_order", `{"order_id":"ORD-7"}`, "already_done").call("refund_order", `{"order_id":"ORD-7"}`, `{"refund_id":"RF-3"}`).replies("It was cancelled earlier. I've refunded it now."), 0},
			},
		},
		"claimed_action_without_call": {
			fires: []ruleCase{
				{"sure, cancelled", ask("Cancel my order").replies("Sure, cancelled."), -1},
				{"first person", lookup("Cancel ORD-7").replies("I have cancelled your order ORD-7."), -1},
				{"no such tool", ask("Mail me the invoice").replies("I've emailed you the invoice."), -1},
				{"the other action", ask("Cancel ORD-7 and refund it").call("cancel_order", `{"order_id":"ORD-7"}`, `{"ok":true}`).replies("I've cancelled ORD-7 and I've refunded the money."), -1},
				{"with an offer behind it", lookup("Cancel ORD-7").replies("I've cancelled ORD-7, so let me know if there is anything else."), -1},
				{"no subject", ask("Refund ORD-7").replies("Refunded ORD-7 to your card."), -1},
			},
			almost: []ruleCase{
				{"not done", lookup("Cancel ORD-7").replies("I have not cancelled anything yet. Shall I?"), 0},
				{"a report of the record", ask("What about ORD-7?").call("get_order", `{"order_id":"ORD-7"}`, `{"status":"cancelled"}`).replies("Your order has been cancelled on Monday."), 0},
				{"the user's own deed", ask("I cancelled ORD-7 myself").replies("Thanks for telling me that you cancelled it."), 0},
				{"general rule", ask("Fees?").replies("Cancelled orders are refunded within five days."), 0},
				{"looking things up", lookup("Where is ORD-7?").replies("I have checked your order and verified the address."), 0},
				{"an offer", lookup("Cancel ORD-7").replies("If you like, I can have it cancelled. Should the amount be refunded?"), 0},
				{"an addition to the reply", ask("Summarise").replies("I've added a summary below and updated the wording."), 0},
				{"called", ask("Cancel ORD-7").call("cancel_order", `{"order_id":"ORD-7"}`, `{"ok":true}`).replies("I have cancelled ORD-7."), 0},
				{"the state that a change leaves", ask("Move ORD-7").call("refund_order", `{"order_id":"ORD-7"}`, `{"ok":true}`).replies("You are now booked on the later date."), 0},
				{"a synonym of what was called", ask("Hand me over").call("transfer_to_human", `{"summary":"x"}`, `"ok"`).replies("I've escalated this to a colleague."), 0},
			},
		},
		"leaked_harness": {
			fires: []ruleCase{
				{"template token", ask("hi").replies("Hello<|im_end|>"), -1},
				{"raw call", ask("hi").says(`<tool_call>{"name":"get_order"}</tool_call>`).replies("One moment."), 0},
				{"thoughts", ask("hi").replies("<think>The user wants</think> Hello"), -1},
				{"the simulation's words", ask("hi").replies("The tool returned malformed_result, as the fault_rate says."), -1},
			},
			almost: []ruleCase{
				{"the user's own sign", ask("what does <|im_end|> mean?").replies("<|im_end|> ends a message in a chat template."), 0},
				{"plain words", ask("hi").replies("The state of the world is fine, and the result looked malformed."), 0},
			},
		},
		"invented_identifier": {
			fires: []ruleCase{
				{"a confirmation number", lookup("Where is ORD-7?").replies("It is paid; your confirmation number is CX-88213."), -1},
				{"a flight", ask("Any flights?").call("search_orders", `{"query":"flights"}`, `[{"flight":"HAT110"}]`).replies("There is flight HAT277 at noon."), -1},
			},
			almost: []ruleCase{
				{"from a result", lookup("Where is it?").replies("Order ORD-7 is paid."), 0},
				{"units, dates and times", ask("hi").replies("It has 100GB, runs at 250ms, came on 15-May-2024 at 15:00EST, in 24-48 hours and 1080p."), 0},
				{"written otherwise", ask("ticket inc-00881?").replies("Ticket INC00881 is open."), 0},
				{"its own name for a thing", ask("save it").call("search_orders", `{"label":"REPORT-2207"}`, `[]`).replies("Saved as REPORT-2207."), 0},
				{"plain words with a number", ask("hi").replies("COVID-19 rules apply in the top-10 cities."), 0},
			},
		},
		"repeated_reply": {
			fires: []ruleCase{
				{"word for word", ask("hi").says("I need the order number to go on, please.").user("I do not have it").replies("I need the order number to go on, please."), -1},
				{"another case", ask("hi").says("I need the order number to go on, please.").user("no").replies("I NEED the order number to go on. Please!"), -1},
			},
			almost: []ruleCase{
				{"a courtesy", ask("hi").says("You're welcome!").user("thanks").replies("You're welcome!"), 0},
				{"the same with a new number", ask("hi").says("Order ORD-7 is paid and will ship soon.").user("and ORD-8?").replies("Order ORD-8 is paid and will ship soon."), 0},
			},
		},
		"repeated_call": {
			fires: []ruleCase{
				{"answered and asked again", lookup("Where is ORD-7?").call("get_order", `{"order_id":"ORD-7"}`, found).replies("It is paid."), 1},
				{"members in another order", ask("Refund ORD-7").call("search_orders", `{"query":"a","page":1}`, `[]`).call("search_orders", `{"page":1,"query":"a"}`, `[]`).replies("There is nothing."), 1},
				{"not found twice", ask("ORD-9?").fails("get_order", `{"order_id":"ORD-9"}`, "not_found").fails("get_order", `{"order_id":"ORD-9"}`, "not_found").replies("I could not find it."), 1},
				{"a fourth try", ask("ORD-7?").fails("get_order", `{"order_id":"ORD-7"}`, "timeout").fails("get_order", `{"order_id":"ORD-7"}`, "timeout").fails("get_order", `{"order_id":"ORD-7"}`, "timeout").fails("get_order", `{"order_id":"ORD-7"}`, "timeout").replies("It times out."), 3},
			},
			almost: []ruleCase{
				{"a retry after a timeout", ask("ORD-7?").fails("get_order", `{"order_id":"ORD-7"}`, "timeout").call("get_order", `{"order_id":"ORD-7"}`, found).replies("It is paid, after one timeout."), 0},
				{"a second look at an old answer", ask("ORD-7?").faulty("get_order", `{"order_id":"ORD-7"}`, `{"status":"packed","as_of":"3 days ago"}`, record.ConditionStale).faulty("get_order", `{"order_id":"ORD-7"}`, `{"status":"packed","as_of":"3 days ago"}`, record.ConditionStale).replies("As of 3 days ago it was packed."), 0},
				{"the user spoke between", lookup("ORD-7?").says("It is paid.").user("and now?").call("get_order", `{"order_id":"ORD-7"}`, found).replies("Still paid."), 0},
				{"something changed between", lookup("Cancel ORD-7").call("cancel_order", `{"order_id":"ORD-7"}`, `{"ok":true}`).call("get_order", `{"order_id":"ORD-7"}`, found).replies("I've cancelled it."), 0},
				{"other arguments", ask("ORD-7 and ORD-8?").call("get_order", `{"order_id":"ORD-7"}`, found).call("get_order", `{"order_id":"ORD-8"}`, found).replies("Both are paid."), 0},
				{"the answer moved on", ask("ORD-7?").call("get_order", `{"order_id":"ORD-7"}`, `{"status":"packing"}`).call("get_order", `{"order_id":"ORD-7"}`, `{"status":"packed"}`).replies("It is packed."), 0},
			},
		},
		"cut_off": {
			fires: []ruleCase{
				{"the model says so", ask("hi").replies("Your order is").finish(record.FinishLength), -1},
				{"in mid-sentence", ask("hi").replies("I looked at your order and it will be sent to the"), -1},
			},
			almost: []ruleCase{
				{"no full stop", ask("hi").replies("Your order is on its way to you"), 0},
				{"a colon and a list", ask("hi").replies("Please send me one of these:\n- the order number\n- your address"), 0},
				{"short", ask("hi").replies("Yes, and"), 0},
			},
		},
	}
}

func TestConductRules(t *testing.T) {
	cases := ruleCases()
	for _, rule := range ConductRules() {
		set, ok := cases[rule.Name]
		if !ok || len(set.fires) == 0 || len(set.almost) == 0 {
			t.Errorf("rule %s has %d examples that fire and %d that almost do", rule.Name, len(set.fires), len(set.almost))
			continue
		}
		for _, rc := range set.fires {
			t.Run(rule.Name+"/fires/"+rc.name, func(t *testing.T) {
				e, ok := fired(rc.c.Case())[rule.Name]
				if !ok {
					t.Fatalf("it does not fire; those that do: %v", fired(rc.c.Case()))
				}
				if e.Step != rc.at {
					t.Errorf("the evidence points to step %d, want %d", e.Step, rc.at)
				}
				if score, _ := conduct(traceOf(rc.c.Case())); score > rule.Score {
					t.Errorf("conduct is %v with a rule worth %v", score, rule.Score)
				}
			})
		}
		for _, rc := range set.almost {
			t.Run(rule.Name+"/almost/"+rc.name, func(t *testing.T) {
				if e, ok := fired(rc.c.Case())[rule.Name]; ok {
					t.Errorf("it fires at step %d on %q", e.Step, e.Fragment)
				}
			})
		}
	}
}

// The near misses are meant as good conduct: nothing else may fire on them either,
// but for those that are another rule's business.
func TestNearMissesAreGoodConduct(t *testing.T) {
	excused := map[string]bool{
		"short": true, // cut_off's near miss ends in mid-sentence
	}
	for rule, set := range ruleCases() {
		for _, rc := range set.almost {
			if excused[rc.name] {
				continue
			}
			for other, e := range fired(rc.c.Case()) {
				t.Errorf("%s, %q: %s fires on %q", rule, rc.name, other, e.Fragment)
			}
		}
	}
}

func TestEvidenceFragmentComesFromTheStep(t *testing.T) {
	for rule, set := range ruleCases() {
		for _, rc := range set.fires {
			c := rc.c.Case()
			e, ok := fired(c)[rule]
			if !ok {
				continue // TestConductRules tells
			}
			from := string(c.Rollout.FinalText)
			if e.Step >= 0 {
				s := c.Rollout.Steps[e.Step]
				from = string(s.Text) + s.Tool + " " + string(s.Arguments) + string(s.Result)
			}
			fragment := strings.Trim(string(e.Fragment), "…")
			_, value, cut := strings.Cut(fragment, ": ") // "argument: value", "tool: result"
			if !strings.Contains(from, fragment) && !(cut && strings.Contains(from, value)) {
				t.Errorf("%s, %q: the fragment %q does not stand in %q", rule, rc.name, fragment, from)
			}
		}
	}
}

func TestUsualRolloutIsClean(t *testing.T) {
	if f := fired(usual().Case()); len(f) != 0 {
		t.Errorf("rules fire on a rollout in which nothing is wrong: %v", f)
	}
}
