// Package agent holds the callables that a rollout can be made of:
//
//   - [Builtin], the agent whose truth is known
//   - [Command], a program that speaks the agent protocol, version 1, as JSON lines on
//     stdin and stdout
//   - [HTTP], an endpoint that answers a turn with the same JSON
//   - [Model], a model whose tool loop is run here
//
// [CommandJudge] and [HTTPJudge] are asked for verdicts over the same two wires.
//
// A judge is asked for a verdict on one rollout by a grade message. Asked which of two
// attempts at one ask is better, it gets
//
//	{"type":"compare","protocol":1,"id":"…","rubric":null,"system_prompt":"…","tools":[],"prompt":"…",
//	 "first":{"steps":[],"final_text":"…"},"second":{"steps":[],"final_text":"…"}}
//
// and answers {"type":"preference","id":"…","preferred":"first"}, second or tie, or an
// error.
//
// An agent is anything with
//
//	Reply(context.Context, record.Turn) (record.Reply, error)
//
// A reply that does not come is a [record.AgentError] that says what it is put
// down to. Nothing here is ever counted as a wrong answer: the caller decides
// what becomes of a lost turn.
//
// The world that answers an agent's tool calls is served here too, to agents that
// speak MCP: [Worlds] over streamable HTTP, each rollout's world under a token of
// its own, and [ServeStdio]. And here MCP servers are asked for the tools of a
// recipe ([ListTools]). This package, and not that of the world, holds both,
// because they are wires as the agent protocol is one: the world stays a pure
// function, and the steps that import it do not carry a server.
//
// # Concurrency
//
// All agents and judges are safe for use by many goroutines. A Builtin keeps only
// what it has understood of tools and prompts, a Model nothing. A Command keeps a pool
// of processes, one turn at a time in each, an HTTP its connections; their goroutines
// end with Close, which every owner must call; so do those of Worlds.
//
// # What a program or an endpoint can do to us
//
// What they write is hostile: a line, and an endpoint's answer, is at most 16 MiB, a
// turn of a program at most [maxTurnBytes] and [maxTurnMessages], and memory grows with
// what arrived, not with what was announced. A program that breaks the protocol is
// killed with its children and replaced. No shell ever sees a command line. An
// endpoint's redirects are not followed.
package agent
