package shell

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKnownExpansions: what names the directory of the shell, its home, the one before or the top level of
// the checkout is read.
func TestKnownExpansions(t *testing.T) {
	check(t, []row{
		{"rm $PWD/a.go \"${PWD}/b.go\" `pwd`/sub/c.go; cd sub; rm \"$(pwd)\"/d.txt", "a.go b.go sub/c.go sub/d.txt"},
		{"rm \"$PWD\"/*.go", "a.go b.go"},
		{"cd \"$PWD/sub\" && rm c.go", "sub/c.go"},
		{
			"echo x > ~/a; echo x > $HOME/b; echo x > \"${HOME}\"/c; cp a.go ~/'d e'",
			"/home/ann/a /home/ann/b /home/ann/c /home/ann/d e",
		},
		{"rm ~+/a.go; cd sub; rm ~-/b.go $OLDPWD/README.md", "a.go b.go README.md"},
		{"cd ~ && rm a; cd ~/x; rm b; cd; rm c", "/home/ann/a /home/ann/x/b /home/ann/c"},
		{"cd sub && cd - && rm a.go; cd -; rm c.go", "a.go sub/c.go"},
		{"cd sub; (cd ../app; cd -; rm c.go); cd -; rm a.go", "sub/c.go a.go"},
		{"cd -; rm a.go", ""},
		{"cd $x; cd -; rm a.go", "a.go"},
		{"if x; then cd sub; fi; cd -; rm a.go", ""},
		{"HOME=/root; rm ~/a; HOME=$x; rm ~/b", "/root/a"},
		{"HOME=/root rm ~/a; rm ~/b", "/home/ann/a /home/ann/b"},
		{"rm ~\"/a\" ~$x/a \"~/a\" \\~/b ~ann/c", "~/a ~/b"},
		{
			"rm ${PWD%/*}/x ${PWD:-/tmp}/x ${#PWD} ${!PWD} ${PWD[0]}/x $(pwd; ls)/x $(cd -)/x $(cat f)/x $(! pwd)/x $(pwd > f)/x",
			"f",
		},
		{"rm $(cd sub && pwd)/c.go \"$(cd .. 2> /dev/null && cd - && pwd)\"/x", "sub/c.go"},
		// it isn't in a checkout
		{"rm $(git rev-parse --show-toplevel)/a.go $(git rev-parse --git-dir)/x $(git rev-parse --show-toplevel)", ""},
	})
}

// checkoutDir is scratchDir with what makes it a checkout for those who read files, and one inside of it.
func checkoutDir(t *testing.T) string {
	dir := scratchDir(t)
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/objects/info": "", ".git/refs/heads/main": "x",
		"app/inner/x y/.git": "gitdir: ../../../.git\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	return dir
}

// TestNothingToEnd: a command that ends a merge, or one like it, costs nothing where none is in progress. It
// isn't said to only read, because after it has run there is none either.
func TestNothingToEnd(t *testing.T) {
	dir := checkoutDir(t)
	for command, want := range map[string]string{
		"git merge --abort; cd sub; git rebase --skip 2> /dev/null || git am --abort; git revert --continue": "",
		"make; git merge --abort":             "takes MSI",
		"git merge x || git merge --abort":    "moves I; takes MSI",
		"git merge --abort; git reset --hard": "takes MSP",
		"cd $x; git -C " + dir + " rebase --abort; cd /; git -C " + dir + " -c core.editor=x rebase --abort": "takes MSPUI",
		"git --work-tree=sub merge --abort": "takes MSI in sub sub/",
		"git rebase main":                   "moves I",
	} {
		c := Edits(command, dir, Env{})
		if got := showActs(c.Acts, dir); got != want || c.Reads {
			t.Errorf("%s: %s, reads: %v", command, got, c.Reads)
		}
	}

	if err := os.WriteFile(filepath.Join(dir, ".git", "MERGE_HEAD"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := showActs(Edits("git rebase --abort; git merge --abort", dir, Env{}).Acts, dir); got != "takes MSI" {
		t.Error(got)
	}
}

// TestTheTopLevel: a command may ask git for it, and go there.
func TestTheTopLevel(t *testing.T) {
	dir := checkoutDir(t)
	for command, want := range map[string]string{
		"cd sub; cd \"$(git rev-parse --show-toplevel)\" && git reset --hard":                                "takes MSP",
		"cd sub; cd `git rev-parse --show-toplevel`; rm a.go":                                                "takes MUI a.go",
		"git -C \"$(git -C sub rev-parse --show-toplevel)\" checkout .":                                      "takes M ./",
		"cd sub; cd $(git rev-parse --show-toplevel 2>/dev/null || pwd) && git clean -fd":                    "takes U",
		"rm \"$(git rev-parse --show-toplevel || echo x)\"/sub/c.go":                                         "takes MUI sub/c.go",
		"cd /; rm \"$(git -C " + dir + "/sub rev-parse --show-toplevel)\"/a.go":                              "takes MUI in / a.go",
		"git --work-tree=" + dir + "/sub -C \"$(git --work-tree=sub rev-parse --show-toplevel)\" checkout .": "takes M in sub sub/",
		// the shell splits it
		"cd app/inner/x*; cd $(git rev-parse --show-toplevel) && git reset --hard":                "",
		"mkdir -p new/x && cd new/x && cd \"$(git rev-parse --show-toplevel)\" && git checkout .": "takes M ./",
		"cd $(git rev-parse --show-cdup) && git reset --hard":                                     "",
		"cd $(git rev-parse --show-toplevel --git-dir) && git reset --hard":                       "",
		"cd $(git log --show-toplevel) && git reset --hard":                                       "",
		"cd $(GIT_DIR=/x git rev-parse --show-toplevel) && git reset --hard":                      "",
	} {
		if got := showActs(Edits(command, dir, Env{}).Acts, dir); got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
}
