package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/testenv"
)

// removers are commands after which there is no repository any more, and that say so.
var removers = []string{
	"rm -rf .git", "rm -rf ./.git/", "rm -rf .git/HEAD", "rm .git/HEAD", "rm -f .git/*",
	"rm -rf .git/objects", "cd .git && rm -rf *", "rm --recurs --force .git", "rm -rf .[!.]*",
	"rm -rf {build,.git}",
	"mv .git x", "mv .git{,.bak}", "mv .git/HEAD x", "mv .git/refs ..", "mv \"$PWD\" ../x",
	"mv -t build .git", "unlink .git/HEAD",
	"rm -rf \"$PWD\"", "rm -rf \"$(git rev-parse --show-toplevel)\"", "rm -rf \"$(git rev-parse --git-dir)\"",
	"cd build; rm -rf \"`git rev-parse --absolute-git-dir`\"",
	"cd build; rm -rf \"$(git rev-parse --git-common-dir)\"/refs",
	"rm -rf \"$(pwd)\"/.git", "d=\"$(git rev-parse --git-dir)\"; rm -rf \"$d\"", "D=.git; rm -rf $D",
	"for d in .git build; do rm -rf \"$d\"; done", "set -- .git; rm -rf \"$@\"",
	"for d in .*; do [ \"$d\" = .. ] || rm -rf $d/*; done",
	"shopt -s dotglob; rm -rf *", "shopt -s dotglob && mv * ..", "bash -O dotglob -c 'rm -rf ./*'",
	"(shopt -s dotglob; rm -rf -- *)", "shopt -s dotglob; for f in *; do rm -rf \"$f\"; done",
	"find .git -delete", "find . -delete", "find -delete", "find ./ -depth -delete",
	"find . -mindepth 1 -delete", "find .git -mindepth 1 -delete", "find \"$PWD\" -delete",
	"cd build; find .. -mindepth 1 -delete",
	"find . -type f -delete", "find . ! -name '*.go' -type f -delete", "find . -path './.git/*' -delete",
	"find . -type f -not -path './build/*' -exec rm {} +", "find . -ipath '*/.GIT/*' -type f -delete",
	"find . -exec rm -rf {} +", "find . -name .git -exec rm -rf {} \\;",
	"find . -type d -name '.g*' -exec rm -rf {} +", "find . -maxdepth 1 -mindepth 1 -exec rm -rf {} +",
	"find . -name .git -execdir rm -rf {} +",
	"find .. -maxdepth 2 -name .git -exec mv {} ../x \\;",
	"find . \\( -name build -o -name .git \\) -prune -exec rm -rf {} +",
	"find . -name x -o -name .git -exec rm -rf {} +", "find . -name '[.]git' -exec rm -rf {} +",
	"find . -name .git -exec sh -c 'rm -rf \"$1\"' _ {} \\;",
	"find . -name HEAD -path '*/.git/*' -exec rm -f '{}' ';'",
	"find . -name .git | xargs rm -rf", "find . -name .git -print0 | xargs -0 rm -rf",
	"find . -maxdepth 1 -name '.g*' -print0 | sort -z | xargs -0 -n 1 rm -rf",
	"find . -name .git | tr '\\n' '\\0' | xargs -0 -I X mv X ../x",
	"find . -name .git | while read -r d; do rm -rf \"$d\"; done",
	"for d in $(find . -name .git -type d); do rm -rf $d; done", "rm -rf $(find . -maxdepth 1 -name .git)",
	"ls -A | xargs rm -rf", "ls -a1 | sort | xargs rm -rf", "rm -rf $(ls -A)", "ls -d .g* | xargs rm -rf",
	"ls -A . | while read f; do rm -rf \"$f\"; done", "echo .git | xargs rm -rf",
	"printf '%s\\n' build .git | xargs rm -rf", "xargs rm -rf <<< .git",
	"rsync -a --delete ../empty/ ./", "rsync -r --delete-after --force ../empty/. .",
	"cd build && rsync -a --delete ../../empty/ ..", "tar cf ../x.tar --remove-files .git",
	"git config alias.bye '!rm -rf .git' && git bye", "bye() { rm -rf \"$1\"; }; bye .git",
}

