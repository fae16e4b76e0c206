package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"assay/engine/cover"
	"assay/engine/record"
)

// DefaultBatch is how many tasks are planned at a time. It is a constant of the
// recipe and never of the concurrency; 512 keeps two batches of eight rollouts
// each in front of any agent. Convention, untested. Feedback acts on what comes
// after two batches: who searches wants fewer.
const DefaultBatch = 512

// Given is an ask that the user already has. User and Reference may be absent.
type Given struct {
	Ask       record.Text
	User      *record.User
	Reference json.RawMessage
}

// Input is all that a plan depends on, beside what is observed.
type Input struct {
	Array cover.Array
	Tools []record.Tool
	// References are, by tool, the arguments that take a reference to a thing of the
	// world; those whose names say so need not be there.
	References map[string][]string
	KnownIDs   []KnownID

	Mode record.Mode
	Seed int64
	// Situations is how many to pose; 0 is all rows of the array and one open-ended
	// ask for each nine.
	Situations int
	Phrasings  int // wordings of each situation; 0 is 1
	Given      []Given
	Holdout    float64 // share of situations held out, 0 to 1
	FaultRate  float64 // share of fault situations that keep their fault, 0 to 1
	// ArmWeights pins the shares of the arms that it names; nil lets yield move them.
	ArmWeights map[string]float64
	Batch      int // tasks planned at a time; 0 is DefaultBatch
	// HardShare is the share of points of the grid wanted from the hard tier, at any
	// moment as near as can be: it orders the rows of the array, says which are taken
	// where not all are, and which points follow beyond. 0 leaves the mix as it falls.
	HardShare float64
	// HardAsked says that the user named HardShare: a mix that is off is then a
	// warning. Where it is the default, an array that is posed whole has its own mix.
	HardAsked bool
	// PassThreshold is the reward that passes: a rollout below it is a failure to
	// hunt near; 0 is 1.
	PassThreshold float64
	// Aim is what an earlier run or an imported log came to: what it has not asked
	// comes first, and what lies near its failures before the rest.
	Aim []Trace
	// Writer puts the situations of the arm llm_guided into words; nil leaves them to
	// the template writer, which takes over too where Writer fails.
	Writer Writer
	// Stored are the tasks that a resumed run has committed: what Writer wrote of them
	// stands.
	Stored []record.Posed
	// Exclude holds the ids of tasks that were exported for training: they are left
	// out and counted.
	Exclude map[string]bool
}

// Planner poses the tasks of one run, batch by batch.
type Planner struct {
	in       Input
	book     *phrasebook
	tools    string // the identity of the tools that every task was made with
	template *template
	scribe   *scribe
	quota    quota
	past     map[string]bool // situations that an earlier run posed
	given    []*record.Task
	grid     *gridSource
	open     *openSource
	seen     seenTasks
	tiers    tiers
	arms     *arms
	hunt     *hunt // nil in eval, where nothing steers

	mu       sync.Mutex
	planning bool          // a call of Next is at it, and may have let go of the lock
	begun    *batch        // that a call of Next could not finish, since its context ended
	changed  chan struct{} // closed and replaced with each Observe
	observed int           // batches whose outcomes are known
	batches  int
	order    int     // tasks posed
	posed    int     // situations posed beside the given asks
	rows     [][]int // of the grid, posed
	ended    bool
	report   Report
}

// New checks the input and prepares the plan. A budget that cannot hold the
// given asks is refused with the arithmetic.
func New(in Input) (*Planner, error) {
	if in.Batch <= 0 {
		in.Batch = DefaultBatch
	}
	if in.Phrasings <= 0 {
		in.Phrasings = 1
	}
	if in.PassThreshold <= 0 {
		in.PassThreshold = 1
	}
	if err := check(in); err != nil {
		return nil, err
	}
	p := &Planner{
		in: in, book: newPhrasebook(in.Tools, in.References, rulesOf(in.Array.Model), in.KnownIDs), tools: record.ToolsHash(in.Tools),
		changed: make(chan struct{}), seen: newSeenTasks(), tiers: tiersOf(in.Array.Model), past: pastOf(in.Aim),
	}
	p.template = &template{book: p.book, seed: in.Seed}
	p.scribe = newScribe(p)
	p.given = p.givenTasks()
	p.grid = newGridSource(p)
	p.open = newOpenSource(p)
	quota, err := quotaOf(in, len(p.given), p.grid.arrayLeft())
	if err != nil {
		return nil, err
	}
	p.quota = quota
	p.arms = newArms(in.ArmWeights)
	if in.Mode != record.ModeEval {
		p.hunt = newHunt(p)
	}
	p.report.start(p)
	return p, nil
}

