package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"talkingstick/internal/clitest"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
)

// farm is a repository with tasks, and a database.
type farm struct {
	*testing.T
	base  string // all of it lies below
	dir   string // the main checkout
	url   string // the address of the database; empty for a file
	saved string // that of the saved one
	env   []string
}

func newFarm(t *testing.T) *farm {
	t.Helper()
	skipInPairs(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	bin := filepath.Join(t.TempDir(), "bin")
	f := &farm{T: t, base: base, dir: filepath.Join(base, "work"), url: storetest.Address(t)}
	for _, d := range []string{bin, f.dir, filepath.Join(base, "home")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}

	if err := install(bin); err != nil {
		t.Fatal(err)
	}

	f.env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(base, "home"), "USER=ann",
		"GIT_CONFIG_SYSTEM=" + testenv.QuickGit(),
		"TALKING_STICK_DATA_DIR=" + filepath.Join(base, "data"), "TALKING_STICK_DATABASE_URL=" + f.url,
		clitest.Top + "=" + strconv.Itoa(os.Getpid()), clitest.Race,
	}

	f.git("init", "--quiet", "--initial-branch=main")
	f.git("config", "--global", "user.name", "Ann")
	f.git("config", "--global", "user.email", "ann@example.invalid")
	f.write("state", "fine\n")
	f.git("add", ".")
	f.git("commit", "--quiet", "-m", "first")
	return f
}

// ran is what became of a command.
type ran struct {
	exit     int // 137 for one that was killed
	out, err string
}

func (f *farm) run(dir string, env []string, argv ...string) ran {
	f.Helper()
	c := exec.Command(argv[0], argv[1:]...)
	if path, err := exec.LookPath(filepath.Join(strings.TrimPrefix(strings.Split(f.env[0], ":")[0], "PATH="), argv[0])); err == nil {
		c.Path, c.Err = path, nil
	}
	c.Dir, c.Env = dir, append(slices.Clone(f.env), env...)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	err := c.Run()
	r := ran{out: out.String(), err: said.String()}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if r.exit = exit.ExitCode(); r.exit < 0 {
			r.exit = 137
		}
	} else if err != nil {
		f.Fatal(err)
	}

	return r
}

// git runs git in the main checkout.
func (f *farm) git(args ...string) string {
	f.Helper()
	r := f.run(f.dir, nil, append([]string{"git"}, args...)...)
	if r.exit != 0 {
		f.Fatalf("git %v: %d %s%s", args, r.exit, r.out, r.err)
	}
	return strings.TrimSpace(r.out)
}

func (f *farm) write(name, text string) {
	f.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
}

// tt runs tt as an agent.
func (f *farm) tt(as string, args ...string) ran {
	f.Helper()
	return f.run(f.dir, []string{"TT_HARNESS_AGENT_ID=" + as}, append([]string{"tt"}, args...)...)
}

// ok is tt, and it has to succeed.
func (f *farm) ok(as string, args ...string) ran {
	f.Helper()
	r := f.tt(as, args...)
	if r.exit != 0 {
		f.Fatalf("tt %v: %d %s%s", args, r.exit, r.out, r.err)
	}
	return r
}

// committed makes a task with one commit, that creates a file.
func (f *farm) committed(task, file, text string) {
	f.Helper()
	f.ok("claude:boss", "worker", "spawn", task)
	f.ok("codex:"+task, "worker", "start", "--task", task)
	tree := filepath.Join("worktrees", task)
	f.write(filepath.Join(tree, file), text)
	f.git("-C", tree, "add", ".")
	f.git("-C", tree, "commit", "--quiet", "-m", "work on "+task)
}

// approved makes a task that waits for its merge.
func (f *farm) approved(task, file, text string) {
	f.Helper()
	f.committed(task, file, text)
	f.ok("codex:"+task, "worker", "done", "--task", task)
	f.ok("claude:boss", "worker", "diff", task)
	f.ok("claude:boss", "worker", "approve", task)
}

// onMain adds a commit to the integration branch, without a checkout.
func (f *farm) onMain(file, text string) {
	f.Helper()
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(f.base, "index")}
	sh := fmt.Sprintf(`git read-tree integration && b=$(printf '%s' | git hash-object -w --stdin) && git update-index --add --cacheinfo 100644,$b,%s &&
		git update-ref refs/heads/integration $(git commit-tree $(git write-tree) -p integration -m 'on the branch')`, text, file)
	if r := f.run(f.dir, index, "sh", "-c", sh); r.exit != 0 {
		f.Fatal(r.err)
	}
}

// shown is what tt task show says.
type shown struct {
	Worker   string `json:"worker"`
	State    string `json:"state"`
	Attempt  int    `json:"attempt"`
	Head     string `json:"head"`
	Approved string `json:"approved"`
	Result   string `json:"result"`
	Doing    string `json:"doing"`
	Path     string `json:"path"`
}

func (f *farm) show(task string) (s shown) {
	f.Helper()
	r := f.ok("claude:boss", "worker", "show", task, "--json")
	if err := json.Unmarshal([]byte(r.out), &s); err != nil {
		f.Fatal(err)
	}
	return s
}

// sound checks what holds at any time: the database is what its log says, and the main checkout is clean.
func (f *farm) sound() {
	f.Helper()
	if status := f.git("status", "--porcelain"); status != "" {
		f.Errorf("the main checkout isn't clean:\n%s", status)
	}
	if r := f.tt("claude:boss", "doctor"); r.exit != 0 {
		f.Errorf("tt doctor: %s%s", r.out, r.err)
	}
}

// tidy checks that nothing is left half done.
func (f *farm) tidy() {
	f.Helper()
	f.sound()
	r := f.ok("claude:boss", "doctor", "--json")
	var d struct {
		Findings []struct{ Check, Status, Detail string } `json:"findings"`
	}
	if err := json.Unmarshal([]byte(r.out), &d); err != nil {
		f.Fatal(err)
	}

	for _, x := range d.Findings {
		if x.Check == "workers" && x.Status != "ok" {
			f.Errorf("the doctor found: %s", x.Detail)
		}
	}

	if gates, _ := filepath.Glob(filepath.Join(f.dir, "worktrees", ".gate-*")); len(gates) > 0 {
		f.Errorf("left are %q", gates)
	}
	if records := f.git("worktree", "list", "--porcelain"); strings.Contains(records, "prunable") {
		f.Errorf("git has records of worktrees that are gone:\n%s", records)
	}
}
