//go:build unix

// The scripts in testdata/script run the real program in real processes. Each begins with a sentence that
// says what it proves, and reads as an example of use. Beside testscript's own commands a script has these:
//
//	tt ARG…                     run tt; its exit status must be 0, or with ! anything else
//	as AGENT tt ARG…            … as an agent (TT_HARNESS_AGENT_ID)
//	under HARNESS tt ARG…       … below a process that is recognised as that harness
//	with NAME=VALUE… tt ARG…    … with environment variables
//	exits STATUS tt ARG…        … and its exit status must be this one (137: killed)
//	… <FILE                     … with a file as standard input
//	… &NAME&                    … in the background
//
//	start NAME HARNESS [NAME=VALUE…]   start a harness that lives until it is killed
//	in NAME tt ARG…             run tt in that harness, as its tool calls are
//
//	serve                       every tt from here on opens an empty database on a server; a script asks [server] before
//	still                       stop the clock of every tt from here on; TT_TEST_CLOCK moves it
//	listening AGENT…            wait until these members are blocked in a wait
//	until PATTERN tt ARG…       repeat a command until its output matches
//	heard [stderr] NAME PATTERN wait until a command in the background has printed this
//	ends NAME [STATUS]          wait for the end of a command in the background
//	stopped NAME                wait until a command in the background has stopped itself
//	signal SIGNAL NAME          to a command in the background, or to a harness
//	visit NAME PATH [PATTERN]   a page of the tt serve of this name in the background, once it matches
//	post NAME OPERATION FIELD=VALUE…   what a form of a page does
//	hangup NAME                 stop reading the output of a command in the background
//
//	json [stderr] FIELD VALUE   check a field of the last output, as members.0.status; ~VALUE is a pattern
//	tokens MOST [FIELD]         the last output, or a field of it, costs an agent at most so many tokens, of four bytes each
//	save NAME FIELD             keep a field in a variable
//	snapshot, unchanged         remember the database, and check that it is still the same
//	sql [FILE] STATEMENT        change the database behind tt's back, or a file of SQLite's, or make one
//	handoff FILE BYTES          write a handoff whose status has so many bytes
//	damaged                     don't look for damage when the script ends
//
// In a short run most commands are played by a few processes that live on, see player_test.go, and on SQLite
// a script ends after its main story, at the line
//
//	[quick] stop 'ODD CASES'    which names what comes after it. TestScript says that it leaves this
//
// Where a command waits for something, it polls for it; the bound is for failures only. Every script ends
// with tt doctor, or with the check of the database that the doctor makes.
//
// The scripts run on SQLite, or by -database=postgres on a server, each with a database of its own. [sqlite]
// and [postgres] tell which; a script that is about SQLite's file skips itself.
package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"talkingstick/internal/clitest"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
)

func TestMain(m *testing.M) {
	clitest.Main()
	if len(os.Args) > 1 && (os.Args[1] == "guard" || os.Args[1] == "rescue") {
		fmt.Fprintln(os.Stderr, "the test binary was started as a process in the background, under the wrong name")
		os.Exit(1)
	}
	os.Exit(testenv.Run(m))
}

// patience limits every wait for something that has to happen.
const patience = 2 * time.Minute

// TestScript plays the scripts. In a short run players play the commands of nine of ten, see
// [playedByPlayers].
func TestScript(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	leavesScripts := testenv.LeavesToFull(t, *fullScripts,
		"three of four scripts on PostgreSQL, but for those that name a database")
	if storetest.OnServer(t) {
		if leavesScripts {
			files = sampleForServer(t, files)
		}
	} else {
		files = testenv.Some(t, testenv.Server, "scripts, whose agents share a server", files, func(_ int, file string) bool {
			script, err := os.ReadFile(file)
			return err != nil || !bytes.Contains(script, []byte("\n[!server] skip "))
		})
	}

	if testenv.IsCrowded() {
		// What starts a command that runs on while the script does.
		inBackground := regexp.MustCompile(`(?m)^serve |&[A-Za-z0-9]+&$`)
		files = slices.DeleteFunc(files, func(file string) bool {
			script, err := os.ReadFile(file)
			return err == nil && !inBackground.Match(script)
		})
	}

	leaveOddCases(t, files)
	play(t, testscript.Params{Files: files}, nil)
}

