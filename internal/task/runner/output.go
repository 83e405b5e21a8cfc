package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/task/command"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// The output of a run lies in a directory of its own, in parts. The name of a part is the number of the byte
// that it begins with. The first part stays, and of the others only the last two do. So the start and the end
// of any output are kept, in at most 9 MiB, and whoever reads along knows what was dropped in between.
const (
	firstPart = 1 << 20 // bytes
	laterPart = 4 << 20

	partSuffix = ".out"
)

// keepOutput is how long the output of a run stays in its directory after the last byte. The end of it stays
// in the database.
const keepOutput = 14 * 24 * time.Hour

// outputDir is the directory with the output of a run.
func (rs *Runs) outputDir(room stick.RoomID, r tasks.Run) string {
	return filepath.Join(rs.core.Config.Dir, "runs", string(room), fmt.Sprintf("%s-%d-%d", r.Task, r.Attempt, r.Number))
}

// dropOldOutput removes the output of runs of a room that ended long ago.
func (rs *Runs) dropOldOutput(room stick.RoomID) {
	parent := filepath.Join(rs.core.Config.Dir, "runs", string(room))

	// Without the directory nothing is dropped.
	runs, _ := os.ReadDir(parent)

	for _, d := range runs {
		parts, err := os.ReadDir(filepath.Join(parent, d.Name()))
		old := err == nil

		// The directory is old if nothing in it is young.
		for _, p := range parts {
			info, err := p.Info()
			old = old && err == nil && time.Since(info.ModTime()) > keepOutput
		}

		if info, err := d.Info(); old && err == nil && time.Since(info.ModTime()) > keepOutput {
			_ = os.RemoveAll(filepath.Join(parent, d.Name()))
		}
	}
}

// outputWriter keeps the output of a run. It is one goroutine's.
type outputWriter struct {
	dir  string
	size int64 // of everything that was written, kept or not
	part *os.File
	left int // bytes that fit into part
	old  []string
	tail command.Tail
	err  error // the first failure; nothing more is kept in the directory then
}

// newOutput makes the directory of a run's output, and empties it: after a restore of the database, an
// earlier run may have had the same number. If it can't, the writer keeps only the end, in memory.
func newOutput(dir string) *outputWriter {
	err := plainfile.MkdirAll(dir)
	if err == nil {
		// Somebody may be watching the directory, so that stays.
		err = dropParts(dir)
	}
	return &outputWriter{dir: dir, err: err}
}

// dropParts removes the parts of an output.
func dropParts(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), partSuffix) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// Write keeps b. It never fails: the command goes on although its output can't be kept.
func (w *outputWriter) Write(b []byte) (int, error) {
	// The end is kept in memory as well, for the database.
	_, _ = w.tail.Write(b)
	for n := 0; n < len(b) && w.err == nil; {
		if w.left == 0 {
			w.err = w.beginPart(w.size + int64(n))
			continue
		}

		some := b[n:min(len(b), n+w.left)]
		if _, w.err = w.part.Write(some); w.err == nil {
			n, w.left = n+len(some), w.left-len(some)
		}
	}

	w.size += int64(len(b))
	return len(b), nil
}

// beginPart begins the part that starts with byte at, and removes the part before the last one, unless it is
// the first.
func (w *outputWriter) beginPart(at int64) error {
	w.left = laterPart
	if at == 0 {
		w.left = firstPart
	}

	// The new part exists before an old one goes, so that a reader always finds one.
	path := filepath.Join(w.dir, fmt.Sprintf("%020d%s", at, partSuffix))
	f, err := plainfile.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND)
	if err != nil {
		return err
	}

	w.closePart()
	w.part = f
	if at == 0 {
		return nil
	}

	// The first part is never in the list, so it stays.
	if w.old = append(w.old, path); len(w.old) > 2 {
		err = os.Remove(w.old[0])
		w.old = w.old[1:]
	}

	return err
}

// appendOutput adds a line to the output of a run that has ended, if that is still kept in its directory.
func appendOutput(dir, line string) {
	if _, err := os.Stat(dir); err != nil {
		return
	}

	o := output{dir: dir}
	end, err := o.endOffset()
	if err != nil {
		return
	}

	// The line stands alone, even if the output ends within one.
	if last := o.lastBytes(1); len(last) > 0 && last[0] != '\n' {
		line = "\n" + line
	}

	f, err := plainfile.Open(filepath.Join(dir, fmt.Sprintf("%020d%s", end, partSuffix)),
		os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return
	}

	// A failure is ignored, because the line only explains.
	_, _ = f.WriteString(line)
	_ = f.Close()
}

