package web

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/core"
)

// keysAt returns the keys of a server on an address that keeps its sessions in a directory.
func keysAt(now *time.Time, dir, address string, by core.Caller) *keys {
	k := newKeys(func() time.Time { return *now }, newSessionFolder(dir, by))
	k.listenOn(address)
	return k
}

// TestSession_Kept: a session goes on when its server is started again, and nowhere else.
func TestSession_Kept(t *testing.T) {
	const address = "127.0.0.1:8321"
	ann := core.Caller{User: "ann", Person: true, Harness: "human"}
	now, dir := time.Unix(1e9, 0), filepath.Join(t.TempDir(), "some where", "browsers")
	before := keysAt(&now, dir, address, ann)
	sess, ok := before.redeemInvite(before.makeInvite(0))
	if !ok {
		t.Fatal("an invitation isn't good")
	}

	for _, c := range []struct {
		name, dir, address string
		by                 core.Caller
		want               bool
	}{
		{"the same server", dir, address, ann, true},
		{"a server on another port", dir, "127.0.0.1:8322", ann, false},
		{"a server on another address", dir, "[::1]:8321", ann, false},
		{"a server with another data directory", t.TempDir(), address, ann, false},
		{"a server that keeps nothing", "", address, ann, false},
		{
			"a server of the person's agent",
			dir,
			address,
			core.Caller{User: "ann", Harness: "claude", SessionID: "x"},
			false,
		},
		{
			"a server under another name",
			dir,
			address,
			core.Caller{User: "ann", Person: true, Harness: "human", As: "bob"},
			false,
		},
	} {
		if got := keysAt(&now, c.dir, c.address, c.by).useSession(sess); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}

	if keysAt(&now, dir, address, ann).useSession(session{sess.path, sess.cookie + "x"}) ||
		keysAt(&now, dir, address, ann).useSession(session{"x", sess.cookie}) {
		t.Error("another session is open")
	}
}

// TestSession_Most: a further session ends the one that nobody has used for longest.
func TestSession_Most(t *testing.T) {
	now := time.Unix(1e9, 0)
	k := keysAt(&now, "", "127.0.0.1:8321", core.Caller{})
	first, _ := k.redeemInvite(k.makeInvite(0))
	second, _ := k.redeemInvite(k.makeInvite(0))
	now = now.Add(noteUse)
	if !k.useSession(first) {
		t.Fatal("a session is over at once")
	}

	for range maxSessions - 1 {
		k.redeemInvite(k.makeInvite(0))
	}
	if !k.useSession(first) || k.useSession(second) || len(k.sessions) != maxSessions {
		t.Errorf("of %d sessions the wrong one has ended", len(k.sessions))
	}
}

// TestSession_Over: a session that nobody uses is over after two weeks, and its file goes. Each use prolongs
// it.
func TestSession_Over(t *testing.T) {
	const address = "127.0.0.1:8321"
	ann := core.Caller{User: "ann", Person: true}
	now, dir := time.Unix(1e9, 0), t.TempDir()
	before := keysAt(&now, dir, address, ann)
	left, _ := before.redeemInvite(before.makeInvite(0))

	used, _ := before.redeemInvite(before.makeInvite(0))
	for range 3 {
		now = now.Add(sessionFor - time.Hour)
		if !keysAt(&now, dir, address, ann).useSession(used) {
			t.Fatal("a session that is used is over")
		}
	}

	if keysAt(&now, dir, address, ann).useSession(left) || before.useSession(left) {
		t.Error("a session that nobody uses isn't over")
	}

	f := newSessionFolder(dir, ann)
	if got := f.usedAddresses(now); len(got) != 1 || got[0] != address {
		t.Errorf("browsers were let in at %v", got)
	}

	now = now.Add(sessionFor)
	if got := f.usedAddresses(now); len(got) != 0 || keysAt(&now, dir, address, ann).useSession(used) {
		t.Errorf("after the end browsers were let in at %v", got)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("%v, %v are left", files, err)
	}
}

// TestSession_File: only its owner may read the file of a server, and it lets nobody in.
func TestSession_File(t *testing.T) {
	const address = "127.0.0.1:8321"
	ann := core.Caller{User: "ann", Person: true}
	now, dir := time.Unix(1e9, 0), filepath.Join(t.TempDir(), "browsers")
	k := keysAt(&now, dir, address, ann)
	token := k.makeInvite(0)
	sess, _ := k.redeemInvite(token)
	path := newSessionFolder(dir, ann).filePath(address)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	for _, secret := range []string{sess.path, sess.cookie, token} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the file has %s:\n%s", secret, text)
		}
	}

	if runtime.GOOS != "windows" {
		for path, want := range map[string]fs.FileMode{dir: 0o700, path: 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s has the mode %v, %v", path, info.Mode(), err)
			}
		}
	}

	for _, damaged := range []string{
		"",
		"{",
		`{"address":"127.0.0.1:8321"}`,
		`{"caller":"ann\n\n","address":"127.0.0.1:8321","sessions":[{"sum":"zz"},{"sum":"00"}]}`,
	} {
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		k := keysAt(&now, dir, address, ann)
		if k.useSession(sess) || k.useSession(session{}) {
			t.Errorf("%q lets somebody in", damaged)
		}

		again, ok := k.redeemInvite(k.makeInvite(0))
		if !ok || !keysAt(&now, dir, address, ann).useSession(again) {
			t.Errorf("after %q no session is kept", damaged)
		}
	}
}

// TestSignOutAll: no session of before is kept, and the server's own ones are kept again.
func TestSignOutAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "browsers")
	ann := core.Caller{User: "ann", Person: true}
	now := time.Unix(1e9, 0)
	before := keysAt(&now, dir, "127.0.0.1:8321", ann)
	sess, _ := before.redeemInvite(before.makeInvite(0))

	s := &Server{o: Options{Sessions: dir}}
	for range 2 {
		if err := s.SignOutAll(); err != nil {
			t.Fatal(err)
		}
	}

	after := keysAt(&now, dir, "127.0.0.1:8321", ann)
	other, _ := after.redeemInvite(after.makeInvite(0))
	if again := keysAt(&now, dir, "127.0.0.1:8321", ann); again.useSession(sess) || !again.useSession(other) {
		t.Error("the wrong session is kept")
	}

	if err := new(Server).SignOutAll(); err != nil {
		t.Errorf("without a directory: %v", err)
	}
}
