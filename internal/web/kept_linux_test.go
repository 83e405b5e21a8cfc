package web

import (
	"net"
	"testing"

	"talkingstick/internal/scene"
)

// ownAddress is where a server listens that is started again. A port of 127.0.0.1 could be taken meanwhile,
// also by what other tests connect from.
const ownAddress = "127.77.0.1:0"

// TestListen: without a port a server listens where it let browsers in last, if nobody else does.
func TestListen(t *testing.T) {
	s := scene.New(t)
	dir := t.TempDir()
	keep := func(o *Options) { o.Sessions = dir }
	d := &desk{Scene: s, ann: s.Person("ann"), listen: ownAddress}
	d.serve(keep)
	first := d.base
	d.signIn(d.server.Address(addressOf(first), ""))
	stopSecond := d.serve(keep)
	second := d.base
	d.signIn(d.server.Address(addressOf(second), ""))
	if first == second {
		t.Fatalf("two servers listen on %s", first)
	}

	stopSecond()

	l, err := New(Options{Engine: d.ann.Engine, Tasks: d.ann.Tasks, Caller: d.ann.By, Sessions: dir}).Listen(t.Context(), ownAddress)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := "http://" + l.Addr().String(); got != second {
		t.Errorf("it listens on %s, where %s was the last one", got, second)
	}

	for _, address := range []string{"127.0.0.1:0", "localhost:0", "127.77.0.1:x", "x"} {
		if got := d.server.earlierAddresses(address); len(got) != 0 {
			t.Errorf("%s means %v", address, got)
		}
	}

	if _, port, _ := net.SplitHostPort(l.Addr().String()); len(d.server.earlierAddresses("127.77.0.1:"+port)) != 0 {
		t.Error("a port means another one")
	}
}

// TestRestart: a tab goes on when its server was stopped and started again, and so does its stream.
func TestRestart(t *testing.T) {
	s := scene.New(t)
	claude := s.Agent("claude:a")
	claude.Try().Granted(1)
	dir := t.TempDir()
	keep := func(o *Options) { o.Sessions = dir }
	d := &desk{Scene: s, ann: s.Person("ann"), listen: ownAddress}
	stop := d.serve(keep)
	base := d.base
	d.signIn(d.server.Address(addressOf(d.base), ""))
	room := "/room/" + string(s.Room().ID)
	has(t, d.ok(room), string(claude.ID))
	stop()

	d.serve(keep)
	if d.base != base {
		t.Fatalf("it listens on %s instead of %s", d.base, base)
	}

	has(t, d.ok(room), string(claude.ID))
	x := d.stream(room, nil)
	claude.Release("wrote the lexer", "write the parser")
	x.row("write the parser")

	// A server that isn't this one's restart doesn't know the tab, and doesn't end its session.
	mine, below := d.client, d.below
	d.serve(func(o *Options) { o.Sessions = t.TempDir() })
	d.client, d.below = mine, below
	if a := d.page(room); a.status != 401 {
		t.Errorf("another server: %d", a.status)
	}
}