func (w *outputWriter) closePart() {
	if w.part != nil {
		// It was written without an error.
		_ = w.part.Close()
	}
}

// output is what is kept of the output of a run. It is read while somebody writes.
type output struct {
	dir string

	whole []byte // instead of a directory: the end of the output
	size  int64
}

// part is a part of an output.
type part struct {
	at   int64 // its first byte
	size int64
}

// listParts lists what is there now. An output without any is empty.
func (o *output) listParts() ([]part, error) {
	if o.dir == "" {
		return []part{{o.size - int64(len(o.whole)), int64(len(o.whole))}}, nil
	}

	entries, err := os.ReadDir(o.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}

	var parts []part
	for _, e := range entries {
		at, err := strconv.ParseInt(strings.TrimSuffix(e.Name(), partSuffix), 10, 64)
		info, ierr := e.Info()
		if err == nil && ierr == nil {
			parts = append(parts, part{at, info.Size()})
		}
	}

	slices.SortFunc(parts, func(a, b part) int { return int(max(-1, min(1, a.at-b.at))) })
	return parts, nil
}

// hasParts reports whether any of it is there.
func (o *output) hasParts() bool {
	parts, err := o.listParts()
	return err != nil || len(parts) > 0
}

// readAt reads what is there from byte at on, up to len(b) bytes. If those were dropped, it reads from the
// first one after them that is kept. from is where it has read; n is 0 at the end.
func (o *output) readAt(b []byte, at int64) (n int, from int64, err error) {
	// A part can go while it is looked for.
	for range 10 {
		parts, err := o.listParts()
		if err != nil {
			return 0, at, err
		}

		i := slices.IndexFunc(parts, func(p part) bool { return at < p.at+p.size })
		if i < 0 {
			return 0, at, nil
		}

		p := parts[i]
		from = max(at, p.at)
		if o.dir == "" {
			return copy(b, o.whole[from-p.at:]), from, nil
		}

		n, err := o.readPart(b, p.at, from)
		if !errors.Is(err, fs.ErrNotExist) {
			return n, from, err
		}
	}

	return 0, at, nil
}

func (o *output) readPart(b []byte, name, from int64) (int, error) {
	f, err := plainfile.Open(filepath.Join(o.dir, fmt.Sprintf("%020d%s", name, partSuffix)), os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := f.ReadAt(b, from-name)
	if n > 0 || err == io.EOF {
		err = nil
	}
	return n, err
}

// endOffset is where the output ends now.
func (o *output) endOffset() (int64, error) {
	parts, err := o.listParts()
	if err != nil || len(parts) == 0 {
		return 0, err
	}
	last := parts[len(parts)-1]
	return last.at + last.size, nil
}

// tailStart is where the last lines begin: as many as these, and at most this many bytes. It doesn't go back
// over what was dropped.
func (o *output) tailStart(lines int, most int64) (int64, error) {
	parts, err := o.listParts()
	if err != nil || len(parts) == 0 {
		return 0, err
	}

	// Back to the first part that follows on without a gap.
	last := len(parts) - 1
	end := parts[last].at + parts[last].size
	first := last

	for first > 0 && parts[first-1].at+parts[first-1].size == parts[first].at {
		first--
	}

	least := max(parts[first].at, end-most)
	buf := make([]byte, 64<<10)

	// Read backwards in pieces, and count the ends of lines.
	for at, seen := end, 0; at > least; {
		some := buf[:min(int64(len(buf)), at-least)]
		at -= int64(len(some))
		n, from, err := o.readAt(some, at)
		if err != nil || from != at {
			return at + int64(n), err
		}

		// What is to be read may lie in two parts.
		for read := n; read < len(some); read += n {
			if n, _, err = o.readAt(some[read:], at+int64(read)); err != nil || n == 0 {
				return at, err
			}
		}

		for i := len(some) - 1; i >= 0; i-- {
			if some[i] == '\n' && at+int64(i)+1 < end {
				if seen++; seen == lines {
					return at + int64(i) + 1, nil
				}
			}
		}
	}

	return least, nil
}

// lastBytes returns the last bytes of an output.
func (o *output) lastBytes(most int64) []byte {
	end, err := o.endOffset()
	var all bytes.Buffer
	buf := make([]byte, 64<<10)

	for at := max(0, end-most); err == nil && at < end; {
		var n int
		if n, at, err = o.readAt(buf, at); n == 0 {
			break
		}

		all.Write(buf[:n])
		at += int64(n)
	}

	return all.Bytes()
}
