package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
)

// listed is the part of the roster that the tests read.
type listedRoster struct {
	Alone  bool `json:"alone"`
	Others []struct {
		PID        int    `json:"pid"`
		Harness    string `json:"harness"`
		Cwd        string `json:"cwd"`
		Role       string `json:"role"`
		Registered bool   `json:"registered"`
	} `json:"others"`
}

// who lists the agents of a roster by harness and directory.
func (r listedRoster) who() (out []string) {
	for _, o := range r.Others {
		out = append(out, o.Harness+" "+o.Cwd)
	}
	slices.Sort(out)
	return out
}

// readRoster reads the output of agent-roster, and the exit status after it.
func readRoster(t *testing.T, said string) (r listedRoster, exit int) {
	t.Helper()
	begin, end := strings.Index(said, "{"), strings.LastIndex(said, "}")
	_, status, ok := strings.Cut(said, "exit=")
	if begin < 0 || end < begin || !ok {
		t.Fatalf("agent-roster said %q", said)
	}

	if err := json.Unmarshal([]byte(said[begin:end+1]), &r); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	exit, err := strconv.Atoi(status[:1])
	if err != nil {
		t.Fatal(err)
	}

	return r, exit
}

// rosterLine makes the shell of a harness run agent-roster.
func rosterLine(tt string) modelapi.Script {
	return modelapi.Do(modelapi.Shell(filepath.Join(filepath.Dir(tt), "agent-roster") + " --json; echo exit=$?"))
}

// TestRosterOfRealHarnesses: real harnesses in a repository, in a directory of it, in a linked worktree and
// elsewhere. Each one's roster lists exactly the others that are inside. A harness that is alone learns that
// it is.
func TestRosterOfRealHarnesses(t *testing.T) {
	onlyInPairs(t, realharness.Claude, realharness.Codex, realharness.OpenCode)

	t.Parallel()
	s := newStage(t)
	link := filepath.Join(filepath.Dir(s.tt), "agent-roster")
	if err := os.Symlink(filepath.Base(s.tt), link); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}

	git := func(args ...string) {
		c := exec.Command("git", args...)
		c.Dir, c.Env = s.place.Repo, append(os.Environ(), "HOME="+s.place.Home, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}

	base := filepath.Dir(s.place.Repo)
	sub, tree, outside := filepath.Join(s.place.Repo, "sub"), filepath.Join(base, "tree"), filepath.Join(base, "outside")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("worktree", "add", "-q", tree, "-b", "tree")

	for _, d := range []string{sub, outside} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}

	alone := s.api.Session("alone", modelapi.Steps(rosterLine(s.tt), modelapi.Say("done")))
	claude := realharness.Claude.Prepare(t, s.place, realharness.Config{API: alone.URL()})
	s.finished(claude.Run(t, "Please.", realharness.Options{}))
	if r, exit := readRoster(t, results(alone)[0]); !r.Alone || exit != 0 || len(r.Others) != 0 {
		t.Errorf("alone: exit %d, %+v", exit, r)
	}

	type one struct {
		h       *realharness.Harness
		dir     string
		session *modelapi.Session
		run     *realharness.Process
		up, did chan struct{}
	}

	all := []*one{
		{h: realharness.Claude, dir: s.place.Repo},
		{h: realharness.Claude, dir: sub},
		{h: realharness.Codex, dir: tree},
		{h: realharness.OpenCode, dir: s.place.Repo},
		{h: realharness.Claude, dir: outside},
	}

	reached := func(c chan struct{}, o *one) {
		select {
		case <-c:
		case <-o.run.Done():
			t.Fatalf("%s in %s ended: %s", o.h.Name, o.dir, o.run.Wait())
		}
	}

	look, end := make(chan struct{}), make(chan struct{})
	for i, o := range all {
		o.up, o.did = make(chan struct{}), make(chan struct{})
		o.session = s.api.Session(fmt.Sprintf("agent-%d", i), modelapi.Steps(
			modelapi.Seen(o.up, modelapi.When(look, rosterLine(s.tt))),
			modelapi.Seen(o.did, modelapi.When(end, modelapi.Say("done"))),
		))

		a := o.h.Prepare(t, s.place, realharness.Config{API: o.session.URL()})
		a.Place.Repo = o.dir
		o.run = a.Start(t, "Please.", realharness.Options{
			Args: map[bool][]string{true: {"--skip-git-repo-check"}}[o.h == realharness.Codex],
		})
		reached(o.up, o) // one after the other: Claude Code may read its own file while another start writes it
	}

	close(look)
	for _, o := range all {
		reached(o.did, o)
	}

	for _, o := range all {
		r, exit := readRoster(t, results(o.session)[0])
		var want []string
		for _, other := range all {
			if other != o && other.dir != outside && o.dir != outside {
				want = append(want, other.h.Name+" "+other.dir)
			}
		}

		slices.Sort(want)
		if !slices.Equal(r.who(), want) || exit != min(len(want), 1) || r.Alone != (len(want) == 0) {
			t.Errorf("%s in %s: exit %d\ngot  %q\nwant %q", o.h.Name, o.dir, exit, r.who(), want)
		}

		for _, other := range r.Others {
			if !slices.ContainsFunc(all, func(x *one) bool { return x.run.PID() == other.PID }) {
				t.Errorf("%s in %s: nothing that was started has pid %d: %+v", o.h.Name, o.dir, other.PID, other)
			}
		}
	}

	close(end)
	for _, o := range all {
		s.finished(o.run.Wait())
	}
}

// TestRosterWithoutTheDaemon: Codex in a terminal leaves its work to a daemon. The roster lists the terminal
// and never the daemon, and the session is still a member.
func TestRosterWithoutTheDaemon(t *testing.T) {
	onlyInPairs(t, realharness.Codex)

	t.Parallel()
	s := newStage(t)
	s.run("join")
	briefed := make(chan struct{})
	a, _ := s.prepare(realharness.Codex, modelapi.Steps(modelapi.Seen(briefed, modelapi.Say("done"))))
	o := s.options(realharness.Codex)
	o.Daemon, o.Sandbox, o.BypassHookTrust = true, "", false
	a.TrustHooks(t)
	u := a.StartTUI(t, o)
	u.Type("Please.")

	select {
	case <-briefed:
	case <-u.Done():
		t.Fatal(u.Wait())
	}

	if len(s.processes("app-server")) == 0 {
		t.Fatal("Codex has started no daemon")
	}
	c := exec.Command(s.tt, "roster", "--json", "--as", watcher)
	c.Dir, c.Env = s.place.Repo, []string{"HOME=" + s.place.Home, "USER=ann"}
	out, _ := c.Output() // it exits with 1
	var r listedRoster
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(r.Others) != 1 ||
		r.Others[0].Harness != "codex" ||
		r.Others[0].PID != u.PID() ||
		!r.Others[0].Registered ||
		r.Others[0].Role != "primary" {
		t.Errorf("the terminal is process %d, and the roster says %s", u.PID(), out)
	}
	u.End()
}
