package runs

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"assay/tui/ui"
)

// form sets the knobs of a recipe before it runs. What is left empty is as the
// recipe says.
type form struct {
	recipe string
	knobs  []Knob
	fields []ui.Field
	list   ui.List
	gen    int
}

type knobsMsg struct {
	gen    int
	recipe string
	knobs  []Knob
	err    error
}

// nameKnob is the first line of every form.
const nameKnob = "name"

// beginForm reads the knobs of the recipe under the cursor.
func (m *Model) beginForm() tea.Cmd {
	recipe := m.opts.Recipes[m.recipeList.Cursor()]
	if recipe.Lacks != "" {
		return lacks(recipe)
	}
	m.form.gen++
	gen, of := m.form.gen, m.opts.Knobs
	return func() tea.Msg {
		knobs, err := of(recipe.Name)
		return knobsMsg{gen, recipe.Name, knobs, err}
	}
}

func (m *Model) knobsRead(msg knobsMsg) tea.Cmd {
	switch {
	case msg.gen != m.form.gen || m.mode != listRecipes:
		return nil
	case msg.err != nil:
		return ui.Failed(msg.err)
	}
	knobs := append([]Knob{{Name: nameKnob, About: "a name for the run, to find it by"}}, msg.knobs...)
	m.form = form{recipe: msg.recipe, knobs: knobs, fields: make([]ui.Field, len(knobs)), gen: m.form.gen}
	m.mode = fillForm
	return nil
}

// field is the one under the cursor.
func (f *form) field() *ui.Field { return &f.fields[f.list.Cursor()] }

func (m *Model) typeForm(msg tea.KeyPressMsg) tea.Cmd {
	f := &m.form
	n := len(f.knobs)
	switch key := msg.String(); key {
	case "esc":
		m.mode = listRecipes
	case "enter":
		return m.startForm()
	case "up", "shift+tab":
		f.list.Set((f.list.Cursor()-1+n)%n, n)
	case "down", "tab":
		f.list.Set((f.list.Cursor()+1)%n, n)
	case "pgup":
		f.list.Set(0, n)
	case "pgdown":
		f.list.Set(n-1, n)
	default:
		f.field().Key(key, msg.Text)
	}
	return nil
}

// startForm asks for the run. The form stays until it has begun: what was typed is
// there where the engine refuses a value.
func (m *Model) startForm() tea.Cmd {
	msg := StartMsg{Recipe: m.form.recipe, Knobs: map[string]string{}}
	for i, k := range m.form.knobs {
		text := strings.TrimSpace(m.form.fields[i].Text())
		switch {
		case k.Name == nameKnob:
			msg.Name = text
		case text != "":
			msg.Knobs[k.Name] = text
		}
	}
	return func() tea.Msg { return msg }
}

// formView draws the knobs in two columns: what is set, and what it is for.
func (m *Model) formView(width, height int) []string {
	t, f := m.theme, &m.form
	lines := []string{ui.Spaces(width), ui.Row(width, ui.Style{}, ui.S(t.Text, "  Run "), ui.S(t.Strong, ui.CleanLine(f.recipe)), ui.S(t.Quiet, "  What is left empty is as the recipe says."))}
	name := 0
	for _, k := range f.knobs {
		name = max(name, ui.Width(ui.CleanLine(k.Name)))
	}
	value := max(min(width/4, 24), 10)
	from, to := f.list.Window(len(f.knobs), max(height-topRows, 1))
	for i := from; i < to; i++ {
		k := f.knobs[i]
		look := ui.Plain
		if i == f.list.Cursor() {
			look = ui.Active
		}
		base := t.Base(look)
		spans := []ui.Span{cursorSpan(t, base, look), ui.S(t.Text, " "+ui.Pad(ui.CleanLine(k.Name), name)+"  ")}
		spans = append(spans, m.formField(i, value, look)...)
		spans = append(spans, ui.S(t.Quiet, "  "+ui.CleanLine(k.About)))
		lines = append(lines, ui.Row(width, base, spans...))
	}
	return lines
}

// formField is a field in exactly width cells: what was typed, else what the recipe
// says.
func (m *Model) formField(i, width int, look ui.Look) []ui.Span {
	t, f := m.theme, &m.form
	field := &f.fields[i]
	var spans []ui.Span
	switch {
	case look == ui.Active:
		spans = field.Spans(t, width)
	case field.Empty():
		text := ui.Line(f.knobs[i].Default, width)
		if text == "" {
			text = "–"
		}
		spans = []ui.Span{ui.S(t.Quiet, text)}
	default:
		spans = []ui.Span{ui.S(t.Accent, ui.Line(field.Text(), width))}
	}
	used := 0
	for _, s := range spans {
		used += ui.Width(s.Text)
	}
	if look == ui.Active && field.Empty() {
		text := ui.Line(f.knobs[i].Default, width-used-1)
		spans = append(spans, ui.S(t.Quiet, text))
		used += ui.Width(text)
	}
	return append(spans, ui.S(t.Text, ui.Spaces(width-used)))
}
