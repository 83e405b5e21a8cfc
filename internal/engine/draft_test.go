package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// draft returns a draft with a text and a next action.
func draft(text, next string) engine.SaveDraftParams {
	return engine.SaveDraftParams{Text: text, Handoff: &stick.Handoff{NextAction: next}}
}

// describeAwaited checks the draft that a grant brings: its author, its text, and how many earlier ones there
// are.
func describeAwaited(by *scene.Actor, text string, earlier int) func(engine.WaitForTurnResult) bool {
	return func(r engine.WaitForTurnResult) bool {
		v := r.Recovery
		return v != nil && v.Draft != nil && v.Draft.Agent == by.ID && v.Draft.Text == text && len(v.Drafts) == earlier
	}
}

// TestDraft_OutlivesHolder: whoever gets the stick after a turn that ended without a handoff gets what its
// holder saved of one, as often as it asks, until it gives a handoff of its own.
func TestDraft_OutlivesHolder(t *testing.T) {
	s := scene.New(t)
	ann, bob, cyd := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c")
	ann.Try().Granted(1)
	ann.SaveDraft(draft("half of the parser", "the other half")).That("saved",
		func(r engine.SaveDraftResult) bool { return !r.Already && r.Turn == 1 })
	ann.SaveDraft(draft("half of the parser ", "the other half")).That("saved already",
		func(r engine.SaveDraftResult) bool { return r.Already })
	ann.SaveDraft(draft("three quarters", "the rest")).OK() // a turn has one draft
	if d := ann.State().Draft; d == nil || d.Text != "three quarters" {
		t.Errorf("ann's state has the draft %+v", d)
	}

	bob.Join().OK()
	if d := bob.State().Draft; d != nil {
		t.Errorf("bob's state has the draft %+v", d)
	}

	s.Logged(stick.EventJoin, stick.EventClaim, stick.EventDraftSaved, stick.EventDraftSaved, stick.EventJoin)

	ann.Dies()
	s.Later(12 * time.Minute)
	bob.Take("it is gone").Granted(2, stick.OwnerGone)
	bob.Try().Granted(2).That("ann's draft", describeAwaited(ann, "three quarters", 0)).That("no handoff", func(r engine.WaitForTurnResult) bool {
		return r.Handoff == nil && r.Recovery.Handoff == nil && len(r.Recovery.Since) == 1
	})
	bob.SaveDraft(draft("I looked at it", "")).OK()
	bob.Abandon("no time")
	cyd.Try().Granted(3).That("both drafts", describeAwaited(bob, "I looked at it", 1))
	cyd.Release("done", "nothing").ForNobody()
	bob.Join().OK()
	bob.Try().Granted(4).Handoff("done")
	bob.Abandon("no time")
	cyd.Try().Granted(5).Recovers("done", 1).
		That("no draft: it was gone at the release", func(r engine.WaitForTurnResult) bool {
			return r.Recovery.Draft == nil
		})
}

// TestManyDrafts: a grant brings the last draft whole, and however many there were before it, no more of them
// than a handoff and a little.
func TestManyDrafts(t *testing.T) {
	s := scene.New(t)
	ann := s.Agent("claude:a")
	long := strings.Repeat("0123456789", 6000)
	for range 30 {
		ann.Try().OK()
		ann.SaveDraft(draft(long, "")).That("nothing repeated", func(r engine.SaveDraftResult) bool {
			return r.Size > len(long)
		})
		ann.Abandon("no time").That("it stays", func(r engine.LeaveRoomResult) bool { return r.DraftKept })
	}

	ann.Try().That("the last one whole", describeAwaited(ann, long, 20)).That("the others bounded", func(r engine.WaitForTurnResult) bool {
		v := r.Recovery.Drafts
		b, err := json.Marshal(v)
		return err == nil &&
			len(b) < 100<<10 &&
			!v[0].Cut &&
			v[0].Text == long &&
			v[1].Cut &&
			v[1].Turn == 28 &&
			v[1].Size == v[0].Size &&
			strings.HasPrefix(v[1].Text, "0123")
	})
}

// TestDraft_IsFenced: only the holder saves a draft, and one that can't be a handoff's is refused.
func TestDraft_IsFenced(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	bob.Join().OK()
	bob.SaveDraft(draft("x", "")).Refused(stick.CodeNotYourTurn)

	first := ann.Try().Granted(1).Fence()
	p := draft("x", "y")
	p.Fence = first
	bob.SaveDraft(p).Refused(stick.CodeStaleLease)

	p.Fence.Lease = "another"
	ann.SaveDraft(p).Refused(stick.CodeStaleLease)
	ann.SaveDraft(draft(" ", "")).Refused(stick.CodeInvalidHandoff)
	outside := draft("x", "")
	outside.Handoff.Artifacts = []stick.Artifact{{Path: "/etc/passwd", Role: "edit"}}
	ann.SaveDraft(outside).Refused(stick.CodeInvalidHandoff)

	ann.Release("s", "n").ForNobody()
	p.Fence = first
	ann.SaveDraft(p).Refused(stick.CodeStaleLease)
	bob.Try().Granted(2)
	ann.SaveDraft(p).Refused(stick.CodeTurnMismatch)
}

// TestCompactionDoesNotWake: an idle holder whose person has the conversation summarized learns of the wish
// for a draft with the next prompt or tool call.
func TestCompactionDoesNotWake(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("codex:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	idle := func() { t.Helper(); ann.CheckStop(roster.CheckStopParams{Held: true}).OK() }
	ann.Try().Granted(1)
	idle()
	w := ann.WaitForWake()
	s.Rings(func() { ann.AskDraft(core.HookParams{}).OK() })
	w.GoesOn()
	if shown, _ := ann.Works(); len(shown) != 1 {
		t.Errorf("the next tool call showed %q", shown)
	}

	idle()
	bob.Tell("hello").OK()
	w.Ends().Brings("hello")
}

// TestCompactionAsksForADraft: the hook before a compaction asks the holder once a turn, unless there is a
// draft.
func TestCompactionAsksForADraft(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	asks := func(a *scene.Actor) bool { t.Helper(); return a.AskDraft(core.HookParams{}).OK().Asked }
	bob.Join().OK()
	ann.Try().Granted(1)
	if asks(bob) {
		t.Error("bob was asked, who has no stick")
	}
	if !asks(ann) || asks(ann) {
		t.Error("ann wasn't asked once")
	}
	if shown, _ := ann.Works(); len(shown) != 1 {
		t.Errorf("the next tool call showed %q", shown)
	}
	if shown, _ := ann.Works(); len(shown) != 0 {
		t.Errorf("the call after it showed %q", shown)
	}

	ann.Release("s", "n").ForNobody()

	ann.Try().Granted(2)
	ann.SaveDraft(draft("x", "")).OK()
	if asks(ann) {
		t.Error("ann was asked, and has a draft")
	}

	ann.Release("s", "n").ForNobody()
	ann.Try().Granted(3)
	if !asks(ann) {
		t.Error("ann wasn't asked in a new turn")
	}

	ann.SaveDraft(draft("x", "")).OK()
	if shown, _ := ann.Works(); len(shown) != 0 {
		t.Errorf("the wish for a draft was shown to ann, who had saved one: %q", shown)
	}
}
