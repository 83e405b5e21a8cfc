//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/proc"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// buildPrograms builds the shipped program and the floors.
func (b *bench) buildPrograms() error {
	full := "" // lies beside tt, which hands over to it
	for into, from := range map[*string]string{
		&b.tt:    "talkingstick/cmd/tt",
		&full:    "talkingstick/cmd/tt-full",
		&b.empty: "talkingstick/internal/bench/floor/empty",
		&b.read:  "talkingstick/internal/bench/floor/read",
	} {
		*into = filepath.Join(b.dir, filepath.Base(from))
		if err := compile(*into, from, "-s -w"); err != nil {
			return err
		}
	}
	return nil
}

// compile builds a program, with flags for the linker.
func compile(into, from, flags string) error {
	built := into + ".built"
	c := exec.Command("go", "build", "-trimpath", "-ldflags", flags, "-o", built, from)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", from, err, out)
	}

	if err := copyProgram(into, built); err != nil {
		return err
	}
	return os.Remove(built)
}

// copyProgram writes a program anew, in one piece. How a file was written decides in which pieces the kernel
// caches it, and so what a start costs: one cost 1.4 times what it did with another file of the same bytes.
// Programs are comparable once all were written alike.
func copyProgram(into, from string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(into, program, 0o700)
}

// measureSize measures the program's file. DESIGN has no goal for it.
func (b *bench) measureSize() error {
	// Symbols and debug information are what the shipped program lacks.
	whole := filepath.Join(b.dir, "tt-with-symbols")
	if err := compile(whole, "talkingstick/cmd/tt", ""); err != nil {
		return err
	}

	figures := map[string]float64{}
	for name, path := range map[string]string{"tt": b.tt, "tt_with_symbols": whole, "tt_full": filepath.Join(b.dir, "tt-full"), "empty": b.empty, "read": b.read} {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		figures[name] = float64(info.Size())
	}

	b.addRow(row{
		What: "size of `tt`, as it is shipped",
		Goal: "none; reported",
		Met:  true,
		Measured: fmt.Sprintf("%.1f MB, %.1f MB with symbols and debug information; `tt-full` beside it: %.1f MB",
			figures["tt"]/1e6, figures["tt_with_symbols"]/1e6, figures["tt_full"]/1e6),
		Notes: []string{fmt.Sprintf("sizes of the floors: empty Go %.1f MB, Go + one read %.1f MB",
			figures["empty"]/1e6, figures["read"]/1e6)},
		Figures: figures,
	})
	return nil
}

// place is a scratch database with a workspace that needs no git.
type place struct {
	b    *bench
	data string
	dir  string

	database string // the address of a database on a server; empty for a file in data
}

func (b *bench) newPlace(data string) place {
	b.seq++

	p := place{b: b, data: data, dir: filepath.Join(b.dir, fmt.Sprintf("room-%d", b.seq))}
	if p.data == "" {
		p.data = p.dir + "-data"
	}

	// The file marks the directory as a workspace, which then needs no git.
	must(os.Mkdir(p.dir, 0o700))
	must(os.WriteFile(filepath.Join(p.dir, "AGENTS.md"), nil, 0o600))
	return p
}

// must panics if something fails that every run needs.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// environ returns the environment for a place, with nothing of the caller's but PATH.
func (p place) environ() []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.b.dir, "USER=bench", "TALKING_STICK_DATA_DIR=" + p.data}

	if p.database != "" {
		env = append(env, "TALKING_STICK_DATABASE_URL="+p.database)
	}

	return env
}

// command returns a command in the place. Its output is discarded.
func (p place) command(program string, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Dir, c.Env = p.dir, p.environ()
	return c
}

// commandAs returns a command of tt as one of the agents of a run.
func (p place) commandAs(agent string, args ...string) *exec.Cmd {
	return p.command(p.b.tt, append(args, "--as", agent)...)
}

