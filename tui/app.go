package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"assay/store"
	"assay/tui/explore"
	"assay/tui/live"
	"assay/tui/runs"
	"assay/tui/ui"
)

// toastFor is how long a toast stays. Convention, untested.
const toastFor = 4 * time.Second

// root is the app's model: it routes keys and messages, and draws the frame.
type root struct {
	ctx   context.Context
	opts  Options
	box   *mailbox
	guard *guard
	theme ui.Theme
	fixed bool // the theme was asked for by name

	runs  *runs.Model
	live  *live.Model // the story that runs here, or ran last
	saved *live.Model // another one, opened meanwhile
	look  *live.Model // which of the two is shown
	more  map[int]ui.Screen
	front int    // number of the screen in front
	run   string // the run that is carried from screen to screen

	changed   map[string]bool // runs that the other screens have not been told of
	changedAt time.Time

	story    Story // nil where none runs
	begins   bool  // one is being begun
	stops    int   // how often it was asked to stop
	leaving  bool  // the program ends when the story has, and a file is whole
	signals  bool  // the system asked for it: nobody may be there
	halted   bool  // the story was stopped and has ended, and no key was pressed since
	storyIDs map[string]bool

	width, height int
	mouse         bool
	ask           *ui.AskMsg
	menu          *ui.Menu
	help          ui.KeysBox
	found         []store.Found // what the palette found
	finding       ui.Question
	toast         *ui.ToastMsg
	toastGen      int

	kept    map[string]json.RawMessage // the places as they were saved
	placing bool                       // they are being read: nothing is drawn yet
	touched bool                       // a key was pressed
	noted   map[string]bool            // verdicts that are noted as seen
	saving  bool                       // a save is due
	chosen  string                     // the theme, where one was chosen by name here

	// later and wait are what takes time by the clock or by a story; a test that
	// drives the model by hand puts its own here.
	later func(time.Duration, tea.Msg) tea.Cmd
	wait  func(Story) tea.Cmd
}

func newRoot(ctx context.Context, o Options, box *mailbox, g *guard) *root {
	name := o.Theme
	if name == "" && hasNoColor(o.Environ) {
		name = "mono"
	}
	theme := ui.ThemeNamed(name)
	m := &root{ctx: ctx, opts: o, box: box, guard: g, theme: theme, fixed: name != "", front: ui.ScreenRuns, mouse: true, storyIDs: map[string]bool{}, noted: map[string]bool{},
		later: sendLater(ctx), wait: waitFor}
	m.more = otherScreens(ctx, o, theme)
	m.runs = runs.New(ctx, runs.Options{Store: o.Store, Pass: o.Pass, Recipes: o.Recipes, Knobs: o.Knobs, Compare: m.more[ui.ScreenDelta] != nil, Now: o.Now, Theme: theme})
	m.live = live.New(ctx, live.Options{Store: o.Store, Pass: o.Pass, Now: o.Now, Theme: theme})
	m.saved = live.New(ctx, live.Options{Store: o.Store, Pass: o.Pass, Now: o.Now, Theme: theme})
	m.look = m.live
	return m
}

// hasNoColor follows no-color.org: the variable counts when it is there and not
// empty.
func hasNoColor(environ []string) bool {
	for _, kv := range environ {
		if name, value, _ := strings.Cut(kv, "="); name == "NO_COLOR" && value != "" {
			return true
		}
	}
	return false
}

// Init reads the runs, asks for the terminal's background, and begins what was
// asked for on the way in.
func (m *root) Init() tea.Cmd {
	m.placing = true
	cmds := []tea.Cmd{m.readPlaces(), m.runs.Init()}
	if !m.fixed {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	switch {
	case m.opts.Open != "":
		cmds = append(cmds, m.goTo(cmp.Or(m.opts.Screen, ui.ScreenLive), ui.Visit{Run: m.opts.Open}))
	case m.opts.Begin != "":
		cmds = append(cmds, m.begin(runs.StartMsg{Recipe: m.opts.Begin}))
	case m.opts.Continue != "":
		cmds = append(cmds, m.begin(runs.ResumeMsg{RunID: m.opts.Continue}))
	}
	return m.guard.cmd(tea.Batch(cmds...))
}

// Update routes a message. A panic in it ends the program with a report.
func (m *root) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer func() {
		if p := recover(); p != nil {
			m.guard.caught("update", p)
			model, cmd = m, tea.Quit
		}
	}()
	if m.guard.crashed() {
		return m, tea.Quit
	}
	return m, m.guard.cmd(m.update(msg))
}