// sampleForServer picks one in four scripts, and those that say what is different on a server.
func sampleForServer(t *testing.T, files []string) (sample []string) {
	t.Helper()
	namesDatabase := regexp.MustCompile(`(?m)^\[!?(server|postgres|sqlite)\] `)
	for i, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if i%4 == 0 || namesDatabase.Match(script) {
			sample = append(sample, file)
		}
	}

	return sample
}

// leaveOddCases says what scripts leave when they end after their main story.
func leaveOddCases(t *testing.T, files []string) {
	t.Helper()
	if !testing.Short() {
		return
	}

	oddCases := regexp.MustCompile(`(?m)^\[quick\] stop '(.*)'$`)
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		if m := oddCases.FindSubmatch(script); m != nil {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			testenv.Leaves(t, testenv.Every, name+": "+strings.ReplaceAll(string(m[1]), "''", "'"))
		}
	}
}

// play runs scripts; more are commands that only they have.
func play(t *testing.T, p testscript.Params, more map[string]func(*story, *testscript.TestScript, []string)) {
	server := storetest.OnServer(t)
	if server {
		p = onServer(t, p)
	}
	bin := t.TempDir()
	if err := clitest.Install(bin); err != nil {
		t.Fatal(err)
	}

	byPlayers, troupe := playedByPlayers(t, p.Files), newTroupe(t)
	var mu sync.Mutex // guards stories
	stories := map[string]*story{}
	of := func(ts *testscript.TestScript) *story {
		mu.Lock()
		defer mu.Unlock()
		return stories[ts.Getenv("WORK")]
	}

	cmds := map[string]func(*testscript.TestScript, bool, []string){}
	for _, verb := range []string{"tt", "as", "under", "with", "exits", "in"} {
		cmds[verb] = func(ts *testscript.TestScript, neg bool, args []string) {
			of(ts).run(ts, neg, append([]string{verb}, args...))
		}
	}

	plain := map[string]func(*story, *testscript.TestScript, []string){
		"start": (*story).start, "listening": (*story).listening, "until": (*story).until,
		"heard": (*story).heard, "ends": (*story).ends,
		"stopped": (*story).stopped, "signal": (*story).signal, "hangup": (*story).hangup, "save": (*story).save,
		"snapshot": (*story).snapshot, "unchanged": (*story).unchanged, "sql": (*story).sql,
		"locked": (*story).locked, "handoff": (*story).handoff,
		"tokens": (*story).tokens,
		"serve":  (*story).serve, "visit": (*story).visit, "post": (*story).post, "hides": (*story).hides,
		"still": func(_ *story, ts *testscript.TestScript, _ []string) {
			ts.Setenv(clitest.Still, strconv.FormatInt(time.Now().UnixMilli(), 10))
		},
		"damaged": func(s *story, _ *testscript.TestScript, _ []string) { s.damaged = true },
	}

	maps.Copy(plain, more)
	for verb, do := range plain {
		cmds[verb] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("unsupported: ! %s", verb)
			}
			do(of(ts), ts, args)
		}
	}

	cmds["json"] = func(ts *testscript.TestScript, neg bool, args []string) { of(ts).json(ts, neg, args) }
	p.Cmds, p.RequireUniqueNames = cmds, true
	p.Condition = func(cond string) (bool, error) {
		switch cond {
		case "root":
			return os.Geteuid() == 0, nil
		case "mount": // as root in a container that may
			return exec.Command("unshare", "--mount", "true").Run() == nil, nil
		case "sqlite":
			return !server, nil
		case "postgres":
			return server, nil
		case "quick":
			return testing.Short(), nil
		case "server":
			return storetest.HasPostgres() || os.Getenv("TT_REQUIRE_ALL") != "", nil
		}

		return false, fmt.Errorf("unknown condition %s", cond)
	}

	p.Setup = func(env *testscript.Env) error {
		s, err := newStory(env, bin, server)
		if err != nil {
			return err
		}
		if byPlayers[strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")] {
			s.troupe = troupe
		}
		mu.Lock()
		stories[env.WorkDir] = s
		mu.Unlock()

		env.Defer(func() {
			if err := s.end(); err != nil {
				env.T().Fatal(err)
			}
		})

		return nil
	}
	testscript.Run(t, p)
}

