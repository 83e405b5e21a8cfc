package task_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/storetest"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestCommentsFollowTheirLines through new commits, renames and a newer base. Where the diff doesn't have a
// line any more, its comment is outdated, and still has the lines around it.
func TestCommentsFollowTheirLines(t *testing.T) {
	storetest.SkipQuick(t, "comments through renames and a newer base")

	s, work, bob := commented(t)
	for _, at := range []string{"a.go:20", "a.go:21-23", "a.go:18"} {
		says(bob, at, "on "+at).OK()
	}
	bob.WorkerComment(task.WorkerCommentParams{TaskID: "one", At: "a.go:20", Body: "before", Old: true}).OK()
	bob.WorkerRequestChanges(task.WorkerRequestChangesParams{TaskID: "one"}).OK()
	s.Check(where(bob) == "a.go:20 a.go:21-23 a.go:18 a.go:20", "at first: %s", where(bob))

	now := strings.Replace(numbered(40), "line 20\n", "twenty\n", 1)
	change := func(from, to string) {
		now = strings.Replace(now, from, to, 1)
		work.Commits("a.go", now)
	}

	change("line 9\n", "new\nline 9\n")
	s.Check(where(bob) == "a.go:21 a.go:22-24 a.go:19 a.go:20", "with a line above: %s", where(bob))
	change("line 22\n", "line 22\namong them\n")
	s.Check(where(bob) == "a.go:21 a.go:22-25 a.go:19 a.go:20", "with a line among them: %s", where(bob))
	change("line 18\n", "")
	s.Check(where(bob) == "a.go:20 a.go:21-24 outdated a.go:20", "with a line removed: %s", where(bob))
	s.GitIn(work.Path, "mv", "a.go", "b c.go")
	s.GitIn(work.Path, "commit", "-q", "-m", "rename")
	s.Check(where(bob) == "b c.go:20 b c.go:21-24 outdated a.go:20", "renamed: %s", where(bob))

	// The integration branch moves on, and the worker rebases.
	side := s.Dir("side")
	s.Git("worktree", "add", "-q", side, "integration")
	s.CommitIn(side, "a.go", "top\ntop\n"+numbered(40))
	s.Git("worktree", "remove", side)
	work.Done("").That("rebased", func(r task.WorkerDoneResult) bool { return r.Rebased })
	s.Check(where(bob) == "b c.go:22 b c.go:23-26 outdated a.go:22", "rebased: %s", where(bob))

	// What the comments are about is taken back: the lines are there, and the diff doesn't have them.
	s.GitIn(work.Path, "mv", "b c.go", "a.go")
	work.Commits("a.go", "top\ntop\n"+numbered(39)+"forty\n")
	s.Check(where(bob) == "outdated outdated outdated outdated", "taken back: %s", where(bob))
	c := bob.WorkerShow(task.WorkerShowParams{TaskID: "one"}).OK().Comments[2]
	s.Check(c.Outdated && len(c.Around) == 7 && c.Around[3].Text == "line 18", "%+v", c)
	s.GitIn(work.Path, "rm", "-q", "a.go")
	s.GitIn(work.Path, "commit", "-q", "-m", "remove")
	s.Check(where(bob) == "outdated outdated outdated a.go:22",
		"the file is removed, so the diff has the line before the change: %s", where(bob))
}

// TestCommentPlace_Link: the lines of a file that a symbolic link has replaced are gone. The link's own
// line can be commented on, and so can the lines before.
func TestCommentPlace_Link(t *testing.T) {
	s, work, bob := commented(t)
	says(bob, "a.go:20", "here").OK()
	link := filepath.Join(work.Path, "a.go")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}

	if err := os.Symlink("elsewhere", link); err != nil {
		t.Skip(err)
	}
	s.GitIn(work.Path, "commit", "-q", "-a", "-m", "a link")
	s.Check(where(bob) == "outdated", "replaced: %s", where(bob))
	work.Done("").OK()
	bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK()
	says(bob, "a.go:1", "why a link?").OK()
	bob.WorkerComment(task.WorkerCommentParams{TaskID: "one", At: "a.go:20", Body: "before", Old: true}).OK()
}

