package demo

import (
	"fmt"
	"time"

	"talkingstick/stick"
)

// The handoff that goes from claude to gemini, and after the kill to claude again.
const (
	status     = "total is done; discounts are missing"
	nextAction = "add discounts to " + cartFile
)

// editTogether makes claude take the stick, codex reserve a file, and gemini wait.
func (s *scene) editTogether() (err error) {
	if _, err := s.runCommand(tt(s.claude, "wait").showing("your turn")); err != nil {
		return err
	}
	if s.first, err = s.readGrant(s.claude); err != nil {
		return err
	}
	if err := s.checkClaim(s.first.Turn == 1, fmt.Sprintf("turn %d", s.first.Turn),
		"nobody had the stick, so claude gets turn 1 at once, with a lease that nobody else knows"); err != nil {
		return err
	}

	if err := s.editFile(s.claude, cartFile, cartWithTotal); err != nil {
		return err
	}
	if _, err := s.runCommand(tt(s.codex, "reserve", pricesFile).showing("reserved")); err != nil {
		return err
	}
	if err := s.editFile(s.codex, pricesFile, raisedPrices); err != nil {
		return err
	}
	s.prices = raisedPrices

	_, err = s.runCommand(tt(s.gemini, "try").exits(stick.ExitRefused))
	return err
}

// handOver makes claude's release wake gemini's blocked wait.
func (s *scene) handOver() error {
	waiting, err := s.startWait(s.gemini, s.claude)
	if err != nil {
		return err
	}

	released, err := s.runCommand(tt(s.claude, "release", "--status", status, "--next-action", nextAction,
		"--artifact", cartFile+":3-8:edit").showing("next is"))
	if err != nil {
		return err
	}

	woken, err := s.awaitReply(s.gemini, waiting)
	if err != nil {
		return err
	}
	s.showReturn(s.gemini, woken, "your turn", "handoff from", "status:", "next:", "file:", "left uncommitted")

	if s.second, err = s.readGrant(s.gemini); err != nil {
		return err
	}

	late := time.Duration(woken.Ended - released.Ended)
	if err := s.checkClaim(s.second.Turn == s.first.Turn+1 && late < maxWakeTime,
		fmt.Sprintf("turn %d after %s", s.second.Turn, late),
		"gemini got the stick %s", describeDelay(late, "claude's release returned")); err != nil {
		return err
	}

	h := s.second.Handoff
	whole := h != nil && h.Status == status && h.NextAction == nextAction &&
		len(h.Artifacts) == 1 && h.Artifacts[0].RoomPath == cartFile
	return s.checkClaim(whole, fmt.Sprintf("%+v", h),
		"the handoff arrived complete: what was done, what is next, which lines to open")
}

// useOldTurn makes claude use its old turn.
func (s *scene) useOldTurn() error {
	if _, err := s.runCommand(tt(s.claude, "pass", "codex", "--turn", fmt.Sprint(s.first.Turn), "--lease", string(s.first.Lease),
		"--status", "one more fix", "--next-action", "look again").exits(stick.ExitFenced)); err != nil {
		return err
	}

	var now state
	if err := s.runJSON(s.claude, &now, "state"); err != nil {
		return err
	}

	same := now.Turn == s.second.Turn && now.Owner != nil && *now.Owner == s.second.Agent
	return s.checkClaim(same, fmt.Sprintf("%+v", now),
		"refused with exit status 5, and nothing changed: turn %d is gemini's", s.second.Turn)
}

// killHolder kills gemini's harness while it holds the stick and claude waits.
func (s *scene) killHolder() error {
	waiting, err := s.startWait(s.claude, s.claude)
	if err != nil {
		return err
	}

	killed := time.Now()
	if err := s.gemini.process.Kill(); err != nil {
		return fmt.Errorf("gemini's process can't be killed: %w", err)
	}
	note := fmt.Sprintf("is killed: kill -9 %d, without a chance to release the stick", s.gemini.process.Pid)
	s.showAction(Action{Who: s.gemini.name, Note: note})

	woken, err := s.awaitReply(s.claude, waiting)
	if err != nil {
		return err
	}
	s.showReturn(s.claude, woken)

	late := time.Duration(woken.Ended - killed.UnixNano())
	if err := s.checkClaim(woken.Exit == 0 && late < maxWakeTime, fmt.Sprintf("exit %d after %s", woken.Exit, late),
		"claude knew it %s: its wait watches the holder's process", describeDelay(late, "the kill")); err != nil {
		return err
	}

	var now state
	if err := s.runJSON(s.claude, &now, "state"); err != nil {
		return err
	}

	return s.checkClaim(now.State == stick.StateOwnerGone, string(now.State),
		"claude can take over now, but tt has taken nothing from gemini: claude decides")
}

// takeOver makes claude take over and finish.
func (s *scene) takeOver() error {
	taken, err := s.runCommand(tt(s.claude, "take", "--reason", "gemini's process has ended").
		showing("you took over", "tt rescue show", "status:", "next:", "since then"))
	if err != nil {
		return err
	}

	third, err := s.readGrant(s.claude)
	if err != nil {
		return err
	}

	r := third.Recovery
	whole := third.Turn == s.second.Turn+1 && r != nil &&
		r.Handoff.Status == status && r.Handoff.NextAction == nextAction && len(r.Since) > 0
	if err := s.checkClaim(whole, fmt.Sprintf("%+v", third),
		"turn %d comes with the last handoff, and with what happened since", third.Turn); err != nil {
		return err
	}

	if err := s.checkCopy(taken); err != nil {
		return err
	}

	if err := s.editFile(s.claude, cartFile, cartWithDiscount); err != nil {
		return err
	}
	for _, c := range []struct {
		by   *actor
		line string
	}{
		{s.claude, "git commit --quiet -m 'Add totals and discounts' " + cartFile},
		{s.codex, "git commit --quiet -m 'Raise the prices' " + pricesFile},
	} {
		if _, err := s.runShell(c.by, "", c.line); err != nil {
			return err
		}
	}

	if _, err := s.runCommand(tt(s.claude, "release", "--status", "discounts are in", "--next-action", "add the tax").
		showing("you released")); err != nil {
		return err
	}

	var now state
	if err := s.runJSON(s.claude, &now, "state"); err != nil {
		return err
	}

	return s.checkClaim(now.State == stick.StateIdle, string(now.State), "the stick is free, and the next agent gets the handoff")
}
