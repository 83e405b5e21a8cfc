//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"talkingstick/internal/clitest"
	"talkingstick/internal/testenv"
)

var roomKey = regexp.MustCompile(`\[talkingstick\]\n\troom = .*\n`)

// tree returns each file and directory of a repository's surroundings, with its mode and its bytes. The
// programs and the data directory don't belong to it.
func (r *repo) tree() map[string]string {
	r.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(r.work, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(r.work, path)
		if rel == "bin" || rel == "data" {
			return fs.SkipDir
		}

		info, err := d.Info()
		if err != nil {
			return err
		}
		holds := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			holds, err = os.Readlink(path)
		case info.Mode().IsRegular():
			var b []byte
			b, err = os.ReadFile(path)
			holds = roomKey.ReplaceAllString(string(b), "") // on a server joining writes it, and the room stays
		}

		all[rel] = fmt.Sprintf("%v %q", info.Mode(), holds)
		return err
	})
	if err != nil {
		r.Fatal(err)
	}

	return all
}

// Tools that put hooks into a repository, each as it leaves the repository.
const (
	husky = `mkdir -p .husky/_; echo '*' >.husky/_/.gitignore; cp "$HOOKS"/husky-h .husky/_/h
		for n in pre-commit commit-msg post-checkout pre-push; do cp "$HOOKS"/husky-hook .husky/_/$n; chmod 755 .husky/_/$n; done
		echo 'echo checked by the project' >.husky/pre-commit; git config core.hooksPath .husky/_;`
	lefthook = `printf 'pre-commit:\n  jobs: []\n' >lefthook.yml; cp "$HOOKS"/lefthook .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit
		printf '#!/bin/sh\n[ "$1" = -h ] || echo "checked by lefthook $*"\n' >$WORK/bin/lefthook; chmod 755 $WORK/bin/lefthook;`
	preCommit = `echo 'repos: []' >.pre-commit-config.yaml; mkdir -p $WORK/venv/bin
		printf '#!/bin/sh\necho "checked by $*"\n' >$WORK/venv/bin/python3; chmod 755 $WORK/venv/bin/python3;`
)

// initCase is a repository in which tt init puts hooks beside those of others.
type initCase struct {
	name, setup string
	dir         string // in which tt init runs, from the main checkout
	hooks       string // where the hooks are, from the directory of everything
	says        string // what the hooks that were there say
}

var initCases = []initCase{
	{name: "plain", hooks: "app/.git/hooks"},
	{name: "an empty one", setup: "rm -rf .git *.txt; git init -q; echo x >new; git add new", hooks: "app/.git/hooks"},
	{name: "a subdirectory", setup: "mkdir -p src/deep", dir: "src/deep", hooks: "app/.git/hooks"},
	{name: "Husky", setup: husky, hooks: "app/.husky/_", says: "checked by the project"},
	{
		name: "Husky, from a subdirectory", setup: husky + "mkdir src", dir: "src", hooks: "app/.husky/_",
		says: "checked by the project",
	},
	{name: "lefthook", setup: lefthook, hooks: "app/.git/hooks", says: "checked by lefthook run pre-commit"},
	{
		name:  "pre-commit",
		setup: preCommit + `sed "s,/venv,$WORK/venv," "$HOOKS"/pre-commit >.git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit`,
		hooks: "app/.git/hooks",
		says:  "checked by -mpre_commit hook-impl --config=.pre-commit-config.yaml --hook-type=pre-commit --hook-dir WORK/app/.git/hooks --",
	},
	{
		name:  "pre-commit, in Python",
		setup: preCommit + `cp "$HOOKS"/pre-commit-python .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit; cp $WORK/venv/bin/python3 $WORK/bin`,
		hooks: "app/.git/hooks", says: "checked by .git/hooks/pre-commit",
	},
	{
		name: "core.hooksPath inside", hooks: "app/.git/talking-stick/hooks", says: "checked by hand",
		setup: `mkdir .githooks; printf '#!/bin/sh\necho checked by hand\n' >.githooks/pre-commit; chmod 700 .githooks/pre-commit; git config core.hooksPath .githooks`,
	},
	{
		name: "core.hooksPath inside that isn't there", setup: "git config core.hooksPath .githooks",
		hooks: "app/.git/talking-stick/hooks",
	},
	{
		name:  "a hook that is a link",
		setup: `mkdir tools; printf '#!/bin/sh\necho checked by a link\n' >tools/check; chmod 755 tools/check; ln -s ../../tools/check .git/hooks/pre-commit`,
		hooks: "app/.git/hooks", says: "checked by a link",
	},
	{
		name:  "a linked worktree",
		setup: lefthook + "git worktree add -q ../linked feature; cd ../linked; echo x >new; git add new",
		dir:   "../linked", hooks: "app/.git/hooks", says: "checked by lefthook run pre-commit",
	},
	{
		name: "a submodule", dir: "lib", hooks: "app/.git/modules/lib/hooks",
		setup: "git clone -q . ../lib; git -c protocol.file.allow=always submodule -q add ../lib lib; cd lib; echo x >new; git add new",
	},
}

