package bell

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"talkingstick/internal/plainfile"
)

// Where all inotify instances are in use, each waiter has a FIFO instead. Every room has a folder of
// FIFOs, and a writer's Ring writes a byte to each.
//
// A waiter misses no commit. It (1) puts its FIFO into the folder, (2) reads the database, (3) sleeps on
// the FIFO. The writer (a) commits, (b) lists the folder, (c) writes. If (2) didn't see (a), then (2) came
// before (a), so (1) came before (b): the list has the FIFO, and the byte stays in it until (3). This is
// why Ring lists the folder, and not Prepare. If the writer is killed between (a) and (c), or somebody
// deletes the FIFO, the waiter's Net notices the commit.
//
// The FIFO of a listener that hears what concerns it has the listener's id at the end of its name. A ring for
// some leaves out those of other listeners; older programs, which don't read names, ring them all.
//
// A FIFO gets its final name by renaming, when it already has a reader. So one without a reader (ENXIO)
// belongs to a dead waiter and will never have a reader again. Anybody may remove it.

func (d *Dir) fifoFolder(room string) string { return d.bellPath(room) + ".fifo.d" }

// unfinished begins the names of FIFOs that have no reader yet.
const unfinished = "."

// unfinishedFor is the age at which an unfinished FIFO is removed. If its waiter still lives, it makes
// another one.
const unfinishedFor = time.Minute

// ownerMark comes before the id of a listener in the name of its FIFO. No id has it.
const ownerMark = "@"

// listenFIFO makes a FIFO for each room, and calls wake on each ring until stop is called. A listener's id
// leaves out rings for others.
func (d *Dir) listenFIFO(rooms []string, listener string, wake func()) (stop func() error, err error) {
	var (
		open    []*os.File
		readers sync.WaitGroup
	)

	stop = func() error {
		var errs []error
		for _, f := range open {
			if err := os.Remove(f.Name()); err != nil && !isNotExist(err) {
				errs = append(errs, err)
			}
			// This fails, as it should, while other FIFOs are left.
			os.Remove(filepath.Dir(f.Name()))
			errs = append(errs, f.Close())
		}

		readers.Wait()
		return errors.Join(errs...)
	}

	for _, room := range rooms {
		f, err := makeFIFO(d.fifoFolder(room), listener)
		if err != nil {
			stop()
			return nil, fmt.Errorf("fifo: %w", err)
		}

		open = append(open, f)
		// It ends by stop, which makes its Read fail.
		readers.Go(func() {
			buf := make([]byte, 512)
			for {
				if _, err := f.Read(buf); err != nil {
					return
				}
				wake()
			}
		})
	}

	return stop, nil
}

// makeFIFO makes a FIFO in folder and opens it. It tries again if others remove the folder, because the
// last other waiter has left, or the FIFO, because opening it took too long.
func makeFIFO(folder, listener string) (f *os.File, err error) {
	for range watchTries {
		if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}

		name := fmt.Sprintf("%d-%s", os.Getpid(), rand.Text())
		if listener != "" {
			name += ownerMark + listener
		}
		if f, err = openFIFO(filepath.Join(folder, unfinished+name), filepath.Join(folder, name)); !isNotExist(err) {
			break
		}
	}
	return f, err
}

// openFIFO makes a FIFO at path first, and renames it to last once it has a reader.
func openFIFO(first, last string) (*os.File, error) {
	if err := unix.Mkfifo(first, 0o600); err != nil {
		return nil, &os.PathError{Op: "mkfifo", Path: first, Err: err}
	}
	if err := plainfile.InheritPath(first); err != nil {
		os.Remove(first)
		return nil, err
	}

	// Open for writing, too, so that opening doesn't wait for a writer, and reading doesn't end when
	// a writer closes. Non-blocking, so that the runtime's poller waits for it.
	fd, err := unix.Open(first, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		os.Remove(first)
		return nil, &os.PathError{Op: "open", Path: first, Err: err}
	}

	if err := os.Rename(first, last); err != nil {
		unix.Close(fd)
		os.Remove(first)
		return nil, err
	}
	return os.NewFile(uintptr(fd), last), nil
}

// ringFIFOs writes a byte to the FIFO of each waiter whom a ring is for, and removes those of dead waiters.
// Mostly there are none, and it costs one attempt to open the folder.
func (d *Dir) ringFIFOs(rung rungRoom) {
	folder, err := os.OpenFile(d.fifoFolder(rung.room), os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer folder.Close()

	// An error still returns the names that were read before it.
	names, _ := folder.Readdirnames(-1)
	for _, name := range names {
		path := filepath.Join(folder.Name(), name)
		if strings.HasPrefix(name, unfinished) {
			// A waiter that needs so long makes another one.
			if s, err := os.Lstat(path); err == nil && time.Since(s.ModTime()) > unfinishedFor {
				os.Remove(path)
			}
			continue
		}

		_, listener, isOwn := strings.Cut(name, ownerMark)
		if !isOwn || rung.isFor(listener) {
			ringFIFO(path)
		}
	}
}

func ringFIFO(path string) {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == unix.ENXIO {
		// A FIFO without a reader is a dead waiter's.
		os.Remove(path)
	}
	if err != nil {
		return
	}

	// A full FIFO (EAGAIN) has rung already, and one without a reader (EPIPE) needn't.
	unix.Write(fd, []byte{1})
	unix.Close(fd)
}
