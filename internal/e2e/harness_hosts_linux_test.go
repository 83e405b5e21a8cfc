package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"talkingstick/internal/clitest"
	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/storetest"
)

// newHost is a stage on a host of its own: a home with a data directory, a boot, a clone of upstream, and the
// address of the server in the user's file. The programs of two of them know nothing of each other but what
// the database says.
func newHost(t *testing.T, boot, address, upstream string) *stage {
	t.Helper()
	s := newStage(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	s.tt = filepath.Join(t.TempDir(), "tt")
	config := filepath.Join(s.place.Home, ".config", "talking-stick", "config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	// tt, under another boot
	program := fmt.Sprintf("#!/bin/bash\nexport %s=%s %s\nexec -a \"$0\" %s \"$@\"\n",
		clitest.Boot, boot, clitest.Race, exe)
	for path, text := range map[string]string{s.tt: program, config: fmt.Sprintf("database = %q\n", address)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.Chmod(s.tt, 0o700); err != nil {
		t.Fatal(err)
	}
	s.git("remote", "add", "origin", upstream)
	s.git("pull", "-q", "origin", "main")
	s.git("branch", "-q", "--set-upstream-to=origin/main")
	s.git("remote", "set-head", "origin", "main")
	return s
}

// TestHarnessesOnTwoHosts: Claude Code and Codex work in clones of their own, on two hosts that share a
// server. What one has done and pushed reaches the other with the turn, and comes back. Who hasn't the turn
// edits in its own clone, and can't push to the branch that they share; in the holder's clone another agent
// edits nothing. Codex's shell is in its sandbox, which has no network: its MCP tools wait and release.
func TestHarnessesOnTwoHosts(t *testing.T) {
	realharness.Require(t, realharness.Claude, realharness.Codex)

	t.Parallel()
	address, upstream := storetest.PostgresURL(t), newUpstream(t)
	here, there := newHost(t, "boot-one", address, upstream), newHost(t, "boot-two", address, upstream)
	here.run("join")
	there.run("join", "--room", here.git("config", "talkingstick.room"))
	here.run("policy", "set", "enforce=stick", "waiter_grace=5s")
	claude, codex, beside := newDialogue(t), newDialogue(t), newDialogue(t)
	a, _ := here.prepare(realharness.Claude, claude.script)
	b, _ := there.prepare(realharness.Codex, codex.script)
	c, _ := there.prepare(realharness.Claude, beside.script)

	says := func(who, said string, wants ...string) string {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(said, want) {
				t.Errorf("%s isn't told %q, but\n%s", who, want, said)
			}
		}

		return said
	}

	notes := func(s *stage) string { return filepath.Join(s.place.Repo, "notes.txt") }
	edit := func(s *stage, old, new string) modelapi.Call { return modelapi.Edit(notes(s), old, new) }

	// the first host works, and hands over
	claude.begin(a, here.options(realharness.Claude))
	says("Claude", claude.do(modelapi.Shell(here.tt+" wait --turn")), "your turn, turn 1")
	codex.begin(b, there.options(realharness.Codex))
	says("Codex", codex.do(modelapi.Shell(there.tt+" state")), "the system doesn't let tt connect to",
		"in Codex's sandbox use the MCP tools of tt")
	room := struct {
		ID string `json:"room_id"`
	}{}
	if err := json.Unmarshal([]byte(here.run("state", "--json")), &room); err != nil {
		t.Fatal(err)
	}

	codex.start(modelapi.MCP("tt", "wait_for_turn", map[string]any{"room_id": room.ID}))
	there.listening("codex")
	claude.do(modelapi.Read(notes(here)))
	claude.do(edit(here, "one", "two"))
	says("Claude", claude.do(modelapi.Shell("git commit -qam 'the first half' && git push -q && echo pushed")),
		"pushed")
	claude.do(modelapi.Shell(here.tt + ` release --status "the first half is done" --next-action "do the second half"`))
	commit := here.git("rev-parse", "HEAD")

	// the second host is granted, and told of the commit that it hasn't
	granted := says("Codex", codex.hear(), `"status":"your_turn"`, `"turn_id":2`, "do the second half", commit,
		`"absent":true`)
	there.git("pull", "-q", "origin", "main")
	codex.do(edit(there, "two", "three"))
	holds(t, notes(there), "three\n")

	// without the turn: in one's own clone one edits and doesn't push, in the holder's clone one doesn't edit
	claude.do(edit(here, "two", "mine"))
	holds(t, notes(here), "mine\n")
	says("Claude", claude.do(modelapi.Shell("git commit -qam mine && git push -q && echo pushed")),
		"a push to main isn't yours now: codex-")
	beside.begin(c, there.options(realharness.Claude))
	beside.do(modelapi.Read(notes(there)))
	says("the other Claude", beside.do(edit(there, "three", "four")), "notes.txt isn't yours to change now: codex-")
	holds(t, notes(there), "three\n")
	beside.end()

	// and back
	there.git("commit", "-q", "-a", "-m", "the second half")
	claude.start(modelapi.Shell(here.tt + " wait --turn"))
	here.listening("claude")
	lease := regexp.MustCompile(`"lease_id":"([0-9a-f]+)"`).FindStringSubmatch(granted)
	if lease == nil {
		t.Fatalf("there is no lease in\n%s", granted)
	}

	codex.do(modelapi.MCP("tt", "release_stick", map[string]any{
		"room_id": room.ID, "lease_id": lease[1], "expected_turn_id": 2,
		"handoff": map[string]any{"status": "the second half is done", "next_action": "look at it"},
	}))

	says("Claude", claude.hear(), "your turn, turn 3", "handoff from codex-", "look at it",
		"isn't in this repository: git fetch")
	codex.end()
	claude.do(modelapi.Shell(here.tt + ` release --status "all is done" --next-action "nothing"`))
	claude.end()
	if said := here.run("doctor"); !strings.Contains(said, "every room agrees with its log") {
		t.Errorf("the doctor says\n%s", said)
	}
}

// newUpstream is a repository that clones share, with a first commit.
func newUpstream(t *testing.T) string {
	t.Helper()
	upstream, seed := filepath.Join(t.TempDir(), "app.git"), newStage(t)
	if out, err := exec.Command("git", "init", "-q", "--bare", "--initial-branch=main", upstream).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(seed.place.Repo, "notes.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	seed.git("add", ".")
	seed.git("commit", "-q", "-m", "first")
	seed.git("push", "-q", upstream, "HEAD:main")
	return upstream
}

// holds fails the test unless a file holds what it should.
func holds(t *testing.T, path, content string) {
	t.Helper()
	if b, err := os.ReadFile(path); string(b) != content {
		t.Errorf("%s holds %q, want %q %v", path, b, content, err)
	}
}
