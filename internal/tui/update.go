package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/term"
)

// applyMessage changes the model by a message. What it returns runs beside the loop, and its result comes
// back as a message.
func (m *model) applyMessage(msg tea.Msg) (cmd tea.Cmd) {
	switch msg := msg.(type) {
	case pictureMsg:
		m.picture = msg.Picture
		cmd = m.renewPage()
	case sizeMsg:
		m.width, m.height = msg.width, msg.height
	case tea.WindowSizeMsg:
		// This message comes at the start, and on Windows.
		m.width, m.height = msg.Width, msg.Height
	case readMsg:
		cmd = m.storeRead(msg)
	case logMsg:
		m.addLog(msg)
	case captionMsg:
		m.caption = term.Textf("%s", msg.text)
	case doneMsg:
		cmd = m.finishAct(msg)
	case progressMsg:
		m.showProgress(msg)
	case tea.PasteMsg:
		if m.ask != nil && m.ask.typed != nil {
			m.ask.typed.insertText(msg.Content)
		}
	case tea.KeyPressMsg:
		if m.ask != nil {
			cmd = m.replyToQuestion(msg)
		} else {
			cmd = m.pressKey(msg)
			m.restoreTyped()
		}
	default:
		return nil
	}

	m.settleSelection()
	return cmd
}

// pressKey does what a key means.
func (m *model) pressKey(k tea.KeyPressMsg) tea.Cmd {
	key := k.String()
	m.note = note{}
	switch far := max(1, m.pageHeight()-2); key {
	case "ctrl+c":
		return tea.Quit
	case "q":
		return m.confirmQuit()
	case "/":
		m.askSearch()
	case "esc", "left", "backspace":
		if len(m.pages) == 1 {
			m.pages[0].page = roomsPage{}
		}
		m.closePage()
		return m.renewPage()
	case "up", "k":
		m.moveSelection(-1)
	case "down", "j":
		m.moveSelection(1)
	case "pgup", "ctrl+b":
		m.moveSelection(-far)
	case "pgdown", "ctrl+f", "space":
		m.moveSelection(far)
	case "home":
		m.moveSelection(-1 << 20)
	case "end":
		m.moveSelection(1 << 20)
	case "?":
		return m.openPage(helpPage{})
	case "right":
		key = "enter"
		fallthrough
	default:
		// A number selects a need, any other key acts on what is selected.
		if n, err := strconv.Atoi(key); err == nil {
			m.selectNeed(n)
			return nil
		}

		if m.stepInDiff(key) {
			return nil
		}

		t := m.selectedTarget()
		for _, a := range keyActions() {
			switch {
			case a.key != key:
			case m.offeredWord(a, t) != "":
				return a.do(m, t)
			default:
				m.note = note{text: term.Textf("%s does nothing with what is selected", key), bad: true}
			}
		}
	}

	return nil
}

// selectNeed selects what needs the one who watches by its number.
func (m *model) selectNeed(n int) {
	needs := m.picture.Needs()
	if len(m.pages) > 1 || n < 1 || n > len(needs) {
		return
	}

	m.shownPage().key = needKey(needs[n-1])
	m.settleSelection()
}

// confirmQuit leaves the screen. While something is under way it asks: what isn't over then ends half done,
// and the next command finishes it.
func (m *model) confirmQuit() tea.Cmd {
	if len(m.ongoing) == 0 {
		return tea.Quit
	}

	leave := func(*model) tea.Cmd { return tea.Quit }
	m.ask = newConfirm("leave", leave, "This is under way, and ends if you leave now: %s", m.ongoing[0].text)
	return nil
}
