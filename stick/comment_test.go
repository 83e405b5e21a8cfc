package stick

import (
	"strings"
	"testing"
)

// onLine is a comment on line 3 of a file.
func onLine(body string) Comment {
	return Comment{Base: "b", Head: "h", Path: "a.go", Lines: Lines{3, 3}, Body: body}
}

// TestComments follows comments: drafts that only their author sees, the decision that sends them, and who
// resolves them.
func TestComments(t *testing.T) {
	task := made(t, begun, offers("h", "p"))
	v := TaskDecision{TaskCall: theReviewer, Head: "h", Branch: "h"}
	first, already, err := task.Comment(v, onLine("why?"), nil)
	if err != nil || already || first.ID != 1 || first.Author != theReviewer.By || !first.Draft() || first.Open() {
		t.Fatalf("%+v, %v", first, err)
	}
	second, _, err := task.Comment(v, onLine("and why this?"), []Comment{first})
	if err != nil || second.ID != 2 {
		t.Errorf("%+v, %v", second, err)
	}
	if same, already, err := task.Comment(v, onLine("why?"), []Comment{first, second}); err != nil || !already || same.ID != 1 {
		t.Errorf("the same again: %+v, %v", same, err)
	}
	others := v
	others.By = "gemini:g"
	if c, already, err := task.Comment(others, onLine("why?"), []Comment{first, second}); err != nil || already || c.ID != 3 {
		t.Errorf("somebody else's: %+v, %v", c, err)
	}
	if _, already, err := task.Comment(v, Comment{Base: "b", Head: "h", Path: "a.go", Lines: Lines{3, 3}, Old: true, Body: "why?"}, []Comment{first}); err != nil || already {
		t.Errorf("on the line before the change: %v", err)
	}
	equal(t, "whether the author sees it", first.For(theReviewer.By), true)
	equal(t, "whether others see it", first.For(theWorker.By), false)

	v.Drafts = []Comment{first, second}
	e, err := task.RequestChanges(v, "")
	if err != nil {
		t.Fatal(err)
	}
	sent := CommentsOf(e)
	if len(sent) != 2 || sent[0].Author != "" || sent[0].Body != "why?" || first.Author == "" {
		t.Errorf("sent are %+v", sent)
	}
	equal(t, "what is said", e.Say(), "claude:r sent T-1 back, with 2 comments")
	approved, err := task.Approve(v, "good")
	if err != nil || len(CommentsOf(*approved)) != 2 {
		t.Errorf("%+v, %v", approved, err)
	}
	equal(t, "what is said", approved.Say(), "claude:r approved T-1, commit h, with 2 comments")

	first.Sent, second.Sent = 5, 5
	for _, by := range []TaskCall{theWorker, theReviewer, {By: "human:ann", Person: true}} {
		e, err := task.Resolve(by, first)
		if err != nil || e == nil {
			t.Fatalf("%s resolves: %v", by.By, err)
		}
		equal(t, "what is said", e.Say(), Words(by.By)+" resolved comment 1 on T-1, at a.go:3")
	}
	first.ResolvedAt = 7
	if e, err := task.Resolve(theWorker, first); e != nil || err != nil {
		t.Errorf("a second time: %v, %v", e, err)
	}
}

