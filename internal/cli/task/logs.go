package task

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

func workerStopCmd(a *app.Run) *cobra.Command {
	var p task.WorkerStopParams
	c := &cobra.Command{
		Use: "stop <task>", Short: "Stop the command of a task, and keep the task",
		Args: app.ArgsBetween(1, 1, "the name of a task"),
		Long: "Ask all processes of the command to end, and kill those that still run after ten seconds. " +
			"The task stays as it is, and what the\n" +
			"command has committed or left in the worktree stays, too.",
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		p.TaskID, p.Where = args[0], path.Where()
		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerStopResult, error) {
			p.Caller = by
			return e.WorkerStop(c.Context(), p)
		}, func(p *term.Page, res task.WorkerStopResult) {
			if res.Already {
				p.Linef("the command of %s %s: %q", res.TaskID, res.Run.StateText(), stick.Name(res.Run.Command).Cut(160))
			} else {
				showStoppedRun(p, res.StoppedRun)
			}

			if res.NextAction != "" {
				p.Linef("next: %s", res.NextAction)
			}
		})
	}

	return c
}

// showStoppedRun shows a run that was stopped, and what was ended.
func showStoppedRun(p *term.Page, s task.StoppedRun) {
	p.Linef("run %d %s: %q", s.Run.Run, s.Run.StateText(), stick.Name(s.Run.Command).Cut(160))
	if len(s.Ended) > 0 {
		p.Linef("ended: %s", listProcesses(s.Ended))
	}
	if len(s.Left) > 0 {
		p.Linef("%s", p.Paint("31", term.Wordsf("can't be ended: %s", listProcesses(s.Left))))
	}
}

// listProcesses names processes.
func listProcesses(all []task.EndedProcess) stick.Words {
	const most = 10
	var text stick.Words
	for i, e := range all {
		if i == most {
			return stick.Wordsf("%s, and %d more", text, len(all)-most)
		}

		if i > 0 {
			text += ", "
		}

		text += stick.Wordsf("%d (%s)", e.PID, e.Name)
	}

	return text
}

// showRuns shows the runs of a task: the last one, and those before it in a line each.
func showRuns(p *term.Page, t task.WorkerShowResult) {
	const most = 10
	hidden := max(0, len(t.Runs)-most)
	for i, r := range t.Runs[hidden:] {
		name := ""
		if i == 0 {
			name = "command"
		}

		// A single run needs no number.
		var which stick.Words
		if len(t.Runs) > 1 {
			which = stick.Wordsf("run %d", r.Run)
			if r.Attempt != t.Attempt {
				which += stick.Wordsf(" of attempt %d", r.Attempt)
			}

			which += ": "
		}

		p.Linef("  %-12s %s%q (%s)", name, which, stick.Name(r.Command), r.StateText())
	}

	if hidden > 0 {
		p.Linef("  %-12s %s before are in --json", "", stick.Count(hidden, "run"))
	}

	if n := len(t.Runs); n > 0 {
		p.Linef("  %-12s %s", "output", p.Next(stick.Cmd("tt task logs <task_id>", t.TaskID)))
		r := t.Runs[n-1]
		if r.State.Live() || r.Waits {
			for _, often := range restartText(r) {
				showFact(p, "restart", often)
			}
		}
		if !r.RetryAt.IsZero() {
			showFact(p, "again in", stick.Age(max(0, r.RetryAt.Sub(p.Now))))
		}
	}
}

