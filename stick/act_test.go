package stick

import (
	"slices"
	"strings"
	"testing"
)

// TestMayTake: only others' work stops a command that takes work away, and only where edits are denied.
func TestMayTake(t *testing.T) {
	reset := Taking{By: "a", Form: "git reset --hard", Theirs: []string{"x.go", "y.go"}, Of: []AgentID{"b"}}
	for enforce, want := range map[Enforce]string{EnforceOff: "", EnforceWarn: "told", EnforceScopes: "denied", EnforceStick: "denied", "ask": ""} {
		f := room(t).member("a", "b").alive("a", "b").owns("a")
		f.Policy.Enforce = enforce
		j, got := f.MayTake(reset), ""
		for word, why := range map[string]*Error{"denied": j.Denied, "told": j.Told} {
			if why == nil {
				continue
			}
			got += word
			if why.Message != `"git reset --hard" would take away uncommitted work of b: 2 files, first x.go` || why.Code != CodeEditDenied || len(why.Hint) == 0 {
				t.Errorf("%s: %s (%s)", enforce, why.Message, why.Hint)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", enforce, got, want)
		}
		mine := reset
		mine.Theirs, mine.Of = nil, nil
		person := reset
		person.Person = true
		if f.MayTake(mine) != (Judgement{}) || f.MayTake(person) != (Judgement{}) {
			t.Errorf("%s: own work, or a person, is stopped", enforce)
		}
	}
	f := room(t).member("a").policy("enforce=stick")
	reset.Sweeps, reset.Form, reset.Of = true, "git add -A", []AgentID{"b", "c", "d", "e"}
	if j := f.MayTake(reset); j.Denied.Message != `"git add -A" would sweep up uncommitted work of b, c, d and 1 more: 2 files, first x.go` {
		t.Error(j.Denied.Message)
	}
}

// TestNotKeptIsRefusedOnce: a command of whose work no copy can be kept is refused once in a turn, and
// another one isn't let through for it.
func TestNotKeptIsRefusedOnce(t *testing.T) {
	f := room(t).member("a").owns("a")
	long := "git checkout -- " + strings.Repeat("x", 500)
	if why := f.NotKept(long, []Words{"big.bin (too large)"}); why.Code != CodeEditDenied || !strings.HasPrefix(why.Message, `no copy can be kept of what "git checkout`) || !strings.HasSuffix(why.Message, "would take away: big.bin (too large)") {
		t.Error(why.Message)
	}
	e := f.DeniedCommand("a", long, "s1")
	equal(t, "asked again", f.AskedAgain(long, "s1", []Event{f.Denied("a", []string{"x"}), e}), true)
	equal(t, "the same text elsewhere", f.AskedAgain(long, "s2", []Event{e}), false)
	equal(t, "the same work in other words", f.AskedAgain("git restore .", "s1", []Event{e}), true)
	old := f.DeniedCommand("a", long, "")
	equal(t, "an event without a sum", f.AskedAgain(long, "s1", []Event{old}), true)
	equal(t, "another command after one without a sum", f.AskedAgain("git stash", "s1", []Event{old}), false)
	equal(t, "of an edit", f.Denied("a", []string{"x"}).DeniesEdit(), true)
	equal(t, "of a command", e.DeniesEdit(), false)
	equal(t, "another command", f.AskedAgain("git stash", "s2", []Event{e}), false)
	e.Turn--
	equal(t, "in an earlier turn", f.AskedAgain(long, "s1", []Event{e}), false)
	equal(t, "never", f.AskedAgain(long, "s1", nil), false)
}

// TestWorkTakenIsTold: who ran the command and whose work it was both have to read of it.
func TestWorkTakenIsTold(t *testing.T) {
	f := room(t).member("a", "b")
	for want, x := range map[Words]Taken{
		`a ran "git reset --hard", which took 2 files, first x.go, work of b; a copy was kept before: tt rescue show ab12, without big.bin`: {
			By: "a", Form: "git reset --hard", Files: []string{"x.go", "y.go"}, Of: []AgentID{"b"}, Rescue: "ab12", Left: []string{"big.bin"},
		},
		`a ran "git add -A", which swept up x.go, work of b`:                               {By: "a", Form: "git add -A", Sweeps: true, Files: []string{"x.go"}, Of: []AgentID{"b"}},
		`a ran "git branch -D t"; the old commit is kept as refs/talkingstick/kept/t/ab12`: {By: "a", Form: "git branch -D t", Kept: []string{"refs/talkingstick/kept/t/ab12"}},
		`a ran "sh wipe.sh", which removed the repository /work/.git; its commits, as far as they are kept: tt rescue list; a copy was kept before: tt rescue show ab12`: {
			By: "a", Form: "sh wipe.sh", Rescue: "ab12", Repository: "/work/.git",
		},
		`a ran "git branch -D …"; the old commits are kept: tt rescue list`: {By: "a", Form: "git branch -D …", Kept: slices.Repeat([]string{"refs/talkingstick/kept/t/ab12"}, 300)},
	} {
		e := f.Take(x)
		if got := e.Say(); got != want {
			t.Errorf("it says\n%s\nwant\n%s", got, want)
		}
		readers := slices.Concat([]AgentID{"a"}, x.Of)
		if x.Repository != "" {
			readers = append(readers, "b")
		}
		for _, a := range readers {
			if all := e.Addressees(); !slices.Contains(all, Addressee{a, OwesReading}) {
				t.Errorf("%s isn't told: %v", a, all)
			}
		}
	}
}

// TestTakenTogether: what several parts of a command take is told as one, each file and each agent once.
func TestTakenTogether(t *testing.T) {
	a := Taken{Form: "git reset --hard", Files: []string{"x", "y"}, Of: []AgentID{"b"}, Left: []string{"big"}}
	b := Taken{Form: "git clean -fd", Files: []string{"y", "z"}, Of: []AgentID{"b", "c"}, Kept: []string{"refs/k"}}
	got := a.With(b)
	equal(t, "the command", got.Form, "git reset --hard and git clean -fd")
	equal(t, "files", strings.Join(got.Files, " "), "x y z")
	equal(t, "of", agentNames(got.Of), "b and c")
	equal(t, "the rest", strings.Join(got.Kept, " ")+" "+strings.Join(got.Left, " "), "refs/k big")
	equal(t, "one command twice", a.With(a).Form, a.Form)
	equal(t, "what it was made of", strings.Join(a.Files, " "), "x y")
}