// story is one script as it runs.
type story struct {
	bin, work, data string
	address         string         // of the database, if it is on a server
	drops           []func() error // what drops the databases on a server
	vars            []string
	troupe          *troupe             // plays commands; nil if each is a process
	commands        map[string]*Command // in the background
	actors          map[string]*actor
	before          string // the database at the last snapshot
	damaged         bool
	unlock          func()   // what is locked
	wrong           []string // refusals that differ from what they should be
	hinted          string   // the hint of the last refusal
	byHand          string   // what the next hint asks of hands
	browsers        map[string]*browser
}

// given are the variables that a script may set with env.
var given = []string{
	clitest.Top, clitest.Clock, clitest.Still, clitest.HookSlack, clitest.SignLimit, clitest.Kill,
	clitest.Stop, "TT_TRACE", "PATH", "HOME", "USER", "TALKING_STICK_DATA_DIR", "TALKING_STICK_DATABASE_URL",
	"XDG_DATA_HOME",
	"TT_HARNESS_AGENT_ID", "TT_JSON", "NO_COLOR", "CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID",
	"CODEX_CI",
	"GEMINI_CLI", "OPENCODE", "GIT_DIR", "GIT_WORK_TREE", "GIT_CONFIG_GLOBAL",
}

// ago is what a pattern says for how long ago something was: a script can take more than a second from one
// step to the next.
const ago = `(just now|\d+ s ago|\d+ min ago)`

func newStory(env *testscript.Env, bin string, server bool) (*story, error) {
	s := &story{
		bin: bin, work: env.WorkDir, data: filepath.Join(env.WorkDir, "data"),
		commands: map[string]*Command{}, actors: map[string]*actor{},
	}

	if server {
		if err := s.newSchema(); err != nil {
			return nil, err
		}
	}

	home, app := filepath.Join(s.work, "home"), filepath.Join(s.work, "app")
	for _, dir := range []string{home, app} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}

	for name, value := range map[string]string{
		"PATH": bin + ":" + os.Getenv("PATH"), "HOME": home, "USER": "pat", "DATA": s.data, "BIN": bin,
		"TALKING_STICK_DATA_DIR": s.data, "TALKING_STICK_DATABASE_URL": s.address,
		clitest.Host: hostName, clitest.Top: strconv.Itoa(os.Getpid()),
		"GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"), "GIT_CONFIG_SYSTEM": testenv.QuickGit(),
		"GIT_AUTHOR_NAME": "Pat", "GIT_AUTHOR_EMAIL": "pat@example.com", "GIT_COMMITTER_NAME": "Pat",
		"GIT_COMMITTER_EMAIL": "pat@example.com",
	} {
		env.Setenv(name, value)
	}

	env.Vars = append(env.Vars, clitest.Race)
	s.vars = slices.Clone(env.Vars)
	env.Setenv("AGO", ago)
	env.Cd = app
	err := emptyRepository.Copy(filepath.Join(app, ".git"), func() error {
		git := exec.Command("git", "init", "--quiet", "--initial-branch=main")
		git.Dir, git.Env = app, s.vars
		if out, err := git.CombinedOutput(); err != nil {
			return fmt.Errorf("git init: %w: %s", err, out)
		}
		return nil
	})
	return s, err
}

// emptyRepository is the .git of the repository in which each script begins.
var emptyRepository testenv.Template

// end ends what the script has started, checks that its database is sound, and drops those on a server.
func (s *story) end() error {
	err := s.over()
	for _, drop := range s.drops {
		err = errors.Join(err, drop())
	}
	return err
}

func (s *story) over() error {
	for _, a := range s.actors {
		a.end()
	}

	for _, c := range s.commands {
		syscall.Kill(c.pid, syscall.SIGKILL)
		select {
		case <-c.done:
		case <-time.After(patience):
			return fmt.Errorf("the command %q doesn't end", c.line)
		}
	}

	if s.damaged {
		return nil
	}
	if before, err := s.dump(); before == "" || err != nil {
		return err
	}

	return s.diagnose()
}

