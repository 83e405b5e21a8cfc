package task

import (
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/git"
	"talkingstick/stick"
)

// TestGitCantTellWhatChanged: a comment on a file that has changed has no place then. It doesn't stay where
// it was.
func TestGitCantTellWhatChanged(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	p := &commentPlacer{
		diffLines{git: git.Client{Path: filepath.Join(t.TempDir(), "no git")}, dir: t.TempDir(), to: b},
		t.Context(),
		map[commitPair]changeList{{a, b}: {[]git.Change{{From: "x", Path: "x"}}, true}},
	}

	comments := []ShownComment{{Comment: stick.Comment{Head: a, Path: "x", Lines: stick.Lines{3, 3}}}}
	if p.followComments(comments); comments[0].Now != nil {
		t.Errorf("it is at %+v", comments[0].Now)
	}
}
