package notify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/monitor"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// database remembers of what it was asked to tell, as the real one does.
type database struct {
	told map[string]bool
	asks int
	fail error
}

func (d *database) TakeNotices(_ context.Context, p engine.TakeNoticesParams) (res engine.TakeNoticesResult, err error) {
	d.asks++
	if d.fail != nil {
		return res, d.fail
	}

	for _, k := range p.Keys {
		if !d.told[string(p.RoomID)+k] {
			res.Keys = append(res.Keys, k)
		}
		d.told[string(p.RoomID)+k] = true
	}

	return res, nil
}

// picture has rooms with needs: "one: a b" is a room with two.
func picture(rooms ...string) *monitor.Picture {
	p := &monitor.Picture{}
	for _, r := range rooms {
		id, keys, _ := strings.Cut(r, ": ")
		room := &monitor.Room{
			State: engine.GetRoomStateResult{PathRoom: engine.PathRoom{RoomID: stick.RoomID(id), Path: "/src/" + id}},
		}
		for _, k := range strings.Fields(keys) {
			room.Needs = append(room.Needs,
				presence.NewNeed(presence.NeedReview, k, 1, nil, "%s waits for a review", k))
		}
		p.Rooms = append(p.Rooms, room)
	}

	return p
}

// Two watch beside each other, and one of them is started again: each need is told once, and nothing is asked
// about twice.
func TestTellerTellsOnce(t *testing.T) {
	d := &database{told: map[string]bool{}}
	one, two, again := &Teller{Operations: d}, &Teller{Operations: d}, &Teller{Operations: d}
	for _, c := range []struct {
		who   *Teller
		shows *monitor.Picture
		want  string
		asks  int
	}{
		{one, picture("shop: a b", "parser:"), "shop: a, shop: b", 1},
		{two, picture("shop: a b", "parser: a"), "parser: a", 2},
		{one, picture("shop: a b", "parser: a"), "", 1},
		{one, picture("shop: b", "parser: a"), "", 0},
		{again, picture("shop: b c", "parser:"), "shop: c", 1},
		{one, picture("shop: b c", "parser:"), "", 1},
	} {
		d.asks = 0
		got, err := c.who.DueNotices(t.Context(), c.shows)
		var said []string
		for _, n := range got {
			said = append(said, strings.TrimSuffix(string(n.Sentence()), " waits for a review"))
		}
		if strings.Join(said, ", ") != c.want || err != nil || d.asks != c.asks {
			t.Errorf("it tells %q and asks %d times (%v), want %q and %d", said, d.asks, err, c.want, c.asks)
		}
	}

	d.fail = errors.New("away")
	if _, err := one.DueNotices(t.Context(), picture("shop: d")); err == nil {
		t.Error("the failure is lost")
	}

	d.fail = nil
	if got, _ := one.DueNotices(t.Context(), picture("shop: d")); len(got) != 1 {
		t.Error("what couldn't be asked about isn't told later")
	}
}

const hostile = "a\x1b]0;x\x07b; \u202ec\nd"

// A terminal gets its bell, and one notice in the way that it knows; nothing in a text can end that.
func TestSignal(t *testing.T) {
	n := Notice{Path: "/src/shop", Need: presence.Need{Text: hostile}}
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "\x07"},
		{map[string]string{"TERM_PROGRAM": "iTerm.app"}, "\x1b]9;tt: shop: a ]0;x b; c d (and 1 more)\x07\x07"},
		{map[string]string{"TERM": "foot"}, "\x1b]777;notify;tt;shop: a ]0,x b, c d (and 1 more)\x07\x07"},
		{map[string]string{"VTE_VERSION": "7600", "TMUX": "/tmp/x"}, "\x07"},
	} {
		got := TerminalOf(func(k string) string { return c.env[k] }).Signal([]Notice{n, n})
		if got != c.want {
			t.Errorf("with %v the terminal gets %q, want %q", c.env, got, c.want)
		}
	}

	if got := OSC9.Signal(nil); got != "" {
		t.Errorf("for nothing it gets %q", got)
	}
}

// A command gets the sentence on standard input and the facts in its environment. What it says when it fails
// isn't lost.
func TestCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the line is for a shell of Unix")
	}
	dir := t.TempDir()
	n := Notice{
		RoomID: "01m819", Path: "/src/shop",
		Need: presence.Need{
			Kind: presence.NeedReview, Task: "ui-7", Text: "ui-7 waits for a review",
			NextAction: "tt task diff ui-7",
		},
	}
	c := Command{Line: `(cat; env | grep TT_NOTIFY | sort) >told`, Environ: os.Environ(), Dir: dir}
	if err := c.Run(t.Context(), n); err != nil {
		t.Fatal(err)
	}

	got, err := os.ReadFile(filepath.Join(dir, "told"))
	const want = `shop: ui-7 waits for a review
TT_NOTIFY_AGENT=
TT_NOTIFY_KIND=review
TT_NOTIFY_MESSAGE=
TT_NOTIFY_NEXT=tt task diff ui-7
TT_NOTIFY_PATH=/src/shop
TT_NOTIFY_RESCUE=
TT_NOTIFY_ROOM=01m819
TT_NOTIFY_TASK=ui-7
`

	if string(got) != want || err != nil {
		t.Errorf("the command gets %q (%v), want %q", got, err, want)
	}
	c.Line = "echo no desktop >&2; exit 3"
	if err := c.Run(t.Context(), n); err == nil || !strings.Contains(err.Error(), "no desktop") {
		t.Errorf("it fails with %v", err)
	}

	c.Line = ""
	if err := c.Run(t.Context(), n); err != nil {
		t.Errorf("without a command: %v", err)
	}
}
