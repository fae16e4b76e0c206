package model

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"assay/engine/record"
)

// provider is what is known of a provider beside its language.
type provider struct {
	dialect dialect
	address string
	keyEnv  string
	needs   bool   // a key, at its own address
	baseEnv string // a variable that moves its own address, as the maker's clients know it
}

func providerOf(name string) provider {
	switch name {
	case "anthropic":
		return provider{anthropic{}, "https://api.anthropic.com", "ANTHROPIC_API_KEY", true, "ANTHROPIC_BASE_URL"}
	case "ollama":
		return provider{openAI{}, "http://localhost:11434", "OLLAMA_API_KEY", false, "OLLAMA_HOST"}
	case "vllm":
		return provider{openAI{}, "", "VLLM_API_KEY", false, ""}
	}
	return provider{openAI{own: true}, "https://api.openai.com/v1", "OPENAI_API_KEY", true, "OPENAI_BASE_URL"}
}

// longestKeyCommand is how long a program may take to print a key: a person may have to
// unlock a wallet first. Convention, untested.
const longestKeyCommand = time.Minute

// key finds the key of a model before anything is spent.
func key(ctx context.Context, spec Spec, p provider, o *Options, env func(string) string) (string, error) {
	if len(o.KeyCommand) > 0 {
		return printedKey(ctx, o.KeyCommand, env)
	}
	name := o.KeyEnv
	if name == "" {
		name = p.keyEnv
	}
	if name == "" {
		return "", nil
	}
	value := strings.TrimSpace(env(name))
	switch {
	case strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", record.Problemf("no_key", "set "+name+" anew", "the value of %s is no key: it holds a blank or a character outside ASCII", name)
	case value == "" && (o.KeyEnv != "" || p.needs && !o.hasKey()):
		return "", record.Problemf("no_key", "export "+name+"=..., or give a key_command that prints the key", "%s needs a key, and %s is not set", spec, name)
	}
	return value, nil
}

// hasKey says that the headers carry a key of their own.
func (o *Options) hasKey() bool {
	for name := range o.Headers {
		if strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "X-Api-Key") || strings.EqualFold(name, "Api-Key") {
			return true
		}
	}
	return false
}

// printedKey runs the command that prints a key. It sees what a wallet's own client needs
// of the environment, and no shell reads it.
func printedKey(ctx context.Context, argv []string, env func(string) string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, longestKeyCommand)
	defer stop()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	for _, name := range []string{"PATH", "HOME", "LANG", "USER", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS", "GPG_TTY", "SSH_AUTH_SOCK", "SYSTEMROOT", "USERPROFILE", "APPDATA"} {
		if v := env(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be all of ours
	}
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run() // what it says on stderr may hold the key, so it is not repeated
	printed := strings.TrimSpace(out.String())
	switch {
	case ctx.Err() != nil:
		return "", record.Problemf("no_key", "run it by hand", "the command %s that should print a key did not end: %w", argv[0], ctx.Err())
	case err != nil:
		var status *exec.ExitError
		if errors.As(err, &status) {
			err = errors.New(status.ProcessState.String())
		}
		return "", record.Problemf("no_key", "run it by hand", "the command %s that should print a key failed: %w", argv[0], err)
	case printed == "" || strings.ContainsAny(printed, " \t\r\n"):
		return "", record.Problemf("no_key", "let it print the key alone", "the command %s printed no key", argv[0])
	}
	return printed, nil
}
