//go:build unix

package plainfile

import (
	"os"
	"path/filepath"
	"testing"

	"talkingstick/stick"
)

// as runs the rest of a test as if by another user.
func as(t *testing.T, uid int) {
	real := geteuid
	geteuid = func() int { return uid }
	t.Cleanup(func() { geteuid = real })
}

// A link in the data directory, put there by somebody else, leads nowhere.
func TestLinksAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	victim, link := filepath.Join(dir, "victim"), filepath.Join(dir, "tt.log")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}

	for _, to := range []string{victim, filepath.Join(dir, "absent")} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		if f, err := Open(link, os.O_CREATE|os.O_APPEND|os.O_WRONLY); stick.CodeOf(err) != stick.CodeDataDirNotWritable {
			t.Errorf("opening a link to %s: %v, %v", to, f, err)
		}
		if err := Check(link); stick.CodeOf(err) != stick.CodeDataDirNotWritable {
			t.Errorf("checking a link to %s: %v", to, err)
		}

		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}

	if _, err := os.Lstat(filepath.Join(dir, "absent")); err == nil {
		t.Error("a file was made where the link led")
	}
}

func TestADirectoryOfAnotherUserIsRefused(t *testing.T) {
	dir, owner := t.TempDir(), os.Geteuid()
	if owner == 0 { // a directory of root is everybody's
		owner = 4242
		if err := os.Chown(dir, owner, owner); err != nil {
			t.Fatal(err)
		}
	}

	for _, c := range []struct {
		who, uid int
		refused  bool
	}{{who: owner}, {who: owner + 1, refused: true}, {who: 0}} {
		as(t, c.who)
		if err := CheckOwner(dir); (stick.CodeOf(err) == stick.CodeDataDirOfAnother) != c.refused {
			t.Errorf("uid %d in a directory of uid %d: %v", c.who, owner, err)
		}
	}

	as(t, owner+1)
	if err := CheckOwner(filepath.Join(dir, "absent")); err != nil {
		t.Errorf("a directory that isn't there: %v", err)
	}
}

// Whoever uses sudo with their own HOME can go on without it.
func TestWhatRootMakesBelongsToTheOwnerOfTheDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const owner = 4242
	home := t.TempDir()
	if err := os.Chown(home, owner, owner); err != nil {
		t.Fatal(err)
	}

	data := filepath.Join(home, "share", "talking-stick")
	if err := MkdirAll(data); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(data, "tt.log")
	f, err := Open(log, os.O_CREATE|os.O_WRONLY)
	if err != nil {
		t.Fatal(err)
	}

	f.Close()
	tmp, err := Temp(data, "new-")
	if err != nil {
		t.Fatal(err)
	}
	tmp.Close()

	for _, path := range []string{filepath.Dir(data), data, log, tmp.Name()} {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if uid, _ := Owner(info); uid != owner {
			t.Errorf("%s belongs to %d", path, uid)
		}
	}

	// a second name of a file of root's isn't given away
	theirs := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(theirs, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(theirs, filepath.Join(data, "write.lock")); err != nil {
		t.Fatal(err)
	}

	if f, err := Open(filepath.Join(data, "write.lock"), os.O_CREATE|os.O_RDWR); err == nil {
		f.Close()
	}

	if info, err := os.Stat(theirs); err != nil {
		t.Fatal(err)
	} else if uid, _ := Owner(info); uid != 0 {
		t.Errorf("a file of root's was given to %d", uid)
	}
}
