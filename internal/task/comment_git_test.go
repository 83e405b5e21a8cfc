package task

import (
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/git"
	"talkingstick/stick"
)

// TestFollowComments_GitFails: where git can't say how a file has changed, a comment on it has no place. It
// doesn't stay where it was.
func TestFollowComments_GitFails(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	noGit := git.Client{Path: filepath.Join(t.TempDir(), "no git")}
	changed := changeList{changes: []git.Change{{From: "x", Path: "x"}}, known: true}
	p := &commentPlacer{
		diffLines: diffLines{git: noGit, dir: t.TempDir(), to: b},
		ctx:       t.Context(),
		listed:    map[commitPair]changeList{{a, b}: changed},
	}

	comments := []ShownComment{{Comment: stick.Comment{Head: a, Path: "x", Lines: stick.Lines{3, 3}}}}
	if p.followComments(comments); comments[0].Now != nil {
		t.Errorf("it is at %+v", comments[0].Now)
	}
}
