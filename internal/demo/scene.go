package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"talkingstick/stick"
)

// maxWakeTime is how soon a waiting process must get its answer. It takes a few milliseconds, or longer on a
// busy machine. Whoever wasn't woken would read again after 1.6 s at the earliest.
const maxWakeTime = 1500 * time.Millisecond

// The handoff that goes through the whole scene.
const (
	codeFile   = "cart.go"
	status     = "cart totals are done and tested; discounts are still missing"
	nextAction = "add discounts to Total in " + codeFile
)

const code = `package shop

func Total(prices []int) (sum int) {
	for _, p := range prices {
		sum += p
	}
	return sum
}
`

// grant is the part of a grant's JSON that the scene reads.
type grant struct {
	Status   stick.WaitStatus `json:"status"`
	Reason   string           `json:"reason"`
	Agent    stick.AgentID    `json:"agent_id"`
	Turn     int64            `json:"turn_id"`
	Lease    stick.LeaseID    `json:"lease_id"`
	Handoff  *stick.Handoff   `json:"handoff"`
	Recovery *struct {
		Handoff stick.Handoff `json:"handoff"`
		From    stick.AgentID `json:"from_agent_id"`
		Since   []string      `json:"since"`
	} `json:"recovery"`
}

// state is the part of a room's JSON that the scene reads.
type state struct {
	State   stick.RoomState `json:"state"`
	Turn    int64           `json:"turn_id"`
	Owner   *stick.AgentID  `json:"owner"`
	Members []struct {
		Agent     stick.AgentID `json:"agent_id"`
		Listening stick.Purpose `json:"listening"`
	} `json:"members"`
}

// play is the scene, from the first join to the log.
func (s *scene) play() error {
	s.printLinef("%s", s.paintText("1", "Talking Stick: several coding agents, one codebase, one stick. Only the agent with the stick edits."))
	s.printLinef("Everything below is real: a process named claude and one named codex, both running tt in %s", s.repo)

	claude, err := s.startActor("claude")
	if err != nil {
		return err
	}
	codex, err := s.startActor("codex")
	if err != nil {
		return err
	}

	if err := s.joinBoth(claude, codex); err != nil {
		return err
	}

	first, err := s.takeStick(claude, codex)
	if err != nil {
		return err
	}

	second, err := s.handOver(claude, codex, first)
	if err != nil {
		return err
	}

	if err := s.useOldTurn(claude, first, second); err != nil {
		return err
	}

	if err := s.killHolder(claude, codex); err != nil {
		return err
	}

	if err := s.takeOver(claude, second); err != nil {
		return err
	}

	return s.showLog(claude)
}

// joinBoth makes both agents join.
func (s *scene) joinBoth(claude, codex *actor) error {
	if err := s.beginStep(s.ctx, "Two agents open the same repository"); err != nil {
		return err
	}

	ids := map[string]stick.AgentID{}
	for _, a := range []*actor{claude, codex} {
		if _, err := s.runCommand(a, 0, "join"); err != nil {
			return err
		}

		var who grant
		if err := s.runJSON(a, &who, "whoami"); err != nil {
			return err
		}
		ids[a.name] = who.Agent
	}

	named := strings.HasPrefix(string(ids["claude"]), "claude:") && strings.HasPrefix(string(ids["codex"]), "codex:")
	return s.checkClaim(named, fmt.Sprint(ids), "they met in one room, each under its own name: tt found out which harness each of them runs in")
}

// takeStick makes claude take the stick and codex try in vain.
func (s *scene) takeStick(claude, codex *actor) (first grant, err error) {
	if err := s.beginStep(s.ctx, "claude takes the stick, codex has to wait"); err != nil {
		return first, err
	}

	if _, err := s.runCommand(claude, 0, "wait"); err != nil {
		return first, err
	}

	if first, err = s.readGrant(claude); err != nil {
		return first, err
	}
	if err := s.checkClaim(first.Turn == 1, fmt.Sprintf("turn %d", first.Turn),
		"nobody had the stick, so claude gets turn 1 at once, with a lease that nobody else knows"); err != nil {
		return first, err
	}

	if err := s.writeFile(claude, codeFile, code); err != nil {
		return first, err
	}

	if _, err := s.runCommand(codex, stick.ExitRefused, "try"); err != nil {
		return first, err
	}
	return first, nil
}

// handOver makes claude's release wake codex's blocked wait.
func (s *scene) handOver(claude, codex *actor, first grant) (second grant, err error) {
	if err := s.beginStep(s.ctx, "codex waits"); err != nil {
		return second, err
	}

	waiting, err := s.startWait(codex, claude)
	if err != nil {
		return second, err
	}

	// A person who steps through the scene sees the wait first.
	if err := s.beginStep(s.ctx, "claude hands over"); err != nil {
		return second, err
	}

	released, err := s.runCommand(claude, 0, "release",
		"--status", status, "--next-action", nextAction, "--artifact", codeFile+":3-8:edit")
	if err != nil {
		return second, err
	}

	woken, err := s.awaitReply(codex, waiting)
	if err != nil {
		return second, err
	}
	s.showReturn(codex, woken)

	if second, err = s.readGrant(codex); err != nil {
		return second, err
	}

	late := time.Duration(woken.Ended - released.Ended)
	if err := s.checkClaim(second.Turn == first.Turn+1 && late < maxWakeTime, fmt.Sprintf("turn %d after %s", second.Turn, late),
		"codex got the stick %s", describeDelay(late, "claude's release returned")); err != nil {
		return second, err
	}

	h := second.Handoff
	whole := h != nil && h.Status == status && h.NextAction == nextAction &&
		len(h.Artifacts) == 1 && h.Artifacts[0].RoomPath == codeFile
	return second, s.checkClaim(whole, fmt.Sprintf("%+v", h), "the handoff arrived complete: what was done, what is next, which lines to open")
}