func check(in Input) error {
	switch {
	case in.Situations < 0:
		return fmt.Errorf("situations: %d is below 0; leave it out for all rows of the array", in.Situations)
	case !(in.Holdout >= 0 && in.Holdout <= 1):
		return fmt.Errorf("holdout: %v is no share; give a number from 0 to 1", in.Holdout)
	case !(in.FaultRate >= 0 && in.FaultRate <= 1):
		return fmt.Errorf("fault_rate: %v is no share; give a number from 0 to 1", in.FaultRate)
	case !(in.HardShare >= 0 && in.HardShare <= 1):
		return fmt.Errorf("hard_share: %v is no share; give a number from 0 to 1", in.HardShare)
	case in.Mode == record.ModeEval && in.Holdout == 0 && len(in.Given) == 0:
		return errors.New("mode eval poses held-out situations only, and holdout is 0: give a holdout above 0 (1 poses all)")
	}
	return checkWeights(in.ArmWeights)
}

func rulesOf(m cover.Model) []string {
	for _, p := range m.Parameters {
		if p.Name == record.AxisRule {
			return p.Values
		}
	}
	return nil
}

// Next is the next batch of tasks, false where the plan has ended or ctx is
// done. Batch b waits until the outcomes of the batches before b-1 were observed,
// except in eval, where everything is planned up front.
func (p *Planner) Next(ctx context.Context) ([]record.Posed, bool) {
	for {
		p.mu.Lock()
		if p.ended {
			p.mu.Unlock()
			return nil, false
		}
		if !p.planning && (p.hunt == nil || p.batches < 2 || p.observed >= p.batches-1) {
			posed := p.plan(ctx)
			p.mu.Unlock()
			return posed, len(posed) > 0
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false
		}
	}
}

// Observe tells what came of a batch: its outcomes in the order (task order, k).
// Batches are observed in their order, each once; another order is a fault of the
// caller and panics. A batch that lost all its rollouts is observed with none.
func (p *Planner) Observe(batch int, outcomes []record.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if batch != p.observed || batch >= p.batches {
		panic(fmt.Sprintf("search: batch %d observed after %d of %d batches", batch, p.observed, p.batches))
	}
	p.observed++
	if p.hunt != nil {
		p.hunt.pending = append(p.hunt.pending, outcomes)
		if p.ended {
			p.hunt.learnUpTo(batch)
		}
	}
	p.tell()
}

// tell wakes the calls of Next that wait.
func (p *Planner) tell() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// plan makes the next batch, nil where there is none or ctx ended; the caller
// holds the lock.
func (p *Planner) plan(ctx context.Context) []record.Posed {
	p.planning = true
	defer func() {
		p.planning = false
		p.tell()
	}()
	b := p.begun
	if b == nil {
		b = p.choose()
		p.scribe.hand(b)
	}
	if p.begun = b; !p.scribe.write(ctx, b) {
		return nil
	}
	p.begun = nil
	if len(b.posed) == 0 {
		p.ended = true
		if p.hunt != nil {
			p.hunt.learnUpTo(p.observed - 1)
		}
		p.report.finish(p)
		return nil
	}
	p.batches++
	p.report.finish(p)
	return p.settle(b)
}

// settle is a batch whose tasks have their last words.
func (p *Planner) settle(b *batch) []record.Posed {
	posed := make([]record.Posed, len(b.posed))
	for i := range b.posed {
		d := &b.posed[i]
		posed[i] = d.posed
		if p.hunt != nil {
			p.hunt.pose(d.situation, d.posed.Task)
		}
	}
	return posed
}

// choose chooses the situations of the next batch, in the template's words.
func (p *Planner) choose() *batch {
	b := &batch{number: p.batches, room: p.in.Batch}
	if p.hunt != nil {
		p.hunt.learnUpTo(b.number - 2)
	}
	p.grid.release()
	for len(p.given) > 0 && b.room > 0 {
		task := p.given[0]
		p.given = p.given[1:]
		p.pose(b, &situation{arm: record.ArmGiven, id: task.SituationID, key: task.SituationID, heldOut: p.heldOut(task.SituationID)}, task, nil)
	}
	for p.posed < p.quota.rest() && b.room >= p.in.Phrasings || len(b.posed) == 0 && p.posed < p.quota.rest() {
		if !p.poseOne(b) {
			break
		}
	}
	return b
}

