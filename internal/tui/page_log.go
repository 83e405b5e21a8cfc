package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// logPage is what the command of a task's worker prints, as it comes.
type logPage struct {
	room  stick.RoomID
	id    string
	lines []string
	over  *task.WorkerLogsResult // how it ended; nil while it runs
}

// Bounds of a log on the screen, in lines.
const (
	mostLog  = 5000
	firstLog = 500
)

// logMsg is a piece of a log, or its end.
type logMsg struct {
	serial int
	text   string
	over   *task.WorkerLogsResult
	err    error
}

func (p logPage) subjectKey() string { return "log " + string(p.room) + " " + stick.TaskKey(p.id) }

func (p logPage) pageTitle(*canvas) term.Text { return term.Textf("%s: what its command prints", p.id) }

func (p logPage) followsEnd() bool { return true }

func (p logPage) layoutLines(s *canvas) (head, body []line) {
	if p.over != nil {
		run := p.over.Run
		head = append(head, textLine("", "run %d %s: %s", run.Run, run.StateText(), stick.Clip(run.Command, 160)), blank)
	}

	for _, l := range p.lines {
		body = append(body, s.sourceLines(l, "", "")...)
	}

	if len(p.lines) == 0 {
		body = append(body, textLine(faint, "It has printed nothing."))
	}

	return head, body
}

func (p logPage) targetAt(pic *monitor.Picture, _ string) target {
	return target{room: pic.Room(p.room), task: p.id}
}

// openLog shows what the command of a task prints, until the page is left.
func (m *model) openLog(t target) tea.Cmd {
	p := logPage{room: t.room.ID(), id: t.task}
	if m.shownPage().subjectKey() == p.subjectKey() {
		return nil
	}

	cmd := m.openPage(p)

	// Leaving the page ends the reading.
	e, serial := m.env, m.serial
	ctx, stop := context.WithCancel(e.ctx)
	m.shownPage().stop = stop
	first := firstLog
	return tea.Batch(cmd, e.inBackground(func() tea.Msg {
		res, err := e.Operations.WorkerLogs(ctx, task.WorkerLogsParams{
			Caller: e.Caller, Where: core.Where{RoomID: p.room}, TaskID: p.id, Lines: &first,
			Follow: func(text string) error {
				e.send(logMsg{serial: serial, text: text})
				return ctx.Err()
			},
		})

		// The page is gone, and with it whoever would hear of the end.
		if ctx.Err() != nil {
			return nil
		}

		return logMsg{serial: serial, over: &res, err: err}
	}))
}

// addLog adds a piece of a log to its page.
func (m *model) addLog(msg logMsg) {
	for i := range m.pages {
		o := &m.pages[i]
		p, ok := o.page.(logPage)
		if !ok || o.serial != msg.serial {
			continue
		}

		if msg.text != "" {
			p.lines = append(p.lines, strings.Split(strings.TrimSuffix(msg.text, "\n"), "\n")...)
			if n := len(p.lines) - mostLog; n > 0 {
				p.lines = p.lines[n:]
			}
		}

		if msg.err != nil {
			o.problem = stick.AsError(msg.err)
		} else if msg.over != nil {
			p.over = msg.over
		}

		o.page = p
	}
}
