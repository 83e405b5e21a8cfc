package task

import (
	"context"
	"path"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/diff"
	"talkingstick/stick/tasks"
)

// WorkerCommentParams comments on lines of a task's diff; or resolves a comment, or deletes a draft.
type WorkerCommentParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID  string `json:"task_id"`
	At      string `json:"at,omitempty"` // path:line or path:line-line
	Body    string `json:"body,omitempty"`
	Head    string `json:"head,omitempty"`    // empty for the commit that the caller has seen last
	Old     bool   `json:"old,omitempty"`     // the lines are those before the change
	Resolve int    `json:"resolve,omitempty"` // the comment that is dealt with
	Delete  int    `json:"delete,omitempty"`  // the draft to delete
}

// WorkerCommentResult is a comment, and how many the caller hasn't sent.
type WorkerCommentResult struct {
	RoomID  stick.RoomID  `json:"room_id"`
	AgentID stick.AgentID `json:"agent_id"`
	TaskID  string        `json:"task_id"`
	Comment stick.Comment `json:"comment"` // the one that was made, resolved or deleted
	Drafts  int           `json:"drafts"`  // the caller's, which its next decision on the task sends
	Already bool          `json:"already,omitempty"`
}

// WorkerComment keeps a draft of a comment, which the caller's next decision on the task sends to the worker.
// With Resolve or Delete it marks a comment as dealt with, or deletes a draft. It fails with
// [stick.CodeUsage], [stick.CodeNotFound], [stick.CodeMessageTooLarge], [stick.CodeInvalidTransition],
// [stick.CodeAuthorCannotReview], [stick.CodeReviewStale] and [stick.CodeNotYourTask].
func (ts *Tasks) WorkerComment(ctx context.Context, p WorkerCommentParams) (WorkerCommentResult, error) {
	var res WorkerCommentResult
	rp, err := ts.openForTask(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}

	if err := p.checkArguments(); err != nil {
		// What to do about the arguments leads nowhere without the task.
		if _, missing := rp.ReadTask(ctx, p.TaskID); missing != nil {
			return res, missing
		}
		return res, err
	}

	if p.Resolve+p.Delete != 0 {
		return res, rp.Write(ctx, core.MustBeMember, func(o *repository.Op) error { return settleComment(o, p, &res) })
	}

	// git is asked before the transaction.
	c, branch, err := rp.commentOn(ctx, p)
	if err != nil {
		return res, err
	}
	return res, rp.Write(ctx, core.MustBeMember, func(o *repository.Op) error {
		task, v, err := prepareReview(o, p.TaskID, c.Head, branch)
		if err != nil {
			return err
		}

		others, err := o.Tx.Comments(o.Room.ID, task.ID)
		if err != nil {
			return err
		}

		c.CreatedAt = o.Tx.Now()

		// The same comment twice is one.
		made, already, err := tasks.Comment(task, v, c, others)
		if err == nil && !already {
			err = o.Tx.PutCommentDraft(o.Room.ID, task.ID, made)
			others = append(others, made)
		}

		res = commentResult(o, task, made, others)
		res.Already = already
		return err
	})
}

// checkArguments refuses parameters that mean nothing, or several things at a time. It fails with
// [stick.CodeUsage].
func (p WorkerCommentParams) checkArguments() error {
	n := 0
	for _, given := range []bool{p.At != "" || p.Body != "", p.Resolve != 0, p.Delete != 0} {
		if given {
			n++
		}
	}

	switch {
	case n > 1:
		return stick.Errorf(stick.CodeUsage, "do one thing at a time: comment, resolve a comment, or delete a draft").
			With("field", "resolve")
	case n == 0 || p.At == "" && p.Body != "":
		return stick.Errorf(stick.CodeUsage, "name the lines that the comment is about").With("field", "at").
			Hintf("for example src/parse.go:12; to see the lines: %s",
				stick.Cmd("tt task diff <task_id>", stick.Clip(p.TaskID, 80)))
	case p.Resolve < 0 || p.Delete < 0:
		return stick.Errorf(stick.CodeUsage, "a comment's number is at least 1").
			With("field", "comment_id")
	}

	return nil
}

// commentResult returns the result for a comment. all are those on the task.
func commentResult(o *repository.Op, task stick.Task, c stick.Comment, all []stick.Comment) WorkerCommentResult {
	return WorkerCommentResult{
		RoomID: o.Room.ID, AgentID: o.Me.Agent, TaskID: task.ID, Comment: c,
		Drafts: len(draftsOf(all, o.Me.Agent)),
	}
}

// draftsOf returns the drafts of an agent among comments.
func draftsOf(all []stick.Comment, a stick.AgentID) (drafts []stick.Comment) {
	for _, c := range all {
		if c.Draft() && c.Author == a {
			drafts = append(drafts, c)
		}
	}
	return drafts
}

