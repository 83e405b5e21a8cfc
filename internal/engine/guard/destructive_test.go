package guard_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// TestOthersWorkIsntTaken: a command that would take another's uncommitted work away is denied where edits
// are, also to the holder. The holder's own work, and work that nobody noted, is copied first.
func TestOthersWorkIsntTaken(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	s.Commit("a.go", "a")
	s.Commit("b.go", "b")
	ann.Try().Is(stick.YourTurn)
	pat.Sets("enforce=scopes").OK()
	bob.Reserve("b.go").OK()
	ann.Edits(func() { s.File("a.go", "a, by ann") }, "a.go")
	bob.Edits(func() { s.File("b.go", "b, by bob") }, "b.go")
	s.File("c.go", "somebody's")

	for _, command := range []string{
		"git reset --hard", "git checkout .", "git checkout -- b.go", "git stash", "git checkout -f", "git restore .",
		`cd sub && cd "$(git rev-parse --show-toplevel)" && git reset --hard`, `git -C "$PWD" stash`, "cd sub; cd - && git checkout .",
	} {
		res := ann.Executes(command, nil)
		s.Check(!res.Allowed && strings.Contains(string(res.Reason), "uncommitted work of "+string(bob.ID)+": b.go") && len(res.Denied) == 1, "%s: %+v", command, res)
	}
	for _, command := range []string{"git add -A", "git commit -am x", "git add ."} {
		res := ann.Executes(command, nil)
		s.Check(!res.Allowed && strings.Contains(string(res.Reason), "would sweep up uncommitted work of "+string(bob.ID)), "%s: %+v", command, res)
	}
	for _, command := range []string{"git add a.go", "git commit -m x -- a.go", "git status", "git stash list", "git clean -n"} {
		s.Check(ann.Executes(command, nil).Allowed, "%s was denied", command)
	}
	s.Check(ann.Executes("git checkout -- a.go", func() { s.Git("checkout", "--", "a.go") }).Allowed, "her own file")
	s.Check(ann.Executes("git clean -fd", func() { s.Git("clean", "-fdq") }).Allowed, "what nobody noted")
	said := ann.LearnsAfterTool()
	s.Check(len(said) == 2 && strings.Contains(said[1], "ran \"git clean -fd\", which took c.go; a copy was kept before: tt rescue show "), "%q", said)
	if _, err := os.Stat(filepath.Join(s.Work, "c.go")); err == nil {
		t.Error("c.go is still there")
	}

	bob.Dies()
	s.Check(ann.Executes("git reset --hard", nil).Allowed, "the work of one who is gone")
}

// TestWhereTheRoomOnlyWarns: the command runs, a copy is kept, and both are told.
func TestWhereTheRoomOnlyWarns(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	bob.Edits(func() { s.File("b.go", "b, by bob") }, "b.go")
	s.Check(ann.Executes("git clean -fdq", func() { s.Git("clean", "-fdq") }).Allowed, "it was denied")
	for _, a := range []*scene.Actor{ann, bob} {
		said := strings.Join(a.LearnsAfterTool(), "; ")
		s.Check(strings.Contains(said, " ran \"git clean -fdq\", which took b.go, work of "+string(bob.ID)+"; a copy was kept before"), "%s is told %s", a.Name, said)
	}
}

// TestTheHoldersWorkIsOthers: who takes the holder's work without the stick takes another's. Once the stick
// has passed on, the work is the next holder's.
func TestTheHoldersWorkIsOthers(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	ann.Edits(func() { s.File("a.go", "a, by ann") }, "a.go")
	s.Check(bob.Executes("git clean -fdq", nil).Allowed, "the room only warns")
	for _, a := range []*scene.Actor{ann, bob} {
		said := strings.Join(a.LearnsAfterTool(), "; ")
		s.Check(strings.Contains(said, " ran \"git clean -fdq\", which took a.go, work of "+string(ann.ID)+"; a copy was kept before"), "%s is told %s", a.Name, said)
	}
	ann.Edits(func() { s.File("a.go", "a, by ann again") }, "a.go")
	pat.Sets("enforce=scopes").OK()
	bob.Reserve("a.go").OK()
	res := bob.Executes("git add -- a.go", nil)
	s.Check(!res.Allowed && strings.Contains(string(res.Reason), "would sweep up uncommitted work of "+string(ann.ID)+": a.go"), "%+v", res)
	ann.Release("so far", "go on").OK()
	bob.Try().Is(stick.YourTurn)
	s.Check(bob.Executes("git add -- a.go", nil).Allowed, "it has passed on")
}

