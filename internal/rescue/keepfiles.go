package rescue

import (
	"context"
	"errors"
	"slices"
	"strings"

	"talkingstick/internal/git"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/workfile"
	"talkingstick/stick"
)

// KeepFiles makes a snapshot as [Store.Take] does, but looks only at the files that [Request.Paths] names:
// the rest of the state is that of the last snapshot. It starts no program, so that it costs little beside a
// tool that edits a file. What git says of a path that wasn't in the last state isn't known before the next
// [Store.Take]; its file is kept as it lies, also where it isn't there. Where there is no last state,
// KeepFiles does all that Take does. If git refuses to work there, because the repository belongs to another
// user, it keeps the named files alone.
//
// It fails as Take does, and with [stick.CodeUsage] if no path below the top level is named.
func (s *Store) KeepFiles(ctx context.Context, r Request) (Taken, error) {
	r.Facts.Cause = manifest.CauseCall
	return s.takeInTime(ctx, r, (*rescueTaker).keepFiles)
}

func (t *rescueTaker) keepFiles(ctx context.Context) (taken Taken, err error) {
	if t.r.Paths, err = cleanPaths(t.r.Paths); err != nil {
		return Taken{}, err
	}
	if len(t.r.Paths) == 0 {
		return Taken{}, stick.Errorf(stick.CodeUsage, "name a path below the top level of the checkout")
	}

	// What is known from the last snapshot is enough in most cases, and starts no program.
	taken, known, err := t.updateFiles(ctx)
	if known && !errors.Is(err, errStale) {
		return taken, err
	}

	taken, err = t.startOver().runSnapshot(ctx)

	switch {
	case git.RefusalOf(err) != nil:
		return t.startOver().keepAlone(ctx)
	case err != nil || taken.ID == "":
		return taken, err
	}

	// Of the named files without uncommitted changes git says nothing.
	if more, known, err := t.startOver().updateFiles(ctx); known && err == nil {
		return more, nil // with the named files that have no uncommitted changes
	}
	return taken, nil
}

// startOver begins the same again.
func (t *rescueTaker) startOver() *rescueTaker {
	return &rescueTaker{store: t.store, r: t.r, reading: t.reading, left: t.left}
}

// keepAlone makes a snapshot of the named files, and of nothing else: nobody knows what else there is.
func (t *rescueTaker) keepAlone(ctx context.Context) (taken Taken, err error) {
	t.snapshot = &snapshotTaker{began: t.store.now(), isPartial: true}
	if err := t.beginSnapshot(ctx); err != nil {
		return Taken{}, err
	}
	defer t.snapshot.abandonAndUnlock()

	if t.tree, err = workfile.Open(t.r.Tree.Top); err != nil {
		return Taken{}, err
	}
	defer t.closeTree()

	t.seen = &survey{entries: map[string]*manifest.Entry{}}
	t.taken = Taken{LeftOut: []manifest.LeftOut{{Path: "./", Why: manifest.WhyRefused}}, Nested: []manifest.Nested{}}

	var there []candidate
	for _, path := range t.r.Paths {
		if c, _ := t.recheckFile(path); c.entry != nil {
			there = append(there, c)
		}
	}

	return t.keepSnapshot(ctx, t.chooseCandidates(there))
}

