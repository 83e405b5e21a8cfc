//go:build unix

package talkingstick_test

import (
	"bufio"
	"bytes"
	"encoding/json"
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
	"testing"
	"time"

	"talkingstick/internal/clitest"
	"talkingstick/internal/harness"
	"talkingstick/internal/testenv"
)

func TestMain(m *testing.M) {
	clitest.Main()
	os.Exit(testenv.Run(m))
}

// TestReadme runs the commands of the README and of the guide, which are the lines that begin with $ in their examples, one after the
// other, and compares what they print with what the page shows. -docs.update writes it there instead.
//
// The clock stands still during a command and goes on by a few seconds before the next one, so that ages are
// the same each time; while a command is blocked it stands, because both have to see the same time. Ids and pids differ, and are compared by their form. A last line … stands for all that follows.
//
// What readers need not see stands in comments before an example:
//
//	<!-- scene: name -->   begins anew, in what [readmeScenes] prepares
//	<!-- exits: 2, why --> the status of its last command, where that isn't 0 and nothing shows it
//	<!-- blocks: name -->  its last command goes on in the background
//	<!-- prints: name -->  what that command prints in the end
//	<!-- agent: name -->   its commands are calls of the shell tool of this agent of the scene, with its hooks around them
func TestReadme(t *testing.T) {
	bin := t.TempDir()
	if err := clitest.Install(bin); err != nil {
		t.Fatal(err)
	}
	guide, err := filepath.Glob("docs/guide/*.md")
	if err != nil {
		t.Fatal(err)
	}

	for _, path := range append([]string{"README.md"}, guide...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			r := &reader{t: t, bin: bin, now: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)}
			r.reads(path)
		})
	}
}

// wordsOnly are the pages of the guide that show no output of tt.
var wordsOnly = []string{"README.md", "install.md", "commands.md", "faq.md"}

