//go:build linux

package realharness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Terminal is a harness in a pseudo-terminal with a person at it, whom the test plays.
type Terminal struct {
	*Process
	tty *os.File // the side of the person

	mu      sync.Mutex // guards the rest
	shown   bytes.Buffer
	asked   int           // up to where in shown the program's questions are answered
	changed chan struct{} // closed and made anew when shown has grown
	over    bool          // nothing more is shown
}

// StartTUI starts the harness as a person does, without a prompt: [Terminal.Type] says the first
// one. It ends with the test at the latest. What it starts isn't ended with it, so that a test can see
// what of it ends by itself; the end of the test sweeps it up.
func (a *Agent) StartTUI(t testing.TB, o Options) *Terminal {
	t.Helper()
	if a.Harness.tui == nil {
		t.Fatalf("nobody has run %s in a terminal yet", a.Harness.Name)
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	o.Leave = true
	person, program, err := openTerminal()
	if err != nil {
		t.Fatal(err)
	}
	p := a.prepare(t, a.Harness.tui(a, o), o)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = program, program, program
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // the terminal is its standard input
	u := &Terminal{Process: p, tty: person, changed: make(chan struct{})}
	p.screen = u.Raw
	t.Cleanup(func() { person.Close() }) // after the program has ended
	p.start(a)
	program.Close()
	go u.listen() // ends when nobody has the program's side open any more
	return u
}

// openTerminal opens both sides of a new pseudo-terminal of a common size.
func openTerminal() (person, program *os.File, err error) {
	person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			person.Close()
		}
	}()
	raw, err := person.SyscallConn() // Fd would make reading block for good
	if err != nil {
		return nil, nil, err
	}
	var n int
	cerr := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err != nil {
			return
		}
		if n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err != nil {
			return
		}
		if err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil {
			return
		}
		// The terminal itself shows nothing of what is typed, so that what is seen is the program's.
		var mode *unix.Termios
		if mode, err = unix.IoctlGetTermios(int(fd), unix.TCGETS); err != nil {
			return
		}
		mode.Lflag &^= unix.ECHO | unix.ICANON
		mode.Iflag &^= unix.ICRNL
		err = unix.IoctlSetTermios(int(fd), unix.TCSETS, mode)
	})
	if err = errors.Join(cerr, err); err != nil {
		return nil, nil, err
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return person, program, err
}

// listen keeps what the program shows, and answers what it asks of its terminal.
func (u *Terminal) listen() {
	b := make([]byte, 32<<10)
	for {
		n, err := u.tty.Read(b)
		u.mu.Lock()
		u.shown.Write(b[:n])
		said := u.answers()
		u.over = err != nil
		close(u.changed)
		u.changed = make(chan struct{})
		u.mu.Unlock()
		if err != nil {
			return // the program has ended
		}
		io.WriteString(u.tty, said) // fails when it has just ended
	}
}

// queries are the questions that programs wait for the answers to, and what a plain terminal says.
var queries = []struct {
	asked  *regexp.Regexp
	answer string
}{
	{regexp.MustCompile(`\x1b\[6n`), "\x1b[1;1R"},                       // where the cursor is
	{regexp.MustCompile(`\x1b\[0?c`), "\x1b[?62;22c"},                   // which terminal it is
	{regexp.MustCompile(`\x1b\]11;\?`), "\x1b]11;rgb:0000/0000/0000\a"}, // the background's colour
	{regexp.MustCompile(`\x1b\]10;\?`), "\x1b]10;rgb:ffff/ffff/ffff\a"},
}

// answers are those to the questions since the last time. A question that was read in two parts is
// found with its second.
func (u *Terminal) answers() string {
	var said strings.Builder
	last := u.asked
	for _, q := range queries {
		for _, at := range q.asked.FindAllIndex(u.shown.Bytes()[u.asked:], -1) {
			said.WriteString(q.answer)
			last = max(last, u.asked+at[1])
		}
	}
	u.asked = last
	return said.String()
}

// Raw is all that the program has written to its terminal.
func (u *Terminal) Raw() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.shown.String()
}

// control are the sequences by which a program moves the cursor, sets colours and titles.
var control = regexp.MustCompile(`\x1b(\][^\x07\x1b]*(\x07|\x1b\\)|[P_^X][^\x1b]*\x1b\\|\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])`)

// Text is what the program has written, without colours and the like; what it wrote over is in it, too.
func (u *Terminal) Text() string { return control.ReplaceAllString(u.Raw(), "") }

// words are what the program has written, without what isn't text, and without the spaces, which
// programs like to make by moving the cursor.
func words(raw string) string {
	return strings.Join(strings.Fields(control.ReplaceAllString(raw, " ")), "")
}

// Sees waits until the program has shown a text since a point of what it wrote. It fails the test if
// the program ends before, or doesn't show it in time.
func (u *Terminal) Sees(since int, text string) {
	u.t.Helper()
	timeout := time.After(30 * time.Second)
	for {
		u.mu.Lock()
		raw, more, over := u.shown.String(), u.changed, u.over
		u.mu.Unlock()
		if strings.Contains(raw[since:], text) || strings.Contains(words(raw[since:]), words(text)) {
			return
		}
		if over {
			u.t.Fatalf("%s ended before it showed %q:\n%s", u.h.Name, text, raw)
		}
		select {
		case <-more:
		case <-timeout:
			u.t.Fatalf("%s never showed %q:\n%s", u.h.Name, text, u.Text())
		}
	}
}

// Type pastes a prompt of one line as a person would who sees the empty prompt, and sends it when the
// program shows it.
func (u *Terminal) Type(prompt string) {
	u.t.Helper()
	u.Sees(0, u.h.ready)
	since := len(u.Raw())
	u.keys("\x1b[200~" + prompt + "\x1b[201~")
	u.Sees(since, prompt)
	u.keys("\r")
}

func (u *Terminal) keys(keys string) {
	u.t.Helper()
	if _, err := io.WriteString(u.tty, keys); err != nil {
		u.t.Fatalf("%s takes no input: %v", u.h.Name, err)
	}
}

// End ends the harness's own process, by its id, as a crash does, and waits until it is gone. What it started
// is left to itself.
func (u *Terminal) End() {
	u.cmd.Process.Signal(syscall.SIGKILL) // fails when it has ended
	<-u.ended
}
