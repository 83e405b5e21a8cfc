package tui_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"talkingstick/internal/clitest"
	"talkingstick/internal/pty"
	"talkingstick/internal/testenv"
	"talkingstick/internal/tui"
)

// patience limits every wait for something that has to happen.
const patience = time.Minute

// place is a repository with a room, and the programs of those who work there.
type place struct {
	*testing.T
	bin, dir string
	env      []string
}

func newPlace(t *testing.T) *place {
	home, err := os.MkdirTemp(os.Getenv("HOME"), "") // so that the screen shows a short path
	if err != nil {
		t.Fatal(err)
	}
	p := &place{T: t, bin: t.TempDir(), dir: filepath.Join(home, "shop")}
	if err := clitest.Install(p.bin); err != nil {
		t.Fatal(err)
	}

	// The clock stands still, so that all ages are the same whenever a screen is drawn.
	p.env = []string{
		"PATH=" + p.bin + ":" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
		"TALKING_STICK_DATA_DIR=" + t.TempDir(), "USER=pat", "TERM=xterm",
		clitest.Top + "=" + strconv.Itoa(os.Getpid()), clitest.Race, clitest.Still + "=1772447400000",
		"LC_ALL=C", "NO_COLOR=1",
	}

	p.sh("git init -q " + p.dir)
	p.tt("join")
	p.sh("echo 1 >a.txt && git add . && git commit -q -m first")
	return p
}

// command is a command of whoever has a name; a person has none.
func (p *place) command(who string, args ...string) *exec.Cmd {
	c := exec.Command(args[0], args[1:]...)
	if filepath.Base(args[0]) == args[0] {
		if path := filepath.Join(p.bin, args[0]); fileExists(path) {
			c = exec.Command(path, args[1:]...)
		}
	}

	c.Env = p.env
	if fileExists(p.dir) {
		c.Dir = p.dir
	}
	if who != "" {
		c.Env = append(c.Env[:len(c.Env):len(c.Env)], "TT_HARNESS_AGENT_ID="+who)
	}
	return c
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (p *place) do(who string, args ...string) string {
	p.Helper()
	out, err := p.command(who, args...).CombinedOutput()
	if err != nil {
		p.Errorf("%s runs %q: %v\n%s", who, args, err, out)
	}
	return string(out)
}

func (p *place) tt(args ...string) string {
	p.Helper()
	return p.do("", append([]string{"tt"}, args...)...)
}

func (p *place) as(who string, args ...string) string {
	p.Helper()
	return p.do(who, append([]string{"tt"}, args...)...)
}

func (p *place) sh(line string) string { p.Helper(); return p.do("", "sh", "-c", line) }

// screen is tt watch on a terminal of its own.
type screen struct {
	*place
	cmd      *exec.Cmd
	terminal *pty.Terminal

	mu    sync.Mutex // guards the rest
	raw   bytes.Buffer
	taken int // how much of raw the terminal has got
	term  *tui.Terminal
	read  chan struct{} // gets a value when something was written
	ended chan struct{} // closed when nothing more comes
}

// watch starts tt watch on a terminal of a size.
func (p *place) watch(width, height int) *screen {
	p.Helper()
	return p.on(width, height, "watch")
}

// on starts a command of tt on a terminal of a size.
func (p *place) on(width, height int, args ...string) *screen {
	p.Helper()
	terminal, err := pty.Open(width, height)
	if err != nil {
		p.Fatal(err)
	}
	s := &screen{
		place: p, terminal: terminal, read: make(chan struct{}, 1), ended: make(chan struct{}),
		term: tui.NewTerminal(p.T, width, height),
	}
	s.cmd = p.command("", append([]string{"tt"}, args...)...)
	if err := terminal.Start(s.cmd); err != nil {
		p.Fatal(err)
	}

	go s.reads()
	p.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		terminal.Close()
	})

	return s
}

// reads reads what the program writes, until its end.
func (s *screen) reads() {
	defer close(s.ended)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.terminal.Read(buf)
		s.mu.Lock()
		s.raw.Write(buf[:n])
		s.mu.Unlock()

		select {
		case s.read <- struct{}{}:
		default:
		}
		if err != nil { // the terminal is gone with its last program
			return
		}
	}
}

// rings counts how often the bell of the terminal rang.
func (s *screen) rings() int { return s.wrote("\x07") }