// useOldTurn makes claude use its old turn.
func (s *scene) useOldTurn(claude *actor, first, second grant) error {
	if err := s.beginStep(s.ctx, "claude tries to use its old turn"); err != nil {
		return err
	}

	if _, err := s.runCommand(claude, stick.ExitFenced, "pass", "codex", "--turn", fmt.Sprint(first.Turn), "--lease", string(first.Lease),
		"--status", "one more fix", "--next-action", "look again"); err != nil {
		return err
	}

	var now state
	if err := s.runJSON(claude, &now, "state"); err != nil {
		return err
	}

	same := now.Turn == second.Turn && now.Owner != nil && *now.Owner == second.Agent
	return s.checkClaim(same, fmt.Sprintf("%+v", now),
		"refused with exit status 5, and nothing changed: turn %d is codex's. A turn that is over can't change anything", second.Turn)
}

// killHolder kills codex's harness while it holds the stick and claude waits.
func (s *scene) killHolder(claude, codex *actor) error {
	if err := s.beginStep(s.ctx, "codex's harness is killed while it holds the stick"); err != nil {
		return err
	}

	waiting, err := s.startWait(claude, claude)
	if err != nil {
		return err
	}

	killed := time.Now()
	if err := codex.process.Kill(); err != nil {
		return fmt.Errorf("codex's process can't be killed: %w", err)
	}
	note := fmt.Sprintf("is killed: SIGKILL to process %d, without a chance to release the stick", codex.process.Pid)
	s.showAction(Action{Who: codex.name, Note: note})

	woken, err := s.awaitReply(claude, waiting)
	if err != nil {
		return err
	}
	s.showReturn(claude, woken)

	late := time.Duration(woken.Ended - killed.UnixNano())
	if err := s.checkClaim(woken.Exit == 0 && late < maxWakeTime, fmt.Sprintf("exit %d after %s", woken.Exit, late),
		"claude knew it %s: its wait watches the holder's process", describeDelay(late, "the kill")); err != nil {
		return err
	}

	var now state
	if err := s.runJSON(claude, &now, "state"); err != nil {
		return err
	}

	return s.checkClaim(now.State == stick.StateOwnerGone, string(now.State),
		"claude can take over now, but tt has taken nothing from codex: claude decides")
}

// takeOver makes claude take over and finish.
func (s *scene) takeOver(claude *actor, second grant) error {
	if err := s.beginStep(s.ctx, "claude takes over, and nothing is lost"); err != nil {
		return err
	}

	if _, err := s.runCommand(claude, 0, "take", "--reason", "codex's process has ended"); err != nil {
		return err
	}

	third, err := s.readGrant(claude)
	if err != nil {
		return err
	}

	r := third.Recovery
	whole := third.Turn == second.Turn+1 && r != nil &&
		r.Handoff.Status == status && r.Handoff.NextAction == nextAction && len(r.Since) == 1
	if err := s.checkClaim(whole, fmt.Sprintf("%+v", third),
		"turn %d comes with the last handoff, and with what happened since", third.Turn); err != nil {
		return err
	}

	discounted := strings.Replace(code, "return sum", "return sum - sum/10 // a discount", 1)
	if err := s.writeFile(claude, codeFile, discounted); err != nil {
		return err
	}

	if _, err := s.runCommand(claude, 0, "release",
		"--status", "discounts are in", "--next-action", "review the discounts"); err != nil {
		return err
	}

	var now state
	if err := s.runJSON(claude, &now, "state"); err != nil {
		return err
	}

	return s.checkClaim(now.State == stick.StateIdle, string(now.State), "the stick is free, and the next agent gets the handoff")
}

// showLog shows the log.
func (s *scene) showLog(claude *actor) error {
	if err := s.beginStep(s.ctx, "The log has all of it"); err != nil {
		return err
	}

	if _, err := s.runCommand(claude, 0, "events"); err != nil {
		return err
	}

	var log struct {
		Events []stick.Event `json:"events"`
	}
	if err := s.runJSON(claude, &log, "events"); err != nil {
		return err
	}

	var got []stick.EventType
	for _, e := range log.Events {
		got = append(got, e.Type)
	}
	want := []stick.EventType{
		stick.EventJoin, stick.EventJoin, stick.EventClaim, stick.EventRelease,
		stick.EventClaim, stick.EventTakeover, stick.EventRelease,
	}
	if err := s.checkClaim(slices.Equal(got, want), fmt.Sprint(got),
		"%d events, in the order in which they happened", len(want)); err != nil {
		return err
	}

	var doctor struct {
		Healthy bool `json:"healthy"`
	}
	if err := s.runJSON(claude, &doctor, "doctor"); err != nil {
		return err
	}

	return s.checkClaim(doctor.Healthy, "tt doctor found faults",
		"tt doctor finds nothing wrong: the room's state follows from its log, event by event")
}
