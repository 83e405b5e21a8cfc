package rescue

import (
	"bytes"
	"context"
	"strings"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/workspace"
)

// currentTree is what git says of the tree to which a rescue is restored.
type currentTree struct {
	git       git.Isolated
	tree      workspace.Checkout
	exact     bool                        // HEAD is that of the rescue
	committed map[string]manifest.Version // in HEAD
	index     map[string][]indexLine      // by path
	entries   map[string]*manifest.Entry  // tracked paths with uncommitted changes
}

// isDirty reports whether git sees uncommitted changes of a tracked path.
func (n *currentTree) isDirty(path string) bool { return n.entries[path] != nil }

// isClean reports whether the index and the file of a path are as in HEAD.
func (n *currentTree) isClean(path string) bool {
	head, committed := n.committed[path]
	lines := n.index[path]
	if !committed || len(lines) != 1 || n.isDirty(path) {
		return false
	}

	// Git doesn't compare files with these flags.
	return lines[0].Version == head && !lines[0].assume && !lines[0].skip
}

// readCurrentTree asks git. head is the commit of the rescue. Without a repository there is nothing
// committed.
func (s *Store) readCurrentTree(ctx context.Context, tree workspace.Checkout, head string) (*currentTree, error) {
	n := &currentTree{
		tree: tree, committed: map[string]manifest.Version{}, index: map[string][]indexLine{}, entries: map[string]*manifest.Entry{},
	}
	if tree.Git == "" {
		return n, nil
	}

	var err error
	if n.git, err = s.Git.Isolate(ctx, tree.Top, gitVariables(tree, "")...); err != nil {
		return nil, err
	}

	answer := runStatus(ctx, n.git, []string{"-uno"}, nil)
	if answer.err != nil {
		return nil, answer.err
	}

	v := &survey{entries: n.entries}
	if err := v.parseStatus(answer.said); err != nil {
		return nil, err
	}
	n.exact = v.head == head

	lines, err := listIndex(ctx, n.git)
	if err != nil {
		return nil, err
	}

	for _, l := range lines {
		n.index[l.path] = append(n.index[l.path], l)
	}

	if n.committed, err = listCommitted(ctx, n.git, v.head, nil); err != nil {
		return nil, err
	}

	return n, v.markIntended(func([]string) (map[string]manifest.Version, error) { return n.committed, nil })
}

// listCommitted returns what a commit has of paths, or everything for no paths. An empty commit has nothing.
func listCommitted(ctx context.Context, g git.Isolated, commit string, paths []string) (map[string]manifest.Version, error) {
	all := map[string]manifest.Version{}
	if commit == "" {
		return all, nil
	}

	var out bytes.Buffer
	args := append([]string{"ls-tree", "-r", "-z", "--full-tree", commit, "--"}, paths...)
	if _, err := g.Run(ctx, nil, &out, args...); err != nil {
		return nil, err
	}

	// A record is <mode> <kind> <oid>, a tab, and <path>.
	for _, record := range strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00") {
		facts, path, ok := strings.Cut(record, "\t")
		if f := strings.Fields(facts); ok && len(f) == 3 {
			all[path] = manifest.Version{Mode: f[0], OID: f[2]}
		}
	}

	return all, nil
}

// gitVariables name the git directory, tree and index of a checkout, as far as git wouldn't find them.
func gitVariables(tree workspace.Checkout, index string) (env []string) {
	if tree.Given {
		env = append(env, "GIT_DIR="+tree.Git, "GIT_WORK_TREE="+tree.Top)
	}

	if index != "" {
		env = append(env, "GIT_INDEX_FILE="+index)
	}
	return env
}
