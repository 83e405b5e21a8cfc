//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"talkingstick/internal/clitest"
	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
)

// needsProcesses reports whether each command of a script has to be a process of its own: when it damages,
// removes or locks the database, no other process may have it open, as a player would.
func needsProcesses(name, script string) bool {
	return name == "hook_locked" || strings.Contains(script, "\ndamaged\n")
}

// fullScripts plays all scripts on a server, too, with a process for each command.
var fullScripts = flag.Bool("script.full", false,
	"play all scripts, on a server, too; start a process for each command")

// playedByPlayers returns the names of the scripts that players play: all but those that need processes and a
// sample, or the only one. The sample is one in forty in a short run, and else one in eight.
//
// In a player a command has its real caller, directory, environment and files, and its process ends with it
// if it leaves more behind than an open database. What isn't so: it has the pid and the memory of the
// commands before it.
func playedByPlayers(t *testing.T, files []string) map[string]bool {
	byPlayers := map[string]bool{}
	if *fullScripts {
		return byPlayers
	}

	nth := 8
	if testing.Short() {
		nth = 40
	}

	for i, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		isSample := i%nth == 0 && len(files) > 1
		if !isSample && !needsProcesses(name, string(script)) {
			byPlayers[name] = true
		}
	}

	testenv.LeavesToFull(t, *fullScripts,
		fmt.Sprintf("a process for each command of %d of %d scripts", len(byPlayers), len(files)))
	return byPlayers
}

// playable reports whether a player can be the process of a command, given its whole environment.
func (s *story) playable(q request, path string, env []string) bool {
	if s.troupe == nil || q.name != "" { // it runs beside others, and may be stopped or killed
		return false
	}
	file, err := lookPath(q.program[0], path)
	if err != nil ||
		filepath.Dir(file) != s.bin ||
		slices.Contains(slices.Concat(clitest.Harnesses, clitest.Clients), q.program[0]) {
		return false
	}

	// A hook that waits registers with the start of its process, which [clitest] hides from other hooks.
	if slices.Contains(q.program, "--wake") {
		return false
	}

	set := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		set[name] = value
	}

	// Points at which the process ends, and what Go reads only once.
	return set[clitest.Kill]+set[clitest.Stop]+set[clitest.Panic]+set["TZ"] == ""
}

// troupe are the players outside of any harness.
type troupe struct {
	dir string // for their files

	mu     sync.Mutex // guards the rest
	idle   []*player
	hired  int
	played int // commands
}

// player is a process that plays commands, for one script at a time.
type player struct {
	cmd      *exec.Cmd
	requests io.WriteCloser
	replies  *bufio.Reader
	close    func()
	out, err string // files
}

func newTroupe(t *testing.T) *troupe {
	tr := &troupe{dir: t.TempDir()}
	t.Cleanup(func() { // when all scripts have ended
		for _, p := range tr.idle {
			p.close()
		}

		// A player ends with a command that leaves something open. What every command leaves open belongs to
		// clitest's leftOpen: else players cost as much as processes, and nobody sees it. A connection to a
		// server ends its player.
		t.Logf("%d players played %d commands", tr.hired, tr.played)
		if !storetest.OnServer(t) && tr.played > 500 && tr.hired > tr.played/5 {
			t.Error("most commands end their player")
		}
	})

	return tr
}

// take returns a player that is idle, or a new one.
func (tr *troupe) take(program string) (*player, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.played++

	if n := len(tr.idle); n > 0 {
		p := tr.idle[n-1]
		tr.idle = tr.idle[:n-1]
		return p, nil
	}

	tr.hired++
	file := filepath.Join(tr.dir, strconv.Itoa(tr.hired))
	p := &player{cmd: exec.Command(program), out: file + ".out", err: file + ".err"}
	requestsEnd, requests, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer requestsEnd.Close()
	replies, repliesEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer repliesEnd.Close()
	p.requests, p.replies = requests, bufio.NewReader(replies)

	p.close = func() {
		requests.Close()
		p.cmd.Wait() // how it ended shows in its state
		replies.Close()
	}

	p.cmd.Dir, p.cmd.Env = "/", []string{clitest.PlayerEnv, clitest.Race, "GOGC=400"}
	p.cmd.Stderr, p.cmd.ExtraFiles = os.Stderr, []*os.File{repliesEnd, requestsEnd}
	return p, p.cmd.Start()
}

