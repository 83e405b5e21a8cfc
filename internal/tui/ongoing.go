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

// ongoingAct is an act that is under way.
type ongoingAct struct {
	id   int
	text term.Text
}

// doneMsg is the end of an act.
type doneMsg struct {
	id   int
	text term.Text
	err  error

	merges string // the key of the task that it was to merge; empty for another act

	reread bool   // what is shown has to be read again, although no event says so
	closes string // the subject of a page that has no purpose any more
}

// progressMsg is what an act is doing now.
type progressMsg struct {
	id   int
	text term.Text
}

// startAct does something beside the loop. What it returns is shown when it is over.
func (m *model) startAct(text term.Text, do func(context.Context, func(term.Text)) doneMsg) tea.Cmd {
	m.lastAct++
	e, id := m.env, m.lastAct
	m.ongoing, m.note = append(m.ongoing, ongoingAct{id, text}), note{}

	// A fault in an act ends the act, not the screen.
	return e.inBackground(func() (msg tea.Msg) {
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

// doneWith makes a doneMsg of the result of an operation.
func doneWith(err error, format string, args ...any) doneMsg {
	return doneMsg{text: term.Textf(format, args...), err: err}
}

// finishAct says how an act has ended.
func (m *model) finishAct(msg doneMsg) (cmd tea.Cmd) {
	for i, d := range m.ongoing {
		if d.id == msg.id {
			m.ongoing = append(m.ongoing[:i:i], m.ongoing[i+1:]...)
			break
		}
	}

	// Why a merge was refused stays with its task, because the log doesn't say it.
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
			m.note.hint = "hint: " + term.Hint(e.Hint.As(m.assumedName()))
		}
		return nil
	}

	m.note = note{text: msg.text}
	if msg.closes != "" && m.shownPage().subjectKey() == msg.closes {
		m.closePage()
	}
	if msg.reread {
		return m.startReading(m.shownPage())
	}

	return m.renewPage()
}

// assumedName is the name that whoever watches has assumed; empty for none.
func (m *model) assumedName() string {
	if m.env == nil {
		return ""
	}
	return m.env.Caller.AssumedByFlag()
}

// showProgress says what an act is doing now.
func (m *model) showProgress(msg progressMsg) {
	for i := range m.ongoing {
		if m.ongoing[i].id == msg.id {
			m.ongoing[i].text = msg.text
		}
	}
}
