package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestResolveProperties builds random trees and checks what holds for every place.
func TestResolveProperties(t *testing.T) {
	base := tree(t)
	rapid.Check(t, func(r *rapid.T) {
		root, err := os.MkdirTemp(base, "")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(root)

		dir := rapid.Custom(func(r *rapid.T) string {
			names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 0, 4).Draw(r, "names")
			return filepath.Join(append([]string{root}, names...)...)
		})

		env := Env{Home: dir.Draw(r, "home")}
		for range rapid.IntRange(0, 6).Draw(r, "things") {
			decorate(t, r, dir)
		}
		path := dir.Draw(r, "path")
		if err := os.MkdirAll(path, 0o755); err != nil {
			r.Skip("a file is in the way")
		}

		write(t, path, "file.txt")

		p, err := Resolve(path, env)
		if err != nil {
			r.Fatal(err)
		}
		if real, err := filepath.EvalSymlinks(path); err != nil || p.Path != real {
			r.Fatalf("the path %s isn't canonical: %s, %v", p.Path, real, err)
		}
		if p.Worktree == "" && !IsWithin(p.Path, p.Root) {
			r.Fatalf("the path lies outside of its root: %+v", p)
		}
		if p.Worktree != "" && !IsWithin(p.Path, p.Worktree) {
			r.Fatalf("the path lies outside of its worktree: %+v", p)
		}
		if p.Worktree == "" && p.Chain[0] != p.Path {
			r.Fatalf("the chain doesn't start at the path: %+v", p)
		}
		if p.Found != FoundPath && p.Chain[len(p.Chain)-1] != p.Root {
			r.Fatalf("the chain doesn't end at the root: %+v", p)
		}

		for i, c := range p.Chain[1:] {
			above := filepath.Dir(p.Chain[i])
			if p.Found == FoundPath && above == realHome(env.Home) {
				above = filepath.Dir(above)
			}
			if c != above || c == "/" {
				r.Fatalf("%s doesn't follow %s: %+v", c, p.Chain[i], p)
			}
		}

		if p.Broad != (p.Root == realHome(env.Home)) {
			r.Fatalf("a root is broad if it is the home directory: %+v", p)
		}
		if file, err := Resolve(filepath.Join(path, "file.txt"), env); err != nil || !cmp.Equal(file, p) {
			r.Fatalf("a file in %s has another place: %+v, %v", path, file, err)
		}
		if again, err := Resolve(p.Root, env); err != nil || again.Root != p.Root {
			r.Fatalf("the root of the root of %+v is %s, %v", p, again.Root, err)
		}
	})
}

// decorate puts something that matters to resolution into a directory. What can't be made there,
// because something else is in the way, is left out.
func decorate(t *testing.T, r *rapid.T, dir *rapid.Generator[string]) {
	d := dir.Draw(r, "dir")
	if os.MkdirAll(d, 0o755) != nil {
		return
	}

	git := filepath.Join(d, ".git")
	_, err := os.Lstat(git)
	free := err != nil
	switch rapid.SampledFrom([]string{"repository", "bare", "worktree", "broken", "empty", "marker", "link"}).Draw(r, "thing") {
	case "repository":
		if free {
			write(t, d, gitDirFiles(".git")...)
		}

	case "bare":
		write(t, d, gitDirFiles(".bare")...)
	case "worktree":
		main := filepath.Join(dir.Draw(r, "main"), ".git")
		if !free || !IsGitDir(main) {
			return
		}
		write(t, main, "worktrees/x/commondir=../..\n", "worktrees/x/gitdir="+git+"\n")
		write(t, d, ".git=gitdir: "+main+"/worktrees/x\n")

	case "broken":
		if free {
			write(t, d, ".git=gitdir: nowhere\n")
		}

	case "empty":
		if free {
			write(t, d, ".git/")
		}

	case "marker":
		write(t, d, rapid.SampledFrom(markers[1:]).Draw(r, "marker"))
	case "link":
		_ = os.Symlink(dir.Draw(r, "target"), filepath.Join(d, rapid.SampledFrom([]string{"a", "b"}).Draw(r, "name")))
	}
}
