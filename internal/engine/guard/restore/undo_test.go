package restore_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/scene"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// lastCall is the newest call of an agent that has changed something.
func lastCall(a *scene.Actor) edits.Call {
	all := a.ListCalls(restore.ListCallsParams{Agent: a.ID, Limit: 1}).OK().Calls
	if len(all) == 0 {
		return edits.Call{}
	}
	return all[0]
}

// TestUndoCall: a call is taken back, and the undo in its turn; each is a call in the list.
func TestUndoCall(t *testing.T) {
	s := scene.InGit(t)
	ann, pat := s.Agent("claude:a"), s.Person("pat")
	s.Joins(ann)
	s.Commit("a.go", "a")
	s.File("mine.go", "mine")
	ann.UndoCall(restore.UndoCallParams{}).Refused(stick.CodeNotFound)
	ann.Executes("echo x > a.go; rm mine.go; echo new > made.go", nil)

	list := pat.ListCalls(restore.ListCallsParams{}).OK()
	s.Check(len(list.Calls) == 1 && list.Calls[0].Files == 3 && list.Calls[0].Agent == ann.ID && !list.More, "%+v", list)
	of := func(path string) restore.ListCallsParams { return restore.ListCallsParams{Paths: []string{path}} }
	pat.ListCalls(of("made.go")).That("the call made it", func(r restore.ListCallsResult) bool { return len(r.Calls) == 1 })
	pat.ListCalls(of(filepath.Join(s.Work, "a.go"))).That("it changed it", func(r restore.ListCallsResult) bool { return len(r.Calls) == 1 })
	pat.ListCalls(of("other.go")).That("no call changed it", func(r restore.ListCallsResult) bool { return len(r.Calls) == 0 })
	pat.UndoCall(restore.UndoCallParams{}).Refused(stick.CodeUsage)
	pat.UndoCall(restore.UndoCallParams{ID: 99}).Refused(stick.CodeNotFound)
	pat.UndoCall(restore.UndoCallParams{ID: -1}).Refused(stick.CodeUsage)
	pat.UndoCall(restore.UndoCallParams{ID: 1, Paths: []string{"other.go"}}).Refused(stick.CodeNotFound)
	pat.UndoCall(restore.UndoCallParams{ID: 1, Paths: []string{"../x"}}).Refused(stick.CodeUsage)

	res := ann.UndoCall(restore.UndoCallParams{}).OK()
	s.Check(slices.Equal(res.Restored, []string{"a.go", "mine.go"}) && slices.Equal(res.Removed, []string{"made.go"}), "%+v", res)
	s.Check(!res.HasLeft() && !res.Already && res.UndoID == 2 && len(res.Told) == 0, "%+v", res)
	s.Check(s.Content("a.go") == "a" && s.Content("mine.go") == "mine" && s.Content("made.go") == "", "the files")
	ann.UndoCall(restore.UndoCallParams{ID: 1}).That("nothing is left to do", func(r restore.UndoCallResult) bool { return r.Already && len(r.Same) == 3 && r.UndoID == 0 })

	again := ann.UndoCall(restore.UndoCallParams{}).OK()
	s.Check(again.Call.ID == 2 && again.Call.Tool == "tt undo" && again.Call.Command == "tt undo 1" && again.UndoID == 3, "%+v", again)
	s.Check(s.Content("a.go") == "x\n" && s.Content("mine.go") == "" && s.Content("made.go") == "new\n", "the files after the undo of the undo")

	one := pat.UndoCall(restore.UndoCallParams{ID: 1, Paths: []string{filepath.Join(s.Work, "mine.go")}}).OK()
	s.Check(slices.Equal(one.Restored, []string{"mine.go"}) && s.Content("a.go") == "x\n" && slices.Equal(one.Told, []stick.AgentID{ann.ID}), "%+v", one)
	s.Check(slices.ContainsFunc(ann.LearnsAfterTool(), func(said string) bool {
		return strings.Contains(said, " undid call 1 of "+string(ann.ID)+`, "echo x > a.go; rm mine.go; echo new > made.go"; as before it: mine.go`)
	}), "ann isn't told")
	ann.ListCalls(restore.ListCallsParams{Limit: 1}).That("the newest", func(r restore.ListCallsResult) bool { return r.More && r.Calls[0].ID == 4 })
	ann.ListCalls(restore.ListCallsParams{Limit: 501}).Refused(stick.CodeUsage)
	ann.ListCalls(restore.ListCallsParams{Agent: "stranger"}).Refused(stick.CodeUnknownMember)
}

