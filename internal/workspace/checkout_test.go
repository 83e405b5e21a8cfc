package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func gitAdd(t testing.TB, main, worktree string) {
	t.Helper()
	git(t, main, "worktree", "add", "-q", "--detach", worktree)
}

// TestResolveGit goes through the layouts that git makes. Every case also says that the root is its
// own root, or one repository would have two rooms.
func TestResolveGit(t *testing.T) {
	dir := tree(t)
	at := func(p string) string { return filepath.Join(dir, p) }

	main := repository(t, at("main"))
	gitAdd(t, main, at("linked"))
	gitAdd(t, main, at("main/worktrees/task"))
	write(t, dir, "main/sub/go.mod", "linked/new/dir/", "main/nest/")
	must(t, os.Symlink(at("main/nest"), at("main/new")))
	repository(t, at("main/nest/inner"))

	// A submodule, a worktree of it, and one whose sparse checkout has moved core.worktree.
	super := repository(t, at("super"))
	git(t, super, "submodule", "--quiet", "add", main, "lib")
	git(t, super, "submodule", "--quiet", "add", main, "sparse")
	gitAdd(t, at("super/lib"), at("lib-linked"))
	git(t, at("super/sparse"), "sparse-checkout", "set", "sub")
	gitAdd(t, at("super/sparse"), at("sparse-linked"))

	git(t, dir, "clone", "-q", "--bare", main, at("srv/project.git"))
	gitAdd(t, at("srv/project.git"), at("of-bare"))
	git(t, dir, "clone", "-q", "--bare", main, at("hub/.bare"))
	gitAdd(t, at("hub/.bare"), at("hub/feature"))
	git(t, dir, "clone", "-q", "--bare", main, at("store/.repo"))
	write(t, dir, "store/.git=gitdir: ./.repo\n")
	gitAdd(t, at("store/.repo"), at("store/feature"))
	git(t, dir, "clone", "-q", "--separate-git-dir", at("apart/git"), main, at("apart/tree"))
	gitAdd(t, at("apart/tree"), at("apart/linked"))

	// A clone can bring bare repositories, as plain files.
	git(t, dir, "clone", "-q", "--bare", main, at("main/testdata/repo.git"))
	git(t, dir, "clone", "-q", "--bare", main, at("main/testdata/hub/.bare"))

	tests := []struct {
		name, path, root, worktree string
		chain                      []string
	}{
		{"top", "main", "main", "", []string{"main"}},
		{"below, past a marker", "main/sub/deep", "main", "", []string{"main/sub/deep", "main/sub", "main"}},
		{"inside of .git", "main/.git/hooks", "main", "", []string{"main/.git/hooks", "main/.git", "main"}},
		{
			"a worktree's record",
			"main/.git/worktrees/linked",
			"main",
			"",
			[]string{"main/.git/worktrees/linked", "main/.git/worktrees", "main/.git", "main"},
		},
		{
			"repository in a repository",
			"main/nest/inner/sub",
			"main/nest/inner",
			"",
			[]string{"main/nest/inner/sub", "main/nest/inner"},
		},
		{"linked worktree", "linked", "main", "linked", []string{"main"}},
		{"linked worktree, below", "linked/sub/deep", "main", "linked", []string{"main/sub/deep", "main/sub", "main"}},
		{"linked worktree, not in main", "linked/new/dir", "main", "linked", []string{"main"}},
		{
			"linked worktree in main",
			"main/worktrees/task/sub",
			"main",
			"main/worktrees/task",
			[]string{"main/sub", "main"},
		},
		{"submodule", "super/lib/sub", "super/lib", "", []string{"super/lib/sub", "super/lib"}},
		{"submodule's git directory", "super/.git/modules/lib", "super/lib", "", []string{"super/lib"}},
		{
			"worktree of a submodule",
			"lib-linked/sub",
			"super/lib",
			"lib-linked",
			[]string{"super/lib/sub", "super/lib"},
		},
		{"worktree of a sparse submodule", "sparse-linked", "super/sparse", "sparse-linked", []string{"super/sparse"}},
		{"bare", "srv/project.git", "srv/project.git", "", []string{"srv/project.git"}},
		{
			"inside of bare",
			"srv/project.git/hooks",
			"srv/project.git",
			"",
			[]string{"srv/project.git/hooks", "srv/project.git"},
		},
		{"worktree of bare", "of-bare/sub", "srv/project.git", "of-bare", []string{"srv/project.git"}},
		{
			"a bare one inside a checkout",
			"main/testdata/repo.git",
			"main",
			"",
			[]string{"main/testdata/repo.git", "main/testdata", "main"},
		},
		{"inside of that", "main/testdata/repo.git/hooks", "main", "", []string{
			"main/testdata/repo.git/hooks", "main/testdata/repo.git", "main/testdata", "main",
		}},
		{
			"beside a .bare inside a checkout",
			"main/testdata/hub",
			"main",
			"",
			[]string{"main/testdata/hub", "main/testdata", "main"},
		},
		{"around .bare", "hub", "hub", "", []string{"hub"}},
		{"inside of .bare", "hub/.bare", "hub", "", []string{"hub/.bare", "hub"}},
		{"worktree of .bare", "hub/feature/sub", "hub", "hub/feature", []string{"hub"}},
		{"beside a hidden bare one", "store", "store", "", []string{"store"}},
		{"worktree of a hidden bare one", "store/feature/sub", "store", "store/feature", []string{"store"}},
		{"separate git directory", "apart/tree/sub", "apart/tree", "", []string{"apart/tree/sub", "apart/tree"}},
		{"worktree of a separate git directory", "apart/linked", "apart/git", "apart/linked", []string{"apart/git"}},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := Place{Path: at(tt.path), Root: at(tt.root), Found: FoundGit}
			if tt.worktree != "" {
				want.Worktree = at(tt.worktree)
			}
			for _, c := range tt.chain {
				want.Chain = append(want.Chain, at(c))
			}
			if diff := cmp.Diff(want, resolve(t, at(tt.path), Env{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if again := resolve(t, want.Root, Env{}).Root; again != want.Root {
				t.Errorf("the root %s has the root %s", want.Root, again)
			}
		})
	}

	t.Run("settings in the home directory", func(t *testing.T) {
		for _, path := range []string{"main/testdata/repo.git", "main/testdata/hub"} {
			if p := resolve(t, at(path), Env{Home: main}); p.Root != at(path) {
				t.Errorf("%s has the root %s", path, p.Root)
			}
		}

		if p := resolve(t, at("main/sub"), Env{Home: main}); p.Root != main {
			t.Errorf("the root is %s", p.Root)
		}
	})

	t.Run("agrees with git", func(t *testing.T) {
		for _, path := range []string{
			"main/sub", "linked/sub", "main/worktrees/task", "super/lib/sub", "lib-linked", "of-bare",
			"hub/feature/sub", "apart/tree/sub",
		} {
			p := resolve(t, at(path), Env{})
			top := p.Worktree
			if top == "" {
				top = p.Root
			}
			if want := git(t, at(path), "rev-parse", "--show-toplevel"); top != want {
				t.Errorf("%s: got %s, git says %s", path, top, want)
			}
		}
	})

	t.Run("Worktrees", func(t *testing.T) {
		for root, want := range map[string][]string{
			"main":            {"linked", "main/worktrees/task"},
			"linked":          {"linked", "main/worktrees/task"},
			"super":           nil,
			"super/lib":       {"lib-linked"},
			"srv/project.git": {"of-bare"},
			"hub":             {"hub/feature"},
			"store":           {"store/feature"},
			"apart/tree":      {"apart/linked"},
			"apart":           nil,
		} {
			for i := range want {
				want[i] = at(want[i])
			}
			if diff := cmp.Diff(want, Worktrees(at(root))); diff != "" {
				t.Errorf("%s (-want +got)\n%s", root, diff)
			}
		}
	})

	t.Run("relative records", func(t *testing.T) {
		// As git worktree add --relative-paths writes them.
		write(t, dir, "linked/.git=gitdir: ../main/.git/worktrees/linked\n",
			"main/.git/worktrees/linked/gitdir=../../../../linked/.git\n")
		if p := resolve(t, at("linked/sub"), Env{}); p.Root != main || p.Worktree != at("linked") {
			t.Errorf("got %+v", p)
		}
		if got := Worktrees(main); len(got) != 2 || got[0] != at("linked") {
			t.Errorf("got %v", got)
		}
	})

	t.Run("worktree that was removed under an agent", func(t *testing.T) {
		git(t, main, "worktree", "remove", "--force", at("main/worktrees/task"))
		p, err := ResolveGone(at("main/worktrees/task/sub"), Env{})
		if err != nil || p.Root != main {
			t.Errorf("got %+v, %v, want root %s", p, err, main)
		}
		if got := Worktrees(main); len(got) != 1 {
			t.Errorf("got %v, want only the linked one", got)
		}
	})
}

// TestResolveDamaged shows that a damaged checkout is never taken for a part of the one around it.
func TestResolveDamaged(t *testing.T) {
	dir := tree(t)
	at := func(p string) string { return filepath.Join(dir, p) }
	main := repository(t, at("main"))

	for name, content := range map[string]string{
		"empty file":      "wt/.git=",
		"empty directory": "wt/.git/",
		"no git file":     "wt/.git=hello\n",
		"leads nowhere":   "wt/.git=gitdir: /does/not/exist\n",
		"leads to a file": "wt/.git=gitdir: ../sub/deep/file.txt\n",
		"no path":         "wt/.git=gitdir: \n",
		"NUL in the path": "wt/.git=gitdir: /a\x00b\n",
	} {
		t.Run(name, func(t *testing.T) {
			defer os.RemoveAll(at("main/wt"))
			write(t, main, content, "wt/src/")
			if p := resolve(t, at("main/wt/src"), Env{}); p.Root != at("main/wt") || p.Found != FoundGit {
				t.Errorf("got %+v, want the root %s", p, at("main/wt"))
			}
		})
	}

	t.Run("link to nowhere", func(t *testing.T) {
		defer os.RemoveAll(at("main/wt"))
		write(t, main, "wt/src/")
		must(t, os.Symlink("nowhere", at("main/wt/.git")))
		if p := resolve(t, at("main/wt/src"), Env{}); p.Root != at("main/wt") {
			t.Errorf("got %+v, want the root %s", p, at("main/wt"))
		}
	})

	t.Run("link to a git directory", func(t *testing.T) {
		write(t, dir, "alias/src/")
		must(t, os.Symlink(at("main/.git"), at("alias/.git")))
		if p := resolve(t, at("alias/src"), Env{}); p.Root != at("alias") {
			t.Errorf("got %+v, want the root %s", p, at("alias"))
		}
	})

	t.Run("common directory is gone", func(t *testing.T) {
		write(t, dir, "old/record/commondir=../nowhere\n", "old/wt/.git=gitdir: ../record\n")
		if p := resolve(t, at("old/wt"), Env{}); p.Root != at("old/wt") || p.Worktree != "" {
			t.Errorf("got %+v, want the root %s", p, at("old/wt"))
		}
	})

	t.Run("worktree without its .git file", func(t *testing.T) {
		gitAdd(t, main, at("main/worktrees/task"))
		must(t, os.Remove(at("main/worktrees/task/.git")))
		want := Place{
			Path: at("main/worktrees/task/sub"), Root: main, Found: FoundGit,
			Worktree: at("main/worktrees/task"), Chain: []string{at("main/sub"), main},
		}
		if diff := cmp.Diff(want, resolve(t, at("main/worktrees/task/sub"), Env{})); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestResolveGitEnvironment(t *testing.T) {
	dir := tree(t)
	at := func(p string) string { return filepath.Join(dir, p) }
	main := repository(t, at("home/main"))
	gitAdd(t, main, at("home/linked"))
	write(t, dir, append(gitDirFiles("home/.dotfiles"), "home/.config/editor/", "elsewhere/")...)
	home := at("home")

	tests := []struct {
		name, path string
		env        Env
		root, top  string
	}{
		{"in a hook", "home/main/sub", Env{GitDir: ".git", Dir: main}, "home/main", ""},
		{
			"in a hook of a worktree",
			"home/linked/sub",
			Env{GitDir: at("home/main/.git/worktrees/linked")},
			"home/main",
			"home/linked",
		},
		{"as a .git file", "home/linked/sub", Env{GitDir: at("home/linked/.git")}, "home/main", "home/linked"},
		{"another path than the hook's", "elsewhere", Env{GitDir: at("home/main/.git")}, "elsewhere", ""},
		{"no repository", "home/main/sub", Env{GitDir: at("elsewhere")}, "home/main", ""},
		{"doesn't exist", "home/main/sub", Env{GitDir: at("nowhere")}, "home/main", ""},
		{"dotfiles", "home/.config/editor", Env{GitDir: at("home/.dotfiles"), GitWorkTree: home}, "home", ""},
		{
			"dotfiles before a nested repository",
			"home/main/sub",
			Env{GitDir: at("home/.dotfiles"), GitWorkTree: home},
			"home",
			"",
		},
		{
			"dotfiles without their tree",
			"home/.config/editor",
			Env{GitDir: at("home/.dotfiles")},
			"home/.config/editor",
			"",
		},
		{"tree without a repository", "home/.config/editor", Env{GitWorkTree: home}, "home/.config/editor", ""},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := resolve(t, at(tt.path), tt.env)
			top := strings.TrimPrefix(strings.TrimPrefix(got.Worktree, dir), "/")
			if got.Root != at(tt.root) || top != tt.top {
				t.Errorf("got root %s and worktree %q, want %s and %q", got.Root, got.Worktree, at(tt.root), tt.top)
			}
		})
	}

	t.Run("repository in the home directory", func(t *testing.T) {
		git(t, home, "init", "-q")
		if p := resolve(t, at("home/.config/editor"), Env{Home: home}); p.Root != home || p.Found != FoundGit {
			t.Errorf("got %+v, want the root %s", p, home)
		}
	})
}
