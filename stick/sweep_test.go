package stick

import "testing"

// TestCommitOfOthersWork: a commit that takes along what others have edited is denied or told as the room
// says, with their names and the command that commits the rest.
func TestCommitOfOthersWork(t *testing.T) {
	files := func(others ...AgentID) (all []Swept) {
		for _, p := range []string{"a.go", "b c.go", "d.go", "e.go", "f.go", "g.go", "h.go"} {
			all = append(all, Swept{Path: p, Others: others})
		}
		return all
	}
	for _, tt := range []struct {
		enforce Enforce
		theirs  []Swept
		own     []string
		why     string // empty if nothing is against the rules
		hint    string
	}{
		{
			EnforceStick, files("codex:b")[:1],
			[]string{"x.go"},
			"the commit takes along what codex:b has edited: a.go",
			`commit only your own: git commit -m "…" -- x.go; or ask: tt msg send codex:b "…"`,
		},
		{
			EnforceScopes, files("codex:b", "claude:c"),
			[]string{"a b.go", "x.go"},
			"the commit takes along what codex:b and claude:c have edited: a.go, \"b c.go\", d.go, e.go, f.go and 2 more",
			`commit only your own: git commit -m "…" -- 'a b.go' x.go; or ask: tt msg send codex:b "…"`,
		},
		{
			EnforceStick, files("codex:b")[:5],
			[]string{"1", "2", "3", "4", "5"},
			"the commit takes along what codex:b has edited: a.go, \"b c.go\", d.go, e.go, f.go",
			`commit only your own: git commit -m "…" -- 1 2 3 4 5; or ask: tt msg send codex:b "…"`,
		},
		{EnforceStick, append(files("a:1", "b:1")[:1], files("b:1", "c:1", "d:1", "e:1")[1:2]...), nil, "the commit takes along what a:1, b:1, c:1 and 2 more have edited: a.go, \"b c.go\"", `ask: tt msg send a:1 "…"`},
		{
			EnforceWarn, files("codex:b")[:1],
			[]string{"1", "2", "3", "4", "5", "6"},
			"the commit takes along what codex:b has edited: a.go",
			`name only your own files: git commit -m "…" -- <path>; or ask: tt msg send codex:b "…"`,
		},
		{EnforceStick, files("a:1", "b:1", "c:1")[:1], nil, "the commit takes along what a:1, b:1 and c:1 have edited: a.go", `ask: tt msg send a:1 "…"`},
		{EnforceStick, nil, []string{"x.go"}, "", ""},
		{EnforceOff, files("codex:b"), nil, "", ""},
		{"someday", files("codex:b"), nil, "", ""},
	} {
		r := Room{Policy: Policy{Enforce: tt.enforce}}
		j := r.MayCommit(tt.theirs, tt.own)
		why := j.Told
		if tt.enforce.Denies() {
			why = j.Denied
		}
		if tt.why == "" {
			equal(t, "nothing against the rules", j, Judgement{})
			continue
		}
		if why == nil {
			t.Errorf("%s: %+v", tt.enforce, j)
			continue
		}
		equal(t, "why", why.Message, tt.why)
		equal(t, "hint", why.Hint.String(), tt.hint)
		equal(t, "code", why.Code, CodeEditDenied)
	}
}

// TestCommitsOfOthers: a commit is its maker's while that agent is there. One that was made with the stick
// passes with it.
func TestCommitsOfOthers(t *testing.T) {
	a, held := Editor{Agent: "a"}, Editor{Agent: "a", Held: true}
	for _, tt := range []struct {
		name   string
		made   Editor
		holder AgentID
		gone   bool
		want   bool
	}{
		{name: "one's own", made: Editor{Agent: "b"}, holder: "c"},
		{name: "nobody knows whose", holder: "c"},
		{name: "made by one whom the caller has started", made: Editor{Agent: "a", Under: "b"}, holder: "c"},
		{name: "made without the stick", made: a, holder: "b", want: true},
		{name: "its maker is gone", made: a, holder: "b", gone: true},
		{name: "its maker is gone, and another holds the stick", made: held, holder: "c", gone: true},
		{name: "made with the stick, which the caller has now", made: held, holder: "b"},
		{name: "made with the stick, which is free now", made: held},
		{name: "made with the stick, which its maker has", made: held, holder: "a", want: true},
		{name: "made with the stick, which another has now", made: held, holder: "c", want: true},
	} {
		f := room(t).member("a", "b", "c").alive("a", "b", "c")
		if tt.holder != "" {
			f.Turn.State, f.Turn.Owner = Owned, tt.holder
		}
		if tt.gone {
			f.gone("a")
		}
		equal(t, tt.name, f.IsCommitOfOther(tt.made, Editing{By: "b"}, f.s, f.now), tt.want)
	}
}

// TestPushOfOthersCommits: a push that carries along commits of others is denied or told as the room says,
// with their names.
func TestPushOfOthersCommits(t *testing.T) {
	r := Room{Policy: Policy{Enforce: EnforceStick}}
	equal(t, "none", r.MayPush(nil, nil), Judgement{})
	one := []Carried{{Name: "abc1234", Agent: "codex:b"}}
	j := r.MayPush(one, Cmd("git push <remote> <own>", "origin", "def5678:main"))
	equal(t, "one", j.Denied.Message, "the push carries along a commit of codex:b: abc1234")
	equal(t, "step", j.Denied.Hint.String(), `push only your own: git push origin def5678:main; or ask: tt msg send codex:b "…"`)
	var many []Carried
	for i := range 7 {
		many = append(many, Carried{Name: string(rune('a' + i)), Agent: AgentID(string(rune('p' + i%2)))})
	}
	r.Policy.Enforce = EnforceWarn
	j = r.MayPush(many, nil)
	equal(t, "many", j.Told.Message, "the push carries along 7 commits of p and q: a, b, c, d, e and 2 more")
	equal(t, "only to ask", j.Told.Hint.String(), `ask: tt msg send p "…"`)
	r.Policy.Enforce = EnforceOff
	equal(t, "off", r.MayPush(many, nil), Judgement{})
}