// TestUndoCall_directories: a file and a directory that changed places change back, also by the undo of the undo.
func TestUndoCall_directories(t *testing.T) {
	s := scene.InGit(t)
	ann := s.Agent("claude:a")
	s.Joins(ann)
	s.Commit("was/dir/a.go", "a")
	s.Commit("file", "f")
	s.File("was/dir/mine.go", "mine")
	ann.Executes("rm -r was; echo x > was; rm file; mkdir -p file/deep; echo y > file/deep/b.go", nil)

	ann.UndoCall(restore.UndoCallParams{}).That("all is as before", func(r restore.UndoCallResult) bool { return !r.HasLeft() })
	s.Check(s.Content("was/dir/a.go") == "a" && s.Content("was/dir/mine.go") == "mine" && s.Content("file") == "f", "the files after the undo")

	ann.UndoCall(restore.UndoCallParams{}).That("all is as the call left it", func(r restore.UndoCallResult) bool { return !r.HasLeft() })
	s.Check(s.Content("was") == "x\n" && s.Content("file/deep/b.go") == "y\n", "the files after the undo of the undo")
}

// TestUndoCall_LinkToItself: a link that leads nowhere is in the way of nothing, and of no other path.
func TestUndoCall_LinkToItself(t *testing.T) {
	s := scene.InGit(t)
	ann := s.Agent("claude:a")
	s.Joins(ann)
	s.Commit("a.go", "a")
	s.Commit("b.go", "b")
	ann.Executes("rm a.go; ln -s a.go a.go; echo x > b.go", nil)

	ann.UndoCall(restore.UndoCallParams{}).That("all is as before", func(r restore.UndoCallResult) bool { return !r.HasLeft() })
	s.Check(s.Content("a.go") == "a" && s.Content("b.go") == "b", "the files after the undo")
}

// TestUndoCall_changed: what somebody has changed since stays, and the state from before the call is put
// beside it.
func TestUndoCall_changed(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	s.Commit("a.go", "a")
	s.Commit("b.go", "b")
	ann.Executes("echo x > a.go; echo x > b.go; echo x > made.go", nil)
	s.Later(time.Second)
	bob.Edits(func() { s.File("b.go", "b, by bob") }, "b.go")
	ann.Edits(func() { s.File("made.go", "by ann herself") }, "made.go")

	res := ann.UndoCall(restore.UndoCallParams{ID: 1}).OK()
	s.Check(slices.Equal(res.Restored, []string{"a.go"}) && len(res.Left) == 2 && res.HasLeft(), "%+v", res)
	bobs, anns := res.Left[0], res.Left[1]
	s.Check(bobs.Path == "b.go" && bobs.Reason == edits.UndoChanged && slices.Equal(bobs.By, []stick.AgentID{bob.ID}) && bobs.Beside == "b.go.before-1", "%+v", bobs)
	s.Check(anns.Path == "made.go" && slices.Equal(anns.By, []stick.AgentID{ann.ID}) && anns.Beside == "", "%+v", anns)
	s.Check(s.Content("b.go") == "b, by bob" && s.Content("b.go.before-1") == "b" && s.Content("made.go") == "by ann herself", "the files")
	s.Check(slices.Equal(res.Told, []stick.AgentID{bob.ID}), "told: %v", res.Told)
	s.Check(strings.Contains(strings.Join(bob.LearnsAfterTool(), "; "), "left as now: 2 files, first b.go, work of "), "bob isn't told")
}

// TestUndoCall_overlapped: of a call that ran beside another agent's, only what it alone has touched is taken
// back.
func TestUndoCall_overlapped(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	s.Commit("a.go", "a")
	s.Commit("b.go", "b")
	ann.Executes("make", func() {
		s.File("a.go", "by ann")
		bob.Executes("sh gen.sh", func() { s.File("b.go", "by one of them") })
		bob.Edits(func() { s.File("c.go", "by bob") }, "c.go")
		s.File("made.go", "by ann")
	})

	call := lastCall(ann)
	s.Check(call.Overlapped, "%+v", call)
	res := ann.UndoCall(restore.UndoCallParams{ID: call.ID}).OK()
	s.Check(slices.Equal(res.Restored, []string{"a.go"}) && slices.Equal(res.Removed, []string{"made.go"}), "%+v", res)
	s.Check(len(res.Left) == 1 && res.Left[0].Path == "b.go" && res.Left[0].Reason == edits.UndoShared && slices.Equal(res.Left[0].By, []stick.AgentID{bob.ID}), "%+v", res.Left)
	s.Check(s.Content("b.go") == "by one of them" && s.Content("c.go") == "by bob", "the files")

	edit := bob.UndoCall(restore.UndoCallParams{}).OK()
	s.Check(edit.Call.Command == "c.go" && slices.Equal(edit.Removed, []string{"c.go"}), "%+v", edit)
}

// TestUndoCall_stagedMeanwhile: what another agent has only staged while a call ran, is as much the call's as before.
func TestUndoCall_stagedMeanwhile(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	s.Commit("a.go", "a")
	ann.Executes("make", func() {
		s.File("a.go", "by ann")
		s.File("made.go", "by ann")
		bob.Executes("sh stage.sh", func() { s.Git("add", ".") })
	})

	res := ann.UndoCall(restore.UndoCallParams{ID: lastCall(ann).ID}).OK()
	s.Check(slices.Equal(res.Restored, []string{"a.go"}) && slices.Equal(res.Removed, []string{"made.go"}) && len(res.Left) == 0, "%+v", res)
	s.Check(s.Content("a.go") == "a" && s.Content("made.go") == "", "the files")
}

