package tui

import (
	"strings"
	"testing"

	"talkingstick/internal/monitor"
	"talkingstick/stick"
)

// typed are the keys that type a text.
func typed(text string) []string { return strings.Split(text, "") }

// TestSearch_Everything: the page with everything lists what has all the words, also what there is no room for else,
// and everything again after esc.
func TestSearch_Everything(t *testing.T) {
	named := shop()
	named.State.Members[0].AgentID = "claude:8323d664"
	p := pictured(named, parser(), quiet())
	p.Names = map[stick.AgentID]string{"claude:8323d664": "claude-otter"}
	m := onScreen(p, 80, 24, false)

	for words, want := range map[string][2]string{
		"Show PROGRESS": {"ui-8", "ui-7"},
		"otter":         {"claude-otter", "gemini"},
		"parser":        {"~/src/parser", "~/src/shop"},
		"retry limit":   {"3 answer", "review"},
		"no such thing": {"No room, agent", "gemini"},
	} {
		m.presses(t, append(append([]string{"/"}, typed(words)...), "enter")...)
		screen := drawn(m)
		if !strings.Contains(screen, want[0]) || strings.Contains(screen, want[1]) {
			t.Errorf("%q shows\n%s", words, screen)
		}

		m.presses(t, "esc")
		if screen := drawn(m); !strings.Contains(screen, "gemini:77aa") {
			t.Errorf("after esc it shows\n%s", screen)
		}
	}
}

// TestSearch_Page: on another page the next line with the words is selected, and the first one after the last.
func TestSearch_Page(t *testing.T) {
	m := onScreen(&monitor.Picture{At: clock, Me: "human:ann", Rooms: []*monitor.Room{shop()}}, 80, 24, false)
	performs(t, m, &recorder{head: "2dd9464f4a0c"})
	m.presses(t, "3", "d")

	selected := func() string {
		for l := range strings.Lines(drawn(m)) {
			if strings.HasPrefix(l, "> ") {
				return strings.TrimSpace(l[2:])
			}
		}
		return ""
	}

	m.presses(t, append(append([]string{"/"}, typed("TRIES =")...), "enter")...)
	if got := selected(); got != "3 -const tries = 1" {
		t.Errorf("the first is %q", got)
	}
	for _, want := range []string{"+const tries = 3", "-const tries = 1"} {
		m.presses(t, "/", "enter")
		if got := selected(); !strings.HasSuffix(got, want[1:]) {
			t.Errorf("the next is %q, not %q", got, want)
		}
	}

	m.presses(t, append(append([]string{"/"}, typed("nowhere")...), "enter")...)
	if !strings.Contains(drawn(m), `no line has "nowhere"`) {
		t.Errorf("it says\n%s", drawn(m))
	}
}