// Command is a program that was started.
type Command struct {
	line     string
	pid      int
	done     chan struct{} // closed when it has ended; the rest can be read then
	status   int           // its exit status, or 128 and the signal that killed it
	out, err string
	hangup   func()
	printed  output   // so far
	errors   output   // so far, to standard error
	player   *Command // in the same harness, which plays it
}

// output collects what a command prints.
type output struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// request is one line of a script that runs a program.
type request struct {
	program     []string
	env         []string
	stdin       string
	actor, name string // of the harness it runs in, of the command in the background
	want        int    // the exit status, or -1 for any but 0
}

func (s *story) parse(ts *testscript.TestScript, neg bool, args []string) request {
	var q request
	if neg {
		q.want = -1
	}
	var harness []string

	next := func() string {
		if len(args) == 0 {
			ts.Fatalf("a word is missing")
		}
		w := args[0]
		args = args[1:]
		return w
	}

	for len(args) > 0 && q.program == nil {
		switch verb := next(); verb {
		case "as":
			q.env = append(q.env, "TT_HARNESS_AGENT_ID="+next())
		case "under":
			harness = append(harness, next())
		case "in":
			q.actor = next()

		case "exits":
			n, err := strconv.Atoi(next())
			ts.Check(err)
			q.want = n

		case "with":
			for len(args) > 0 && strings.Contains(args[0], "=") {
				q.env = append(q.env, next())
			}

		default:
			q.program = append(harness, append([]string{verb}, args...)...)
		}
	}

	if n := len(q.program) - 1; n >= 0 && strings.HasPrefix(q.program[n], "&") {
		q.name, q.program = strings.Trim(q.program[n], "&"), q.program[:n]
		if s.commands[q.name] != nil {
			ts.Fatalf("%s runs already", q.name)
		}
	}

	if n := len(q.program) - 1; n >= 0 && strings.HasPrefix(q.program[n], "<") {
		q.stdin, q.program = ts.MkAbs(q.program[n][1:]), q.program[:n]
	}
	if len(q.program) == 0 {
		ts.Fatalf("nothing to run")
	}
	return q
}

func (s *story) environment(ts *testscript.TestScript, more []string) []string {
	env := slices.Clone(s.vars)
	for _, name := range given {
		// git takes an empty one for a path
		if value := ts.Getenv(name); value != "" || !strings.HasPrefix(name, "GIT_") {
			env = append(env, name+"="+value)
		}
	}

	return append(env, more...)
}

func (s *story) run(ts *testscript.TestScript, neg bool, args []string) {
	q := s.parse(ts, neg, args)
	c := s.launch(ts, q)
	if q.name != "" {
		s.commands[q.name] = c
		io.WriteString(ts.Stdout(), "")
		return
	}

	s.finish(ts, c)
	check(ts, c, q.want)
}

func check(ts *testscript.TestScript, c *Command, want int) {
	if c.status != want && (want >= 0 || c.status == 0) {
		ts.Fatalf("exit status %d of %s", c.status, c.line)
	}
}

// finish waits for a command and makes its output the script's.
func (s *story) finish(ts *testscript.TestScript, c *Command) {
	select {
	case <-c.done:
	case <-time.After(patience):
		syscall.Kill(c.pid, syscall.SIGQUIT) // a Go program prints where it is
		select {
		case <-c.done:
		case <-time.After(time.Second):
		}
		ts.Fatalf("%s doesn't end\n%s", c.line, c.err)
	}

	io.WriteString(ts.Stdout(), c.out)
	io.WriteString(ts.Stderr(), c.err)
}

