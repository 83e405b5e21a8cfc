package task

import (
	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

func workerPRCmd(a *app.Run) *cobra.Command {
	var p task.WorkerPRParams
	c := &cobra.Command{
		Use: "pr <task>", Short: "Open a task's pull request, or see what became of it",
		Args: app.ArgsBetween(1, 1, "the name of a task"),
		Long: "Push the commit that a task's worker has offered, " +
			"and open a pull request for it with gh (GitHub), glab (GitLab)\n" +
			"or the command that [pr] in .talking-stick.toml names. " +
			"Run it again to push a newer commit, and to learn what became of\n" +
			"it: a task that was merged there is completed.",
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		p.TaskID, p.Where = args[0], path.Where()
		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerPRResult, error) {
			p.Caller = by
			return e.WorkerPR(c.Context(), p)
		}, func(p *term.Page, res task.WorkerPRResult) { showPullRequest(p, res) })
	}

	return c
}

// showPullRequest tells what became of a pull request.
func showPullRequest(p *term.Page, res task.WorkerPRResult) {
	switch pr := res.PullRequest; {
	case res.Opened:
		p.Linef("opened pull request #%d for %s: %s", pr.Number, res.TaskID, pr.URL)
	case res.Pushed != "":
		p.Linef("pushed %s to pull request #%d of %s: %s", abbrev(res.Pushed), pr.Number, res.TaskID, pr.URL)
	default:
		p.Linef("pull request #%d of %s is %s: %s", pr.Number, res.TaskID, pr.State, pr.URL)
	}

	if res.State == stick.TaskCompleted {
		p.Linef("%s is %s", res.TaskID, res.State)
	}

	showRemains(p, "", res.Remains)
	showStarted(p, res.Started)
	showReady(p, res.Ready)
	if res.Warning != "" {
		p.Linef("note: %s", res.Warning)
	}
	if res.Next != "" {
		p.Linef("it wasn't merged, and %s stays %s; %s", res.TaskID, res.State, res.Next)
	}
}

// pullRequest names a pull request in a few words, empty for none.
func pullRequest(pr stick.PullRequest) stick.Words {
	if pr.Number == 0 {
		return ""
	}
	return stick.Wordsf("#%d, %s: %s", pr.Number, pr.State, pr.URL)
}
