package stick_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/model"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

var (
	modelSteps = flag.Int("model.steps", shortSteps,
		"how many acts are compared with the model; every fifth is one on tasks")
	modelSeed = flag.Uint64("model.seed", 1, "which acts are compared with the model")
)

const (
	shortSteps = 50_000
	longSteps  = 1_000_000 // of make campaign
)

// leavesSteps says that most acts are left to a run by a flag, unless this is one.
func leavesSteps(t *testing.T) {
	t.Helper()
	if *modelSteps < longSteps {
		testenv.Leaves(t, testenv.Full,
			fmt.Sprintf("%d of %d acts that are compared with the model", longSteps-*modelSteps, longSteps))
	}
}

// TestDifferential plays random acts on rooms by the rules and by the model of the rules, and compares the
// two after every act: who has the stick and who would be next, what was refused and by which code, what
// waits and edits are told, which takeover is open, and whether waits look in time.
//
// It was seen to fail for each of these changes in the rules: the prior owner isn't put last, or a member
// that was passed over is named (inLine); a grace is counted from the grant (deferred); the sequence begins
// with the last one (distance); a takeover keeps the prior owner, and brings the handoff as if it were a
// claim; everybody is offered it at once (offerAt); its guard lasts no minute (guard); an idle holder is
// replaced although its limit was raised (Opening); a lower limit applies at once (delay); heartbeats count
// for ever; a call doesn't acknowledge a grant (Touch); a reservation by a release never lapses (Settle); a
// pause doesn't renew limits (Resume); a restore names the holder again; a child edits when its parent is
// gone (Parent); the later reservation decides (rules.of); a wait doesn't wake when the holder is idle
// (deadline).
func TestDifferential(t *testing.T) {
	leavesSteps(t)
	rnd := rand.New(rand.NewPCG(*modelSeed, 1))
	total := tally{acts: map[string]int{}}

	for total.steps < *modelSteps/5*4 {
		s := randomSetting(rnd)
		g := newGame(s, &total)
		var acts []model.Act

		for range 300 {
			differs := g.lookAll(rnd, &acts)
			if differs == "" {
				act := g.randomAct(rnd)
				acts = append(acts, act)
				differs = g.play(act)
			}

			if differs != "" {
				acts, differs = s.shrink(acts, differs)
				t.Fatalf("%s\n%s", differs, s.describe(acts))
			}
		}
	}

	if *modelSteps >= shortSteps {
		total.check(t)
	}
}

func randomSetting(rnd *rand.Rand) setting {
	proofs := []model.Proof{
		model.Session, model.Session, model.Session, model.Carrier, model.Person, model.Hidden, model.Guarded,
	}
	s := setting{limits: randomLimits(rnd), sequence: rnd.IntN(4) == 0, quiet: rnd.IntN(3) == 0}

	for i := range 2 + rnd.IntN(model.MaxAgents-1) {
		a := model.Agent{Proof: proofs[rnd.IntN(len(proofs))], HasHooks: rnd.IntN(3) > 0, Parent: model.Nobody}
		if i > 0 && rnd.IntN(4) == 0 {
			a.Parent = model.Who(rnd.IntN(i))
		}
		s.agents = append(s.agents, a)
	}

	return s
}

func randomLimits(rnd *rand.Rand) model.Limits {
	grace := 1 + rnd.IntN(2)
	return model.Limits{Grace: grace, Claim: grace + 1 + rnd.IntN(4), Lease: 3 + rnd.IntN(6), Idle: 3 + rnd.IntN(6)}
}

// frequencies say how often each act is drawn.
var frequencies = map[model.Kind]int{
	model.Join: 10, model.Wait: 30, model.WaitForEvents: 3, model.WaitAgain: 2, model.Try: 9, model.Call: 4, model.Message: 3, model.Heartbeat: 5,
	model.ToolBegins: 2, model.ToolEnds: 2, model.SaveDraft: 2, model.Release: 18, model.ReleaseUnchanged: 6, model.Prompt: 2, model.ReleaseOldTurn: 2, model.ReleaseByLease: 2,
	model.Pass: 6, model.PassNext: 3, model.Take: 9, model.TakeForPerson: 1, model.Leave: 1, model.Abandon: 2, model.Kick: 2,
	model.KickByForce: 1, model.Close: 1, model.SetLimits: 2, model.SetEnforce: 1, model.Reorder: 1, model.Pause: 1, model.Edit: 8,
	model.Reserve: 4, model.Unreserve: 2, model.PersonCloses: 1, model.PersonSetsLimits: 1, model.PersonSetsEnforce: 1, model.PersonPauses: 1,
	model.PersonResumes: 4, model.WaitLooks: 20, model.WaitReturns: 3, model.WaitIsKilled: 3, model.WaitStops: 3, model.WaitContinues: 4,
	model.ProcessEnds: 3, model.ProcessMutes: 1, model.ProcessUnmutes: 1, model.ProcessRestarts: 12, model.Restore: 1, model.Tick: 44,
}

