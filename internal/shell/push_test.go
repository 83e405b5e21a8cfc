package shell

import "testing"

// TestPushes: a push to a remote names the refs that it moves there; HEAD is the branch that is checked out.
func TestPushes(t *testing.T) {
	dir := projectDir(t)
	for _, tt := range []struct{ command, want string }{
		{"git push", "pushes HEAD"},
		{"git push -f origin", "pushes HEAD"},
		{"git push -u origin main", "pushes refs/heads/main"},
		{"git push origin HEAD @", "pushes HEAD HEAD"},
		{
			"git push origin main:release +x:refs/heads/y v1:refs/tags/v1",
			"pushes refs/heads/release refs/heads/y refs/tags/v1",
		},
		{"git push origin :old --delete", "pushes refs/heads/old"},
		{"git push --delete origin old", "pushes refs/heads/old"},
		{"git push --tags", ""},
		{"git push --tags origin main", "pushes refs/heads/main"},
		{"git push --dry-run origin main", ""},
		{"git push --all origin", "pushes some"},
		{"git push --mirror", "pushes some"},
		{"git push origin :", "pushes some"},
		{"git push origin 'refs/heads/*:refs/heads/*'", "pushes some"},
		{`git push origin "$BRANCH"`, "pushes some"},
		{"git push --repo=origin", "pushes HEAD"},
		{"git -C docs push", "pushes in docs HEAD"},
		{"git push | tail -1; git push origin a", "pushes HEAD; pushes refs/heads/a"},
	} {
		if got := showActs(Edits(tt.command, dir, Env{}).Acts, dir); got != tt.want {
			t.Errorf("%s\n  is   %q\n  want %q", tt.command, got, tt.want)
		}
	}
}