// updateFiles makes the snapshot of the last state with the named paths as they are now. known is false if
// there is no last state.
func (t *rescueTaker) updateFiles(ctx context.Context) (taken Taken, known bool, err error) {
	if !t.store.Knows(t.r.Tree.Common) {
		return Taken{}, false, nil
	}

	s := &snapshotTaker{began: t.store.now()}
	t.snapshot = s
	if err := t.beginSnapshot(ctx); err != nil {
		return Taken{}, true, err
	}
	defer s.abandonAndUnlock()

	if s.base == nil {
		return Taken{}, false, nil
	}

	if t.tree, err = workfile.Open(t.r.Tree.Top); err != nil {
		return Taken{}, true, err
	}
	defer t.closeTree()

	touched := t.copyLastState()
	var changed []candidate
	for _, path := range t.addRelatedPaths(t.r.Paths) {
		c, isChanged := t.recheckFile(path)
		touched = touched || isChanged
		if c.entry != nil {
			changed = append(changed, c)
		}
	}

	if !touched {
		t.taken.ID, t.taken.Same, t.taken.Nothing = s.base.id, true, len(s.base.state.Entries) == 0
		return t.taken, true, nil
	}

	taken, err = t.keepSnapshot(ctx, t.chooseCandidates(changed))
	return taken, true, err
}

// addRelatedPaths returns paths with those of the last state that lie above or below one: of a file and one
// in a directory of the same name, only one can be there.
func (t *rescueTaker) addRelatedPaths(paths []string) []string {
	all := slices.Clone(paths)
	for _, e := range t.snapshot.base.state.Entries {
		at := string(e.Path)
		isRelated := func(p string) bool { return strings.HasPrefix(at, p+"/") || strings.HasPrefix(p, at+"/") }
		if slices.ContainsFunc(paths, isRelated) {
			all = append(all, at)
		}
	}

	slices.Sort(all)
	return slices.Compact(all)
}

// copyLastState begins with the last state. It reports whether that has something that may no longer be kept.
func (t *rescueTaker) copyLastState() (touched bool) {
	s := t.snapshot
	t.seen = &survey{
		head: s.base.state.Head, branch: s.base.branch, facts: s.base.index,
		entries: make(map[string]*manifest.Entry, len(s.base.state.Entries)),
	}

	for _, e := range s.base.state.Entries {
		t.seen.entries[string(e.Path)] = &e
		s.stamps[string(e.Path)] = s.base.stamps[string(e.Path)]
	}

	t.taken = Taken{Files: s.base.files, Bytes: s.base.bytes, LeftOut: s.base.leftOut, Nested: s.base.nested}
	if t.taken.Nested == nil {
		t.taken.Nested = []manifest.Nested{}
	}
	if t.taken.LeftOut == nil {
		t.taken.LeftOut = []manifest.LeftOut{}
	}

	t.taken.LeftOut = slices.Clone(t.taken.LeftOut)

	// Since then, [snapshots] never may have got more names.
	for _, e := range t.seen.entries {
		touched = t.dropNever(e) || touched
	}

	return touched
}

// recheckFile looks at the file of a path. touched is false if it is as it was. If it has to be read, the
// candidate says so.
func (t *rescueTaker) recheckFile(path string) (c candidate, touched bool) {
	if !isLocalPath(path) {
		return c, false
	}

	e := t.seen.entries[path]
	if e == nil {
		e = &manifest.Entry{Path: manifest.BytesText(path), Unsure: true}
	}

	info, err := t.tree.Lstat(path)
	isSame := err == nil && (info.IsDir() && e.Work == nil || t.snapshot.untouchedWork(e, plainfile.StampOf(info)) != nil)
	if isSame {
		return c, false
	}

	if err == nil && e.LeftOut && t.isNever(path) {
		return c, false
	}

	// What was known of the file holds no longer.
	isNew, was := t.seen.entries[path] == nil, e.Work
	t.seen.entries[path] = e
	e.Work, e.LeftOut = nil, false
	t.taken.LeftOut = slices.DeleteFunc(slices.Clone(t.taken.LeftOut), func(l manifest.LeftOut) bool { return l.Path == path })
	t.snapshot.stamps[path] = seenStamp{at: t.store.now().UnixNano()}

	if was != nil {
		t.taken.Bytes -= was.Size
	}

	if isAbsent(err) || err == nil && info.IsDir() {
		return c, isNew || was != nil
	}

	c, _ = t.measureFile(e, classTracked)
	return c, true
}
