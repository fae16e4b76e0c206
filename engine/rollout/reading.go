package rollout

import "strings"

// replyReading is what a reply asks of the person. It goes by plain words: an
// English reply is read well, another at least by its question marks.
type replyReading struct {
	asks          bool // for something
	confirms      bool // for a yes or no
	confirmsValue bool // the yes or no is about a value of the person's ("confirm your order number")
	open          bool // without naming what: "could you tell me more?"
	questions     string
}

// readReply reads the sentences that ask. Offers of more help do not.
func readReply(reply string) replyReading {
	var r replyReading
	var questions strings.Builder
	lower := strings.ToLower(ends(reply))
	if strings.Contains(lower, "’") {
		lower = strings.ReplaceAll(lower, "’", "'")
	}
	if !strings.ContainsAny(lower, "?？") && !containsAny(lower, requests) {
		return r
	}
	for lower != "" {
		var sentence string
		sentence, lower = cutSentence(lower)
		question := strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, "？")
		if !question && !containsAny(sentence, requests) || containsAny(sentence, offers) {
			continue
		}
		r.asks = true
		if containsAny(sentence, confirmations) || strings.HasPrefix(strings.TrimSpace(sentence), "confirm") {
			r.confirms = true
			r.confirmsValue = r.confirmsValue || containsAny(sentence, valueConfirmations)
		}
		questions.WriteString(sentence)
		questions.WriteByte('\n')
	}
	r.questions = questions.String()
	r.open = r.asks && containsAny(r.questions, openQuestions)
	return r
}

// maxRead is how many bytes of a reply are read for what it asks and refuses: of a
// longer one its two ends, half of this each. A person would not read as far.
const maxRead = 256 << 10

func ends(text string) string {
	if len(text) <= maxRead {
		return text
	}
	return text[:maxRead/2] + "\n" + text[len(text)-maxRead/2:]
}

// cutSentence takes the first sentence off a text, its mark included.
func cutSentence(text string) (sentence, rest string) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '?', '!', '\n':
			return text[:i+1], text[i+1:]
		case '.':
			if i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n' { // not the dot of 2.14
				return text[:i+1], text[i+1:]
			}
		}
		if strings.HasPrefix(text[i:], "？") {
			end := i + len("？")
			return text[:end], text[end:]
		}
	}
	return text, ""
}

// Phrases of replies, lower case.
var (
	requests = []string{"please provide", "please share", "please tell", "please give", "please send", "please confirm", "please let me know", "please specify",
		"please reply", "could you", "can you tell", "can you give", "i need your", "i'll need", "i will need", "tell me", "let me know which", "let me know what", "let me know your", "let me know if you want me",
		"let me know whether"}
	offers        = []string{"anything else", "something else i can", "anything more", "any other question", "further question", "any questions", "more questions", "how else can i", "what else can i", "further assistance", "if you need"}
	confirmations = []string{"shall i", "should i", "do you want me to", "would you like me to", "want me to", "may i", "can i go ahead", "can i proceed", "is that correct", "is this correct",
		"is that right", "is this right", "are you sure", "please confirm", "do you confirm", "can you confirm", "could you confirm", "to confirm", "ok to proceed", "okay to proceed",
		"go ahead?", "proceed?", "yes or no", "(yes/no)", "(y/n)", "do you agree", "reply yes", "let me know if you want me", "let me know whether"}
	valueConfirmations = []string{"confirm your", "confirm the", "confirm which", "confirm what"}
	openQuestions      = []string{"more detail", "more information", "more info", "some detail", "the details", "tell me more", "which one", "what exactly", "be more specific", "please specify", "please provide",
		"clarify", "any detail", "what do you need", "how can i help", "what would you like", "what can i", "can you give", "could you give", "could you provide", "could you share", "could you tell"}
	refusals = []string{"i can't", "i cannot", "i can not", "i'm not able", "i am not able", "i'm unable", "i am unable", "unable to", "i won't", "i will not", "not allowed", "not permitted",
		"against our policy", "against policy", "policy does not allow", "policy doesn't allow", "i must decline", "i have to decline", "can't help with", "cannot help with"}
)

func containsAny(text string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// hasWord reports whether a lower-case text has a word, in singular or plural.
func hasWord(text, word string) bool {
	for start := 0; ; {
		i := strings.Index(text[start:], word)
		if i < 0 {
			return false
		}
		begin, end := start+i, start+i+len(word)
		rest := strings.TrimPrefix(text[end:], "s")
		if (begin == 0 || !letter(text[begin-1])) && (rest == "" || !letter(rest[0])) {
			return true
		}
		start = begin + 1
	}
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80
}

// refuses reports whether a text says no to the person.
func refuses(text string) bool {
	lower := strings.ToLower(ends(text))
	if strings.Contains(lower, "’") {
		lower = strings.ReplaceAll(lower, "’", "'")
	}
	return containsAny(lower, refusals)
}
