package stick

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// stashed is an entry of the stash that an agent has made in a checkout.
func stashed(name string, by Editor, checkout string) StashEntry {
	return StashEntry{Commit: "c-" + name, Name: name, Message: "On t1: wip", By: by, Checkout: checkout}
}

// TestWhoseStash: an entry is its maker's; what was made with the stick, or by one that is gone, is the
// holder's.
func TestWhoseStash(t *testing.T) {
	free := room(t).member("a", "b", "c", "d").alive("a", "b", "c").gone("d")
	bobs := room(t).member("a", "b", "c", "d").alive("a", "b", "c").gone("d").owns("b")
	anns := room(t).member("a", "b", "c", "d").alive("a", "b", "c").gone("d").owns("a")

	for name, c := range map[string]struct {
		room  *fixture
		made  Editor
		share Share
		owner AgentID
	}{
		"of nobody":                                   {free, Editor{}, ShareNobody, ""},
		"its own":                                     {bobs, Editor{Agent: "a"}, ShareOwn, ""},
		"its own, made with the stick":                {bobs, Editor{Agent: "a", Held: true}, ShareOwn, ""},
		"of one that it has started":                  {free, Editor{Agent: "x", Under: "a"}, ShareOwn, ""},
		"another's":                                   {free, Editor{Agent: "c"}, ShareOthers, "c"},
		"another's, to the holder":                    {anns, Editor{Agent: "c"}, ShareOthers, "c"},
		"a person's, who adopted it":                  {anns, Editor{Agent: "human:kim", Claim: true, Held: true}, ShareOthers, "human:kim"},
		"made with the stick, to the holder":          {anns, Editor{Agent: "c", Held: true}, SharePassed, ""},
		"made with the stick, another holds it":       {bobs, Editor{Agent: "c", Held: true}, ShareOthers, "b"},
		"made with the stick, nobody holds it":        {free, Editor{Agent: "c", Held: true}, ShareOthers, "c"},
		"of one that is gone, to the holder":          {anns, Editor{Agent: "d"}, SharePassed, ""},
		"of one that is gone, another holds it":       {bobs, Editor{Agent: "d"}, ShareOthers, "b"},
		"of one that is gone, nobody holds the stick": {free, Editor{Agent: "d", Held: true}, SharePassed, ""},
	} {
		share, owner := c.room.WhoseStash(stashed("stash@{0}", c.made, "/work"), Editing{By: "a"}, c.room.s)
		if share != c.share || owner != c.owner {
			t.Errorf("%s: %s of %q, want %s of %q", name, share, owner, c.share, c.owner)
		}
	}
}

// TestMayUseStash: only another's entry stops a command, and only where edits are denied. The refusal names
// the caller's own.
func TestMayUseStash(t *testing.T) {
	bobs, mine := stashed("stash@{0}", Editor{Agent: "b"}, "/work/t1"), stashed("stash@{1}", Editor{Agent: "a"}, "/work/t2")
	nobodys, elsewhere := stashed("stash@{2}", Editor{}, ""), stashed("stash@{3}", Editor{Agent: "a"}, "/work/t1")
	pop := StashUse{Editing: Editing{By: "a"}, Form: "git stash pop", Verb: "pop", Checkout: "/work/t2", Has: []StashEntry{bobs, elsewhere, mine, nobodys}}
	with := func(takes ...StashEntry) StashUse {
		q := pop
		q.Takes = takes
		return q
	}

	for enforce, want := range map[Enforce]string{EnforceOff: "", EnforceWarn: "told", EnforceScopes: "denied", EnforceStick: "denied", "ask": ""} {
		f := room(t).member("a", "b").alive("a", "b")
		f.Policy.Enforce = enforce
		used, j := f.MayUseStash(with(bobs), f.s)
		got := ""
		for word, why := range map[string]*Error{"denied": j.Denied, "told": j.Told} {
			if why == nil {
				continue
			}
			got += word
			equal(t, "why", why.Message, `"git stash pop" would pop stash@{0} of b, made in /work/t1`)
			equal(t, "the next step", why.Hint.String(), "yours is stash@{1}: git stash pop 'stash@{1}'; ask: tt msg send b \"…\"; or make it yours: tt changes adopt 'stash@{0}' --reason \"…\"")
			equal(t, "what is told", strings.Join(used.Said, ";"), "stash@{0} (On t1: wip) of b")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", enforce, got, want)
		}
	}

	f := room(t).member("a", "b").alive("a", "b").policy("enforce=stick")
	for name, c := range map[string]struct {
		q    StashUse
		said string
		keep int
	}{
		"its own":                       {with(mine), "", 0},
		"its own from another checkout": {with(elsewhere), "stash@{3} (On t1: wip), made in /work/t1", 0},
		"of nobody":                     {with(nobodys), "stash@{2} (On t1: wip), of which nobody has noted who made it, maybe a person's", 1},
	} {
		used, j := f.MayUseStash(c.q, f.s)
		if j != (Judgement{}) || strings.Join(used.Said, ";") != c.said || len(used.Keep) != c.keep {
			t.Errorf("%s: %+v, %+v", name, used, j)
		}
	}
	person := with(bobs)
	person.Person = true
	if used, j := f.MayUseStash(person, f.s); j != (Judgement{}) || len(used.Said) > 0 {
		t.Errorf("a person: %+v, %+v", used, j)
	}

	all := with(bobs, stashed("stash@{1}", Editor{Agent: "b"}, "/work/t2"))
	all.Form, all.Verb, all.Has, all.Empty = "git stash clear", "drop", all.Takes, true
	_, j := f.MayUseStash(all, f.s)
	equal(t, "several", j.Denied.Message, `"git stash clear" would drop stash@{0} and 1 more of b, made in /work/t1; there is nothing here to stash before`)
	equal(t, "none of them its own", strings.HasPrefix(j.Denied.Hint.String(), "none of the entries is yours; ask: tt msg send b \"…\""), true)
}

