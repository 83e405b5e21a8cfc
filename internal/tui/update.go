package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/term"
)

// update changes the model by a message. What it returns runs beside the loop, and its result comes back as a
// message.
func (m *model) update(msg tea.Msg) (cmd tea.Cmd) {
	switch msg := msg.(type) {
	case pictureMsg:
		m.picture = msg.Picture
		cmd = m.renew()
	case sizeMsg:
		m.width, m.height = msg.width, msg.height
	case tea.WindowSizeMsg: // at the start, and on Windows
		m.width, m.height = msg.Width, msg.Height
	case readMsg:
		cmd = m.take(msg)
	case logMsg:
		m.hear(msg)
	case captionMsg:
		m.caption = term.Textf("%s", msg.text)
	case doneMsg:
		cmd = m.finish(msg)
	case progressMsg:
		m.advance(msg)
	case tea.PasteMsg:
		if m.ask != nil && m.ask.typed != nil {
			m.ask.typed.insert(msg.Content)
		}
	case tea.KeyPressMsg:
		if m.ask != nil {
			cmd = m.reply(msg)
		} else {
			cmd = m.press(msg)
		}
	default:
		return nil
	}
	m.settle()
	return cmd
}

// press does what a key means.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	key := k.String()
	m.note = note{}
	switch far := max(1, m.pageHeight()-2); key {
	case "ctrl+c":
		return tea.Quit
	case "q":
		return m.quit()
	case "esc", "left", "backspace":
		m.back()
		return m.renew()
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup", "ctrl+b":
		m.move(-far)
	case "pgdown", "ctrl+f", "space":
		m.move(far)
	case "home":
		m.move(-1 << 20)
	case "end":
		m.move(1 << 20)
	case "?":
		return m.open(helpPage{})
	case "right":
		key = "enter"
		fallthrough
	default:
		if n, err := strconv.Atoi(key); err == nil {
			m.choose(n)
			return nil
		}
		t := m.target()
		for _, a := range actions() {
			switch {
			case a.key != key:
			case m.offers(a, t) != "":
				return a.do(m, t)
			default:
				m.note = note{text: term.Textf("%s does nothing with what is selected", key), bad: true}
			}
		}
	}
	return nil
}

// choose selects what needs the one who watches by its number.
func (m *model) choose(n int) {
	needs := m.picture.Needs()
	if len(m.pages) > 1 || n < 1 || n > len(needs) {
		return
	}
	m.shown().key = needKey(needs[n-1])
	m.settle()
}

// quit leaves the screen. While something is under way it asks: what isn't over then ends half done, and the
// next command finishes it.
func (m *model) quit() tea.Cmd {
	if len(m.doing) == 0 {
		return tea.Quit
	}
	m.ask = confirm("leave", func(*model) tea.Cmd { return tea.Quit }, "This is under way, and ends if you leave now: %s", m.doing[0].text)
	return nil
}
