package guard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/scene"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// TestTellings_ByWhatHappened: a command that sweeps up, drops or uses what is others' is told after it, and
// only as far as it has done so.
func TestTellings_ByWhatHappened(t *testing.T) {
	for _, c := range testenv.Nth(t, "things that a command did", 3, []struct {
		name, command, does string // what is run instead, if that is another
		fails               bool
		told                string // empty for nothing
	}{
		{name: "a sweep into the index", command: "git add -A", told: `ran "git add -A", which swept up b.go, work of codex:b`},
		{name: "a sweep into a commit", command: "git commit -qam all", told: `ran "git commit -qam all", which swept up b.go, work of codex:b`},
		{name: "a sweep of one of two files", command: "git add -A", does: "git add b.go", told: "which swept up b.go, work of codex:b"},
		{name: "a sweep that git refused", command: "git add -A", does: "touch .git/index.lock; git add -A; rm .git/index.lock"},
		{name: "a commit that a hook refused", command: "git commit -am all", does: "git commit -qam all --no-such-option"},
		{name: "a sweep before which others' work went", command: "git checkout b.go; git add -A", told: "which took b.go, work of codex:b; a copy was kept"},
		{name: "a deleted branch", command: "git branch -D topic", told: `ran "git branch -D topic"; the old commit is kept as refs/talkingstick/kept/`},
		{name: "a branch that git didn't delete", command: "git branch -D main"},
		{name: "one of two branches", command: "git branch -D main topic", told: "; the old commit is kept as refs/talkingstick/kept/"},
		{name: "a branch of which all was pushed again", command: "git branch -D topic && git branch topic"},
		{name: "a stash that was dropped", command: "git stash drop", told: `ran "git stash drop", which used "stash@{0} (On main: by bob)" of codex:b; the old commit is kept as `},
		{name: "a drop of no entry", command: "git stash drop stash@{7}"},
		{name: "a drop that git refused", command: "git stash drop", does: "true"},
		{name: "an entry that was applied", command: "git stash apply", told: `ran "git stash apply", which used "stash@{0} (On main: by bob)" of codex:b`},
		{name: "an entry that git couldn't apply", command: "git stash apply", does: "false", fails: true},
	}) {
		t.Run(c.name, func(t *testing.T) {
			s := scene.InGit(t)
			ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
			s.Joins(ann, bob, pat)
			s.Commit("a.go", "a")
			s.Commit("b.go", "b")
			s.Commit("s.go", "s")
			s.Git("branch", "topic")
			bob.Executes("git stash push -m 'by bob' s.go", func() {
				s.File("s.go", "by bob")
				scene.RunInBash(s.Work, "git stash push -q -m 'by bob' s.go")
			})
			bob.Edits(func() { s.File("b.go", "b, by bob") }, "b.go")
			ann.Try().Is(stick.YourTurn)
			ann.Edits(func() { s.File("a.go", "a, by ann") }, "a.go")
			for _, a := range []*scene.Actor{ann, bob} {
				a.LearnsAfterTool()
			}

			does := c.does
			if does == "" {
				does = c.command
			}
			p := ann.CommandParams(c.command)
			res := ann.CheckEdit(p).OK()
			s.Check(res.Allowed, "it was denied: %+v", res)
			if err := ann.Engine.Guard.EditChecked(t.Context(), p, res); err != nil {
				t.Fatal(err)
			}
			s.Check(len(bob.LearnsAfterTool()) == 0, "told before it ran")
			scene.RunInBash(s.Work, does)
			p.Failed = c.fails
			ann.CheckEdited(p)

			said, want := ann.LearnsAfterTool(), strings.ReplaceAll(c.told, "codex:b", string(bob.ID))
			s.Check(len(said) == 0 && want == "" || want != "" && len(said) == 1 && strings.Contains(said[0], want), "told %q", said)
			ann.CheckEdited(p)
			s.Check(len(ann.LearnsAfterTool()) == 0, "told again")
			tips := ann.ListRescues(restore.ListRescuesParams{}).OK().Tips
			s.Check((len(tips) > 0) == strings.Contains(c.told, "is kept as"), "tips: %+v", tips)
		})
	}
}

// TestTells_OfAFileWithoutACopy: a file that is too large for a copy can't be brought back. Its maker is told so once
// in its session, and whoever takes it by a script is told what the copy lacks.
func TestTells_OfAFileWithoutACopy(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	write := func() {
		if err := os.Truncate(s.File("big.bin", "by ann\n"), 60<<20); err != nil {
			t.Error(err)
		}
	}
	remove := func() {
		if err := os.Remove(filepath.Join(s.Work, "big.bin")); err != nil {
			t.Error(err)
		}
	}
	const unkept = "no copies can be kept of big.bin (the rescue would be too large)"

	var said []string
	for range 2 {
		p := ann.CommandParams("python3 make.py")
		ann.CheckEdit(p).OK()
		write()
		said = append(said, string(ann.CheckEdited(p).Told))
	}
	s.Check(said[0] == unkept && said[1] == "", "its maker is told %q", said)
	ann.LearnsAfterTool()
	bob.LearnsAfterTool()

	bob.Executes("python3 wipe.py", remove)
	for _, a := range []*scene.Actor{ann, bob} {
		told := strings.Join(a.LearnsAfterTool(), "; ")
		s.Check(strings.Contains(told, "which took big.bin") && strings.Contains(told, ", without big.bin"), "%s: told %q", a.Name, told)
	}
}