// TestCheckActs_HoldersWorktree: what the holder has edited in a linked worktree is its own there, too: refused where
// the room denies edits, told where it warns, and passed on with the stick.
func TestCheckActs_HoldersWorktree(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	s.Commit("a.go", "a")
	side := filepath.Clean(filepath.Join(s.Work, "..", "side"))
	s.Git("worktree", "add", "-q", side, "-b", "side")
	file := filepath.Join(side, "a.go")

	ann.Try().Is(stick.YourTurn)
	ann.At(side).Executes("echo more >> a.go", func() { s.File("../side/a.go", "a and more") })
	reset := func() { s.GitIn(side, "reset", "--quiet", "--hard") }
	s.Check(bob.At(side).Executes("git reset --hard", reset).Allowed, "the room only warns")
	for _, a := range []*scene.Actor{ann, bob} {
		said := strings.Join(a.LearnsAfterTool(), "; ")
		s.Check(strings.Contains(said, "which took a.go, work of "+string(ann.ID)), "%s is told %s", a.Name, said)
	}

	pat.Sets("enforce=stick").OK()
	ann.At(side).Executes("echo more >> a.go", func() { s.File("../side/a.go", "a and more") })
	for _, command := range []string{"git reset --hard", "rm a.go"} {
		s.Check(!bob.At(side).Executes(command, nil).Allowed, "%s is allowed", command)
	}
	for _, command := range []string{"git -C " + side + " reset --hard", "rm " + file} {
		res := bob.Executes(command, nil)
		s.Check(
			!res.Allowed && strings.Contains(string(res.Reason), "work of "+string(ann.ID)), "%s: %+v", command, res,
		)
	}

	ann.Release("so far", "go on").OK()
	bob.Try().Is(stick.YourTurn)
	s.Check(bob.At(side).Executes("git reset --hard", reset).Allowed, "it has passed on")
}

// TestOldTipsAreKept: the commits of a branch that is deleted stay, and so do those of the stash. The branch
// of another's task isn't deleted where edits are denied.
func TestOldTipsAreKept(t *testing.T) {
	s := scene.InGit(t)
	ann := s.Agent("claude:a")
	s.Joins(ann)
	ann.Try().Is(stick.YourTurn)
	s.Git("branch", "topic")
	tip := s.Git("rev-parse", "topic")
	s.Check(ann.Executes("git branch -D topic", func() { s.Git("branch", "-qD", "topic") }).Allowed, "it was denied")
	s.File("README", "two\n")
	s.Git("stash", "-q")
	stashed := s.Git("rev-parse", "refs/stash")
	s.Check(ann.Executes("git stash clear", func() { s.Git("stash", "clear") }).Allowed, "it was denied")
	said := ann.LearnsAfterTool()
	s.Check(len(said) == 2 && strings.Contains(said[0], "ran \"git branch -D topic\"; the old commit is kept as refs/talkingstick/kept/") &&
		strings.Contains(said[1], "ran \"git stash clear\", which used \"stash@{0} (WIP on main: ") &&
		strings.Contains(said[1], "nobody has noted who made it, maybe a person's; the old commit is kept as refs/talkingstick/kept/"), "%q", said)
	kept := s.Git("for-each-ref", "--format=%(objectname)", "refs/talkingstick/kept")
	s.Check(strings.Contains(kept, tip) && strings.Contains(kept, stashed), "kept are %s, of %s and %s", kept, tip, stashed)
	s.Git("branch", "one")
	s.Git("branch", "two/three")
	deletes := func() { s.Git("branch", "-qD", "one", "two/three") }
	for command, instead := range map[string]func(){
		"git branch | xargs git branch -D": nil, "git branch -D $(git branch --merged)": nil, "git push . +$x:y": deletes, "git update-ref --stdin": deletes,
	} {
		s.Git("commit", "-q", "--allow-empty", "-m", command)
		s.Git("branch", "-f", "one")
		s.Git("branch", "-f", "two/three")
		tip := s.Git("rev-parse", "one")
		s.Check(ann.Executes(command, instead).Allowed, "it was denied")
		said := ann.LearnsAfterTool()
		s.Check(len(said) == 1 && strings.Contains(said[0], "; the old commits are kept: tt rescue list"), "%s: %q", command, said)
		kept := s.Git("for-each-ref", "--format=%(objectname) %(refname)", "refs/talkingstick/kept")
		for _, branch := range []string{"one", "two/three"} {
			s.Check(strings.Contains(kept, "/heads/"+branch), "kept are %s", kept)
		}
		s.Check(strings.Count(kept, tip) == 3, "kept are %s", kept) // those two and the one that is checked out
	}
	s.Git("branch", "-f", "one")
	s.Git("branch", "-f", "two/three")
	s.Check(ann.Executes("git push . :one :two/three", nil).Allowed && len(ann.LearnsAfterTool()) == 1, "two refs of one command")
	s.Check(ann.Executes("git branch -D nowhere", nil).Allowed, "it was denied")
	s.Check(len(ann.LearnsAfterTool()) == 0, "a branch that doesn't exist was kept")
}

