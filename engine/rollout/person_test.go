package rollout_test

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/engine/record"
	"assay/engine/rollout"
)

// talk plays a conversation with a scripted person: each reply, and what they
// say to it; "[user_left]" where the conversation ended.
func talk(user record.User, replies ...string) []string {
	p := rollout.NewScripted(user, record.Stream("user", 1, "task", 0, 0))
	var out []string
	for _, reply := range replies {
		said, _ := p.Answer(context.Background(), nil, record.Text(reply))
		if said.EndedBy != "" {
			return append(out, "["+said.EndedBy+"]")
		}
		out = append(out, string(said.Text))
	}
	return out
}

func TestPersonAnswers(t *testing.T) {
	knows := map[string]record.Text{"order_id": "ORD-1042", "customer_email": "mia@post.test"}
	for _, tt := range []struct {
		name    string
		user    record.User
		replies []string
		want    []string // what each answer must contain
	}{
		{name: "nothing to add", replies: []string{"Your order is on its way."}, want: []string{"[agent]"}},
		{name: "an offer of more help is no question", replies: []string{"Done. Is there anything else I can help you with?"}, want: []string{"[agent]"}},
		{name: "let me know", replies: []string{"It is cancelled. Let me know if you need anything else."}, want: []string{"[agent]"}},
		{name: "asked for one thing", user: record.User{Knows: knows}, replies: []string{"Could you tell me your order number?"}, want: []string{"ORD-1042"}},
		{name: "asked for another", user: record.User{Knows: knows}, replies: []string{"What is the e-mail on the account? The email, please?"}, want: []string{"mia@post.test"}},
		{name: "asked without a question mark", user: record.User{Knows: knows}, replies: []string{"Please provide your order number."}, want: []string{"ORD-1042"}},
		{name: "asked to confirm a value", user: record.User{Knows: knows, Confirms: true}, replies: []string{"Can you confirm your order number?"}, want: []string{"ORD-1042"}},
		{name: "asked again", user: record.User{Knows: knows}, replies: []string{"Which order?", "Sorry, which order was it?"}, want: []string{"ORD-1042", "ORD-1042"}},
		{name: "asked openly", user: record.User{Knows: knows}, replies: []string{"Could you give me more details?"}, want: []string{"ORD-1042"}},
		{name: "asked what they want", user: record.User{Wants: "cancel my order"}, replies: []string{"Hello! How can I help you?"}, want: []string{"cancel my order"}},
		{name: "yes", user: record.User{Confirms: true, Manner: "terse"}, replies: []string{"Shall I cancel order ORD-1042?"}, want: []string{""}},
		{name: "no, and that is it", user: record.User{Manner: "plain"}, replies: []string{"Shall I cancel it?", "All right, I left it."}, want: []string{"No", "[user]"}},
		{name: "insists in order, then gives up", user: record.User{Insists: []record.Text{"Do it.", "Last chance."}},
			replies: []string{"I cannot do that.", "I still cannot.", "I am sorry."}, want: []string{"Do it.", "Last chance.", "[user]"}},
		{name: "leaves", user: record.User{Patience: 1}, replies: []string{"Which color?", "Which size?"}, want: []string{"", "[user_left]"}},
		{name: "leaves an agent that repeats itself", user: record.User{Patience: 1, Confirms: true}, replies: []string{"Shall I?", "Shall I?", "Shall I?"}, want: []string{"", "", "[user_left]"}},
		{name: "leaves an agent that says nothing", user: record.User{Patience: 2}, replies: []string{"", "", ""}, want: []string{"", "", "[user_left]"}},
		{name: "the default patience", replies: []string{"Which color?", "Which size?", "Which shape?", "Which taste?"}, want: []string{"", "", "", "[user_left]"}},
		{name: "a version number is no sentence end", user: record.User{Knows: map[string]record.Text{"room": "2.14"}}, replies: []string{"Is it 2.14 or 2.15, the room?"}, want: []string{"2.14"}},
		{name: "another script", replies: []string{"注文番号は何ですか？"}, want: []string{""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := talk(tt.user, tt.replies...)
			if len(got) != len(tt.want) {
				t.Fatalf("%q, want %q", got, tt.want)
			}
			for i := range got {
				if !strings.Contains(got[i], tt.want[i]) || tt.want[i] == "" && strings.HasPrefix(got[i], "[") {
					t.Errorf("answer %d is %q, want %q", i, got[i], tt.want[i])
				}
			}
		})
	}
}

