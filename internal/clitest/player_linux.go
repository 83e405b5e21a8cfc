package clitest

import (
	"fmt"
	"io/fs"
	"strings"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"talkingstick/internal/proc"
)

// disownOrphans ends what a command of a worker begins: that this process becomes the parent of orphans below it.
func disownOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }

// startedNow has a process find that it was started just now. A hook goes by its own age: what happened since
// it began, another hook of the same event has told.
func startedNow(procs func() (*proc.Table, error)) (func() (*proc.Table, error), error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return nil, err
	}
	ticks := now.Nano() / int64(10*time.Millisecond)
	return func() (*proc.Table, error) {
		t, err := procs()
		if err == nil {
			t.FS = restarted{t.FS, ticks}
		}
		return t, err
	}, nil
}

// restarted is a /proc in which the process that reads it has started at another time.
type restarted struct {
	fs.FS
	ticks int64 // since the boot
}

func (r restarted) Open(name string) (fs.File, error) {
	if name != "self/stat" {
		return r.FS.Open(name)
	}

	stat, err := fs.ReadFile(r.FS, name)
	if err != nil {
		return nil, err
	}
	const start = 19 // behind the name, which may have blanks in it
	end := strings.LastIndexByte(string(stat), ')') + 1

	fields := strings.Fields(string(stat[end:]))
	fields[start] = fmt.Sprint(r.ticks)

	// What follows the name must stay in its order.
	stat = append(stat[:end], " "+strings.Join(fields, " ")+"\n"...)
	return fstest.MapFS{name: {Data: stat}}.Open(name)
}

func (r restarted) ReadLink(name string) (string, error) { return fs.ReadLink(r.FS, name) }

func (r restarted) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(r.FS, name) }
