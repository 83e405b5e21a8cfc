package tui

import (
	"context"
	"slices"
	"strconv"
	"sync"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// page is what the screen shows between its first line and its last two. Pages are values: what is read for
// one makes a new one.
type page interface {
	// name is what the first line calls it; empty for the page with everything.
	pageTitle(*canvas) term.Text

	// layout returns its lines: those that stay on top, and those that scroll.
	layoutLines(*canvas) (head, body []line)

	// target is what the keys act on when the line with this key is selected.
	targetAt(p *monitor.Picture, key string) target

	// subject tells pages apart: two with the same subject show the same.
	subjectKey() string
}

// reader is a page that shows more than the picture has.
type reader interface {
	page

	// read returns the page with what it shows. It runs beside the loop.
	readPage(context.Context, *env) (page, error)

	// of is the room that it is about.
	roomID() stick.RoomID
}

// env is how a model reaches what is outside of it: the operations, and the loop.
type env struct {
	Options
	ctx        context.Context // of the screen
	send       func(tea.Msg)
	background *sync.WaitGroup                        // what runs beside the loop
	putOff     func(stick.RoomID, string, stick.Time) // [monitor.Monitor.PutOff]; nil where there is no monitor
}

// opened is a page that was opened, with what is selected on it.
type opened struct {
	page
	key       string // of the selected line; empty for none
	index     int    // which of the lines that can be selected this was, in case it goes away
	lastIndex int    // the last one there was

	headTop, top int // the first lines that are shown, of the head and of the body

	serial  int          // by which its messages find it
	read    bool         // it was read
	reading bool         // it is being read
	stale   bool         // something has happened since that began
	seq     int64        // of the last event of its room when it was read
	problem *stick.Error // why it couldn't be read
	stop    func()       // ends what follows it; nil for nothing
}

// readMsg is what was read for a page.
type readMsg struct {
	serial int
	page   page
	err    error
}

// target is what an act is about.
type target struct {
	room    *monitor.Room // nil for nothing
	agent   stick.AgentID
	task    string
	message int64
	rescue  string
	call    edits.Call     // of a tool; zero for none
	need    monitor.NeedIn // zero for none
}

// whereOf is the room of a target, for an operation.
func (t target) whereOf() core.Where { return core.Where{RoomID: t.room.ID()} }

// layoutLines returns the lines of a page, with what went wrong on top. Where a page has text, each line of
// it can be selected, so that it scrolls.
func (o *opened) layoutLines(s *canvas) (head, body []line) {
	head, body = o.page.layoutLines(s)

	// On the page with everything only rooms, agents and tasks are selected.
	if _, everything := o.page.(roomsPage); !everything {
		for i := range body {
			if body[i].key == "" && len(body[i].cells) > 0 {
				body[i].key = "#" + strconv.Itoa(i)
			}
		}
	}

	if e := o.problem; e != nil {
		said := []line{textLine(bad, "%s", e.Message)}
		if len(e.Hint) > 0 {
			said = append(said, line{cells: []cell{{text: "hint: " + term.Hint(e.Hint), hue: faint}}})
		}
		head = slices.Concat(said, []line{blank}, head)
	}

	return head, body
}

// openPage shows a page. The one before comes back with esc.
func (m *model) openPage(p page) tea.Cmd {
	if m.shownPage().subjectKey() == p.subjectKey() {
		return nil
	}

	m.serial++
	m.pages = append(m.pages, opened{page: p, serial: m.serial, lastIndex: -1})
	m.settleSelection()
	return m.startReading(m.shownPage())
}

// startReading reads what a page shows, unless it has it, or that is under way.
func (m *model) startReading(o *opened) tea.Cmd {
	p, ok := o.page.(reader)
	switch {
	case !ok:
		return nil
	case o.reading:
		// It is read again after that, because something has happened since.
		o.stale = true
		return nil
	}

	// The number is taken before reading, so that an event meanwhile makes the page be read again.
	o.reading, o.stale, o.seq = true, false, lastSeq(m.picture.Room(p.roomID()))
	e, serial := m.env, o.serial
	return e.inBackground(func() tea.Msg {
		now, err := p.readPage(e.ctx, e)
		return readMsg{serial, now, err}
	})
}

// inBackground makes a command of a function that runs beside the loop, and is waited for at the end.
func (e *env) inBackground(do func() tea.Msg) tea.Cmd {
	e.background.Add(1)
	return func() tea.Msg {
		defer e.background.Done()
		return do()
	}
}

// renewPage reads the page that is shown again, if something has happened in its room.
func (m *model) renewPage() tea.Cmd {
	o := m.shownPage()
	if p, ok := o.page.(reader); ok && lastSeq(m.picture.Room(p.roomID())) != o.seq {
		return m.startReading(o)
	}
	return nil
}

// storeRead puts what was read into its page, if that is still there.
func (m *model) storeRead(msg readMsg) tea.Cmd {
	for i := range m.pages {
		o := &m.pages[i]
		if o.serial != msg.serial || !o.reading {
			continue
		}

		o.reading, o.problem = false, nil
		if msg.err != nil {
			o.problem = stick.AsError(msg.err)
		} else {
			o.page = msg.page
			// What was selected while it was read stood for nothing.
			if !o.read {
				o.read, o.key, o.index = true, "", 0
			}
		}

		// It may have been opened for a decision, which is asked for once its diff is there.
		if p, ok := o.page.(diffPage); ok && p.asks != "" {
			what := p.asks
			p.asks = ""
			o.page = p
			if msg.err == nil && o == m.shownPage() && m.ask == nil {
				m.askDecision(p, what)
			}
		}

		if o.stale {
			return m.startReading(o)
		}
	}

	return nil
}

// closePage shows the page before. It reports false if there is none.
func (m *model) closePage() bool {
	if len(m.pages) == 1 {
		return false
	}
	if stop := m.shownPage().stop; stop != nil {
		stop()
	}

	m.pages = m.pages[:len(m.pages)-1]
	m.settleSelection()
	return true
}

// lastSeq is the number of a room's last event, 0 for none.
func lastSeq(r *monitor.Room) int64 {
	if r == nil || len(r.Events) == 0 {
		return 0
	}
	return r.Events[len(r.Events)-1].Seq
}
