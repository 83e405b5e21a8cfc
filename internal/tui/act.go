package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/term"
	"talkingstick/stick"
)

// note is what is said of the last act, until the next key.
type note struct {
	text term.Text
	hint term.Text // the next step, if the act failed
	bad  bool
}

// doing is an act that is under way.
type doing struct {
	id   int
	text term.Text
}

// doneMsg is the end of an act.
type doneMsg struct {
	id  int
	say term.Text
	err error

	merges string // the key of the task that it was to merge; empty for another act

	again bool   // what is shown has to be read again, although no event says so
	close string // the subject of a page that has no purpose any more
}

// progressMsg is what an act is doing now.
type progressMsg struct {
	id   int
	text term.Text
}

// act does something beside the loop. What it returns is shown when it is over.
func (m *model) act(text term.Text, do func(context.Context, func(term.Text)) doneMsg) tea.Cmd {
	m.lastAct++
	e, id := m.env, m.lastAct
	m.doing, m.note = append(m.doing, doing{id, text}), note{}
	return e.beside(func() (msg tea.Msg) {
		defer func() {
			if p := recover(); p != nil {
				msg = doneMsg{id: id, err: stick.Errorf(stick.CodeInternal, "the program has a fault: %s", fmt.Sprint(p))}
			}
		}()
		done := do(e.ctx, func(now term.Text) { e.send(progressMsg{id, now}) })
		done.id = id
		return done
	})
}

// did makes a doneMsg of the result of an operation.
func did(err error, format string, args ...any) doneMsg {
	return doneMsg{say: term.Textf(format, args...), err: err}
}

// finish says how an act has ended.
func (m *model) finish(msg doneMsg) (cmd tea.Cmd) {
	for i, d := range m.doing {
		if d.id == msg.id {
			m.doing = append(m.doing[:i:i], m.doing[i+1:]...)
			break
		}
	}
	if msg.merges != "" {
		delete(m.unmerged, msg.merges)
	}
	if msg.err != nil {
		e := stick.AsError(msg.err)
		m.note = note{text: term.Textf("%s", e.Message), bad: true}
		if msg.merges != "" {
			m.unmerged[msg.merges] = e.Message
		}
		if len(e.Hint) > 0 {
			m.note.hint = "hint: " + term.Hint(e.Hint.As(m.as()))
		}
		return nil
	}
	m.note = note{text: msg.say}
	if msg.close != "" && m.shown().subjectKey() == msg.close {
		m.back()
	}
	if msg.again {
		return m.reads(m.shown())
	}
	return m.renew()
}

// as is the name that the one who watches has assumed; empty for none.
func (m *model) as() string {
	if m.env == nil {
		return ""
	}
	return m.env.Caller.Flag()
}

// advance says what an act is doing now.
func (m *model) advance(msg progressMsg) {
	for i := range m.doing {
		if m.doing[i].id == msg.id {
			m.doing[i].text = msg.text
		}
	}
}
