//go:build unix

package cli_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"talkingstick/internal/clitest"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
)

// repo is a repository with real git, in which agents and people run commands.
type repo struct {
	*testing.T
	work, app, bin string
	database       string // its address, if it is on a server
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &repo{
		T: t, work: work, app: filepath.Join(work, "app"), bin: filepath.Join(work, "bin"),
		database: storetest.Address(t),
	}
	for _, dir := range []string{r.app, r.bin, filepath.Join(work, "home")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}

	if err := clitest.Install(r.bin); err != nil {
		t.Fatal(err)
	}
	template, err := templateRepo()
	if err != nil {
		t.Fatal(err)
	}

	if out, err := exec.Command("cp", "-a", template+"/.", r.app).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	return r
}

// templateRepo makes the repository that tests begin with, of which each gets a copy.
var templateRepo = sync.OnceValues(func() (dir string, err error) {
	work, err := os.MkdirTemp("", "tt-template-")
	if err != nil {
		return "", err
	}
	testenv.AtEnd(func() error { return os.RemoveAll(work) })

	r := &repo{work: work, app: filepath.Join(work, "app")}
	if err := os.Mkdir(r.app, 0o755); err != nil {
		return "", err
	}

	out, err := r.run("", `
		git init --quiet --initial-branch=main
		git config protocol.file.allow always
		git config gc.auto 0
		for n in 1 2 3; do echo $n >$n.txt; git add .; git commit --quiet -m "main $n"; done
		git checkout --quiet -b feature HEAD~2
		for n in a b c d e; do echo $n >$n.txt; git add .; git commit --quiet -m "feature $n"; done
		git checkout --quiet main`)
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}

	return r.app, nil
})

// run runs a shell script in the repository as an agent, or as a person.
func (r *repo) run(agent, script string) (out string, err error) {
	b, err := r.command(agent, script).CombinedOutput()
	return string(b), err
}

func (r *repo) command(agent, script string) *exec.Cmd {
	c := exec.Command("/bin/sh", "-e", "-c", script)
	c.Dir = r.app
	c.Env = []string{
		"PATH=" + r.bin + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(r.work, "home"), "USER=pat",
		"LC_ALL=C", "WORK=" + r.work,
		"TALKING_STICK_DATA_DIR=" + filepath.Join(r.work, "data"), "TALKING_STICK_DATABASE_URL=" + r.database,
		"TT_HARNESS_AGENT_ID=" + agent, clitest.Top + "=" + strconv.Itoa(os.Getpid()),
		"GIT_CONFIG_GLOBAL=" + filepath.Join(r.work, "home", ".gitconfig"),
		"GIT_CONFIG_SYSTEM=" + testenv.QuickGit(), "GIT_EDITOR=true", clitest.Race,
		"GIT_AUTHOR_NAME=Pat", "GIT_AUTHOR_EMAIL=pat@example.com", "GIT_COMMITTER_NAME=Pat",
		"GIT_COMMITTER_EMAIL=pat@example.com",
		// equal histories get equal hashes
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
	}

	return c
}

func (r *repo) must(agent, script string) string {
	r.Helper()
	out, err := r.run(agent, script)
	if err != nil {
		r.Fatalf("%s: %v\n%s", script, err, out)
	}
	return out
}

// enforcing makes a room whose policy is enforced, and gives the stick to holder.
func (r *repo) enforcing(policy string) *repo {
	r.Helper()
	r.must("", "tt install git && tt join && tt policy set enforce="+policy)
	r.must("holder", "tt wait --turn")
	return r
}

// state returns git's refs and the files.
func (r *repo) state() string {
	r.Helper()
	out := r.must("", `
		for at in . $(ls -d ../linked lib 2>/dev/null || true); do
			echo "in $at"
			git -C $at for-each-ref
			git -C $at rev-parse HEAD
			git -C $at symbolic-ref HEAD || true
			git -C $at status --porcelain --branch
			git -C $at stash list
			git -C $at ls-files --stage
			cat $at/*.txt
		done
		git reflog | wc -l
		ls .git | sort`)

	return strings.ReplaceAll(out, r.work, "WORK")
}

