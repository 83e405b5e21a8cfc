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
)

// A FIFO per waiter stands in where inotify's instances are used up. It lies in a folder per room
// and the writer's Ring writes a byte to each that it finds there.
//
// No commit is missed. The waiter (1) puts its FIFO into the folder, (2) reads the database, (3)
// sleeps on the FIFO. The writer (a) commits, (b) lists the folder, (c) writes. If (2) didn't see
// (a), then (2) came before (a), so (1) before (b): the list has the FIFO, and its byte stays in
// it until (3). This is why the folder is listed by Ring and not by Prepare. A writer that is killed
// between (a) and (c) isn't heard; the waiter's Net notices that commit. The same goes for a FIFO
// that somebody deletes.
//
// A FIFO that has its final name had a reader when it got it, because it gets it by renaming. So
// one without a reader (ENXIO) belongs to a dead waiter, will never have a reader again, and
// may be removed by anybody.

func (d *Dir) fifos(room string) string { return d.bell(room) + ".fifo.d" }

// unfinished begins the names of FIFOs that have no reader yet.
const unfinished = "."

// unfinishedFor is how long an unfinished FIFO is left alone. A waiter whose FIFO was removed
// for being older makes another one.
const unfinishedFor = time.Minute

// listenFIFO makes a FIFO for each of rooms, and calls wake on each ring until stop is called.
func (d *Dir) listenFIFO(rooms []string, wake func()) (stop func() error, err error) {
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
			os.Remove(filepath.Dir(f.Name())) // fails, as it should, unless it was the last one
			errs = append(errs, f.Close())
		}
		readers.Wait()
		return errors.Join(errs...)
	}
	for _, room := range rooms {
		f, err := makeFIFO(d.fifos(room))
		if err != nil {
			stop()
			return nil, fmt.Errorf("fifo: %w", err)
		}
		open = append(open, f)
		readers.Go(func() { // ended by stop, which makes its Read fail
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

// makeFIFO makes a FIFO in folder and opens it. What it makes can vanish on the way: the folder
// when the last other waiter leaves it, the FIFO when it is slow to be opened.
func makeFIFO(folder string) (f *os.File, err error) {
	for range watchTries {
		if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		name := fmt.Sprintf("%d-%s", os.Getpid(), rand.Text())
		if f, err = openFIFO(filepath.Join(folder, unfinished+name), filepath.Join(folder, name)); !isNotExist(err) {
			break
		}
	}
	return f, err
}

// openFIFO makes a FIFO at path first and moves it to path last once it has its reader.
func openFIFO(first, last string) (*os.File, error) {
	if err := unix.Mkfifo(first, 0o600); err != nil {
		return nil, &os.PathError{Op: "mkfifo", Path: first, Err: err}
	}
	// Open for writing too, so that opening doesn't wait for a writer and reading doesn't end
	// with one. It doesn't block, so the runtime's poller waits for it.
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

// ringFIFOs writes a byte to each waiter's FIFO and removes those of the dead. Mostly nobody
// needs FIFOs, and it costs one look.
func (d *Dir) ringFIFOs(room string) {
	folder, err := os.Open(d.fifos(room))
	if err != nil {
		return
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1) // with an error come those that were read before it
	for _, name := range names {
		path := filepath.Join(folder.Name(), name)
		if strings.HasPrefix(name, unfinished) {
			if s, err := os.Lstat(path); err == nil && time.Since(s.ModTime()) > unfinishedFor {
				os.Remove(path)
			}
			continue
		}
		ringFIFO(path)
	}
}

func ringFIFO(path string) {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == unix.ENXIO {
		os.Remove(path)
	}
	if err != nil {
		return
	}
	// A FIFO that is full (EAGAIN) has rung already, and one without reader (EPIPE) needn't.
	unix.Write(fd, []byte{1})
	unix.Close(fd)
}