// TestHeadStandsForItsBranch: git update-ref -d HEAD, by which people take the first commit back, drops the
// branch. Its commit is kept as that of any other branch.
func TestHeadStandsForItsBranch(t *testing.T) {
	s := scene.InGit(t)
	ann := s.Agent("claude:a")
	s.Joins(ann)
	ann.Try().Is(stick.YourTurn)

	res := ann.Executes("git update-ref -d HEAD", nil)
	s.Check(res.Allowed, "%+v", res)
	said := strings.Join(ann.LearnsAfterTool(), "; ")
	s.Check(strings.Contains(said, "the old commit is kept as refs/talkingstick/kept/"), "%s", said)
}

// TestTheWorkerHearsOfItsBranch: where the room only warns, the branch of another's task may be deleted. Its
// worker is told, and where the commit is.
func TestTheWorkerHearsOfItsBranch(t *testing.T) {
	s := scene.InQueue(t, "")
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Spawn("ui").OK()
	bob.WorksOn("ui")
	ann.LearnsAfterTool()
	bob.LearnsAfterTool()
	s.Check(ann.Executes("git branch -D feat/ui", nil).Allowed, "it was denied") // by git, because it is checked out
	s.Check(len(ann.LearnsAfterTool())+len(bob.LearnsAfterTool()) == 0, "a branch that is still there was told")
	s.Check(ann.Executes("git update-ref -d refs/heads/feat/ui", nil).Allowed, "it was denied")
	for _, a := range []*scene.Actor{ann, bob} {
		said := strings.Join(a.LearnsAfterTool(), "; ")
		s.Check(strings.Contains(said, " ran \"git update-ref -d refs/heads/feat/ui\", work of "+string(bob.ID)+"; the old commit is kept as refs/talkingstick/kept/"), "%s is told %s", a.Name, said)
	}
	s.Git("branch", "feat/ui")
	bob.Executes("git update-ref -d refs/heads/feat/ui", nil)
	s.Check(!strings.Contains(strings.Join(bob.LearnsAfterTool(), "; "), "work of"), "its own branch is another's")
}

