package edits_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/sticktest"
)

// stashed is an entry of the stash that an agent has made in a checkout.
func stashed(name string, by edits.Editor, checkout string) edits.StashEntry {
	return edits.StashEntry{Commit: "c-" + name, Name: name, Message: "On t1: wip", By: by, Checkout: checkout}
}

// TestWhoseStash: an entry is its maker's; what was made with the stick, or by one that is gone, is the
// holder's.
func TestWhoseStash(t *testing.T) {
	free := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d").Alive("a", "b", "c").Gone("d")
	bobs := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d").Alive("a", "b", "c").Gone("d").Owns("b")
	anns := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d").Alive("a", "b", "c").Gone("d").Owns("a")

	for name, c := range map[string]struct {
		room  *sticktest.Fixture
		made  edits.Editor
		share edits.Share
		owner stick.AgentID
	}{
		"of nobody":                    {free, edits.Editor{}, edits.ShareNobody, ""},
		"its own":                      {bobs, edits.Editor{Agent: "a"}, edits.ShareOwn, ""},
		"its own, made with the stick": {bobs, edits.Editor{Agent: "a", Held: true}, edits.ShareOwn, ""},
		"of one that it has started":   {free, edits.Editor{Agent: "x", Under: "a"}, edits.ShareOwn, ""},
		"another's":                    {free, edits.Editor{Agent: "c"}, edits.ShareOthers, "c"},
		"another's, to the holder":     {anns, edits.Editor{Agent: "c"}, edits.ShareOthers, "c"},
		"a person's, who adopted it": {
			anns, edits.Editor{Agent: "human:kim", Claim: true, Held: true}, edits.ShareOthers, "human:kim",
		},
		"made with the stick, to the holder": {
			anns, edits.Editor{Agent: "c", Held: true}, edits.SharePassed, "",
		},
		"made with the stick, another holds it": {
			bobs, edits.Editor{Agent: "c", Held: true}, edits.ShareOthers, "b",
		},
		"made with the stick, nobody holds it": {
			free, edits.Editor{Agent: "c", Held: true}, edits.ShareOthers, "c",
		},
		"of one that is gone, to the holder":    {anns, edits.Editor{Agent: "d"}, edits.SharePassed, ""},
		"of one that is gone, another holds it": {bobs, edits.Editor{Agent: "d"}, edits.ShareOthers, "b"},
		"of one that is gone, nobody holds the stick": {
			free, edits.Editor{Agent: "d", Held: true}, edits.SharePassed, "",
		},
	} {
		share, owner := edits.WhoseStash(c.room.Room, stashed("stash@{0}", c.made, "/work"),
			edits.Editing{By: "a"}, c.room.Probed)
		if share != c.share || owner != c.owner {
			t.Errorf("%s: %s of %q, want %s of %q", name, share, owner, c.share, c.owner)
		}
	}
}