// keepers are their neighbors, after which there is one, and of which nobody says otherwise.
var keepers = []string{
	"rm -rf build", "rm -rf $(pwd)/.git", "rm -rf *", "rm -rf ./* build/*", "rm .git", "rm -rf .gitignore",
	"rm -f .git/*.lock", "rm -rf .git/hooks .git/logs", "mv .gitignore x", "cd build && rm -rf *",
	"cd build; shopt -s dotglob; rm -rf *", "shopt -s dotglob; shopt -u dotglob; rm -rf *",
	"(shopt -s dotglob); rm -rf *",
	"D=.git; D=build; rm -rf $D", "D=.git; (D=build); rm -rf build", "D=.git rm -rf $D",
	"for d in .git build; do ls $d; done", "d=.git; cp -r $d ../x",
	"rm -rf \"$(git rev-parse --git-dir)/hooks\"", "ls -d .git",
	"find . -name '*.pyc' -delete", "find build -delete",
	"find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +", "find . -not -path './.git*' -delete",
	"find . -type f -not -path '*/.git/*' -exec rm {} +", "find . -name .git -prune -o -type f -exec rm {} +",
	"find . -path ./.git -prune -o -name '*.go' -print0 | xargs -0 rm", "find . -name .git",
	"find . -name .git -print | xargs ls", "find . -maxdepth 1 -type f -delete",
	"find . -mindepth 2 -maxdepth 2 -name '*.go' -delete", "find . \\( -name a -o -name b \\) -delete",
	"find . -false -delete",
	"find . -exec rm {} \\; -quit", "find . -maxdepth 1 -exec rm {} +", "find . -prune -delete",
	"find . -depth -name '*.o' -delete", "find . -type d -name node_modules -exec rm -rf {} +",
	"find . -newer .git/HEAD -type f -name '*.go' -exec rm {} +", "find . -mtime +3000 -delete",
	"find build -name .git -exec rm -rf {} +",
	"find . -name .git -exec ls {} + -o -name '*.go' -delete", "find . -name '*.go' | xargs rm",
	"find . | grep -v '\\.git' | xargs rm -rf", "find . -name .git | head -0 | xargs rm -rf",
	"ls | xargs rm -rf", "ls -A | grep -v git | xargs rm -rf", "ls -A | xargs rm -f", "ls -A | xargs ls",
	"ls -A build | xargs rm -rf", "cd build && ls -A | xargs rm -rf", "rm -rf $(ls)",
	"ls -A -I .git | xargs rm -rf", "echo build | xargs rm -rf", "echo .git | xargs ls",
	"rsync -a --delete ../empty/ build/", "rsync -a --delete --exclude .git ../empty/ ./",
	"rsync -an --delete ../empty/ ./", "rsync -a ../empty/ ./", "rsync -a --delete ../empty .",
	"rsync -a --delete ./ ../x/", "git clean -ffdxq", "git rm -rfq .", "git worktree remove . -f",
	"git worktree remove --force \"$PWD\"",
}

// TestRepositoryRemovals_InBash: of just those commands it is said that they remove the repository. Where
// bash runs them, there is none after these, and one after the others. The directory has a blank in its path.
func TestRepositoryRemovals_InBash(t *testing.T) {
	_, rsyncErr := exec.LookPath("rsync") // which not every system has
	dir := filepath.Join(scratchDir(t), "a b", "work")
	newRepository(t, dir)

	for removing, commands := range map[bool][]string{true: removers, false: keepers} {
		played := testenv.Some(t, testenv.Every, "commands, of which only what is said is compared", commands,
			func(i int, _ string) bool { return i%8 == 0 })
		for _, command := range commands {
			if said := saysRemoval(command, dir); said != removing {
				t.Errorf("%s: says %v", command, said)
			}

			if !slices.Contains(played, command) || rsyncErr != nil && strings.Contains(command, "rsync") {
				continue
			}
			out, err := inBash(dir, command)
			if isRepository(dir) == removing {
				t.Errorf("%s: is a repository: %v (%v) %s", command, !removing, err, out)
			}
			newRepository(t, dir)
		}
	}
}

// newRepository makes a repository with some files, as it was before the last command.
func newRepository(t *testing.T, dir string) {
	around := filepath.Dir(dir)
	if err := os.RemoveAll(around); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{
		"work/.git/HEAD", "work/.git/config", "work/.git/hooks/x", "work/.git/index.lock",
		"work/.git/objects/info/x", "work/.git/refs/heads/x",
		"work/main.go", "work/.gitignore", "work/build/main.go", "work/build/.hidden", "empty/x",
	} {
		path, text := filepath.Join(around, filepath.FromSlash(name)), ""
		if filepath.Base(path) == "HEAD" {
			text = "ref: refs/heads/main\n"
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.Remove(filepath.Join(around, "empty", "x")); err != nil {
		t.Fatal(err)
	}
}

// saysRemoval reports whether the analysis says of a command that it removes the repository in dir, or dir.
func saysRemoval(command, dir string) bool {
	isPart := func(path string) bool {
		return path == dir || isRepositoryPart(path) && strings.HasPrefix(path, dir+"/.git")
	}
	return slices.ContainsFunc(Edits(command, dir, Env{}).Acts, func(a Act) bool {
		return a.Kind == Removes && !a.Some && slices.ContainsFunc(a.Paths, isPart)
	})
}

func isRepository(dir string) bool {
	out, err := exec.Command("git", "-C", dir, "rev-parse", "--absolute-git-dir").Output()
	return err == nil && strings.TrimSpace(string(out)) == filepath.Join(dir, ".git")
}