// wrote counts how often the program wrote something so far.
func (s *screen) wrote(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Count(s.raw.Bytes(), []byte(what))
}

// shows returns what the terminal shows, up to the last whole update.
func (s *screen) shows() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := bytes.LastIndex(s.raw.Bytes(), []byte(tui.EndUpdate)); i > s.taken {
		s.term.Write(s.raw.Bytes()[s.taken : i+len(tui.EndUpdate)])
		s.taken = i + len(tui.EndUpdate)
	}

	return s.term.Text()
}

// until waits until the terminal shows what a pattern matches.
func (s *screen) until(pattern string) string {
	s.Helper()
	re := regexp.MustCompile(pattern)
	return s.untilIt("what matches "+pattern, func(shown string) bool { return re.MatchString(shown) })
}

func (s *screen) untilIt(what string, is func(shown string) bool) string {
	s.Helper()
	late := time.After(patience)
	for {
		shown := s.shows()
		if is(shown) {
			return shown
		}

		select {
		case <-s.read:
		case <-s.ended:
			s.Fatalf("it has ended before it shows %s:\n%s\n%q", what, shown, s.raw.String())
		case <-late:
			s.Fatalf("it doesn't show %s:\n%s", what, shown)
		}
	}
}

func (s *screen) keys(keys string) {
	if _, err := s.terminal.WriteString(keys); err != nil {
		s.Fatal(err)
	}
}

// modes are the settings of the terminal.
func (s *screen) modes() unix.Termios {
	m, err := s.terminal.Modes()
	if err != nil {
		s.Fatal(err)
	}
	return m
}

// Whoever has never seen it can tell who blocks whom and why a task hangs, and approves and merges with three
// keys.
func TestWatchOnATerminal(t *testing.T) {
	p := newPlace(t)
	p.tt("worker", "init")
	p.tt("worker", "spawn", "ui-7", "--description", "Retry failed uploads")
	p.tt("worker", "spawn", "ui-8", "--description", "Show progress")
	p.as("gemini", "worker", "start", "--task", "ui-7")
	p.sh("cd worktrees/ui-7 && echo 2 >upload.txt && git add . && git commit -q -m uploads")
	p.as("gemini", "worker", "done", "--task", "ui-7")
	p.as("opencode", "worker", "start", "--task", "ui-8")
	p.as("opencode", "worker", "fail", "--task", "ui-8", "the library has no streaming")
	p.as("codex", "join")
	p.as("codex", "wait")

	s := p.watch(80, 24)
	before := s.modes()
	s.until(`codex has the stick`)
	waits := p.command("claude", "tt", "wait")
	if err := waits.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		waits.Process.Kill()
		waits.Wait()
	})

	s.until(`codex has the stick, now; claude waits for it +turn 1`)
	s.until(`task +ui-8 has failed; its worker wrote: "the library`)
	if s.modes() == before && before.Lflag&unix.ICANON != 0 {
		t.Error("the terminal still reads lines")
	}

	s.until(`> 1 review +ui-7 waits for a review`)
	s.untilIt("that the bell rang", func(string) bool { return s.rings() > 0 })
	other := p.watch(80, 24)
	other.until(`> 1 review +ui-7 waits for a review`)
	s.keys("1")
	s.keys("a")
	s.until(`Approve commit [0-9a-f]{10} of ui-7\?`)
	s.until(`\+2`)
	s.keys("m")
	s.until(`ui-7 is merged into integration \(no gate\)`)
	if shown := p.sh("git show integration:upload.txt"); shown != "2\n" {
		t.Errorf("integration has %q", shown)
	}

	p.as("codex", "release", "--status", "the cart adds up", "--next-action", "add the discount")
	s.until(`claude has the stick, now +turn 2`)
	s.mu.Lock()
	s.taken, s.term = s.raw.Len(), tui.NewTerminal(t, 120, 40) // before the change, of which nothing may be missed
	s.mu.Unlock()
	if err := s.terminal.Resize(120, 40); err != nil {
		t.Fatal(err)
	}

	s.until(`(?m)^.{100,120}\? help  q quit$`)
	other.until(`claude has the stick, now +turn 2`)
	// for what was there, and perhaps for the merge that was due for a moment
	if n := s.rings() + other.rings(); n > 2 {
		t.Errorf("the bells of one person rang %d times", n)
	}

	s.keys("q")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	<-s.ended
	if all := s.raw.String(); strings.Count(all, "\x1b[2J") > 3 || !strings.HasSuffix(all, "\x1b[?25h\x1b[?1049l") {
		t.Errorf("it clears the screen %d times, and ends with %q",
			strings.Count(all, "\x1b[2J"), all[max(0, len(all)-60):])
	}
}

