package proc_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// TestAge: a process that this one starts is younger than the time since before, and older than the time
// since after. The kernel counts its start in ticks of 10 ms, so it may seem to be younger by one.
func TestAge(t *testing.T) {
	table, err := proc.Host()
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	c := exec.Command("cat")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	after := time.Now()
	defer c.Wait()
	defer in.Close()
	info, err := table.Info(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}

	p := info.ID
	for range 3 {
		least := time.Since(after)
		age, known := proc.AgeOf(p)
		for !known && time.Since(before) < time.Minute { // its first tick isn't over
			age, known = proc.AgeOf(p)
		}
		if most := time.Since(before); !known || age > most || age < least-20*time.Millisecond {
			t.Errorf("it is %s old, and was started between %s and %s ago", age, most, least)
		}
	}

	if age, known := proc.AgeOf(stick.Process{}); known {
		t.Errorf("no process is %s old", age)
	}
	if _, known := proc.AgeOf(stick.Process{PID: os.Getpid(), Start: 1 << 50}); known {
		t.Error("a process that hasn't started yet has an age")
	}
}
