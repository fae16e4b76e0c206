package record

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Secrets are the values of keys in an environment, which has the form of
// [os.Environ]: those of variables whose name says so, and those of the named
// variables (a recipe's env) that are no well-known setting, path, address, word
// or number, and addresses with a password. Of a value that holds keys inside, as an address with a password, a
// PEM block or a JSON document does, these are listed too.
func Secrets(environ, named []string) []string {
	var list []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		value = strings.TrimSpace(value)
		if len(value) >= shortestSecret && isSecret(name, value, slices.Contains(named, name)) {
			list = append(list, value)
			list = append(list, within(value)...)
		}
	}
	return list
}

var (
	// keyWords are what a part of a name says that its value is a key.
	keyWords = regexp.MustCompile(`^(.*(PASSWORD|PASSWD|PASSPHRASE|APIKEY|SECRET|TOKEN)|KEY|PASS|PWD|PAT|SECRETS|CREDENTIALS?|AUTH|BEARER|COOKIE|DSN)$`)
	// settings are names whose values say where and how programs run.
	settings = regexp.MustCompile(`^(PATH|HOME|LANG|LANGUAGE|LC_.*|USER|LOGNAME|USERNAME|SHELL|TERM|COLORTERM|PWD|OLDPWD|TMPDIR|TMP|TEMP|TZ|HOSTNAME|EDITOR|PAGER|DISPLAY` +
		`|GO[A-Z0-9]+|CGO_[A-Z]+|PYTHON[A-Z]*|VIRTUAL_ENV|CONDA_PREFIX|NODE_(PATH|ENV|OPTIONS)|NPM_CONFIG_.*|JAVA_HOME|CARGO_HOME|RUSTUP_HOME|XDG_.*|SSL_CERT_(FILE|DIR)|SYSTEMROOT|USERPROFILE|APPDATA|LOCALAPPDATA|PATHEXT|COMSPEC|NO_PROXY)$`)
	pathStart = regexp.MustCompile(`^(~|\.{0,2})/|^[A-Za-z]:[\\/]`)
	// wordEnds are where one word of a value ends and another begins.
	wordEnds = regexp.MustCompile(`[-_.,:;/\\|@+=&?%#~ \t\r\n]+`)
	// plainWord is a word with at most a number behind it, a number, or too short to be
	// a key of its own.
	plainWord = regexp.MustCompile(`^([A-Z]?[a-z]{0,19}[0-9]{0,4}|[A-Z]{1,20}[0-9]{0,4}|[0-9]+|.{0,4})$`)
)

func isSecret(name, value string, named bool) bool {
	name = strings.ToUpper(name)
	parts := strings.Split(name, "_")
	last := keyWords.MatchString(parts[len(parts)-1]) // STRIPE_KEY is one, whatever it looks like
	switch {
	case password(value) != "":
		return true
	case settings.MatchString(name):
		return false
	case last:
		return !(pathStart.MatchString(value) || strings.Contains(value, "://")) || !isPlain(value)
	case slices.ContainsFunc(parts, keyWords.MatchString): // AWS_ACCESS_KEY_ID; but AUTH_METHOD
		return !isPlain(value)
	case named:
		return !pathStart.MatchString(value) && !isPlain(value)
	}
	return false
}

// isPlain says that a value is made of words and numbers: a model's name, a
// region, a path, an address.
func isPlain(value string) bool {
	return !slices.ContainsFunc(wordEnds.Split(value, -1), func(word string) bool { return !plainWord.MatchString(word) })
}

// password is that of an address, "" where it has none.
func password(value string) string {
	u, err := url.Parse(value)
	if err != nil || u.User == nil || !strings.Contains(value, "://") {
		return ""
	}
	p, _ := u.User.Password()
	return p
}

// within are the keys inside a value.
func within(value string) []string {
	var list []string
	if strings.HasPrefix(value, "{") {
		var v any
		if json.Unmarshal([]byte(value), &v) == nil {
			list = leaves(list, v)
		}
	}
	if p := password(value); p != "" {
		list = append(list, p)
	}
	if strings.Contains(value, "-----BEGIN") {
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= longKey && !strings.HasPrefix(line, "-----") {
				list = append(list, line)
			}
		}
	}
	return list
}

func leaves(list []string, v any) []string {
	switch v := v.(type) {
	case string:
		if len(v) >= longKey && !isPlain(v) {
			list = append(append(list, v), within(v)...)
		}
	case []any:
		for _, each := range v {
			list = leaves(list, each)
		}
	case map[string]any:
		for _, each := range v { // a set: their order says nothing
			list = leaves(list, each)
		}
	}
	return list
}