// TestWhatCantBeCopiedIsDeniedOnce: then the same command goes through, in the same turn.
func TestWhatCantBeCopiedIsDeniedOnce(t *testing.T) {
	s := scene.InGit(t)
	ann := s.Agent("claude:a")
	s.Joins(ann)
	ann.Try().Is(stick.YourTurn)
	large := s.File("large.bin", "")
	if err := os.Truncate(large, 60<<20); err != nil {
		t.Fatal(err)
	}
	for i, command := range []string{"git clean -fd", "git clean -fdx", "git clean -fdq", "git clean -fdx"} {
		res := ann.Executes(command, nil)
		s.Check(res.Allowed == (i >= 2), "%d, %s: %+v", i, command, res) // -q takes the same, -x takes more
		if !res.Allowed {
			s.Check(strings.Contains(string(res.Reason), `no copy can be kept of what "`+command+`" would take away: `+"large.bin (the rescue would be too large)"), "%s", res.Reason)
		}
	}
	said := ann.LearnsAfterTool()
	s.Check(len(said) == 1 && strings.HasSuffix(said[0], ", without large.bin"), "%q", said)
}

// TestNotKept_ComparesWhatIsTaken: after one command was refused because there is no copy of what it takes,
// another one is refused as well, however much of its text is the same. The same one goes through.
func TestNotKept_ComparesWhatIsTaken(t *testing.T) {
	long := strings.Repeat("long/", 20)
	for name, pair := range map[string]struct{ one, other, first, second string }{
		"paths":              {long + "big1.bin", long + "big2.bin", "rm " + long + "big1.bin", "rm " + long + "big2.bin"},
		"words":              {long + "big1.bin", long + "big2.bin", "find " + long + " -name big1.bin -delete", "find " + long + " -name big2.bin -delete"},
		"directories":        {"s1/model.bin", "s2/model.bin", "cd s1 && rm model.bin", "cd s2 && rm model.bin"},
		"directories of git": {"s1/x y/a", "s2/x y/a", "cd s1 && git clean -fd 'x y'", "cd s2 && git clean -fd 'x y'"},
	} {
		t.Run(name, func(t *testing.T) {
			s := scene.InGit(t)
			ann := s.Agent("claude:a")
			s.Joins(ann)
			ann.Try().Is(stick.YourTurn)
			for _, name := range []string{pair.one, pair.other} {
				if err := os.Truncate(s.File(name, ""), 60<<20); err != nil {
					t.Fatal(err)
				}
			}

			for _, command := range []string{pair.first, pair.second} {
				res := ann.Executes(command, nil)
				s.Check(!res.Allowed && strings.Contains(string(res.Reason), "no copy can be kept"), "%s: %+v", command, res)
			}
			for _, command := range []string{pair.first, pair.second} {
				s.Check(ann.Executes(command, nil).Allowed, "%s again", command)
			}
		})
	}
}

// TestMovesAreKept: before a move of a tree there is a snapshot of its uncommitted work. Nobody is told,
// because git takes that along. Of ignored files, those are told that a command names.
func TestMovesAreKept(t *testing.T) {
	s := scene.InGit(t)
	ann := s.Agent("claude:a")
	s.Joins(ann)
	ann.Try().Is(stick.YourTurn)
	s.Git("branch", "topic")
	s.File("README", "two\n")
	ann.Executes("git switch topic", nil)
	s.Check(len(ann.LearnsAfterTool()) == 0, "a move was told")
	s.Check(keeps(t, ann, "README"), "no snapshot has README")

	s.Commit(".gitignore", ".env\ndist/\n*.o\n")
	s.Git("commit", "-qam", "two")
	s.File(".env", "SECRET")
	s.File("dist/a.js", "built")
	s.File("a.o", "built")
	for command, want := range map[string]string{"rm -rf dist": "dist/a.js", "rm .env": ".env", "find . -name '*.o' -delete": ""} {
		ann.Executes(command, nil)
		said := strings.Join(ann.LearnsAfterTool(), "; ")
		s.Check(want == "" && said == "" || want != "" && strings.Contains(said, "which took "+want+"; a copy was kept"), "%s: told %q", command, said)
	}
	s.Check(keeps(t, ann, "dist/a.js") && keeps(t, ann, ".env") && keeps(t, ann, "a.o"), "an ignored file wasn't kept")
}

