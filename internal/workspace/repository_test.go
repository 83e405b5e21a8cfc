package workspace

import (
	"path/filepath"
	"slices"
	"testing"
)

// A repository is found from any of its checkouts, with the main one that all share.
func TestFindRepository(t *testing.T) {
	dir := tree(t)
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	git(t, dir, "init", "-q", "-b", "main", "app")
	git(t, at("app"), "commit", "-q", "--allow-empty", "-m", "one")
	git(t, at("app"), "worktree", "add", "-q", "../fix")
	git(t, dir, "clone", "-q", "--bare", "app", "bare.git")
	git(t, dir, "clone", "-q", "--bare", "app", "hub/.bare")
	git(t, at("hub", ".bare"), "worktree", "add", "-q", "../one")
	git(t, at("app"), "submodule", "--quiet", "add", at("app"), "lib")
	git(t, dir, "init", "-q", "--separate-git-dir", at("apart.git"), "apart")
	git(t, at("apart"), "commit", "-q", "--allow-empty", "-m", "one")
	git(t, at("apart"), "worktree", "add", "-q", "../off")
	write(t, dir, "app/deep/er/", "plain/", "lost/.git=gitdir: nowhere\n")

	for from, want := range map[string]Repository{
		"app":         {at("app"), at("app", ".git")},
		"app/deep/er": {at("app"), at("app", ".git")},
		"app/.git":    {at("app"), at("app", ".git")},
		"fix":         {at("app"), at("app", ".git")},
		"bare.git":    {"", at("bare.git")},
		"hub":         {"", at("hub", ".bare")},
		"hub/one":     {"", at("hub", ".bare")},
		"app/lib":     {at("app", "lib"), at("app", ".git", "modules", "lib")},
		"apart":       {at("apart"), at("apart.git")},
		"off":         {"", at("apart.git")}, // git doesn't keep where the main checkout is
		"plain":       {},
		"lost":        {},
	} {
		if got, ok := FindRepository(from, Env{Dir: dir}); got != want || ok != (want != Repository{}) {
			t.Errorf("%s: %+v %v", from, got, ok)
		}
	}
}

// GIT_DIR, as git sets it for hooks or somebody did by hand, says which repository it is.
func TestRepositoryOfGitDir(t *testing.T) {
	dir := tree(t)
	git(t, dir, "init", "-q", "-b", "main", "app")
	git(t, filepath.Join(dir, "app"), "commit", "-q", "--allow-empty", "-m", "one")
	git(t, filepath.Join(dir, "app"), "worktree", "add", "-q", "../fix")
	git(t, dir, "init", "-q", "--separate-git-dir", filepath.Join(dir, "apart.git"), "apart")
	write(t, dir, "plain/")

	app := Repository{filepath.Join(dir, "app"), filepath.Join(dir, "app", ".git")}
	for _, c := range []struct {
		in  string
		env Env
		Repository
	}{
		{"plain", Env{GitDir: app.Git, GitWorkTree: filepath.Join(dir, "plain")}, app},
		{"app", Env{GitDir: ".git"}, app},
		{"app/.git", Env{GitDir: "."}, app},
		{"fix", Env{GitDir: filepath.Join(app.Git, "worktrees", "fix")}, app},
		{"fix", Env{GitDir: ".git"}, app}, // a file
		{
			"apart",
			Env{GitDir: filepath.Join(dir, "apart.git")},
			Repository{filepath.Join(dir, "apart"), filepath.Join(dir, "apart.git")},
		},
		{"app", Env{GitDir: filepath.Join(dir, "nowhere")}, Repository{}},
	} {
		c.env.Dir = filepath.Join(dir, c.in)
		if got, _ := FindRepository(".", c.env); got != c.Repository {
			t.Errorf("in %s with %s: %+v", c.in, c.env.GitDir, got)
		}
	}
}

