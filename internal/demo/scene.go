package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	if err := s.checkClaim(first.Turn == 1, fmt.Sprintf("turn %d", first.Turn), "nobody had the stick, so claude gets turn 1 at once, with a lease that nobody else knows"); err != nil {
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
	if err := s.beginStep(s.ctx, "claude hands over"); err != nil { // a person who steps through the scene sees the wait first
		return second, err
	}
	released, err := s.runCommand(claude, 0, "release", "--status", status, "--next-action", nextAction, "--artifact", codeFile+":3-8:edit")
	if err != nil {
		return second, err
	}
	woken, err := s.awaitReply(codex, waiting)
	if err != nil {
		return second, err
	}
	s.showAction(Action{Who: codex.name, Note: "tt wait returns:", Exit: &woken.Exit, TookMS: tookMilliseconds(woken), Output: outputLines(woken)})
	if second, err = s.readGrant(codex); err != nil {
		return second, err
	}
	late := time.Duration(woken.Ended - released.Ended)
	if err := s.checkClaim(second.Turn == first.Turn+1 && late < maxWakeTime, fmt.Sprintf("turn %d after %s", second.Turn, late),
		"codex got the stick %s", describeDelay(late, "claude's release returned")); err != nil {
		return second, err
	}
	h := second.Handoff
	whole := h != nil && h.Status == status && h.NextAction == nextAction && len(h.Artifacts) == 1 && h.Artifacts[0].RoomPath == codeFile
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
	return s.checkClaim(same, fmt.Sprintf("%+v", now), "refused with exit status 5, and nothing changed: turn %d is codex's. A turn that is over can't change anything", second.Turn)
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
	s.showAction(Action{Who: codex.name, Note: fmt.Sprintf("is killed: SIGKILL to process %d, without a chance to release the stick", codex.process.Pid)})
	woken, err := s.awaitReply(claude, waiting)
	if err != nil {
		return err
	}
	s.showAction(Action{Who: claude.name, Note: "tt wait returns:", Exit: &woken.Exit, TookMS: tookMilliseconds(woken), Output: outputLines(woken)})
	late := time.Duration(woken.Ended - killed.UnixNano())
	if err := s.checkClaim(woken.Exit == 0 && late < maxWakeTime, fmt.Sprintf("exit %d after %s", woken.Exit, late),
		"claude knew it %s: its wait watches the holder's process", describeDelay(late, "the kill")); err != nil {
		return err
	}
	var now state
	if err := s.runJSON(claude, &now, "state"); err != nil {
		return err
	}
	return s.checkClaim(now.State == stick.StateOwnerGone, string(now.State), "claude can take over now, but tt has taken nothing from codex: claude decides")
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
	whole := third.Turn == second.Turn+1 && r != nil && r.Handoff.Status == status && r.Handoff.NextAction == nextAction && len(r.Since) == 1
	if err := s.checkClaim(whole, fmt.Sprintf("%+v", third), "turn %d comes with the last handoff, and with what happened since", third.Turn); err != nil {
		return err
	}
	if err := s.writeFile(claude, codeFile, strings.Replace(code, "return sum", "return sum - sum/10 // a discount", 1)); err != nil {
		return err
	}
	if _, err := s.runCommand(claude, 0, "release", "--status", "discounts are in", "--next-action", "review the discounts"); err != nil {
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
	want := []stick.EventType{stick.EventJoin, stick.EventJoin, stick.EventClaim, stick.EventRelease, stick.EventClaim, stick.EventTakeover, stick.EventRelease}
	if err := s.checkClaim(slices.Equal(got, want), fmt.Sprint(got), "%d events, in the order in which they happened", len(want)); err != nil {
		return err
	}
	var doctor struct {
		Healthy bool `json:"healthy"`
	}
	if err := s.runJSON(claude, &doctor, "doctor"); err != nil {
		return err
	}
	return s.checkClaim(doctor.Healthy, "tt doctor found faults", "tt doctor finds nothing wrong: the room's state follows from its log, event by event")
}

// runCommand makes an actor run a command of tt, and narrates it. It fails unless the command ends with status exit.
func (s *scene) runCommand(a *actor, exit int, args ...string) (reply, error) {
	r, err := s.runQuietly(a, args...)
	if err != nil {
		return r, err
	}
	s.showAction(Action{Who: a.name, Command: commandLine(args), Exit: &r.Exit, TookMS: tookMilliseconds(r), Output: outputLines(r)})
	if r.Exit != exit {
		return r, fmt.Errorf("tt %s by %s should have ended with status %d, but ended with %d", args[0], a.name, exit, r.Exit)
	}
	return r, nil
}

// runQuietly makes an actor run a command of tt, and doesn't narrate it.
func (s *scene) runQuietly(a *actor, args ...string) (reply, error) {
	c, err := a.sendOrder(order{Run: args})
	if err != nil {
		return reply{}, err
	}
	return s.awaitReply(a, c)
}

// runJSON makes an actor run a command that changes nothing (more), and parses its JSON for the checks.
func (s *scene) runJSON(a *actor, into any, args ...string) error {
	r, err := s.runQuietly(a, append(args, "--json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(r.Out), into); err != nil {
		return fmt.Errorf("tt %s --json by %s ended with status %d: %s", args[0], a.name, r.Exit, stick.Clip(r.Err, 200))
	}
	return nil
}

// readGrant makes an actor ask again for the turn that it just got. The answer is the same, as JSON.
func (s *scene) readGrant(a *actor) (g grant, err error) {
	if err := s.runJSON(a, &g, "try"); err != nil {
		return g, err
	}
	if g.Status != stick.YourTurn || g.Reason != string(stick.AlreadyOwner) {
		return g, fmt.Errorf("%s should have the stick, but the answer is %s %s", a.name, g.Status, g.Reason)
	}
	return g, nil
}

// startWait makes an actor wait, and returns once others see that it does.
func (s *scene) startWait(a, watcher *actor) (<-chan reply, error) {
	c, err := a.sendOrder(order{Run: []string{"wait"}})
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(patience)
	for {
		var now state
		if err := s.runJSON(watcher, &now, "state"); err != nil {
			return nil, err
		}
		for _, m := range now.Members {
			if strings.HasPrefix(string(m.Agent), a.name+":") && m.Listening == stick.Work {
				s.showAction(Action{Who: a.name, Command: "tt wait"})
				return c, nil
			}
		}
		select {
		case r := <-c:
			return nil, fmt.Errorf("tt wait by %s should have blocked, but returned: %s", a.name, stick.Clip(r.Out+r.Err, 200))
		case <-time.After(10 * time.Millisecond): // a room doesn't ring when somebody starts to wait
		case <-s.ctx.Done():
			return nil, s.ctx.Err()
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%s still isn't waiting for its turn after %s", a.name, patience)
		}
	}
}

// writeFile makes an actor write a file of the repository.
func (s *scene) writeFile(a *actor, name, text string) error {
	c, err := a.sendOrder(order{Write: filepath.Join(s.repo, name), Text: text})
	if err != nil {
		return err
	}
	if _, err := s.awaitReply(a, c); err != nil {
		return err
	}
	s.showAction(Action{Who: a.name, Note: "edits " + name})
	_, err = os.Stat(filepath.Join(s.repo, name))
	return err
}

// awaitReply waits for the reply to an order.
func (s *scene) awaitReply(a *actor, c <-chan reply) (reply, error) {
	select {
	case r := <-c:
		if r.Fault != "" {
			return r, fmt.Errorf("%s can't do that: %s", a.name, r.Fault)
		}
		return r, nil
	case <-s.ctx.Done():
		return reply{}, s.ctx.Err()
	case <-a.ended:
		select {
		case r := <-c:
			return r, nil
		default:
			return reply{}, a.endedEarly()
		}
	case <-time.After(patience):
		return reply{}, errors.New(a.name + "'s command hasn't returned within " + patience.String())
	}
}

// commandLine returns a command as a person would type it.
func commandLine(args []string) string {
	words := []string{"tt"}
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " '\"$;&|<>()*") {
			a = `"` + a + `"`
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// outputLines returns what a command printed.
func outputLines(r reply) []string {
	return strings.Split(strings.TrimRight(r.Out+r.Err, "\n"), "\n")
}

func tookMilliseconds(r reply) float64 { return milliseconds(time.Duration(r.Ended - r.Began)) }

// describeDelay returns a time difference as text, with the event that it is measured from.
func describeDelay(d time.Duration, what string) string {
	if d < 0 {
		return fmt.Sprintf("%.1f ms before %s: the commit woke it", -milliseconds(d), what)
	}
	return fmt.Sprintf("%.1f ms after %s", milliseconds(d), what)
}