// TestInitBesideOthersHooks: tt init finds where a repository has its hooks, and lets those that are there
// run after ours. A second tt init changes nothing. After tt uninstall, each file is as it was.
func TestInitBesideOthersHooks(t *testing.T) {
	testenv.Alone(t)

	hooks, err := filepath.Abs("testdata/hooks")
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range testenv.Some(t, testenv.Every, "hooks that were there before", initCases, testenv.EveryNth[initCase](3)) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			in := "cd ./" + c.dir + "; "
			r.must("",
				`mkdir $WORK/home/.claude; echo '{"model": "opus"}' >$WORK/home/.claude/settings.json; echo x >new; git add new; HOOKS='`+hooks+"'\n"+c.setup)
			before := r.tree()
			out := r.must("", in+"tt init --enforce stick")
			want := "hooks installed (" + filepath.Join(r.work, c.hooks) + ")"
			if !strings.Contains(out, want) ||
				!strings.Contains(out, "you made and joined it as human:pat") ||
				!strings.Contains(out, "claude   connected") {
				t.Errorf("it doesn't say %q:\n%s", want, out)
			}

			after := r.tree()
			if out := r.must("", in+"tt init"); !strings.Contains(out, "nothing had to be changed") {
				t.Errorf("again: %s", out)
			}
			if d := compareTrees(after, r.tree()); d != "" {
				t.Errorf("again, it changed something: %s", d)
			}

			out = strings.ReplaceAll(r.must("", in+"git hook run --ignore-missing pre-commit"), r.work, "WORK")
			if !strings.Contains(out, c.says) || c.says == "" && out != "" {
				t.Errorf("the hook that was there says %q, not %q", out, c.says)
			}

			// In a linked worktree an agent needs no turn.
			if out, err := r.run("codex", in+"git hook run pre-commit"); (err == nil) != (c.dir == "../linked") {
				t.Errorf("an agent without the stick: %v\n%s", err, out)
			}

			r.must("", in+"tt uninstall --yes")
			if d := compareTrees(before, r.tree()); d != "" {
				t.Errorf("after tt uninstall it isn't as before: %s", d)
			}
		})
	}
}