// writing names what a screen is writing to a file, "" for nothing.
func (m *root) writing() string {
	for _, s := range m.screens() {
		if w, ok := s.(ui.Writer); ok && w.Writing() != "" {
			return w.Writing()
		}
	}
	return ""
}

// idle is true where nothing is on its way that leaving would drop.
func (m *root) idle() bool { return m.story == nil && !m.begins && m.writing() == "" }

func (m *root) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m.runs.Update(msg)
	case tea.BackgroundColorMsg:
		if !m.fixed && !msg.IsDark() {
			m.restyle(ui.ThemeNamed("light"))
		}
	case tea.KeyPressMsg:
		return tea.Batch(m.key(msg), m.touch())
	case tea.PasteMsg:
		if m.menu != nil {
			m.menu.Key("", msg.Content)
			return m.lookUp()
		}
		return tea.Batch(m.toFront(msg), m.touch())
	case tea.MouseWheelMsg:
		msg.Y--
		return tea.Batch(m.toFront(msg), m.touch())
	case tea.MouseClickMsg:
		msg.Y--
		return tea.Batch(m.toFront(msg), m.touch())
	case ui.ToastMsg:
		if m.leaving && m.idle() { // it tells of the file that was waited for
			if m.signals || !msg.Bad {
				return tea.Quit
			}
			m.leaving = false // somebody is there to read what went wrong
		}
		return m.say(msg)
	case toastOverMsg:
		if int(msg) == m.toastGen {
			m.toast = nil
		}
	case ui.AskMsg:
		m.ask = &msg
	case themeMsg:
		m.fixed, m.chosen = true, string(msg)
		m.restyle(ui.ThemeNamed(string(msg)))
	default:
		return m.routed(msg)
	}
	return nil
}

// routed takes what concerns stories; the rest goes to the screens that asked for
// it: answers find their screen though another is in front.
func (m *root) routed(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case runs.StartMsg, runs.ResumeMsg:
		return m.begin(msg)
	case runs.OpenMsg:
		return m.open(msg.RunID)
	case explore.MoreMsg:
		return m.begin(runs.StartMsg{Recipe: msg.Recipe, Knobs: map[string]string{"aim": msg.Aim}})
	case live.BackMsg:
		return m.goTo(ui.ScreenRuns, ui.Visit{})
	case ui.GoMsg:
		return m.goTo(msg.Screen, msg.Visit)
	case leaveMsg:
		return m.drainAndLeave()
	case signalMsg:
		return m.signalled()
	case placesMsg:
		return m.placed(msg)
	case saveMsg:
		m.saving = false
		return m.save()
	case savedMsg:
		if msg.err != nil {
			return ui.Failed(msg.err)
		}
		return nil
	case foundMsg:
		return m.lookedUp(msg)
	case begunMsg:
		return m.begun(msg)
	case endedMsg:
		return m.ended(msg)
	case live.News:
		return m.news(msg)
	}
	var cmds []tea.Cmd
	for _, s := range m.screens() {
		cmds = append(cmds, s.Update(msg))
	}
	return tea.Batch(cmds...)
}

func (m *root) toFront(msg tea.Msg) tea.Cmd {
	if wheel, ok := msg.(tea.MouseWheelMsg); ok && m.help.Open {
		m.help.Scroll(wheelBy(wheel))
	}
	if m.ask != nil || m.menu != nil || m.help.Open {
		return nil
	}
	return m.at(m.front).Update(msg)
}

// wheelBy is how many lines a notch of the wheel goes, down or up. Convention.
func wheelBy(msg tea.MouseWheelMsg) int {
	switch msg.Button {
	case tea.MouseWheelUp:
		return -3
	case tea.MouseWheelDown:
		return 3
	}
	return 0
}

func (m *root) restyle(t ui.Theme) {
	m.theme = t
	for _, s := range m.screens() {
		s.Restyle(t)
	}
}

