package pull

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"talkingstick/internal/forge"
	"talkingstick/internal/task/command"
	"talkingstick/stick"
)

// A project may name a command of its own that opens pull requests, instead of the program of a forge: [pr]
// command. It runs in the workspace's root, once a person has accepted it. What it finds in its environment,
// and has to print, is for ever: projects write such commands.
const (
	prAction = "TT_PR_ACTION" // open or state
	prTask   = "TT_TASK_ID"
	prBranch = "TT_PR_BRANCH" // of the task, pushed already
	prBase   = "TT_PR_BASE"   // the branch to merge into
	prHead   = "TT_PR_HEAD"   // the commit that the worker has offered
	prTitle  = "TT_PR_TITLE"  // to open
	prURL    = "TT_PR_URL"    // whose state is asked
)

// runCommand runs the project's command, and returns the last line that it prints.
func (q *pullRun) runCommand(ctx context.Context, action, text string, env ...string) (string, error) {
	out, err := q.requests.askProgram(ctx, programCall{
		args: command.ShellArguments(q.command), dir: q.Root, input: text,
		env: append(env, prAction+"="+action, prTask+"="+q.task.ID, prBranch+"="+q.task.Branch, prBase+"="+q.task.Integration, prHead+"="+q.task.Head),
	})

	if f, ok := errors.AsType[*programError](err); ok {
		return "", f.asError("the command of pr.command").With("command", q.command).
			Hintf("it ran in %s with %s=%s; mend it, and run the same command again", q.Root, prAction, action)
	}

	// A command may print what it does. Only its last line is the answer.
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(lines[len(lines)-1]), err
}

// errCommand says that the project's command printed something else than it should as its last line.
func (q *pullRun) errCommand(action, last string, want stick.Words) error {
	return stick.Errorf(stick.CodeForgeFailed,
		"the last line that the command of pr.command printed isn't %s: %q", want, stick.Clip(last, 100)).
		With("command", q.command).
		Hintf("it ran in %s with %s=%s; mend it, and run the same command again", q.Root, prAction, action)
}

// openByCommand has the project's command open a pull request. If there is one already, the command prints
// its address: so a run that was killed in between is no reason for a second one.
func (q *pullRun) openByCommand(ctx context.Context, o forge.Offer) error {
	last, err := q.runCommand(ctx, "open", o.Body, prTitle+"="+o.Title)
	if err != nil {
		return err
	}

	pr := stick.PullRequest{Number: numberIn(last), URL: last, State: stick.PullOpen, Head: q.task.Head}
	if pr.Check() != nil {
		return q.errCommand("open", last, "the web address of a pull request, with its number")
	}

	q.opened = pr
	return nil
}

// askCommand asks the project's command for the state of the task's pull request. ok is false if there is
// none.
func (q *pullRun) askCommand(ctx context.Context) (pr stick.PullRequest, ok bool, err error) {
	// What was opened a moment ago is known.
	if q.opened.Number != 0 {
		return q.opened, true, nil
	}

	pr = q.task.PR
	if pr.Number == 0 {
		return pr, false, nil
	}

	last, err := q.runCommand(ctx, "state", "", prURL+"="+pr.URL)
	if err != nil {
		return pr, false, err
	}

	state, commit, _ := strings.Cut(last, " ")
	pr.State, pr.Commit = stick.PullState(state), strings.TrimSpace(commit)
	if pr.Check() != nil || pr.Commit != "" && pr.State != stick.PullMerged {
		return pr, false, q.errCommand("state", last, "open, closed, merged, or merged with a full commit")
	}

	// An open pull request is about the branch at the remote, as that is now.
	if pr.State == stick.PullOpen {
		at, err := q.Git.RemoteBranch(ctx, q.Root, q.target.Remote, q.task.Branch)
		if err != nil {
			return pr, false, err
		}

		pr.Head = cmp.Or(at, pr.Head)
	}

	return pr, true, nil
}

var lastNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([0-9]{1,9})[^0-9]*$`)
})

// numberIn returns the number of a pull request with this address: the last one in its path. It is 0 if there
// is none.
func numberIn(address string) int {
	u, err := url.Parse(address)
	if err != nil {
		return 0
	}

	m := lastNumber().FindStringSubmatch(u.Path)
	if m == nil {
		return 0
	}

	n, _ := strconv.Atoi(m[1])
	return n
}
