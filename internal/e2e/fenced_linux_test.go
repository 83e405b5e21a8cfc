package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/harness"
)

// reviewer is the other agent, which holds the stick when the harness doesn't.
const reviewer = "reviewer"

// fence is a harness in a room that enforces the stick, in a repository with our hooks of git. The reviewer
// holds the stick.
type fence struct {
	*stage
	talk   *dialogue
	h      *realharness.Harness
	change func(path, old, new string) modelapi.Call
	file   string // the file to change
	base   string // the commit that is checked out
}

func newFence(t *testing.T, h *realharness.Harness) *fence {
	t.Helper()
	f := &fence{stage: newStage(t), talk: newDialogue(t), h: h, change: modelapi.Edit}
	f.file = filepath.Join(f.place.Repo, "notes.txt")
	f.write("one\n")
	f.git("config", "user.name", "Ann") // Gemini's shell hides the user's own configuration from git
	f.git("config", "user.email", "ann@example.invalid")
	f.git("add", ".")
	f.git("commit", "-q", "-m", "first")
	f.base = f.git("rev-parse", "main")
	f.git("branch", "elsewhere", f.git("commit-tree", "main^{tree}", "-p", "main", "-m", "second"))
	f.as(reviewer, "wait", "--turn")
	// for turns after its own, too
	f.as(reviewer, "policy", "set", "enforce=stick", "waiter_grace=200ms", "owner_idle_ttl=1s")
	f.run("install", "git")
	return f
}

// begin starts the harness.
func (f *fence) begin(model string, trusted bool) {
	f.t.Helper()
	a, _ := f.prepare(f.h, f.talk.script)
	if model != "" {
		a.Config.Model = model
	}
	o := f.options(f.h)
	o.Sandbox = "" // Codex's would keep it from committing
	o.BypassHookTrust = trusted
	f.talk.begin(a, o)
	f.talk.do(modelapi.Read(f.file)) // some refuse to edit a file that they haven't read
}

// waitsForItsTurn: the reviewer holds the stick, so an edit is denied; with the turn it works.
func (f *fence) waitsForItsTurn() {
	f.t.Helper()
	f.denied(f.change(f.file, "one", "two"), "one\n")
	f.talk.start(modelapi.Shell(f.tt + " wait --turn"))
	f.listening(f.h.Name)
	f.as(reviewer, "release", "--status", "it is reviewed", "--next-action", "change it")
	if said := f.talk.hear(); !strings.Contains(said, "your turn, turn 2") {
		f.t.Fatalf("it waited for its turn, and is told\n%s", said)
	}
	f.talk.do(f.change(f.file, "one", "two"))
	f.holds("two\n")
}