// works are what people and holders do, each in a new repository.
var works = map[string]string{
	"commit":            "echo x >1.txt; git commit -qam x; echo y >2.txt; echo y >3.txt; git commit -qm y 2.txt; git add .; git commit -q --amend -m z",
	"rebase":            "git checkout -q feature; git rebase -q main",
	"rebase patches":    "git checkout -q feature; git rebase -q --apply main",
	"rebase of another": "git rebase -q main feature",
	"rebase --abort": `git checkout -q -b side HEAD~1; echo other >3.txt; git add .; git commit -qm side
		! git rebase main >/dev/null 2>&1; test -d .git/rebase-merge; git rebase --abort`,
	"rebase --continue": `git checkout -q -b side HEAD~1; echo other >3.txt; git add .; git commit -qm side
		! git rebase main >/dev/null 2>&1; echo both >3.txt; git add .; git rebase --continue >/dev/null`,
	"merge":    "git merge -q --no-edit feature",
	"merge ff": "git checkout -q -b behind HEAD~2; git merge -q main",
	"merge --abort": `git checkout -q -b side HEAD~1; echo other >3.txt; git add .; git commit -qm side
		! git merge main >/dev/null 2>&1; git merge --abort`,
	"cherry-pick": "git cherry-pick feature~2 feature >/dev/null; git revert --no-edit HEAD >/dev/null",
	"stash":       "echo x >1.txt; git stash -q; git stash apply -q; echo y >>1.txt; git stash -q; git stash pop -q stash@{1}",
	"reset":       "git reset -q --hard HEAD~1; git reset -q --soft HEAD~1; git update-ref refs/heads/main feature",
	"gc":          "git gc -q; git repack -adq; git prune",
	"pack-refs":   "git pack-refs --all; git branch -q new; git pack-refs --all",
	"fetch": `git init -q --bare ../other; for n in $(seq 50); do echo "create refs/heads/b$n $(git rev-parse HEAD)"; done | git -C ../other fetch -q $PWD main
		for n in $(seq 50); do echo "create refs/heads/b$n $(git rev-parse HEAD)"; done | git -C ../other update-ref --stdin
		git remote add other ../other; git fetch -q other; git fetch -q other '+refs/heads/*:refs/heads/of-other/*'; git remote prune other`,
	"branches":  "git branch new; git branch -m new newer; git branch -f newer feature; git branch -q -D newer; git checkout -q --orphan empty; git commit -q -m first; git tag t",
	"worktree":  "git worktree add -q ../linked -b linked; cd ../linked; echo x >x.txt; git add .; git commit -qm x; git rebase -q feature; git worktree lock .",
	"submodule": `git clone -q . ../lib; git -c protocol.file.allow=always submodule --quiet add ../lib lib; git commit -qm lib; cd lib; echo x >x.txt; git add .; git commit -qm x; cd ..; git commit -qam "lib moved"; git submodule --quiet update`,
	"am":        "git format-patch -q main..feature -o ../patches; git am -q ../patches/*",
	"pull":      "git checkout -q -b behind HEAD~2; git pull -q --ff-only . main; git push -q . behind:pushed",
	"from .git": "cd .git; git update-ref refs/heads/main feature; git symbolic-ref HEAD refs/heads/feature",
}

// For people and for the holder of the stick, everything ends as it does without hooks, even if other hooks
// were there before. In a short run they take turns.
func TestGitWorksAsEver(t *testing.T) {
	testenv.Alone(t)

	short := testenv.Leaves(t, testenv.Every, "each work as the other of a person and the holder")
	names := testenv.Some(t, testenv.Every, "works of people and holders", slices.Sorted(maps.Keys(works)),
		testenv.EveryNth[string](3))
	for i, name := range names {
		script := works[name]
		agents := []string{"", "holder"}
		if short {
			agents = agents[i%2 : i%2+1]
		}

		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain := newRepo(t)
			plain.must("", script)

			want := plain.state()
			for _, agent := range agents {
				r := newRepo(t).enforcing("stick")
				r.must(agent, script)
				if d := compareTexts(want, r.state()); d != "" {
					t.Errorf("as %q:\n%s", agent, d)
				}
				if b, err := os.ReadFile(filepath.Join(r.work, "data", "tt.log")); err == nil {
					t.Errorf("as %q: %s", agent, b)
				}
			}
		})
	}
}