// TestMayUseStash: only another's entry stops a command, and only where edits are denied. The refusal names
// the caller's own.
func TestMayUseStash(t *testing.T) {
	bobs, mine := stashed("stash@{0}", edits.Editor{Agent: "b"}, "/work/t1"), stashed("stash@{1}",
		edits.Editor{Agent: "a"}, "/work/t2")
	nobodys, elsewhere := stashed("stash@{2}", edits.Editor{}, ""), stashed("stash@{3}", edits.Editor{Agent: "a"},
		"/work/t1")
	pop := edits.StashUse{
		Editing: edits.Editing{By: "a"}, Form: "git stash pop", Verb: "pop", Checkout: "/work/t2",
		Has: []edits.StashEntry{bobs, elsewhere, mine, nobodys},
	}
	with := func(takes ...edits.StashEntry) edits.StashUse {
		q := pop
		q.Takes = takes
		return q
	}

	for enforce, want := range map[stick.Enforce]string{
		stick.EnforceOff: "", stick.EnforceWarn: "told", stick.EnforceScopes: "denied",
		stick.EnforceStick: "denied", "ask": "",
	} {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a", "b")
		f.Policy.Enforce = enforce
		used, j := edits.MayUseStash(f.Room, with(bobs), f.Probed)

		got := ""
		for word, why := range map[string]*stick.Error{"denied": j.Denied, "told": j.Told} {
			if why == nil {
				continue
			}
			got += word
			sticktest.Equal(t, "why", why.Message, `"git stash pop" would pop stash@{0} of b, made in /work/t1`)
			sticktest.Equal(t, "the next step",
				why.Hint.String(),
				"yours is stash@{1}: git stash pop 'stash@{1}'; ask: tt msg send b \"…\"; or make it yours: tt changes adopt 'stash@{0}' --reason \"…\"")
			sticktest.Equal(t, "what is told", strings.Join(used.Said, ";"), "stash@{0} (On t1: wip) of b")
		}

		if got != want {
			t.Errorf("%s: %q, want %q", enforce, got, want)
		}
	}

	f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a", "b").WithPolicy("enforce=stick")
	for name, c := range map[string]struct {
		q    edits.StashUse
		said string
		keep int
	}{
		"its own":                       {with(mine), "", 0},
		"its own from another checkout": {with(elsewhere), "stash@{3} (On t1: wip), made in /work/t1", 0},
		"of nobody": {
			with(nobodys),
			"stash@{2} (On t1: wip), of which nobody has noted who made it, maybe a person's",
			1,
		},
	} {
		used, j := edits.MayUseStash(f.Room, c.q, f.Probed)
		if j != (edits.Judgement{}) || strings.Join(used.Said, ";") != c.said || len(used.Keep) != c.keep {
			t.Errorf("%s: %+v, %+v", name, used, j)
		}
	}

	person := with(bobs)
	person.Person = true
	if used, j := edits.MayUseStash(f.Room, person, f.Probed); j != (edits.Judgement{}) || len(used.Said) > 0 {
		t.Errorf("a person: %+v, %+v", used, j)
	}

	all := with(bobs, stashed("stash@{1}", edits.Editor{Agent: "b"}, "/work/t2"))
	all.Form, all.Verb, all.Has, all.Empty = "git stash clear", "drop", all.Takes, true
	_, j := edits.MayUseStash(f.Room, all, f.Probed)
	sticktest.Equal(t, "several",
		j.Denied.Message,
		`"git stash clear" would drop stash@{0} and 1 more of b, made in /work/t1; there is nothing here to stash before`)
	sticktest.Equal(t, "none of them its own",
		strings.HasPrefix(j.Denied.Hint.String(), "none of the entries is yours; ask: tt msg send b \"…\""),
		true)
}

// TestOthersInCall: a call of the caller itself, of one that is gone, and one that nothing has ended for
// hours, are no reason for doubt.
func TestOthersInCall(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("a", "b").Gone("c")
	busy := func(a stick.AgentID, since stick.Time) stick.Room {
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
		room stick.Room
		want bool
	}{
		"none":                  {f.Room, false},
		"the caller's":          {busy("a", f.Now), false},
		"another's":             {busy("b", f.Now), true},
		"of one that is gone":   {busy("c", f.Now), false},
		"one that nobody ended": {busy("b", f.Now.Add(-3*time.Hour)), false},
	} {
		sticktest.Equal(t, name, edits.OthersInCall(c.room, "a", f.Probed, f.Now), c.want)
	}
}

// TestAdoptStash: the entry is the caller's, and its former owner hears of it, once.
func TestAdoptStash(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("a", "b", "c").Owns("b")
	bobs, cys := stashed("stash@{0}", edits.Editor{Agent: "b"}, "/work/t1"), stashed("stash@{1}",
		edits.Editor{Agent: "c", Held: true}, "/work")
	mine := stashed("stash@{2}", edits.Editor{Agent: "a"}, "/work")
	q := edits.Adoption{By: edits.Editor{Agent: "a", At: 7}, Reason: " agreed "}

	out, events, err := edits.AdoptStash(f.Room, q, edits.Editing{By: "a"}, "/work",
		[]edits.StashEntry{bobs, cys, mine}, f.Probed)
	if err != nil || len(out) != 2 || out[0].By != q.By || out[0].Checkout != "/work" || len(events) != 2 {
		t.Fatalf("%+v, %+v, %v", out, events, err)
	}
	sticktest.Equal(t, "to the holder",
		events[0].Tell(), `a made your "stash@{0} (On t1: wip)" and others its own: "agreed"`)
	sticktest.Equal(t, "to the maker", events[1].Tell(), `a made your "stash@{1} (On t1: wip)" its own: "agreed"`)
	sticktest.Equal(t, "in the log", events[1].Say(), `a made "stash@{1} (On t1: wip)" of c its own: "agreed"`)

	out, events, err = edits.AdoptStash(f.Room, q, edits.Editing{By: "a"}, "/elsewhere", []edits.StashEntry{mine},
		f.Probed)
	if err != nil || len(out) != 1 || len(events) != 0 {
		t.Errorf("its own, from another checkout: %+v, %+v, %v", out, events, err)
	}

	f.Policy.Enforce = stick.EnforceOff
	if _, _, err := edits.AdoptStash(f.Room, q, edits.Editing{By: "a"}, "/work", []edits.StashEntry{bobs}, f.Probed); stick.CodeOf(err) != stick.CodeNotEnforced {
		t.Errorf("where nobody notes: %v", err)
	}
}