// TestOthersInCall: a call of the caller itself, of one that is gone, and one that nothing has ended for
// hours, are no reason for doubt.
func TestOthersInCall(t *testing.T) {
	f := room(t).member("a", "b", "c").alive("a", "b").gone("c")
	busy := func(a AgentID, since Time) Room {
		r := f.Room
		r.Members = slices.Clone(r.Members)
		for i := range r.Members {
			if r.Members[i].Agent == a {
				r.Members[i].BusySince = since
			}
		}
		return r
	}
	for name, c := range map[string]struct {
		room Room
		want bool
	}{
		"none":                  {f.Room, false},
		"the caller's":          {busy("a", f.now), false},
		"another's":             {busy("b", f.now), true},
		"of one that is gone":   {busy("c", f.now), false},
		"one that nobody ended": {busy("b", f.now.Add(-3*time.Hour)), false},
	} {
		equal(t, name, c.room.OthersInCall("a", f.s, f.now), c.want)
	}
}

// TestAdoptStash: the entry is the caller's, and its former owner hears of it, once.
func TestAdoptStash(t *testing.T) {
	f := room(t).member("a", "b", "c").alive("a", "b", "c").owns("b")
	bobs, cys := stashed("stash@{0}", Editor{Agent: "b"}, "/work/t1"), stashed("stash@{1}", Editor{Agent: "c", Held: true}, "/work")
	mine := stashed("stash@{2}", Editor{Agent: "a"}, "/work")
	q := Adoption{By: Editor{Agent: "a", At: 7}, Reason: " agreed "}

	out, events, err := f.AdoptStash(q, Editing{By: "a"}, "/work", []StashEntry{bobs, cys, mine}, f.s)
	if err != nil || len(out) != 2 || out[0].By != q.By || out[0].Checkout != "/work" || len(events) != 2 {
		t.Fatalf("%+v, %+v, %v", out, events, err)
	}
	equal(t, "to the holder", events[0].Tell(), `a made your "stash@{0} (On t1: wip)" and others its own: "agreed"`)
	equal(t, "to the maker", events[1].Tell(), `a made your "stash@{1} (On t1: wip)" its own: "agreed"`)
	equal(t, "in the log", events[1].Say(), `a made "stash@{1} (On t1: wip)" of c its own: "agreed"`)

	out, events, err = f.AdoptStash(q, Editing{By: "a"}, "/elsewhere", []StashEntry{mine}, f.s)
	if err != nil || len(out) != 1 || len(events) != 0 {
		t.Errorf("its own, from another checkout: %+v, %+v, %v", out, events, err)
	}
	f.Policy.Enforce = EnforceOff
	if _, _, err := f.AdoptStash(q, Editing{By: "a"}, "/work", []StashEntry{bobs}, f.s); CodeOf(err) != CodeNotEnforced {
		t.Errorf("where nobody notes: %v", err)
	}
}