// key takes a key: the box over the screen first, then what the key does here.
func (m *root) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch {
	case m.ask != nil:
		return m.answer(key)
	case m.menu != nil:
		return m.choose(key, msg.Text)
	case m.help.Open:
		if a, ok := ui.Lookup(ui.Moves(), key); ok && m.help.Move(a.ID) {
			return nil
		}
		m.help.Open = false
		if key == "?" || key == "esc" || key == "q" || key == "enter" {
			return nil
		}
	}
	if m.typing() && !everywhere(key) {
		return m.at(m.front).(ui.Typist).Type(msg)
	}
	a, ok := ui.Lookup(m.actions(), key)
	halted := m.halted
	m.halted = false
	switch {
	case !ok:
		return nil
	case halted && a.ID == ui.Stop: // meant for the story, which was quicker
		return ui.Toast("The run has stopped already; Ctrl-C again leaves")
	}
	return m.do(a.ID)
}

// typing is true while the screen in front has a text field in use.
func (m *root) typing() bool {
	typist, ok := m.at(m.front).(ui.Typist)
	return ok && typist.Typing()
}

// everywhere is true of the keys that mean the same in a text field.
func everywhere(key string) bool {
	switch key {
	case "ctrl+c", "ctrl+p", "ctrl+l", "f1", "f2", "f3", "f4", "f5", "f6", "f7":
		return true
	}
	return false
}

func (m *root) answer(key string) tea.Cmd {
	switch m.ask.Confirm.Key(key) {
	case ui.Yes:
		yes := m.ask.Yes
		m.ask = nil
		return yes
	case ui.No:
		m.ask = nil
	}
	return nil
}

func (m *root) choose(key, text string) tea.Cmd {
	chosen, closed := m.menu.Key(key, text)
	if closed {
		m.menu = nil
	}
	if chosen == nil {
		if closed {
			return nil
		}
		return m.lookUp()
	}
	if cmd, ok := m.goToFound(chosen.ID); ok {
		return cmd
	}
	return m.do(chosen.ID)
}

// do does an action: the frame's own, else the screen's.
func (m *root) do(id string) tea.Cmd {
	switch id {
	case ui.Leave:
		return m.leave()
	case ui.Stop:
		return m.stop()
	case ui.Help:
		m.help.Show()
	case ui.Palette:
		m.openPalette()
	case ui.Redraw:
		return tea.ClearScreen
	case ui.Mouse:
		m.mouse = !m.mouse
		if m.mouse {
			return ui.Toast("Mouse on")
		}
		return ui.Toast("Mouse off: the terminal selects text now")
	case doSuspend:
		return tea.Suspend
	}
	if name, ok := strings.CutPrefix(id, doTheme); ok {
		return func() tea.Msg { return themeMsg(name) }
	}
	for _, n := range m.numbers() {
		if id == ui.GoTo(n) {
			return m.goTo(n, ui.Visit{})
		}
	}
	return m.at(m.front).Do(id)
}

// Actions of the frame that have no key.
const (
	doSuspend = "suspend"
	doTheme   = "theme-"
)

type themeMsg string

// actions are what can be done now, the screen's before the frame's.
func (m *root) actions() []ui.Action {
	out := append(m.at(m.front).Actions(), m.screenActions()...)
	if m.story != nil {
		out = append(out, ui.Reserve(ui.Stop, "stop", "", 4))
	} else {
		out = append(out, ui.Reserve(ui.Stop, "quit", "", 0))
	}
	help, leave, palette := 11, 12, 13
	if m.typing() {
		help, leave, palette = 0, 0, 0 // their keys are text now
	}
	return append(out,
		ui.Reserve(ui.Palette, "", "", palette), ui.Reserve(ui.Help, "", "", help), ui.Reserve(ui.Leave, "", "", leave),
		ui.Reserve(ui.Redraw, "", "", 0), ui.Reserve(ui.Mouse, "", "", 0))
}

type toastOverMsg int

func (m *root) say(msg ui.ToastMsg) tea.Cmd {
	m.toast = &msg
	m.toastGen++
	gen := m.toastGen
	stay := toastFor
	if msg.Bad {
		stay *= 2 // an error takes longer to read
	}
	stay += toastFor * time.Duration(max(len(m.toastRows())-1, 0))
	return m.later(stay, toastOverMsg(gen))
}

