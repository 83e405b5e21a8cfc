package shell

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/testenv"
)

// scratch makes what each form is played in: a repository with work of each sort in it, beside a linked
// worktree and the repository that it came from. Each file of work holds one word, which is found again
// wherever it goes.
const scratch = `
set -e
dirty() {
	echo M1 > m.txt; echo S1 > s.txt; echo S2 > n.txt; echo P1 > p.txt
	echo M2 > sub/m.txt; echo S3 > sub/s.txt; echo P2 > sub/p.txt
	git add s.txt n.txt p.txt sub/s.txt sub/p.txt
	echo M3 > p.txt; echo M4 > sub/p.txt
	echo U1 > u.txt; mkdir -p ud build sub/build; echo U2 > ud/u.txt; echo U3 > sub/u.txt
	echo I1 > i.log; echo I2 > build/o; echo I3 > sub/build/o
	echo N2 > sm/f.txt
	git init -q nested; git -C nested commit -q --allow-empty -m one; echo N1 > nested/f.txt
}
clean() { git reset -q --hard; rm -rf u.txt ud sub/u.txt; }
make() {
	git init -q inner; cd inner; echo 0 > f.txt; git add .; git commit -qm inner; cd ..
	git init -q repo; cd repo
	mkdir sub
	for f in m s p k c z sub/m sub/s sub/p sub/k; do echo 0 > $f.txt; done
	printf '*.log\nbuild/\n' > .gitignore
	git -c protocol.file.allow=always submodule --quiet add ../inner sm
	git add .; git commit -qm one
	git branch side; git branch gone; git branch new-start
	git checkout -q gone; echo gone > gone.txt; git add .; git commit -qm gone
	git checkout -q side; echo 1 > k.txt; git commit -qam side
	git checkout -q -b over main; echo 1 > u.txt; echo 1 > i.log; git add -f u.txt i.log; git commit -qm over
	git checkout -q -b ign main; echo 1 > i.log; git add -f i.log; git commit -qm ign
	git checkout -q -b clash main; echo 1 > c.txt; git commit -qam clash; echo 1 > k.txt; git commit -qam clash2
	git checkout -q main; echo 2 > c.txt; git commit -qam two
	git branch -q ontop; git checkout -q ontop; echo 3 > sub/k.txt; git commit -qam ontop
	git checkout -q main; git branch --quiet ours; git branch --quiet fetched gone
	git clone -q --bare . ../up.git; git remote add origin ../up.git; git fetch -q; git branch -q -u origin/ontop
	echo T1 > z.txt; git add z.txt; echo T2 > z.txt; git stash -q
	git worktree add -q ../wt side
	(cd ../wt; echo M9 > m.txt; echo U9 > u.txt; echo I9 > i.log)
	git diff main side > ../side.diff
	git format-patch -q --stdout main~1..ontop -1 > ../ontop.mbox; git format-patch -q --stdout main..clash > ../clash.mbox
	git rev-parse gone > ../gone.tip; git rev-parse clash > ../clash.tip
	git branch -q -D fetched
	for dir in . sm ../up.git; do git -C $dir repack -adq --keep-unreachable; done # fewer files to copy
	rm -rf ../inner .git/logs/refs/remotes
	for dir in . sm; do git -C $dir config core.checkStat minimal; git -C $dir config core.trustctime false; done # of a copy, only times stay
	dirty
}
`

// scratchRepo makes the scratch directory once, and copies of it, one after the other, at the place where it
// was made.
type scratchRepo struct{ template, root string }

func newScratch(t *testing.T) scratchRepo {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := scratchRepo{template: filepath.Join(dir, "template"), root: filepath.Join(dir, "play")}
	if err := os.Mkdir(s.root, 0o700); err != nil {
		t.Fatal(err)
	}

	if out, err := inBash(s.root, scratch+"make"); err != nil {
		t.Fatalf("the scratch repository: %v\n%s", err, out)
	}

	for name, text := range aliases {
		if out, err := exec.Command("git", "-C", filepath.Join(s.root, "repo"), "config", "alias."+name, text).CombinedOutput(); err != nil {
			t.Fatalf("the alias %s: %v\n%s", name, err, out)
		}
	}

	if err := os.Rename(s.root, s.template); err != nil {
		t.Fatal(err)
	}
	return s
}

func inBash(dir, script string) (string, error) {
	c := exec.Command("bash", "-c", script)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0", "GIT_TEMPLATE_DIR=",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always")
	out, err := c.CombinedOutput()
	return string(out), err
}

