package rescue

import (
	"context"
	"slices"
	"strings"

	"talkingstick/internal/rescue/manifest"
	"talkingstick/stick"
)

// PathChange is how a path differs between two rescues of a checkout.
type PathChange struct {
	Path string     `json:"path"` // relative to the top level of the checkout
	Kind ChangeKind `json:"kind"` // what happened to it
	Old  Side       `json:"old"`  // how it was
	New  Side       `json:"new"`  // how it is

	Ignored bool `json:"ignored,omitempty"` // git ignores it

	// Unsure is true if one of the two only looked at the file: what HEAD and the index had isn't known. The
	// kind says what is sure of the file itself.
	Unsure bool `json:"unsure,omitempty"`
}

// Side is a path in a rescue. A zero one says that there was no file.
type Side struct {
	Mode    string `json:"mode,omitempty"`     // as git writes it, of the file in the working tree
	Blob    string `json:"blob,omitempty"`     // its bytes, in the rescue
	Commit  string `json:"commit,omitempty"`   // nothing was uncommitted: the file was, or wasn't, as in this commit
	LeftOut bool   `json:"left_out,omitempty"` // it was there, and the rescue lacks it
}

// ChangeKind says what happened to a path.
type ChangeKind string

// The kinds of changes.
const (
	ChangeMade    ChangeKind = "made"    // there is a file where there was none
	ChangeChanged ChangeKind = "changed" // the file has other bytes, or another mode
	ChangeDeleted ChangeKind = "deleted" // the file is gone
	ChangeClean   ChangeKind = "clean"   // it is as in HEAD: it was committed, or what was uncommitted was undone
	ChangeStaged  ChangeKind = "staged"  // only what is staged differs
	ChangeKept    ChangeKind = "kept"    // it is kept now, and wasn't: whether it differs isn't known
)

// Changes returns how the paths of a rescue differ in a later one of the same checkout, sorted by path, with
// those of repositories inside. Of paths that neither holds it says nothing: these are as in HEAD, which may
// be another commit. Nor of those that the later one couldn't look at, or that are new to it because the
// earlier one had no time to look. It fails as [Store.Show] does, and
// with [stick.CodeUsage] for rescues of two checkouts.
func (s *Store) Changes(ctx context.Context, before, after string) ([]PathChange, error) {
	a, err := s.loadRescue(ctx, before)
	if err != nil {
		return nil, err
	}
	b, err := s.loadRescue(ctx, after)
	if err != nil {
		return nil, err
	}
	if a.manifest.Common != b.manifest.Common || a.ref.Checkout != b.ref.Checkout {
		return nil, stick.Errorf(stick.CodeUsage, "rescues %s and %s are of different checkouts", before, after).With("rescue", after)
	}

	all := compareStates(a.state, b.state, a.manifest.LeftOut, b.manifest.LeftOut)
	for _, n := range b.manifest.Nested {
		i := slices.IndexFunc(a.manifest.Nested, func(was manifest.Nested) bool { return was.Path == n.Path })

		// Nothing is known from before, or nothing has changed.
		if i < 0 || a.manifest.Nested[i].ID == n.ID {
			continue
		}
		inside, err := s.Changes(ctx, a.manifest.Nested[i].ID, n.ID)
		if err != nil {
			return nil, err
		}

		for _, c := range inside {
			c.Path = n.Path + "/" + c.Path
			all = append(all, c)
		}
	}

	slices.SortStableFunc(all, func(a, b PathChange) int { return strings.Compare(a.Path, b.Path) })

	// what lies two repositories deep is known to both
	return slices.CompactFunc(all, func(a, b PathChange) bool { return a.Path == b.Path }), nil
}

// compareStates returns how the paths of a state differ in another. Beside each is what it lacks.
func compareStates(before, after manifest.State, lacked, lacks []manifest.LeftOut) []PathChange {
	c := comparison{before: before.Head, after: after.Head, missed: pathSet{}, unseen: pathSet{}}
	for _, l := range lacked {
		if l.Why == manifest.WhyTime {
			c.missed[l.Path] = true
		}
	}
	for _, l := range lacks {
		c.unseen[l.Path] = true
	}

	// Both lists are sorted by path, so that one walk finds the pairs.
	all := []PathChange{}
	old, now := before.Entries, after.Entries
	for len(old) > 0 || len(now) > 0 {
		var was, is *manifest.Entry
		if len(now) == 0 || len(old) > 0 && old[0].Path <= now[0].Path {
			was, old = &old[0], old[1:]
		}
		if len(now) > 0 && (was == nil || now[0].Path == was.Path) {
			is, now = &now[0], now[1:]
		}

		if change, ok := c.compareEntries(was, is); ok {
			all = append(all, change)
		}
	}

	return all
}

