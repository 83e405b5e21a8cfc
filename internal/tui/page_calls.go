package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// callsPage lists the calls of tools in a room that have changed files, the newest first.
type callsPage struct {
	room  stick.RoomID
	calls []edits.Call
	more  bool // there are older ones
	known bool // it was read
}

func (p callsPage) subjectKey() string { return "calls " + string(p.room) }

func (p callsPage) roomID() stick.RoomID { return p.room }

func (p callsPage) pageTitle(s *canvas) term.Text {
	if r := s.picture.Room(p.room); r != nil {
		return term.Textf("%s: tool calls", s.roomPath(r))
	}
	return "tool calls"
}

func (p callsPage) readPage(ctx context.Context, e *env) (page, error) {
	res, err := e.Operations.ListCalls(ctx, restore.ListCallsParams{Caller: e.Caller, Where: core.Where{RoomID: p.room}, Limit: maxListed})
	p.calls, p.more, p.known = res.Calls, res.More, true
	return p, err
}

func (p callsPage) layoutLines(s *canvas) (head, body []line) {
	switch {
	case !p.known:
		return nil, []line{textLine(faint, "reading …")}
	case len(p.calls) == 0:
		return nil, []line{textLine("", "No tool call has changed files on this machine, as far as hooks have seen.")}
	}

	who, _, age := s.columnWidths()
	for _, c := range p.calls {
		body = append(body, line{key: callKey(c.ID), cells: []cell{
			{text: term.Textf("%d", c.ID), hue: faint, width: 6},
			{text: term.Textf("%s", s.ageText(c.Started)), hue: faint, width: age},
			{text: term.Textf("%s", c.Maker()), hue: strong, width: who},
			{text: term.Textf(" %s", callFiles(c)), width: 12},
			{text: term.Textf("%s", string(c.Title()))},
		}})
	}
	if p.more {
		body = append(body, textLine(faint, "older: tt calls --limit"))
	}
	return nil, body
}

// callFiles says how many files a call has changed. A star stands for another agent's call at the same time,
// which tt calls puts in words.
func callFiles(c edits.Call) stick.Words {
	files := stick.Count(c.Files, "file")
	if c.Overlapped {
		return files + " *"
	}
	return files
}

func callKey(id int64) string { return string(term.Textf("call %d", id)) }

func (p callsPage) targetAt(pic *monitor.Picture, key string) target {
	t := target{room: pic.Room(p.room)}
	for _, c := range p.calls {
		if callKey(c.ID) == key {
			t.call, t.agent = c, c.Agent
		}
	}
	return t
}

func hasCalls(m *model, t target) bool {
	isOfRoom := t.room != nil && t.task == "" && t.message == 0 && t.rescue == ""
	return isOfRoom && !m.isOpen(callsPage{room: t.room.ID()})
}

func openCalls(m *model, t target) tea.Cmd { return m.openPage(callsPage{room: t.room.ID()}) }

func canUndo(_ *model, t target) bool { return t.call.ID != 0 }

// undoCall asks whether to take back what a call has changed.
func undoCall(m *model, t target) tea.Cmd {
	c, at := t.call, t.whereOf()
	m.ask = newConfirm("undo", func(m *model) tea.Cmd {
		e := m.env
		return m.startAct(term.Textf("undoing call %d", c.ID), func(ctx context.Context, _ func(term.Text)) doneMsg {
			res, err := e.Operations.UndoCall(ctx, restore.UndoCallParams{Caller: e.Caller, Where: at, ID: c.ID})
			if err != nil {
				return doneMsg{err: err}
			}
			return doneMsg{text: undone(res), reread: true}
		})
	}, "Undo call %d of %s: %s? A file that has changed since stays, and its state from before is put beside it.", c.ID, c.Maker(), c.Title())
	return nil
}

// undone says in a line what an undo has done.
func undone(res restore.UndoCallResult) term.Text {
	said := term.Textf("call %d is undone: %s as before it, %d removed", res.Call.ID, stick.Count(len(res.Restored), "file"), len(res.Removed))
	if res.Already {
		said = term.Textf("nothing to undo: the files are as they were before call %d", res.Call.ID)
	}
	if n := len(res.Left); n > 0 {
		said += term.Textf("; %s as it is, the first %s: %s", stays(n), term.Path(res.Left[0].Path), res.Left[0].Why)
	}
	if res.Head != nil {
		said += term.Textf("; HEAD stays at %s, and tt undo in a shell says how git brings it back", shortCommit(res.Head.To))
	}
	if res.UndoID != 0 {
		said += term.Textf("; this is call %d", res.UndoID)
	}
	return said
}

// stays says of so many files that they stay.
func stays(n int) stick.Words {
	if n == 1 {
		return "1 file stays"
	}
	return stick.Count(n, "file") + " stay"
}
