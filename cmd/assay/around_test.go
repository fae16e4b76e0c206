package main

import (
	"strings"
	"testing"
)

// TestCommandsAround: what a shell, a packager and a bug report ask of a program.
func TestCommandsAround(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := p.must("completion", shell); !strings.Contains(out, "assay") {
			t.Errorf("the completion for %s does not name assay", shell)
		}
	}
	if out := p.must("__complete", "de"); !strings.Contains(out, "delta") {
		t.Errorf("delta is not offered: %q", out)
	}
	if out := p.must("man"); !strings.Contains(out, ".TH") || !strings.Contains(out, "label") {
		t.Errorf("no manual page: %.200q", out)
	}
	if out := p.must("--version"); !strings.HasPrefix(out, "assay version ") {
		t.Errorf("--version says %q", out)
	}
}
