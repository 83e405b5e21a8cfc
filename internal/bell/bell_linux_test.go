package bell

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// platformRoles are the roles that only this system has.
var platformRoles = map[string]func(*script) error{"exhaust": playExhaust, "ring-one": playRingOne}

func TestRingWakesAnotherProcess(t *testing.T) {
	for _, means := range []string{"inotify", "fifo"} {
		t.Run(means, func(t *testing.T) {
			dir := t.TempDir()
			waiter := play(t, "watch", dir, "a", means)
			waiter.expect("watching")
			writer := play(t, "ring", dir, "a")
			writer.expect("pulled")

			writer.proceed()
			writer.expect("rung")
			waiter.expect("woken")
		})
	}
}

func TestDeathRings(t *testing.T) {
	d := open(t)
	writer := play(t, "ring", filepath.Dir(d.bells), "a")
	writer.expect("pulled")
	w := watch(t, d, "a")
	writer.kill()
	hear(t, w)
}

// TestBellReplaced does to a bell what nobody should: it is a ring, and the bell that is then
// there is heard.
func TestBellReplaced(t *testing.T) {
	for name, spoil := range map[string]func(bell string) error{
		"deleted":   os.Remove,
		"moved":     func(bell string) error { return os.Rename(bell, bell+".old") },
		"recreated": func(bell string) error { return errors.Join(os.Remove(bell), os.WriteFile(bell, nil, 0o600)) },
		"overwritten": func(bell string) error {
			return errors.Join(os.WriteFile(bell+".new", nil, 0o600), os.Rename(bell+".new", bell))
		},
		"folder deleted": func(bell string) error {
			err := os.RemoveAll(filepath.Dir(bell))
			for errors.Is(err, unix.ENOTEMPTY) { // the watcher made it again at once
				err = os.RemoveAll(filepath.Dir(bell))
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			w := watch(t, d, "a")
			if err := spoil(d.bellPath("a")); err != nil {
				t.Fatal(err)
			}
			hear(t, w)

			// Losing a file gives up to four events. More rings than that come from its successor.
			for range 10 {
				prepare(t, d, "a").Ring()
				hear(t, w)
			}
		})
	}
}

// TestBellDeletedInHand deletes a bell that a writer has open: the file lives on without a name,
// and the waiter must not stay with it.
func TestBellDeletedInHand(t *testing.T) {
	d := open(t)
	w := watch(t, d, "a")
	r := prepare(t, d, "a")
	defer r.Ring()
	if err := os.Remove(d.bellPath("a")); err != nil {
		t.Fatal(err)
	}

	hear(t, w)
	for range 10 {
		prepare(t, d, "a").Ring()
		hear(t, w)
	}
}

func TestTouchIsNoLoss(t *testing.T) {
	d := open(t)
	w := watch(t, d, "a")
	for range 10 {
		if err := os.Chmod(d.bellPath("a"), 0o600); err != nil {
			t.Fatal(err)
		}
		prepare(t, d, "a").Ring()
		hear(t, w)
	}
}

func openFIFOs(t testing.TB) *Dir {
	d := open(t)
	d.fifoOnly = true
	return d
}

// fifos lists what lies in the folder of room.
func fifos(t *testing.T, d *Dir, room string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(d.fifoFolder(room))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}

	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestFIFO(t *testing.T) {
	d := openFIFOs(t)
	first, second := watch(t, d, "a", "b"), watch(t, d, "b")
	if got := first.Mechanism(); got != "fifo" {
		t.Errorf("got means %q, want fifo", got)
	}

	prepare(t, d, "b").Ring()
	hear(t, first)
	hear(t, second)
	prepare(t, d, "a").Ring()
	hear(t, first)
	first.Close()
	if got := fifos(t, d, "a"); len(got) != 0 {
		t.Errorf("got %v, want no FIFO left", got)
	}
	if got := fifos(t, d, "b"); len(got) != 1 {
		t.Errorf("got %v, want one FIFO", got)
	}

	second.Close()
	if _, err := os.Stat(d.fifoFolder("b")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no folder left", err)
	}
}

func TestFIFONoCommitMissed(t *testing.T) { noCommitMissed(t, openFIFOs(t)) }

func TestFIFOOfDeadWaiter(t *testing.T) {
	d := openFIFOs(t)
	w := watch(t, d, "a")
	dead := play(t, "watch", filepath.Dir(d.bells), "a", "fifo")
	dead.expect("watching")

	dead.kill()
	if got := fifos(t, d, "a"); len(got) != 2 {
		t.Fatalf("got %v, want two FIFOs", got)
	}

	prepare(t, d, "a").Ring()
	hear(t, w)
	if got := fifos(t, d, "a"); len(got) != 1 {
		t.Errorf("got %v, want that of the dead waiter removed", got)
	}
}

