package task

import (
	"context"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

func workerNextCmd(a *app.Run) *cobra.Command {
	var p task.WorkerNextParams
	var run runFlags
	var wait, review bool
	var timeout app.TimeoutFlag
	c := &cobra.Command{
		Use: "next [path]", Short: "Take the oldest task that is ready to begin", Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Take a task that nobody has begun and that waits for no other one. The highest priority comes\n" +
			"first, then the oldest task. tt makes its branch and its worktree, and you become its worker. If many agents ask at once, each gets a\n" +
			"different task. If you work on a task already, you get that one again. If none is ready, the\n" +
			"exit status is 4, unless you --wait. With --run, a command is started in the worktree, and\n" +
			"becomes the worker.\n\n" +
			"With --review, tt names the commit that has waited longest for a review, among those that you\n" +
			"may review.",
	}

	run.addFlags(c, "a shell command to start in the worktree, in the background")
	c.Flags().BoolVar(&review, "review", false, "name the oldest commit that you may review, instead of a task")
	addLabelFlag(c, &p.Labels, "only tasks that have all of these labels, separated by commas")
	c.Flags().BoolVar(&wait, "wait", false, "wait until a task is ready")
	timeout.AddFlag(c, "with --wait: give up after this time (default: wait forever)")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if p.Where, err = path.WhereOf(args, 0); err != nil {
			return err
		}

		limit, err := timeout.Milliseconds(c)
		if err != nil {
			return err
		}

		if limit != nil && !wait {
			return stick.Errorf(stick.CodeUsage, "--timeout needs --wait").With("field", "timeout")
		}

		if review && (run.command != "" || run.restart != "") {
			return stick.Errorf(stick.CodeUsage, "--review takes no --run and no --restart: there is nothing to begin").
				With("field", "review")
		}
		if review {
			q := task.NextReviewParams{Where: p.Where, Labels: p.Labels}
			return app.Answer(a, func(e app.Operations, by core.Caller) (res task.NextReviewResult, err error) {
				q.Caller = by
				err = tryUntilReady(c.Context(), a, e, by, p.Where, wait, limit, func() (err error) {
					res, err = e.NextReview(c.Context(), q)
					return err
				}, stick.EventTaskReviewRequested)
				return res, err
			}, showReview)
		}

		p.Unbound = run.command != ""

		// Without a command the caller itself becomes the worker.
		if !p.Unbound && run.restart == "" {
			return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerNextResult, error) {
				p.Caller = by
				return takeNextTask(c.Context(), a, e, p, wait, limit)
			}, showTaken)
		}

		return spawnTask(a, run, func(e app.Operations, by core.Caller) (task.WorkerSpawnResult, error) {
			p.Caller = by
			res, err := takeNextTask(c.Context(), a, e, p, wait, limit)
			if err != nil {
				return task.WorkerSpawnResult{}, err
			}

			return startNext(c.Context(), e, p, res, run)
		})
	}

	return c
}

// takeNextTask takes a task. With wait it waits until one is ready, for at most so many milliseconds.
func takeNextTask(
	ctx context.Context, a *app.Run, e app.Operations, p task.WorkerNextParams, wait bool, limit *int64,
) (res task.WorkerNextResult, err error) {
	err = tryUntilReady(ctx, a, e, p.Caller, p.Where, wait, limit, func() (err error) {
		res, err = e.WorkerNext(ctx, p)
		return err
	}, stick.EventTaskCompleted, stick.EventTaskAssigned, stick.EventTaskAfter, stick.EventTaskEdited, stick.EventTaskRetried)
	return res, err
}

// tryUntilReady calls try. If wait is set, it calls it again after each event of one of the types, until there is
// something, for at most so many milliseconds.
func tryUntilReady(
	ctx context.Context, a *app.Run, e app.Operations, by core.Caller, w core.Where, wait bool, limit *int64,
	try func() error, types ...stick.EventType,
) error {
	// A task is ready without an event if whoever was beginning it has died.
	const look = 60_000
	began := a.CurrentTime()
	for {
		err := try()
		switch stick.CodeOf(err) {
		case stick.CodeNothingReady, stick.CodeAlreadyExists, stick.CodeInvalidPath:
			// What is in the way of a task may be moved while this waits.
			if !wait {
				return err
			}
		default:
			return err
		}

		rest := int64(look)
		if limit != nil {
			if rest = min(rest, *limit-a.CurrentTime().Sub(began).Milliseconds()); rest <= 0 {
				return err
			}
		}

		// The refusal says up to which event it has looked, so that no later one is missed.
		seen, _ := stick.AsError(err).Fields["event_seq"].(int64)
		_, err = e.WaitForEvents(ctx, eventlog.WaitForEventsParams{
			Caller: by, Where: w, MaxWaitMS: &rest,
			EventFilter: eventlog.EventFilter{Target: eventlog.TargetAny, After: seen, Types: types},
		})
		if err != nil {
			return err
		}
	}
}