func (s *story) launch(ts *testscript.TestScript, q request) *Command {
	env := s.environment(ts, q.env)
	if q.actor != "" {
		a := s.actors[q.actor]
		if a == nil {
			ts.Fatalf("no harness %q was started", q.actor)
		}
		if s.playable(q, a.path, env) {
			return a.perform(ts, q)
		}

		return a.launch(ts, q)
	}

	path, err := lookPath(q.program[0], ts.Getenv("PATH"))
	ts.Check(err)
	if s.playable(q, ts.Getenv("PATH"), env) {
		return s.perform(ts, path, q, env)
	}

	c := &Command{line: strings.Join(q.program, " "), done: make(chan struct{})}
	cmd := exec.Command(path, q.program[1:]...)
	cmd.Args[0] = path
	cmd.Env, cmd.Dir = env, ts.MkAbs(".")

	if q.stdin != "" {
		in, err := os.Open(q.stdin)
		ts.Check(err)
		defer in.Close()
		cmd.Stdin = in
	}

	out, outEnd, err := os.Pipe()
	ts.Check(err)
	cmd.Stdout, cmd.Stderr = outEnd, &c.errors
	err = cmd.Start()
	outEnd.Close()
	ts.Check(err)
	c.pid, c.hangup = cmd.Process.Pid, func() { out.Close() }

	go func() { // ends with the command
		io.Copy(&c.printed, out)
		cmd.Wait() // how it ended shows in its state
		out.Close()
		c.status, c.out, c.err = status(cmd.ProcessState), c.printed.String(), c.errors.String()
		close(c.done)
	}()

	return c
}

func status(p *os.ProcessState) int {
	if w, ok := p.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return p.ExitCode()
}

func lookPath(program, path string) (string, error) {
	if strings.Contains(program, "/") {
		return program, nil
	}

	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, program); unix.Access(file, unix.X_OK) == nil {
			return file, nil
		}
	}

	return "", fmt.Errorf("no program %q", program)
}

// actor is a running harness with a shell in it, which runs commands as a harness's tool does. When the
// harness is killed, the shell lives on, as it really would.
type actor struct {
	dir  string
	path string // where its shell looks for programs
	pid  int    // of the harness
	in   io.WriteCloser
	gone chan struct{} // closed when the harness has ended and was reaped

	player   *Command // its player; nil before the first command for it
	requests *os.File // of its player

	mu      sync.Mutex // guards the rest
	last    int
	running map[int]*Command
	started map[int]chan struct{}
}

func (s *story) start(ts *testscript.TestScript, args []string) {
	if len(args) < 2 || s.actors[args[0]] != nil {
		ts.Fatalf("usage: start NAME HARNESS [NAME=VALUE…]")
	}
	dir := filepath.Join(s.work, ".actors", args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	inEnd, in, err := os.Pipe()
	ts.Check(err)
	defer inEnd.Close()
	out, outEnd, err := os.Pipe()
	ts.Check(err)
	defer outEnd.Close()
	cmd := exec.Command(filepath.Join(s.bin, args[1]), "/bin/sh", "-s")
	cmd.Env, cmd.Dir = s.environment(ts, args[2:]), ts.MkAbs(".")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inEnd, outEnd, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ts.Check(cmd.Start())

	a := &actor{
		dir: dir, path: ts.Getenv("PATH"), pid: cmd.Process.Pid, in: in, gone: make(chan struct{}),
		running: map[int]*Command{}, started: map[int]chan struct{}{},
	}

	s.actors[args[0]] = a
	go func() { // ends with the harness
		cmd.Process.Wait()
		close(a.gone)
	}()
	go a.listen(out) // ends with the last process that could write
}

// launch has the shell in the harness run a command.
func (a *actor) launch(ts *testscript.TestScript, q request) *Command {
	in := q.stdin
	if in == "" {
		in = os.DevNull
	}
	c := &Command{line: strings.Join(q.program, " "), hangup: func() {}}
	a.shell(ts, c, func(id int, file string) string {
		return fmt.Sprintf("cd %s; env %s sh -c 'echo %d pid $$ >&3; exec \"$@\" 3>&-' - %s <%s >%s.out 2>%s.err",
			Quote(ts.MkAbs(".")), words(a.environment(ts, q)), id, words(q.program), Quote(in), file, file)
	})

	return c
}

// environment returns what the script has set since the harness was started, unless it is empty.
func (a *actor) environment(ts *testscript.TestScript, q request) (env []string) {
	for _, name := range given {
		if v := ts.Getenv(name); v != "" && name != "PATH" {
			env = append(env, name+"="+v)
		}
	}
	return append(env, q.env...)
}

// enter gives a command a number.
func (a *actor) enter(c *Command) (id int, file string) {
	c.done = make(chan struct{})
	a.last++
	a.running[a.last] = c
	return a.last, filepath.Join(a.dir, strconv.Itoa(a.last))
}

// shell writes a line to the shell, and waits until the program in it has started.
func (a *actor) shell(ts *testscript.TestScript, c *Command, line func(id int, file string) string) {
	started := make(chan struct{})
	a.mu.Lock()
	id, file := a.enter(c)
	a.started[id] = started
	a.mu.Unlock()

	if _, err := fmt.Fprintf(a.in, "{ %s; echo %d exit $? >&3; } 3>&1 &\n", line(id, file), id); err != nil {
		ts.Fatalf("the harness has ended: %v", err)
	}

	select {
	case <-started:
	case <-c.done:
	case <-time.After(patience):
		ts.Fatalf("%s doesn't start", c.line)
	}
}

func words(list []string) string {
	var b strings.Builder
	for i, w := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(Quote(w))
	}

	return b.String()
}