// comparison compares the entries of two states. An entry that a state lacks is nil.
type comparison struct {
	before, after string  // what HEAD was
	missed        pathSet // that the first state had no time to look at
	unseen        pathSet // that the second state couldn't look at
}

func (c comparison) compareEntries(was, is *manifest.Entry) (change PathChange, ok bool) {
	change.Old, change.New = sideOf(was, c.before), sideOf(is, c.after)

	for _, e := range []*manifest.Entry{was, is} {
		if e != nil {
			change.Path = string(e.Path)
			change.Unsure = change.Unsure || e.Unsure
			change.Ignored = change.Ignored || e.Ignored
		}
	}

	switch {
	case was == nil:
		change.Kind, ok = c.kindOfAppeared(is)
	case is == nil && c.unseen.has(change.Path): // whether it is gone isn't known
	case is == nil:
		change.Kind, ok = c.kindOfVanished(was)

		// There is no file now, whatever HEAD has.
		if change.Kind == ChangeDeleted {
			change.New = Side{}
		}
	default:
		change.Kind, ok = c.kindOfDiffering(was, is, change)
	}

	return change, ok
}

// sideOf returns how a path was, by its entry.
func sideOf(e *manifest.Entry, head string) Side {
	switch {
	case e == nil:
		return Side{Commit: head}
	case e.Work != nil:
		return Side{Mode: e.Work.Mode, Blob: e.Work.Blob}
	}
	return Side{LeftOut: e.LeftOut}
}

// kindOfAppeared judges an entry where there was nothing uncommitted.
func (c comparison) kindOfAppeared(is *manifest.Entry) (ChangeKind, bool) {
	isTracked := is.Head != nil || is.IsConflict()

	switch {
	case is.Unsure:
		return ChangeKept, is.Work != nil
	case is.Work == nil && !is.LeftOut && isTracked:
		return ChangeDeleted, !is.IsSubmodule()
	case is.Work == nil && !is.LeftOut, is.IsHead():
		return ChangeStaged, true
	case isTracked:
		return ChangeChanged, true
	}

	// Where nobody had looked, the file may have been there.
	return ChangeMade, !c.missed.has(string(is.Path)) || len(is.Index) > 0
}

// kindOfVanished judges an entry where there is nothing uncommitted any more.
func (c comparison) kindOfVanished(was *manifest.Entry) (ChangeKind, bool) {
	isFile := was.Work != nil || was.LeftOut

	switch {
	case was.Unsure:
		return ChangeClean, isFile
	case was.Head != nil || was.IsConflict() || c.before != c.after && isFile:
		return ChangeClean, true
	case isFile:
		return ChangeDeleted, true // HEAD hasn't got it
	}
	return ChangeStaged, len(was.Index) > 0
}

// kindOfDiffering judges a path of which both states hold something.
func (c comparison) kindOfDiffering(was, is *manifest.Entry, change PathChange) (ChangeKind, bool) {
	wasFile, isFile := was.Work != nil || was.LeftOut, is.Work != nil || is.LeftOut

	switch {
	case !wasFile && isFile:
		return ChangeMade, true
	case wasFile && !isFile:
		return ChangeDeleted, true
	case was.LeftOut && is.LeftOut: // nobody knows
	case is.LeftOut && is.Head == nil && c.unseen.has(change.Path): // nor here
	case was.LeftOut:
		return ChangeKept, true
	case change.Old != change.New:
		return ChangeChanged, true
	}

	return ChangeStaged, !change.Unsure && !slices.EqualFunc(was.Index, is.Index, func(a, b manifest.Version) bool {
		return a.Mode == b.Mode && a.OID == b.OID && a.Stage == b.Stage
	})
}

// pathSet has files, and directories with / at their ends, which stand for all below.
type pathSet map[string]bool

// has reports whether a path, or a directory above it, is in the set.
func (s pathSet) has(path string) bool {
	if s[path] || s["./"] {
		return true
	}

	for i := range path {
		if path[i] == '/' && s[path[:i+1]] {
			return true
		}
	}
	return false
}