// TestCommentsOfLostCommits: a commit that is gone, as after a collection of garbage, makes its comments
// outdated, and nothing fails.
func TestCommentsOfLostCommits(t *testing.T) {
	s, work, bob := commented(t)
	says(bob, "a.go:20", "why?").OK()
	bob.WorkerRequestChanges(task.WorkerRequestChangesParams{TaskID: "one"}).OK()
	work.Commits("a.go", strings.Replace(numbered(40), "line 20\n", "zwanzig\n", 1))
	s.GitIn(work.Path, "reset", "-q", "--soft", "integration")
	s.GitIn(work.Path, "commit", "-q", "-m", "anew")
	s.Git("reflog", "expire", "--expire=now", "--all")
	s.Git("gc", "-q", "--prune=now")
	s.Check(where(bob) == "outdated", "%s", where(bob))
}

// TestCommentPlace_None: lines that the diff doesn't show, files that it doesn't change, commits that
// nobody has seen. A refusal names the nearest that there is.
func TestCommentPlace_None(t *testing.T) {
	storetest.SkipQuick(t, "lines that nobody can comment")

	s, work, bob := commented(t)
	s.GitIn(work.Path, "mv", "README", "README.md")
	s.GitIn(work.Path, "commit", "-q", "-m", "rename")
	if err := os.WriteFile(filepath.Join(work.Path, "pic"), []byte("\x00\x01"), 0o600); err != nil {
		t.Fatal(err)
	}

	s.GitIn(work.Path, "add", "pic")
	work.Commits("gone.txt", "x\n")
	work.Done("").OK()
	says(bob, "a.go:20", "x").Refused(stick.CodeReviewStale) // it has seen the commit before

	bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK()
	nearest := func(at string, old bool, want string) {
		t.Helper()
		a := bob.WorkerComment(task.WorkerCommentParams{TaskID: "one", At: at, Body: "x", Old: old})
		a.Refused(stick.CodeNotFound)
		if got := fmt.Sprint(stick.AsError(a.Err).Fields["nearest"]); got != want {
			t.Errorf("the nearest to %s is %s, want %s", at, got, want)
		}
	}

	nearest("a.go:1", false, "a.go:17")
	nearest("a.go:30", false, "a.go:23")
	nearest("a.go:22-30", false, "a.go:22")
	nearest("a.go:41", false, "a.go:23")
	nearest("a.go:12", true, "a.go:17")
	nearest("A.go:12", false, "a.go:17")
	nearest("a.g:20", false, "a.go:20")
	nearest("README:1", false, "README.md:1")
	nearest("README.md:1", false, "<nil>") // renamed, and no line is changed
	nearest("pic:1", false, "<nil>")
	nearest("gone.txt:1", true, "<nil>") // it is new
	says(bob, "gone.txt:1", "x").OK()
	for _, at := range []string{"", "a.go", "a.go:", ":3", "a.go:0", "a.go:x", "a.go:3-2", "a\xff:1"} {
		says(bob, at, "x").Refused(stick.CodeUsage)
	}
	says(bob, "a.go:20", "").Refused(stick.CodeUsage)
	says(bob, "a.go:20", strings.Repeat("x", stick.MaxBody+1)).Refused(stick.CodeMessageTooLarge)
	bob.WorkerComment(task.WorkerCommentParams{TaskID: "one", At: "a.go:20", Body: "x", Resolve: 1}).Refused(stick.CodeUsage)
	bob.WorkerComment(task.WorkerCommentParams{TaskID: "one"}).Refused(stick.CodeUsage)
	bob.WorkerComment(task.WorkerCommentParams{TaskID: "one", Resolve: -1}).Refused(stick.CodeUsage)
	bob.WorkerComment(task.WorkerCommentParams{TaskID: "none", At: "a.go:20", Body: "x"}).Refused(stick.CodeNotFound)
	bob.WorkerComment(task.WorkerCommentParams{TaskID: "one", At: "a.go:20", Body: "x", Head: "nonsense"}).Refused(stick.CodeNotFound)
	says(work.Actor, "a.go:20", "x").Refused(stick.CodeAuthorCannotReview)

	dan := s.Agent("gemini:d")
	says(dan, "a.go:20", "x").Refused(stick.CodeUnknownMember)
	s.Joins(dan)
	says(dan, "a.go:20", "x").Refused(stick.CodeReviewStale)
	dan.WorkerComment(task.WorkerCommentParams{
		TaskID: "one", At: "a.go:20", Body: "x", Head: s.GitIn(work.Path, "rev-parse", "HEAD"),
	}).OK()
}