// keeps reports whether a snapshot has a file.
func keeps(t *testing.T, a *scene.Actor, path string) bool {
	t.Helper()
	store := rescue.New(filepath.Join(filepath.Dir(a.Work), "data"), git.Client{})
	all, err := store.List(t.Context(), "", 0, rescue.Every)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all.Rescues {
		shown := a.ShowRescue(restore.ShowRescueParams{ID: r.ID}).OK()
		if slices.ContainsFunc(shown.Entries, func(f rescue.File) bool { return f.Path == path }) {
			return true
		}
	}
	return false
}

// TestASubmoduleIsOfTheRoomAround: where a submodule has no room of its own, the room around it judges what
// is taken there.
func TestASubmoduleIsOfTheRoomAround(t *testing.T) {
	storetest.SkipQuick(t, "submodules")

	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	ext := s.Dir("ext")
	s.GitIn(ext, "init", "-q")
	s.CommitIn(ext, "one", "one")
	s.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", ext, "sm")
	s.Git("commit", "-qm", "a submodule")
	ann.Try().Is(stick.YourTurn)
	s.File("sm/one", "nobody's")
	s.Check(ann.Executes("cd sm && git reset --hard", func() { s.GitIn(filepath.Join(s.Work, "sm"), "reset", "-q", "--hard") }).Allowed, "what nobody noted")
	said := strings.Join(ann.LearnsAfterTool(), "; ")
	s.Check(strings.Contains(said, "ran \"git reset --hard\", which took one; a copy was kept before"), "told %q", said)
	bob.Edits(func() { s.File("sm/one", "one, by bob") }, "sm/one")
	pat.Sets("enforce=scopes").OK()
	bob.Reserve("sm/one").OK()
	for _, command := range []string{"cd sm && git reset --hard", "git -C sm stash", "rm sm/one"} {
		res := ann.Executes(command, nil)
		s.Check(!res.Allowed && strings.Contains(string(res.Reason), "uncommitted work of "+string(bob.ID)+": one"), "%s: %+v", command, res)
	}
	s.Check(bob.Executes("git -C sm checkout one", nil).Allowed, "his own work")
}

