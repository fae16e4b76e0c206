// Package agent holds the callables that a rollout can be made of: the builtin
// agent, whose truth is known, and programs that speak the agent protocol,
// version 1, as JSON lines on stdin and stdout. A command judge is a program of
// the second kind that is asked for verdicts.
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
// [Builtin], [Command] and [CommandJudge] are safe for use by many goroutines.
// A Builtin keeps only what it has understood of tools and prompts. A Command
// keeps a pool of processes, one turn at a time in each; its goroutines end with
// Close, which every owner must call; so do those of Worlds.
//
// # What a program can do to us
//
// A program's output is hostile: a line is at most 16 MiB, a turn at most
// [maxTurnBytes] and [maxTurnMessages], and memory grows with what arrived, not
// with what was announced. A program that breaks the protocol is killed with its
// children and replaced. No shell ever sees a command line.
package agent