// runAs runs tt as an agent. Every exit status but 0 is a failure.
func (p place) runAs(agent string, args ...string) error {
	c := p.commandAs(agent, args...)

	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("tt %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return nil
}

// timeCommand runs a command that should end with status. It returns the time from its start until the kernel
// has reported its end.
func timeCommand(c *exec.Cmd, status int) (time.Duration, error) {
	began := time.Now()
	err := c.Run()
	took := time.Since(began)

	// The expected status is no failure.
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == status {
		err = nil
	}

	if err != nil {
		return took, fmt.Errorf("%s: %w", strings.Join(c.Args, " "), err)
	}
	return took, nil
}

// reapProcess waits for c in the background. The time of its end arrives on the channel.
func reapProcess(c *exec.Cmd) <-chan time.Time {
	at := make(chan time.Time, 1)

	// The goroutine ends with the process.
	go func() {
		// Callers check the exit status if they need it.
		_ = c.Wait()
		at <- time.Now()
	}()

	return at
}

// giveUpAfter is how long anything may take before the measurement fails.
const giveUpAfter = 20 * time.Second

// waitEnd waits for a time on a channel, such as the end of a process.
func waitEnd(at <-chan time.Time, what string) (time.Time, error) {
	select {
	case t := <-at:
		return t, nil
	case <-time.After(giveUpAfter):
		return time.Time{}, fmt.Errorf("%s didn't end within %s", what, giveUpAfter)
	}
}

// openEngine opens the place's database in this process.
func (p place) openEngine() *engine.Engine {
	procs, err := proc.Host()
	must(err)

	procs.OneHost = p.database == ""

	// One host can see the processes behind a file; a server's database may have others.
	kernel := core.New(core.Config{
		Dir: p.data, Database: p.database, Procs: procs, Workspace: workspace.Env{Dir: p.dir, Home: p.b.dir},
	})
	return engine.New(engine.Config{Kernel: kernel})
}

// callerNamed returns an agent of a run, as the engine sees it.
func callerNamed(agent string) core.Caller {
	return core.Caller{As: agent, Harness: "bench", User: "bench"}
}

// awaitListeners waits until n members of the place's room wait for work.
func (p place) awaitListeners(e *engine.Engine, n int) error { return p.awaitPurpose(e, stick.Work, n) }

// awaitPurpose waits until n members of the place's room wait for something.
func (p place) awaitPurpose(e *engine.Engine, purpose stick.Purpose, n int) error {
	// Many waits take longer to block.
	deadline := time.Now().Add(giveUpAfter + time.Duration(n)*200*time.Millisecond)
	for time.Now().Before(deadline) {
		state, err := p.readRoom(e)
		if err != nil {
			return err
		}

		waiting := 0
		for _, m := range state.Members {
			if m.Listening == purpose {
				waiting++
			}
		}

		if waiting >= n {
			return nil
		}

		time.Sleep(2 * time.Millisecond)
	}

	return fmt.Errorf("%d waits should block, but don't", n)
}

// cpuTime returns how long all threads of a process have run on a processor.
func cpuTime(pid int) (total time.Duration) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, t := range tasks {
		ns, _, _ := strings.Cut(readText(t), " ")
		n, _ := strconv.ParseInt(ns, 10, 64)
		total += time.Duration(n)
	}

	return total
}

func cpuTimes(pids []int) (total time.Duration) {
	for _, p := range pids {
		total += cpuTime(p)
	}
	return total
}

// memoryOf returns a figure of a process's status, in MB.
func memoryOf(pid int, name string) float64 {
	kb, _, _ := strings.Cut(readField(fmt.Sprintf("/proc/%d/status", pid), name), " ")
	n, _ := strconv.ParseFloat(kb, 64)
	return n * 1024 / 1e6
}

// The variables that tell a process which part of a measurement it is, and the values for it.
const (
	partEnv    = "TT_BENCH_PART"
	roomEnv    = "TT_BENCH_ROOM"
	ttEnv      = "TT_BENCH_TT"
	agentEnv   = "TT_BENCH_AGENT"
	spanEnv    = "TT_BENCH_SPAN"
	listensEnv = "TT_BENCH_LISTENS"
)

// runPart plays a part, if this process was started for one.
func runPart() {
	var err error
	switch os.Getenv(partEnv) {
	case "":
		return
	case "owner":
		err = playOwner()
	case "leave":
		err = playLeaver()
	case "hooks":
		err = playHarness()
	default:
		err = playTurner(os.Getenv(partEnv))
	}

	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %s: %v\n", os.Getenv(partEnv), err)
		os.Exit(1)
	}
	os.Exit(0)
}

// playOwner is a harness that takes the stick with a tt of its own, says so, and lives until its input ends.
func playOwner() error {
	c := exec.Command(os.Getenv(ttEnv), "wait", "--turn")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return err
	}

	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// startPart starts this program for a part, and returns when the process has printed "ready".
func (p place) startPart(
	program, part string, env ...string,
) (c *exec.Cmd, in io.WriteCloser, out *bufio.Reader, err error) {
	// The part learns from its environment what it has to play.
	c = p.command(program)
	c.Env = append(append(c.Env, partEnv+"="+part, roomEnv+"="+p.dir, ttEnv+"="+p.b.tt), env...)
	c.Stderr = os.Stderr

	if in, err = c.StdinPipe(); err != nil {
		return nil, nil, nil, err
	}

	pipe, err := c.StdoutPipe()
	if err != nil {
		return nil, nil, nil, err
	}

	if err := c.Start(); err != nil {
		return nil, nil, nil, err
	}

	out = bufio.NewReader(pipe)

	// The time of its start takes no part in what is measured.
	if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
		c.Process.Kill()
		return nil, nil, nil, fmt.Errorf("the part %s doesn't start: %q %w", part, line, err)
	}

	return c, in, out, nil
}