// TestUndoCall_commit: HEAD stays where the call has moved it, and the commands of git that bring it back are
// in the answer.
func TestUndoCall_commit(t *testing.T) {
	s := scene.InGit(t)
	ann := s.Agent("claude:a")
	s.Joins(ann)
	s.Commit("a.go", "a")
	head := s.Git("rev-parse", "HEAD")
	s.File("a.go", "uncommitted")
	ann.Executes("git commit -qam x; echo y > b.go", nil)

	res := ann.UndoCall(restore.UndoCallParams{ID: 1}).OK()
	s.Check(res.Head != nil && slices.Equal(res.Head.Back, []stick.Words{"git reset " + stick.Words(head)}) && res.HasLeft(), "%+v", res.Head)
	s.Check(s.Content("a.go") == "uncommitted" && s.Content("b.go") == "" && s.Git("rev-parse", "HEAD") == res.Head.To, "the files")
	s.Git("reset", "-q", head)
	s.Check(strings.TrimSpace(s.Git("status", "--porcelain")) == "M a.go", "%q", s.Git("status", "--porcelain"))

	ann.Executes("git add a.go", nil)
	ann.UndoCall(restore.UndoCallParams{}).That("what is staged stays", func(r restore.UndoCallResult) bool {
		return len(r.Left) == 1 && r.Left[0].Reason == edits.UndoStaged && r.Unstage == "git restore --staged -- a.go" && r.UndoID == 0
	})
}

// TestUndoCall_othersWork: work of another that a call has swept away is that agent's again after the undo.
func TestUndoCall_othersWork(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	bob.Edits(func() { s.File("b.go", "b, by bob") }, "b.go")
	ann.Executes("git clean -fdq", nil)
	s.Check(s.Content("b.go") == "", "it is still there")
	ann.UndoCall(restore.UndoCallParams{}).That("it is back", func(r restore.UndoCallResult) bool { return slices.Equal(r.Restored, []string{"b.go"}) })
	bob.ListChanges(guard.ListChangesParams{}).That("it is bob's", func(r guard.ListChangesResult) bool {
		return len(r.Changes) == 1 && r.Changes[0].Share == edits.ShareOwn && len(r.Changes[0].Editors) == 1
	})

	pat.Sets("enforce=stick").OK()
	ann.Try().Granted(1)
	why := bob.UndoCall(restore.UndoCallParams{ID: lastCall(ann).ID}).Refused(stick.CodeEditDenied)
	s.Check(strings.Contains(why.Message, "b.go isn't yours to change now"), "%v", why)
	s.Check(s.Content("b.go") == "b, by bob", "a refusal has changed the tree")
	pat.Sets("enforce=warn").OK()
	bob.UndoCall(restore.UndoCallParams{ID: lastCall(ann).ID}).That("what the room says", func(r restore.UndoCallResult) bool { return r.Warning != "" && len(r.Removed) == 1 })
}

// TestUndoCall_refused: what is missing is said, with what to do instead.
func TestUndoCall_refused(t *testing.T) {
	s := scene.InGit(t)
	ann := s.Agent("claude:a")
	s.Joins(ann)
	s.Commit("a.go", "a")
	ann.Executes("make", func() {
		ann.UndoCall(restore.UndoCallParams{ID: 1}).Refused(stick.CodeAlreadyRunning)
	})
	why := ann.UndoCall(restore.UndoCallParams{ID: 1}).Refused(stick.CodeNotFound)
	s.Check(why.Message == "call 1 changed no files", "%v", why)
	ann.ListCalls(restore.ListCallsParams{}).That("that it isn't listed", func(r restore.ListCallsResult) bool { return len(r.Calls) == 0 })
	ann.ListCalls(restore.ListCallsParams{All: true}).That("that it is with all", func(r restore.ListCallsResult) bool { return len(r.Calls) == 1 })

	linked := s.Dir("linked")
	s.Git("worktree", "add", "-q", "--detach", linked)
	ann.Executes("cd '"+linked+"' && echo x > a.go", nil)
	id := lastCall(ann).ID
	s.Git("worktree", "remove", "--force", linked)
	why = ann.UndoCall(restore.UndoCallParams{ID: id}).Refused(stick.CodeNotFound)
	s.Check(strings.Contains(why.Message, "is gone") && strings.Contains(why.Hint.String(), "tt rescue show "), "%v: %s", why, why.Hint)

	ann.Executes("echo x > a.go", nil)
	if err := os.RemoveAll(filepath.Join(filepath.Dir(s.Work), "data", "rescue")); err != nil {
		t.Fatal(err)
	}
	why = ann.UndoCall(restore.UndoCallParams{}).Refused(stick.CodeNotFound)
	s.Check(strings.Contains(why.Message, "have expired"), "%v", why)
}
