package stick_test

import (
	"testing"
	"time"

	"talkingstick/stick"
)

// TestRoom_WhyKept: a room goes only when it is closed or has lost its workspace, has no open task, and hasn't been
// used for long.
func TestRoom_WhyKept(t *testing.T) {
	now := stick.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	long, lately := now.Add(-100*24*time.Hour), now.Add(-time.Hour)
	before := now.Add(-90 * 24 * time.Hour)
	closed := stick.Room{Closed: true, UpdatedAt: long}

	for name, c := range map[string]struct {
		room stick.Room
		use  stick.RoomUse
		want stick.Words
	}{
		"closed":                    {closed, stick.RoomUse{}, ""},
		"without its workspace":     {stick.Room{UpdatedAt: long}, stick.RoomUse{IsGone: true}, ""},
		"open":                      {stick.Room{UpdatedAt: long}, stick.RoomUse{}, "it is open, and its workspace is there"},
		"with an open task":         {closed, stick.RoomUse{OpenTasks: 1}, "it has 1 task open"},
		"used lately":               {stick.Room{Closed: true, UpdatedAt: lately}, stick.RoomUse{}, "something has happened there since"},
		"used at the limit":         {stick.Room{Closed: true, UpdatedAt: before}, stick.RoomUse{}, "something has happened there since"},
		"with a member seen lately": {withMemberSeen(closed, lately), stick.RoomUse{}, "something has happened there since"},
		"with a lease renewed lately": {
			stick.Room{Closed: true, UpdatedAt: long, Turn: stick.Turn{RenewedAt: lately}},
			stick.RoomUse{},
			"something has happened there since",
		},
	} {
		if got := c.room.WhyKept(c.use, before); got != c.want {
			t.Errorf("a room %s is kept because %q, want %q", name, got, c.want)
		}
	}
}

func withMemberSeen(r stick.Room, at stick.Time) stick.Room {
	r.Members = []stick.Member{{LastSeenAt: at}}
	return r
}