// actsToDraw has each kind of act as often as its frequency says.
var actsToDraw = func() (all []model.Kind) {
	for kind := range model.Kinds {
		all = append(all, slices.Repeat([]model.Kind{kind}, frequencies[kind])...)
	}
	return all
}()

// ofHolder are the acts that only the holder can perform.
var ofHolder = []model.Kind{
	model.Heartbeat, model.SaveDraft, model.Release, model.ReleaseUnchanged, model.ReleaseByLease, model.Pass, model.PassNext, model.Leave, model.Close,
}

func (g *game) randomAct(rnd *rand.Rand) model.Act {
	agents := len(g.agents)
	act := model.Act{
		Kind: actsToDraw[rnd.IntN(len(actsToDraw))], By: model.Who(rnd.IntN(agents)),
		To: model.Who(rnd.IntN(agents)),
	}
	switch {
	case g.model.Owner != model.Nobody && slices.Contains(ofHolder, act.Kind) && rnd.IntN(3) > 0:
		act.By = g.model.Owner
	case g.model.Cause() == model.RecipientGone && rnd.IntN(2) == 0, g.model.Cause() != model.NoCause && rnd.IntN(6) == 0:
		act.Kind = model.Take
	case g.model.Owner != model.Nobody && g.model.Agents[g.model.Owner].Wait == model.ForWork && rnd.IntN(20) == 0:
		act.Kind = model.Restore // the release rule may name the holder itself
	case g.quiet && rnd.IntN(2) == 0:
		act.Kind = model.Tick
	}

	switch act.Kind {
	case model.SetLimits, model.PersonSetsLimits:
		act.Limits, act.Sequence = randomLimits(rnd), rnd.IntN(4) == 0
	case model.SetEnforce, model.PersonSetsEnforce:
		act.Enforce = model.Enforce(rnd.IntN(len(stick.Strictness)))

	case model.Reorder:
		for _, a := range rnd.Perm(agents)[:1+rnd.IntN(agents)] {
			act.Order = append(act.Order, model.Who(a))
		}

	case model.Edit:
		act.Path = []int{model.File, model.FileBelow}[rnd.IntN(2)]
	case model.Reserve, model.Unreserve:
		act.Path = rnd.IntN(len(reservedPaths))
	}

	return act
}

// shrink returns the fewest acts that it finds after which the rules and the model differ in the same way,
// and the difference.
func (s setting) shrink(acts []model.Act, differs string) ([]model.Act, string) {
	subject := func(d string) string { before, _, _ := strings.Cut(d, ":"); return before }

	for shorter := true; shorter; {
		shorter = false
		for i := len(acts) - 1; i >= 0; i-- {
			if i >= len(acts) {
				continue
			}
			fewer := slices.Delete(slices.Clone(acts), i, i+1)
			n, d := s.replay(fewer)
			if subject(d) == subject(differs) {
				acts, differs, shorter = fewer[:n], d, true
			}
		}
	}

	return acts, differs
}

// replay plays acts until the rules and the model differ, and returns how many that were.
func (s setting) replay(acts []model.Act) (int, string) {
	g := newGame(s, &tally{acts: map[string]int{}})
	for i, act := range acts {
		if d := g.play(act); d != "" {
			return i + 1, d
		}
	}

	return len(acts), ""
}

func (s setting) describe(acts []model.Act) string {
	var b strings.Builder
	fmt.Fprintf(&b, "limits %+v, sequence %v\n", s.limits, s.sequence)
	for i, a := range s.agents {
		fmt.Fprintf(&b, "%c: proof %d, hooks %v, parent %d\n", 'a'+i, a.Proof, a.HasHooks, a.Parent)
	}
	for _, act := range acts {
		fmt.Fprintf(&b, "  %s\n", act)
	}
	return b.String()
}

