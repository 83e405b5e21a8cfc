package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/stick"
)

func TestResolveWithoutGit(t *testing.T) {
	dir := tree(t)
	write(t, dir,
		"home/AGENTS.md", "home/notes/", "home/app/go.mod", "home/app/pkg/x/",
		"mono/package.json", "mono/packages/ui/package.json", "mono/packages/ui/src/main.ts",
		"stick/.talking-stick/", "stick/a/", "toml/.talking-stick.toml", "toml/CLAUDE.md", "toml/a/",
		"plain/a/")

	at := func(p string) string { return filepath.Join(dir, p) }
	env := Env{Home: at("home"), Dir: at("plain")}

	tests := []struct {
		name, path, root, found, marker string
		chain                           []string
	}{
		{"nothing", at("plain/a"), "plain/a", FoundPath, "", []string{"plain/a", "plain", "."}},
		{"relative", "a", "plain/a", FoundPath, "", []string{"plain/a", "plain", "."}},
		{"relative to here", ".", "plain", FoundPath, "", []string{"plain", "."}},
		{
			"nearest marker",
			at("mono/packages/ui/src"),
			"mono/packages/ui",
			FoundMarker,
			"package.json",
			[]string{"mono/packages/ui/src", "mono/packages/ui"},
		},
		{
			"file",
			at("mono/packages/ui/src/main.ts"),
			"mono/packages/ui",
			FoundMarker,
			"package.json",
			[]string{"mono/packages/ui/src", "mono/packages/ui"},
		},
		{
			"between markers",
			at("mono/packages"),
			"mono",
			FoundMarker,
			"package.json",
			[]string{"mono/packages", "mono"},
		},
		{"marker directory", at("stick/a"), "stick", FoundMarker, ".talking-stick", []string{"stick/a", "stick"}},
		{"first of two markers", at("toml/a"), "toml", FoundMarker, ".talking-stick.toml", []string{"toml/a", "toml"}},
		{"below home", at("home/notes"), "home/notes", FoundPath, "", []string{"home/notes", "."}},
		{"home itself", at("home"), "home", FoundMarker, "AGENTS.md", []string{"home"}},
		{
			"project in home",
			at("home/app/pkg/x"),
			"home/app",
			FoundMarker,
			"go.mod",
			[]string{"home/app/pkg/x", "home/app/pkg", "home/app"},
		},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := Place{
				Path: at(tt.chain[0]), Root: at(tt.root), Found: tt.found, Marker: tt.marker,
				Broad: tt.root == "home",
			}
			for _, c := range tt.chain {
				want.Chain = append(want.Chain, at(c))
			}
			got := resolve(t, tt.path, env)
			// above the test's own
			got.Chain = slices.DeleteFunc(got.Chain, func(c string) bool { return IsWithin(dir, c) && c != dir })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestResolveSymlinks(t *testing.T) {
	dir := tree(t)
	write(t, dir, "real/go.mod", "real/a/f.txt", "other/b/f.txt")
	at := func(p string) string { return filepath.Join(dir, p) }
	must(t, os.Symlink(at("real/a"), at("other/link")))
	must(t, os.Symlink(at("real/a/f.txt"), at("other/b/alias.txt")))
	must(t, os.Symlink(at("real"), at("home")))

	tests := []struct{ name, path, want string }{
		{"through a link", at("other/link"), "real/a"},
		{"file through a link", at("other/link/f.txt"), "real/a"},
		{"parent of a link's target", dir + "/other/link/..", "real"},
		{"file behind that parent", dir + "/other/link/../go.mod", "real"},
		// The file's own directory counts, as the agent sees it.
		{"link to a file", at("other/b/alias.txt"), "other/b"},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := resolve(t, tt.path, Env{}).Path; got != at(tt.want) {
				t.Errorf("got %s, want %s", got, at(tt.want))
			}
		})
	}

	t.Run("home is a link", func(t *testing.T) {
		if got := resolve(t, at("real/a"), Env{Home: at("home")}); got.Found != FoundPath {
			t.Errorf("the marker in the home directory counted: %+v", got)
		}
	})
}

func TestResolveRefuses(t *testing.T) {
	dir := tree(t)
	write(t, dir, "file")
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))

	tests := []struct{ name, path, message string }{
		{"empty", "", "the path is empty"},
		{"NUL", dir + "/a\x00b", "the path contains a NUL byte"},
		{"relative without a working directory", "a", "not an absolute path: a"},
		{"missing", dir + "/missing", "no such directory: " + dir + "/missing"},
		{"missing, with a line end", dir + "/a\nb", `a\nb"`},
		{"dangling link", dir + "/dangling", "no such directory"},
		{"loop of links", dir + "/loop", "the path is a loop of symbolic links"},
		{"below a file", dir + "/file/x", "a part of the path is a file, not a directory"},
		{"slash after a file", dir + "/file/", "a part of the path is a file, not a directory"},
		{"too long", dir + "/" + strings.Repeat("x", 300), "the path is too long"},
		{"far too long", dir + strings.Repeat("/x", 5000), "the path is too long"},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Resolve(tt.path, Env{})
			if stick.CodeOf(err) != stick.CodeInvalidPath {
				t.Fatalf("got %v, want %s", err, stick.CodeInvalidPath)
			}
			if !strings.Contains(err.Error(), tt.message) {
				t.Errorf("got %q, want it to contain %q", err, tt.message)
			}
			if len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("unfit to be shown: %q", err)
			}
		})
	}
}

