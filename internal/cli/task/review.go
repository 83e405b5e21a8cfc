package task

import (
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/diff"
)

func workerApproveCmd(a *app.Run) *cobra.Command {
	var p task.WorkerApproveParams
	c := &cobra.Command{
		Use: "approve <task>", Short: "Approve a task's commit and queue it for merging",
		Args: app.ArgsBetween(1, 1, "the name of a task"),
		Long: "Approve exactly the commit that you last saw with show or diff, " +
			"or the one that --head names. If the branch has moved since,\n" +
			"tt refuses. Whoever worked on a task can't approve it. Your drafts of comments go to the worker.",
	}

	c.Flags().StringVar(&p.Head, "head", "", "the commit to approve (default: the one you saw last)")
	c.Flags().StringVarP(&p.Reason, "reason", "m", "", "a comment for the log")
	c.Flags().BoolVar(&p.Override, "override", false, "people only: approve without review, whoever did the work")
	c.Flags().BoolVar(&p.Merge, "merge", false, "tt merges it by itself as soon as it can, in the background")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		p.TaskID, p.Where = args[0], path.Where()
		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerReviewResult, error) {
			p.Caller = by
			return e.WorkerApprove(c.Context(), p)
		}, func(p *term.Page, res task.WorkerReviewResult) {
			p.Linef("%s is %s: commit %s%s", res.TaskID, res.State, abbrev(res.Head), app.AlreadyText(res.Already))
			showDelivery(p, res)
			if res.Note != "" {
				p.Linef("note: %s", res.Note)
			}

			if res.Merges {
				p.Linef("tt merges it by itself; to follow that: %s",
					p.Next(stick.Cmd("tt task merge <task_id> --wait", res.TaskID)))
				return
			}

			p.Linef("next: %s", p.Next(stick.Cmd("tt task merge <task_id>", res.TaskID)))
		})
	}

	return c
}

func workerChangesCmd(a *app.Run, use string) *cobra.Command {
	var p task.WorkerRequestChangesParams
	var stdin bool
	c := &cobra.Command{
		Use: use + " <task> [what]", Short: "Return a task to its worker, and say what must change",
		Args: app.ArgsBetween(1, 2, "the name of a task, and what must change"),
		Long: "Return a task to its worker, who gets what you say and your drafts of comments in one " +
			"message. If you have drafted comments, you needn't add anything.",
	}

	c.Flags().StringVar(&p.Head, "head", "", "the commit you mean (default: the one you saw last)")
	c.Flags().BoolVar(&stdin, "stdin", false, "read what must change from standard input")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) (err error) {
		p.TaskID, p.Where = args[0], path.Where()
		switch {
		case stdin && len(args) > 1:
			return stick.Errorf(stick.CodeUsage, "say what must change on the command line or on standard "+
				"input, not on both").With("field", "reason")
		case stdin:
			if p.Reason, err = app.ReadBody(a.Input(), stick.MaxBody); err != nil {
				return err
			}
		case len(args) > 1:
			p.Reason = args[1]
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerReviewResult, error) {
			p.Caller = by
			return e.WorkerRequestChanges(c.Context(), p)
		}, func(p *term.Page, res task.WorkerReviewResult) {
			p.Linef("%s is %s again%s", res.TaskID, res.State, app.AlreadyText(res.Already))
			showDelivery(p, res)
			if res.Note != "" {
				p.Linef("note: %s", res.Note)
			}

			showStarted(p, res.Started)
			if res.Next != "" {
				p.Linef("next: %s", res.Next)
			}
		})
	}

	return c
}

// showDelivery says how a decision reached the worker, and with how many comments.
func showDelivery(p *term.Page, res task.WorkerReviewResult) {
	var with stick.Words
	if res.Comments > 0 {
		with = ", with " + stick.Count(res.Comments, "comment")
	}
	if res.MessageID != 0 {
		p.Linef("told %s by message %d (%s)%s",
			res.Worker, res.MessageID, stick.Words(strings.ReplaceAll(string(res.Delivery), "_", " ")), with)
	}
}

func workerDiffCmd(a *app.Run) *cobra.Command {
	var p task.WorkerDiffParams
	var stat bool
	c := &cobra.Command{
		Use: "diff <task>", Short: "Show what a task changes", Args: app.ArgsBetween(1, 1, "the name of a task"),
	}
	c.Flags().BoolVar(&stat, "stat", false, "show only which files change, and by how much")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		p.TaskID, p.Where = args[0], path.Where()
		return app.Show(a, func(e app.Operations, by core.Caller) (task.WorkerDiffResult, error) {
			p.Caller = by
			res, err := e.WorkerDiff(c.Context(), p)

			// The text is left out here, so that JSON lacks it as well.
			if stat {
				res.Diff, res.Cut = "", false
			}

			return res, err
		}, func(p *term.Page, res task.WorkerDiffResult) {
			// A task that was never worked on has nothing to show.
			if res.Head == "" {
				p.Linef("%s has no commits", res.TaskID)
				return
			}

			p.Linef("%s, %s: %s..%s", p.Strong(term.Wordsf("%s", res.TaskID)), res.State, abbrev(res.Base), abbrev(res.Head))
			if res.ChangesGate {
				p.Linef("%s", p.Strong(term.Wordsf("%s", gateMark(res.GateFiles))))
			}
			if len(res.Conflicts) > 0 {
				p.Linef("%s", p.Paint("31",
					term.Wordsf("it conflicts with the branch that it is for, in %s", app.PathNames(res.Conflicts))))
			}

			showStats(p, res.Files)
			if !stat {
				showCommentedPatch(p, res.Diff, res.Comments)
			}
			if res.Cut {
				p.Linef("the rest is cut off; for all of it: git diff %s %s", res.Base, res.Head)
			}
		})
	}

	return c
}