// TestWithoutAMergeNothingIsAborted: where none is in progress, git refuses to end one, so nobody's work is
// taken. Where one is, it is.
func TestWithoutAMergeNothingIsAborted(t *testing.T) {
	storetest.SkipQuick(t, "merges that are aborted when there is none")

	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	bob.Edits(func() { s.File("README", "by bob") }, "README")
	pat.Sets("enforce=stick").OK()
	ann.LearnsAfterTool()
	for _, command := range []string{"git merge --abort", "git rebase --abort", "git cherry-pick --skip", "git revert --abort", "git am --abort"} {
		s.Check(ann.Executes(command, nil).Allowed && bob.Executes(command, nil).Allowed && len(ann.LearnsAfterTool()) == 0, "%s", command)
	}
	for _, mark := range []string{"MERGE_HEAD", "rebase-merge/head-name", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-apply/next"} {
		path := s.File(filepath.FromSlash(".git/"+mark), "")
		denied := 0
		for _, command := range []string{"git merge --abort", "git rebase --abort", "git cherry-pick --skip", "git revert --abort", "git am --abort"} {
			if !ann.Executes(command, nil).Allowed {
				denied++
			}
		}
		s.Check(denied > 0, "with %s nothing is denied", mark)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatGitDoesntTellIsCopied: an entry of the stash by its number, files that git was told to take for
// unchanged, new files that the same command has swept up before, a file that stands where a directory was,
// and a directory named with one below it.
func TestWhatGitDoesntTellIsCopied(t *testing.T) {
	for command, setup := range testenv.NthByName(t, "commands of which git tells nothing", 3, map[string]func(*scene.Scene){
		"git stash drop": func(s *scene.Scene) {
			s.File("README", "stashed")
			s.Git("stash", "-q")
		},
		"git reset --hard": func(s *scene.Scene) {
			s.Git("update-index", "--assume-unchanged", "README")
			s.File("README", "hidden")
		},
		"git add -A && git reset --hard":   func(s *scene.Scene) { s.File("new", "new") },
		"git add -N . && git reset --hard": func(s *scene.Scene) { s.File("new", "new") },
		"mkdir b && mv new b && rm -r b":   func(s *scene.Scene) { s.File("new", "new") },
		"git stash pop; git reset --hard README": func(s *scene.Scene) {
			s.File("README", "stashed")
			s.Git("stash", "-q")
		},
		"git checkout HEAD -- .": func(s *scene.Scene) {
			s.Git("rm", "-rq", "dir")
			s.File("dir", "a file")
		},
		"git submodule update --force": func(s *scene.Scene) {
			ext := s.Dir("ext")
			s.GitIn(ext, "init", "-q")
			s.CommitIn(ext, "one", "one")
			s.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", ext, "sm")
			s.Git("commit", "-qm", "a submodule")
			s.File("sm/one", "changed")
		},
		"cd un && git clean -fd . ..": func(s *scene.Scene) { s.File("u.txt", "u") },
	}) {
		t.Run(command, func(t *testing.T) {
			s := scene.InGit(t)
			ann := s.Agent("claude:a")
			s.Joins(ann)
			s.Commit("dir/c.go", "c")
			s.Dir("work/un")
			ann.Try().Is(stick.YourTurn)
			setup(s)
			res := ann.Executes(command, nil)
			said := strings.Join(ann.LearnsAfterTool(), "; ")
			s.Check(res.Allowed && (strings.Contains(said, "a copy was kept") || strings.Contains(said, "is kept as")), "%+v, told %q", res, said)
		})
	}
}

// TestADeniedCommandTakesNothing: where a later part of a command is denied, nobody hears that an earlier one
// ran. A clean tree with new files in it isn't copied, because nothing of it goes.
func TestADeniedCommandTakesNothing(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	bob.Edits(func() { s.File("b.go", "b, by bob") }, "b.go")
	pat.Sets("enforce=stick").OK()
	ann.LearnsAfterTool()
	ann.Executes("git reset --hard", nil)
	s.Check(len(ann.LearnsAfterTool()) == 0, "a clean tree was copied")
	s.File("README", "by ann")
	s.Check(!ann.Executes("git checkout -- README && git clean -fd", nil).Allowed, "it was let through")
	s.Check(len(ann.LearnsAfterTool()) == 0, "what didn't run was told")
	s.Check(ann.Executes("git checkout -- README", nil).Allowed && len(ann.LearnsAfterTool()) == 1, "her own file")
}

// TestOneCommandIsToldOnce: where several parts of a command take work, each agent hears of it once.
func TestOneCommandIsToldOnce(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	s.Commit("b.go", "b")
	ann.Try().Is(stick.YourTurn)
	bob.Edits(func() { s.File("b.go", "b, by bob") }, "b.go")
	ann.Edits(func() { s.File("new.go", "new") }, "new.go")
	ann.LearnsAfterTool()
	bob.LearnsAfterTool()
	ann.Executes("git reset --hard && git clean -fd", nil)
	want := "ran \"git reset --hard and git clean -fd\", which took b.go, work of " + string(bob.ID) + "; a copy was kept before: tt rescue show "
	for _, a := range []*scene.Actor{ann, bob} {
		said := a.LearnsAfterTool()
		s.Check(len(said) == 1 && strings.Contains(said[0], want), "%s: %q", a.Name, said)
	}
	s.Git("branch", "one")
	s.Git("branch", "two")
	ann.Executes("git branch -D one; git branch -D two", nil)
	said := ann.LearnsAfterTool()
	s.Check(len(said) == 1 && strings.Contains(said[0], "ran \"git branch -D one and git branch -D two\"; the old commits are kept: tt rescue list"), "%q", said)
}

// TestVariables_AreRead: what a command's text sets a variable, a function's arguments or an alias to is
// judged like the same words written out.
func TestVariables_AreRead(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	s.Commit("a.txt", "a")
	ann.Try().Is(stick.YourTurn)
	ann.Edits(func() { s.File("a.txt", "by ann") }, "a.txt")
	pat.Sets("enforce=stick").OK()

	for _, command := range []string{
		"f=new.txt; echo x > $f", "f=a; rm \"$f\".txt", "f=a.txt; rm ${f}", "for f in *.txt; do rm \"$f\"; done", "for d in a.txt b; do rm -rf $d; done",
		"G=git; $G reset --hard", "git config alias.nuke 'reset --hard' && git nuke", "nuke() { git reset --hard; }; nuke", "set -- a.txt; rm \"$@\"",
		"shopt -s expand_aliases\nalias nuke='git reset --hard'\nnuke",
	} {
		s.Check(!bob.Executes(command, nil).Allowed, "%s", command)
	}
	for _, command := range []string{
		"rm \"$f\"", "f=a.txt; echo $f", "for f in *.txt; do cat \"$f\"; done", "G=git; $G status", "f=$(mktemp); echo x > $f", "f=/tmp/x; echo x > $f",
		"alias nuke='git reset --hard'; nuke", "f=a.txt; f=$(date).txt; rm $f",
	} {
		s.Check(bob.Executes(command, nil).Allowed, "%s", command)
	}
}

// TestCheckoutsBelowARemovedDirectory: a command that removes a directory takes the work in each checkout
// that lies in it, wherever it lies and whether git ignores it or not.
func TestCheckoutsBelowARemovedDirectory(t *testing.T) {
	storetest.SkipQuick(t, "checkouts below a directory that is removed")

	for name, c := range testenv.NthByName(t, "ways to remove a directory with checkouts", 3, map[string]struct{ dir, command string }{
		"ignored":            {".claude/trees", "rm -rf .claude/trees"},
		"outside":            {"../trees", "rm -rf ../trees"},
		"from outside":       {"../trees", "cd .. && rm -rf trees"},
		"found":              {"trees", "find trees -delete"},
		"cleaned away":       {".claude/trees", "git clean -ffdxq"},
		"two of them":        {"trees", "rm -rf trees/one trees/two"},
		"by a loop":          {"trees", `for d in trees/*; do rm -rf "$d"; done`},
		"with all around it": {"trees", "rm -rf ./*"},
	}) {
		t.Run(name, func(t *testing.T) {
			s := scene.InGit(t)
			ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
			s.Joins(ann, bob)
			s.Commit(".gitignore", ".claude/\n")
			s.Git("worktree", "add", "-q", c.dir+"/one")
			s.Git("worktree", "add", "-q", c.dir+"/two")
			one := filepath.Join(s.Work, c.dir, "one")
			bob.At(one).Edits(func() { s.File(filepath.Join(c.dir, "one", "README"), "by bob") }, filepath.Join(one, "README"))
			ann.Try().Is(stick.YourTurn)
			ann.LearnsAfterTool()

			pat.Sets("enforce=stick").OK()
			res := ann.Executes(c.command, func() { t.Error("it was let through") })
			s.Check(strings.Contains(string(res.Reason), "would take away uncommitted work of "+string(bob.ID)+": README"), "%q", res.Reason)

			pat.Sets("enforce=warn").OK()
			ann.LearnsAfterTool()
			bob.LearnsAfterTool()
			s.Check(ann.Executes(c.command, nil).Allowed, "it was denied under warn")
			for _, a := range []*scene.Actor{ann, bob} {
				said := strings.Join(a.LearnsAfterTool(), "; ")
				s.Check(strings.Contains(said, "which took README, work of "+string(bob.ID)+"; a copy was kept before: tt rescue show "), "%s is told %q", a.Name, said)
			}
		})
	}
}

// TestNeverCopiedIsNoReasonToRefuse: what a project has never copied stops no command, also where that cleans
// everything away.
func TestNeverCopiedIsNoReasonToRefuse(t *testing.T) {
	for _, command := range []string{"rm key.pem", "git clean -fd", "git clean -fdx"} {
		t.Run(command, func(t *testing.T) {
			s := scene.InGit(t)
			ann := s.Agent("claude:a")
			s.Joins(ann)
			ann.Try().Is(stick.YourTurn)
			s.Commit(".talking-stick.toml", "[snapshots]\nnever = [\"*.pem\"]\n")
			s.File("key.pem", "secret")

			res := ann.Executes(command, nil)
			s.Check(res.Allowed, "%q", res.Reason)
		})
	}
}
