package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// TestLater: a key puts off for an hour what is selected, and nothing else can be put off.
func TestLater(t *testing.T) {
	m := onScreen(pictured(shop()), 80, 24, false)
	performs(t, m, &recorder{})
	var put []string
	m.env.putOff = func(room stick.RoomID, key string, until stick.Time) {
		put = append(put, fmt.Sprintf("%s %s %v", room, key, until.Sub(clock)))
	}

	m.presses(t, "3", "z")
	if want := "shop000000 review/ui-7/1 1h0m0s"; len(put) != 1 || put[0] != want {
		t.Errorf("it puts off %q, not %q", put, want)
	}
	if !strings.Contains(drawn(m), "it comes back in an hour") {
		t.Errorf("it says\n%s", drawn(m))
	}

	m.presses(t, "end", "z")
	if len(put) != 1 || time.Hour != putOffFor {
		t.Errorf("it puts off %q", put)
	}
}

// TestNeedsThatAreCut: a small screen says how many needs there are beyond those that it shows.
func TestNeedsThatAreCut(t *testing.T) {
	room := shop()
	for i := range 10 {
		room.Needs = append(room.Needs, presence.NewNeed(presence.NeedTask, i, before(time.Hour), nil, "task %d hangs", i))
	}

	m := onScreen(pictured(room), 80, 24, false)
	for _, want := range []string{"6 more below", "5 above"} {
		if screen := drawn(m); !strings.Contains(screen, want) {
			t.Errorf("%q isn't in\n%s", want, screen)
		}
		for range 13 {
			m.presses(t, "down")
		}
	}
}
