package cli_test

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"talkingstick/internal/clitest"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
)

// A ward is a place in which agents run commands beside the uncommitted work of others. What lies in it is
// put back from a copy before each case: the repository, its checkouts and the data directory, at the same
// paths, for the same living processes of agents.
type ward struct {
	*testing.T
	dir       string // all of it
	work, app string // what is put back, and the repository in it
	bin       string
	agents    map[string]*guarded
	copies    map[string]bool // which states of work there are
	roomID    *string
}

// guarded is an agent with hooks: the process of a harness, in which a shell runs scripts.
type guarded struct {
	name    string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	session string
}

// noted are the files that another agent has written, each noted by a hook, relative to the work directory.
var noted = []string{
	"app/tracked.txt", "app/staged.txt", "app/new.txt", "app/code.go", "app/sub/deep.txt", "app/sub/mixed.txt", "app/lib/l.txt",
	"app/worktrees/t1/task.txt", "app/.claude/worktrees/y/in.txt", "wts/x/out.txt",
}

// formatter takes the place of formatters: it writes each file that it is given anew.
const formatter = `#!/bin/sh
for f; do
	if [ -d "$f" ]; then f=$(find "$f" -name .git -prune -o -type f -print); fi
	for g in $f; do case "$g" in -*) ;; *) if [ -f "$g" ]; then echo formatted >"$g"; fi;; esac; done
done
`

// npm runs the script of a package that has the given name.
const npm = `#!/bin/sh
case "$1" in run|run-script) shift;; esac
exec sh "scripts/$1.sh"
`

// skipOnServer skips a test of a ward, which has its database in a file, where another run has played it on
// that file.
func skipOnServer(t *testing.T) {
	t.Helper()
	if storetest.OnServer(t) {
		t.Skip("a ward has its database in a file")
	}
}

// newWard makes a place with two or more agents, of which none has done anything.
func newWard(t *testing.T, agents ...string) *ward {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dirInMemory(t))
	if err != nil {
		t.Fatal(err)
	}

	w := &ward{
		T: t, dir: dir, work: filepath.Join(dir, "a place"), bin: filepath.Join(dir, "bin"),
		agents: map[string]*guarded{}, copies: map[string]bool{}, roomID: new(string),
	}

	w.app = filepath.Join(w.work, "app")
	for _, sub := range []string{w.app, w.bin, filepath.Join(dir, "home"), filepath.Join(dir, "io"), filepath.Join(dir, "copies")} {
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
	}

	if err := clitest.Install(w.bin); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"npm": npm, "prettier": formatter, "black": formatter, "eslint": formatter} {
		w.write(filepath.Join(w.bin, name), text, 0o755)
	}
	for i, name := range agents {
		w.begin(name, fmt.Sprintf("5f0c2b9e-%04d", i+1))
	}
	return w
}

// dirInMemory makes a directory in memory where there is enough of it, because thousands of small files are
// made and removed there.
func dirInMemory(t *testing.T) string {
	t.Helper()
	const memory, enough = "/dev/shm", 2 << 30
	var s unix.Statfs_t
	if err := unix.Statfs(memory, &s); err != nil || s.Bavail*uint64(s.Bsize) < enough {
		return t.TempDir()
	}

	dir, err := os.MkdirTemp(memory, "tt-promise-")
	if err != nil {
		return t.TempDir()
	}

	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})

	return dir
}

func (w *ward) write(path, text string, perm fs.FileMode) {
	w.Helper()
	if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), perm)); err != nil {
		w.Fatal(err)
	}
}

func (w *ward) env() []string {
	return []string{
		"PATH=" + w.bin + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(w.dir, "home"), "USER=pat", "LC_ALL=C", "TMPDIR=" + filepath.Join(w.dir, "io"),
		"TALKING_STICK_DATA_DIR=" + filepath.Join(w.work, "data"), clitest.Top + "=" + strconv.Itoa(os.Getpid()), clitest.Race,
		"GIT_CONFIG_GLOBAL=" + filepath.Join(w.dir, "home", ".gitconfig"), "GIT_CONFIG_SYSTEM=" + testenv.QuickGit(), "GIT_EDITOR=true", "GIT_TEMPLATE_DIR=",
		"GIT_AUTHOR_NAME=Pat", "GIT_AUTHOR_EMAIL=pat@example.com", "GIT_COMMITTER_NAME=Pat", "GIT_COMMITTER_EMAIL=pat@example.com",
		"WORK=" + w.work, "IO=" + filepath.Join(w.dir, "io"),
	}
}

