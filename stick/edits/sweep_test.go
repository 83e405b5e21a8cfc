package edits_test

import (
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/sticktest"
)

// TestCommitOfOthersWork: a commit that takes along what others have edited is denied or told as the room
// says, with their names and the command that commits the rest.
func TestCommitOfOthersWork(t *testing.T) {
	files := func(others ...stick.AgentID) (all []edits.Swept) {
		for _, p := range []string{"a.go", "b c.go", "d.go", "e.go", "f.go", "g.go", "h.go"} {
			all = append(all, edits.Swept{Path: p, Others: others})
		}
		return all
	}

	for _, tt := range []struct {
		enforce stick.Enforce
		theirs  []edits.Swept
		own     []string
		why     string // empty if nothing is against the rules
		hint    string
	}{
		{
			stick.EnforceStick, files("codex:b")[:1],
			[]string{"x.go"},
			"the commit takes along what codex:b has edited: a.go",
			`commit only your own: git commit -m "…" -- x.go; or ask: tt msg send codex:b "…"`,
		},
		{
			stick.EnforceScopes, files("codex:b", "claude:c"),
			[]string{"a b.go", "x.go"},
			"the commit takes along what codex:b and claude:c have edited: a.go, \"b c.go\", d.go, e.go, f.go and 2 more",
			`commit only your own: git commit -m "…" -- 'a b.go' x.go; or ask: tt msg send codex:b "…"`,
		},
		{
			stick.EnforceStick, files("codex:b")[:5],
			[]string{"1", "2", "3", "4", "5"},
			"the commit takes along what codex:b has edited: a.go, \"b c.go\", d.go, e.go, f.go",
			`commit only your own: git commit -m "…" -- 1 2 3 4 5; or ask: tt msg send codex:b "…"`,
		},
		{
			stick.EnforceStick,
			append(files("a:1", "b:1")[:1], files("b:1", "c:1", "d:1", "e:1")[1:2]...),
			nil,
			"the commit takes along what a:1, b:1, c:1 and 2 more have edited: a.go, \"b c.go\"",
			`ask: tt msg send a:1 "…"`,
		},
		{
			stick.EnforceWarn, files("codex:b")[:1],
			[]string{"1", "2", "3", "4", "5", "6"},
			"the commit takes along what codex:b has edited: a.go",
			`name only your own files: git commit -m "…" -- <path>; or ask: tt msg send codex:b "…"`,
		},
		{
			stick.EnforceStick,
			files("a:1", "b:1", "c:1")[:1],
			nil,
			"the commit takes along what a:1, b:1 and c:1 have edited: a.go",
			`ask: tt msg send a:1 "…"`,
		},
		{stick.EnforceStick, nil, []string{"x.go"}, "", ""},
		{stick.EnforceOff, files("codex:b"), nil, "", ""},
		{"someday", files("codex:b"), nil, "", ""},
	} {
		r := stick.Room{Policy: stick.Policy{Enforce: tt.enforce}}
		j := edits.MayCommit(r, tt.theirs, tt.own)
		why := j.Told
		if tt.enforce.Denies() {
			why = j.Denied
		}

		if tt.why == "" {
			sticktest.Equal(t, "nothing against the rules", j, edits.Judgement{})
			continue
		}

		if why == nil {
			t.Errorf("%s: %+v", tt.enforce, j)
			continue
		}
		sticktest.Equal(t, "why", why.Message, tt.why)
		sticktest.Equal(t, "hint", why.Hint.String(), tt.hint)
		sticktest.Equal(t, "code", why.Code, stick.CodeEditDenied)
	}
}

// TestCommitsOfOthers: a commit is its maker's while that agent is there. One that was made with the stick
// passes with it.
func TestCommitsOfOthers(t *testing.T) {
	a, held := edits.Editor{Agent: "a"}, edits.Editor{Agent: "a", Held: true}
	for _, tt := range []struct {
		name   string
		made   edits.Editor
		holder stick.AgentID
		gone   bool
		want   bool
	}{
		{name: "one's own", made: edits.Editor{Agent: "b"}, holder: "c"},
		{name: "nobody knows whose", holder: "c"},
		{name: "made by one whom the caller has started", made: edits.Editor{Agent: "a", Under: "b"}, holder: "c"},
		{name: "made without the stick", made: a, holder: "b", want: true},
		{name: "its maker is gone", made: a, holder: "b", gone: true},
		{name: "its maker is gone, and another holds the stick", made: held, holder: "c", gone: true},
		{name: "made with the stick, which the caller has now", made: held, holder: "b"},
		{name: "made with the stick, which is free now", made: held},
		{name: "made with the stick, which its maker has", made: held, holder: "a", want: true},
		{name: "made with the stick, which another has now", made: held, holder: "c", want: true},
	} {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("a", "b", "c")
		if tt.holder != "" {
			f.Turn.State, f.Turn.Owner = stick.Owned, tt.holder
		}
		if tt.gone {
			f.Gone("a")
		}
		sticktest.Equal(t, tt.name,
			edits.IsCommitOfOther(f.Room, tt.made, edits.Editing{By: "b"}, f.Probed, f.Now), tt.want)
	}
}

// TestPushOfOthersCommits: a push that carries along commits of others is denied or told as the room says,
// with their names.
func TestPushOfOthersCommits(t *testing.T) {
	r := stick.Room{Policy: stick.Policy{Enforce: stick.EnforceStick}}
	sticktest.Equal(t, "none", edits.MayPush(r, nil, nil), edits.Judgement{})
	one := []edits.Carried{{Name: "abc1234", Agent: "codex:b"}}
	j := edits.MayPush(r, one, stick.Cmd("git push <remote> <own>", "origin", "def5678:main"))
	sticktest.Equal(t, "one", j.Denied.Message, "the push carries along a commit of codex:b: abc1234")
	sticktest.Equal(t, "step", j.Denied.Hint.String(),
		`push only your own: git push origin def5678:main; or ask: tt msg send codex:b "…"`)

	var many []edits.Carried
	for i := range 7 {
		many = append(many, edits.Carried{Name: string(rune('a' + i)), Agent: stick.AgentID(string(rune('p' + i%2)))})
	}
	r.Policy.Enforce = stick.EnforceWarn
	j = edits.MayPush(r, many, nil)
	sticktest.Equal(t, "many", j.Told.Message, "the push carries along 7 commits of p and q: a, b, c, d, e and 2 more")
	sticktest.Equal(t, "only to ask", j.Told.Hint.String(), `ask: tt msg send p "…"`)

	r.Policy.Enforce = stick.EnforceOff
	sticktest.Equal(t, "off", edits.MayPush(r, many, nil), edits.Judgement{})
}
