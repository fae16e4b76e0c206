package runs

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"assay/engine/record"
	"assay/tui/ui"
)

// topRows are the lines above the list: an empty one and the columns' names.
const topRows = 2

// frameRows are the lines of the window that are not the screen's.
const frameRows = 2

// View draws the screen.
func (m *Model) View(width, height int) []string {
	m.height = max(height-topRows, 1)
	var lines []string
	switch {
	case m.err != nil:
		lines = m.sentence(width, m.theme.Bad, ui.CleanLine(m.err.Error()))
	case !m.read:
		lines = m.sentence(width, m.theme.Quiet, "Reading the runs …")
	case m.mode == fillForm:
		lines = m.formView(width, height)
	case m.mode == listRecipes:
		lines = m.recipesView(width)
	case len(m.runs) == 0:
		lines = m.sentence(width, m.theme.Text, "No runs yet.")
	default:
		top := ui.Spaces(width)
		if m.find.on {
			top = m.findLine(width)
		}
		lines = append([]string{top, m.columns(width).head(m.theme, width)}, m.runList.View(m, width, m.height, true)...)
	}
	for len(lines) < height {
		lines = append(lines, ui.Spaces(width))
	}
	return lines[:height]
}

func (m *Model) sentence(width int, style ui.Style, text string) []string {
	return []string{ui.Spaces(width), ui.Row(width, ui.Style{}, ui.S(style, "  "+text))}
}

func (m *Model) recipesView(width int) []string {
	t := m.theme
	title := "Run a recipe. Enter runs all eight steps; nothing leaves this machine unless the recipe says so."
	if len(m.runs) == 0 {
		title = "No runs yet. Enter runs a recipe: all eight steps, saved in one file."
	}
	if len(m.opts.Recipes) == 0 {
		title = "No runs yet, and no recipes are built in. Run one with: assay run RECIPE"
	}
	lines := []string{ui.Spaces(width), ui.Row(width, ui.Style{}, ui.S(t.Text, "  "+title))}
	return append(lines, m.recipeList.View(&m.recipes, width, m.height, true)...)
}

// recipeRows are the rows of the recipes.
type recipeRows struct{ m *Model }

func (r *recipeRows) Len() int             { return len(r.m.opts.Recipes) }
func (r *recipeRows) Version(i int) uint64 { return 0 }

func (r *recipeRows) Draw(i, width int, look ui.Look) string {
	t := r.m.theme
	base := t.Base(look)
	recipe := r.m.opts.Recipes[i]
	name := ui.Pad(ui.CleanLine(recipe.Name), max(min(width/3, 40), 16))
	spans := []ui.Span{cursorSpan(t, base, look)}
	if recipe.Lacks != "" {
		spans = append(spans, ui.S(t.Quiet, " "+name), ui.S(t.Warn, "  ! needs "+ui.CleanLine(recipe.Lacks)))
	} else {
		spans = append(spans, ui.S(t.Strong, " "+name), ui.S(t.Quiet, "  "+ui.CleanLine(recipe.About)))
	}
	return ui.Row(width, base, spans...)
}

func cursorSpan(t ui.Theme, base ui.Style, look ui.Look) ui.Span {
	if look == ui.Plain {
		return ui.S(base, " ")
	}
	return ui.S(t.Accent, "▎")
}

// columns are the widths of the list's columns for a width of the screen; 0 is
// left out.
type columns struct{ recipe, agent, bar, bounds, mix, counts, state, age int }

const (
	shareWidth = 6
	ageWidth   = 4
	stateWidth = 15 // the longest is "~ wrong address", then "✗ empty replies"
)

