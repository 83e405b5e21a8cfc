package stick

import "testing"

// TestCommitOfOthersWork: a commit that takes along what others have edited is denied or told as the room says, with their names and the
// command that commits the rest.
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
			"the commit takes along what codex:b and claude:c have edited: a.go, b c.go, d.go, e.go, f.go and 2 more",
			`commit only your own: git commit -m "…" -- 'a b.go' x.go; or ask: tt msg send codex:b "…"`,
		},
		{EnforceStick, append(files("a:1", "b:1")[:1], files("b:1", "c:1", "d:1", "e:1")[1:2]...), nil, "the commit takes along what a:1, b:1, c:1 and 2 more have edited: a.go, b c.go", `ask: tt msg send a:1 "…"`},
		{
			EnforceWarn, files("codex:b")[:1],
			[]string{"1", "2", "3", "4", "5", "6"},
			"the commit takes along what codex:b has edited: a.go",
			`name only your own files: git commit -m "…" -- <path>; or ask: tt msg send codex:b "…"`,
		},
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
