package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/engine/record"
)

// Worlds serves worlds over MCP's streamable HTTP, each found by a token of its
// own. It keeps no session: a client may connect as often as it likes, and what
// a world remembers is the world's. Calls that a client sends side by side are
// answered in the order in which they arrive, which the client alone can know; one
// that waits for each answer leaves the same steps every time. It is safe for
// concurrent use.
type Worlds struct {
	admit  func(token string) WorldCall
	listen net.Listener
	http   *http.Server
	served chan error

	mu   sync.RWMutex
	open map[string]WorldCall // by token
}

// WorldsConfig says what to serve and where.
type WorldsConfig struct {
	// Address is HOST:PORT to listen on. Without a host it is 127.0.0.1: a world has
	// no secrets, but what it answers is somebody's run. "" is a free port there.
	Address string
	// Tools are what every client is shown.
	Tools []record.Tool
	// Admit gives a world to a token that none is open for; the token is "" where a
	// client names none. nil, and a nil world, turn the client away.
	Admit func(token string) WorldCall
}

// worldPath is where the worlds are served: with the token as a bearer token, or
// as one more element of the path for clients that can send no header.
const worldPath = "/mcp"

// worldHeader carries a request's token to its call. What a client sends in it is
// thrown away.
const worldHeader = "Assay-World"

// headerPatience is how long a client may take over a request's headers, and
// idlePatience how long a connection may lie unused. Convention, untested; a call
// itself takes as long as the rollout lets it.
const (
	headerPatience = 10 * time.Second
	idlePatience   = 2 * time.Minute
)

// ListenWorlds begins to serve. The caller closes the worlds.
func ListenWorlds(c WorldsConfig) (*Worlds, error) {
	w := &Worlds{admit: c.Admit, open: map[string]WorldCall{}, served: make(chan error, 1)}
	server, err := newMCPServer(c.Tools, func(h http.Header) WorldCall { return w.world(h.Get(worldHeader)) })
	if err != nil {
		return nil, err
	}
	address, err := localUnlessNamed(c.Address)
	if err != nil {
		return nil, err
	}
	if w.listen, err = net.Listen("tcp", address); err != nil {
		return nil, &record.Problem{Code: "no_listener", Message: fmt.Sprintf("nothing can be served on %s: %v", address, err), Fix: "name another port, or 0 for a free one", Err: err}
	}
	protocol := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	guarded := http.NewCrossOriginProtection().Handler(protocol) // no page in a browser calls a world
	w.http = &http.Server{Handler: w.byToken(guarded), ReadHeaderTimeout: headerPatience, IdleTimeout: idlePatience}
	go func() { w.served <- w.http.Serve(w.listen) }()
	return w, nil
}

// localUnlessNamed is an address with 127.0.0.1 where it has no host.
func localUnlessNamed(address string) (string, error) {
	if address == "" {
		return "127.0.0.1:0", nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", record.Problemf("bad_address", "write :PORT, or HOST:PORT", "%q is no address to listen on: %w", address, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// URL is the address of all worlds. On a listener of every interface it is that
// of this machine alone: a client elsewhere knows the machine by another name.
func (w *Worlds) URL() string {
	at := w.listen.Addr().(*net.TCPAddr)
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(at.Port)) + worldPath
}

// Open serves one more world until done is called. Its token is no draw of the
// run: it steers nothing, stands in no row, and must not be guessed by another
// rollout's agent.
func (w *Worlds) Open(ask WorldCall) (address record.WorldAddress, done func()) {
	token := rand.Text()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[token] = ask
	return record.WorldAddress{MCP: w.URL(), Token: token}, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.open, token)
	}
}

// world is the open world of a token, nil for none.
func (w *Worlds) world(token string) WorldCall {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.open[token]
}

// enter is the world of a token, admitted where that is the first that is heard
// of it.
func (w *Worlds) enter(token string) WorldCall {
	if ask := w.world(token); ask != nil || w.admit == nil {
		return ask
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open[token] == nil {
		if ask := w.admit(token); ask != nil {
			w.open[token] = ask
		}
	}
	return w.open[token]
}

// byToken lets in who has a world.
func (w *Worlds) byToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		token, err := tokenOf(r)
		switch {
		case err != nil:
			http.Error(rw, err.Error(), http.StatusNotFound)
		case w.enter(token) == nil:
			rw.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(rw, "no world is open under this token; send the turn's world.token as a bearer token, or behind world.mcp and a slash", http.StatusUnauthorized)
		default:
			r.Header.Set(worldHeader, token)
			next.ServeHTTP(rw, r)
		}
	})
}

var errNotHere = errors.New("worlds are served at " + worldPath + " and nowhere else")

// tokenOf is the token in a request's path, else its bearer token, "" for none.
func tokenOf(r *http.Request) (string, error) {
	rest, ok := strings.CutPrefix(r.URL.Path, worldPath)
	inPath := strings.Trim(rest, "/")
	if !ok || rest != "" && rest[0] != '/' || strings.Contains(inPath, "/") {
		return "", errNotHere
	}
	if inPath != "" {
		return inPath, nil
	}
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token), nil
	}
	return "", nil
}

// Close stops listening, gives calls in flight two seconds to be answered, and
// returns when nothing is served any more.
func (w *Worlds) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if w.http.Shutdown(ctx) != nil {
		_ = w.http.Close() // what still hangs is cut off
	}
	<-w.served
}
