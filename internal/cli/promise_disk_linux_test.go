package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"talkingstick/internal/testenv"
)

// TestNothingIsLost_FullDisk: where the data directory takes nothing more, what a command would take without a copy is refused, and everything else
// goes on. When there is space again, all is as if there had always been some.
func TestNothingIsLost_FullDisk(t *testing.T) {
	testenv.Alone(t)

	w, data := newWardOnDisk(t)
	fill := filepath.Join(data, "fill")
	w.isStoredNowhere(func() {
		f, err := os.Create(fill)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()

		for size := 1 << 20; size > 0; {
			if _, err := f.Write(make([]byte, size)); errors.Is(err, unix.ENOSPC) {
				size /= 2
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}, func() {
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
	})
}

// TestNothingIsLost_ReadOnly is the same where nobody may write the data directory.
func TestNothingIsLost_ReadOnly(t *testing.T) {
	testenv.Alone(t)

	w, data := newWardOnDisk(t)
	remount := func(flags uintptr) {
		if err := unix.Mount("", data, "", unix.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	w.isStoredNowhere(func() { remount(unix.MS_RDONLY) }, func() { remount(0) })
}

// newWardOnDisk makes a place whose data directory is a small file system of its own.
func newWardOnDisk(t *testing.T) (w *ward, data string) {
	t.Helper()
	w = newWard(t, "ann", "bob", "cy")
	data = filepath.Join(w.work, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}

	if err := unix.Mount("tmpfs", data, "tmpfs", 0, "size=16m,mode=0700"); err != nil {
		t.Skipf("NOT TESTED: the data directory can't be a file system of its own here, which takes root: %v", err)
	}

	t.Cleanup(func() {
		if err := unix.Unmount(data, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})

	w.buildForPrograms()
	w.write(filepath.Join(w.app, "d/c.txt"), "by bob\n", 0o644)
	w.wrote("bob", "app/d/c.txt")
	return w, data
}

// isStoredNowhere plays calls while nothing can be stored, and after that.
func (w *ward) isStoredNowhere(begin, end func()) {
	w.Helper()
	p := &program{
		ward: w,
		seen: map[string]string{"by bob\n": "d/c.txt", "by a person\n": "p.txt", "new, by bob\n": "new.txt"},
	}
	w.write(filepath.Join(w.app, "p.txt"), "by a person\n", 0o644)
	w.write(filepath.Join(w.app, "new.txt"), "new, by bob\n", 0o644)

	begin()
	for _, c := range []struct{ agent, command string }{
		{"ann", "rm p.txt"}, {"bob", "git clean -fdq"}, {"cy", "mv a.txt p.txt"},
	} {
		did := w.calls(c.agent, c.command)
		if !strings.Contains(did.denied, "no copy") {
			w.Errorf("%s is allowed: %q isn't refused, but says %q", c.agent, c.command, did.before+did.after)
		}
	}

	for _, command := range []string{"ls", "make", "echo 'by ann' >a.txt"} {
		if did := w.calls("ann", command); did.denied != "" {
			w.Errorf("%q is refused: %s", command, did.denied)
		}
	}

	end()

	w.calls("ann", "echo 'by ann, later' >b.txt")
	w.calls("bob", "rm p.txt new.txt")
	if lost := p.lost(); len(lost) > 0 {
		w.Errorf("lost: %s", strings.Join(lost, "; "))
	}
	w.checkEditors(map[string]string{"b.txt": "ann"}, true)

	if out := w.person("tt doctor"); strings.Contains(out, "can't be read") {
		w.Errorf("the doctor finds %s", out)
	}
}
