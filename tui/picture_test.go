package tui

import (
	"fmt"
	"html"
	"image/color"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"

	"assay/engine"
	"assay/recipes"
	"assay/store"
	"assay/store/exchange"
)

// picture is the README's, below the repository's root.
const picture = "tui/picture.svg"

// TestPictureIsFresh runs a recipe, looks at one of its failures in Explore, and wants
// the README's picture to be just that screen; -update draws it anew.
func TestPictureIsFresh(t *testing.T) {
	ctx := t.Context()
	db, err := store.Open(ctx, filepath.Join(t.TempDir(), "assay.db"), store.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	const at = "01-simulate/seeded-agent"
	recipe, err := engine.LoadRecipe(func(file string) ([]byte, error) { return fs.ReadFile(recipes.FS(), path.Join(at, file)) }, at)
	if err != nil {
		t.Fatal(err)
	}
	if err := recipe.Apply(engine.Overrides{"situations": "60", "concurrency": "1", "runs": "1"}); err != nil { // one after the other: the list is in the order of commits
		t.Fatal(err)
	}
	runs := 0
	e := &engine.Engine{Source: db, Sink: db, Exporter: exchange.Exporter{DB: db}, Now: now, NewRunID: func() string { runs++; return fmt.Sprintf("3f9a0c11d2e%d", runs) }}
	if _, err := e.Run(ctx, recipe, engine.Options{Out: t.TempDir()}, &engine.Control{}); err != nil {
		t.Fatal(err)
	}
	d := drive(t, newMemory(), 110, 30, func(o *Options) { o.Store, o.Engine = db, e })
	d.press("3 /")
	d.write("reward=0")
	d.press("enter j j j enter")
	d.sees("3 Explore", "reward=0", "Verdict", "✗ fail")
	drawn := svg(d.m.View().Content, 110, 30)
	file := filepath.Join("..", filepath.FromSlash(picture))
	if *update {
		if err := os.WriteFile(file, []byte(drawn), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; -update draws it", err)
	}
	if string(kept) != drawn {
		t.Errorf("%s is not what the program shows; go test ./tui -run TestPictureIsFresh -update draws it anew. It shows:\n%s", picture, d.screen())
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "]("+picture+")") {
		t.Error("the README does not show the picture")
	}
}

// Size of a cell in the picture, in pixels: a monospaced letter of 14.
const (
	cellWidth  = 8.4
	cellHeight = 18.0
)

// bold is the terminal's attribute of that name (ultraviolet's AttrBold).
const bold = 1

// svg is a screen as a picture: each run of one look is a text of its own, stretched to
// the cells that it takes, so that columns align in any font.
func svg(screen string, width, height int) string {
	terminal := vt.NewEmulator(width, height)
	_, _ = terminal.WriteString(strings.ReplaceAll(screen, "\n", "\r\n")) // it cannot fail while it is open
	var b strings.Builder
	w, h := float64(width)*cellWidth, float64(height)*cellHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 %.0f %.0f" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" xml:space="preserve">`+"\n", w+20, h+20)
	fmt.Fprintf(&b, `<rect x="-10" y="-10" width="%.0f" height="%.0f" rx="8" fill="#181b20"/>`+"\n", w+20, h+20)
	for y := range height {
		for x := 0; x < width; {
			first := terminal.CellAt(x, y)
			text, from := "", x
			for x < width {
				c := terminal.CellAt(x, y)
				if c == nil || !c.Style.Equal(&first.Style) {
					break
				}
				text += c.Content
				x += max(c.Width, 1)
			}
			left, top, long := float64(from)*cellWidth, float64(y)*cellHeight, float64(x-from)*cellWidth
			if bg := first.Style.Bg; bg != nil {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", left, top, long, cellHeight, hex(bg))
			}
			if strings.TrimSpace(text) == "" {
				continue
			}
			look := fmt.Sprintf(` fill="%s"`, "#d8dee9")
			if fg := first.Style.Fg; fg != nil {
				look = fmt.Sprintf(` fill="%s"`, hex(fg))
			}
			if first.Style.Attrs&bold != 0 {
				look += ` font-weight="bold"`
			}
			if first.Style.Underline != 0 {
				look += ` text-decoration="underline"`
			}
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs"%s>%s</text>`+"\n", left, top+13.5, long, look, html.EscapeString(text))
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