// While four agents work, the screen is at every moment one that somebody could have drawn, and in the end
// the one that somebody sees who comes then.
func TestWatchWhileFourAgentsWork(t *testing.T) {
	p := newPlace(t)
	s := p.watch(80, 24)
	s.until(`nobody has the stick`)

	var work sync.WaitGroup
	for i, who := range []string{"claude", "codex", "gemini", "opencode"} {
		work.Go(func() {
			p.as(who, "join")
			for n := range 4 {
				p.as(who, "msg", "send", "room", fmt.Sprintf("round %d 漢字 👍🏽 \x1b[31m", n))
				p.as(who, "wait", "--turn")
				p.as(who, "release", "--status", "done", "--next-action", "next"+strings.Repeat(" next", 10*i))
			}
			p.as(who, "msg", "send", "human:pat", "--requires-ack", "I'm done")
		})
	}

	work.Wait()
	late := p.watch(80, 24)
	want := rows(late.until(`4 answer`))
	s.untilIt("what the other screen shows:\n"+want, func(shown string) bool { return rows(shown) == want })
	if n := s.wrote("\x1b[2J"); n > 2 {
		t.Errorf("it clears the screen %d times", n)
	}
}

// rows is what a screen shows without what is selected and what the keys do with it.
func rows(shown string) string {
	shown = shown[:strings.LastIndexByte(shown, '\n')]
	return strings.ReplaceAll(shown, "\n> ", "\n  ")
}

// An end by a signal gives the terminal back.
func TestWatchGivesTheTerminalBack(t *testing.T) {
	p := newPlace(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		s := p.watch(80, 24)
		s.until(`nobody has the stick`)
		raw := s.modes()
		s.cmd.Process.Signal(signal)
		err := s.cmd.Wait()
		if code := s.cmd.ProcessState.ExitCode(); code != 128+int(signal) {
			t.Errorf("after %v it ends with %d: %v", signal, code, err)
		}
		if now := s.modes(); now.Lflag == raw.Lflag || now.Lflag&unix.ECHO == 0 {
			t.Errorf("after %v the terminal is left as it was while it ran", signal)
		}
	}
}

// The scene of the demo can be seen on the screen, step by step. It only looks.
func TestDemoOnAScreen(t *testing.T) {
	p := newPlace(t)
	s := p.on(80, 24, "demo", "--watch")
	shows := []string{
		`qwen-\w+ joined`, `codex-\w+ +working`, `gemini-\w+ has the stick`, `gemini-\w+ has the stick`,
		`gemini-\w+ has the stick`,
		`undid call`, `gemini-\w+ can't go on: its process has ended`, `nobody has the stick; a handoff waits`,
		`tax waits for a review`, `tax`, `merged tax`,
	}

	if testenv.Leaves(t, testenv.Every, "the scene after its second step") {
		shows = shows[:2]
	}

	for i, shows := range shows {
		asks := []string{"shows the next step"}
		if i == 9 {
			asks = []string{"approves it", "shows the next step"}
		}

		for _, ask := range asks {
			// the scene waits for a key there
			s.until(fmt.Sprintf(`(?s)%s.*\n[^\n]*%d\. [^\n]*\(n %s\)`, shows, i+1, ask))
			shown := s.shows()
			keys := shown[strings.LastIndexByte(shown, '\n'):]
			if strings.Contains(keys, " take ") ||
				strings.Contains(keys, " message ") ||
				strings.Contains(keys, " approve ") {
				t.Errorf("it offers acts: %s", keys)
			}
			s.keys("n")
		}
	}

	if testing.Short() {
		// A key for which no step waits keeps nobody from leaving.
		s.keys("n")
		s.keys("n")
		s.keys("q")
	} else {
		s.until(`All of it happened, and was checked`)
		s.keys("n")
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}

	<-s.ended
	all := s.raw.String()
	if !testing.Short() && !strings.HasSuffix(all, "All of it happened: tt checked it, step by step.\r\n") {
		t.Errorf("it ends with %q", all[max(0, len(all)-80):])
	}
}
