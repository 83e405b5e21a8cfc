package task

import (
	"cmp"
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// attemptOf returns the attempt that a command belongs to: from the flag, or from the mark that tt task new
// --run gave the command it started. The mark counts only for its own task.
func attemptOf(a *app.Run, task string, flag int) (int, error) {
	mark := a.Getenv(harness.TaskEnv)
	if flag != 0 || mark == "" {
		return flag, nil
	}

	m, ok := edits.ParseTaskMark(mark)
	if !ok {
		return 0, stick.Errorf(stick.CodeUsage, "%s must be <room>/<task>/<attempt>, as tt sets it; it is %q",
			harness.TaskEnv, stick.Clip(mark, 80)).
			With("field", harness.TaskEnv)
	}

	if task != "" && !strings.EqualFold(task, m.Task) {
		return 0, nil
	}
	return m.Attempt, nil
}

// workerFlags adds the flags of a worker's commands, which by default mean the task of the worktree they run
// in.
func workerFlags(c *cobra.Command, task *string, attempt *int) *app.PlaceFlags {
	c.Flags().StringVar(task, "task", "", "the task (default: that of this worktree)")
	c.Flags().IntVar(attempt, "attempt", 0, "your attempt; if it is over, the command is refused")
	return app.AddPlaceFlags(c)
}

func workerStartCmd(a *app.Run) *cobra.Command {
	var p task.WorkerStartParams
	c := &cobra.Command{Use: "start", Short: "Start the task of this worktree", Args: app.NoArgs}
	path := workerFlags(c, &p.TaskID, &p.Attempt)
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		p.Where = path.Where()
		if p.Attempt, err = attemptOf(a, p.TaskID, p.Attempt); err != nil {
			return err
		}

		told := false
		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerStartResult, error) {
			p.Caller = by
			told = hasPrompt(c.Context(), a, e, p)
			return e.WorkerStart(c.Context(), p)
		}, func(p *term.Page, res task.WorkerStartResult) {
			p.Linef("%s is %s: you are its worker%s", res.TaskID, res.State, app.AlreadyText(res.Already))
			if res.Note != "" {
				p.Linef("note: %s", res.Note)
			}

			if told {
				p.Linef("do what your prompt says; to see it again: %s", p.Next(stick.Cmd("tt task prompt")))
				return
			}

			p.Linef("")
			p.ShowBlock(res.Prompt)
		})
	}

	return c
}

// hasPrompt reports whether the worker that begins a task was started with the task's prompt: its first command
// of the attempt runs in a command of tt task new --run that reads the prompt. Anybody else needs it, also the
// worker that starts again.
func hasPrompt(ctx context.Context, a *app.Run, e app.Operations, p task.WorkerStartParams) bool {
	m, ok := edits.ParseTaskMark(a.Getenv(harness.TaskEnv))
	if !ok {
		return false
	}

	t, err := e.WorkerShow(ctx, task.WorkerShowParams{Caller: p.Caller, Where: p.Where, TaskID: cmp.Or(p.TaskID, m.Task)})
	if err != nil || t.Run == nil || t.State != stick.TaskAssigned {
		return false
	}

	return strings.EqualFold(t.TaskID, m.Task) && t.Run.Attempt == m.Attempt && readsPrompt().MatchString(t.Run.Command)
}

// readsPrompt matches a shell command that reads the prompt of its task.
var readsPrompt = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(task|worker) prompt\b`)
})

func workerDoneCmd(a *app.Run) *cobra.Command {
	var p task.WorkerDoneParams
	c := &cobra.Command{
		Use: "done", Short: "Rebase your commits and ask for a review", Args: app.NoArgs,
		Long: "Rebase the task's branch onto its integration branch, and ask for a review of the result. " +
			"Commit everything\n" +
			"first. If the rebase stops at a conflict, tt leaves it in progress: resolve it, " +
			"run git rebase --continue, and then run\n" +
			"tt task done --skip-rebase.",
	}

	c.Flags().BoolVar(&p.SkipRebase, "skip-rebase", false, "don't rebase: you have resolved a conflict")
	c.Flags().StringArrayVar(&p.Evidence, "evidence", nil,
		"a check, as name=command: run it in the worktree and show the reviewer how it ended; repeatable")
	path := workerFlags(c, &p.TaskID, &p.Attempt)

	c.RunE = func(c *cobra.Command, args []string) (err error) {
		p.Where = path.Where()
		if p.Attempt, err = attemptOf(a, p.TaskID, p.Attempt); err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerDoneResult, error) {
			p.Caller = by
			return e.WorkerDone(c.Context(), p)
		}, func(p *term.Page, res task.WorkerDoneResult) {
			// The same change on a newer base needs no second review.
			waits := stick.Words("waits for review")
			if res.State == stick.TaskApproved {
				waits = "waits to be merged"
			}

			p.Linef("%s is %s: commit %s %s%s", res.TaskID, res.State, abbrev(res.Head), waits, app.AlreadyText(res.Already))
			if res.Kept {
				p.Linef("the change is the same as the approved one, on a newer base, so it stays approved")
			}
			if res.Rebased {
				p.Linef("rebased onto %s", abbrev(res.Base))
			}
			if res.Pushed != "" {
				p.Linef("pushed to %s", res.Pushed)
			}

			for _, x := range res.Evidence {
				p.Linef("check %s: exit status %d", x.Name, x.Exit)
			}

			if res.Warning != "" {
				p.Linef("warning: %s", res.Warning)
			}
		})
	}

	return c
}

func workerHeartbeatCmd(a *app.Run) *cobra.Command {
	var p task.WorkerHeartbeatParams
	c := &cobra.Command{Use: "heartbeat", Short: "Say that you are working, if nothing else shows it", Args: app.NoArgs}
	path := workerFlags(c, &p.TaskID, &p.Attempt)
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		p.Where = path.Where()
		if p.Attempt, err = attemptOf(a, p.TaskID, p.Attempt); err != nil {
			return err
		}
		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerHeartbeatResult, error) {
			p.Caller = by
			return e.WorkerHeartbeat(c.Context(), p)
		}, func(p *term.Page, res task.WorkerHeartbeatResult) { p.Linef("%s is %s", res.TaskID, res.State) })
	}

	return c
}

func workerFailCmd(a *app.Run) *cobra.Command {
	var p task.WorkerFailParams
	c := &cobra.Command{
		Use: "fail <reason>", Short: "Give up the task; its branch stays", Args: app.ArgsBetween(1, 1, "a reason"),
	}
	path := workerFlags(c, &p.TaskID, &p.Attempt)
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		p.Where, p.Reason = path.Where(), args[0]
		if p.Attempt, err = attemptOf(a, p.TaskID, p.Attempt); err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerHeartbeatResult, error) {
			p.Caller = by
			return e.WorkerFail(c.Context(), p)
		}, func(p *term.Page, res task.WorkerHeartbeatResult) {
			p.Linef("%s is %s%s", res.TaskID, res.State, app.AlreadyText(res.Already))
		})
	}

	return c
}
