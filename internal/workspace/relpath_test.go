package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"talkingstick/stick"
)

func TestInside(t *testing.T) {
	dir := tree(t)
	write(t, dir, "main/src/x.go", "main/worktrees/task/src/y.go", "linked/src/z.go", "main2/src/", "secret/")
	at := func(p string) string { return filepath.Join(dir, p) }
	must(t, os.Symlink(at("main/src"), at("alias")))
	must(t, os.Symlink(at("secret"), at("main/out")))
	must(t, os.Symlink(at("secret/new.txt"), at("main/dangling.txt")))
	must(t, os.Symlink("../src/new.txt", at("main/src/again.txt")))
	must(t, os.Symlink("loop", at("main/loop")))
	tops := []string{at("linked"), at("main/worktrees/task")}

	tests := []struct{ name, path, want string }{ // no want: refused
		{"relative", "x.go", "src/x.go"},
		{"relative, up", "../src/./x.go", "src/x.go"},
		{"absolute", at("main/src/x.go"), "src/x.go"},
		{"not there yet", "new/deep/y.go", "src/new/deep/y.go"},
		{"back from what isn't there", "new/../x.go", "src/x.go"},
		{"the root", at("main"), "."},
		{"linked worktree", at("linked/src/z.go"), "src/z.go"},
		{"worktree in the root", at("main/worktrees/task/src/y.go"), "src/y.go"},
		{"beside a worktree in the root", at("main/worktrees/notes.md"), "worktrees/notes.md"},
		{"link into the root", at("alias/x.go"), "src/x.go"},
		{"link to what isn't there yet", at("main/src/again.txt"), "src/new.txt"},

		{"empty", "", ""},
		{"NUL", "a\x00", ""},
		{"outside", "/etc/passwd", ""},
		{"up and out", "../../secret/x", ""},
		{"up and out from what isn't there", "new/../../../secret/x", ""},
		{"same beginning", at("main2/src"), ""},
		{"link out of the root", "../out/x", ""},
		{"dangling link out of the root", "../dangling.txt", ""},
		{"loop of links", "../loop", ""},
		{"below a file", "x.go/y", ""},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := RelPath(tt.path, at("main/src"), at("main"), tops)
			if got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
			if tt.want == "" && stick.CodeOf(err) != stick.CodeInvalidPath {
				t.Errorf("got %v, want %s", err, stick.CodeInvalidPath)
			}
		})
	}
}

func TestInsideRootDirectory(t *testing.T) {
	if got, err := RelPath("/nowhere/x", "/", "/", nil); got != "nowhere/x" {
		t.Errorf("got %q, %v", got, err)
	}
}
