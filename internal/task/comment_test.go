package task_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/internal/task"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// numbered is a file of n lines, each of which has its number.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// commented plays a task up to its review: in a file of 40 lines it changes line 20. The reviewer has seen
// its diff.
func commented(t *testing.T) (s *scene.Scene, work *scene.Work, bob *scene.Actor) {
	s, ann, bob := cast(t, "")
	s.Commit("a.go", numbered(40))
	s.Git("branch", "-f", "integration", "main")
	ann.Spawn("one").OK()
	work = ann.WorksOn("one")
	work.Commits("a.go", strings.Replace(numbered(40), "line 20\n", "twenty\n", 1))
	work.Done("").OK()
	bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK()
	return s, work, bob
}

// says comments on lines of task one.
func says(a *scene.Actor, at, body string) scene.Answer[task.WorkerCommentResult] {
	return a.WorkerComment(task.WorkerCommentParams{TaskID: "one", At: at, Body: body})
}

// where names the places of all comments that an agent sees in the diff of task one.
func where(a *scene.Actor) string {
	a.Helper()
	var places []string
	for _, c := range a.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK().Comments {
		place := "outdated"
		if c.Now != nil {
			place = c.Now.Path + ":" + c.Now.Lines.String()
		}
		if c.Outdated != (c.Now == nil) {
			place += " (" + fmt.Sprint(c.Outdated) + ")"
		}
		places = append(places, place)
	}

	return strings.Join(places, " ")
}

// TestCommentsReachTheWorkerAsOneMessage: until the reviewer decides, only the reviewer sees them. Then the
// worker has all of them, with the lines around, in its message and in its prompt, until each is resolved.
func TestCommentsReachTheWorkerAsOneMessage(t *testing.T) {
	s, work, bob := commented(t)
	says(bob, "a.go:20", "why not 20?").That("the first draft", func(r task.WorkerCommentResult) bool {
		return r.Comment.ID == 1 &&
			r.Drafts == 1 &&
			!r.Already &&
			len(r.Comment.Around) == 7 &&
			r.Comment.Around[3].Sign == "+" &&
			r.Comment.Around[3].Text == "twenty"
	})
	says(bob, "./a.go:20", "why not 20?").That("the same", func(r task.WorkerCommentResult) bool {
		return r.Already && r.Drafts == 1 && r.Comment.ID == 1
	})
	bob.WorkerComment(task.WorkerCommentParams{TaskID: "one", At: "a.go:19-20", Body: "20 was right", Old: true}).OK()
	says(bob, "a.go:21", "never mind").OK()
	bob.WorkerComment(task.WorkerCommentParams{TaskID: "one", Delete: 3}).That("two left",
		func(r task.WorkerCommentResult) bool { return r.Drafts == 2 })
	bob.WorkerComment(task.WorkerCommentParams{TaskID: "one", Delete: 3}).Refused(stick.CodeNotFound)

	carl := s.Person("carl")
	carl.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK()
	says(carl, "a.go:22", "mine").That("the first of carl's", func(r task.WorkerCommentResult) bool {
		return r.Drafts == 1 && r.Comment.ID == 3
	})
	s.Check(where(bob) == "a.go:20 a.go:19-20", "bob sees %s", where(bob))
	s.Check(where(work.Actor) == "", "the worker sees drafts: %s", where(work.Actor))
	s.Check(len(work.WorkerExport(task.WorkerExportParams{}).OK().Events) == 3, "a draft is in the log")

	bob.WorkerRequestChanges(task.WorkerRequestChangesParams{TaskID: "one"}).That("two comments, one message", func(r task.WorkerReviewResult) bool {
		return r.Comments == 2 && r.MessageID != 0 && r.State == stick.TaskWorking
	})
	bob.WorkerRequestChanges(task.WorkerRequestChangesParams{TaskID: "one"}).That("again",
		func(r task.WorkerReviewResult) bool { return r.Already })
	box := work.Inbox().Messages
	s.Check(len(box) == 1, "%d messages", len(box))
	s.Check(box[0].Subject == "Changes requested: one, with 2 comments", "the subject is %q", box[0].Subject)

	for _, want := range []string{
		"Comment 1 by " + string(bob.ID) + " on a.go:20 (commit ", "\n|     17   line 17\n",
		"\n| >   20 + twenty\n", "\n|     23   line 23\n> why not 20?\n",
		"Comment 2 by " + string(bob.ID) + " on a.go:19-20, before the change (commit ",
		"\n| >   19   line 19\n| >   20 - line 20\n", "\n> 20 was right",
	} {
		s.Check(strings.Contains(box[0].Body, want), "the message lacks %q:\n%s", want, box[0].Body)
		s.Check(strings.Contains(work.WorkerContext(task.WorkerContextParams{}).OK().Prompt, want),
			"the prompt lacks %q", want)
	}

	s.Check(!strings.Contains(box[0].Body, "mine"), "a draft of another is in the message")
	work.WorkerStatus(task.WorkerStatusParams{}).That("two open comments",
		func(r task.WorkerStatusResult) bool { return r.Tasks[0].OpenComments == 2 })

	resolve := task.WorkerCommentParams{TaskID: "one", Resolve: 1}
	work.WorkerComment(resolve).That("resolved by the worker", func(r task.WorkerCommentResult) bool {
		return r.Comment.ResolvedBy == work.ID && !r.Already
	})
	bob.WorkerComment(resolve).That("resolved before", func(r task.WorkerCommentResult) bool {
		return r.Comment.ResolvedBy == work.ID && r.Already
	})
	dan := s.Agent("gemini:d")
	s.Joins(dan)
	dan.WorkerComment(task.WorkerCommentParams{TaskID: "one", Resolve: 2}).Refused(stick.CodeNotYourTask)
	dan.WorkerComment(task.WorkerCommentParams{TaskID: "one", Resolve: 3}).Refused(stick.CodeNotFound) // carl's draft
	dan.WorkerComment(task.WorkerCommentParams{TaskID: "one", Resolve: 9}).Refused(stick.CodeNotFound)

	prompt := work.WorkerStart(task.WorkerStartParams{}).OK().Prompt
	s.Check(!strings.Contains(prompt, "why not 20?") && strings.Contains(prompt, "20 was right"),
		"the prompt has what is resolved, or lacks what isn't:\n%s", prompt)
	events := work.WorkerExport(task.WorkerExportParams{}).OK().Events
	s.Check(events[len(events)-1].Type == stick.EventTaskCommentResolved, "the export lacks who resolved it")
}