// reads plays a reader of a page who tries what it shows.
func (r *reader) reads(path string) {
	r.t.Helper()
	t := r.t
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	lines := strings.Split(string(b), "\n")
	t.Cleanup(r.end)
	var out []string

	says := map[string]string{}
	for i := 0; i < len(lines); {
		if m := comment.FindStringSubmatch(lines[i]); m != nil {
			says[m[1]] = m[2]
			out = append(out, lines[i])
			i++
			continue
		}

		if !strings.HasPrefix(lines[i], indent) {
			if lines[i] != "" {
				for key := range says {
					t.Errorf("%s:%d: there is no example after %q", path, i+1, key)
				}
				clear(says)
			}

			out = append(out, lines[i])
			i++
			continue
		}

		end := i
		for j := i; j < len(lines) && (lines[j] == "" || strings.HasPrefix(lines[j], indent)); j++ {
			if lines[j] != "" {
				end = j + 1
			}
		}

		out = append(out, r.example(fmt.Sprintf("%s:%d", path, i+1), lines[i:end], says)...)
		clear(says)
		i = end
	}

	if r.ran == 0 && !slices.Contains(wordsOnly, filepath.Base(path)) {
		t.Errorf("%s has no examples that are run", path)
	}

	if *updateDocs && !t.Failed() {
		if err := os.WriteFile(path, []byte(strings.Join(out, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	indent = "    "
	prompt = indent + "$ "
)

var comment = regexp.MustCompile(`^<!-- (scene|exits|blocks|prints|agent): (.*) -->$`)

// reader does what a reader of a page does who tries it.
type reader struct {
	t    *testing.T
	bin  string
	now  time.Time
	ran  int
	root string // of the scene's file system
	dir  string
	exit int
	env  []string

	blocked map[string]*blocked
	agents  map[string]*agentShell
	ends    []func() // of the scene
}

// agentShell is the shell of an agent that makes tool calls. Its parent process is a harness.
type agentShell struct {
	session string // the id that its hooks name
	in      io.Writer
	out     *bufio.Reader
}

// blocked is a command in the background.
type blocked struct {
	at   string
	out  *bytes.Buffer
	done chan error
}

// example runs an example and returns it with what was printed.
func (r *reader) example(at string, lines []string, says map[string]string) (out []string) {
	r.t.Helper()
	if name, ok := says["scene"]; ok {
		r.begin(name)
	}

	if name, ok := says["prints"]; ok {
		b := r.blocked[name]
		if b == nil {
			r.t.Fatalf("%s: nothing called %q is blocked", at, name)
		}
		delete(r.blocked, name)

		select {
		case <-b.done:
		case <-time.After(time.Minute):
			r.t.Fatalf("%s: the command of %s is still blocked", at, b.at)
		}

		return r.compare(at, lines, b.out.String())
	}

	last := -1
	for i, line := range lines {
		if strings.HasPrefix(line, prompt) {
			last = i
		}
	}

	if last < 0 {
		if len(says) > 0 {
			r.t.Errorf("%s: there is no command in this example", at)
		}
		return lines
	}

	for i := 0; i < len(lines); {
		command, ok := strings.CutPrefix(lines[i], prompt)
		if !ok {
			r.t.Fatalf("%s: output before the first command", at)
		}
		if r.root == "" {
			r.t.Fatalf("%s: a command outside of a scene", at)
		}
		end := i + 1
		for end < len(lines) && !strings.HasPrefix(lines[end], prompt) {
			end++
		}
		shown, blanks := lines[i+1:end], 0
		for len(shown) > 0 && shown[len(shown)-1] == "" {
			shown, blanks = shown[:len(shown)-1], blanks+1
		}
		out = append(out, lines[i])
		if name, ok := says["blocks"]; ok && i == last {
			r.block(at, name, command)
		} else {
			printed := r.runAs(says["agent"], command)
			expected := strings.HasPrefix(printed, "tt: ") || end < len(lines) && lines[end] == prompt+"echo $?"
			if status, ok := says["exits"]; ok && i == last {
				expected = strings.HasPrefix(status, strconv.Itoa(r.exit)+", ")
			}
			if r.exit != 0 && !expected {
				r.t.Errorf("%s: %s ended with status %d, which the example doesn't show:\n%s",
					at, command, r.exit, printed)
			}
			out = append(out, r.compare(at+": "+command, shown, printed)...)
		}

		out = append(out, make([]string, blanks)...)
		i = end
	}

	return out
}

// compare fails for what wasn't printed as it is shown, and returns what to show: the lines that are shown as
// long as they say the same.
func (r *reader) compare(at string, shown []string, printed string) []string {
	r.t.Helper()
	printed = strings.TrimRight(strings.ReplaceAll(printed, r.root, ""), "\n")
	var is []string
	if printed != "" {
		for _, line := range strings.Split(printed, "\n") {
			is = append(is, strings.TrimRight(indent+line, " "))
		}
	}

	if n := len(shown); n > 0 && shown[n-1] == indent+"…" {
		if len(is) < n {
			r.t.Errorf("%s: nothing is left out", at)
			return is
		}
		is = append(is[:n-1:n-1], shown[n-1])
	}

	was := map[string]string{}
	for _, line := range shown {
		was[masked(line)] = line
	}

	differs := len(is) != len(shown)
	for i, line := range is {
		differs = differs || masked(line) != masked(shown[i])
		if same, ok := was[masked(line)]; ok {
			is[i] = same
		}
	}

	if differs && !*updateDocs {
		r.t.Errorf(
			"%s doesn't print what is shown\nshown:\n%s\nprinted:\n%s\nwrite it into the page by: make generate",
			at, strings.Join(shown, "\n"), strings.Join(is, "\n"),
		)
	}
	return is
}

var masks = []struct {
	of *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`\b[0-9a-f]{7,64}\b`), "<hash>"},
	{regexp.MustCompile(`\b[0-9a-z]{9}-[0-9a-f]{4}\b`), "<rescue>"},
	{regexp.MustCompile(`^ +\d{2,7} +/`), indent + "<pid> /"},
	{regexp.MustCompile(`\bpid \d+`), "pid <pid>"},
	{regexp.MustCompile(`(codex|claude):[0-9a-f]{8}`), "$1:<id>"},
	// columns follow the longest name in them
	{regexp.MustCompile(`(codex|claude)-[a-z]{3,8}\b(  +)?`), "$1-<name> "},
}

// masked is a line without what differs each time.
func masked(line string) string {
	for _, m := range masks {
		line = m.of.ReplaceAllString(line, m.by)
	}
	return line
}

// readmeScenes prepare the directories in which the README's commands run.
var readmeScenes = map[string]func(r *reader){
	// setup is a repository of somebody who has used a harness.
	"setup": func(r *reader) {
		r.repository()
		if err := os.Mkdir(filepath.Join(r.variable("HOME"), ".claude"), 0o755); err != nil {
			r.t.Fatal(err)
		}
	},
	// shop is a repository with a change that isn't committed.
	"shop": func(r *reader) {
		r.repository()
		r.write("cart.go", "package shop\n\nfunc Total() int { return 0 }\n")
	},
	// tasks is a repository.
	"tasks": func(r *reader) { r.repository() },
	// tasks-done is a repository with a task, whose worker was a script and has asked for its review.
	"tasks-done": func(r *reader) {
		r.repository()
		for _, command := range []string{
			"tt task init --branch main", "tt task new login --description 'Let users log in'",
			"cd worktrees/login && tt task start --as codex:13c0dbe5 && echo users > login.conf && git add . && git commit -qm Login && tt task done --as codex:13c0dbe5",
			"cd ../..",
		} {
			if printed := r.run(command); r.exit != 0 {
				r.t.Fatalf("%s: %s", command, printed)
			}
		}
	},
	// tasks-gate is tasks-done in a project that has tasks tested before they land.
	"tasks-gate": func(r *reader) {
		r.repository()
		r.write(".talking-stick.toml", "[gate]\ncommand = \"grep -q users login.conf\"\n")
		for _, command := range []string{
			"git add . && git commit -qm Gate", "tt task init --branch main",
			"tt task new login --description 'Let users log in'",
			"cd worktrees/login && tt task start --as codex:13c0dbe5 && echo users > login.conf && git add . && git commit -qm Login && tt task done --as codex:13c0dbe5",
			"cd ../..",
		} {
			if printed := r.run(command); r.exit != 0 {
				r.t.Fatalf("%s: %s", command, printed)
			}
		}
	},
	// reset is a repository with a room, two agents, and a change of codex that isn't committed.
	"reset": func(r *reader) {
		r.repository()
		if printed := r.run("tt join"); r.exit != 0 {
			r.t.Fatalf("tt join: %s", printed)
		}
		r.startShell("codex", "CODEX_SESSION_ID", "01a1fb60-9f47-7000-8000-13c0dbe5a001")
		r.startShell("claude", "CLAUDE_CODE_SESSION_ID", "5f0c2b9e-6a3d-4e7b-9c11-0d2f7a8be042")
		if printed := r.callTool("codex", "tt try"); r.exit != 0 {
			r.t.Fatalf("codex: tt try: %s", printed)
		}

		edit := map[string]any{"tool_name": "apply_patch", "tool_input": map[string]string{
			"command": "*** Begin Patch\n*** Update File: cart.go\n@@\n package shop\n+\n+func Total() int { return 0 }\n*** End Patch",
		}}
		r.tick()
		r.fireHook("codex", "PreToolUse", edit)
		r.write("cart.go", "package shop\n\nfunc Total() int { return 0 }\n")
		r.fireHook("codex", "PostToolUse", edit)
	},
	// home is a home directory with a harness in it.
	"home": func(r *reader) {
		r.dir = r.variable("HOME")
		if err := os.Mkdir(filepath.Join(r.dir, ".claude"), 0o755); err != nil {
			r.t.Fatal(err)
		}
	},
	// roster is a repository in which two agents are at work: one has started its session, the other not.
	"roster": func(r *reader) {
		r.repository()
		r.agent("claude", ".", "true")
		r.agent("codex", "web", "tt session start")
	},
}

// begin prepares a scene, after the last one has ended.
func (r *reader) begin(name string) {
	r.t.Helper()
	prepare := readmeScenes[name]
	if prepare == nil {
		r.t.Fatalf("there is no scene %q", name)
	}
	r.end()
	root, err := filepath.EvalSymlinks(r.t.TempDir())
	if err != nil {
		r.t.Fatal(err)
	}

	home := filepath.Join(root, "home", "you")
	r.root, r.dir, r.exit = root, filepath.Join(home, "shop"), 0
	r.blocked, r.agents = map[string]*blocked{}, map[string]*agentShell{}

	for _, dir := range []string{filepath.Join(r.dir, "web"), filepath.Join(root, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			r.t.Fatal(err)
		}
	}

	r.env = []string{
		"PATH=" + r.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "USER=you", "LANG=C.UTF-8",
		"TMPDIR=" + filepath.Join(root, "tmp"), "GIT_CONFIG_NOSYSTEM=1", "PWD=" + r.dir,
		clitest.Top + "=" + strconv.Itoa(os.Getpid()),
	}

	config := "[user]\n\tname = You\n\temail = you@example.com\n[init]\n\tdefaultBranch = main\n[core]\n\tpager = cat\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o644); err != nil {
		r.t.Fatal(err)
	}
	prepare(r)
}

// end ends what a scene has started.
func (r *reader) end() {
	for name, b := range r.blocked {
		r.t.Errorf("what the command of %s prints is shown nowhere (%s)", b.at, name)
	}
	for _, end := range slices.Backward(r.ends) {
		end()
	}
	r.ends, r.blocked = nil, nil
}

// tick moves the clock on, unless a command is blocked.
func (r *reader) tick() {
	if len(r.blocked) == 0 {
		r.now = r.now.Add(4 * time.Second)
	}
}

// environ is the environment of a command.
func (r *reader) environ() []string {
	return append(slices.Clip(r.env), clitest.Still+"="+strconv.FormatInt(r.now.UnixMilli(), 10))
}

func (r *reader) variable(name string) string {
	for _, v := range r.env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

func (r *reader) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// repository makes the working directory one, with a commit.
func (r *reader) repository() {
	r.t.Helper()
	r.write("cart.go", "package shop\n")
	if printed := r.run("git init --quiet && git add . && git commit --quiet --message 'A shop'"); r.exit != 0 {
		r.t.Fatalf("git: %s", printed)
	}
}

func (r *reader) shell(command string) *exec.Cmd {
	c := exec.Command("/bin/sh", "-c", command)
	c.Dir, c.Env = r.dir, r.environ()
	return c
}

// run runs a command as the next one in its shell: in the directory to which the last one has led, and with its
// status in $?.
func (r *reader) run(command string) string {
	r.t.Helper()
	r.ran++
	r.tick()
	at := filepath.Join(r.root, "pwd")
	c := r.shell(fmt.Sprintf("(exit %d)\n%s\ns=$?\npwd > '%s'\nexit $s", r.exit, command, at))
	printed, err := c.CombinedOutput()
	if r.exit = c.ProcessState.ExitCode(); err != nil && r.exit <= 0 {
		r.t.Fatalf("%s: %v", command, err)
	}
	if b, err := os.ReadFile(at); err == nil {
		r.dir = strings.TrimSpace(string(b))
	}
	return string(printed)
}

// runAs runs a command as the agent of that name would, or as the reader if there is no name.
func (r *reader) runAs(agent, command string) string {
	r.t.Helper()
	if agent == "" {
		return r.run(command)
	}

	r.ran++
	r.tick()
	return r.callTool(agent, command)
}

// callTool makes a call of an agent's shell tool, and returns what the agent sees: what its hook says instead, or what the command
// prints and then what its hook adds.
func (r *reader) callTool(agent, command string) string {
	r.t.Helper()
	call := map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": command}}
	before := r.fireHook(agent, "PreToolUse", call)
	if before.Decision == "deny" {
		r.exit = 0
		return before.Reason
	}

	printed, exit := r.typeInShell(agent, command)
	r.exit = exit
	after := r.fireHook(agent, "PostToolUse", call)
	return printed + before.Context + after.Context
}

// hookAnswer is what a hook tells an agent.
type hookAnswer struct {
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason"`
	Context  string `json:"additionalContext"`
}

// fireHook has the harness of an agent fire a hook, with more fields than all events have.
func (r *reader) fireHook(agent, event string, more map[string]any) hookAnswer {
	r.t.Helper()
	input := map[string]any{"session_id": r.agents[agent].session, "hook_event_name": event, "cwd": r.dir}
	maps.Copy(input, more)
	b, err := json.Marshal(input)
	if err != nil {
		r.t.Fatal(err)
	}

	path := filepath.Join(r.root, "hook.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		r.t.Fatal(err)
	}

	printed, exit := r.typeInShell(agent, "tt hook <'"+path+"'")
	if exit != 0 {
		r.t.Fatalf("the hook %s of %s ended with status %d: %s", event, agent, exit, printed)
	}
	var answer struct {
		HookSpecificOutput hookAnswer `json:"hookSpecificOutput"`
	}
	if printed != "" {
		if err := json.Unmarshal([]byte(printed), &answer); err != nil {
			r.t.Fatalf("the hook %s of %s answered %q: %v", event, agent, printed, err)
		}
	}

	return answer.HookSpecificOutput
}

// typeInShell runs a command in the shell of an agent, and returns what it printed and its status.
func (r *reader) typeInShell(agent, command string) (printed string, exit int) {
	r.t.Helper()
	const end = "-- the command has ended: "
	a := r.agents[agent]
	if a == nil {
		r.t.Fatalf("the scene has no agent %q", agent)
	}
	fmt.Fprintf(a.in, "cd '%s'\n%s=%d\n{ %s\n} 2>&1 </dev/null\necho '%s'$?\n", r.dir, clitest.Still,
		r.now.UnixMilli(), command, end)

	for {
		line, err := a.out.ReadString('\n')
		if err != nil {
			r.t.Fatalf("the shell of %s has ended after %q: %v", agent, printed, err)
		}
		text, status, ok := strings.Cut(line, end)
		printed += text
		if !ok {
			continue
		}

		if exit, err = strconv.Atoi(strings.TrimSpace(status)); err != nil {
			r.t.Fatal(err)
		}
		return printed, exit
	}
}

// block starts a command in the background, and comes back when it waits.
func (r *reader) block(at, name, command string) {
	r.t.Helper()
	r.tick()
	b := &blocked{at: at, out: &bytes.Buffer{}, done: make(chan error, 1)}
	c := r.shell("exec " + command)
	c.Stdout, c.Stderr = b.out, b.out

	waits := func() int { // how many members
		state, _ := r.shell("tt state --json --all").Output() // there may be no room
		return bytes.Count(state, []byte(`"listening":`))
	}

	before := waits()
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() { b.done <- c.Wait() }()
	r.ends = append(r.ends, func() { c.Process.Kill() })
	r.ran++

	for deadline := time.Now().Add(time.Minute); waits() == before; time.Sleep(5 * time.Millisecond) {
		select {
		case <-b.done:
			r.t.Fatalf("%s: %s didn't block:\n%s", at, command, b.out)
		default:
		}

		if time.Now().After(deadline) {
			r.t.Fatalf("%s: %s doesn't wait", at, command)
		}
	}
	r.blocked[name] = b
}

// agent starts a harness in a directory, that runs a command first and then waits at its prompt.
func (r *reader) agent(harness, dir, first string) {
	r.t.Helper()
	r.tick()
	c := exec.Command(filepath.Join(r.bin, harness), "/bin/sh", "-c", first+" >/dev/null && echo ready && exec cat")
	c.Dir, c.Env, c.Stderr = filepath.Join(r.dir, dir), r.environ(), os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}

	out, err := c.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}

	r.ends = append(r.ends, func() { in.Close(); c.Process.Kill(); c.Wait() })
	if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
		r.t.Fatalf("%s: %v", harness, err)
	}
}