func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// listen reads how the commands end.
func (a *actor) listen(out *os.File) {
	defer out.Close()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var id, n int
		var what string
		if _, err := fmt.Sscan(lines.Text(), &id, &what, &n); err != nil {
			continue
		}
		a.mu.Lock()
		c := a.running[id]
		switch {
		case c == nil:
		case what == "pid":
			c.pid = n
			close(a.started[id])
		case what == "exit":
			a.finish(id, n)
		}
		a.mu.Unlock()
	}

	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range a.running {
		a.finish(id, -1)
	}
}

func (a *actor) finish(id, status int) {
	c := a.running[id]
	delete(a.running, id)
	for played, other := range a.running {
		if other.player == c { // it has ended with its player
			a.finish(played, status)
		}
	}

	file := filepath.Join(a.dir, strconv.Itoa(id))
	out, _ := os.ReadFile(file + ".out")
	errs, _ := os.ReadFile(file + ".err")
	c.status, c.out, c.err = status, string(out), string(errs)
	close(c.done)
}

func (a *actor) end() {
	syscall.Kill(a.pid, syscall.SIGKILL)
	<-a.gone
	a.in.Close()
	if a.requests != nil {
		a.requests.Close()
	}
	syscall.Kill(-a.pid, syscall.SIGKILL)
}

// poll repeats look until it returns true.
func poll(ts *testscript.TestScript, what string, look func() bool) {
	for end := time.Now().Add(patience); !look(); time.Sleep(3 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("it never came to this: %s", what)
		}
	}
}

func (s *story) listening(ts *testscript.TestScript, args []string) {
	poll(ts, "listening "+strings.Join(args, " "), func() bool {
		c := s.launch(ts, request{program: []string{"tt", "state", "--json"}})
		<-c.done
		var state struct {
			Members []struct {
				AgentID   string `json:"agent_id"`
				Listening string `json:"listening"`
			} `json:"members"`
		}

		if json.Unmarshal([]byte(c.out), &state) != nil {
			return false
		}

		n := 0
		for _, m := range state.Members {
			if m.Listening != "" && slices.Contains(args, m.AgentID) {
				n++
			}
		}

		return n == len(args)
	})
}

func (s *story) until(ts *testscript.TestScript, args []string) {
	pattern, err := regexp.Compile(`(?m)` + args[0])
	ts.Check(err)
	var c *Command
	q := s.parse(ts, false, args[1:])
	poll(ts, strings.Join(args, " "), func() bool {
		c = s.launch(ts, q)
		<-c.done
		return pattern.MatchString(c.out) || pattern.MatchString(c.err)
	})

	io.WriteString(ts.Stdout(), c.out)
	io.WriteString(ts.Stderr(), c.err)
}

func (s *story) heard(ts *testscript.TestScript, args []string) {
	what := strings.Join(args, " ")
	errs := args[0] == "stderr"
	if errs {
		args = args[1:]
	}
	pattern, err := regexp.Compile(`(?m)` + args[1])
	ts.Check(err)
	c := s.background(ts, args[0])
	printed := &c.printed
	if errs {
		printed = &c.errors
	}
	poll(ts, what, func() bool { return pattern.MatchString(printed.String()) })
}