// settleComment resolves a comment or deletes a draft.
func settleComment(o *repository.Op, p WorkerCommentParams, res *WorkerCommentResult) error {
	if err := o.RequireMemberOrPerson(); err != nil {
		return err
	}

	task, err := repository.TaskOf(o.Tx, o.Room.ID, p.TaskID)
	if err != nil {
		return err
	}

	all, err := o.Tx.Comments(o.Room.ID, task.ID)
	if err != nil {
		return err
	}

	// One of the two numbers is 0. A comment that isn't there has only its number, which the rules refuse.
	c := stick.Comment{ID: p.Resolve + p.Delete}
	i := slices.IndexFunc(all, func(c stick.Comment) bool { return c.ID == p.Resolve+p.Delete })
	if i >= 0 {
		c = all[i]
	}
	if p.Delete != 0 {
		if err := tasks.DeleteDraft(task, o.TaskCall(0), c); err != nil {
			return err
		}

		*res = commentResult(o, task, c, slices.Delete(all, i, i+1))
		return o.Tx.DropCommentDraft(o.Room.ID, task.ID, c.ID)
	}

	ev, err := tasks.Resolve(task, o.TaskCall(0), c)
	if err != nil {
		return err
	}

	if ev != nil {
		o.AddTaskEvent(*ev)
		c.ResolvedAt, c.ResolvedBy = o.Tx.Now(), o.Me.Agent
	}

	*res = commentResult(o, task, c, all)
	res.Already = ev == nil
	return nil
}

// commentOn returns the comment that p means, without its number, and the commit of the task's branch. It
// fails with [stick.CodeUsage], and with [stick.CodeNotFound] if the diff doesn't have the lines.
func (rp *repo) commentOn(ctx context.Context, p WorkerCommentParams) (c stick.Comment, branch string, err error) {
	c = stick.Comment{Old: p.Old, Body: p.Body}
	if c.Path, c.Lines, err = parseAt(p.At); err != nil {
		return c, "", stick.AsError(err).
			Hintf("to see the lines: %s", stick.Cmd("tt task diff <task_id>", stick.Clip(p.TaskID, 80)))
	}

	head, branch, err := rp.resolveHeads(ctx, p.TaskID, p.Head)
	if err != nil {
		return c, "", err
	}

	var task stick.Task
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) error {
		if err := repository.RequireMemberOrPerson(r, me); err != nil {
			return err
		}
		if task, err = repository.TaskOf(tx, r.ID, p.TaskID); err == nil && head == "" {
			head, err = tx.SeenHead(r.ID, task.ID, me.Agent)
		}
		if err != nil {
			return err
		}

		v := tasks.Decision{Call: tasks.Call{By: me.Agent, Person: me.Person()}, Head: head, Branch: branch}

		// What is refused anyway is refused before git is asked.
		_, _, err = tasks.Comment(task, v, c, nil)
		return err
	})
	if err != nil {
		return c, "", err
	}

	// The diff that reviewers see begins where the branch left its base.
	d := diffLines{git: rp.Git, dir: rp.Root, to: head}
	if d.from, err = rp.Git.MergeBase(ctx, rp.Root, task.Base, head); err != nil {
		return c, "", err
	}

	c.Base, c.Head = d.from, head
	c.Around, err = d.requireLines(ctx, task.ID, c)
	return c, branch, err
}

// parseAt reads path:line or path:line-line. It fails with [stick.CodeUsage].
func parseAt(at string) (name string, lines stick.Lines, err error) {
	i := strings.LastIndexByte(at, ':')
	if i > 0 {
		name = path.Clean(at[:i])
		if l, ok := diff.ParseLines(at[i+1:]); ok && strings.ToValidUTF8(name, "") == name {
			return name, l, nil
		}
	}

	return "", lines, stick.Errorf(stick.CodeUsage,
		"write the lines like src/parse.go:12 or src/parse.go:12-15, not %q", stick.Clip(at, 80)).
		With("field", "at")
}

// diffLines is the diff between two commits, as far as comments on its lines need it.
type diffLines struct {
	git      git.Client
	dir      string
	from, to string
}

// findChange returns the file of a comment among those that a diff changes.
func findChange(changes []git.Change, c stick.Comment) (git.Change, bool) {
	i := slices.IndexFunc(changes, func(x git.Change) bool { return pathOnSide(x, c.Old) == c.Path })
	if i < 0 {
		return git.Change{}, false
	}
	return changes[i], true
}

// pathOnSide returns the path of a file before a change or after it.
func pathOnSide(x git.Change, old bool) string {
	if old {
		return x.From
	}
	return x.Path
}

