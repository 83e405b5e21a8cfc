package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"talkingstick/internal/bell"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// Bounds of what is shown of an output.
const (
	defaultLines = 100
	mostTail     = 1 << 20 // bytes, unless all lines are asked for
	mostLine     = 4 << 20 // a longer line is shown in pieces: no harness writes such a one
)

// WorkerLogsParams asks for the output of a worker's command.
type WorkerLogsParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID  string `json:"task_id"`
	Attempt int    `json:"attempt,omitempty"` // 0 for the last one with a run
	Run     int    `json:"run,omitempty"`     // of the attempt; 0 for the last one
	Lines   *int   `json:"lines,omitempty"`   // how many of the last lines; 0 for all that is kept; null for 100

	// as the command has written it; else what harnesses write as JSON is shown as readable lines
	Raw bool `json:"raw,omitempty"`

	// Follow gets what is there and then what comes, until the run has ended. It may be nil. Of what isn't
	// raw it gets whole lines.
	Follow func(text string) error `json:"-"`
}

// WorkerLogsResult is the output of a worker's command, as far as it is kept.
type WorkerLogsResult struct {
	RoomID stick.RoomID `json:"room_id"`
	TaskID string       `json:"task_id"`
	Run    RunView      `json:"run"`
	Text   string       `json:"text"`   // empty if it went to Follow
	Before int64        `json:"before"` // how many bytes of output there were before the text
	Size   int64        `json:"size"`   // the number of bytes of the whole output so far
}

// WorkerLogs returns the end of what a worker's command has written, also while it runs. With p.Follow it
// goes on until the run has ended. It fails with [stick.CodeNotFound] if there is no such run, and with
// [stick.CodeElsewhere] if it runs on another host.
func (rs *Runs) WorkerLogs(ctx context.Context, p WorkerLogsParams) (res WorkerLogsResult, err error) {
	l := logReader{runs: rs, p: p}
	if err := l.loadRun(ctx); err != nil {
		return res, err
	}
	if p.Follow == nil {
		var text bytes.Buffer
		l.show = func(s string) error {
			text.WriteString(s)
			return nil
		}

		err = errors.Join(l.findStart(ctx), l.showAvailable(), l.showRest())
		res.Text = text.String()
	} else {
		l.show = p.Follow
		err = l.followRun(ctx)
	}

	res.RoomID, res.TaskID, res.Run, res.Before, res.Size = l.room, l.task.ID, rs.ViewRun(l.run), l.before, l.at
	return res, err
}

// logReader is one reading of a run's output.
type logReader struct {
	runs *Runs
	p    WorkerLogsParams

	room          stick.RoomID
	task          stick.Task
	run           tasks.Run
	otherCheckout stick.Words // where the run is, if that is another checkout

	from   output
	until  int64  // where a reading that doesn't follow ends
	at     int64  // of the next byte to read
	before int64  // where it has begun
	rest   []byte // the start of a line
	show   func(string) error
}

// loadRun reads the run.
func (l *logReader) loadRun(ctx context.Context) error {
	return l.runs.core.Read(ctx, l.p.Where, l.p.Caller, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) (err error) {
		l.room = r.ID
		if l.task, err = repository.TaskOf(tx, r.ID, l.p.TaskID); err != nil {
			return err
		}
		if l.task.Elsewhere(tx.CheckoutOf(r)) {
			l.otherCheckout = repository.NameCheckout(tx, l.task.In)
		}

		runs, err := tx.Runs(r.ID, l.task.ID)
		if err != nil {
			return err
		}

		// Backwards, because without numbers the last run is meant.
		attempt := l.p.Attempt
		for i := len(runs) - 1; i >= 0; i-- {
			if attempt == 0 {
				attempt = runs[i].Attempt
			}
			if runs[i].Attempt == attempt && (l.p.Run == 0 || runs[i].Number == l.p.Run) {
				l.run = runs[i]
				l.p.Attempt, l.p.Run = attempt, runs[i].Number
				return nil
			}
		}

		return l.errNoRun(len(runs))
	})
}

func (l *logReader) errNoRun(runs int) error {
	if runs == 0 {
		return stick.Errorf(stick.CodeNotFound,
			"tt has started no command for %s, so there is no output", l.task.ID).
			With("task_id", l.task.ID).
			Hintf("to start one: %s", stick.Cmd("tt task run <task_id> -- …", l.task.ID))
	}

	return stick.Errorf(stick.CodeNotFound, "%s has no such run", l.task.ID).With("task_id", l.task.ID).
		Hintf("to list its runs: %s", stick.Cmd("tt task show <task_id>", l.task.ID))
}

// findStart finds the output, and where to begin.
func (l *logReader) findStart(ctx context.Context) error {
	l.from = output{dir: l.runs.outputDir(l.room, l.run)}

	// The directory of the output was dropped, or is on another host.
	if l.run.Output != "" && !l.from.hasParts() {
		db, err := l.runs.core.Open(ctx, false)
		if err != nil {
			return err
		}

		b, err := db.ReadBlob(l.run.Output)
		if err != nil {
			return err
		}

		l.from = output{whole: b, size: int64(len(b))}
	} else if err := l.requireHere(); err != nil {
		return err
	}

	// A negative or zero number of lines means all that is kept.
	lines := defaultLines
	if l.p.Lines != nil {
		lines = *l.p.Lines
	}

	var err error
	if l.until, err = l.from.endOffset(); err == nil && lines > 0 {
		l.at, err = l.from.tailStart(lines, mostTail)
	}

	l.before = l.at
	return err
}