func (s *story) ends(ts *testscript.TestScript, args []string) {
	c := s.background(ts, args[0])
	want := 0
	if len(args) > 1 {
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		want = n
	}

	s.finish(ts, c)
	delete(s.commands, args[0])
	check(ts, c, want)
}

func (s *story) background(ts *testscript.TestScript, name string) *Command {
	c := s.commands[name]
	if c == nil {
		ts.Fatalf("no command %q runs in the background", name)
	}
	return c
}

func (s *story) signal(ts *testscript.TestScript, args []string) {
	sig := unix.SignalNum("SIG" + args[0])
	if len(args) != 2 || sig == 0 {
		ts.Fatalf("usage: signal SIGNAL NAME")
	}
	pid, gone := 0, (chan struct{})(nil)
	if a := s.actors[args[1]]; a != nil {
		pid, gone = a.pid, a.gone
	} else {
		c := s.background(ts, args[1])
		pid, gone = c.pid, c.done
	}

	ts.Check(syscall.Kill(pid, sig))
	switch sig {
	case syscall.SIGKILL:
		<-gone
	case syscall.SIGSTOP:
		poll(ts, "stopped", func() bool { return isStopped(pid) })
	}
}

func (s *story) stopped(ts *testscript.TestScript, args []string) {
	c := s.background(ts, args[0])
	poll(ts, args[0]+" is stopped", func() bool { return isStopped(c.pid) })
}

func isStopped(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, state, _ := strings.Cut(string(stat), ") ")
		return strings.HasPrefix(state, "T")
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.HasPrefix(string(out), "T")
}

func (s *story) hangup(ts *testscript.TestScript, args []string) { s.background(ts, args[0]).hangup() }

// field finds a field of the last output.
func field(ts *testscript.TestScript, file, path string) (any, bool) {
	text := strings.TrimSpace(ts.ReadFile(file))
	if file == "stderr" && strings.Contains(text, "\n") {
		ts.Fatalf("the failure isn't one line:\n%s", text)
	}
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		ts.Fatalf("%s isn't JSON: %v\n%s", file, err, text)
	}

	for _, name := range strings.Split(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = in[name]; !ok {
				return nil, false
			}

		case []any:
			i, err := strconv.Atoi(name)
			if name == "length" {
				v = json.Number(strconv.Itoa(len(in)))
			} else if err != nil || i >= len(in) {
				return nil, false
			} else {
				v = in[i]
			}

		default:
			return nil, false
		}
	}

	return v, true
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}

	b, _ := json.Marshal(v)
	return string(b)
}

func (s *story) json(ts *testscript.TestScript, neg bool, args []string) {
	file := "stdout"
	if args[0] == "stderr" {
		file, args = args[0], args[1:]
	}
	if len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: json [stderr] FIELD [VALUE]")
	}
	v, ok := field(ts, file, args[0])
	if len(args) == 1 {
		if ok == neg {
			ts.Fatalf("%s: present: %v", args[0], ok)
		}
		return
	}

	if !ok {
		ts.Fatalf("there is no field %s", args[0])
	}
	matches := text(v) == args[1]
	if p, isPattern := strings.CutPrefix(args[1], "~"); isPattern {
		matches = regexp.MustCompile(p).MatchString(text(v))
	}
	if matches == neg {
		ts.Fatalf("%s is %s", args[0], text(v))
	}
}

func (s *story) tokens(ts *testscript.TestScript, args []string) {
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	said := ts.ReadFile("stdout")
	if len(args) > 1 {
		v, ok := field(ts, "stdout", args[1])
		if !ok {
			ts.Fatalf("there is no field %s", args[1])
		}
		said = text(v)
	}

	if n := (len(strings.ReplaceAll(said, s.work, "/home/ann")) + 3) / 4; n > most {
		ts.Fatalf("it costs %d tokens, and at most %d is agreed:\n%s", n, most, said)
	}
}

func (s *story) save(ts *testscript.TestScript, args []string) {
	v, ok := field(ts, "stdout", args[1])
	if !ok {
		ts.Fatalf("there is no field %s", args[1])
	}
	ts.Setenv(args[0], text(v))
}

func (s *story) handoff(ts *testscript.TestScript, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	b, err := json.Marshal(map[string]string{"status": strings.Repeat("x", n), "next_action": "go on"})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o600))
}
