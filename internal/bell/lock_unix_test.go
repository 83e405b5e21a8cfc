//go:build !windows

package bell

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"talkingstick/stick"
)

func TestLockExcludesProcesses(t *testing.T) {
	path, number := lockPath(t), filepath.Join(t.TempDir(), "number")
	if err := os.WriteFile(number, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	const processes, times = 3, 100
	var all []*process
	for range processes {
		all = append(all, play(t, "count", path, number, strconv.Itoa(times)))
	}
	for _, p := range all {
		p.expect("counted")
	}
	b, err := os.ReadFile(number)
	if want := strconv.Itoa(processes * times); err != nil || string(b) != want {
		t.Errorf("got %s (%v), want %s", b, err, want)
	}
}

func TestLockOfStoppedProcess(t *testing.T) {
	path := lockPath(t)
	holder := play(t, "lock", path)
	holder.expect("locked")
	holder.stop()
	_, err := Lock(soon(t), path)
	checkHeld(t, err, holder.cmd.Process.Pid)

	m := NewMutex(path)
	defer m.Close()
	checkHeld(t, m.Lock(soon(t)), holder.cmd.Process.Pid)
	holder.kill()
	if err := m.Lock(late(t)); err != nil {
		t.Fatalf("after the holder's death: %v", err)
	}
	m.Unlock()
}

func TestLockFreedByDeath(t *testing.T) {
	path := lockPath(t)
	holder := play(t, "lock", path)
	holder.expect("locked")
	if _, ok, err := TryLock(path); ok || err != nil {
		t.Errorf("TryLock of a held lock: got %t, %v", ok, err)
	}

	holder.kill()
	l, ok, err := TryLock(path)
	if !ok {
		t.Fatalf("TryLock after the holder's death: got %t, %v", ok, err)
	}
	l.Unlock()
}

// TestChildInheritsNothing kills a process that has one of everything and whose child lives on.
func TestChildInheritsNothing(t *testing.T) {
	d := open(t)
	lock, mutex := lockPath(t), lockPath(t)
	parent := play(t, "parent", filepath.Dir(d.bells), lock, mutex)
	parent.expect("born")
	if got := d.Listening("listener"); got != stick.Alive {
		t.Errorf("got %s, want that the parent is present", got)
	}

	w := watch(t, d, "room")
	parent.kill()
	for _, path := range []string{lock, mutex} {
		if l, ok, err := TryLock(path); !ok {
			t.Errorf("the child has the lock: %v", err)
		} else {
			l.Unlock()
		}
	}

	if got := d.Listening("listener"); got != stick.Gone {
		t.Errorf("got %s, want that nobody is present", got)
	}
	if runtime.GOOS == "linux" { // elsewhere death doesn't ring
		hear(t, w)
	}
	parent.proceed()
	parent.expect("still here")
}
