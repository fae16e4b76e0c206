// Package modeltest is a model server for tests: it speaks the chat completions of
// OpenAI and the messages of Anthropic, streamed and whole, and fails on purpose.
//
//	s := modeltest.NewServer(t, modeltest.RateLimited(time.Second), modeltest.Say("Done."))
//	spec, err := model.ParseSpec("vllm:fake@" + s.URL)
//
// Whatever the step, a request in Anthropic's dialect is refused, as there, where a signed
// thought does not come back as it was given, or with thinking enabled not at all.
//
// A server answers its first request by the first step, the second by the second, and
// all after the last one by the last. [NewServerFunc] chooses by the request instead, which
// is what a run of many rollouts wants: a script says nothing of who asks first.
package modeltest