// showReview names a commit that waits for the caller's review.
func showReview(p *term.Page, res task.NextReviewResult) {
	p.Linef("%s waits for your review: commit %s of %s, offered %s",
		res.TaskID, abbrev(res.Head), res.Worker, p.Ago(res.Since))
	if res.Description != "" {
		p.Linef("  %s", stick.Quote(res.Description, 160))
	}
	if res.More > 0 {
		p.Linef("after it: %s", stick.Count(res.More, "more commit"))
	}
	p.Linef("next: %s", res.NextAction)
}

// startNext starts the command of a task that was taken for it. It returns what spawn does.
func startNext(
	ctx context.Context, e app.Operations, p task.WorkerNextParams, taken task.WorkerNextResult, run runFlags,
) (task.WorkerSpawnResult, error) {
	shown, err := e.WorkerContext(ctx, task.WorkerContextParams{Caller: p.Caller, Where: p.Where, TaskID: taken.TaskID})
	res := task.WorkerSpawnResult{
		RoomID: taken.RoomID, AgentID: taken.AgentID, Worktree: taken.Worktree, Task: shown.TaskView,
		Joined: taken.Joined, CopiedFiles: taken.CopiedFiles,
	}
	if err != nil {
		return res, err
	}

	started, err := e.WorkerRun(ctx, task.WorkerRunParams{
		Caller: p.Caller, Where: core.Where{Path: res.Worktree}, TaskID: taken.TaskID,
		Command: run.command, Restart: run.restart, First: true,
	})

	res.Task.Run, res.Begun = &started.Run, !started.Already
	return res, err
}

// showTaken shows a task that the caller has taken.
func showTaken(p *term.Page, res task.WorkerNextResult) {
	p.Linef("%s is %s: you are its worker%s", res.TaskID, res.State, app.AlreadyText(res.Already))
	p.Linef("worktree: %s", res.Worktree)
	showCopied(p, res.CopiedFiles)
	p.Linef("")
	p.ShowBlock(res.Prompt)
}

// showCopied says which files a new worktree got copies of.
func showCopied(p *term.Page, c task.CopiedFiles) {
	if len(c.Copied) > 0 {
		p.Linef("copied:   %s", app.PathNames(c.Copied))
	}
	for _, why := range c.LeftOut {
		p.Linef("not copied: %s", why)
	}
}

func workerAfterCmd(a *app.Run) *cobra.Command {
	var p task.WorkerAfterParams
	var none bool
	c := &cobra.Command{
		Use: "after <task> [other-task]…", Short: "Change which tasks a task waits for",
		Args: app.ArgsBetween(1, tasks.MaxAfter+1, "the name of a task, and those that it is to wait for"),
		Long: "Change which tasks a task waits for, before anybody begins it. It is ready when all the tasks " +
			"that you name have landed, and no longer waits for any others. " +
			"A task can't wait for itself, not even through others.",
	}

	c.Flags().BoolVar(&none, "none", false, "let it wait for no other task")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		p.TaskID, p.After, p.Where = args[0], args[1:], path.Where()

		// One of both has to be said, so that a forgotten name doesn't free a task.
		if none != (len(p.After) == 0) {
			return stick.Errorf(stick.CodeUsage, "name the tasks that %s should wait for, or use --none",
				stick.Clip(p.TaskID, 64)).With("field", "after").With("task_id", stick.Clip(p.TaskID, 64)).
				Hintf("%s", stick.Cmd("tt task after <task_id> --none"))
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerAfterResult, error) {
			p.Caller = by
			return e.WorkerAfter(c.Context(), p)
		}, func(p *term.Page, res task.WorkerAfterResult) {
			p.Linef("%s %s%s", res.Task.TaskID, waitText(res.Task), app.AlreadyText(res.Already))
			showStarted(p, res.Started)
		})
	}

	return c
}

// waitText says what a task that is for later waits for.
func waitText(t task.TaskView) term.Text {
	if t.Ready {
		return "is ready to begin"
	}
	var names []string
	for _, d := range t.WaitsFor {
		names = append(names, d.TaskID)
	}
	return term.Wordsf("waits for %s", app.PathNames(names))
}

// showReady names the tasks that can begin because another one has landed.
func showReady(p *term.Page, tasks []string) {
	if len(tasks) > 0 {
		p.Linef("ready to begin now: %s; an agent takes one: %s", app.PathNames(tasks), p.Next(stick.Cmd("tt task next")))
	}
}

// showStarted shows the commands that tt has started by itself.
func showStarted(p *term.Page, started []task.StartedTask) {
	for _, s := range started {
		is, what := term.Wordsf("%s is ready", s.TaskID), term.Wordsf("started")
		if s.Resume != nil {
			is, what = term.Wordsf("%s goes on", s.TaskID), term.Wordsf("started run %d", s.Run)
		}

		switch {
		case s.Error != "" && s.Resume == nil:
			p.Linef("%s, but its command wasn't started: %s", is, s.Why)
		case s.Error != "":
			p.Linef("the command of %s wasn't started: %s", s.TaskID, s.Why)
		case s.Queued:
			p.Linef("%s; as soon as fewer commands run, tt starts: %q", is, stick.Name(s.Command))
		default:
			p.Linef("%s; %s: %q", is, what, stick.Name(s.Command))
		}

		if s.Hint != "" {
			p.Linef("  next: %s", s.Hint)
		}
	}
}
