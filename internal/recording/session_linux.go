package recording

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"talkingstick/internal/pty"
)

// patience is how long a session waits for something that must happen.
const patience = time.Minute

// Session is a program on a terminal, at which a test sits.
type Session struct {
	t             *testing.T
	cmd           *exec.Cmd
	terminal      *pty.Terminal
	width, height int
	mask          func([]byte) []byte

	mu   sync.Mutex // guards the rest
	raw  bytes.Buffer
	read chan struct{} // gets a value when something was written
	over chan struct{} // closed when nothing more comes
}

// Start starts a program on a terminal of a size. mask replaces in what it writes what would differ each
// time. When the test ends, so do the program and all that it has started.
func Start(t *testing.T, c *exec.Cmd, width, height int, mask func([]byte) []byte) *Session {
	t.Helper()
	terminal, err := pty.Open(width, height)
	if err != nil {
		t.Fatal(err)
	}

	s := &Session{
		t: t, cmd: c, terminal: terminal, width: width, height: height, mask: mask,
		read: make(chan struct{}, 1), over: make(chan struct{}),
	}
	if err := terminal.Start(c); err != nil {
		terminal.Close()
		t.Fatal(err)
	}

	go s.readOutput()
	t.Cleanup(func() {
		s.killProcesses()
		_ = c.Wait()
		terminal.Close()
	})
	return s
}

// killProcesses kills all processes of the terminal, and comes back when none has it open any more.
func (s *Session) killProcesses() {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		entries, err := os.ReadDir("/proc")
		if err != nil {
			s.t.Fatal(err)
		}

		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil {
				continue
			}

			// The program is the first of its session.
			if of, err := unix.Getsid(pid); err == nil && of == s.cmd.Process.Pid {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}

		select {
		case <-s.over:
			return
		case <-time.After(10 * time.Millisecond): // one may have started another meanwhile
		}
	}
	s.t.Error("what the program has started on its terminal goes on")
}

// readOutput reads what is written, until no program has the terminal open any more.
func (s *Session) readOutput() {
	defer close(s.over)

	buf := make([]byte, 64<<10)
	for {
		n, err := s.terminal.Read(buf)
		s.mu.Lock()
		s.raw.Write(buf[:n])
		s.mu.Unlock()

		// A value that is there already says the same.
		select {
		case s.read <- struct{}{}:
		default:
		}

		if err != nil {
			return
		}
	}
}

// Screen is what the terminal shows now.
func (s *Session) Screen() *Screen {
	screen, err := s.parseScreen()
	if err != nil {
		s.t.Errorf("%v in what it has written: %q", err, s.raw.String())
	}
	return screen
}

func (s *Session) parseScreen() (*Screen, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	screen := NewScreen(s.width, s.height)
	_, err := screen.Write(s.mask(bytes.Clone(s.raw.Bytes())))
	return screen, err
}

// Until waits until the terminal shows what all patterns match.
func (s *Session) Until(patterns ...string) {
	s.t.Helper()
	s.waitUntil(fmt.Sprintf("what matches %q", patterns), func(shown *Screen) bool {
		for _, p := range patterns {
			if !regexp.MustCompile(p).MatchString(shown.Text()) {
				return false
			}
		}
		return true
	})
}

// Prompt waits until a shell asks for the next command.
func (s *Session) Prompt() {
	s.t.Helper()
	s.waitUntil("a prompt", func(shown *Screen) bool {
		line := prompt + fmt.Sprintf("%*s", s.width-len(prompt), "")
		return shown.X == len(prompt) && textOf(shown.rows[shown.Y]) == line
	})
}

// prompt is how a shell asks for a command.
const prompt = "$ "

func (s *Session) waitUntil(what string, is func(*Screen) bool) {
	s.t.Helper()
	late := time.After(patience)

	for {
		shown, _ := s.parseScreen()
		if is(shown) {
			return
		}

		select {
		case <-s.read:
		case <-s.over:
			s.t.Fatalf("it has ended before it shows %s:\n%s", what, shown.Text())
		case <-late:
			s.t.Fatalf("it doesn't show %s:\n%s", what, shown.Text())
		}
	}
}

// Keys presses keys.
func (s *Session) Keys(keys string) {
	s.t.Helper()
	if _, err := s.terminal.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// Type types a piece of a line, and waits until the terminal has got it back from the program, which writes
// nothing else meanwhile.
func (s *Session) Type(text string) {
	s.t.Helper()
	written := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.raw.Len()
	}

	end := written() + len(text)
	s.Keys(text)
	s.waitUntil(text, func(*Screen) bool { return written() >= end })
}
