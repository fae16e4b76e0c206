package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"assay/engine/agent"
	"assay/engine/record"
)

// maxHandWorlds is how many worlds clients may open by naming tokens: far more
// than a person watches. Convention, untested.
const maxHandWorlds = 1000

// untilSignal ends with an interrupt.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
}

// serveStdio serves the world on this program's own streams. stdout is the
// protocol's; the calls are said on stderr.
func (s *session) serveStdio(ctx context.Context, h *handWorld) error {
	if s.json {
		return record.Problemf("usage", "leave out --json, or serve on a port", "with --mcp stdio stdout belongs to the protocol")
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	err := agent.ServeStdio(ctx, s.in, s.out, h.Tools, h.apart(func(step record.Step) { s.say(callLine(step)) }))
	if errors.Is(err, context.Canceled) {
		return exitStatus(exitInterrupted)
	}
	return err
}

// serveHTTP serves worlds on a port until it is interrupted.
func (s *session) serveHTTP(ctx context.Context, h *handWorld, address string) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	admitted := 0
	worlds, err := agent.ListenWorlds(agent.WorldsConfig{Address: address, Tools: h.Tools, Admit: func(token string) agent.WorldCall {
		if admitted++; admitted > maxHandWorlds {
			return nil
		}
		return h.apart(func(step record.Step) { s.say(named(token) + callLine(step)) })
	}})
	if err != nil {
		return err
	}
	defer worlds.Close()
	h.MCP = worlds.URL()
	if s.json {
		if err := s.printJSON(h); err != nil {
			return err
		}
	} else {
		h.write(s.out)
		fmt.Fprintf(s.out, "served over MCP at %s (a token of any name has a world of its own); interrupt to end\n", h.MCP)
	}
	<-ctx.Done()
	return exitStatus(exitInterrupted)
}

func named(token string) string {
	if token == "" {
		return ""
	}
	return "[" + token + "] "
}