// giveBack makes a player idle.
func (tr *troupe) giveBack(p *player) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.idle = append(tr.idle, p)
}

// perform has a player be the process of a command that no harness runs.
func (s *story) perform(ts *testscript.TestScript, path string, q request, env []string) *Command {
	p, err := s.troupe.take(filepath.Join(s.bin, "tt"))
	ts.Check(err)
	args := append([]string{path}, q.program[1:]...)
	r := clitest.Request{Args: args, Dir: ts.MkAbs("."), Env: env, In: q.stdin, Out: p.out, Err: p.err}
	if r.In == "" {
		r.In = os.DevNull
	}
	ts.Check(json.NewEncoder(p.requests).Encode(r))

	c := &Command{
		line: strings.Join(q.program, " "), pid: p.cmd.Process.Pid, done: make(chan struct{}),
		hangup: func() {},
	}
	go func() { // ends with the command
		defer close(c.done)
		line, err := p.replies.ReadString('\n')
		if err == nil {
			_, err = fmt.Sscanf(line, "0 exit %d\n", &c.status)
		}
		if err != nil { // it has ended as the command
			p.close()
			c.status = status(p.cmd.ProcessState)
		}

		out, _ := os.ReadFile(p.out)
		errs, _ := os.ReadFile(p.err)
		c.out, c.err = string(out), string(errs)
		if err == nil {
			s.troupe.giveBack(p)
		}
	}()

	return c
}

// perform has a player in the harness be the process of a command.
func (a *actor) perform(ts *testscript.TestScript, q request) *Command {
	if !a.hasPlayer() {
		a.hire(ts)
	}
	a.mu.Lock()
	c := &Command{line: strings.Join(q.program, " "), pid: a.player.pid, player: a.player, hangup: func() {}}
	id, file := a.enter(c)
	a.mu.Unlock()

	r := clitest.Request{
		ID: id, Args: q.program, Dir: ts.MkAbs("."), Env: a.environment(ts, q), In: q.stdin,
		Out: file + ".out", Err: file + ".err",
	}
	if r.In == "" {
		r.In = os.DevNull
	}
	ts.Check(json.NewEncoder(a.requests).Encode(r))
	return c
}

// hire has the shell in the harness start a player.
func (a *actor) hire(ts *testscript.TestScript) {
	fifo := filepath.Join(a.dir, "requests")
	if a.requests == nil {
		ts.Check(unix.Mkfifo(fifo, 0o600))
		requests, err := os.OpenFile(fifo, os.O_RDWR, 0) // reading, too, so that this doesn't wait for the player
		ts.Check(err)
		a.requests = requests
	}

	a.player = &Command{line: "a player", hangup: func() {}}
	a.shell(ts, a.player, func(id int, file string) string {
		return fmt.Sprintf("cd /; env %s sh -c 'echo %d pid $$ >&3; exec tt' 4<%s <%s >%s.out 2>%s.err",
			clitest.PlayerEnv, id, Quote(fifo), os.DevNull, file, file)
	})
}

// hasPlayer reports whether there is a player in the harness that hasn't ended as one of the commands.
func (a *actor) hasPlayer() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.running {
		if c == a.player {
			return true
		}
	}

	return false
}

// diagnose runs tt doctor on what the script leaves. Where players play, it makes only the check of the database
// that the doctor makes, in this process, which keeps what each doctor would make anew.
func (s *story) diagnose() error {
	if s.troupe != nil && s.address == "" {
		return checkDatabase(s.data)
	}

	doctor := exec.Command(filepath.Join(s.bin, "tt"), "doctor")
	doctor.Env, doctor.Dir = append(slices.Clone(s.vars), "TALKING_STICK_DATABASE_URL="+s.address), s.work
	if out, err := doctor.CombinedOutput(); err != nil {
		return fmt.Errorf("tt doctor: %w\n%s", err, out)
	}

	return nil
}

// checkDatabase looks for damage in the database file of a data directory.
func checkDatabase(dir string) (err error) {
	db, err := store.Open(context.Background(), store.Options{Dir: dir}, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	found, err := db.Check(context.Background())
	if len(found) > 0 {
		err = errors.Join(err, fmt.Errorf("the database is damaged: %s", strings.Join(found, "; ")))
	}
	return err
}