// batch is a batch being made.
type batch struct {
	number  int
	room    int // tasks that still fit
	posed   []posing
	writing writing
}

// posing is a task on its way into a batch.
type posing struct {
	posed     record.Posed
	situation *situation
	brief     *Brief // nil where only the template writes it
}

// poseOne poses one more situation from the arm whose turn it is, from another
// where that one has nothing left. False means that nothing is left at all.
func (p *Planner) poseOne(b *batch) bool {
	turn := p.quota.turn(p.posed)
	if p.hunt != nil && b.number >= 2 {
		turn = p.hunt.turn(p.quota.rest() - p.posed)
	}
	order := []source{p.grid, p.open}
	switch {
	case turn == record.ArmOpenEnded:
		order = []source{p.open, p.grid}
	case p.hunt != nil && turn == record.ArmBehaviorTargeted:
		order = []source{p.hunt.targets, p.grid, p.open}
	case p.hunt != nil && turn == record.ArmFailureMutation:
		order = []source{p.hunt.mutants, p.grid, p.open}
	}
	for _, from := range order {
		if from == source(p.open) && p.open.taken >= p.quota.open && turn != record.ArmOpenEnded {
			continue // the open-ended share is not for filling up a grid that has ended
		}
		for {
			s, ok := from.next()
			if !ok {
				break
			}
			if p.tryPose(b, s) {
				return true
			}
		}
	}
	return false
}

// tryPose poses a situation in its phrasings; false where nothing of it is new.
func (p *Planner) tryPose(b *batch, s *situation) bool {
	tasks := 0
	for phrasing := range p.in.Phrasings {
		task, brief := s.task(phrasing)
		switch {
		case p.in.Exclude[task.ID]:
			p.report.Excluded++
			continue
		case p.seen.equal(task):
			p.report.Equal++
			continue
		case p.seen.near(task):
			p.report.NearDuplicates++
			continue
		}
		p.pose(b, s, task, brief)
		tasks++
	}
	if tasks == 0 {
		return false
	}
	p.posed++
	if s.row != nil {
		p.rows = append(p.rows, s.row)
		p.grid.posed(s.row)
		if p.hunt != nil {
			p.hunt.regions.pose(s.row)
			p.hunt.posed++
		}
	}
	s.from.took(s)
	p.report.took(s, tasks)
	return true
}

func (p *Planner) pose(b *batch, s *situation, task *record.Task, brief *Brief) {
	p.seen.add(task)
	b.posed = append(b.posed, posing{
		posed:     record.Posed{Task: task, Arm: s.arm, Batch: b.number, Order: p.order, HeldOut: s.heldOut},
		situation: s, brief: brief,
	})
	p.order++
	b.room--
}

// heldOut says whether a situation is held out, by the key of its coordinates or
// of its first ancestor.
func (p *Planner) heldOut(key string) bool {
	return record.Under(p.in.Holdout, key, "holdout")
}

// State is the search that the last batch was planned by, for the journal: it
// rests on the outcomes of "learnt" batches. A resumed run observes its committed
// outcomes again and comes to the same state.
func (p *Planner) State() json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := struct {
		Planned int             `json:"planned"`
		Learnt  int             `json:"learnt"`
		Tasks   int             `json:"tasks"`
		Weights map[string]int  `json:"weights_ppm"`
		Mix     Mix             `json:"mix"`
		Search  json.RawMessage `json:"search,omitempty"`
	}{Planned: p.batches, Tasks: p.order, Weights: p.arms.byName(), Mix: p.report.Mix}
	if p.hunt != nil {
		state.Learnt = p.hunt.learnt
		state.Search = p.hunt.state()
	}
	raw, err := record.Marshal(state)
	if err != nil {
		panic(fmt.Sprintf("search: state: %v", err)) // plain data always marshals
	}
	return raw
}

// steers reports whether what is known of the grid moves its order.
func (p *Planner) steers() bool {
	return p.hunt != nil && p.batches >= p.hunt.from
}

// roams reports whether a point beyond the array may go before a row of it: in a
// run that is steered from its beginning, while there is room for all rows and
// the open-ended asks.
func (p *Planner) roams() bool {
	if p.hunt == nil || p.hunt.from > 0 || p.quota.array {
		return false
	}
	return p.quota.rest()-p.posed > p.grid.arrayLeft()+max(0, p.quota.open-p.open.taken)
}
