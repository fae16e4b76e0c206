package explore

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"assay/engine/record"
	"assay/tui/ui"
)

// MoreMsg asks for a follow-up run of a recipe, aimed at what failed in a run.
type MoreMsg struct{ Recipe, Aim string }

// askForMore asks for more situations where this run fails, and says what that costs
// before it begins.
func (m *Model) askForMore() tea.Cmd {
	r := m.run
	switch {
	case r == nil:
		return nil
	case r.Role == record.RoleImport || r.Recipe == "":
		return ui.Toast("This run comes from no recipe that could run again")
	case r.Status == record.RunRunning:
		return ui.Toast("The run is on its way still")
	}
	recipe := r.Recipe
	if r.RecipeDir != "" {
		recipe = r.RecipeDir
	}
	return ui.Ask(ui.Confirm{Question: "Ask for more situations where it fails?", Yes: "Begin the run", Says: moreCosts(r)},
		func() tea.Msg { return MoreMsg{recipe, r.ID} })
}

// moreCosts says what a follow-up run costs, by what this one did.
func moreCosts(r *record.Run) string {
	says := fmt.Sprintf("A new run of %s is aimed at the regions in which this one fails, and asks first what it has not asked. It does all that its recipe says, training files and comparison too; this run alone was %s", ui.Line(r.Recipe, 40), ui.Plural(r.Counts.Planned, "rollout"))
	if took := r.FinishedAt.Sub(r.StartedAt); took > 0 && !r.FinishedAt.IsZero() {
		says += ", and took " + ui.Duration(took)
	}
	return says + "."
}
