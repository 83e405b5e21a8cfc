package commits

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/stick"
)

// KeptRefs is where the old tips of deleted and moved branches are kept, as <id>/heads/<name of the branch>.
const KeptRefs = "refs/talkingstick/kept/"

// Tip is the commit of a branch that was deleted or moved.
type Tip struct {
	Ref    string     `json:"ref"` // the one that keeps the commit: refs/talkingstick/kept/…
	Of     string     `json:"of"`  // the one that had it: refs/heads/…
	Commit string     `json:"commit"`
	At     stick.Time `json:"at"` // when it was kept
}

// KeepTips keeps commits that refs, such as refs/heads/topic, are about to lose, and drops those that are
// past their time or too many. Of each it needs Of and Commit. The kept refs are in the user's repository,
// because the commits are; they have no reflog and run no hook. Asked for the same ref and commit again,
// KeepTips returns what it has. It keeps all of them or none.
//
// It fails with [stick.CodeGitFailed] if there is no such commit, or a name can't be one of a ref.
func (s *Store) KeepTips(ctx context.Context, common string, lost []Tip, now stick.Time) ([]Tip, error) {
	g := s.userGit(common)
	old, err := listTips(ctx, g)
	if err != nil {
		return nil, err
	}

	all, added := slices.Clone(old), 0
	var orders strings.Builder

	for i, t := range lost {
		if !strings.HasPrefix(t.Of, "refs/") || len(t.Commit) < 40 {
			return nil, stick.Errorf(stick.CodeGitFailed, "%s at %s isn't a ref with a commit", t.Of, t.Commit)
		}

		// A commit of a ref is kept once.
		known := slices.IndexFunc(all, func(k Tip) bool { return k.Of == t.Of && k.Commit == t.Commit })
		if known < 0 {
			known, all, added = len(all), append(all, newTip(t, now, all)), added+1
			fmt.Fprintf(&orders, "create %s\x00%s\x00", all[known].Ref, t.Commit)
		}
		lost[i] = all[known]
	}

	if added == 0 {
		return lost, nil
	}

	// Old tips go in the same order to git, which does all of it or nothing.
	for i, t := range old {
		if now.Sub(t.At) > s.Limits.Age || i >= s.Limits.Count-added {
			fmt.Fprintf(&orders, "delete %s\x00%s\x00", t.Ref, t.Commit)
		}
	}

	// Git would leave its locks if it were killed.
	ctx = context.WithoutCancel(ctx)
	_, err = g.Run(ctx, strings.NewReader(orders.String()), nil, "update-ref", "-z", "--stdin")
	return lost, err
}

// newTip gives a tip its time, and a ref that none of the others has.
func newTip(t Tip, now stick.Time, others []Tip) Tip {
	for t.At = now; ; t.At++ {
		t.Ref = KeptRefs + manifest.NewID(t.At, t.Commit) + "/" + strings.TrimPrefix(t.Of, "refs/")
		if !slices.ContainsFunc(others, func(k Tip) bool { return k.Ref == t.Ref }) {
			return t
		}
	}
}

// Tips lists the commits that are kept in a repository, the newest first.
func (s *Store) Tips(ctx context.Context, common string) ([]Tip, error) {
	return listTips(ctx, s.userGit(common))
}

// userGit runs git for the objects and refs of the user's repository.
func (s *Store) userGit(common string) git.Isolated {
	return s.Root.Git.IsolateObjects(common, "GIT_DIR="+common)
}

func listTips(ctx context.Context, g git.Isolated) ([]Tip, error) {
	var out bytes.Buffer
	if _, err := g.Run(ctx, nil, &out, "for-each-ref", "--format=%(objectname) %(refname)", KeptRefs); err != nil {
		return nil, err
	}

	all := []Tip{}
	for line := range strings.Lines(out.String()) {
		commit, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		id, of, _ := strings.Cut(strings.TrimPrefix(name, KeptRefs), "/")
		if at, ok := manifest.TimeOf(id); ok && of != "" {
			all = append(all, Tip{Ref: name, Of: "refs/" + of, Commit: commit, At: at})
		}
	}

	slices.SortFunc(all, func(a, b Tip) int { return strings.Compare(b.Ref, a.Ref) })
	return all, nil
}
