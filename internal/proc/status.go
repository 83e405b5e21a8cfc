package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// status holds the fields of a process's status line that this program uses.
type status struct {
	pid, ppid int
	comm      string
	state     byte
	session   int // the pid of its session's leader; 0 when unknown
	tty       string
	threads   int
	start     int64
}

// hasEnded reports whether the process is a zombie or dead. A process whose first thread has ended while
// others still run looks like a zombie, but lives.
func (s status) hasEnded() bool {
	switch s.state {
	case 'Z':
		return s.threads <= 1
	case 'X', 'x':
		return true
	}
	return false
}

// argsLimit limits how much of a command line is read. A prompt as an argument can have megabytes, and
// only the beginning matters.
const argsLimit = 4 << 10

func statPath(pid int) string { return strconv.Itoa(pid) + "/stat" }

func readStatus(fsys fs.FS, path string) (status, error) {
	var buf [1024]byte
	b, err := readSome(fsys, path, buf[:])
	if err != nil {
		return status{}, err
	}

	s, err := parseStatus(string(b))
	if err != nil {
		return status{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func readArgs(fsys fs.FS, pid int) []string {
	b, err := readSome(fsys, strconv.Itoa(pid)+"/cmdline", make([]byte, argsLimit))
	if err != nil {
		return nil
	}

	// A program that has changed its title may have left NULs after it.
	line := strings.TrimRight(string(b), "\x00")
	if line == "" {
		return nil
	}
	return strings.Split(line, "\x00")
}

// readSome reads the beginning of a file into buf.
func readSome(fsys fs.FS, path string, buf []byte) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	n, err := io.ReadFull(f, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return buf[:n], err
}

var errBadStatus = errors.New("not a process's status line")

// parseStatus parses the line of /proc/<pid>/stat. The name in it is in parentheses and may hold anything,
// even parentheses and newlines. So it ends at the last parenthesis.
func parseStatus(line string) (status, error) {
	before, rest, ok := strings.Cut(line, " (")
	last := strings.LastIndex(rest, ") ")
	if !ok || last < 0 {
		return status{}, errBadStatus
	}

	s := status{comm: rest[:last]}
	fields := strings.Fields(rest[last+2:])
	// fields[0] is the third field in the kernel's numbering.
	if len(fields) < 20 || len(fields[0]) != 1 {
		return status{}, errBadStatus
	}

	s.state = fields[0][0]
	var tty int
	var err error

	// number notes a field that isn't one, so that a single check at the end is enough.
	number := func(text string) int {
		n, e := strconv.Atoi(text)
		if e != nil {
			err = errBadStatus
		}
		return n
	}

	s.pid = number(before)
	s.ppid = number(fields[1])
	s.session = number(fields[3])
	tty = number(fields[4])
	s.threads = number(fields[17])

	start, e := strconv.ParseInt(fields[19], 10, 64)
	if err != nil || e != nil || s.pid <= 0 || s.ppid < 0 || start < 0 {
		return status{}, errBadStatus
	}

	s.start = start
	s.tty = ttyName(tty)
	return s, nil
}

// ttyName names the terminal with a Linux device number, as ps does. 0 is none.
func ttyName(device int) string {
	d := uint32(device)
	major := d >> 8 & 0xfff
	minor := d&0xff | d>>12&0xfff00

	switch {
	case d == 0:
		return ""
	case major >= 136 && major <= 143:
		// These majors are those of pseudo terminals.
		return fmt.Sprintf("pts/%d", (major-136)<<8+minor)
	case major == 4 && minor < 64:
		return fmt.Sprintf("tty%d", minor)
	case major == 4:
		return fmt.Sprintf("ttyS%d", minor-64)
	}
	return fmt.Sprintf("%d:%d", major, minor)
}
