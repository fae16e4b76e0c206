package rollout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"assay/engine/record"
)

// Completer is a model that answers one request, as package model's backends do.
type Completer interface {
	Complete(context.Context, record.ChatRequest) (record.ChatReply, error)
}

// DefaultUserTokens bounds one message of a played person: several times the longest
// that the scripted ones write, with room for a model that thinks first. Convention,
// untested.
const DefaultUserTokens = 2048

// PlayedUsers has a model play the people of tasks: [Runner.Person] is its Person. The
// model is told in prose who they are and what they know, and reads the conversation
// with the roles turned round, as far as a person sees it: no tool calls. It is safe
// for concurrent use.
//
// What fails here is never the agent's: it is put down to the user, or to the line.
type PlayedUsers struct {
	Model Completer
	// Temperature is nil for the model's own.
	Temperature *float64
	MaxTokens   int           // of one message; 0 means DefaultUserTokens
	Timeout     time.Duration // of one message; 0 means DefaultTimeout
}

// Person is the person of one task in one conversation. The seed of each message is
// the next of the draws.
func (p *PlayedUsers) Person(task *record.Task, draws *rand.Rand) (Person, error) {
	if p.Model == nil {
		return nil, &record.AgentError{Cause: record.CauseUser, Err: errors.New("there is no model to play the user")}
	}
	return &played{by: p, brief: record.Text(briefing(&task.User)), draws: draws}, nil
}

// played is a person in one conversation.
type played struct {
	by    *PlayedUsers
	brief record.Text
	draws *rand.Rand
}

// playedTries is how often a person is asked for a message before saying nothing is a
// failure of theirs.
const playedTries = 2

// Answer implements [Person].
func (p *played) Answer(ctx context.Context, history []record.Step, reply record.Text) (Answer, error) {
	messages := p.messages(history, reply)
	for range playedTries {
		said, err := p.ask(ctx, messages)
		if err != nil {
			return Answer{}, err
		}
		if a := readAnswer(said.Text); a != (Answer{}) {
			return a, nil
		}
	}
	return Answer{}, record.AgentErrorf(record.CauseUser, "the model that plays the user said nothing, %d times", playedTries)
}

func (p *played) ask(ctx context.Context, messages []record.Message) (record.ChatReply, error) {
	timeout, maxTokens := p.by.Timeout, p.by.MaxTokens
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	if maxTokens == 0 {
		maxTokens = DefaultUserTokens
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	seed := p.draws.Int64N(1<<31 - 1) // what every server takes
	said, err := p.by.Model.Complete(limited, record.ChatRequest{Messages: messages, Temperature: p.by.Temperature, MaxTokens: maxTokens, Seed: &seed})
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return said, record.AgentErrorf(record.CauseInfrastructure, "the model that plays the user said nothing within %v: %w", timeout, err)
	}
	return said, ofUser(err)
}

// ofUser puts an error of the person's model down to the person, unless it is the
// line's or ends the run.
func ofUser(err error) error {
	var known *record.AgentError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &known):
		return &record.AgentError{Cause: record.CauseUser, Err: fmt.Errorf("the model that plays the user failed: %w", err)}
	}
	out := *known
	out.Err = fmt.Errorf("the model that plays the user failed: %w", err)
	if out.Cause != record.CauseInfrastructure && out.Cause != record.CauseInterrupted {
		out.Cause = record.CauseUser
	}
	return &out
}

// messages turn the roles round: what the person said is the model's own. A first line
// stands before the ask since servers want a conversation to begin with the other side.
func (p *played) messages(history []record.Step, reply record.Text) []record.Message {
	messages := []record.Message{{Role: "system", Content: &p.brief}}
	add := func(role string, text record.Text) {
		if last := &messages[len(messages)-1]; last.Role == role {
			text = *last.Content + "\n\n" + text
			last.Content = &text
			return
		}
		messages = append(messages, record.Message{Role: role, Content: &text})
	}
	add("user", "You have reached the assistant. What do you write?")
	for i := range history {
		switch s := &history[i]; s.Kind {
		case record.StepUser:
			add("assistant", s.Text)
		case record.StepText:
			add("user", s.Text)
		}
	}
	if strings.TrimSpace(string(reply)) == "" {
		reply = "(The assistant's message is empty.)"
	}
	add("user", reply)
	return messages
}

