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

// Terminal is a harness in a pseudo-terminal. The test plays the person at it.
type Terminal struct {
	*Process
	tty *os.File // the side of the person

	mu      sync.Mutex // guards the rest
	shown   bytes.Buffer
	asked   int           // how much of shown has been searched for the program's questions
	changed chan struct{} // closed and replaced when shown has grown
	over    bool          // the program writes no more
}

// StartTUI starts the harness as a person does, without a prompt; [Terminal.Type] types the first one. It
// ends with the test at the latest. The processes that it starts don't end with it, so that a test can see
// which end by themselves; the rest is killed when the test ends.
func (a *Agent) StartTUI(t testing.TB, o Options) *Terminal {
	t.Helper()
	if a.Harness.tui == nil {
		t.Fatalf("this package can't run %s in a terminal", a.Harness.Name)
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	o.Leave = true

	person, program, err := openTerminal()
	if err != nil {
		t.Fatal(err)
	}

	p := a.prepareProcess(t, a.Harness.tui(a, o), o)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = program, program, program

	// The terminal that controls the program is its standard input.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}

	u := &Terminal{Process: p, tty: person, changed: make(chan struct{})}
	p.screen = u.Raw
	t.Cleanup(func() { person.Close() }) // after the program has ended

	p.startProcess(a)
	program.Close()
	go u.recordOutput() // ends when nobody has the program's side open any more
	return u
}

// openTerminal opens both sides of a new pseudo-terminal of a usual size.
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

	// Fd would make reading block for good.
	raw, err := person.SyscallConn()
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
		// The terminal itself doesn't echo what is typed, so that everything shown is the program's.
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

// recordOutput records what the program writes, and answers its queries to the terminal.
func (u *Terminal) recordOutput() {
	b := make([]byte, 32<<10)
	for {
		n, err := u.tty.Read(b)

		u.mu.Lock()
		u.shown.Write(b[:n])
		said := u.answerQueries()
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

// queries are the questions whose answers programs wait for, and the answers of a plain terminal.
var queries = []struct {
	asked  *regexp.Regexp
	answer string
}{
	{regexp.MustCompile(`\x1b\[6n`), "\x1b[1;1R"},                       // where the cursor is
	{regexp.MustCompile(`\x1b\[0?c`), "\x1b[?62;22c"},                   // which terminal it is
	{regexp.MustCompile(`\x1b\]11;\?`), "\x1b]11;rgb:0000/0000/0000\a"}, // the background's colour
	{regexp.MustCompile(`\x1b\]10;\?`), "\x1b]10;rgb:ffff/ffff/ffff\a"},
}

// answerQueries returns the answers to the questions since the last call. A question that arrives in two parts
// is found with the second.
func (u *Terminal) answerQueries() string {
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

// Raw returns everything that the program has written to its terminal.
func (u *Terminal) Raw() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.shown.String()
}

// control matches the sequences that move the cursor and set colours and titles.
var control = regexp.MustCompile(`\x1b(\][^\x07\x1b]*(\x07|\x1b\\)|[P_^X][^\x1b]*\x1b\\|\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])`)

// Text returns what the program has written, without colours and the like. It includes overwritten text.
func (u *Terminal) Text() string { return control.ReplaceAllString(u.Raw(), "") }

// textWithoutSpaces returns the text that the program has written, without spaces: programs often make spaces by moving
// the cursor.
func textWithoutSpaces(raw string) string {
	return strings.Join(strings.Fields(control.ReplaceAllString(raw, " ")), "")
}

// Shows says whether the program has shown a text, in its output from offset since on.
func (u *Terminal) Shows(since int, text string) bool {
	raw := u.Raw()[since:]
	return strings.Contains(raw, text) || strings.Contains(textWithoutSpaces(raw), textWithoutSpaces(text))
}

// Sees waits until the program has shown a text, in its output from offset since on. It fails the test if the
// program ends first, or doesn't show the text in time.
func (u *Terminal) Sees(since int, text string) {
	u.t.Helper()
	timeout := time.After(2 * time.Minute)
	for {
		u.mu.Lock()
		more, over := u.changed, u.over
		u.mu.Unlock()

		// The text is looked for before the end counts: it may be the last that was shown.
		if u.Shows(since, text) {
			return
		}

		if over {
			u.t.Fatalf("%s ended before it showed %q:\n%s", u.h.Name, text, u.Raw())
		}

		select {
		case <-more:
		case <-timeout:
			u.t.Fatalf("%s never showed %q:\n%s", u.h.Name, text, u.Text())
		}
	}
}

// Type waits for the empty prompt, pastes a prompt of one line as a person would, and sends it once the
// program shows it.
func (u *Terminal) Type(prompt string) {
	u.t.Helper()
	u.Sees(0, u.h.ready)
	since := len(u.Raw())
	u.typeKeys("\x1b[200~" + prompt + "\x1b[201~")
	u.Sees(since, prompt)
	u.typeKeys("\r")
}

// Press presses keys, as the answer to a question that the program shows.
func (u *Terminal) Press(keys string) {
	u.t.Helper()
	u.typeKeys(keys)
}

func (u *Terminal) typeKeys(keys string) {
	u.t.Helper()
	if _, err := io.WriteString(u.tty, keys); err != nil {
		u.t.Fatalf("%s takes no input: %v", u.h.Name, err)
	}
}

// End kills the harness's own process, as a crash would, and waits until it is gone. It leaves the processes
// alone that the harness has started.
func (u *Terminal) End() {
	u.cmd.Process.Signal(syscall.SIGKILL) // fails when it has ended
	<-u.ended
}
