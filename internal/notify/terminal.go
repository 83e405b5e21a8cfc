package notify

import (
	"strconv"
	"strings"

	"talkingstick/stick"
)

// Terminal says how a terminal shows a notice on the desktop, beside its bell.
type Terminal string

// The ways. A terminal that knows both shows a notice of each, so it gets one.
const (
	Bell   Terminal = ""       // it has its bell only
	OSC9   Terminal = "osc9"   // by the sequence of iTerm2
	OSC777 Terminal = "osc777" // by the sequence of rxvt
)

// TerminalOf finds out from the environment what a terminal understands.
func TerminalOf(getenv func(string) string) Terminal {
	switch program := getenv("TERM_PROGRAM"); {
	case getenv("TMUX") != "" || strings.HasPrefix(getenv("TERM"), "screen"):
		// They keep such sequences to themselves, and show the bell.
		return Bell
	case program == "iTerm.app", program == "WezTerm", program == "ghostty", getenv("KITTY_WINDOW_ID") != "", getenv("ConEmuPID") != "":
		return OSC9
	case strings.HasPrefix(getenv("TERM"), "rxvt"), strings.HasPrefix(getenv("TERM"), "foot"), getenv("VTE_VERSION") != "":
		return OSC777
	}
	return Bell
}

// maxShown is how many characters of a notice a desktop gets.
const maxShown = 200

// Signal is what a terminal is sent for notices. It is empty for none.
func (t Terminal) Signal(notices []Notice) string {
	if len(notices) == 0 {
		return ""
	}

	text := string(notices[0].Sentence())
	if n := len(notices) - 1; n > 0 {
		text += " (and " + strconv.Itoa(n) + " more)"
	}

	text = stick.Clip(text, maxShown)

	switch t {
	case OSC9:
		return "\x1b]9;tt: " + text + "\x07\x07"
	case OSC777:
		return "\x1b]777;notify;tt;" + strings.ReplaceAll(text, ";", ",") + "\x07\x07"
	}
	return "\x07"
}
