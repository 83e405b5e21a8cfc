package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/engine"
	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick/presence"
)

// action is what a key does with what is selected.
type action struct {
	key  string
	word func(*model, target) string // in the last line of the screen; empty where the key does nothing
	help string
	do   func(*model, target) tea.Cmd
	acts bool // others see it, or something changes
}

// wordIf is an action's word where it can be done.
func wordIf(w string, can func(*model, target) bool) func(*model, target) string {
	return func(m *model, t target) string {
		if can(m, t) {
			return w
		}
		return ""
	}
}

// keyActions are all of them, in the order of the last line. It is a function because they refer to each
// other.
func keyActions() []action {
	hasNext := func(m *model, _ target) bool { return m.env != nil && m.env.Next != nil }
	return []action{
		{"n", wordIf("next step", hasNext), "let the scene of a demo go on", nextStep, false},
		{
			"enter", wordIf("open", canOpen),
			"open what is selected: a room, an agent, a task, a message, a rescue", openSelected, false,
		},
		{"d", wordIf("diff", hasDiff), "see what a task changes, line by line", openDiff, false},
		{"l", wordIf("log", hasLog), "see what the command of a task's worker prints", (*model).openLog, false},
		{
			"a", approveWord,
			"approve the commit of a task, after its diff is shown, and merge it if you like; or accept a message",
			approveOrAccept, true,
		},
		{
			"r", wordIf("request changes", isInReview),
			"return a task to its worker, and say what must change", beginReview(toReturn), true,
		},
		{
			"c", wordIf("comment", canComment),
			"comment on the selected line of a diff; your decision sends your comments", commentLine, true,
		},
		{"m", wordIf("merge", isApproved), "merge an approved task", mergeTask, true},
		{"b", wordIf("bring back", hasRescue), "bring back what a rescue holds", restoreRescue, true},
		{"u", wordIf("undo", canUndo), "undo what the selected tool call has changed", undoCall, true},
		{
			"s", sendWord,
			"send a message: to the agent, or to everybody in the room; or answer one", sendMessage, true,
		},
		{"t", wordIf("take", canTake), "take the stick over, with a reason", takeStick, true},
		{"w", (*model).runWord, "stop the command of a task's worker, or run it again", toggleRun, true},
		{"g", wordIf("go to", canJump), "go to the pane of tmux in which the agent runs", jumpToPane, false},
		{"i", wordIf("messages", hasTalk), "read the messages of a room", openTalk, false},
		{"p", pauseWord, "pause a room, with a reason, or let it go on", togglePause, true},
		{"z", laterWord, "put off for an hour what needs you; where what was put off is counted, bring it back", toggleLater, false},
		{"e", wordIf("calls", hasCalls), "list the tool calls that have changed files in a room", openCalls, false},
	}
}

// approveWord is what the key a does: it says yes to what waits for that.
func approveWord(m *model, t target) string {
	switch {
	case isInReview(m, t):
		return "approve"
	case t.owedMessage() != 0:
		return "accept"
	}

	return ""
}

func approveOrAccept(m *model, t target) tea.Cmd {
	if isInReview(m, t) {
		return beginReview(toApprove)(m, t)
	}
	return acceptMessage(m, t)
}

func sendWord(m *model, t target) string {
	switch {
	case addressee(m, t) == "":
		return ""
	case t.message != 0:
		return "answer"
	}

	return "message"
}

func hasTalk(m *model, t target) bool { return t.room != nil && !m.isOpen(talkPage{room: t.room.ID()}) }

// taskOf is the task of a target as the picture has it, nil if it isn't about a task.
func taskOf(t target) *task.TaskView {
	if t.room == nil || t.task == "" {
		return nil
	}
	return t.room.Task(t.task)
}

// memberOf is the member of a target, nil if it isn't about one.
func memberOf(t target) *engine.RoomMember {
	if t.room == nil {
		return nil
	}

	for i := range t.room.State.Members {
		if m := &t.room.State.Members[i]; m.AgentID == t.agent && t.agent != "" {
			return m
		}
	}

	return nil
}

func hasDiff(m *model, t target) bool {
	v := taskOf(t)
	if v == nil || v.Checkout != "" || v.Head == "" && v.Branched == "" {
		return false
	}
	return !m.isOpen(diffPage{room: t.room.ID(), id: t.task})
}

func hasLog(m *model, t target) bool {
	v := taskOf(t)
	return v != nil && v.Run != nil && !m.isOpen(logPage{room: t.room.ID(), id: t.task})
}