// begin starts a harness, with more variables.
func (w *ward) begin(name, session string, more ...string) {
	w.Helper()
	inEnd, in, err := os.Pipe()
	if err != nil {
		w.Fatal(err)
	}
	defer inEnd.Close()
	out, outEnd, err := os.Pipe()
	if err != nil {
		w.Fatal(err)
	}
	defer outEnd.Close()
	c := exec.Command(filepath.Join(w.bin, "claude"), "/bin/bash", "-c", `while read -r f; do bash "$IO/$f.sh" >"$IO/$f.log" 2>&1 </dev/null; echo $?; done`)
	c.Dir, c.Env = w.dir, slices.Concat(w.env(), []string{"CLAUDE_CODE_SESSION_ID=" + session}, more)
	c.Stdin, c.Stdout, c.Stderr = inEnd, outEnd, os.Stderr
	if err := c.Start(); err != nil {
		w.Fatal(err)
	}

	w.agents[name] = &guarded{name: name, cmd: c, in: in, out: bufio.NewReader(out), session: session}
	w.Cleanup(func() {
		in.Close()
		c.Wait() // its status says nothing
		out.Close()
	})
}

// as runs a script in the harness of an agent, and returns what it printed and its status.
func (w *ward) as(name, script string) (out string, status int) {
	w.Helper()
	a := w.agents[name]
	file := filepath.Join(w.dir, "io", name)
	w.write(file+".sh", script, 0o600)
	if _, err := fmt.Fprintln(a.in, name); err != nil {
		w.Fatalf("the harness of %s has ended: %v", name, err)
	}

	line, err := a.out.ReadString('\n')
	if err != nil {
		w.Fatalf("the harness of %s has ended: %v", name, err)
	}
	b, err := os.ReadFile(file + ".log")
	if err != nil {
		w.Fatal(err)
	}

	status, err = strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		w.Fatal(err)
	}

	return string(b), status
}

// person runs a script as a person does. It has to succeed.
func (w *ward) person(script string) string {
	w.Helper()
	out, err := w.personal(script)
	if err != nil {
		w.Fatalf("%s: %v\n%s", script, err, out)
	}
	return out
}

func (w *ward) personal(script string) (string, error) {
	c := exec.Command("/bin/sh", "-e", "-c", script)
	c.Dir, c.Env = w.app, w.env()
	if _, err := os.Stat(w.app); err != nil {
		c.Dir = w.dir
	}
	out, err := c.CombinedOutput()
	return string(out), err
}

// hook is what a harness says of a tool call.
type hook struct {
	Session string         `json:"session_id"`
	Dir     string         `json:"cwd"`
	Name    string         `json:"hook_event_name"`
	Tool    string         `json:"tool_name,omitempty"`
	Input   map[string]any `json:"tool_input,omitempty"`
	Call    string         `json:"tool_use_id,omitempty"`
	Prompt  string         `json:"prompt,omitempty"`
}

// give writes the input of a hook, for a script.
func (w *ward) give(file string, h hook) {
	w.Helper()
	b, err := json.Marshal(h)
	if err != nil {
		w.Fatal(err)
	}
	w.write(filepath.Join(w.dir, "io", file), string(b), 0o600)
}

// wrote has an agent's hook say that its tool has written files.
func (w *ward) wrote(name string, files ...string) {
	w.Helper()
	for _, f := range files {
		w.give(name+".wrote.json", hook{
			Session: w.agents[name].session, Dir: w.app, Name: "PostToolUse", Tool: "Edit", Call: "edit",
			Input: map[string]any{"file_path": filepath.Join(w.work, f), "old_string": "a", "new_string": "b"},
		})

		if out, status := w.as(name, `tt hook <"$IO/`+name+`.wrote.json"`); status != 0 {
			w.Fatalf("the hook after %s: %s", f, out)
		}
	}
}

// call is one that an agent has made through a hooked harness.
type call struct {
	denied  string // why, if it was
	status  int    // of the command
	before  string // what the hooks printed
	after   string
	printed string // by the command
}

// calling runs a command as a harness does: a hook, the command if it was allowed, a hook.
const calling = `
mkdir -p "$IO/%[1]s" && rm -f "$IO/%[1]s"/*
cd "$WORK/app" || exit 4
tt hook <"$IO/%[1]s.before.json" >"$IO/%[1]s/before" || exit 3
if grep -q '"permissionDecision":"deny"' "$IO/%[1]s/before"; then exit 2; fi
env OUT="$IO/%[1]s" bash "$IO/%[1]s.command" >"$IO/%[1]s/printed" 2>&1
s=$?
echo $s >"$IO/%[1]s/status"
cd "$WORK/app" 2>/dev/null || cd "$WORK" || exit 4
h=after; if [ $s != 0 ]; then h=failed; fi
tt hook <"$IO/%[1]s.$h.json" >"$IO/%[1]s/after" || exit 3
`

