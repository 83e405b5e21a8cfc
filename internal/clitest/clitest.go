//go:build unix

// Package clitest lets a test binary be the programs that a test needs: tt itself, with knobs that
// the shipped program doesn't have, and programs that tt recognises as harnesses. It is linked into
// tests only.
package clitest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"talkingstick/internal/cli"
	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/full"
	"talkingstick/internal/demo"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/proc"
	"talkingstick/internal/workspace"
)

// The knobs, as environment variables of the tt that a test runs.
const (
	// Top is the pid at which ancestries end, so that tests pass inside a harness too.
	Top = "TT_TEST_TOP"
	// Kill ends tt by SIGKILL at a named point, as "point" or "point#n" for the n-th time.
	Kill = "TT_TEST_KILL"
	// Stop stops tt by SIGSTOP at a named point, in the same form.
	Stop = "TT_TEST_STOP"
	// Panic makes tt panic at a named point, in the same form, or when it asks for the time: at "clock".
	Panic = "TT_TEST_PANIC"
	// Points is a file to which tt adds the name of each point that it passes, one a line.
	Points = "TT_TEST_POINTS"
	// CopyPoints makes the points at which copies of uncommitted work are made count, too. There are many,
	// and most tests are about others.
	CopyPoints = "TT_TEST_COPY_POINTS"
	// Clock moves tt's clock by a duration.
	Clock = "TT_TEST_CLOCK"
	// MachineClock moves this machine's clock by a duration, and not that of a database on a server.
	MachineClock = "TT_TEST_MACHINE_CLOCK"
	// Still is a time in Unix milliseconds. tt's clock shows that time, moved by Clock, and doesn't run.
	Still = "TT_TEST_STILL"
	// FileSystem is the type of a network file system. tt believes that its data lies on it.
	FileSystem = "TT_TEST_FILE_SYSTEM"
	// Owner is the number of another user. tt believes that its data directory is theirs.
	Owner = "TT_TEST_OWNER"
	// Boot is the id of the boot that tt sees.
	Boot = "TT_TEST_BOOT"
	// Host is the name of the machine that tt sees.
	Host = "TT_TEST_HOST"
	// GitLimit is how long hooks of git may take. The default is long, because tests run on busy machines.
	GitLimit = "TT_TEST_GIT_LIMIT"
	// Terminal makes tt believe that it writes to a terminal. Its value is the number of columns.
	Terminal = "TT_TEST_TERMINAL"
	// InTerminal makes tt believe that it reads from a terminal, if it isn't empty.
	InTerminal = "TT_TEST_IN_TERMINAL"
	// ErrTerminal makes tt believe that its standard error is a terminal. Its value is the number of columns.
	ErrTerminal = "TT_TEST_ERR_TERMINAL"
	// HookSlack multiplies the limits of harnesses' hooks, of rescues and of the tree of a handoff; 1 means
	// the limits of the program. The default is large.
	HookSlack = "TT_TEST_HOOK_SLACK"
	// StopGrace is how long processes of a worker's command have to end when they are asked to.
	StopGrace = "TT_TEST_STOP_GRACE"
	// SignLimit is how long the signature of a commit may take.
	SignLimit = "TT_TEST_SIGN_LIMIT"
)

// Race goes into the environment of every tt that a test runs. Without it, under the race detector, each
// process waits a second at its end.
const Race = "GORACE=atexit_sleep_ms=0"

// programs are the names of the program. It calls itself by the last one.
var programs = []string{"tt", "bb", "agent-roster", "worker", "review-gate", "tt-worker"}

// Harnesses are the names under which a test binary plays a harness.
var Harnesses = []string{"claude", "codex", "gemini", "opencode"}

// Clients are the names under which it plays other programs in which agents run: one that speaks MCP and
// isn't known to tt, and harnesses that tt knows only by their programs.
var Clients = []string{"cursor", "aider", "kiro-cli"}

// Main makes the process the program that it is named after; then it doesn't return. Call it first in
// TestMain.
//
// As tt, or under one of its other names, it is the program. As a harness it runs its arguments as a command
// and ends with that command's status; without arguments it lives until its standard input is closed.
func Main() {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if slices.Contains(programs, name) {
		if os.Getenv(playerEnv) != "" {
			os.Exit(playRequests())
		}
		os.Exit(cli.Main(Env()))
	}

	// The demo has the program itself play its actors.
	if os.Getenv(demo.TokenEnv) != "" && slices.Contains(demo.Actors, name) {
		os.Exit(cli.Main(Env()))
	}

	if slices.Contains(slices.Concat(Harnesses, Clients), name) {
		os.Exit(Harness(os.Args[1:]))
	}
}