// TestCommentRefusals: what isn't stored, and who isn't let.
func TestCommentRefusals(t *testing.T) {
	task := made(t, begun, offers("h", "p"))
	see := func(by TaskCall, head string) TaskDecision {
		return TaskDecision{TaskCall: by, Head: head, Branch: "h"}
	}
	mine := see(theReviewer, "h")
	err3 := func(_ Comment, _ bool, err error) error { return err }
	err2 := func(_ any, err error) error { return err }
	many := make([]Comment, MaxComments)
	long := strings.Repeat("x", MaxBody)
	full := []Comment{}
	for range MaxReview/MaxBody - 1 {
		c := onLine(long)
		c.Author, c.Path = theReviewer.By, "b.go"
		full = append(full, c)
	}
	draft, sent := onLine("why?"), onLine("why?")
	draft.ID, draft.Author = 1, theReviewer.By
	sent.ID, sent.Author, sent.Sent = 2, theReviewer.By, 9
	stranger := TaskCall{By: "pi:x"}
	twice := mine
	twice.Drafts = []Comment{draft}
	for _, c := range []struct {
		name string
		err  error
		want Code
	}{
		{"the worker comments", err3(task.Comment(see(theWorker, "h"), onLine("x"), nil)), CodeAuthorCannotReview},
		{"nothing was seen", err3(task.Comment(see(theReviewer, ""), onLine("x"), nil)), CodeReviewStale},
		{"another commit was seen", err3(task.Comment(see(theReviewer, "g"), onLine("x"), nil)), CodeReviewStale},
		{"it says nothing", err3(task.Comment(mine, onLine(" \n"), nil)), CodeUsage},
		{"it isn't text", err3(task.Comment(mine, onLine("a\xff"), nil)), CodeUsage},
		{"it is too long", err3(task.Comment(mine, onLine(long+"x"), nil)), CodeMessageTooLarge},
		{"there are too many", err3(task.Comment(mine, onLine("x"), many)), CodeMessageTooLarge},
		{"one is left", err3(task.Comment(mine, onLine("x"), many[1:])), ""},
		{"the review is too long", err3(task.Comment(mine, onLine(long), full)), CodeMessageTooLarge},
		{"another's review is long", err3(task.Comment(see(stranger, "h"), onLine(long), full)), ""},
		{"the task is over", err3(made(t, begun, cancel).Comment(mine, onLine("x"), nil)), CodeInvalidTransition},
		{"a task in work", err3(made(t, begun).Comment(mine, onLine("x"), nil)), ""},
		{"a task in work, whose branch has moved", err3(made(t, begun).Comment(see(theReviewer, "g"), onLine("x"), nil)), CodeReviewStale},
		{"approved, with drafts", err2(made(t, begun, offers("h", "p"), approve).Approve(twice, "")), CodeInvalidTransition},
		{"somebody's draft is resolved", err2(task.Resolve(theWorker, draft)), CodeNotFound},
		{"one's own draft is resolved", err2(task.Resolve(theReviewer, draft)), CodeNotFound},
		{"none is resolved", err2(task.Resolve(theReviewer, Comment{ID: 7})), CodeNotFound},
		{"a stranger resolves", err2(task.Resolve(stranger, sent)), CodeNotYourTask},
		{"somebody's draft is deleted", task.DeleteDraft(theWorker, draft), CodeNotFound},
		{"what was sent is deleted", task.DeleteDraft(theReviewer, sent), CodeNotFound},
		{"one's own draft is deleted", task.DeleteDraft(theReviewer, draft), ""},
	} {
		if got := CodeOf(c.err); got != c.want {
			t.Errorf("%s: %s (%v), want %s", c.name, got, c.err, c.want)
		}
	}
	_, _, err := made(t, begun).Comment(see(theReviewer, "g"), onLine("x"), nil)
	says(t, err, "you saw commit g of T-1, but commit h is its newest", "look at what is new: tt task diff T-1")
}

// TestSourceAround: a comment keeps its lines with three on each side; of many it leaves out the middle, and
// of a long line the end.
func TestSourceAround(t *testing.T) {
	file := make([]string, 100)
	for i := range file {
		file[i] = strings.Repeat("x", i)
	}
	file[3] = "a\xffb"
	hs := Hunks{{4, 1, 4, 2}}
	got := SourceAround(file, Lines{4, 5}, false, hs)
	signs := ""
	for _, l := range got {
		signs += l.Sign + " "
	}
	equal(t, "the signs", signs, "   + +    ")
	equal(t, "the first", got[0].Number, 1)
	equal(t, "what isn't text", got[3].Text, "a\uFFFDb")
	equal(t, "the sign before the change", SourceAround(file, Lines{4, 4}, true, hs)[3].Sign, "-")
	equal(t, "how many there are at the end", len(SourceAround(file, Lines{100, 100}, false, nil)), 4)
	all := SourceAround(file, Lines{1, 100}, false, nil)
	equal(t, "how many are kept", len(all), maxAround)
	equal(t, "the last of the first half", all[maxAround/2-1].Number, maxAround/2)
	equal(t, "the first of the second half", all[maxAround/2].Number, 100-maxAround/2+1)
	file[50] = strings.Repeat("ä", 200)
	if cut := SourceAround(file, Lines{51, 51}, false, nil)[3].Text; len(cut) > maxSourceLine+3 || !strings.HasSuffix(cut, "…") {
		t.Errorf("a long line is %q", cut)
	}
}