// TestApprove_SendsComments, too.
func TestApprove_SendsComments(t *testing.T) {
	s, work, bob := commented(t)
	says(bob, "a.go:20", "next time, 20").OK()
	bob.WorkerApprove(task.WorkerApproveParams{TaskID: "one"}).That("one comment", func(r task.WorkerReviewResult) bool {
		return r.Comments == 1 && r.MessageID != 0 && r.State == stick.TaskApproved
	})
	bob.WorkerApprove(task.WorkerApproveParams{TaskID: "one"}).That("again",
		func(r task.WorkerReviewResult) bool { return r.Already && r.MessageID == 0 })
	box := work.Inbox().Messages
	s.Check(strings.HasPrefix(box[len(box)-1].Subject, "Approved: one, with 1 comment"), "%+v", box)
	says(bob, "a.go:20", "one more").OK()
	bob.WorkerApprove(task.WorkerApproveParams{TaskID: "one"}).Refused(stick.CodeInvalidTransition)

	bob.Merge("one").OK()
	says(bob, "a.go:20", "too late").Refused(stick.CodeInvalidTransition)
	s.Check(where(bob) == "a.go:20 a.go:20", "after the merge: %s", where(bob))
}

// TestComment_Thousand are as many as a task takes. They go in one message that says how many more there
// are.
func TestComment_Thousand(t *testing.T) {
	storetest.SkipQuick(t, "a thousand comments")

	s, ann, bob := cast(t, "")
	ann.Spawn("one").OK()
	work := ann.WorksOn("one")
	work.Commits("a.go", numbered(tasks.MaxComments+1))
	work.Done("").OK()
	bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK()
	at := func(n int) string { return fmt.Sprintf("a.go:%d", n) }
	says(bob, at(1), "why?").OK()
	s.Fills("one", bob.ID, tasks.MaxComments-1)
	says(bob, at(tasks.MaxComments+1), "why?").Refused(stick.CodeMessageTooLarge)

	bob.WorkerRequestChanges(task.WorkerRequestChangesParams{TaskID: "one", Reason: "see there"}).That("all of them", func(r task.WorkerReviewResult) bool {
		return r.Comments == tasks.MaxComments && r.MessageID != 0
	})
	body := work.Inbox().Messages[0].Body
	s.Check(
		strings.HasPrefix(body, "see there\n\nComment 1 by "+string(bob.ID)+" on a.go:1 ") &&
			strings.Contains(body, "comments more: tt task show one\n"),
		"the message is\n%s", body,
	)
	prompt := work.WorkerContext(task.WorkerContextParams{}).OK().Prompt
	s.Check(len(prompt) < 40<<10 && strings.Contains(prompt, "comments more: tt task show one"),
		"the prompt has %d bytes", len(prompt))
	shown := bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK().Comments
	s.Check(
		len(shown) == tasks.MaxComments &&
			!slices.ContainsFunc(shown, func(c task.ShownComment) bool { return c.Outdated || c.Draft }),
		"%d comments", len(shown),
	)
}