// Install makes a directory with the test binary under the name of each program.
func Install(dir string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}

	for _, name := range slices.Concat(programs, Harnesses, Clients) {
		if err := os.Symlink(exe, filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

// Env is the environment of tt with the knobs applied.
func Env() app.Env {
	env := app.System()
	env.Full = full.Commands()

	// What it starts under its own path is tt, too.
	if exe, err := exec.LookPath(os.Args[0]); err == nil {
		env.Exe, _ = filepath.Abs(exe)
	}

	env.Procs = func() (*proc.Table, error) {
		t, err := proc.Host()
		if err == nil {
			t.Top, err = intFromEnv(Top)
			if boot := os.Getenv(Boot); boot != "" {
				t.PIDSpace.Boot = boot
			}
		}
		return t, err
	}

	env.GitLimit, env.StopGrace = cmp.Or(durationFromEnv(GitLimit), time.Minute), durationFromEnv(StopGrace)
	env.SignLimit = durationFromEnv(SignLimit)
	applySurroundings(&env)

	slack, err := intFromEnv(HookSlack)
	if err != nil {
		panic(err)
	}
	env.HookSlack = cmp.Or(slack, 100)

	env.Now, env.Clock = movedClock(os.Getenv(Still), os.Getenv(Clock)), movedClock("", os.Getenv(MachineClock))
	kill, stop, panics := reachesPoint(os.Getenv(Kill)), reachesPoint(os.Getenv(Stop)), reachesPoint(os.Getenv(Panic))

	if os.Getenv(Panic) != "" {
		now := env.Now
		if now == nil {
			now = time.Now
		}
		env.Now = func() time.Time {
			if panics("clock") {
				panic("a test wants it at clock")
			}
			return now()
		}
	}

	env.Kill = func(point string) {
		if strings.HasPrefix(point, core.CopyPoint) && os.Getenv(CopyPoints) == "" {
			return
		}

		notePoint(os.Getenv(Points), point)
		if kill(point) {
			signalSelf(syscall.SIGKILL)
		}
		if stop(point) {
			signalSelf(syscall.SIGSTOP)
		}
		if panics(point) {
			panic("a test wants it at " + point)
		}
	}
	return env
}

// applySurroundings lets tt see another host name, file system, owner or terminal.
func applySurroundings(env *app.Env) {
	env.Host = cmp.Or(os.Getenv(Host), env.Host)

	if kind := os.Getenv(FileSystem); kind != "" {
		env.Local = func(dir string) error { return workspace.UnsafeFileSystem(dir, kind) }
	}

	if uid, err := intFromEnv(Owner); err != nil {
		panic(err)
	} else if uid != 0 {
		env.Local = func(dir string) error { return plainfile.OfAnother(dir, uid) }
	}

	columns, err := intFromEnv(Terminal)
	if err != nil {
		panic(err)
	}
	if columns > 0 {
		env.TTY, env.Columns = true, columns
	}

	env.InTTY = env.InTTY || os.Getenv(InTerminal) != ""
	if columns, err = intFromEnv(ErrTerminal); err != nil {
		panic(err)
	}
	env.ErrColumns = func() int { return columns }
}

// movedClock is a clock moved by an offset. With a time it stands still there.
func movedClock(still, offset string) func() time.Time {
	if still == "" && offset == "" {
		return nil
	}
	var moved time.Duration
	var err error

	if offset != "" {
		if moved, err = time.ParseDuration(offset); err != nil {
			panic(err)
		}
	}

	if still == "" {
		return func() time.Time { return time.Now().Add(moved) }
	}

	ms, err := strconv.ParseInt(still, 10, 64)
	if err != nil {
		panic(err)
	}
	return func() time.Time { return time.UnixMilli(ms).Add(moved) }
}

// notePoint appends a point that tt passes to a file.
func notePoint(path, point string) {
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, point)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		panic(err)
	}
}

func durationFromEnv(name string) time.Duration {
	s := os.Getenv(name)
	if s == "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return d
}

func intFromEnv(name string) (int, error) {
	s := os.Getenv(name)
	if s == "" {
		return 0, nil
	}
	return strconv.Atoi(s)
}

// reachesPoint returns a function that reports whether a point is the one that spec names, passed for the n-th
// time.
func reachesPoint(spec string) func(point string) bool {
	name, count, _ := strings.Cut(spec, "#")
	n, err := strconv.Atoi(count)
	if err != nil {
		n = 1
	}

	return func(point string) bool {
		if spec == "" || point != name {
			return false
		}
		n--
		return n == 0
	}
}

// signalSelf sends a signal to this process, and waits until it has taken effect.
func signalSelf(s syscall.Signal) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := toThisThread(s); err != nil {
		panic(err)
	}
	if s == syscall.SIGKILL {
		select {}
	}
}

// Harness does what a harness does here: it runs a command, or waits for the end of its input. Where the
// environment names an inbox, it serves that.
func Harness(args []string) int {
	if err := serveInbox(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 127
	}

	if len(args) == 0 {
		io.Copy(io.Discard, os.Stdin)
		return 0
	}

	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := c.Run()

	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(exit.ExitCode(), 1)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 127
	}
	return 0
}