// showStats lists the files that change, and by how much.
func showStats(p *term.Page, files []diff.FileStat) {
	for _, f := range files {
		name, lines := term.FileName(f.Path), stick.Words("binary")
		if f.From != "" {
			name = term.FileName(f.From) + " => " + name
		}

		// git counts no lines of a binary file.
		if f.Added >= 0 {
			lines = stick.Wordsf("+%d -%d", f.Added, f.Deleted)
		}

		p.Linef("  %12s  %s", lines, name)
	}
}

func workerCancelCmd(a *app.Run) *cobra.Command {
	var p task.WorkerCancelParams
	c := &cobra.Command{
		Use: "cancel <task>", Short: "Cancel a task; its branch stays",
		Args: app.ArgsBetween(1, 1, "the name of a task"),
	}
	c.Flags().StringVarP(&p.Reason, "reason", "m", "", "why (tt tells its worker)")
	c.Flags().BoolVar(&p.Delete, "delete", false,
		"also remove the branch and the worktree; what isn't merged is kept elsewhere for 14 days")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		p.TaskID, p.Where = args[0], path.Where()
		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerCancelResult, error) {
			p.Caller = by
			return e.WorkerCancel(c.Context(), p)
		}, func(p *term.Page, res task.WorkerCancelResult) {
			p.Linef("%s is %s%s", res.TaskID, res.State.Word(res.Cause), app.AlreadyText(res.Already))
			if res.Stopped != nil {
				showStoppedRun(p, *res.Stopped)
			}

			for _, l := range res.Kept {
				p.Linef("kept: %s", l)
			}

			for _, l := range res.Removed {
				p.Linef("removed: %s", l)
			}

			showRemains(p, "", res.Remains)
			if res.Note != "" {
				p.Linef("note: %s", res.Note)
			}

			if res.Free {
				p.Linef("nothing is left of it, so a new task may have its name: %s",
					p.Next(stick.Cmd("tt task new <task_id>", res.TaskID)))
			}
			p.Linef("to begin again: %s", p.Next(stick.Cmd("tt task retry <task_id>", res.TaskID)))
		})
	}

	return c
}

func workerRetryCmd(a *app.Run) *cobra.Command {
	var p task.WorkerRetryParams
	var run runFlags
	c := &cobra.Command{
		Use: "retry <task>", Short: "Start another attempt at a task that failed",
		Args: app.ArgsBetween(1, 1, "the name of a task"),
		Long: "Start another attempt, on the task's branch if it still exists. " +
			"Commands of workers from earlier attempts are refused.",
	}

	run.addFlags(c, "a command to start in the worktree, as with spawn")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		p.TaskID, p.Where, p.Run, p.Restart = args[0], path.Where(), run.command, run.restart
		return spawnTask(a, run, func(e app.Operations, by core.Caller) (task.WorkerSpawnResult, error) {
			p.Caller = by
			return e.WorkerRetry(c.Context(), p)
		})
	}

	return c
}

func workerRollbackCmd(a *app.Run) *cobra.Command {
	var p task.WorkerRollbackParams
	c := &cobra.Command{
		Use: "rollback <task>", Short: "Revert a merged task", Args: app.ArgsBetween(1, 1, "the name of a task"),
	}
	c.Flags().StringVarP(&p.Reason, "reason", "m", "", "why")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		p.TaskID, p.Where = args[0], path.Where()
		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerRollbackResult, error) {
			l := a.StartProgress(true)
			defer l.End()
			p.Caller, p.Shows = by, showsGate(a, l)
			p.Waits = func(on string, r task.Runner) { sayMergeWaits(a, on, r) }
			return e.WorkerRollback(c.Context(), p)
		}, func(p *term.Page, res task.WorkerRollbackResult) {
			p.Linef("reverted %s on %s: %s%s", res.TaskID, res.Branch, abbrev(res.Commit), app.AlreadyText(res.Already))
			if res.Note != "" {
				p.Linef("note: %s", res.Note)
			}

			p.Linef("to try again: %s", p.Next(stick.Cmd("tt task retry <task_id>", res.TaskID)))
		})
	}

	return c
}