// requireLines returns the lines around those of a comment, and fails with [stick.CodeNotFound] if the diff
// doesn't show them. The error names the nearest that it shows.
func (d diffLines) requireLines(ctx context.Context, task string, c stick.Comment) ([]stick.SourceLine, error) {
	changes, err := d.git.Changes(ctx, d.dir, d.from, d.to)
	if err != nil {
		return nil, err
	}

	x, found := findChange(changes, c)
	if !found {
		return nil, d.errNoFile(ctx, task, c, changes)
	}

	file, hs, err := d.readLines(ctx, x, c)
	if err != nil {
		return nil, err
	}

	// The lines have to be in the file, and near enough to a change to be shown.
	if c.Lines[1] > len(file) || !hs.Shows(c.Lines, c.Old) {
		return nil, errNoLines(task, c, x, hs.Nearest(c.Lines[0], len(file), c.Old))
	}
	return tasks.SourceAround(file, c.Lines, c.Old, hs), nil
}

// readLines returns the lines of a file, before or after the change as the comment says, and how the diff
// changes them.
func (d diffLines) readLines(ctx context.Context, x git.Change, c stick.Comment) ([]string, diff.Hunks, error) {
	hunks, err := d.git.Hunks(ctx, d.dir, d.from, d.to, []git.Change{x})
	if err != nil || len(hunks[x]) == 0 || pathOnSide(x, c.Old) == "" {
		return nil, nil, err
	}

	commit := d.to
	if c.Old {
		commit = d.from
	}

	text, _, err := d.git.ReadFile(ctx, d.dir, commit, pathOnSide(x, c.Old))
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), hunks[x], err
}

// errNoFile makes the error for a file that the diff doesn't change. It names the file that was probably
// meant.
func (d diffLines) errNoFile(ctx context.Context, task string, c stick.Comment, changes []git.Change) error {
	e := stick.Errorf(stick.CodeNotFound, "%s doesn't change %s", task, clipPath(c.Path)).With("task_id", task).
		With("path", clipPath(c.Path))

	// The path may be the one from before a rename or a deletion.
	if x := slices.IndexFunc(changes, func(x git.Change) bool { return !c.Old && x.From == c.Path }); x >= 0 &&
		changes[x].Path == "" {
		return e.Hintf("the task deletes the file; to comment on a line that it had: %s",
			stick.Cmd("tt task comment <task_id> <at> --old …", task, c.Arg()))
	} else if x >= 0 {
		c.Path = changes[x].Path
		return e.With("nearest", c.At()).
			Hintf("the task renames the file; to comment there: %s",
				stick.Cmd("tt task comment <task_id> <at> …", task, c.Arg()))
	}

	if c.Old && slices.Contains(changes, git.Change{Path: c.Path}) {
		return e.Hintf("the task adds the file, so it has no old lines; without --old: %s",
			stick.Cmd("tt task comment <task_id> <at> …", task, c.Arg()))
	}

	// Otherwise the path is probably misspelt: the nearest one that the diff changes is offered.
	var names []string
	for _, x := range changes {
		if name := pathOnSide(x, c.Old); name != "" {
			names = append(names, name)
		}
	}

	c.Path = stick.Nearest(c.Path, names)
	x, _ := findChange(changes, c)
	file, hs, err := d.readLines(ctx, x, c)
	near := hs.Nearest(c.Lines[0], len(file), c.Old)
	if err != nil || near == 0 {
		return e.Hintf("to see what it changes: %s", stick.Cmd("tt task diff <task_id>", task))
	}

	c.Lines = stick.Lines{near, near}
	return e.With("nearest", c.At()).Hintf("to comment on the nearest file that it "+
		"changes: %s", commentCmd(task, c))
}

// clipPath cuts a path that is too long for any file, so that it can be said.
func clipPath(s string) string {
	if len(s) <= maxSaidPath {
		return s
	}
	return strings.ToValidUTF8(s[:maxSaidPath], "") + "…"
}

// maxSaidPath is how many bytes of a path are repeated.
const maxSaidPath = 300

// errNoLines makes the error for lines that the diff doesn't show. near is the nearest that it does, 0 if
// there is none.
func errNoLines(task string, c stick.Comment, x git.Change, near int) error {
	e := stick.Errorf(stick.CodeNotFound, "the diff of %s doesn't show %s", task, clipPath(c.At())).
		With("task_id", task).With("path", c.Path)
	if near == 0 {
		return e.Hintf("comment on the whole task, since the diff shows no lines of that file: %s",
			stick.Cmd("tt task request-changes <task_id> …", task))
	}

	c.Lines = stick.Lines{near, near}
	return e.With("nearest", c.At()).Hintf("to comment on the nearest line that "+
		"it shows: %s", commentCmd(task, c))
}

// commentCmd is the command that makes a comment.
func commentCmd(task string, c stick.Comment) stick.Command {
	if c.Old {
		return stick.Cmd("tt task comment <task_id> <at> --old …", task, c.Arg())
	}
	return stick.Cmd("tt task comment <task_id> <at> …", task, c.Arg())
}