// startShell starts a harness whose agent makes tool calls, and the agent's session.
func (r *reader) startShell(harness, variable, session string) {
	r.t.Helper()
	r.tick()
	c := exec.Command(filepath.Join(r.bin, harness), "/bin/sh")
	c.Dir, c.Env, c.Stderr = r.dir, append(r.environ(), variable+"="+session), os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}

	out, err := c.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}

	r.ends = append(r.ends, func() { in.Close(); c.Process.Kill(); c.Wait() })

	r.agents[harness] = &agentShell{session: session, in: in, out: bufio.NewReader(out)}
	r.fireHook(harness, "SessionStart", map[string]any{"source": "startup"})
}

// TestCommandsPage compares the commands that the page of the guide names with those that there are.
func TestCommandsPage(t *testing.T) {
	const path = "docs/guide/commands.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, bin: t.TempDir()}
	if err := clitest.Install(r.bin); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(r.end)
	r.begin("tasks")
	there := map[string]bool{}
	for _, line := range strings.Split(r.run("tt __complete '' 2>/dev/null"), "\n") {
		if name, _, ok := strings.Cut(line, "\t"); ok {
			there[name] = true
		}
	}

	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`tt ([a-z][a-z-]*)").FindAllStringSubmatch(string(b), -1) {
		named[m[1]] = true
		if !there[m[1]] {
			t.Errorf("%s names tt %s, which there isn't", path, m[1])
		}
	}

	for name := range there {
		if !named[name] {
			t.Errorf("%s doesn't name tt %s", path, name)
		}
	}
}

// wokenByWait are the harnesses that begin a turn when a command in the background ends. Their rows don't say so, because tt does
// nothing for it.
var wokenByWait = []string{"copilot", "qwen"}

// TestReadmeHarnesses compares the README's table of agents, and what works in each, with the rows of the harnesses. -docs.update
// writes it there instead.
func TestReadmeHarnesses(t *testing.T) {
	const path, head = "README.md", "| agent | kept | told | refused | woken | resumed |\n|---|---|---|---|---|---|\n"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(b), head)
	if !ok {
		t.Fatalf("%s has no table of agents", path)
	}

	shown, after, _ := strings.Cut(after, "\n\n")

	var rows []string
	for _, row := range harness.Rows {
		rows = append(rows, harnessRow(row))
	}
	is := strings.Join(rows, "\n")
	if is == shown {
		return
	}
	if !*updateDocs {
		t.Fatalf("%s shows another table of agents than the rows of the harnesses make\nshown:\n%s\nmade:\n%s",
			path, shown, is)
	}

	if err := os.WriteFile(path, []byte(before+head+is+"\n\n"+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// harnessRow is a harness's row in the README's table.
func harnessRow(row harness.Row) string {
	hears := func(events ...harness.HookEvent) string {
		for _, event := range events {
			if !slices.ContainsFunc(row.Hooks, func(h harness.Hook) bool { return h.Event == event }) {
				return "–"
			}
		}
		return "yes"
	}

	kept := hears(harness.HookBeforeTool, harness.HookAfterTool)
	if !slices.ContainsFunc(row.Editors, func(e harness.Editor) bool { return e.Command != "" }) {
		kept = "–"
	}
	told := hears(harness.HookSessionStart, harness.HookAfterTool)
	refused := hears(harness.HookBeforeTool)
	if row.NoGitHooks {
		refused += ", not by git's hooks"
	}
	resumed := hears(harness.HookCompact)
	if row.CompactTrigger != "" {
		resumed += ", if you ask for the summary"
	}

	woken := "–"
	switch {
	case row.Wake != harness.WakeNone:
		woken = "yes"
	case slices.Contains(wokenByWait, row.Name):
		woken = "while `tt wait` runs in the background"
	}

	return "| " + strings.Join([]string{string(row.Title), kept, told, refused, woken, resumed}, " | ") + " |"
}

// TestMakeTargets compares the targets that documents name with those of the Makefile.
func TestMakeTargets(t *testing.T) {
	b, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}

	for path, text := range documents(t) {
		for _, m := range regexp.MustCompile("(?m)(?:^    |`)make ([a-z][a-z-]*)").FindAllStringSubmatch(text, -1) {
			if !bytes.Contains(b, []byte("\n"+m[1]+":")) {
				t.Errorf("%s names make %s, which the Makefile doesn't have", path, m[1])
			}
		}
	}
}
