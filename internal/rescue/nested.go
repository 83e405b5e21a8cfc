package rescue

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/workspace"
)

// maxDepth bounds how deep repositories inside of repositories are followed.
const maxDepth = 5

// takeNested rescues the submodules and the other repositories inside the tree, each in itself.
func (t *rescueTaker) takeNested(ctx context.Context) {
	var paths []string
	for _, l := range t.seen.index {
		inside := func(p string) bool { return isWithin(p, []string{l.path}) }
		if l.IsSubmodule() && l.Stage == 0 && (isWithin(l.path, t.r.Paths) || slices.ContainsFunc(t.r.Paths, inside)) {
			if _, err := t.tree.Lstat(l.path + "/.git"); err == nil {
				paths = append(paths, l.path)
			}
		}
	}

	for _, p := range t.seen.untracked {
		if strings.HasSuffix(p, "/") {
			paths = append(paths, strings.TrimSuffix(p, "/"))
		}
	}

	slices.Sort(paths)
	for _, p := range paths {
		t.takeNestedAt(ctx, p)
	}
}

func (t *rescueTaker) takeNestedAt(ctx context.Context, path string) {
	top := filepath.Join(t.r.Tree.Top, filepath.FromSlash(path))
	tree, ok := workspace.FindCheckout(top, workspace.Env{})
	if !ok || tree.Top != top || t.depth >= maxDepth {
		t.leaveOut(path+"/", manifest.WhyNested, 0)
		return
	}

	if t.reading.Err() != nil {
		t.leaveOut(path+"/", manifest.WhyTime, 0)
		return
	}

	// Everything inside counts, within the time and the bytes that are left.
	r := t.r
	r.Tree, r.Index, r.Paths = tree, "", nil
	inner := &rescueTaker{store: t.store, r: r, reading: t.reading, left: t.left, depth: t.depth + 1}
	taken, err := inner.runRescue(ctx)
	if err != nil {
		why := manifest.WhyNested
		if errors.Is(err, context.DeadlineExceeded) {
			why = manifest.WhyTime
		}
		t.leaveOut(path+"/", why, 0)
		return
	}

	for _, l := range taken.LeftOut {
		t.leaveOut(path+"/"+strings.TrimPrefix(l.Path, "./"), l.Why, l.Files)
	}

	// The commits of a submodule lie in the repository around it, and are kept there.
	rel, err := filepath.Rel(top, tree.Git)
	if err == nil && filepath.IsLocal(rel) {
		if t.r.isSnapshot() {
			t.taken.Embedded = append(t.taken.Embedded, Embedded{path, tree.Common})
		} else {
			t.leaveOut(path+"/", manifest.WhyCommits, 0)
		}
	}

	for _, e := range taken.Embedded {
		t.taken.Embedded = append(t.taken.Embedded, Embedded{path + "/" + e.Path, e.Common})
	}

	// What lies deeper is named from here.
	if taken.ID != "" {
		t.taken.Nested = append(t.taken.Nested, manifest.Nested{Path: path, ID: taken.ID})
	}
	for _, n := range taken.Nested {
		t.taken.Nested = append(t.taken.Nested, manifest.Nested{Path: path + "/" + n.Path, ID: n.ID})
	}
}
