package tui

import (
	tea "charm.land/bubbletea/v2"
)

// update changes the model by a message. What it returns runs beside the loop, and its result comes back as a message.
func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case pictureMsg:
		m.picture = msg.Picture
	case sizeMsg:
		m.width, m.height = msg.width, msg.height
	case tea.WindowSizeMsg: // at the start, and on Windows
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m.press(msg)
	default:
		return nil
	}
	m.settle()
	return nil
}

// press does what a key means.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	switch page := max(1, m.pageHeight()-2); k.String() {
	case "ctrl+c", "q":
		return tea.Quit
	case "esc", "left", "backspace":
		m.back()
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup", "ctrl+b":
		m.move(-page)
	case "pgdown", "ctrl+f", "space":
		m.move(page)
	case "home", "g":
		m.move(-1 << 20)
	case "end", "G":
		m.move(1 << 20)
	}
	return nil
}