// lookAll lets the waits look that have a reason to, mostly: the real ones do that at once.
func (g *game) lookAll(rnd *rand.Rand, acts *[]model.Act) string {
	if rnd.IntN(4) == 0 {
		return ""
	}

	for _, a := range rnd.Perm(len(g.agents)) {
		m := g.model.Agents[a]
		if !m.Woken || m.Stopped || m.Wait == model.NoWait {
			continue
		}

		act := model.Act{Kind: model.WaitLooks, By: model.Who(a)}
		*acts = append(*acts, act)
		if differs := g.play(act); differs != "" {
			return differs
		}
	}

	return ""
}

// play performs an act on both, and returns how they differ.
func (g *game) play(act model.Act) string {
	if _, res := g.model.After(act, false); res.Refusal == model.Impossible {
		return ""
	}
	g.total.steps++

	if act.Kind == model.Tick {
		return g.tick()
	}
	o := g.perform(act)
	next, res := g.model.After(act, o.answer.Status == stick.TakeoverAvailable)

	if o.err != nil || res.Refusal != model.Accepted {
		g.total.count("refused: " + string(stick.CodeOf(o.err)))
		if code := string(stick.CodeOf(o.err)); code != string(res.Refusal) {
			return fmt.Sprintf("refusal: the rules say %q (%v), the model %q", code, o.err, res.Refusal)
		}
		if len(o.told) > 0 && act.Kind != model.Reserve { // which tells both of a collision
			return fmt.Sprintf("refusal: with %d events", len(o.told))
		}

		return ""
	}

	g.total.count(act.Kind.String())
	if differs := g.compareAnswer(act, o, res); differs != "" {
		return differs
	}

	if res.Status == model.YourTurn && res.Cause != model.NoCause {
		g.total.count("taken: " + string(causes[res.Cause]))
	}

	g.model = next
	g.waits = o.waits
	if differs := g.commit(o); differs != "" {
		return differs
	}

	g.runGuardian()
	if differs := g.compareDeadline(act, o); differs != "" {
		return differs
	}

	return g.compare()
}

// tick lets time pass: guardians renew, and waits look whose deadline has come.
func (g *game) tick() string {
	g.model, _ = g.model.After(model.Act{Kind: model.Tick}, false)
	g.now = g.now.Add(tick)
	g.total.count(model.Tick.String())
	g.runGuardian()

	for a := range g.model.Count {
		m := &g.model.Agents[a]
		if g.waits[a] != "" && !m.Stopped && g.wakesAt[a] != 0 && g.wakesAt[a] <= g.now {
			m.Woken = true
		}
	}

	return g.compare()
}

// runGuardian lets a guardian renew the lease in both.
func (g *game) runGuardian() {
	if !g.model.RunGuardian() {
		return
	}
	owner := g.model.Owner
	r, err := g.room.Renew(agentAt(owner), g.fence(), anyPID, process(owner, g.model.Agents[owner].Run), g.now)
	if err == nil {
		g.room = r
	}
}

// commit saves what an act came to, as the store does.
func (g *game) commit(o performed) string {
	grants, before := 0, g.room.Turn
	for i := range o.events {
		e := &o.events[i]
		g.seq++
		e.Seq, e.ID, e.CreatedAt = g.seq, fmt.Sprintf("e%d", g.seq), g.now
		e.Sum = e.Chain(g.record.Sum)
		if err := g.record.Replay(*e); err != nil {
			return "log: " + err.Error()
		}

		switch {
		case e.Type.Grants():
			grants++
		case e.Type == stick.EventRerouted:
			g.total.count("rerouted")
		}
	}

	g.room = o.room.Stamp(o.events)
	g.skipped += o.skipped

	after := g.room.Turn
	if grants > 1 || int64(grants) != after.ID-before.ID-o.skipped {
		return fmt.Sprintf("turn: %d grants, and turn %d became %d", grants, before.ID, after.ID)
	}
	if grants == 1 && g.leases[after.Lease] {
		return "turn: a lease was granted twice"
	}

	g.leases[after.Lease] = true
	if before.State == stick.Owned && (after.State != stick.Owned || grants == 1) {
		g.old, g.draft = stick.Fence{Turn: before.ID, Lease: before.Lease}, nil
	}
	return ""
}