// Each manner has its own way of saying the same few things, and a value that
// the person knows is said as it is in all of them.
func TestMannersKeepValues(t *testing.T) {
	seen := map[string]string{}
	for _, manner := range []string{"plain", "terse", "rambling", "lower_case", "second_language", "polite", "formal", "chatty", "dictated", "blunt"} {
		value := "Ord-1042/ÄB"
		user := record.User{Manner: manner, Knows: map[string]record.Text{"order_id": record.Text(value)}, Confirms: true, Patience: 9}
		got := talk(user, "Which order?", "Which order is it?", "Shall I do it?", "Shall I really do it?", "Which color?", "")
		for i, said := range got {
			if said == "" || strings.Contains(said, "{") {
				t.Errorf("%s answers %q", manner, said)
			}
			if i < 2 && !strings.Contains(said, value) {
				t.Errorf("%s does not say %s: %q", manner, value, said)
			}
		}
		all := strings.Join(got, "|")
		if other, twice := seen[all]; twice {
			t.Errorf("%s and %s speak alike: %q", manner, other, all)
		}
		seen[all] = manner
	}
}

// The same person hears the same replies the same way, however often.
func TestPersonIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		user := users.Draw(t, "user")
		replies := rapid.SliceOfN(replyTexts, 1, 12).Draw(t, "replies")
		a, b := talk(user, replies...), talk(user, replies...)
		if strings.Join(a, "\x00") != strings.Join(b, "\x00") {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

// A conversation with a scripted person ends by itself: each reply uses up
// something they can say, or their patience.
func TestConversationsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		user := users.Draw(t, "user")
		bound := len(user.Insists) + len(user.Knows) + max(user.Patience, rollout.DefaultPatience) + 4
		p := rollout.NewScripted(user, record.Stream("user", 1))
		for range bound {
			said, err := p.Answer(context.Background(), nil, record.Text(replyTexts.Draw(t, "reply")))
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case said.EndedBy == record.EndedByAgent, said.EndedBy == record.EndedByUser, said.EndedBy == record.EndedByUserLeft:
				return
			case said.EndedBy != "" || said.Text == "":
				t.Fatalf("%+v", said)
			}
		}
		t.Fatalf("still talking after %d replies", bound)
	})
}

var replyTexts = rapid.OneOf(rapid.SampledFrom([]string{
	"", "Done.", "Shall I go ahead?", "Which order do you mean?", "Please confirm your email.", "I cannot do that.", "Could you give me more details?",
	"How can I help you?", "Is there anything else?", "What color?", "Are you sure?",
}), rapid.String())

var users = rapid.Custom(func(t *rapid.T) record.User {
	text := rapid.Map(rapid.StringN(1, 12, -1), func(s string) record.Text { return record.Text(s) })
	return record.User{
		Manner:   rapid.SampledFrom([]string{"", "terse", "rambling", "typos", "nonsense"}).Draw(t, "manner"),
		Wants:    text.Draw(t, "wants"),
		Knows:    rapid.MapOfN(rapid.SampledFrom([]string{"order_id", "email", "id", "", "ä"}), text, 0, 3).Draw(t, "knows"),
		Confirms: rapid.Bool().Draw(t, "confirms"),
		Insists:  rapid.SliceOfN(text, 0, 3).Draw(t, "insists"),
		Patience: rapid.IntRange(0, 5).Draw(t, "patience"),
	}
})

func FuzzPerson(f *testing.F) {
	for _, reply := range []string{"Which order?", "Please confirm.", "?.?.?", "\xff\xfe?", "confirm your order？", strings.Repeat("a?", 500), "Is it 2.14?\n\n- yes\n- no"} {
		f.Add(reply, "order_id", "ORD-1", "terse")
	}
	f.Fuzz(func(t *testing.T, reply, name, value, manner string) {
		user := record.User{Manner: manner, Knows: map[string]record.Text{name: record.Text(value)}, Confirms: len(reply)%2 == 0, Insists: []record.Text{"Really?"}}
		a, b := talk(user, reply, reply, "Done.", reply), talk(user, reply, reply, "Done.", reply)
		if strings.Join(a, "\x00") != strings.Join(b, "\x00") {
			t.Errorf("%q and %q", a, b)
		}
	})
}