// calls has an agent run a command.
func (w *ward) calls(name, command string) (c call) {
	w.Helper()
	input := map[string]any{"command": command}
	for file, event := range map[string]string{"before": "PreToolUse", "after": "PostToolUse", "failed": "PostToolUseFailure"} {
		w.give(name+"."+file+".json", hook{Session: w.agents[name].session, Dir: w.app, Name: event, Tool: "Bash", Input: input, Call: "toolu"})
	}
	w.write(filepath.Join(w.dir, "io", name+".command"), command+"\n", 0o600)

	out, status := w.as(name, fmt.Sprintf(calling, name))
	read := func(file string) string {
		b, _ := os.ReadFile(filepath.Join(w.dir, "io", name, file)) // absent after a denial
		return string(b)
	}

	c = call{before: read("before"), after: read("after"), printed: read("printed")}
	switch status {
	case 0:
		c.status, _ = strconv.Atoi(strings.TrimSpace(read("status")))
	case 2:
		c.denied = c.before
	default:
		w.Errorf("the hooks of %q end with %d: %s", command, status, out)
	}

	return c
}

// hears returns what an agent's next hook says.
func (w *ward) hears(name string) string {
	w.Helper()
	w.give(name+".prompt.json", hook{Session: w.agents[name].session, Dir: w.app, Name: "UserPromptSubmit", Prompt: "go on"})
	out, _ := w.as(name, `cd "$WORK/app" 2>/dev/null || cd "$WORK"; tt hook <"$IO/`+name+`.prompt.json"`)
	return out
}

// keepAs keeps the present state under a name.
func (w *ward) keepAs(name string) {
	w.Helper()
	w.copies[name] = true
	w.copy(w.work, filepath.Join(w.dir, "copies", name))
}

// putBack makes the place what it was. With only, just these parts of it are put back, and everything else
// but the data directory goes.
func (w *ward) putBack(name string, only ...string) {
	w.Helper()
	from := filepath.Join(w.dir, "copies", name)
	if len(only) == 0 {
		w.empty(w.work)
		w.copy(from, w.work)
		return
	}

	all, err := os.ReadDir(w.work)
	if err != nil {
		w.Fatal(err)
	}

	for _, e := range all {
		if e.Name() != "data" {
			w.empty(filepath.Join(w.work, e.Name()))
		}
	}

	for _, part := range only {
		w.copy(filepath.Join(from, part), filepath.Join(w.work, part))
	}
}

func (w *ward) empty(dir string) {
	w.Helper()
	if out, err := exec.Command("sh", "-c", `chmod -R u+rwX "$1" 2>/dev/null; rm -rf "$1"`, "sh", dir).CombinedOutput(); err != nil {
		w.Fatalf("%v: %s", err, out)
	}
}

func (w *ward) copy(from, to string) {
	w.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		w.Fatalf("%v: %s", err, out)
	}
}

// build makes the repository and its checkouts, and has bob write in all of them. What was there before bob
// is kept as "clean".
func (w *ward) build() {
	w.Helper()
	for name, text := range map[string]string{
		"tracked.txt": "tracked\n", "staged.txt": "staged\n", "code.go": "package app\n", "main.go": "package app\n", "clean.txt": "clean\n",
		"sub/deep.txt": "deep\n", "sub/mixed.txt": "mixed\n", "sub/clean.txt": "clean\n", ".gitignore": ".env\nworktrees\n.claude\nbuild\n",
		"Makefile":         "clean:\n\trm -rf sub new.txt person.txt\nfmt:\n\tprettier --write tracked.txt code.go\nbuild:\n\tmkdir -p build && echo built >build/out\n",
		"package.json":     `{"scripts":{"format":"sh scripts/format.sh","clean":"sh scripts/clean.sh"}}` + "\n",
		"scripts/clean.sh": "git clean -fdq\n", "scripts/format.sh": "prettier --write tracked.txt sub\n", "scripts/wipe.py": wipe, "scripts/gen.sh": "for f in *.txt; do echo gen >$f; done\n",
	} {
		w.write(filepath.Join(w.app, name), text, 0o644)
	}

	w.person(`
		git init -q --initial-branch=main
		git config protocol.file.allow always
		git config gc.auto 0
		mkdir ../lib && cd ../lib && git init -q --initial-branch=main && echo l >l.txt && git add . && git commit -qm lib && cd ../app
		git -c protocol.file.allow=always submodule --quiet add ../lib lib
		git add . && git commit -qm first
		echo more >>clean.txt && git commit -qam second
		git branch feature && git branch elsewhere HEAD~1
		git worktree add -q ../wts/x -b x && git worktree add -q .claude/worktrees/y -b y
		git switch -q feature && echo feature >tracked.txt && echo f >feature.txt && git add . && git commit -qm feature && git switch -q main
		git clone -q --bare . ../origin.git && git remote add origin ../origin.git && git fetch -q && git branch -q -u origin/main
		tt join && tt task init && tt task new t1
		git gc -q && git -C lib gc -q && git -C ../lib gc -q && git -C ../origin.git gc -q`) // a few files are copied sooner

	w.keepAs("clean")
	for _, name := range []string{"ann", "bob"} {
		if out, status := w.as(name, `cd "$WORK/app" && tt join`); status != 0 {
			w.Fatal(out)
		}
	}

	if out, status := w.as("bob", `cd "$WORK/app/worktrees/t1" && tt task start`); status != 0 {
		w.Fatal(out)
	}

	w.write(filepath.Join(w.app, "staged.txt"), "staged by bob\n", 0o644)
	w.person("git add staged.txt")
	for _, f := range noted {
		text := "by bob: " + f + "\n"
		if strings.HasSuffix(f, ".go") {
			text = "package app\n\nvar  bob=1\n"
		}
		w.write(filepath.Join(w.work, f), text, 0o644)
	}

	w.wrote("bob", noted...)
	w.room()
	w.keepAs("base")
}