// marks are how a model says that the person writes no more.
var marks = regexp.MustCompile(`(?i)\[\s*(done|leave)\s*\]`)

// readAnswer reads what a model wrote as a person, the zero answer where that is
// nothing. Words beside a mark are a farewell, which nobody answers.
func readAnswer(text record.Text) Answer {
	text = withoutThinking(text)
	found := marks.FindAllStringSubmatch(string(text), -1)
	if len(found) == 0 {
		return Answer{Text: text}
	}
	if strings.EqualFold(found[len(found)-1][1], "leave") {
		return Answer{EndedBy: record.EndedByUserLeft}
	}
	return Answer{EndedBy: record.EndedByUser}
}

// briefing says in prose who a person is. It holds nothing of the grid, of the world or
// of the agent's rules. Runs are compared whose people were told the same, so a change
// of these words changes [record.Generator].
func briefing(u *record.User) string {
	var b strings.Builder
	b.WriteString("You play a person who writes to an assistant. You are that person and nobody else: you never help, never speak as the assistant, and never say that you play a part. The messages that you are shown as your own are what the person has written so far.\n\n")
	if u.Manner != "" && u.Manner != "plain" {
		fmt.Fprintf(&b, "Your way of writing is %s, all through.\n", strings.ReplaceAll(u.Manner, "_", " "))
	}
	wants := strings.TrimSpace(string(u.Wants))
	if wants == "" {
		wants = "what your first message says"
	}
	fmt.Fprintf(&b, "What you are after: %s.\n", strings.TrimRight(wants, "."))
	if len(u.Knows) > 0 {
		b.WriteString("What you know, and tell when you are asked for it:\n")
		for _, name := range slices.Sorted(maps.Keys(u.Knows)) {
			fmt.Fprintf(&b, "- %s: %s\n", strings.Join(record.NameWords(name), " "), u.Knows[name])
		}
	}
	b.WriteString("You know nothing else: asked for more, you say that you do not have it. You make up no names, numbers or ids.\n")
	if u.Confirms {
		b.WriteString("Asked whether it shall be done, you say yes.\n")
	} else {
		b.WriteString("Asked whether something shall be done, you say no: you do not want it done.\n")
	}
	if len(u.Insists) > 0 {
		b.WriteString("When the assistant believes that it is finished, you come back, once with each of these, in their order and in your own words:\n")
		for _, line := range u.Insists {
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	patience := u.Patience
	if patience <= 0 {
		patience = DefaultPatience
	}
	fmt.Fprintf(&b, "You bear %d messages that bring you no further; then your patience is at an end.\n\n", patience)
	b.WriteString("Write the person's next message and nothing beside it, short, as people write to a service. When they have nothing more to say, because they got what they came for or were told plainly that they cannot have it, write [DONE] alone. When their patience is at an end, write [LEAVE] alone.")
	return b.String()
}

// thinking are the tags of what a model thought aloud.
var thinking = regexp.MustCompile(`(?is)<think(?:ing)?>.*?(?:</think(?:ing)?>|$)`)

// thoughtEnd is the end of a thought whose beginning the server has kept to itself, as
// those do whose prompt ends with the opening tag.
var thoughtEnd = regexp.MustCompile(`(?is)^.*</think(?:ing)?>`)

// withoutThinking drops what a model that plays a person thought aloud.
func withoutThinking(text record.Text) record.Text {
	s := thinking.ReplaceAllString(string(text), "")
	return record.Text(strings.TrimSpace(thoughtEnd.ReplaceAllString(s, "")))
}