func TestFIFOFull(t *testing.T) {
	d := openFIFOs(t)
	if err := os.MkdirAll(d.fifoFolder("a"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(d.fifoFolder("a"), "full")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}

	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for err == nil {
		_, err = unix.Write(fd, make([]byte, 4096))
	}
	w := watch(t, d, "a")
	prepare(t, d, "a").Ring()
	hear(t, w)
}

func TestFIFOUnfinished(t *testing.T) {
	d := openFIFOs(t)
	watch(t, d, "a")
	for name, age := range map[string]time.Duration{".young": 0, ".old": 2 * unfinishedFor} {
		path := filepath.Join(d.fifoFolder("a"), name)
		when := time.Now().Add(-age)
		if err := errors.Join(unix.Mkfifo(path, 0o600), os.Chtimes(path, when, when)); err != nil {
			t.Fatal(err)
		}
	}

	prepare(t, d, "a").Ring()
	if _, err := os.Stat(filepath.Join(d.fifoFolder("a"), ".young")); err != nil {
		t.Errorf("got %v, want that a FIFO in the making is left alone", err)
	}
	if _, err := os.Stat(filepath.Join(d.fifoFolder("a"), ".old")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that an old one is removed", err)
	}
	os.Remove(filepath.Join(d.fifoFolder("a"), ".young"))
}

// TestInstancesUsedUp takes all inotify instances of a user. Root does it as a user that nobody
// is, so as to leave the others' alone.
func TestInstancesUsedUp(t *testing.T) { play(t, "exhaust").expect("woken by fifo") }

func playExhaust(s *script) error {
	if os.Getuid() == 0 {
		if err := unix.Setuid(60_000 + os.Getpid()%5_000); err != nil {
			return err
		}
	}

	dir, err := os.MkdirTemp("", "bell")
	if err != nil {
		return err
	}
	for err = nil; err == nil; {
		_, err = unix.InotifyInit1(unix.IN_CLOEXEC)
	}
	d, err := Open(dir)
	if err != nil {
		return err
	}

	w, err := d.Watch("a")
	if err != nil {
		return err
	}
	r, err := d.Prepare("a")
	if err != nil {
		return err
	}

	r.Ring()
	<-w.C
	if err := errors.Join(w.Close(), os.RemoveAll(dir)); err != nil {
		return err
	}
	s.say("woken by " + w.Mechanism())
	return nil
}

func BenchmarkRingToWakeFIFO(b *testing.B) {
	d := openFIFOs(b)
	w := watch(b, d, "a")
	for b.Loop() {
		prepare(b, d, "a").Ring()
		<-w.C
	}
}

// BenchmarkRingToExit measures from a ring to the end of the process that it woke. It shows what
// an instance that is closed too early costs.
func BenchmarkRingToExit(b *testing.B) {
	d := open(b)
	for b.Loop() {
		b.StopTimer()
		p := play(b, "heed", filepath.Dir(d.bells))
		p.expect("watching")
		r := prepare(b, d, "a")
		b.StartTimer()
		r.Ring()
		if _, err := p.cmd.Process.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestInstanceShared ends and begins watches: they need one inotify instance, and the end of one
// leaves the others alone.
func TestInstanceShared(t *testing.T) {
	d := open(t)
	first, second := watch(t, d, "a", "b"), watch(t, d, "b", "c")
	instance := d.watcher.file
	prepare(t, d, "b").Ring()
	hear(t, first)
	hear(t, second)
	first.Close()
	prepare(t, d, "b").Ring()
	hear(t, second)
	if len(first.C) != 0 {
		t.Error("a closed watch heard a ring")
	}

	second.Close()
	if len(d.watcher.bells) != 0 || len(d.watcher.path) != 0 {
		t.Errorf("got %v, %v, want nothing watched", d.watcher.bells, d.watcher.path)
	}

	third := watch(t, d, "a")
	if d.watcher.file != instance {
		t.Error("a new instance was made")
	}

	d.watcher.closeInstance() // in use, so it stays
	prepare(t, d, "a").Ring()
	hear(t, third)
	third.Close()
	d.watcher.closeInstance()
	if d.watcher.file != nil {
		t.Error("an instance that nobody uses wasn't closed")
	}

	fourth := watch(t, d, "a")
	prepare(t, d, "a").Ring()
	hear(t, fourth)
}
