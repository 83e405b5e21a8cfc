package stick

import (
	"testing"
	"time"
)

// TestFound tests what the exploration of the rules, and reading them, once found wrong.
func TestFound(t *testing.T) {
	t.Run("a release named one that only listens, because its wait for work had just returned", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		f.Room = f.Returned("b", start, f.now)
		f.parks("b").releases()
		equal(t, "named", f.Turn.ReservedFor, "")
	})
	t.Run("one that joins while a takeover is open was offered it before those who wait", func(t *testing.T) {
		f := room(t).member("a", "b").alive("a").owns("a").waits("b").gone("a")
		r, _, _, _ := f.Join("c", false, f.now)
		f.waits("c")
		r.Listeners = f.Listeners
		q := Asking{Agent: "c", Purpose: Work, Blocking: true}
		_, _, ans := r.Ask(q, f.s, f.now)
		equal(t, "status", ans.Status, "")
		equal(t, "its place", r.NextDeadline(q, f.s, f.now), f.now.Add(grace))
	})
	t.Run("so was one that joined again", func(t *testing.T) {
		f := room(t).member("a", "b", "c").alive("a").owns("a").waits("c").gone("a")
		f.must(f.leave(Leaving{By: "b"}))
		r, _, _, _ := f.Join("b", false, f.now)
		f.waits("b")
		r.Listeners = f.Listeners
		_, _, ans := r.Ask(Asking{Agent: "b", Purpose: Work, Blocking: true}, f.s, f.now)
		equal(t, "status", ans.Status, "")
	})
	t.Run("one that waits for its place slept past the moment to tell an idle owner", func(t *testing.T) {
		f := room(t).member("a", "b", "c").policy("owner_lease_ttl=1m", "owner_idle_ttl=65s").owns("a").waits("b", "c")
		f.Room, _ = f.Renew("a", f.fence(), 9, Process{PID: 1}, f.now)
		f.after(time.Minute)
		equal(t, "status", f.ask("c").Status, "")
		equal(t, "deadline", f.deadline("c"), 5*time.Second)
	})
	t.Run("a limit that opened again promised an offer that nothing woke for", func(t *testing.T) {
		f := room(t).member("a", "b").policy("owner_lease_ttl=1m", "claim_ttl=10m").owns("a").waits("b").after(time.Minute)
		equal(t, "told", f.ask("b").Status, TakeoverAvailable)
		sleeps := f.deadline("b")
		f.Room = f.Touch("a", f.now)
		equal(t, "before it wakes", f.after(sleeps-ms).ask("b").Status, "")
		equal(t, "when it wakes", f.after(ms).ask("b").Status, TakeoverAvailable)
	})
	t.Run("after the clock went back a waiting agent was told the same at every look", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").waits("b").after(-time.Hour)
		equal(t, "once", f.ask("b").Status, TakeoverAvailable)
		equal(t, "again", f.after(time.Second).ask("b").Status, "")
		equal(t, "deadline", f.deadline("b"), claim-time.Second)
	})
	t.Run("after the clock went back an owner couldn't renew its lease", func(t *testing.T) {
		for name, renew := range map[string]func(*fixture){
			"call":     func(f *fixture) { f.Room = f.Touch("a", f.now) },
			"beat":     func(f *fixture) { f.Room, _ = f.Heartbeat("a", f.fence(), "", f.now) },
			"guardian": func(f *fixture) { f.Room, _ = f.Renew("a", f.fence(), 9, Process{PID: 1}, f.now) },
		} {
			f := room(t).member("a", "b").owns("a").after(-time.Hour)
			renew(f)
			equal(t, name, f.opening(), "")
		}
	})
	t.Run("after the clock went back a new owner had the old time as its activity", func(t *testing.T) {
		f := room(t).member("a", "b").after(-time.Hour).owns("a")
		equal(t, "opening", f.opening(), "")
		equal(t, "lease", f.LeaseExpiresAt(f.s, f.now), f.now.Add(limit))
	})
	t.Run("a recipient that ended could be taken over from, as shown, but not after its time", func(t *testing.T) {
		f := room(t).member("a", "b", "c", "d").alive("b").owns("a").waits("b", "c").releases().gone("b").after(time.Minute)
		equal(t, "shown", f.State(f.s, f.now), StateRecipientGone)
		why, err := f.takes("d")
		equal(t, "take", why, TookOver)
		equal(t, "error", CodeOf(err), "")
	})
	t.Run("a refused pass gave the room back without its owner", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		r, _, err := f.Pass("a", f.fence(), "x", handoff, f.s, f.now)
		refused(t, err, CodeUnknownMember, nil)
		equal(t, "owner", r.Turn.Owner, "a")
	})
	t.Run("one that takes no part took over", func(t *testing.T) {
		f := room(t).member("a").owns("a").after(limit)
		_, err := f.takes("x")
		refused(t, err, CodeUnknownMember, nil)
		equal(t, "owner", f.Turn.Owner, "a")
	})
	t.Run("the sequence index pointed at another member after a new order in an idle room", func(t *testing.T) {
		f := room(t).member("a", "b", "c").policy("order=sequence").owns("b").releases()
		r, events, err := f.Reorder("a", []AgentID{"b"})
		f.must(f.done(r, events, err))
		equal(t, "index", f.Turn.SequenceIndex, 1)
	})
}
