package tasks_test

import (
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/diff"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/tasks"
)

// onLine is a comment on line 3 of a file.
func onLine(body string) stick.Comment {
	return stick.Comment{Base: "b", Head: "h", Path: "a.go", Lines: stick.Lines{3, 3}, Body: body}
}

// TestComments follows comments: drafts that only their author sees, the decision that sends them, and who
// resolves them.
func TestComments(t *testing.T) {
	task := sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"))
	v := tasks.Decision{Call: sticktest.TheReviewer, Head: "h", Branch: "h"}
	first, already, err := tasks.Comment(task, v, onLine("why?"), nil)
	if err != nil ||
		already ||
		first.ID != 1 ||
		first.Author != sticktest.TheReviewer.By ||
		!first.Draft() ||
		first.Open() {
		t.Fatalf("%+v, %v", first, err)
	}

	second, _, err := tasks.Comment(task, v, onLine("and why this?"), []stick.Comment{first})
	if err != nil || second.ID != 2 {
		t.Errorf("%+v, %v", second, err)
	}
	if same, already, err := tasks.Comment(task, v, onLine("why?"), []stick.Comment{first, second}); err != nil ||
		!already ||
		same.ID != 1 {
		t.Errorf("the same again: %+v, %v", same, err)
	}

	others := v
	others.By = "gemini:g"
	if c, already, err := tasks.Comment(task, others, onLine("why?"), []stick.Comment{first, second}); err != nil ||
		already ||
		c.ID != 3 {
		t.Errorf("somebody else's: %+v, %v", c, err)
	}
	if _, already, err := tasks.Comment(task, v, stick.Comment{
		Base: "b", Head: "h", Path: "a.go", Lines: stick.Lines{3, 3}, Old: true, Body: "why?",
	}, []stick.Comment{first}); err != nil || already {
		t.Errorf("on the line before the change: %v", err)
	}
	sticktest.Equal(t, "whether the author sees it", first.For(sticktest.TheReviewer.By), true)
	sticktest.Equal(t, "whether others see it", first.For(sticktest.TheWorker.By), false)

	v.Drafts = []stick.Comment{first, second}
	e, err := tasks.RequestChanges(task, v, "")
	if err != nil {
		t.Fatal(err)
	}
	sent := stick.CommentsOf(e)
	if len(sent) != 2 || sent[0].Author != "" || sent[0].Body != "why?" || first.Author == "" {
		t.Errorf("sent are %+v", sent)
	}
	sticktest.Equal(t, "what is said", e.Say(), "claude:r sent T-1 back, with 2 comments")

	approved, err := tasks.Approve(task, v, "good")
	if err != nil || len(stick.CommentsOf(*approved)) != 2 {
		t.Errorf("%+v, %v", approved, err)
	}
	sticktest.Equal(t, "what is said", approved.Say(), "claude:r approved T-1, commit h, with 2 comments")

	first.Sent, second.Sent = 5, 5
	for _, by := range []tasks.Call{sticktest.TheWorker, sticktest.TheReviewer, {By: "human:ann", Person: true}} {
		e, err := tasks.Resolve(task, by, first)
		if err != nil || e == nil {
			t.Fatalf("%s resolves: %v", by.By, err)
		}
		sticktest.Equal(t, "what is said", e.Say(), stick.Words(by.By)+" resolved comment 1 on T-1, at a.go:3")
	}

	first.ResolvedAt = 7
	if e, err := tasks.Resolve(task, sticktest.TheWorker, first); e != nil || err != nil {
		t.Errorf("a second time: %v, %v", e, err)
	}
}