// isOpen reports whether a page is shown, or comes back with esc.
func (m *model) isOpen(p page) bool {
	return slices.ContainsFunc(m.pages, func(o opened) bool { return o.subjectKey() == p.subjectKey() })
}

// pageOf is the page of what a target is about.
func pageOf(t target) page {
	switch id := t.room.ID(); {
	case t.message != 0:
		return messagePage{room: id, id: t.message}
	case t.rescue != "":
		return rescuePage{room: id, id: t.rescue}
	case t.task != "":
		return taskPage{room: id, id: t.task}
	case t.agent != "":
		return agentPage{room: id, agent: t.agent}
	default:
		return roomPage{id: id}
	}
}

func canOpen(m *model, t target) bool { return t.room != nil && !m.isOpen(pageOf(t)) }

func openSelected(m *model, t target) tea.Cmd { return m.openPage(pageOf(t)) }

func openDiff(m *model, t target) tea.Cmd { return m.openPage(diffPage{room: t.room.ID(), id: t.task}) }

func openTalk(m *model, t target) tea.Cmd { return m.openPage(talkPage{room: t.room.ID()}) }

// offeredWord is the word for an action with what is selected; empty if it can't be done.
func (m *model) offeredWord(a action, t target) string {
	if a.acts && m.env != nil && m.env.Looks {
		return ""
	}
	return a.word(m, t)
}

func nextStep(m *model, _ target) tea.Cmd {
	next := m.env.Next
	return m.env.inBackground(func() tea.Msg {
		next()
		return nil
	})
}

// keyLine is the last line: what the keys do with what is selected.
func (m *model) keyLine() line {
	l := line{end: cell{text: "? help  q quit", hue: faint}}
	if len(m.pages) > 1 {
		l.end.text = "esc back  ? help  q quit"
	}

	// Keys that have no room any more are in the help.
	t := m.selectedTarget()
	room := m.width - markWidth - 1 - term.Width(string(l.end.text))
	for _, a := range keyActions() {
		if w := m.offeredWord(a, t); w != "" {
			// A blank is between a key and its word, two are after the word.
			if room -= len(a.key) + len(w) + 1; room < 0 {
				break
			}

			room -= 2
			l.cells = append(l.cells,
				cell{text: term.Textf("%s", a.key), hue: strong}, cell{text: term.Textf(" %s  ", w)})
		}
	}

	return l
}

// helpPage explains the keys.
type helpPage struct{}

func (helpPage) pageTitle(*canvas) term.Text { return "keys" }

func (helpPage) subjectKey() string { return "help" }

func (helpPage) targetAt(*monitor.Picture, string) target { return target{} }

func (helpPage) layoutLines(s *canvas) (head, body []line) {
	row := func(key, what string) {
		const left = 22
		for i, l := range wrapText(term.Textf("%s", what), left, s.width, 0) {
			if i == 0 {
				l.cells = []cell{
					{text: term.Textf("%s", key), hue: strong, width: left},
					{text: l.cells[0].text[left:]},
				}
			}

			body = append(body, l)
		}
	}

	for _, k := range [][2]string{
		{"up, down", "select; also k and j"},
		{"page up, down", "select further away; also ctrl-b and space"},
		{"home, end", "the first and the last"},
		{"1 … 9", "select what needs you, by its number"},
		{"/", "search: here it lists what has these words, on a page it goes to the next line with them"},
		{"] [ } {", "in a diff: the next file, the one before; the next hunk, the one before"},
		{"esc", "back to the page before; shows everything again"},
		{"q", "leave"},
	} {
		row(k[0], k[1])
	}

	body = append(body, blank, textLine(strong, "With what is selected"))
	for _, a := range keyActions() {
		// A demo says itself what its key does.
		if a.key != "n" {
			row(a.key, a.help)
		}
	}

	body = append(body, blank, textLine(strong, "What agents do"))
	for _, st := range []struct {
		state presence.AgentState
		means string
	}{
		{presence.AgentWorks, "a tool call or a turn of its model is in progress"},
		{presence.AgentWaits, "it waits for its turn"},
		{presence.AgentRests, "its last turn changed nothing: it gets no other until something is for it"},
		{presence.AgentAsks, "its harness has asked its person something, in its own terminal"},
		{presence.AgentIdle, "it waits for a prompt, or has shown no sign for ten minutes"},
		{presence.AgentGone, "its process has ended"},
		{presence.AgentUnknown, "no hook of its harness says what it does: tt install"},
	} {
		row(string(st.state.Words()), st.means)
	}

	return nil, body
}