// isTakenOver: the reviewer takes over while a command of the harness waits before it writes. What it
// writes is late, and both learn of it.
func (f *fence) isTakenOver(take func()) {
	f.t.Helper()
	gate := filepath.Join(f.place.Home, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.talk.start(modelapi.Shell("read line <" + gate + "; echo $line >>notes.txt"))
	command := f.open(gate)
	defer command.Close()

	take()
	if _, err := command.WriteString("late\n"); err != nil {
		f.t.Fatal(err)
	}
	const late = "edited notes.txt after it had lost the right to do so; " + reviewer + " holds the stick"
	if said := f.talk.hear(); !strings.Contains(said, late) {
		f.t.Errorf("it wrote after it was taken over, and is told\n%s", said)
	}
	f.holds("two\nlate\n")
	if said := f.as(reviewer, "wait", "--park", "--timeout", "10s"); !strings.Contains(said, late) {
		f.t.Errorf("the reviewer is told\n%s", said)
	}
	if log := f.run("events", "--event", "late_edit"); strings.Count(log, late) != 1 {
		f.t.Errorf("the log has\n%s", log)
	}
	f.talk.do(modelapi.Read(f.file))
	f.denied(f.change(f.file, "late", "later"), "two\nlate\n")
}

// stopped: the harness is stopped, so its agent becomes idle, and the reviewer, which waits, may take over.
// That takes some seconds, because the command counts as work for a while.
func (f *fence) stopped() {
	f.t.Helper()
	f.signal(syscall.SIGSTOP, "T")
	// it exits with 4 without the turn
	offer, _ := f.command(reviewer, "wait", "--turn", "--timeout", "60s").CombinedOutput()
	if !strings.Contains(string(offer), "you can take over: the holder is alive, but does nothing") {
		f.t.Fatalf("the reviewer waited, and is told\n%s", offer)
	}
	f.as(reviewer, "take", "--reason", "it does nothing")
	f.signal(syscall.SIGCONT, "RSD")
}

// overruled: the reviewer takes the stick on a person's word.
func (f *fence) overruled() {
	f.t.Helper()
	f.as(reviewer, "take", "--operator-requested", "--reason", "it takes too long")
}

// asksGit: an agent that doesn't hold the stick can neither commit nor move the branch that is checked out,
// if the harness lets git run its hooks.
func (f *fence) asksGit() {
	f.t.Helper()
	row, _ := harness.ByName(f.h.Name)
	const commit = "git add notes.txt && git commit -q -m late"
	if row.NoGitHooks {
		said := f.talk.do(modelapi.Shell(commit))
		if f.git("rev-list", "main") == f.base {
			f.t.Errorf("its shell disables the hooks of git, and yet it didn't commit\n%s", said)
		}
		if said := f.run("doctor"); !strings.Contains(said, "its shell disables git's hooks") {
			f.t.Errorf("the doctor says\n%s", said)
		}
		return
	}

	for _, c := range []struct{ command, denied string }{
		{commit, "notes.txt"},
		{commit + " --no-verify", "the working tree"},
		{"git update-ref refs/heads/main elsewhere", "the working tree"},
	} {
		want := regexp.MustCompile("tt: " + c.denied + " isn't yours to change now: " + holding)
		f.refused(modelapi.Shell(c.command), want, func() { f.git("update-ref", "refs/heads/main", f.base) })
		if at := f.git("rev-parse", "main"); at != f.base {
			f.t.Errorf("%s moved the branch to %s", c.command, at)
		}
	}
}

// end ends the harness, and checks that the database is sound.
func (f *fence) end() {
	f.t.Helper()
	f.talk.end()
	if said := f.run("doctor"); !strings.Contains(said, "every room agrees with its log") {
		f.t.Errorf("the doctor says\n%s", said)
	}
}

// holding matches who holds the stick, and for how long. denial matches what a model reads that may not edit.
const holding = reviewer + ` has (just taken the stick|held the stick for \d+ (s|min))`

var denial = regexp.MustCompile(
	`Talking Stick: notes\.txt isn't yours to change now: ` + holding + `[^\n]*\. Wait: tt wait; `,
)

// denied has the harness make a change that is denied now.
func (f *fence) denied(c modelapi.Call, content string) {
	f.t.Helper()
	f.refused(c, denial, func() {
		f.write(content)
		f.talk.do(modelapi.Read(f.file))
	})
	f.holds(content)
}

// refused has the harness do something that is refused. On a busy machine a hook may have no answer in time:
// then it allows the call, and logs that. In this case the change is undone and made again.
func (f *fence) refused(c modelapi.Call, want *regexp.Regexp, undo func()) {
	f.t.Helper()
	for range 5 {
		before := f.faults()
		said := f.talk.do(c)
		if want.MatchString(said) {
			return
		}

		fault := f.faults()[len(before):]
		f.t.Logf("want %s; it is told\n%s\nThe log has gained: %s", want, said, fault)
		if fault == "" {
			break
		}
		undo()
	}
	f.t.Error("it wasn't refused")
}

func (f *fence) write(content string) {
	f.t.Helper()
	if err := os.WriteFile(f.file, []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fence) holds(content string) {
	f.t.Helper()
	if b, err := os.ReadFile(f.file); string(b) != content {
		f.t.Errorf("the file holds %q, want %q %v", b, content, err)
	}
}

// open opens a pipe once a command of the harness reads from it.
func (f *fence) open(gate string) (w *os.File) {
	f.t.Helper()
	soon(f.t, "the command reads", func() bool {
		var err error
		w, err = os.OpenFile(gate, os.O_WRONLY|unix.O_NONBLOCK, 0)
		return err == nil
	})

	return w
}

// signal sends a signal to the harness's process group, and waits until its process is in one of the states
// that should follow.
func (f *fence) signal(sig syscall.Signal, states string) {
	f.t.Helper()
	pid := f.talk.run.PID()
	if err := syscall.Kill(-pid, sig); err != nil {
		f.t.Fatal(err)
	}

	soon(f.t, fmt.Sprintf("%s reaches the harness", sig), func() bool {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := strings.Cut(string(b), ") ")
		return rest != "" && strings.Contains(states, rest[:1])
	})
}