// The branch that is checked out counts, and one that is being rebased, although HEAD is detached then.
func TestCheckedOut(t *testing.T) {
	const one, two = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	for _, c := range []struct {
		name  string
		files []string
		want  []string
		orig  string
	}{
		{"a branch", []string{"HEAD=ref: refs/heads/feat/x\n", "ORIG_HEAD=" + two}, []string{"refs/heads/feat/x"}, ""},
		{"detached", []string{"HEAD=" + one + "\n", "ORIG_HEAD=" + two}, nil, ""},
		{
			"a rebase",
			[]string{"HEAD=" + one + "\n", "rebase-merge/head-name=refs/heads/x\n"},
			[]string{"refs/heads/x"},
			"",
		},
		{
			"patches",
			[]string{"HEAD=" + one + "\n", "rebase-apply/head-name=refs/heads/x\n", "ORIG_HEAD=" + two},
			[]string{"refs/heads/x"},
			"",
		},
		{
			"patches so far without a conflict",
			[]string{"HEAD=" + one + "\n", "rebase-apply/rebasing=", "ORIG_HEAD=" + two + "\n"},
			nil,
			two,
		},
		{
			"a rebase of nothing",
			[]string{"HEAD=ref: refs/heads/x\n", "rebase-merge/head-name=detached HEAD\n"},
			[]string{"refs/heads/x"},
			"",
		},
		{
			"twice",
			[]string{"HEAD=ref: refs/heads/x\n", "rebase-merge/head-name=refs/heads/x\n"},
			[]string{"refs/heads/x"},
			"",
		},
		{"none", nil, nil, ""},
	} {
		dir := tree(t)
		write(t, dir, c.files...)
		if got, orig := (Repository{Top: dir, Git: dir}).CheckedOut(); !slices.Equal(got, c.want) || orig != c.orig {
			t.Errorf("%s: %q %q", c.name, got, orig)
		}
		if got, orig := (Repository{Git: dir}).CheckedOut(); got != nil || orig != "" {
			t.Errorf("%s, bare: %q %q", c.name, got, orig)
		}
	}
}

// A checkout is found with the git directory that is its own, and the one that it shares.
func TestFindCheckout(t *testing.T) {
	dir := tree(t)
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	git(t, dir, "init", "-q", "-b", "main", "app")
	git(t, at("app"), "commit", "-q", "--allow-empty", "-m", "one")
	git(t, at("app"), "worktree", "add", "-q", "../fix")
	git(t, at("app"), "submodule", "--quiet", "add", at("app"), "lib")
	git(t, dir, "clone", "-q", "--bare", "app", "bare.git")
	git(t, dir, "init", "-q", "--separate-git-dir", at("apart.git"), "apart")
	write(t, dir, "app/deep/er/", "plain/", "lost/.git=gitdir: nowhere\n")

	app, apart := at("app", ".git"), at("apart.git")
	for _, c := range []struct {
		from, gitDir, workTree string
		want                   Checkout
	}{
		{from: "app", want: Checkout{Top: at("app"), Git: app, Common: app}},
		{from: "app/deep/er", want: Checkout{Top: at("app"), Git: app, Common: app}},
		{from: "fix", want: Checkout{Top: at("fix"), Git: filepath.Join(app, "worktrees", "fix"), Common: app}},
		{
			from: "app/lib",
			want: Checkout{
				Top: at("app", "lib"), Git: filepath.Join(app, "modules", "lib"),
				Common: filepath.Join(app, "modules", "lib"),
			},
		},
		{from: "apart", want: Checkout{Top: at("apart"), Git: apart, Common: apart}},
		{
			from: "plain", gitDir: app, workTree: at("plain"),
			want: Checkout{Top: at("plain"), Git: app, Common: app, Given: true},
		},
		{
			from: "fix", gitDir: app, workTree: at("plain"),
			want: Checkout{Top: at("fix"), Git: filepath.Join(app, "worktrees", "fix"), Common: app},
		},
		{from: "plain"},
		{from: "bare.git"},
		{from: "lost"},
		{from: "none"},
	} {
		got, ok := FindCheckout(c.from, Env{Dir: dir, GitDir: c.gitDir, GitWorkTree: c.workTree})
		if got != c.want || ok != (c.want != Checkout{}) {
			t.Errorf("%s with %q: %+v %v, want %+v", c.from, c.gitDir, got, ok, c.want)
		}
	}
}