// requireHere refuses to show what another host has. It fails with [stick.CodeElsewhere].
func (l *logReader) requireHere() error {
	if _, err := os.Stat(l.runs.outputDir(l.room, l.run)); err == nil || l.otherCheckout == "" {
		return nil
	}
	return stick.Errorf(stick.CodeElsewhere,
		"the command of %s runs in %s, and its output can be seen there until it has ended", l.task.ID,
		l.otherCheckout).
		With("task_id", l.task.ID).With("path", l.task.In.Path).
		Hintf("run there: %s", stick.Cmd("tt task logs <task_id>", l.task.ID))
}

// showAvailable shows what is there. Without Follow it stops where the output has ended when it began: a
// command may write faster than it reads.
func (l *logReader) showAvailable() error {
	buf := make([]byte, 64<<10)
	for {
		// A reader that doesn't follow stops where the output ended when it began.
		some := buf
		if l.p.Follow == nil {
			some = buf[:max(0, min(int64(len(buf)), l.until-l.at))]
		}
		if len(some) == 0 {
			return nil
		}

		n, from, err := l.from.readAt(some, l.at)
		if err != nil || n == 0 {
			return err
		}

		// What is in between was dropped while nobody read it.
		if from > l.at {
			gap := fmt.Sprintf("[tt: %d bytes in between weren't kept]\n", from-l.at)
			if err := errors.Join(l.showRest(), l.show(gap)); err != nil {
				return err
			}
		}

		l.at = from + int64(n)
		if err := l.showBytes(buf[:n]); err != nil {
			return err
		}
	}
}

// showBytes shows bytes of the output: raw ones as they are, and others in whole lines.
func (l *logReader) showBytes(b []byte) error {
	if l.p.Raw {
		return l.show(string(b))
	}

	l.rest = append(l.rest, b...)
	var text bytes.Buffer
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 && len(l.rest) < mostLine {
			break
		}
		if i < 0 {
			i = mostLine - 1
		}

		// Without a newline it is a piece of a line that is too long.
		line := l.rest[:i+1]
		if i = bytes.LastIndexByte(line, '\n'); i >= 0 {
			text.WriteString(readableLine(line[:i]))
		} else {
			text.WriteString(readableLine(line))
		}

		l.rest = l.rest[len(line):]
	}

	// The rest of a line is short; the whole buffer must not stay because of it.
	l.rest = bytes.Clone(l.rest)
	if text.Len() == 0 {
		return nil
	}
	return l.show(text.String())
}

// readableLine returns a line as it is shown, with its end, or nothing.
func readableLine(line []byte) string {
	text, known := harness.StreamLine(bytes.TrimSuffix(line, []byte("\r")))
	if !known {
		return string(line) + "\n"
	}
	if text == "" {
		return ""
	}
	return text + "\n"
}

// showRest shows the start of a line that nothing follows.
func (l *logReader) showRest() error {
	rest := l.rest
	if l.rest = nil; len(rest) == 0 {
		return nil
	}
	return l.show(readableLine(rest))
}

// followRun shows the output until the run has ended. Nothing polls where the system tells of what is
// written.
func (l *logReader) followRun(ctx context.Context) error {
	db, err := l.runs.core.Open(ctx, false)
	if err != nil {
		return err
	}

	// The watch comes before the run is read, so that no change falls in between.
	room, err := db.Watch(l.room)
	if err != nil {
		return err
	}
	defer room.Close()

	ended := func() bool { return !l.runs.ViewRun(l.run).State.Live() }
	if err := l.loadRun(ctx); err != nil {
		return err
	}

	// A process that dies without a record rings nowhere, so its death is watched.
	deaths := l.runs.core.Config.Procs.Deaths()
	defer deaths.Close()

	var written <-chan struct{}
	if !ended() {
		if err := l.requireHere(); err != nil {
			return err
		}

		// The directory has to be there to be watched; the run may be about to make it.
		dir := l.runs.outputDir(l.room, l.run)
		if err := plainfile.MkdirAll(dir); err != nil {
			return err
		}

		folder, err := bell.WatchFolder(dir)
		if err != nil {
			return err
		}
		defer folder.Close()

		written = folder.C
	}

	if err := l.findStart(ctx); err != nil {
		return err
	}

	for {
		// Whether it has ended is asked before the output is read: after that nothing comes.
		finished := ended()

		// Its process may have recorded the end since the run was read, and then ended.
		if finished && l.run.EndedAt.IsZero() {
			if err := l.loadRun(ctx); err != nil {
				return err
			}
		}

		if err := l.showAvailable(); err != nil {
			return err
		}
		if finished {
			return l.showRest()
		}

		deaths.Watch([]stick.Process{l.run.Process})
		room.ReleaseForSleep()
		if err := l.awaitChange(ctx, written, room.C, deaths.C); err != nil {
			return err
		}
	}
}

// awaitChange waits until the output has grown. If the room rings or the process of the run dies instead, it
// reads the run again.
func (l *logReader) awaitChange(ctx context.Context, written, rung, died <-chan struct{}) error {
	select {
	case <-written:
		return nil
	case <-rung:
	case <-died:
	case <-ctx.Done():
		return ctx.Err()
	}
	return l.loadRun(ctx)
}