// withoutTheStick are what an agent without the stick does by git, and whether the hooks deny it.
var withoutTheStick = map[string]struct {
	script string
	denied bool
}{
	"commit":             {"echo x >1.txt; git commit -qam x", true},
	"commit --no-verify": {"echo x >1.txt; git commit -q --no-verify -am x", true},
	"amend":              {"git commit -q --amend -m x", true},
	"merge":              {"git merge -q --no-edit feature", true},
	"merge ff":           {"git checkout -q -b behind HEAD~2; git merge -q main", true},
	"cherry-pick":        {"git cherry-pick feature", true},
	"rebase":             {"git rebase -q feature", true},
	"rebase of another":  {"git rebase -q main feature", true},
	"rebase patches":     {"git rebase -q --apply feature", true},
	"reset":              {"git reset -q --hard HEAD~1", true},
	"update-ref":         {"git update-ref refs/heads/main feature", true},
	"forced":             {"git -C ../linked update-ref refs/heads/main feature", true},
	"another work tree": {
		"mkdir ../t; GIT_DIR=$PWD/.git GIT_WORK_TREE=$WORK/t git commit -q --no-verify --allow-empty -m x",
		true,
	},
	"from .git":   {"cd .git; git update-ref refs/heads/main feature", true},
	"a push here": {"git -C ../clone push -q -f origin feature:main", true},
	"first of several": {
		`printf 'update refs/heads/main %s\nupdate refs/heads/feature %s\n' $(git rev-parse feature main) | git update-ref --stdin`,
		true,
	},
	"last of several": {
		`printf 'update refs/heads/feature %s\nupdate refs/heads/main %s\n' $(git rev-parse main feature) | git update-ref --stdin`,
		true,
	},

	"the same value": {
		"git update-ref refs/heads/main main; git reset -q --hard; git branch -f feature feature", false,
	},
	"another branch": {
		"git branch new; git branch -f new feature; git branch -D new; git update-ref refs/heads/feature main",
		false,
	},
	"new branch": {"git checkout -q -b new; git checkout -q main", false},
	"fetch": {
		"git fetch -q ../clone '+refs/heads/*:refs/heads/x/*' '+refs/heads/*:refs/remotes/y/*'", false,
	},
	"gc":             {"git gc -q; git pack-refs --all; git branch new; git pack-refs --all --prune", false},
	"stash":          {"echo x >1.txt; git stash -q; git stash pop -q", false},
	"tag":            {"git tag t; git tag -f t feature; git tag -d t", false},
	"rebase --abort": {"! git rebase feature; git rebase --abort", false},
	"linked worktree": {
		"cd ../linked; echo x >x.txt; git add .; git commit -qm x; git rebase -q feature; git merge -q main; git reset -q --hard HEAD~1",
		false,
	},
	"another repository": {
		"cd ../clone; echo x >x.txt; git add .; git commit -qm x; git reset -q --hard HEAD~1", false,
	},
}

// Without the stick an agent can't move what is checked out in the shared tree. Everything else works.
func TestGitWithoutTheStick(t *testing.T) {
	testenv.Alone(t)

	names := slices.Sorted(maps.Keys(withoutTheStick))
	for _, name := range testenv.Some(t, testenv.Every, "uses of git", names, testenv.EveryNth[string](4)) {
		c := withoutTheStick[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t).enforcing("stick")
			r.must("",
				"git worktree add -q ../linked -b linked; git clone -q . ../clone; git -C ../clone branch -q feature origin/feature; git config receive.denyCurrentBranch ignore")
			if name == "rebase --abort" { // the rebase stops at a conflict before anything is denied
				r.must("",
					"git checkout -q feature; echo other >3.txt; git add .; git commit -qm other; git checkout -q main")
			}
			before := r.must("", "git rev-parse main")
			out, err := r.run("other", c.script)
			if denied := err != nil; denied != c.denied {
				t.Fatalf("denied: %v\n%s", denied, out)
			}
			if after := r.must("", "git rev-parse main"); after != before {
				t.Error("the branch was moved")
			}
			if c.denied && (!strings.Contains(out, "now: holder has ") || !strings.Contains(out, "hint: ")) {
				t.Errorf("what it says:\n%s", out)
			}
			if b, err := os.ReadFile(filepath.Join(r.work, "data", "tt.log")); err == nil {
				t.Error(string(bytes.TrimSpace(b)))
			}
		})
	}
}