func TestResolveUnreadable(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("permissions don't hold for this user")
	}
	dir := tree(t)
	write(t, dir, "closed/in/")
	must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "closed"), 0o755) })

	for _, p := range []string{"closed", "closed/in"} {
		_, err := Resolve(filepath.Join(dir, p), Env{})
		if stick.CodeOf(err) != stick.CodeInvalidPath || !strings.Contains(err.Error(), "no permission") {
			t.Errorf("%s: got %v, want %s", p, err, stick.CodeInvalidPath)
		}
	}
}

func TestResolveGone(t *testing.T) {
	dir := tree(t)
	write(t, dir, "app/go.mod", "app/here/", "file")
	at := func(p string) string { return filepath.Join(dir, p) }
	must(t, os.Symlink(at("app"), at("link")))

	tests := []struct{ name, path, want, root string }{
		{"exists", at("app/here"), "app/here", "app"},
		{"deleted", at("app/gone/deep"), "app/gone/deep", "app"},
		{"deleted, by Linux's name", at("app/gone") + " (deleted)", "app/gone", "app"},
		{"made again", at("app/here") + " (deleted)", "app/here", "app"},
		{"behind a link", at("link/gone"), "app/gone", "app"},
		{"outside of a workspace", at("gone"), "gone", "gone"},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ResolveGone(tt.path, Env{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Path != at(tt.want) || got.Root != at(tt.root) {
				t.Errorf("got %+v, want path %s and root %s", got, at(tt.want), at(tt.root))
			}
		})
	}

	for _, path := range []string{"", at("file/x"), "a\x00"} {
		if _, err := ResolveGone(path, Env{}); stick.CodeOf(err) != stick.CodeInvalidPath {
			t.Errorf("%q: got %v, want %s", path, err, stick.CodeInvalidPath)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	dir := tree(b)
	write(b, dir, append(gitDirFiles("repo/.git"), "repo/a/b/c/", "app/go.mod", "app/a/b/c/", "plain/a/b/c/")...)
	gitAdd(b, repository(b, filepath.Join(dir, "real")), filepath.Join(dir, "linked"))

	for name, path := range map[string]string{
		"git top": "repo", "git below": "repo/a/b/c", "linked worktree": "linked/sub/deep",
		"marker": "app/a/b/c", "nothing": "plain/a/b/c",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Resolve(filepath.Join(dir, path), Env{Home: dir}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestMakesRepository: what a checkout needs to be one for git.
func TestMakesRepository(t *testing.T) {
	dir := tree(t)
	env := Env{Home: filepath.Join(dir, "home")}
	for _, git := range []string{"app/.git", "hub/.bare", "app/third/.git"} {
		write(t, dir, git+"/HEAD", git+"/objects/", git+"/refs/")
	}
	write(t, dir, "app/.git/worktrees/fix/", "fix/", "app/src/", "other/.bare/", "other/go.mod")

	for file, text := range map[string]string{
		"app/.git/worktrees/fix/commondir": "../..\n",
		"app/.git/worktrees/fix/gitdir":    filepath.Join(dir, "fix/.git") + "\n",
		"fix/.git":                         "gitdir: " + filepath.Join(dir, "app/.git/worktrees/fix") + "\n",
	} {
		must(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}

	for at, files := range map[string]map[string]bool{
		"app": {
			"app/.git": true, "app/.git/objects": true, "app/.git/refs": true, "app/.git/HEAD": true,
			"app/.git/HEAD.lock": false, "app/.git/index.lock": false, "app/.git/hooks": false, "app": false,
			"app/src": false, "app/third/.git": false, "app/.bare": false,
		},
		"app/.git":  {"app/.git/objects": true, "app/.git/logs": false},
		"app/third": {"app/third/.git": true, "app/.git": false},
		"fix":       {"fix/.git": true, "app/.git": true, "fix/a.go": false},
		"hub": {
			"hub/.bare": true, "hub/.bare/refs": true, "hub/.bare/HEAD": true, "hub/.bare/config": false,
			"hub/objects": false,
		},
		"other": {"other/.bare": false, "other/.bare/refs": false},
	} {
		p := resolve(t, filepath.Join(dir, at), env)
		for file, want := range files {
			if got := p.MakesRepository(filepath.Join(dir, file)); got != want {
				t.Errorf("from %s, %s: got %v", at, file, got)
			}
		}
	}
}
