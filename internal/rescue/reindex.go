package rescue

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/internal/rescue/workfile"
)

// restoreIndex restores the index entries of paths. An entry that isn't the one of HEAD, and whose bytes the
// rescue hasn't either, stays: somebody has staged something since. A path whose file stays as somebody has
// changed it keeps its entry, too.
func (w *restorer) restoreIndex(ctx context.Context, entries []manifest.Entry) {
	kept := map[string]bool{}
	for _, b := range w.result.Beside {
		kept[b.Path] = true
	}
	for _, p := range w.result.Failed {
		kept[p.Path] = true
	}

	var wrong []manifest.Entry
	for _, e := range entries {
		switch {
		case kept[string(e.Path)] || e.Unsure || w.now.matchesIndex(e):
		case !w.isIndexReplaceable(e):
			w.addFailed(e, "something else was staged since: its index entry is kept")
		default:
			wrong = append(wrong, e)
		}
	}

	wrong = w.storeVersions(ctx, w.dropBlocked(wrong))
	if len(wrong) == 0 {
		return
	}

	if err := w.writeIndex(ctx, wrong); err != nil {
		for _, e := range wrong {
			w.addFailed(e, "its index entry: %s", err)
		}
		return
	}

	// Only what the index has now counts as restored.
	lines, err := listIndex(ctx, w.now.git)
	now := &currentTree{index: map[string][]indexLine{}, entries: map[string]*manifest.Entry{}}
	for _, l := range lines {
		now.index[l.path] = append(now.index[l.path], l)
	}

	for _, e := range wrong {
		// What ls-files prints doesn't tell that. That git has added it so is enough.
		if e.Intent {
			now.entries[string(e.Path)] = &manifest.Entry{Intent: true}
		}
		if err != nil || !now.matchesIndex(e) {
			w.addFailed(e, "its index entry isn't what it was")
			continue
		}
		w.result.Index = append(w.result.Index, string(e.Path))
	}
}

// dropBlocked drops the entries that would replace others in the index: a file in the place of a directory,
// or the other way round.
func (w *restorer) dropBlocked(entries []manifest.Entry) []manifest.Entry {
	replaced := map[string]bool{}
	for _, e := range entries {
		replaced[string(e.Path)] = true
	}

	return slices.DeleteFunc(entries, func(e manifest.Entry) bool {
		path := string(e.Path)
		for other := range w.now.index {
			isInTheWay := strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/")
			if isInTheWay && !replaced[other] && len(e.Index) > 0 {
				w.addFailed(e, "%q is staged in its place: its index entry isn't restored", other)
				return true
			}
		}
		return false
	})
}

// matchesIndex reports whether the index has for a path what it had when the rescue was taken.
func (n *currentTree) matchesIndex(e manifest.Entry) bool {
	now := n.index[string(e.Path)]
	known := n.entries[string(e.Path)]

	if len(now) != len(e.Index) || e.Intent != (known != nil && known.Intent) {
		return false
	}

	for i, l := range now {
		v := e.Index[i]
		isSame := l.Mode == v.Mode && l.OID == v.OID && l.Stage == v.Stage
		hasFlags := l.Stage != 0 || l.assume == e.Assume && l.skip == e.Skip
		if !isSame || !hasFlags {
			return false
		}
	}
	return true
}

// isIndexReplaceable reports whether nothing is lost when the index entries of a path are replaced.
func (w *restorer) isIndexReplaceable(e manifest.Entry) bool {
	path := string(e.Path)
	if now := w.now.entries[path]; now != nil && now.Intent {
		return true
	}

	head, committed := w.now.committed[path]
	return !slices.ContainsFunc(w.now.index[path], func(l indexLine) bool {
		switch {
		case committed && l.OID == head.OID:
			return false
		case slices.ContainsFunc(e.Index, func(v manifest.Version) bool {
			return v.OID == l.OID && (v.Blob != "" || v.IsSubmodule())
		}):
			return false
		}

		return e.Work == nil || l.OID != pack.ObjectName(pack.NewHash(l.OID), "blob", w.data[e.Work.Blob])
	})
}

