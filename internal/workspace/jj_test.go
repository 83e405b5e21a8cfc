package workspace

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJJ: all workspaces of a jj repository have one root, that of the main one. Git decides where there is a
// .git.
func TestJJ(t *testing.T) {
	dir := tree(t)
	at := func(p string) string { return filepath.Join(dir, p) }
	repository(t, at("main"))
	write(t,
		dir, "main/.jj/repo/store/", "main/sub/deep/", "two/.jj/repo="+at("main/.jj/repo"), "two/sub/new/",
		"beside/.jj/repo=../../main/.jj/repo", "main/trees/three/.jj/repo=../../../../main/.jj/repo",
		"main/trees/three/sub/")
	gitAdd(t, at("main"), at("linked"))
	write(t, dir, "linked/.jj/repo="+at("main/.jj/repo"), "linked/sub/")

	write(t, dir, "alone/.jj/repo/store/", "alone/sub/go.mod", "of-alone/.jj/repo="+at("alone/.jj/repo"),
		"lost/.jj/repo="+at("gone/.jj/repo"), "lost/sub/", "empty/.jj/", "odd/.jj/repo="+at("main/sub"))
	write(t, dir, "main/testdata/own/.jj/repo/store/", "main/testdata/other/.jj/repo="+at("alone/.jj/repo"),
		"main/testdata/lost/.jj/repo=nowhere")

	repository(t, at("tool"))
	gitAdd(t, at("tool"), at("tool-linked"))
	write(t, dir, "tool-linked/.jj/repo/store/", "tool-two/.jj/repo="+at("tool-linked/.jj/repo"))

	for _, c := range []struct {
		name, path string
		want       Place
	}{
		{
			"the main one, beside git",
			"main/sub",
			Place{Root: "main", Found: FoundGit, Chain: []string{"main/sub", "main"}},
		},
		{
			"a second one",
			"two",
			Place{Root: "main", Found: FoundGit, Worktree: "two", WithoutGit: true, Chain: []string{"main"}},
		},
		{
			"below",
			"two/sub/new",
			Place{
				Root: "main", Found: FoundGit, Worktree: "two", WithoutGit: true,
				Chain: []string{"main/sub", "main"},
			},
		},
		{
			"by a relative path",
			"beside",
			Place{Root: "main", Found: FoundGit, Worktree: "beside", WithoutGit: true, Chain: []string{"main"}},
		},
		{
			"in the main one",
			"main/trees/three/sub",
			Place{
				Root: "main", Found: FoundGit, Worktree: "main/trees/three", WithoutGit: true,
				Chain: []string{"main/sub", "main"},
			},
		},
		{
			"beside git",
			"linked/sub",
			Place{Root: "main", Found: FoundGit, Worktree: "linked", Chain: []string{"main/sub", "main"}},
		},
		{
			"without git, past a marker",
			"alone/sub",
			Place{Root: "alone", Found: FoundJJ, WithoutGit: true, Chain: []string{"alone/sub", "alone"}},
		},
		{
			"a second one without git",
			"of-alone",
			Place{Root: "alone", Found: FoundJJ, Worktree: "of-alone", WithoutGit: true, Chain: []string{"alone"}},
		},
		{
			"of a repository that is gone",
			"lost/sub",
			Place{
				Root: "lost", Found: FoundJJ, WithoutGit: true,
				Lost:  Pointer{filepath.Join(".jj", "repo"), at("gone/.jj/repo")},
				Chain: []string{"lost/sub", "lost"},
			},
		},
		{
			"of what isn't a repository",
			"odd",
			Place{
				Root: "odd", Found: FoundJJ, WithoutGit: true,
				Lost: Pointer{filepath.Join(".jj", "repo"), at("main/sub")}, Chain: []string{"odd"},
			},
		},
		{
			"of a linked worktree",
			"tool-two",
			Place{Root: "tool", Found: FoundGit, Worktree: "tool-two", WithoutGit: true, Chain: []string{"tool"}},
		},
		{
			"one that a checkout brought",
			"main/testdata/own",
			Place{Root: "main", Found: FoundGit, Chain: []string{"main/testdata/own", "main/testdata", "main"}},
		},
		{
			"of another repository in a checkout",
			"main/testdata/other",
			Place{Root: "main", Found: FoundGit, Chain: []string{"main/testdata/other", "main/testdata", "main"}},
		},
		{
			"lost in a checkout",
			"main/testdata/lost",
			Place{Root: "main", Found: FoundGit, Chain: []string{"main/testdata/lost", "main/testdata", "main"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Path, c.want.Root = at(c.path), at(c.want.Root)
			if c.want.Worktree != "" {
				c.want.Worktree = at(c.want.Worktree)
			}
			for i := range c.want.Chain {
				c.want.Chain[i] = at(c.want.Chain[i])
			}
			if diff := cmp.Diff(c.want, resolve(t, at(c.path), Env{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if again := resolve(t, c.want.Root, Env{}).Root; again != c.want.Root {
				t.Errorf("the root %s has the root %s", c.want.Root, again)
			}
			if _, ok := FindCheckout(at(c.path), Env{}); ok == c.want.WithoutGit {
				t.Errorf("FindCheckout finds one: %v", ok)
			}
		})
	}

	if p := resolve(t, at("empty"), Env{}); p.Found != FoundPath {
		t.Errorf("a .jj without a repository: %+v", p)
	}
	repository(t, dir) // of the settings in a home directory
	if p := resolve(t, at("of-alone"), Env{Home: dir}); p.Root != at("alone") {
		t.Errorf("below a home directory with git: %+v", p)
	}
}