// room is the id of the room.
func (w *ward) room() string {
	w.Helper()
	if *w.roomID == "" {
		var res struct {
			ID string `json:"room_id"`
		}
		if err := json.Unmarshal([]byte(w.person("tt state --json")), &res); err != nil || res.ID == "" {
			w.Fatalf("the room has no id: %v", err)
		}
		*w.roomID = res.ID
	}

	return *w.roomID
}

// wipe is a program that removes what it finds, as nobody could read from its name.
const wipe = `import os
for n in os.listdir('.'):
    if n.endswith('.txt'):
        os.remove(n)
`

// variant makes the state for a policy and a holder of the stick, if it isn't there, and returns its name.
func (w *ward) variant(policy, holder string) string {
	w.Helper()
	name := policy + " " + holder
	if w.copies[name] {
		return name
	}

	w.putBack("base")
	w.person("tt policy set enforce=" + policy)
	if out, status := w.as(holder, `cd "$WORK/app" && tt try`); status != 0 {
		w.Fatal(out)
	}
	w.keepAs(name)
	return name
}

// held is the content of all files in the work directory, by path. Links count as their targets. The data
// directory and what is git's are left out.
func (w *ward) held() map[string]string {
	w.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.work, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return err
		}

		rel, _ := filepath.Rel(w.work, path)
		if d.IsDir() {
			if rel == "data" || d.Name() == ".git" || rel == "origin.git" {
				return fs.SkipDir
			}
			return nil
		}

		if d.Name() == ".git" {
			return nil
		}

		if d.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			all[rel] = "-> " + to
			return err
		}

		if !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(path)
		all[rel] = string(b)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}

		return err
	})
	if err != nil {
		w.Fatal(err)
	}

	return all
}

// staged returns the names of the objects in the index and in HEAD of the repository; none if it is gone.
func (w *ward) staged() string {
	c := exec.Command("/bin/sh", "-c", "git ls-files --stage; git ls-tree -r HEAD")
	c.Dir, c.Env = w.app, w.env()
	out, _ := c.Output() // the repository may be gone
	if _, err := os.Stat(filepath.Join(w.app, ".git")); err != nil {
		return ""
	}

	return string(out)
}

func blobName(text string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)))
}

// taking is an event that tells of work that was taken.
type taking struct {
	From    string `json:"from_agent_id"`
	Payload struct {
		Sweeps bool     `json:"sweeps"`
		Paths  []string `json:"paths"`
		Count  int      `json:"count"`
		Of     []string `json:"of"`
		Rescue string   `json:"rescue_id"`
		Kept   []string `json:"kept"`
		Stash  []string `json:"stash"`
	} `json:"payload"`
}

// takings returns the events that tell of work that was taken, but for what went into a commit.
func (w *ward) takings() (all []taking) {
	w.Helper()
	out := w.person(`cd "$WORK" && tt events --event work_taken --json --room ` + w.room())
	var res struct {
		Events []taking `json:"events"`
	}
	if err := json.NewDecoder(bytes.NewReader([]byte(out))).Decode(&res); err != nil {
		w.Fatalf("%v: %s", err, out)
	}

	for _, e := range res.Events {
		if !e.Payload.Sweeps && e.Payload.Count > 0 {
			all = append(all, e)
		}
	}

	return all
}