// drafted is commented, with two drafts of the reviewer.
func drafted(t *testing.T) (*scene.Scene, *scene.Work, *scene.Actor) {
	s, work, bob := commented(t)
	says(bob, "a.go:20", "why?").OK()
	says(bob, "a.go:21", "and this?").OK()
	return s, work, bob
}

// TestDecision_Killed has sent all comments in one message, or none. The same command, run again, sends them
// once.
func TestDecision_Killed(t *testing.T) {
	storetest.SkipQuick(t, "decisions that are killed")

	for name, act := range testenv.NthByName(t, "decisions that are killed", 2, map[string]func(*scene.Actor) error{
		"request-changes": func(a *scene.Actor) error {
			return a.WorkerRequestChanges(task.WorkerRequestChangesParams{TaskID: "one"}).Err
		},
		"approve": func(a *scene.Actor) error { return a.WorkerApprove(task.WorkerApproveParams{TaskID: "one"}).Err },
	}) {
		t.Run(name, func(t *testing.T) {
			_, _, bob := drafted(t)
			points := bob.KillPoints(func(a *scene.Actor) {
				if err := act(a); err != nil {
					t.Fatal(err)
				}
			})

			if len(points) < 2 {
				t.Fatalf("it can be killed only at %q", points)
			}

			nth := map[string]int{}
			for _, point := range points {
				nth[point]++
				n := nth[point]
				t.Run(fmt.Sprintf("%s %d", point, n), func(t *testing.T) { killsDecision(t, point, n, act) })
			}
		})
	}
}

// killsDecision kills a decision at a point and runs it again.
func killsDecision(t *testing.T, point string, n int, act func(*scene.Actor) error) {
	s, work, bob := drafted(t)
	if !bob.Killed(point, n, func(a *scene.Actor) { _ = act(a) }) {
		t.Fatal("the command reached its end, but it should have been killed")
	}

	state := func() (sent, messages int) {
		for _, c := range bob.WorkerShow(task.WorkerShowParams{TaskID: "one"}).OK().Comments {
			if !c.Draft {
				sent++
			}
		}
		return sent, len(work.Inbox().Messages)
	}

	if sent, messages := state(); sent != 2*messages || messages > 1 {
		t.Errorf("after the kill, %d comments are sent in %d messages", sent, messages)
	}
	if err := act(bob.Again()); err != nil {
		s.Check(false, "the command fails when run again: %v", err)
	}
	if sent, messages := state(); sent != 2 || messages != 1 {
		t.Errorf("run again, %d comments are sent in %d messages", sent, messages)
	}
}