// TestInitWithoutHooks: where git looks for hooks in a directory that isn't the repository's own, tt init
// says so and what to do, and does the rest. Who asks for the hooks by name is refused, and then nothing is
// done at all.
func TestInitWithoutHooks(t *testing.T) {
	for name, c := range map[string]struct{ setup, problem, step string }{
		"core.hooksPath outside": {
			`mkdir $WORK/shared; printf '#!/bin/sh\n' >$WORK/shared/pre-commit; git config core.hooksPath $WORK/shared`,
			"git looks for hooks in WORK/shared, as core.hooksPath in .git/config says",
			"next: git: add this line to the hook pre-commit there by hand: `",
		},
		"switched off": {
			"git config core.hooksPath /dev/null", "core.hooksPath in .git/config is /dev/null, which isn't a directory, so git runs no hooks here",
			"next: git: if nobody turned hooks off on purpose: git config --local --unset core.hooksPath",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.must("", c.setup)
			before := r.tree()
			if out, err := r.run("", "tt init --git"); err == nil ||
				!strings.Contains(strings.ReplaceAll(out, r.work, "WORK"), c.problem) {
				t.Errorf("by name: %v\n%s", err, out)
			}
			if out := r.must("", "tt list"); !strings.Contains(out, "there is no room here") {
				t.Errorf("the refusal has left a room:\n%s", out)
			}

			out := strings.ReplaceAll(r.must("", "tt init"), r.work, "WORK")
			for _, want := range []string{
				"you made and joined it", "git      hooks not installed: " + c.problem, c.step,
			} {
				if !strings.Contains(out, want) {
					t.Errorf("it doesn't say %q:\n%s", want, out)
				}
			}

			r.must("", "tt uninstall --yes")
			if d := compareTrees(before, r.tree()); d != "" {
				t.Errorf("a file has changed: %s", d)
			}
		})
	}
}

// TestInitInterrupted: Ctrl-C at a question ends tt init as a signal does, and nothing has changed.
func TestInitInterrupted(t *testing.T) {
	r := newRepo(t)
	before := r.tree()
	c := r.command("", "exec tt init")
	c.Env = append(c.Env, clitest.Terminal+"=80", clitest.InTerminal+"=1")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	io.WriteString(in, "stick\n")

	said := bufio.NewReader(out)
	for range 2 { // the second question is there once its brackets are closed
		if _, err := said.ReadString(']'); err != nil {
			t.Fatal(err, errs.String())
		}
	}

	c.Process.Signal(os.Interrupt)
	if _, err := io.ReadAll(said); err != nil {
		t.Fatal(err)
	}
	if c.Wait(); c.ProcessState.ExitCode() != 130 || errs.String() != "tt: interrupted; nothing was changed\n" {
		t.Errorf("%v: %s", c.ProcessState, errs.String())
	}
	if d := compareTrees(before, r.tree()); d != "" {
		t.Errorf("a file has changed: %s", d)
	}
	if out := r.must("", "tt list"); !strings.Contains(out, "there is no room here") {
		t.Errorf("there is a room:\n%s", out)
	}
}

// TestInitRefused: outside of a repository that agents can share there is nothing to set up, and nothing is made.
func TestInitRefused(t *testing.T) {
	for name, c := range map[string]struct{ setup, status, problem, step string }{
		"no repository":             {"cd $WORK", "3", "WORK isn't in a git repository", "hint: make a repository: git init; or make only a room, without git hooks to protect it: tt join"},
		"a bare repository":         {"git clone -q --bare . $WORK/bare.git; cd $WORK/bare.git", "2", "WORK/bare.git is a bare repository: it has no working tree for agents to share", "hint: run the command in the clone where agents work"},
		"a file that can't be read": {"echo '[gate' >.talking-stick.toml", "2", ".talking-stick.toml has an error in line 1, column 6", "hint: fix the file or remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.must("", c.setup)
			before := maps.Clone(r.tree())

			for _, command := range []string{"tt init", "tt init --print"} {
				out := strings.ReplaceAll(
					r.must("",
						strings.Replace(c.setup, "git clone", "true", 1)+"; s=0; "+command+" || s=$?; echo status $s"),
					r.work, "WORK",
				)
				for _, want := range []string{c.problem, c.step, "status " + c.status} {
					if !strings.Contains(out, want) {
						t.Errorf("%s doesn't say %q:\n%s", command, want, out)
					}
				}
			}

			if d := compareTrees(before, r.tree()); d != "" {
				t.Errorf("a file has changed: %s", d)
			}
			if _, err := os.Stat(filepath.Join(r.work, "data")); err == nil {
				t.Error("there is a database")
			}
		})
	}
}
