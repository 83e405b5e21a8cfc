package stick_test

import (
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

// TestRoom_FormerMistakes tests what the exploration of the rules, and reading them, once found wrong.
func TestRoom_FormerMistakes(t *testing.T) {
	t.Run("a release named one that only listens, because its wait for work had just returned", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		f.Room = f.Returned("b", sticktest.Start, f.Now)
		f.Parks("b").Releases()
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "")
	})

	t.Run("one that joins while a takeover is open was offered it before those who wait", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a").Owns("a").Waits("b").Gone("a")
		r, _, _, _ := f.Join("c", "", false, f.Now)
		f.Waits("c")
		r.Listeners = f.Listeners
		q := stick.Asking{Agent: "c", Purpose: stick.Work, Blocking: true}
		_, _, ans := r.Ask(q, f.Probed, f.Now)
		sticktest.Equal(t, "status", ans.Status, "")
		sticktest.Equal(t, "its place", r.NextDeadline(q, f.Probed, f.Now), f.Now.Add(sticktest.Grace))
	})

	t.Run("so was one that joined again", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("a").Owns("a").Waits("c").Gone("a")
		f.Must(f.TryLeave(stick.Leaving{By: "b"}))
		r, _, _, _ := f.Join("b", "", false, f.Now)
		f.Waits("b")
		r.Listeners = f.Listeners
		_, _, ans := r.Ask(stick.Asking{Agent: "b", Purpose: stick.Work, Blocking: true}, f.Probed, f.Now)
		sticktest.Equal(t, "status", ans.Status, "")
	})

	t.Run("one that waits for its place slept past the moment to tell an idle owner", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").
			WithPolicy("owner_lease_ttl=1m", "owner_idle_ttl=65s").Owns("a").Waits("b", "c")
		f.Room, _ = f.Renew("a", f.Fence(), 9, stick.Process{PID: 1}, f.Now)
		f.After(time.Minute)
		sticktest.Equal(t, "status", f.Asks("c").Status, "")
		sticktest.Equal(t, "deadline", f.Deadline("c"), 5*time.Second)
	})

	t.Run("a limit that opened again promised an offer that nothing woke for", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").
			WithPolicy("owner_lease_ttl=1m", "claim_ttl=10m").Owns("a").Waits("b").After(time.Minute)
		sticktest.Equal(t, "told", f.Asks("b").Status, stick.TakeoverAvailable)
		sleeps := f.Deadline("b")
		f.Room = f.Touch("a", f.Now)
		sticktest.Equal(t, "before it wakes", f.After(sleeps-sticktest.Moment).Asks("b").Status, "")
		sticktest.Equal(t, "when it wakes", f.After(sticktest.Moment).Asks("b").Status, stick.TakeoverAvailable)
	})

	t.Run("after the clock went back a waiting agent was told the same at every look", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Waits("b").After(-time.Hour)
		sticktest.Equal(t, "once", f.Asks("b").Status, stick.TakeoverAvailable)
		sticktest.Equal(t, "again", f.After(time.Second).Asks("b").Status, "")
		sticktest.Equal(t, "deadline", f.Deadline("b"), sticktest.Claim-time.Second)
	})

	t.Run("after the clock went back an owner couldn't renew its lease", func(t *testing.T) {
		for name, renew := range map[string]func(*sticktest.Fixture){
			"call": func(f *sticktest.Fixture) { f.Room = f.Touch("a", f.Now) },
			"beat": func(f *sticktest.Fixture) { f.Room, _ = f.Heartbeat("a", f.Fence(), "", f.Now) },
			"guardian": func(f *sticktest.Fixture) {
				f.Room, _ = f.Renew("a", f.Fence(), 9, stick.Process{PID: 1}, f.Now)
			},
		} {
			f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").After(-time.Hour)
			renew(f)
			sticktest.Equal(t, name, f.OpeningCause(), "")
		}
	})

	t.Run("after the clock went back a new owner had the old time as its activity", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").After(-time.Hour).Owns("a")
		sticktest.Equal(t, "opening", f.OpeningCause(), "")
		sticktest.Equal(t, "lease", f.LeaseExpiresAt(f.Probed, f.Now), f.Now.Add(sticktest.Limit))
	})

	t.Run("a recipient that ended could be taken over from, as shown, but not after its time", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d").Alive("b").Owns("a").
			Waits("b", "c").Releases().Gone("b").After(time.Minute)
		sticktest.Equal(t, "shown", f.State(f.Probed, f.Now), stick.StateRecipientGone)
		why, err := f.Takes("d")
		sticktest.Equal(t, "take", why, stick.TookOver)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
	})

	t.Run("a refused pass gave the room back without its owner", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
		r, _, err := f.Pass("a", f.Fence(), "x", sticktest.Handoff, f.Probed, f.Now)
		sticktest.Refused(t, err, stick.CodeUnknownMember, nil)
		sticktest.Equal(t, "owner", r.Turn.Owner, "a")
	})

	t.Run("one that takes no part took over", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a").After(sticktest.Limit)
		_, err := f.Takes("x")
		sticktest.Refused(t, err, stick.CodeUnknownMember, nil)
		sticktest.Equal(t, "owner", f.Turn.Owner, "a")
	})

	t.Run("the sequence index pointed at another member after a new order in an idle room", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").WithPolicy("order=sequence").Owns("b").Releases()
		r, events, err := f.Reorder("a", []stick.AgentID{"b"})
		f.Must(f.TryCommit(r, events, err))
		sticktest.Equal(t, "index", f.Turn.SequenceIndex, 1)
	})
}
