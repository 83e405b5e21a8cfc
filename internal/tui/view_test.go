package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"talkingstick/internal/term"
	"talkingstick/stick"
)

var update = flag.Bool("update", false, "write the golden screens instead of comparing them")

// golden compares a screen with the one that is kept.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}

		return
	}

	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the screen isn't that of %s (go test -update writes it):\n%s", path, got)
	}
}

// sizes are those of the golden screens.
var sizes = [][2]int{{80, 24}, {120, 40}, {200, 50}}

func TestScreenOfRooms(t *testing.T) {
	for _, size := range sizes {
		for _, color := range []bool{false, true} {
			name := fmt.Sprintf("rooms-%dx%d", size[0], size[1])
			if color {
				name += "-color"
			}
			golden(t, name, drawn(onScreen(pictured(shop(), parser(), quiet()), size[0], size[1], color)))
		}
	}
}

// Where there is room, more of what happened is listed.
func TestEventsFillTheScreen(t *testing.T) {
	room := shop()
	for i := range 20 {
		room.Events = append(room.Events,
			event(int64(50+i), stick.EventJoin, stick.AgentID(fmt.Sprintf("pi:%02d", i)), "", 0))
	}

	for height, most := range map[int]int{24: 7, 40: 8} {
		got := drawn(onScreen(pictured(room), 80, height, false))
		if n := strings.Count(got, " joined"); n != most || strings.Contains(got, "more below") {
			t.Errorf("on %d lines there are %d events:\n%s", height, n, got)
		}
	}
}

// A terminal without UTF-8 gets ASCII, in lines that are as wide as otherwise.
func TestScreenOfRooms_ASCII(t *testing.T) {
	m := onScreen(pictured(shop(), parser(), quiet()), 80, 24, false)
	usual := drawModel(m).lines
	m.ascii = true
	for i, l := range drawModel(m).lines {
		if term.ASCII(l) != l || len(l) != utf8.RuneCountInString(usual[i]) {
			t.Errorf("line %d is %q, in UTF-8 %q", i, l, usual[i])
		}
	}
}

// Before the rooms were read nothing is said of them.
func TestFirstScreen(t *testing.T) {
	m := newModel(Options{})
	m.width, m.height = 80, 24
	m.settleSelection()
	if got := drawn(&m); !strings.Contains(got, "reading the rooms …") || strings.Contains(got, "no room") {
		t.Errorf("the screen is\n%s", got)
	}
}

// However many ages there are, an idle screen is drawn twice a minute at most, and then they are right again.
func TestAgesChangeTogether(t *testing.T) {
	p := crowd(8)
	for i, r := range p.Rooms {
		for j := range r.Events {
			r.Events[j].CreatedAt = before(time.Duration(i*61+j*7) * time.Second)
		}

		for j := range r.State.Members {
			if a := r.State.Members[j].Activity; a != nil {
				a.Since = before(time.Duration(i*13+j*3) * time.Second)
			}
		}
	}

	m := onScreen(p, 200, 50, false)
	drawings := 0
	for end := m.now.Add(10 * time.Minute); m.now < end; drawings++ {
		until := drawModel(m).until
		if until.IsZero() || until <= m.now {
			t.Fatalf("at %v it holds until %v", m.now, until)
		}
		m.now = until
	}

	if drawings > 20 {
		t.Errorf("it is drawn %d times in ten minutes", drawings)
	}
}
