package store_test

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestBusyNamesTheHolder stops a process that holds the write lock. A writer that has waited too long learns
// which process that is, and succeeds once the process goes on.
func TestBusyNamesTheHolder(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		c := start(t, storetest.Options(db), "stop", "before commit")
		t.Cleanup(func() { end(c) })
		soon(t, "the child is stopped", func() bool { return state(c.Process.Pid) == 'T' })
		err := db.Update(ctx, func(*store.Tx) error { t.Error("two processes hold the write lock"); return nil })
		e := refused(t, err, stick.CodeDatabaseBusy)
		if e.Fields["pid"] != c.Process.Pid || len(e.Hint) == 0 {
			t.Errorf("the refusal is %q with %v; the lock is held by process %d", e.Message, e.Fields, c.Process.Pid)
		}

		load(t, db, id) // reading goes on all the while
		if err := c.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err != nil {
			t.Fatalf("the child: %v", err)
		}

		rooms := 0
		update(t, db, func(tx *store.Tx) error {
			rs, err := tx.Rooms(nil, "")
			rooms = len(rs)
			return err
		})

		if rooms != 2 {
			t.Errorf("there are %d rooms; the child made one when it went on", rooms)
		}
	}, storetest.WriteWait(200*time.Millisecond))
}

// TestKilledAtACommit kills a process right before and right after its commit. Nothing is half done, the lock
// is free, and the process's death rings those who listen.
func TestKilledAtACommit(t *testing.T) {
	for point, want := range map[string]int{"before commit": 1, "after commit": 2} {
		t.Run(point, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				played(t, db)
				w, err := db.Bell.Watch("bell")
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				c := start(t, storetest.Options(db), "kill", point)
				if err := c.Wait(); err == nil {
					t.Fatal("the child wasn't killed")
				}

				select {
				case <-w.C:
				case <-time.After(1500 * time.Millisecond):
					if w.Mechanism() == "inotify" {
						t.Error("a process that was killed didn't ring")
					}
				}

				rooms := 0
				update(t, db, func(tx *store.Tx) error {
					rs, err := tx.Rooms(nil, "")
					rooms = len(rs)
					return err
				})

				if rooms != want {
					t.Errorf("killed %s: %d rooms, want %d", point, rooms, want)
				}
			})
		})
	}
}

// state returns the kernel's letter for the state of a process.
func state(pid int) byte {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	i := bytes.LastIndexByte(b, ')')
	if err != nil || i < 0 || i+2 >= len(b) {
		return 0
	}
	return b[i+2]
}

// end ends a child that a test has left.
func end(c *exec.Cmd) {
	if c.ProcessState == nil {
		c.Process.Kill()
		c.Wait()
	}
}