// storeVersions has the user's repository keep the bytes of staged versions again, as far as it has lost
// them. It returns the entries of which it has all.
func (w *restorer) storeVersions(ctx context.Context, entries []manifest.Entry) []manifest.Entry {
	return slices.DeleteFunc(entries, func(e manifest.Entry) bool {
		for _, v := range e.Index {
			if v.IsSubmodule() || e.Intent {
				continue
			}

			if err := w.storeVersion(ctx, v); err != nil {
				w.addFailed(e, "its index entry: %s", err)
				return true
			}
		}
		return false
	})
}

func (w *restorer) storeVersion(ctx context.Context, v manifest.Version) error {
	if v.Blob == "" {
		var out bytes.Buffer
		name := strings.NewReader(v.OID + "\n")
		_, err := w.now.git.WithEnv(pack.NoReplace).Run(ctx, name, &out, "cat-file", "--batch-check")
		if o, herr := pack.ParseObjectHead(strings.TrimSpace(out.String())); err == nil && (herr != nil || o.Kind != "blob") {
			return fmt.Errorf("the staged bytes weren't rescued, and the repository has lost them")
		}
		return err
	}

	var out bytes.Buffer
	_, err := w.now.git.Run(ctx, bytes.NewReader(w.data[v.Blob]), &out, "hash-object", "-w", "--no-filters", "--stdin")

	if err == nil && strings.TrimSpace(out.String()) != v.OID {
		return fmt.Errorf("the staged bytes aren't what they were")
	}
	return err
}

// writeIndex writes index entries. First all are removed, because a directory may be in the place of a file.
func (w *restorer) writeIndex(ctx context.Context, entries []manifest.Entry) error {
	var removed, added strings.Builder
	var intended, assumed, skipped []string
	for _, e := range entries {
		path := string(e.Path)

		if now := w.now.index[path]; len(now) > 0 {
			fmt.Fprintf(&removed, "0 %s\t%s\x00", strings.Repeat("0", len(now[0].OID)), path)
		}

		if e.Intent {
			intended = append(intended, path)
			continue
		}

		for _, v := range e.Index {
			fmt.Fprintf(&added, "%s %s %d\t%s\x00", v.Mode, v.OID, v.Stage, path)
		}

		if e.Assume {
			assumed = append(assumed, path)
		}
		if e.Skip {
			skipped = append(skipped, path)
		}
	}

	// One run does both, so that the index is never without the entries.
	lines := strings.NewReader(removed.String() + added.String())
	if _, err := w.now.git.Run(ctx, lines, nil, "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	w.store.kill("restored the index")

	// Git gives flags only to entries that are there.
	for flag, paths := range map[string][]string{"--assume-unchanged": assumed, "--skip-worktree": skipped} {
		if len(paths) == 0 {
			continue
		}

		names := strings.NewReader(strings.Join(paths, "\x00") + "\x00")
		if _, err := w.now.git.Run(ctx, names, nil, "update-index", flag, "-z", "--stdin"); err != nil {
			return err
		}
	}

	if len(intended) == 0 {
		return nil
	}
	return w.addIntended(ctx, entries)
}

// addIntended adds entries without content, as git add -N does. Git takes their mode from the working tree,
// where the file may have changed or be gone. So it gets a tree with empty files of the right modes.
func (w *restorer) addIntended(ctx context.Context, entries []manifest.Entry) error {
	top, err := os.MkdirTemp(w.store.Root(), bare.NewPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(top)

	tree, err := workfile.Open(top)
	if err != nil {
		return err
	}
	defer tree.Close()

	var paths []string
	for _, e := range entries {
		if !e.Intent {
			continue
		}

		c := workfile.Content{Mode: e.Index[0].Mode, Perm: 0o600}
		switch c.Mode {
		case pack.ModeProgram:
			c.Perm = 0o700
		case pack.ModeLink:
			c.Data = []byte("none")
		}

		if err := tree.CreateFile(string(e.Path), w.tempName(), c); err != nil {
			return err
		}
		paths = append(paths, string(e.Path))
	}

	g := w.now.git.WithEnv("GIT_DIR="+w.now.tree.Git, "GIT_WORK_TREE="+top)
	names := strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	_, err = g.Run(ctx, names, nil, "-C", top, "add", "--intent-to-add", "--force", "--sparse",
		"--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}
