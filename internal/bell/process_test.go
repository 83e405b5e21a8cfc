//go:build !windows

package bell

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"talkingstick/internal/testenv"
)

// The tests need other processes: they run the test binary again with a role, a function that
// says where it is by printing a line and goes on when it reads one.
const roleVar = "BELL_TEST_ROLE"

func TestMain(m *testing.M) {
	if name := os.Getenv(roleVar); name != "" {
		role, ok := roles[name]
		if !ok {
			role = platformRoles[name]
		}

		if err := role(&script{os.Args[1:], bufio.NewReader(os.Stdin)}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testenv.Run(m))
}

var roles = map[string]func(*script) error{
	"ring":    playRing,
	"watch":   playWatch,
	"heed":    playHeed,
	"lock":    playLock,
	"count":   playCount,
	"present": playPresent,
	"parent":  playParent,
	"child":   playChild,
}

// script is what a role is given.
type script struct {
	args []string
	in   *bufio.Reader
}

func (s *script) say(line string) { fmt.Println(line) }

// pause waits for a line, or for the end of the test.
func (s *script) pause() { s.in.ReadString('\n') }

func playRing(s *script) error {
	d, err := Open(s.args[0])
	if err != nil {
		return err
	}
	r, err := d.Prepare(s.args[1])
	if err != nil {
		return err
	}

	s.say("pulled")
	s.pause()
	r.Ring()
	s.say("rung")
	s.pause()
	return nil
}

func playWatch(s *script) error {
	d, err := Open(s.args[0])
	if err != nil {
		return err
	}
	d.fifoOnly = len(s.args) > 2 && s.args[2] == "fifo"
	w, err := d.Watch(s.args[1])
	if err != nil {
		return err
	}

	s.say("watching")
	<-w.C
	s.say("woken")
	s.pause()
	return w.Close()
}

// playHeed is a waiter as short as can be.
func playHeed(s *script) error {
	d, err := Open(s.args[0])
	if err != nil {
		return err
	}
	w, err := d.Watch("a")
	if err != nil {
		return err
	}

	s.say("watching")
	<-w.C
	return w.Close()
}

func playLock(s *script) error {
	l, err := Lock(context.Background(), s.args[0])
	if err != nil {
		return err
	}
	s.say("locked")
	s.pause()
	if err := l.Unlock(); err != nil {
		return err
	}

	s.say("unlocked")
	s.pause()
	return nil
}

// playCount adds to a number in a file, many times, each time under the lock.
func playCount(s *script) error {
	m := NewMutex(s.args[0])
	n, err := strconv.Atoi(s.args[2])
	if err != nil {
		return err
	}

	for range n {
		if err := m.Lock(context.Background()); err != nil {
			return err
		}
		b, err := os.ReadFile(s.args[1])
		if err != nil {
			return err
		}

		v, err := strconv.Atoi(string(b))
		if err != nil {
			return err
		}
		if err := os.WriteFile(s.args[1], []byte(strconv.Itoa(v+1)), 0o600); err != nil {
			return err
		}

		if err := m.Unlock(); err != nil {
			return err
		}
	}

	s.say("counted")
	return m.Close()
}

func playPresent(s *script) error {
	d, err := Open(s.args[0])
	if err != nil {
		return err
	}
	p, err := d.TakePresence(s.args[1])
	if err != nil {
		return err
	}

	s.say("present")
	s.pause()
	return p.Close()
}

// playParent takes one of everything and then starts a child, which must get none of it.
func playParent(s *script) error {
	d, err := Open(s.args[0])
	if err != nil {
		return err
	}
	if _, err := d.Prepare("room"); err != nil {
		return err
	}

	if _, err := d.TakePresence("listener"); err != nil {
		return err
	}
	if _, err := Lock(context.Background(), s.args[1]); err != nil {
		return err
	}

	if err := NewMutex(s.args[2]).Lock(context.Background()); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}

	child := exec.Command(self)
	child.Env = append(os.Environ(), roleVar+"=child")
	child.Stdin, child.Stdout = os.Stdin, os.Stdout
	if err := child.Start(); err != nil {
		return err
	}

	return child.Wait()
}

func playChild(s *script) error {
	s.say("born")
	s.pause()
	s.say("still here")
	s.pause()
	return nil
}

// bound is how long a test waits for what must happen. It is never waited for in a test that
// passes.
const bound = 20 * time.Second

// process is a role that runs in a process of its own.
type process struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// play starts a role. It is killed when the test ends.
func play(t testing.TB, role string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		in.Close() // ends its children, too
		cmd.Process.Kill()
		cmd.Wait()
		cancel()
	})

	return &process{t, cmd, in, bufio.NewReader(out)}
}

// expect reads the next line, which must be want.
func (p *process) expect(want string) {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if line != want+"\n" {
		p.t.Fatalf("got line %q (%v), want %q", line, err, want)
	}
}

// proceed lets the role go on after a pause.
func (p *process) proceed() {
	p.t.Helper()
	if _, err := io.WriteString(p.in, "\n"); err != nil {
		p.t.Fatal(err)
	}
}

// kill kills the process as nothing can prevent, and returns when it is dead.
func (p *process) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.cmd.Process.Wait(); err != nil {
		p.t.Fatal(err)
	}
}

// stop stops the process, and returns when it has stopped.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(unix.SIGSTOP); err != nil {
		p.t.Fatal(err)
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(p.cmd.Process.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
		p.t.Fatalf("got status %v (%v), want stopped", status, err)
	}
}
