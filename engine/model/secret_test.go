package model

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"assay/engine/model/modeltest"
	"assay/engine/record"
)

// No form of printing shows a key, nor does an error of a server that repeats it.
func TestKeysAreShownNowhere(t *testing.T) {
	const headerKey = "hdr-51b2c9d8e7f60a4b"
	masker := record.NewMasker()
	o := Options{KeyEnv: "OWN_API_KEY", Headers: Headers{"X-Gateway": headerKey}, Extra: []byte(`{"a":1}`)}
	for _, step := range []modeltest.Step{modeltest.Unauthorized(), modeltest.EchoKey()} {
		s := modeltest.NewServer(t, step)
		for _, spec := range both(s.URL) {
			m, _ := newModel(t, spec, o, TrafficOptions{Masker: masker})
			reply, err := m.Complete(t.Context(), ask("hello"))
			held := struct {
				M *Model
				O Options
				m *Model
			}{m, o, m}
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
				for _, v := range []any{m, o, &o, o.Headers, held, &held, err, m.exchange, &m.exchange, m.endpoint} {
					if text := fmt.Sprintf(verb, v); strings.Contains(text, theKey[:12]) || strings.Contains(text, headerKey) {
						t.Errorf("%s of a %T shows the key: %s", verb, v, text)
					}
				}
			}
			if err == nil && masker.Text(string(reply.Text)) == string(reply.Text) {
				t.Errorf("the masker does not know the key: %q", masker.Text(string(reply.Text)))
			}
		}
		for _, r := range s.Requests() {
			if r.Header.Get("X-Gateway") != headerKey || strings.Contains(string(r.Body), theKey) {
				t.Errorf("sent %v, %s", r.Header, r.Body)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	dir := t.TempDir()
	script := func(name, body string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	set := map[string]string{"OPENAI_API_KEY": " " + theKey + "\n", "OTHER": "other-key-1", "BROKEN": "two words", "PATH": os.Getenv("PATH"), "SECRET": "not for children"}
	env := func(name string) string { return set[name] }
	for _, c := range []struct {
		name, spec string
		options    Options
		header     string
		want, says string
	}{
		{"the provider's own", "openai:m", Options{}, "Authorization", "Bearer " + theKey, ""},
		{"one named", "openai:m", Options{KeyEnv: "OTHER"}, "Authorization", "Bearer other-key-1", ""},
		{"missing", "anthropic:m", Options{}, "", "", "export ANTHROPIC_API_KEY=..."},
		{"the one named is missing", "ollama:m", Options{KeyEnv: "NONE"}, "", "", "NONE is not set"},
		{"not needed", "ollama:m", Options{}, "Authorization", "", ""},
		{"not for an address of the recipe's", "openai:m@http://elsewhere:1", Options{}, "Authorization", "", ""},
		{"named for an address of the recipe's", "openai:m@http://elsewhere:1", Options{KeyEnv: "OTHER"}, "Authorization", "Bearer other-key-1", ""},
		{"the provider's own address", "openai:m@https://api.openai.com/v1", Options{}, "Authorization", "Bearer " + theKey, ""},
		{"not needed at one's own server", "anthropic:m@http://localhost:1", Options{}, "X-Api-Key", "", ""},
		{"in a header", "anthropic:m", Options{Headers: Headers{"authorization": "Bearer x"}}, "Authorization", "Bearer x", ""},
		{"not a key", "openai:m", Options{KeyEnv: "BROKEN"}, "", "", "set BROKEN anew"},
		{"a command", "anthropic:m", Options{KeyCommand: []string{script("ok", "echo $1 printed-key-1"), ""}}, "X-Api-Key", "printed-key-1", ""},
		{"a command sees no secrets", "anthropic:m", Options{KeyCommand: []string{script("env", `echo "${SECRET:-none}"`)}}, "X-Api-Key", "none", ""},
		{"a command that fails", "anthropic:m", Options{KeyCommand: []string{script("bad", "echo half-a-key >&2; echo half-a-key; exit 3")}}, "", "", "exit status 3"},
		{"a command that prints more", "anthropic:m", Options{KeyCommand: []string{script("more", "echo two words")}}, "", "", "printed no key"},
		{"no command", "anthropic:m", Options{KeyCommand: []string{filepath.Join(dir, "none")}}, "", "", "run it by hand"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && len(c.options.KeyCommand) > 0 {
				t.Skip("the command is a script of a shell")
			}
			traffic := NewTraffic(TrafficOptions{})
			defer traffic.Close()
			spec, err := ParseSpec(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			m, err := New(t.Context(), spec, c.options, env, traffic)
			if c.says != "" {
				p, ok := err.(*record.Problem)
				if !ok || p.Code != "no_key" || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "two words") || strings.Contains(err.Error(), "half-a-key") {
					t.Errorf("%v, want %q", err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := m.exchange.header().Get(c.header); got != c.want {
				t.Errorf("%s is %q, want %q", c.header, got, c.want)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	set := map[string]string{"OPENAI_API_KEY": theKey, "ANTHROPIC_API_KEY": theKey}
	traffic := NewTraffic(TrafficOptions{Transport: status(http.StatusOK)})
	defer traffic.Close()
	for _, c := range []struct{ spec, name, value, want string }{
		{"openai:m", "", "", "https://api.openai.com/v1/chat/completions"},
		{"openai:m", "OPENAI_BASE_URL", "http://127.0.0.1:9/v1/", "http://127.0.0.1:9/v1/chat/completions"},
		{"openai:m@http://host:1/api/v3", "OPENAI_BASE_URL", "http://127.0.0.1:9", "http://host:1/api/v3/chat/completions"},
		{"anthropic:m", "", "", "https://api.anthropic.com/v1/messages"},
		{"anthropic:m@http://host/v1/messages", "", "", "http://host/v1/messages"},
		{"anthropic:m@http://host/proxy", "", "", "http://host/proxy/v1/messages"},
		{"ollama:m", "", "", "http://localhost:11434/v1/chat/completions"},
		{"ollama:m", "OLLAMA_HOST", "box:11434", "http://box:11434/v1/chat/completions"},
		{"vllm:m@http://host:8000", "", "", "http://host:8000/v1/chat/completions"},
		{"vllm:m@http://host:8000/v1/chat/completions", "", "", "http://host:8000/v1/chat/completions"},
	} {
		spec, err := ParseSpec(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(t.Context(), spec, Options{}, func(name string) string {
			if name == c.name {
				return c.value
			}
			return set[name]
		}, traffic)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.address + m.dialect.path(); got != c.want {
			t.Errorf("%s with %s=%s is at %s, want %s", c.spec, c.name, c.value, got, c.want)
		}
	}
}
