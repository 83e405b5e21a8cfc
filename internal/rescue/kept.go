package rescue

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"talkingstick/internal/git"
	"talkingstick/stick"
)

// keptRefs is where the old tips of deleted and moved branches are kept, as <id>/heads/<name of the branch>.
const keptRefs = "refs/talkingstick/kept/"

// Tip is the commit of a branch that was deleted or moved.
type Tip struct {
	Ref    string     `json:"ref"` // the one that keeps the commit: refs/talkingstick/kept/…
	Of     string     `json:"of"`  // the one that had it: refs/heads/…
	Commit string     `json:"commit"`
	At     stick.Time `json:"at"` // when it was kept
}

// KeepTip keeps a commit that a ref, such as refs/heads/topic, is about to lose, and drops those that are past their time or
// too many. The kept ref is in the user's repository, because the commits are; it has no reflog and runs no hook. Asked for
// the same ref and commit again, KeepTip returns what it has.
//
// It fails with [stick.CodeGitFailed] if there is no such commit, or the name can't be one of a ref.
func (s *Store) KeepTip(ctx context.Context, common, ref, commit string, now stick.Time) (Tip, error) {
	g, err := s.Git.Isolate(ctx, common, "GIT_DIR="+common)
	if err != nil {
		return Tip{}, err
	}
	kept, err := tips(ctx, g)
	if err != nil {
		return Tip{}, err
	}
	for _, t := range kept {
		if t.Of == ref && t.Commit == commit {
			return t, nil
		}
	}
	if !strings.HasPrefix(ref, "refs/") || len(commit) < 40 {
		return Tip{}, stick.Errorf(stick.CodeGitFailed, "%s at %s isn't a ref with a commit", stick.Line(ref), stick.Line(commit))
	}
	t := Tip{Of: ref, Commit: commit, At: now}
	for {
		t.Ref = keptRefs + newID(t.At, commit) + "/" + strings.TrimPrefix(ref, "refs/")
		if !slices.ContainsFunc(kept, func(k Tip) bool { return k.Ref == t.Ref }) {
			break
		}
		t.At++
	}
	var orders strings.Builder
	fmt.Fprintf(&orders, "create %s\x00%s\x00", t.Ref, commit)
	for i, old := range kept {
		if now.Sub(old.At) > s.Limits.Age || i >= s.Limits.Count-1 {
			fmt.Fprintf(&orders, "delete %s\x00%s\x00", old.Ref, old.Commit)
		}
	}
	ctx = context.WithoutCancel(ctx) // killed, git would leave its locks
	_, err = g.Run(ctx, strings.NewReader(orders.String()), nil, "update-ref", "-z", "--stdin")
	return t, err
}

// Tips lists the commits that are kept in a repository, the newest first.
func (s *Store) Tips(ctx context.Context, common string) ([]Tip, error) {
	g, err := s.Git.Isolate(ctx, common, "GIT_DIR="+common)
	if err != nil {
		return nil, err
	}
	return tips(ctx, g)
}

func tips(ctx context.Context, g git.Isolated) ([]Tip, error) {
	var out bytes.Buffer
	if _, err := g.Run(ctx, nil, &out, "for-each-ref", "--format=%(objectname) %(refname)", keptRefs); err != nil {
		return nil, err
	}
	all := []Tip{}
	for line := range strings.Lines(out.String()) {
		commit, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		id, of, _ := strings.Cut(strings.TrimPrefix(name, keptRefs), "/")
		if at, ok := timeOf(id); ok && of != "" {
			all = append(all, Tip{Ref: name, Of: "refs/" + of, Commit: commit, At: at})
		}
	}
	slices.SortFunc(all, func(a, b Tip) int { return strings.Compare(b.Ref, a.Ref) })
	return all, nil
}