func workerLogsCmd(a *app.Run) *cobra.Command {
	var p task.WorkerLogsParams
	var follow bool
	lines := 100
	c := &cobra.Command{
		Use: "logs <task>", Short: "Show the output of a task's command",
		Args: app.ArgsBetween(1, 1, "the name of a task"),
		Long: "Show the end of what the command has printed, even while it runs. What Claude Code and Codex\n" +
			"write as JSON is shown as readable lines: tool and file, text, result. A bar begins each\n" +
			"line of it, because these are the words of the worker and its command, and not of tt. tt\n" +
			"prints on standard error how the command ended. Of a very long output tt keeps the first MiB\n" +
			"and the last 4 to 8 MiB, for 14 days; after that the last MiB.",
	}

	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the command ends")
	c.Flags().BoolVar(&p.Raw, "raw", false, "show the output as it was written, without bars; tags of harnesses stay broken, and "+
		"--json has every byte")
	c.Flags().IntVar(&lines, "lines", lines, "how many of the last lines to show; 0 for all that is kept")
	c.Flags().IntVar(&p.Run, "run", 0, "the number of a run in its attempt (default: the last one)")
	c.Flags().IntVar(&p.Attempt, "attempt", 0, "the attempt (default: the last one with a run)")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if lines < 0 || p.Run < 0 || p.Attempt < 0 {
			return stick.Errorf(stick.CodeUsage, "--lines, --run and --attempt can't be negative").
				With("field", "lines")
		}

		p.TaskID, p.Where, p.Lines = args[0], path.Where(), &lines
		return showLogs(c.Context(), a, p, follow)
	}

	return c
}

// showLogs shows the output of a worker's command.
func showLogs(ctx context.Context, a *app.Run, p task.WorkerLogsParams, follow bool) error {
	e, by, err := a.Open()
	if err != nil {
		return err
	}

	a.Reads, p.Caller = true, by
	called, log := ctx, newWorkerLog(a, p)
	if follow {
		var stop func()
		ctx, stop = a.UntilUnheard(ctx)
		defer stop()
		p.Follow = func(text string) error {
			if err := log.show(text); err != nil {
				return err
			}

			if a.Unheard {
				return app.ErrUnheard
			}

			return nil
		}
	}

	res, err := e.WorkerLogs(ctx, p)
	log.showRest()
	switch {
	case errors.Is(err, app.ErrUnheard), err != nil && ctx.Err() != nil && called.Err() == nil:
		// Nobody reads any more.
		return nil
	case err != nil:
		return err
	case a.JSON && follow:
		return a.PrintLine(res)
	case a.JSON:
		return a.Print(res, nil)
	}

	// This goes to standard error, because the output itself is the answer.
	if res.Before > 0 && !follow {
		_ = a.Sayf("tt: %s before this: --lines 0 shows all that is kept", stick.Count(res.Before, "byte"))
	}

	if !follow {
		if err := log.show(res.Text); err != nil {
			return err
		}
		log.showRest()
	}

	return a.Sayf("tt: run %d %s: %q", res.Run.Run, res.Run.StateText(), stick.Name(res.Run.Command).Cut(160))
}

// LogLine is a piece of a followed output, in JSON.
type LogLine struct {
	Text string `json:"text"`
}

// workerLog shows the output of a worker's command, piece by piece.
type workerLog struct {
	app   *app.Run
	task  string
	raw   bool
	begun bool
	rest  string // of raw output: what may be the start of a tag
}

func newWorkerLog(a *app.Run, p task.WorkerLogsParams) *workerLog {
	return &workerLog{app: a, task: p.TaskID, raw: p.Raw}
}

// show shows a piece of the output.
func (l *workerLog) show(text string) error {
	switch {
	case l.app.JSON:
		return l.app.PrintLine(LogLine{text})
	case l.raw:
		text, l.rest = splitTag(l.rest + text)
		l.app.WriteRaw(harness.BreakTags(text))
		return nil
	case text == "":
		return nil
	}

	p := l.app.NewPage()
	if !l.begun {
		p.Linef("the worker's command of %s printed:", l.task)
	}

	l.begun = true
	p.ShowOutput("", text)
	l.app.Write(p.Text())
	return nil
}

// showRest shows what a raw piece has left.
func (l *workerLog) showRest() {
	if l.rest != "" {
		l.app.WriteRaw(harness.BreakTags(l.rest))
		l.rest = ""
	}
}

// splitTag splits off the end of a text in which a tag may have begun that the next piece goes on with. One whose
// name may still go on after many characters is broken.
func splitTag(text string) (before, rest string) {
	const longest = 100
	i := strings.LastIndexByte(text, '<')
	switch {
	case i < 0:
		return text, ""
	case len(text)-i < longest:
		return text[:i], text[i:]
	}

	name, _ := stick.TagAt(text[i:])
	if longer, _ := stick.TagAt(text[i:] + "x"); longer != name {
		return text[:i] + "&lt;" + text[i+1:], ""
	}
	return text, ""
}