// TestCommentRefusals: what isn't stored, and who isn't let.
func TestCommentRefusals(t *testing.T) {
	task := sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"))
	see := func(by tasks.Call, head string) tasks.Decision {
		return tasks.Decision{Call: by, Head: head, Branch: "h"}
	}
	mine := see(sticktest.TheReviewer, "h")
	err3 := func(_ stick.Comment, _ bool, err error) error { return err }
	err2 := func(_ any, err error) error { return err }
	many := make([]stick.Comment, tasks.MaxComments)
	long := strings.Repeat("x", stick.MaxBody)

	full := []stick.Comment{}
	for range tasks.MaxReview/stick.MaxBody - 1 {
		c := onLine(long)
		c.Author, c.Path = sticktest.TheReviewer.By, "b.go"
		full = append(full, c)
	}

	draft, sent := onLine("why?"), onLine("why?")
	draft.ID, draft.Author = 1, sticktest.TheReviewer.By
	sent.ID, sent.Author, sent.Sent = 2, sticktest.TheReviewer.By, 9
	stranger := tasks.Call{By: "pi:x"}
	twice := mine
	twice.Drafts = []stick.Comment{draft}

	for _, c := range []struct {
		name string
		err  error
		want stick.Code
	}{
		{
			"the worker comments",
			err3(tasks.Comment(task, see(sticktest.TheWorker, "h"), onLine("x"), nil)),
			stick.CodeAuthorCannotReview,
		},
		{
			"nothing was seen",
			err3(tasks.Comment(task, see(sticktest.TheReviewer, ""), onLine("x"), nil)),
			stick.CodeReviewStale,
		},
		{
			"another commit was seen",
			err3(tasks.Comment(task, see(sticktest.TheReviewer, "g"), onLine("x"), nil)),
			stick.CodeReviewStale,
		},
		{"it says nothing", err3(tasks.Comment(task, mine, onLine(" \n"), nil)), stick.CodeUsage},
		{"it isn't text", err3(tasks.Comment(task, mine, onLine("a\xff"), nil)), stick.CodeUsage},
		{"it is too long", err3(tasks.Comment(task, mine, onLine(long+"x"), nil)), stick.CodeMessageTooLarge},
		{"there are too many", err3(tasks.Comment(task, mine, onLine("x"), many)), stick.CodeMessageTooLarge},
		{"one is left", err3(tasks.Comment(task, mine, onLine("x"), many[1:])), ""},
		{"the review is too long", err3(tasks.Comment(task, mine, onLine(long), full)), stick.CodeMessageTooLarge},
		{"another's review is long", err3(tasks.Comment(task, see(stranger, "h"), onLine(long), full)), ""},
		{
			"the task is over",
			err3(tasks.Comment(sticktest.Made(t, sticktest.Begun, sticktest.Cancel), mine, onLine("x"), nil)),
			stick.CodeInvalidTransition,
		},
		{"a task in work", err3(tasks.Comment(sticktest.Made(t, sticktest.Begun), mine, onLine("x"), nil)), ""},
		{
			"a task in work, whose branch has moved",
			err3(tasks.Comment(sticktest.Made(t, sticktest.Begun), see(sticktest.TheReviewer, "g"), onLine("x"), nil)),
			stick.CodeReviewStale,
		},
		{
			"approved, with drafts",
			err2(tasks.Approve(sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"), sticktest.Approve),
				twice, "")),
			stick.CodeInvalidTransition,
		},
		{"somebody's draft is resolved", err2(tasks.Resolve(task, sticktest.TheWorker, draft)), stick.CodeNotFound},
		{"one's own draft is resolved", err2(tasks.Resolve(task, sticktest.TheReviewer, draft)), stick.CodeNotFound},
		{
			"none is resolved",
			err2(tasks.Resolve(task, sticktest.TheReviewer, stick.Comment{ID: 7})),
			stick.CodeNotFound,
		},
		{"a stranger resolves", err2(tasks.Resolve(task, stranger, sent)), stick.CodeNotYourTask},
		{"somebody's draft is deleted", tasks.DeleteDraft(task, sticktest.TheWorker, draft), stick.CodeNotFound},
		{"what was sent is deleted", tasks.DeleteDraft(task, sticktest.TheReviewer, sent), stick.CodeNotFound},
		{"one's own draft is deleted", tasks.DeleteDraft(task, sticktest.TheReviewer, draft), ""},
	} {
		if got := stick.CodeOf(c.err); got != c.want {
			t.Errorf("%s: %s (%v), want %s", c.name, got, c.err, c.want)
		}
	}

	_, _, err := tasks.Comment(sticktest.Made(t, sticktest.Begun), see(sticktest.TheReviewer, "g"), onLine("x"), nil)
	sticktest.Says(t, err, "you saw commit g of T-1, but commit h is its newest",
		"look at what is new: tt task diff T-1")
}

// TestSourceAround: a comment keeps its lines with three on each side; of many it leaves out the middle, and
// of a long line the end.
func TestSourceAround(t *testing.T) {
	file := make([]string, 100)
	for i := range file {
		file[i] = strings.Repeat("x", i)
	}
	file[3] = "a\xffb"
	hs := diff.Hunks{{First: 4, Count: 1, NewFirst: 4, NewCount: 2}}
	got := tasks.SourceAround(file, stick.Lines{4, 5}, false, hs)
	signs := ""
	for _, l := range got {
		signs += l.Sign + " "
	}
	sticktest.Equal(t, "the signs", signs, "   + +    ")
	sticktest.Equal(t, "the first", got[0].Number, 1)
	sticktest.Equal(t, "what isn't text", got[3].Text, "a\uFFFDb")
	sticktest.Equal(t, "the sign before the change", tasks.SourceAround(file, stick.Lines{4, 4}, true, hs)[3].Sign, "-")
	sticktest.Equal(t, "how many there are at the end",
		len(tasks.SourceAround(file, stick.Lines{100, 100}, false, nil)), 4)

	all := tasks.SourceAround(file, stick.Lines{1, 100}, false, nil)
	sticktest.Equal(t, "how many are kept", len(all), tasks.MaxAround)
	sticktest.Equal(t, "the last of the first half", all[tasks.MaxAround/2-1].Number, tasks.MaxAround/2)
	sticktest.Equal(t, "the first of the second half", all[tasks.MaxAround/2].Number, 100-tasks.MaxAround/2+1)

	file[50] = strings.Repeat("ä", 200)
	cut := tasks.SourceAround(file, stick.Lines{51, 51}, false, nil)[3].Text
	if len(cut) > tasks.MaxSourceLine+3 || !strings.HasSuffix(cut, "…") {
		t.Errorf("a long line is %q", cut)
	}
}
