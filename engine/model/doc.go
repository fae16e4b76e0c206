// Package model talks to language models behind real endpoints: any server that
// speaks the chat completions of OpenAI (its own, Ollama's, vLLM's, llama.cpp's) and
// Anthropic's messages. One [Model] serves every role: an agent's tool loop, a judge, a
// writer, a played user.
//
//	traffic := model.NewTraffic(model.TrafficOptions{Masker: masker})
//	defer traffic.Close()
//	spec, err := model.ParseSpec("openai:gpt-5-mini")
//	m, err := model.New(ctx, spec, model.Options{}, os.Getenv, traffic) // the key is there, or err says which is missing
//	err = m.Check(ctx)                                                  // the address, the key and the name are right
//	reply, err := m.Complete(ctx, record.ChatRequest{Messages: …, Stream: func(record.Delta) {…}})
//
// # What is promised
//
// An answer is whole or an error: a stream that ends before the server has said that it
// is done is never given out as a short answer. Every error of [Model.Complete] is a
// [record.AgentError]:
//
//	401, 403, 402, no credit left       stop auth, never tried again
//	404, 405, 410, 501, a redirect      infrastructure; the third in a row at one endpoint is stop wrong_address
//	the prompt is over the window       context, never tried again
//	429, 5xx, no connection, a cut      infrastructure, after a bounded number of tries with the server's own delay
//	stream, bad JSON, half a call,      or a jittered backoff
//	silence, an answer over the bounds
//	another 4xx: the request itself     agent, since its model, options and tools made it
//
// Arguments of a tool call that are no JSON are no error here: in a whole answer they
// are what the model said, and they are returned as text ("{}" where it wrote none).
//
// While a request waits for its turn, or its server has said nothing yet, an end of its
// context is infrastructure and Unasked: the agent has not had the turn. Once the
// answer is on its way it is the context's own error, and a deadline then is the agent's.
// Errors of time match context.DeadlineExceeded.
//
// Keys are in no error, no log line and no %v of any value here. What a server writes is
// bounded, shown in part and masked.
//
// Anthropic's signed and encrypted thoughts are in an answer's Sealed and go back with it,
// since its server refuses a turn that goes on after calls without them.
//
// # Traffic
//
// [Traffic] holds what the models of a run share: connections, and for each endpoint
// how many requests may be in flight (without bound until the server says "too many",
// then half of what was in flight, and one more for every round that went well), the
// requests and tokens a minute, and how often the address was wrong. All of it is safe for
// concurrent use. Time and jitter are passed in, so a test of backoff takes none.
//
// # Why no SDK
//
// go-openai leaves out a temperature of 0 and an empty content, gives io.EOF for a cut
// stream and a finished one alike, replaces lone surrogates, and reads a body without
// bound; record's messages have the wire's form already. anthropic-sdk-go 1.30 (later
// ones bring OpenTelemetry) adds 3.7 MB and 20 seconds of processor time to the first
// build. What is left to a client of our own is a request's JSON and one line reader.
package model