// sendLater sends a message after a while, at the latest when ctx ends.
func sendLater(ctx context.Context) func(time.Duration, tea.Msg) tea.Cmd {
	return func(d time.Duration, msg tea.Msg) tea.Cmd {
		return func() tea.Msg {
			over := time.NewTimer(d)
			defer over.Stop()
			select {
			case <-over.C:
			case <-ctx.Done():
			}
			return msg
		}
	}
}

// waitFor tells when a story has ended.
func waitFor(s Story) tea.Cmd {
	return func() tea.Msg {
		<-s.Done()
		return endedMsg{s}
	}
}

// View draws the frame and the screen in front. A panic in it ends the program
// with a report.
func (m *root) View() (v tea.View) {
	defer func() {
		if p := recover(); p != nil {
			m.guard.caught("view", p)
			v = tea.NewView("")
			v.AltScreen = true
		}
	}()
	v = tea.NewView(strings.Join(m.draw(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "assay"
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// least is the smallest window that anything is drawn in.
const (
	leastWidth  = 20
	leastHeight = 5
)

func (m *root) draw() []string {
	if m.width <= 0 || m.height <= 0 || m.guard.crashed() {
		return nil
	}
	if m.placing {
		return nil
	}
	if m.width < leastWidth || m.height < leastHeight {
		return []string{ui.Cut("assay needs more room", m.width)}
	}
	front := m.at(m.front)
	lines := make([]string, 0, m.height)
	lines = append(lines, m.header(front))
	lines = append(lines, front.View(m.width, m.height-2)...)
	foot := m.footer()
	lines = append(lines[:m.height-len(foot)], foot...)
	switch {
	case m.ask != nil:
		return ui.Over(lines, m.ask.Confirm.View(m.theme, m.width), m.width)
	case m.menu != nil:
		return ui.Over(lines, m.menu.View(m.theme, m.width, m.height), m.width)
	case m.help.Open:
		return ui.Over(lines, m.help.View(m.theme, "Keys: "+screenName(m.front), m.actions(), m.notes(), m.width, m.height), m.width)
	}
	return lines
}

// notes are what the help box says below the keys.
func (m *root) notes() []string {
	return []string{
		"",
		"✓ pass   ✗ fail   ◐ partial   ? no verdict   ! lost   ◌ running   ⚑ injected fault",
		"Text from outside is shown as it is: ␛ is an escape, ⟨RLO⟩ a bidi override, ⁺ joins an emoji.",
	}
}

func (m *root) header(front ui.Screen) string {
	t := m.theme
	right := front.Status()
	if m.story != nil && m.front != ui.ScreenLive {
		right = append(right, ui.S(t.Info, "   "+t.Running().Sign+" a run is on its way"))
	}
	switch {
	case m.leaving:
		right = []ui.Span{ui.S(t.Warn, "leaving when what is in flight has finished")}
	case m.stops == 1:
		right = []ui.Span{ui.S(t.Warn, "stopping: what is in flight finishes; Ctrl-C aborts it")}
	case m.stops > 1:
		right = []ui.Span{ui.S(t.Warn, "aborting")}
	case m.begins:
		right = []ui.Span{ui.S(t.Info, t.Running().Sign+" starting")}
	}
	right = append(right, ui.S(t.Text, " "))
	room := m.width - 1
	for _, s := range right {
		room -= ui.Width(s.Text)
	}
	return ui.Sides(m.width, ui.Style{}, m.tabs(front.Where(), room), right)
}

// footer is the last line, or the last ones: a toast is shown whole, since what to do
// about an error stands at its end.
func (m *root) footer() []string {
	if m.toast == nil {
		return []string{ui.Footer(m.theme, m.width, m.actions())}
	}
	style, sign := m.theme.Accent, " "
	if m.toast.Bad {
		style, sign = m.theme.Bad, "✗ "
	}
	rows := m.toastRows()
	rows = rows[:min(len(rows), m.height-1)]
	for i, row := range rows {
		rows[i] = ui.Row(m.width, ui.Style{}, ui.S(style, " "+sign+row))
		sign = strings.Repeat(" ", ui.Width(sign))
	}
	return rows
}

// toastRows are the toast's lines in the window, without their sign.
func (m *root) toastRows() []string { return ui.Wrap(m.toast.Text, max(m.width-4, 1)) }
