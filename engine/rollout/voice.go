package rollout

// voice is how a person of one manner says the few things that a scripted person
// says. {value} is what they know, {label} what it is.
type voice struct {
	yes, yesAgain, no []string
	tell, toldBefore  []string
	unknown           []string // they cannot tell
	nothing           []string // to an empty reply
}

// voiceOf is the voice of a manner as the task names it. An unknown manner speaks
// plainly.
func voiceOf(manner string) *voice {
	switch manner {
	case "terse":
		return &terse
	case "blunt":
		return &blunt
	case "rambling":
		return &rambling
	case "lower_case", "typos":
		return &lowerCase
	case "dictated":
		return &dictated
	case "second_language":
		return &secondLanguage
	case "polite":
		return &polite
	case "formal":
		return &formal
	case "chatty":
		return &chatty
	}
	return &plain
}

// The wordings. They are read only.
var (
	plain = voice{
		yes:        []string{"Yes, please go ahead.", "Yes, that's right.", "Yes, do it."},
		yesAgain:   []string{"Yes, I already said yes.", "Yes, as I said.", "I've confirmed that already: yes."},
		no:         []string{"No, please don't.", "No, leave it as it is.", "No, I don't want that."},
		tell:       []string{"The {label} is {value}.", "It's {value}.", "{value}, that's the {label}."},
		toldBefore: []string{"I already told you: {value}.", "As I said, the {label} is {value}.", "Again, it's {value}."},
		unknown:    []string{"I don't know that, sorry.", "I don't have that.", "I've told you all I know."},
		nothing:    []string{"Are you still there?", "Hello? I got an empty message.", "I didn't get anything from you."},
	}
	terse = voice{
		yes:        []string{"Yes.", "Yep.", "Do it."},
		yesAgain:   []string{"Said yes.", "Yes. Again.", "Yes, still."},
		no:         []string{"No.", "Don't.", "Leave it."},
		tell:       []string{"{value}", "{label}: {value}", "{value}."},
		toldBefore: []string{"Said it: {value}", "Again: {value}", "{value}, as before."},
		unknown:    []string{"Don't know.", "No idea.", "Don't have it."},
		nothing:    []string{"?", "Hello?", "Empty message."},
	}
	blunt = voice{
		yes:        []string{"Yes. Get on with it.", "Yes, that's why I'm here.", "Yes."},
		yesAgain:   []string{"How often do I have to say yes?", "I said yes.", "Yes. Same answer as before."},
		no:         []string{"No. I didn't ask for that.", "No.", "Don't you dare."},
		tell:       []string{"{value}. Write it down.", "It's {value}.", "The {label}? {value}."},
		toldBefore: []string{"I told you: {value}.", "Can't you read? {value}.", "{value}. Second time now."},
		unknown:    []string{"How should I know?", "That's your job to know.", "I don't have that."},
		nothing:    []string{"Well?", "Say something.", "That was empty."},
	}
	rambling = voice{
		yes:        []string{"Oh yes, please, that's what I was hoping for all along, so go ahead.", "Yes, I think so, I mean, I've thought about it long enough, so yes.", "Right, yes, that's it, please do."},
		yesAgain:   []string{"I thought I'd said yes already, or did I only think it, anyway, yes.", "Well, as I was saying before, yes, please.", "Yes, yes, still yes, nothing has changed on my side."},
		no:         []string{"Oh no, that's not what I meant at all, sorry if it came across like that, please don't.", "Hmm, no, when I think about it I'd rather leave it.", "No, not that, that would only make it worse for me."},
		tell:       []string{"Let me look, I had it here somewhere, yes, the {label} is {value}.", "So that would be {value}, I wrote it down this morning.", "Ah, the {label}, hold on, it's {value}, if I read my own notes right."},
		toldBefore: []string{"I'm fairly sure I mentioned it, but it's {value}, as before.", "Didn't I send that already? Anyway, {value}.", "We had that, I think, the {label} was {value}."},
		unknown:    []string{"I've gone through everything I have here and I can't find that, I'm afraid.", "No, that's something I really don't know, I only know what I told you.", "I wouldn't know where to look for that, to be honest."},
		nothing:    []string{"I think your message came through empty, or it's my phone again.", "Hello, is anybody there, I only see a blank message.", "There's nothing in your message, at least not on my side."},
	}
	lowerCase = voice{
		yes:        []string{"yes pls", "yeah go ahead", "yep thats right"},
		yesAgain:   []string{"i said yes already", "yes like i said", "still yes"},
		no:         []string{"no dont", "nah leave it", "no not that"},
		tell:       []string{"its {value}", "the {label} is {value}", "{value} is the {label}"},
		toldBefore: []string{"told you already, {value}", "like i said {value}", "again its {value}"},
		unknown:    []string{"dont know sorry", "i dont have that", "no idea tbh"},
		nothing:    []string{"hello?", "you there?", "that msg was empty"},
	}
	dictated = voice{
		yes:        []string{"yes please go ahead", "yeah do that", "um yes that is right"},
		yesAgain:   []string{"yeah I said yes already", "yes like I said just now", "um still yes"},
		no:         []string{"no no do not do that", "uh no leave it please", "no that is not what I want"},
		tell:       []string{"okay so the {label} is {value}", "it is {value}", "yeah that is {value}"},
		toldBefore: []string{"I said it already it is {value}", "okay again {value}", "like I told you {value}"},
		unknown:    []string{"um I do not know that", "no I do not have that here", "sorry no idea"},
		nothing:    []string{"hello are you there", "um I got nothing", "yeah hello anybody"},
	}
	secondLanguage = voice{
		yes:        []string{"Yes, please you do it.", "Yes, is correct.", "Yes, I agree with this."},
		yesAgain:   []string{"I said already yes.", "Yes, same answer like before.", "Yes, again yes."},
		no:         []string{"No, please not do this.", "No, I do not want it.", "No, is not what I want."},
		tell:       []string{"The {label} is {value}.", "Is {value}.", "I have here {value}."},
		toldBefore: []string{"I wrote it already, is {value}.", "Like before, {value}.", "I told it, {label} is {value}."},
		unknown:    []string{"This I do not know, sorry.", "I do not have this information.", "Sorry, I not understand where I find this."},
		nothing:    []string{"Sorry, I see no text.", "Hello, your message is empty?", "I do not receive answer."},
	}
	polite = voice{
		yes:        []string{"Yes, please, that would be lovely.", "Yes, that's right, thank you.", "Yes, please go ahead, thanks."},
		yesAgain:   []string{"Yes, please, as I mentioned before.", "Sorry if I wasn't clear: yes, please.", "Yes, thank you, that's still right."},
		no:         []string{"No, thank you, please don't.", "I'd rather you didn't, if that's all right.", "No, please leave it as it is, thank you."},
		tell:       []string{"Of course, the {label} is {value}.", "Sure, it's {value}.", "Happy to: {value}."},
		toldBefore: []string{"I believe I sent it before: {value}.", "Sorry, perhaps it got lost: the {label} is {value}.", "As I mentioned, it's {value}."},
		unknown:    []string{"I'm sorry, I don't know that.", "I'm afraid I don't have that.", "Sorry, that's all I have."},
		nothing:    []string{"Sorry, I think your message was empty.", "Excuse me, are you still there?", "I'm sorry, nothing came through."},
	}
	formal = voice{
		yes:        []string{"Yes, please proceed.", "I confirm this.", "That is correct, please proceed."},
		yesAgain:   []string{"I have already confirmed this.", "As stated before, yes.", "My answer remains yes."},
		no:         []string{"No, I do not agree to this.", "Please do not proceed.", "That is not what I requested."},
		tell:       []string{"The {label} is {value}.", "It is {value}.", "The {label} in question is {value}."},
		toldBefore: []string{"As stated before, the {label} is {value}.", "I have already provided it: {value}.", "I refer to my earlier message: {value}."},
		unknown:    []string{"I am not in possession of that information.", "I regret that I cannot provide this.", "That is not known to me."},
		nothing:    []string{"Your message contained no text.", "I have received an empty reply.", "Kindly send your answer again."},
	}
	chatty = voice{
		yes:        []string{"Yes please!", "Yep, that's the one!", "Go for it :)"},
		yesAgain:   []string{"Haha, I said yes already!", "Still yes :)", "Yes yes yes!"},
		no:         []string{"Oh no, please don't!", "Nope, not that one.", "Hmm no, leave it please :)"},
		tell:       []string{"Sure thing, it's {value}!", "The {label} is {value} :)", "Here you go: {value}!"},
		toldBefore: []string{"I sent that one already, {value} :)", "Same as before: {value}!", "It's still {value}, haha."},
		unknown:    []string{"No clue, sorry!", "Oh, I don't have that one :(", "Hmm, that I don't know!"},
		nothing:    []string{"Hellooo?", "I think you sent me nothing :)", "Psst, empty message!"},
	}
)