func (m *Model) columns(width int) columns {
	c := columns{recipe: 20, bar: 13, counts: 16, state: stateWidth, age: ageWidth}
	switch {
	case width < 60:
		return columns{recipe: max(width-shareWidth-12-ageWidth-4, 8), state: 10, age: ageWidth}
	case width < 100:
		c.counts, c.bar = 13, 11
	case width < 118:
		c.bounds, c.bar = 12, 17
	case width < 150:
		c.agent, c.bounds, c.bar = 14, 12, 17
	default:
		c.agent, c.bounds, c.bar, c.mix, c.recipe, c.counts = 24, 14, 25, 20, 30, 24
	}
	rest := width - (2 + c.recipe + c.agent + c.bar + shareWidth + c.bounds + c.mix + c.counts + c.state + c.age + gaps(c))
	c.recipe = max(c.recipe+rest, 8)
	return c
}

// gaps is the space between the columns: two cells each.
func gaps(c columns) int {
	n := 0
	for _, w := range []int{c.agent, c.bar, c.mix, c.counts, c.state, c.age} {
		if w > 0 {
			n += 2
		}
	}
	return n
}

func (c columns) head(t ui.Theme, width int) string {
	spans := []ui.Span{ui.S(t.Quiet, "  "+ui.Pad("recipe", c.recipe))}
	add := func(w int, name string, left bool) {
		if w == 0 {
			return
		}
		text := ui.Pad(name, w)
		if left {
			text = ui.PadLeft(name, w)
		}
		spans = append(spans, ui.S(t.Quiet, "  "+text))
	}
	add(c.agent, "agent", false)
	add(c.bar, "pass@1", false)
	if c.bar == 0 {
		spans = append(spans, ui.S(t.Quiet, ui.PadLeft("pass@1", shareWidth)))
	} else {
		spans = append(spans, ui.S(t.Quiet, ui.Spaces(shareWidth)))
	}
	if c.bounds > 0 {
		spans = append(spans, ui.S(t.Quiet, ui.Spaces(c.bounds)))
	}
	add(c.mix, "verdicts", false)
	if c.mix == 0 {
		add(c.counts, "verdicts", false)
	} else {
		add(c.counts, "", false)
	}
	add(c.state, "state", false)
	add(c.age, "age", true)
	return ui.Row(width, ui.Style{}, spans...)
}

// Len is the number of runs.
func (m *Model) Len() int { return len(m.runs) }

// Version tells drawn rows apart.
func (m *Model) Version(i int) uint64 {
	r := m.runs[i]
	h := fnv.New64a()
	h.Write([]byte(r.ID))
	h.Write([]byte(ui.Age(m.now.Sub(r.StartedAt))))
	return h.Sum64() ^ m.version
}

// Draw draws a run.
func (m *Model) Draw(i, width int, look ui.Look) string {
	t := m.theme
	base := t.Base(look)
	r := m.runs[i]
	c := m.columns(width)
	spans := []ui.Span{cursorSpan(t, base, look), ui.S(base, " ")}
	if slices.Contains(m.marked, r.ID) {
		spans[1] = ui.S(t.Accent, "●")
	}
	spans = append(spans, m.title(r, c.recipe)...)
	if c.agent > 0 {
		spans = append(spans, ui.S(t.Quiet, "  "+ui.Pad(ui.Line(r.Program, c.agent), c.agent)))
	}
	spans = append(spans, m.passSpans(r, c)...)
	if c.mix > 0 {
		spans = append(spans, ui.S(base, "  "))
		spans = append(spans, ui.Mix(t, c.mix, m.verdicts(r))...)
	}
	if c.counts > 0 {
		spans = append(spans, ui.S(base, "  "))
		spans = append(spans, m.countSpans(r, c.counts)...)
	}
	word, style := m.state(r)
	spans = append(spans, ui.S(base, "  "), ui.S(style, ui.Pad(word, c.state)))
	spans = append(spans, ui.S(t.Quiet, "  "+ui.PadLeft(ui.Age(m.now.Sub(r.StartedAt)), c.age)))
	return ui.Row(width, base, spans...)
}

