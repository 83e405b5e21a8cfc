package setup

import (
	"cmp"
	"context"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/install"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// initPlan is what tt init is going to do.
type initPlan struct {
	join    bool
	policy  []string // changes
	steps   []install.FileChange
	enforce stick.Enforce

	integration string // the branch that tasks are merged into
}

// planInit plans what differs from what is wanted. It writes nothing.
func planInit(
	ctx context.Context, a *app.Run, e app.Operations, by core.Caller, s *initSite, wants initChoices,
) (initPlan, error) {
	p := initPlan{enforce: wants.Enforce, integration: wants.Integration}
	if wants.Enforce != s.policy.Enforce {
		p.policy = []string{"enforce=" + string(wants.Enforce)}
	}

	p.join = !s.inRoom() || len(p.policy) > 0
	settings, err := install.Settings(s.target, s.file, wants.changedSettings(s.defaultChoices()))
	if err != nil {
		return p, err
	}

	// The project's file lies in the tree, so the caller needs the right to change it.
	if len(settings) > 0 {
		may, err := e.MayEdit(ctx, guard.MayEditParams{Caller: by, Paths: []string{s.file}})
		if err = cmp.Or(err, may.Refusal()); err != nil {
			return p, err
		}

		settings[0].Note = may.Told
	}

	p.steps = settings
	if wants.Git {
		p.steps = append(p.steps, s.hooks...)
	}

	if len(wants.Harnesses) > 0 {
		steps, err := install.Install(s.target, wants.Harnesses)
		if err != nil {
			return p, err
		}

		p.steps = append(p.steps, steps...)
	}

	return p, nil
}

// pendingSteps are the steps that change something.
func (p initPlan) pendingSteps() []install.FileChange {
	steps := []install.FileChange{}
	for _, s := range p.steps {
		if s.Pending() {
			steps = append(steps, s)
		}
	}
	return steps
}

// applyInit carries a plan out: first the room, then the files. Every step can be done again, so a second run
// completes what a crash has left.
func applyInit(ctx context.Context, a *app.Run, e app.Operations, by core.Caller, before *initSite, plan initPlan) error {
	var joined engine.JoinPathResult
	var err error

	// The room comes first, so that the hooks find one.
	if plan.join {
		if joined, err = e.JoinPath(ctx, engine.JoinPathParams{Caller: by, Policy: plan.policy}); err != nil {
			return err
		}
	}

	if err := install.Apply(plan.steps); err != nil {
		return err
	}

	logNpm(a, before.target.DataDir, install.RemovedNpmEntries(plan.steps))

	// What it says at the end is read again, and isn't what was planned.
	s, err := readSite(ctx, a, e, by)
	if err != nil {
		return err
	}

	res := s.resultOf(plan)
	res.Applied, res.Created, res.Joined = true, joined.Created, joined.Joined
	res.Changed = plan.join || len(res.Steps) > 0
	if before.room != nil && before.policy.Enforce != res.Enforce {
		res.Was = before.policy.Enforce
	}
	if s.hooksErr != nil {
		res.Next = append(res.Next, "git: "+stick.AsError(s.hooksErr).Hint.As(a.As).Words())
	}

	// Harnesses that were connected before may lack a step of their users.
	connected, err := install.Install(s.target, s.connectedHarnesses())
	if err != nil {
		return err
	}

	res.Next = append(res.Next, install.NextSteps(ctx, s.target, append(connected, plan.steps...), app.RunProgram)...)
	for _, h := range s.nextSteps(by) {
		res.Next = append(res.Next, h.As(a.As).Words())
	}

	return a.Print(res, func(p *term.Page) { showInitialised(p, res) })
}

// showPlan shows what would be done.
func showPlan(a *app.Run, s *initSite, plan initPlan) error {
	res := s.resultOf(plan)
	res.Created, res.Joined = s.room == nil, !s.inRoom()
	res.Changed = plan.join || len(res.Steps) > 0
	res.Applied = !res.Changed
	if plan.enforce != s.policy.Enforce {
		res.Enforce = plan.enforce
		if s.room != nil {
			res.Was = s.policy.Enforce
		}
	}

	for i := range res.Steps {
		res.Steps[i].Show()
	}
	return a.Print(res, func(p *term.Page) { showInitialised(p, res) })
}

// resultOf is how things stand, and what a plan changes in files.
func (s *initSite) resultOf(plan initPlan) InitResult {
	d := s.defaultChoices()
	res := InitResult{
		Path: s.path, Enforce: s.policy.Enforce, NoSnapshots: s.policy.Snapshots == stick.SnapshotsOff,
		Steps: plan.pendingSteps(), Git: s.git, Harnesses: s.harnesses, Integration: d.Integration, Gate: d.Gate,
	}

	if s.room != nil {
		res.RoomID, res.AgentID = s.room.RoomID, s.room.AgentID
	}
	if res.Harnesses == nil {
		res.Harnesses = []install.Status{}
	}
	return res
}
