package web

import (
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
)

// TestTurnsAsAPicture: the page of a room draws who held the stick when, and nothing that others wrote acts
// in the picture.
func TestTurnsAsAPicture(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	ann.Try().Granted(1)
	s.Later(time.Hour)
	ann.Release("done", "go on").ForNobody()
	bob.Try().Granted(2)
	s.Later(time.Minute)
	d := newDesk(s, nil)
	d.ann.PauseRoom(engine.PauseRoomParams{Reason: "<script>alert(1)</script>"}).OK()

	for _, path := range []string{"/room/" + string(s.Room().ID), "/room/" + string(s.Room().ID) + "/turns"} {
		page := d.ok(path)
		for _, want := range []string{
			"<svg",
			ann.ShownName() + " held the stick in 1 turn for 1 h",
			bob.ShownName() + " held the stick in 1 turn for 1 min",
			"&lt;script&gt;alert(1)",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}

		if strings.Contains(page, "<script>alert") || strings.Contains(page, "style=") {
			t.Errorf("%s has a script or a style of others", path)
		}
	}

	if page := d.ok("/room/" + string(s.Room().ID) + "/turns?before=3"); !strings.Contains(page, ann.ShownName()) {
		t.Error("the time before an event isn't drawn")
	}
}