// title is the recipe with the run's name or its part in a story.
func (m *Model) title(r *record.Run, width int) []ui.Span {
	t := m.theme
	name := ui.Line(r.Recipe, width)
	if name == "" {
		name = "(" + ui.CleanLine(string(r.Mode)) + ")"
	}
	beside := ui.Line(r.Name, width)
	if r.Parent != "" {
		name = "  └ " + ui.CleanLine(r.Role)
	}
	name = ui.Cut(name, width)
	left := width - ui.Width(name)
	if beside == "" || left < 4 {
		return []ui.Span{ui.S(t.Text, name), ui.S(t.Text, ui.Spaces(left))}
	}
	return []ui.Span{ui.S(t.Text, name), ui.S(t.Quiet, ui.Pad("  "+beside, left))}
}

func (m *Model) passSpans(r *record.Run, c columns) []ui.Span {
	t := m.theme
	p, known := m.pass[r.ID]
	in := ui.NewInterval(p.e.Value, p.e.Lo, p.e.Hi)
	number, bounds := ui.Share(in.Value), in.Bounds()
	switch {
	case r.Counts.Graded == 0:
		number, bounds = "–", ""
	case !known:
		number, bounds = "…", ""
	case p.err != nil:
		number, bounds = "!", "not read"
	}
	var spans []ui.Span
	if c.bar > 0 {
		spans = append(spans, ui.S(t.Text, "  "))
		spans = append(spans, ui.IntervalBar(t, t.Accent, c.bar, in)...)
	}
	spans = append(spans, ui.S(t.Text, ui.PadLeft(number, shareWidth)))
	if c.bounds > 0 {
		spans = append(spans, ui.S(t.Quiet, ui.Pad(" "+bounds, c.bounds)))
	}
	return spans
}

func (m *Model) verdicts(r *record.Run) []ui.Part {
	t, c := m.theme, r.Counts
	return []ui.Part{
		{Count: c.Passed, Style: t.Good, Sign: '█'},
		{Count: c.Graded - c.Passed, Style: t.Bad, Sign: '▒'},
		{Count: c.Done - c.Graded, Style: t.Quiet, Sign: '░'},
		{Count: c.LostTotal(), Style: t.Warn, Sign: '!'},
	}
}

// countSpans is the verdicts in figures, in exactly width cells.
func (m *Model) countSpans(r *record.Run, width int) []ui.Span {
	t, c := m.theme, r.Counts
	var spans []ui.Span
	used := 0
	add := func(mark ui.Mark, n int, always bool) {
		text := mark.Sign + fmt.Sprint(n) + " "
		if n == 0 && !always || used+ui.Width(text) > width {
			return
		}
		used += ui.Width(text)
		spans = append(spans, ui.S(mark.Style, text))
	}
	if c.Graded > 0 {
		add(t.Pass(), c.Passed, true)
		add(t.Fail(), c.Graded-c.Passed, true)
		add(t.Unjudged(), c.Done-c.Graded, false)
	} else {
		add(t.Finished(), c.Done, true)
	}
	add(t.Lost(), c.LostTotal(), false)
	return append(spans, ui.S(ui.Style{}, ui.Spaces(width-used)))
}

func (m *Model) state(r *record.Run) (string, ui.Style) {
	t := m.theme
	switch r.Status {
	case record.RunRunning:
		progress := ""
		if r.Counts.Planned > 0 {
			progress = fmt.Sprintf(" %d%%", 100*(r.Counts.Done+r.Counts.LostTotal())/r.Counts.Planned)
		}
		if m.active[r.ID] {
			return t.Running().Sign + " running" + progress, t.Info
		}
		return "? unfinished" + progress, t.Warn
	case record.RunDone:
		if r.Hollow {
			return "! hollow", t.Warn
		}
		return "done", t.Quiet
	case record.RunFailed:
		return "✗ " + words(r.StoppedBecause), t.Bad
	}
	return "~ " + words(r.StoppedBecause), t.Warn
}

// words is why a run ended, for people.
func words(reason record.StopReason) string {
	if reason == "" {
		return "stopped"
	}
	return ui.CleanLine(strings.ReplaceAll(string(reason), "_", " "))
}