// copy makes a directory to play in, and returns its repository. Of the last copy it keeps what is as it
// should be: making each file anew would take longer than all that git does.
func (s scratchRepo) copy(t *testing.T, setup string) string {
	if err := s.removeOthers(); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(s.template, s.copyOne); err != nil {
		t.Fatal(err)
	}

	repo := filepath.Join(s.root, "repo")
	if strings.Contains(setup, "clean") {
		setup = scratch + "set +e\n" + setup
	}
	if setup == "" {
		return repo
	}

	if out, err := inBash(repo, setup+"\ntrue"); err != nil {
		t.Fatalf("a copy: %v\n%s", err, out)
	}
	return repo
}

// removeOthers removes what the last copy has and the template hasn't.
func (s scratchRepo) removeOthers() error {
	if err := os.MkdirAll(s.root, 0o700); err != nil {
		return err
	}

	return filepath.WalkDir(s.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(s.template + strings.TrimPrefix(path, s.root))
		switch {
		case err == nil && info.Mode().Type() == d.Type():
			return nil
		case !d.IsDir():
			return os.Remove(path)
		}

		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return fs.SkipDir
	})
}

// copyOne copies a directory or a file of the template, unless it is there. Nothing is ever written to an
// object, so it is linked. Times stay, so that git needn't read all files again to know that its index holds.
func (s scratchRepo) copyOne(from string, d fs.DirEntry, err error) error {
	to := s.root + strings.TrimPrefix(from, s.template)
	switch {
	case err != nil:
		return err
	case d.IsDir():
		return os.MkdirAll(to, 0o700)

	case strings.Contains(from, "/objects/"):
		if pathExists(to) {
			return nil
		}
		return os.Link(from, to)
	}

	want, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := d.Info()
	if err != nil {
		return err
	}

	if has, err := os.Lstat(to); err == nil && has.ModTime().Equal(info.ModTime()) && has.Mode() == info.Mode() {
		if is, err := os.ReadFile(to); err == nil && bytes.Equal(is, want) {
			return nil
		}
	}

	if err := os.WriteFile(to, want, info.Mode()); err != nil {
		return err
	}
	return errors.Join(os.Chmod(to, info.Mode()), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// workOf returns the word of each piece of work, and the sort of it. What is in the file of a nested
// repository is that repository's, whatever git there calls it.
func workOf(word string) Work {
	if word[:1] == "R" {
		return Modified | Staged // how a conflict was resolved
	}

	for _, l := range letters {
		if word[:1] == l.letter {
			return l.work
		}
	}

	return 0
}

// state is what there is in a scratch directory.
type state struct {
	words map[string]string // where each word is; "index" if only there
	files map[string]string // the content of each file outside of .git
}

func lookAt(t *testing.T, repo string) state {
	root := filepath.Dir(repo)
	s := state{map[string]string{}, map[string]string{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "up.git"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}

		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s.files[path] = string(b)

		for _, line := range strings.Fields(string(b)) {
			if len(line) == 2 && strings.Contains("MSPUINTR", line[:1]) {
				s.words[line] = path
			}
		}

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	index, err := os.ReadFile(filepath.Join(repo, ".git", "index"))
	if err != nil {
		return s // the repository is gone
	}

	for _, sort := range "MSPTR" {
		for n := range 10 {
			word := fmt.Sprintf("%c%d", sort, n)
			sum := sha1.Sum(fmt.Appendf(nil, "blob 3\x00%s\n", word))
			if s.words[word] == "" && strings.Contains(string(index), string(sum[:])) {
				s.words[word] = "index"
			}
		}
	}

	s.refs(t, repo)
	return s
}

// refs notes the entries of the stash and the commits that only one branch names, as words.
func (s state) refs(t *testing.T, repo string) {
	git := filepath.Join(repo, ".git")
	if b, err := os.ReadFile(filepath.Join(git, "logs", "refs", "stash")); err == nil && len(b) > 0 {
		s.words["stash"] = "refs"
	}

	named := ""
	for _, dir := range []string{"refs", "packed-refs"} {
		err := filepath.WalkDir(filepath.Join(git, dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.Contains(path, "origin") {
				b, _ := os.ReadFile(path)
				named += string(b)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	for _, name := range []string{"gone", "clash"} {
		if b, err := os.ReadFile(filepath.Join(filepath.Dir(repo), name+".tip")); err == nil &&
			strings.Contains(named, strings.TrimSpace(string(b))) {
			s.words[name] = "refs"
		}
	}
}

// lost returns what was there before and isn't after, by the words and by sorts.
func lost(before, after state) (words []string, work Work) {
	for word := range before.words {
		switch _, kept := after.words[word]; {
		case kept:
		case word == "stash":
			if _, applied := after.words["T2"]; !applied {
				words, work = append(words, word), work|Stash
			} else if _, half := after.words["T1"]; !half {
				words, work = append(words, "T1"), work|Partly
			}

		case word == "gone" || word == "clash":
			words, work = append(words, word), work|Commits
		case word[:1] == "T":
		case word[:1] == "R": // a conflict that was resolved
			words, work = append(words, word), work|map[bool]Work{true: Staged, false: Modified}[before.words[word] == "index"]
		default:
			words, work = append(words, word), work|workOf(word)
		}
	}

	slices.Sort(words)
	return words, work
}

// top returns the root of the checkout around a directory.
func top(dir string) string {
	for ; !pathExists(filepath.Join(dir, ".git")) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
	}
	return dir
}

// covers reports whether paths of an act mean a file.
func covers(paths []string, file string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		return file == p || strings.HasPrefix(file, strings.TrimSuffix(p, "/")+"/")
	})
}

// play is a form of a command, what it is said to cost, and what of that can't be seen lost in the scratch
// repository: may names sorts that go in other ones, or says why.
type play struct {
	command string
	want    string // as showActs
	may     string // sorts that are said, but not lost here
	setup   string // what is done before
}

// TestAsGitDoes plays each form: what then is lost is just what was told before, and so is what changed. What
// is told of a form is compared with the table in every run, also where git doesn't play it.
func TestAsGitDoes(t *testing.T) {
	testenv.Alone(t)

	if len(forms) < 200 {
		t.Errorf("there are %d forms", len(forms))
	}
	s := newScratch(t)

	_, patchErr := exec.LookPath("patch") // which not every system has beside git
	seen := map[string]bool{}
	played := testenv.Some(t, testenv.Every, "forms of commands, of which only what is told is compared", forms, func(i int, f play) bool {
		first := !seen[f.setup]
		seen[f.setup] = true
		return (first || i%4 == 0) && (patchErr == nil || !strings.Contains(f.command, "patch -s"))
	})

	byState := map[string][]play{}
	for _, f := range played {
		byState[f.setup] = append(byState[f.setup], f)
	}

	for setup, played := range byState {
		repo := s.copy(t, setup)
		for _, f := range forms {
			if f.setup == setup {
				f.isTold(t, repo)
			}
		}

		fresh := true // nothing was played in the first copy so far
		for _, f := range played {
			t.Run(f.command, func(t *testing.T) {
				if !fresh {
					repo = s.copy(t, setup)
				}
				fresh = false
				f.plays(t, repo)
			})
		}
	}
}

// isTold compares what is said of a form with the table.
func (f play) isTold(t *testing.T, repo string) {
	t.Helper()
	c := Edits(f.command, repo, Env{Alias: testAliases})
	if got := showActs(c.Acts, repo); got != f.want {
		t.Errorf("%s\n  after %q\n  is   %s\n  want %s", f.command, f.setup, got, f.want)
	}
}

// plays compares what is said of a form with what git does in repo.
func (f play) plays(t *testing.T, repo string) {
	before := lookAt(t, repo)
	c := Edits(f.command, repo, Env{Alias: testAliases})
	out, err := inBash(repo, f.command)
	after := lookAt(t, repo)
	words, work := lost(before, after)

	said := Work(0)
	for i, a := range c.Acts {
		if a.Dir == repo+"/sm" { // its work is what the tests look for as nested
			c.Acts[i].Loses = Nested
		}
		said |= c.Acts[i].Loses
	}

	may := Work(0)
	for _, l := range letters {
		if strings.Contains(f.may, l.letter) {
			may |= l.work
		}
	}

	if work&may != 0 || work|may != said {
		t.Errorf("%s (%v)\n%s  loses %v: %s\n  said  %s, of which it may lose %s",
			f.command, err, out, words, showWork(work), showWork(said), f.may)
	}

	for _, word := range words {
		if file := before.words[word]; filepath.IsAbs(file) && !slices.ContainsFunc(c.Acts, func(a Act) bool {
			return a.Loses&workOf(word) != 0 &&
				(a.Paths == nil && covers([]string{top(a.Dir)}, file) || covers(a.Paths, file))
		}) {
			t.Errorf("%s loses %s, of which no act says so", f.command, file)
		}
	}

	for file, text := range before.files {
		if after.files[file] != text &&
			!covers(c.Paths, file) &&
			!slices.ContainsFunc(c.Trees, func(dir string) bool { return covers([]string{top(dir)}, file) }) &&
			filepath.Base(file) != ".gitmodules" { // which git rm of a submodule changes, too
			t.Errorf("%s changes %s without saying so", f.command, file)
		}
	}
}

func testAliases(_, name string) string { return aliases[name] }

var aliases = map[string]string{
	"undo": "reset --hard", "co": "checkout", "wipe": "!git clean -fd && git checkout .", "a": "b", "b": "a",
	"self":  "self",
	"quiet": "-c color.ui=never 'stash' push", "st": "status -sb", "at": "!rm -rf",
}
