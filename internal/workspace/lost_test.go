package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/stick"
)

// TestPlace_CheckRepository_RenamedMain: after the main checkout was renamed, the step for a worktree in it names
// both.
func TestPlace_CheckRepository_RenamedMain(t *testing.T) {
	dir := tree(t)
	main := repository(t, filepath.Join(dir, "main"))
	gitAdd(t, main, filepath.Join(main, "worktrees", "t1"))
	renamed := filepath.Join(dir, "renamed")
	must(t, os.Rename(main, renamed))

	worktree := filepath.Join(renamed, "worktrees", "t1")
	err := resolve(t, worktree, Env{}).CheckRepository()
	if want := "git -C " + renamed + " worktree repair " + worktree; !strings.Contains(fmt.Sprint(stick.AsError(err).Hint), want) {
		t.Errorf("the step is %q, want %q", stick.AsError(err).Hint, want)
	}
}

// TestPlace_CheckRepository goes through the checkouts whose repository can't be found from where they are,
// and through those that only look like them.
func TestPlace_CheckRepository(t *testing.T) {
	dir := tree(t)
	at := func(p string) string { return filepath.Join(dir, p) }
	main := repository(t, at("main"))
	gitAdd(t, main, at("linked"))
	super := repository(t, at("super"))
	git(t, super, "submodule", "--quiet", "add", main, "lib")

	write(t, dir, "mounted/.git=gitdir: /nonexistent/repo/.git/worktrees/mounted\n", "mounted/src/",
		"relative/.git=gitdir: ../gone/.git/worktrees/relative\n")
	write(t, dir, "record/commondir=../gone\n", "half/.git=gitdir: ../record\n", "garbled/.git=hello\n",
		"void/.git=", "to-file/.git=gitdir: ../void/.git\n")
	write(t, dir, "jj-lost/.jj/repo=/nonexistent/.jj/repo", "jj-odd/.jj/repo=../../main/sub", "masked/.git/",
		"plain/src/")
	for _, name := range []string{"dangling", "device"} {
		write(t, dir, name+"/src/")
	}
	must(t, os.Symlink("../gone", at("dangling/.git")))
	must(t, os.Symlink(os.DevNull, at("device/.git")))

	lost := func(file, target string) Pointer { return Pointer{File: filepath.FromSlash(file), Target: target} }
	for _, c := range []struct {
		name, path string
		want       Pointer
	}{
		{"a worktree that is mounted alone", "mounted/src", lost(".git", "/nonexistent/repo/.git/worktrees/mounted")},
		{"by a relative path", "relative", lost(".git", at("gone/.git/worktrees/relative"))},
		{"the repository of a worktree's record", "half", lost(".git", at("gone"))},
		{"a link", "dangling/src", lost(".git", at("gone"))},
		{"a file for a directory", "to-file", lost(".git", at("void/.git"))},
		{"no path", "garbled", lost(".git", "")},
		{"nothing", "void", lost(".git", "")},
		{"of jj", "jj-lost", lost(".jj/repo", "/nonexistent/.jj/repo")},
		{"of jj, elsewhere", "jj-odd", lost(".jj/repo", at("main/sub"))},

		{"a checkout", "main/sub", Pointer{}},
		{"a worktree", "linked/sub", Pointer{}},
		{"a submodule", "super/lib/sub", Pointer{}},
		{"an empty directory, as sandboxes put it over .git", "masked", Pointer{}},
		{"a device, as sandboxes put it over .git", "device/src", Pointer{}},
		{"no git", "plain/src", Pointer{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := resolve(t, at(c.path), Env{})
			if diff := cmp.Diff(c.want, p.Lost); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}

			err := p.CheckRepository()
			if want := c.want != (Pointer{}); (stick.CodeOf(err) == stick.CodeRepositoryMissing) != want ||
				(err != nil) != want {
				t.Errorf("the error is %v", err)
			}
			if again := CheckRepository(at(c.path), Env{}); fmt.Sprint(again) != fmt.Sprint(err) {
				t.Errorf("by the path: %v, by the place: %v", again, err)
			}
			if err != nil && !strings.Contains(err.Error(), p.Lost.Target) {
				t.Errorf("%v doesn't name %s", err, p.Lost.Target)
			}
		})
	}

	if err := CheckRepository(at("nowhere"), Env{}); err != nil {
		t.Errorf("a path that isn't there: %v", err)
	}
}
