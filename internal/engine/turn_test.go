package engine_test

import (
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// TestTurn_GoesRound: the holder ends its turn with a handoff, and the next holder gets that.
func TestTurn_GoesRound(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")

	ann.Try().Granted(1).Because("open_claim")
	bob.Try().NotYet()
	ann.Try().Granted(1).Because("already_owner")
	ann.Release("half done", "do the rest").ForNobody()
	bob.Try().Granted(2).Handoff("half done")
	bob.Try().Granted(2).Handoff("half done") // as often as it asks

	bob.Pass(ann, "all done", "look at it").That("reserved for ann, who isn't waiting", func(r engine.PassStickResult) bool {
		return r.ReservedFor == ann.ID && !r.Reachable
	})
	bob.Try().NotYet()
	ann.Try().Granted(3).Because("direct_pass").Handoff("all done")
	s.Logged(
		stick.EventJoin, stick.EventClaim, stick.EventJoin, stick.EventRelease, stick.EventClaim, stick.EventPass, stick.EventClaim,
	)
}

// TestRelease_TurnBeforeHandoff: who lacks the turn isn't asked to complete a handoff first. The owner is, and so is
// whoever names a turn.
func TestRelease_TurnBeforeHandoff(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	ann.ReleaseStick(engine.ReleaseStickParams{}).Refused(stick.CodeInvalidHandoff)
	ann.Try().Granted(1)
	bob.Try().NotYet()
	bob.ReleaseStick(engine.ReleaseStickParams{}).Refused(stick.CodeNotYourTurn)
	bob.PassStick(engine.PassStickParams{}).Refused(stick.CodeNotYourTurn)
	ann.ReleaseStick(engine.ReleaseStickParams{}).Refused(stick.CodeInvalidHandoff)
	bob.ReleaseStick(engine.ReleaseStickParams{Fence: engine.Fence{Turn: 1}}).Refused(stick.CodeInvalidHandoff)
}

// TestRelease_NamesWaiter: a release reserves the stick for a waiting member, and its wait returns with the turn.
func TestRelease_NamesWaiter(t *testing.T) {
	s := scene.New(t)
	ann, bob, cyd := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c")
	ann.Try().Granted(1)
	bobs, cyds := bob.Waits(), cyd.Waits()
	ann.Release("one", "two").NextIs(bob)
	bobs.Ends().Granted(2).Because("sequence").Handoff("one")
	cyds.GoesOn()
	bob.Release("two", "three").NextIs(cyd)
	cyds.Ends().Granted(3)
	cyd.Release("three", "four").ForNobody()
}

// TestTurn_OwnerIsFenced: an agent that lost its turn can change nothing, and learns how the turn ended. An
// agent that repeats its own release or pass gets the first answer again.
func TestTurn_OwnerIsFenced(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	bob.Join().OK()
	bob.Release("s", "n").Refused(stick.CodeNotYourTurn)

	first := ann.Try().Granted(1).Fence()
	ann.ReleaseOf(engine.Fence{Turn: 1}, "s", "n").Refused(stick.CodeUsage)
	ann.ReleaseOf(engine.Fence{Turn: 1, Lease: "another"}, "s", "n").Refused(stick.CodeStaleLease)
	ann.ReleaseOf(first, " ", "n").Refused(stick.CodeInvalidHandoff)
	bob.ReleaseOf(first, "s", "n").Refused(stick.CodeStaleLease)

	ann.ReleaseOf(first, "s", "n").ForNobody()
	ann.ReleaseOf(first, "s", "n").Already()
	ann.Release("s", "n").Already()
	ann.Release("s", "another").Refused(stick.CodeAlreadyEnded)
	ann.Pass(bob, "s", "n").Refused(stick.CodeAlreadyEnded)
	ann.Heartbeat(engine.HeartbeatParams{}).Refused(stick.CodeStaleLease)

	second := bob.Try().Granted(2).Fence()
	ann.ReleaseOf(first, "s", "n").Already()
	ann.PassStick(engine.PassStickParams{Fence: first, To: bob.ID, Handoff: scene.Handoff("s", "n")}).Refused(stick.CodeAlreadyEnded)
	bob.PassStick(engine.PassStickParams{Fence: second, To: stick.Next, Handoff: scene.Handoff("s", "n")}).OK()
	bob.PassStick(engine.PassStickParams{Fence: second, To: stick.Next, Handoff: scene.Handoff("s", "n")}).That("again", func(r engine.PassStickResult) bool {
		return r.Already && r.ReservedFor == ann.ID
	})
	bob.Pass(ann, "s", "n").That("by name", func(r engine.PassStickResult) bool { return r.Already })
	bob.Pass(bob, "s", "n").Refused(stick.CodeAlreadyEnded)
	bob.Release("s", "n").Refused(stick.CodeAlreadyEnded)
}

// TestPass_Recipient: the stick goes only to a member that is there to take it.
func TestPass_Recipient(t *testing.T) {
	s := scene.New(t)
	ann, bob, cyd := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("codex:c")
	s.Joins(bob, cyd)
	ann.Try().Granted(1)
	ann.PassStick(engine.PassStickParams{To: "gemini", Handoff: scene.Handoff("s", "n")}).Refused(stick.CodeUnknownMember)
	ann.PassStick(engine.PassStickParams{To: "codex", Handoff: scene.Handoff("s", "n")}).Refused(stick.CodeAmbiguousRecipient)
	ann.PassStick(engine.PassStickParams{To: "Not a name", Handoff: scene.Handoff("s", "n")}).Refused(stick.CodeUsage)

	cyd.Dies()
	ann.Pass(cyd, "s", "n").Refused(stick.CodeUnknownMember)
	waiting := bob.Waits()
	ann.Pass(bob, "s", "n").That("that bob is reached", func(r engine.PassStickResult) bool { return r.Reachable })
	waiting.Ends().Granted(2).Because("direct_pass")
}

// TestRelease_ReservationMovesOn: if the member that the stick is reserved for doesn't come, another one gets it.
func TestRelease_ReservationMovesOn(t *testing.T) {
	s := scene.New(t)
	ann, bob, cyd := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c")
	s.Joins(ann, bob, cyd)
	ann.Try().Granted(1)
	bob.WaitForTurn(engine.WaitForTurnParams{MaxWaitMS: ms(1)}).NotYet() // likely to ask again
	ann.Release("s", "n").NextIs(bob)
	cyd.Try().NotYet()
	s.Later(11 * time.Second)
	cyd.Try().Granted(2).Handoff("s")
}

func ms(n int64) *int64 { return &n }

// TestTurn_LastOwnerDefers: the last holder may claim the stick again at once, unless another member waits for
// the turn.
func TestTurn_LastOwnerDefers(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	bob.Join().OK()
	ann.Try().Granted(1)
	ann.Abandon("it was nothing").OK()
	ann.Join().OK()
	parked := bob.Parks() // bob waits for events, and doesn't want the turn
	ann.Try().Granted(2).Because("open_claim")
	parked.GoesOn()
	parked.Interrupted().Refused(stick.CodeCanceled)
}

// TestWait_RegistrationLost: nothing has replaced it, and whoever waits for the stick gets it.
func TestWait_RegistrationLost(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	ann.Try().Granted(1)
	waits, parked := bob.Waits(), carl.Parks()
	s.ForgetsWaits()
	ann.Send(carl, "hello").OK()
	parked.Ends().Brings("hello")
	ann.Release("done", "go on").OK()
	waits.Ends().Granted(2)
}

// TestWait_OnePerMember: a second wait of an agent is refused, or ends the first. A person may have several.
func TestWait_OnePerMember(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	ann.Try().Granted(1)
	first := bob.Waits()
	bob.WaitsFor(engine.WaitForTurnParams{}).Ends().Refused(stick.CodeAlreadyListening)

	second := bob.WaitsFor(engine.WaitForTurnParams{Replace: true})
	first.Ends().Is(stick.WasReplaced)
	second.GoesOn()
	here, there := carl.Parks(), carl.Parks()
	ann.Send(carl, "hello").Reaches(carl, presence.DeliveryListening)
	here.Ends().Brings("hello")
	there.Interrupted()
	bob.Leave().OK()
	second.Ends().Is(stick.HasLeft)
}

// TestWait_Limit: through a server a wait ends at the policy's limit or its caller's. Its member stays
// a candidate, because it will probably ask again.
func TestWait_Limit(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	ann.Try().Granted(1)
	bob.WaitForTurn(engine.WaitForTurnParams{MaxWaitMS: ms(1), AtMost: time.Hour}).NotYet()
	ann.Sets("wait_for_turn_max_wait=1s").OK()
	bob.WaitForTurn(engine.WaitForTurnParams{AtMost: time.Millisecond}).NotYet()
	ann.Release("s", "n").NextIs(bob)
}

// TestWait_TellsWhatEndsIt: a wait says whether a kick or the end of the room ended it.
func TestWait_TellsWhatEndsIt(t *testing.T) {
	s := scene.New(t)
	ann, bob, cyd, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c"), s.Person("carl")
	ann.Try().Granted(1)
	bobs, cyds := bob.Waits(), cyd.Waits()
	carl.KickAnyway(bob).OK()
	bobs.Ends().Is(stick.WasKicked)
	bob.Try().Is(stick.WasKicked)
	ann.Release("s", "n").NextIs(cyd)
	cyds.Ends().Granted(2)
	anns := ann.Waits()
	cyd.CloseRoom(engine.CloseRoomParams{Handoff: new(scene.Handoff("done", "rest"))}).OK()
	anns.Ends().Is(stick.RoomClosed)
	ann.Try().Is(stick.RoomClosed)
	cyd.Waits().Ends().Is(stick.RoomClosed)
	cyd.Release("x", "y").Refused(stick.CodeAlreadyEnded)
}

// TestGrant_DriftOfTree: a grant says if the tree has moved since the handoff.
func TestGrant_DriftOfTree(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	ann.Try().Granted(1)
	s.File("file.go", "package x\n")
	h := scene.Handoff("s", "n")
	h.Artifacts = []stick.Artifact{{Path: "file.go", Role: stick.Roles[0]}}
	ann.ReleaseStick(engine.ReleaseStickParams{Handoff: h, Where: s.ByID()}).OK()
	got := bob.Try().Granted(2)
	s.Check(
		got.Res.Drift == nil &&
			got.Res.Handoff.Workspace.DirtyCount == 1 &&
			got.Res.Handoff.Artifacts[0].RoomPath == "file.go",
		"%+v", got.Res.Handoff,
	)
	s.Commit("file.go", "package y\n")
	got = bob.Try().Granted(2)
	s.Check(got.Res.Drift != nil && got.Res.Drift.HeadWas == got.Res.Handoff.Workspace.Head, "no drift: %+v",
		got.Res.Grant)
	h.Artifacts[0].Path = "../elsewhere"
	bob.ReleaseStick(engine.ReleaseStickParams{Handoff: h}).Refused(stick.CodeInvalidHandoff)
}

// TestTakeover_EveryCause: what opens a takeover, and what doesn't.
func TestTakeover_EveryCause(t *testing.T) {
	for name, story := range map[stick.Cause]func(*scene.Scene){
		stick.OwnerGone: func(s *scene.Scene) {
			ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
			ann.Try().Granted(1)
			bob.Try().NotYet()
			bob.Take("I want it").Refused(stick.CodeTakeoverNotAvailable)

			ann.Dies()
			bob.Sees(stick.StateOwnerGone)
			bob.Try().TakeoverOpen(stick.OwnerGone)
			bob.Take("it is gone").Granted(2, stick.OwnerGone).From(ann)
		},
		stick.OwnerTimeout: func(s *scene.Scene) {
			ann, bob := s.AgentUnseen("claude:a"), s.Agent("codex:b")
			ann.Try().Granted(1)
			s.Later(44 * time.Minute)
			bob.Try().NotYet()
			ann.Heartbeat(engine.HeartbeatParams{}).That("kept by heartbeats",
				func(r engine.HeartbeatResult) bool { return r.LeaseKeptBy == stick.KeptByHeartbeat })
			s.Later(44 * time.Minute)
			bob.Take("too early").Refused(stick.CodeTakeoverNotAvailable)

			s.Later(2 * time.Minute)
			bob.Sees(stick.StateStaleOwner)
			bob.Try().TakeoverOpen(stick.OwnerTimeout)
			bob.Take("no sign of it").Granted(2, stick.OwnerTimeout).From(ann)
			ann.Release("s", "n").Refused(stick.CodeTurnMismatch)
		},
		stick.OwnerIdle: func(s *scene.Scene) {
			ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
			ann.Try().Granted(1)
			bob.Join().OK()
			waiting := bob.Waits()
			s.Later(46 * time.Minute)
			waiting.GoesOn()
			bob.Take("too early").Refused(stick.CodeTakeoverNotAvailable)

			s.Has(stick.EventOwnerIdle)
			s.Later(11 * time.Second)
			waiting.Ends().TakeoverOpen(stick.OwnerIdle)
			bob.Take("it does nothing").Granted(2, stick.OwnerIdle)
		},
		stick.ClaimTimeout: func(s *scene.Scene) {
			ann, bob, cyd := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c")
			s.Joins(ann, bob, cyd)
			ann.Try().Granted(1)
			ann.Pass(bob, "s", "n").OK()
			cyd.Take("too early").Refused(stick.CodeTakeoverNotAvailable)

			waiting := cyd.Waits()
			s.Later(20*time.Minute + time.Second)
			waiting.Ends().TakeoverOpen(stick.ClaimTimeout)
			ann.Take("I had it").Refused(stick.CodePriorOwner)
			cyd.Take("it doesn't come").Granted(2, stick.ClaimTimeout)
		},
		stick.RecipientGone: func(s *scene.Scene) {
			ann, bob, cyd := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c")
			s.Joins(ann, bob, cyd)
			ann.Try().Granted(1)
			ann.Pass(bob, "s", "n").OK()
			bob.Dies()
			cyd.Sees(stick.StateRecipientGone)
			cyd.Take("it is gone").Granted(2, stick.RecipientGone)
		},
		stick.OperatorRequested: func(s *scene.Scene) {
			ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
			s.Joins(bob)
			ann.Try().Granted(1)
			scene.Took{
				Answer: carl.TakeoverStick(engine.TakeoverStickParams{Reason: "I say so", Operator: true}),
			}.Granted(2, stick.OperatorRequested).From(ann)
			scene.Took{
				Answer: bob.TakeoverStick(engine.TakeoverStickParams{
					Reason: "carl says so", Operator: true, ExpectedTurn: 2,
				}),
			}.Granted(3, stick.OperatorRequested)
			bob.Take("again").That("its own again", func(r engine.TakeoverStickResult) bool { return r.Already })
			bob.TakeoverStick(engine.TakeoverStickParams{Reason: " "}).Refused(stick.CodeUsage)
			ann.TakeoverStick(engine.TakeoverStickParams{Reason: "mine", ExpectedTurn: 1}).Refused(stick.CodeTurnMismatch)
		},
	} {
		t.Run(string(name), func(t *testing.T) {
			s := scene.New(t)
			story(s)
			s.Has(stick.EventTakeover)
		})
	}
}

// TestTakeover_Recovers: a takeover brings the last handoff, and what happened since.
func TestTakeover_Recovers(t *testing.T) {
	s := scene.New(t)
	ann, bob, cyd := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c")
	ann.Try().Granted(1)
	ann.Release("one", "two").OK()
	bob.Try().Granted(2).Handoff("one")
	bob.Dies()
	cyd.Take("bob is gone").Granted(3, stick.OwnerGone)
	cyd.Try().Granted(3).Recovers("one", 1)
	cyd.Abandon("I can't").OK()
	ann.Try().Granted(4).Recovers("one", 2)
	bob.Returns().Release("late", "x").Refused(stick.CodeTurnMismatch)
}

// TestTurn_SessionComesBack: a holder whose process ended, and whose session goes on in another process, is
// still the holder.
func TestTurn_SessionComesBack(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	ann.Try().Granted(1)
	bob.Join().OK()
	ann.Dies()
	bob.Sees(stick.StateOwnerGone)
	ann.Returns().Try().Granted(1).Because("already_owner")
	bob.Sees(stick.StateOwned)
	bob.Take("is it gone?").Refused(stick.CodeTakeoverNotAvailable)
}

// TestTurn_RestartedBox: a reboot ends a turn, and keeps the handoff. Where hosts share the database, it
// only ends what ran there.
func TestTurn_RestartedBox(t *testing.T) {
	s := scene.New(t)
	ann := s.Agent("claude:a")
	ann.Try().Granted(1)
	ann.Release("one", "two").OK()
	ann.Try().Granted(2)
	s.Reboots()
	bob := s.Agent("codex:b")
	if s.Shared() {
		s.Later(time.Minute) // until then a copy of the disk may be running
		bob.Try().Is(stick.TakeoverAvailable)
		return
	}

	bob.Try().Recovers("one", 1) // that the machine restarted
	bob.Try().Recovers("one", 1) // the same on every ask
	s.Has(stick.EventRestored)
}
