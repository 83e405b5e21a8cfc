package guard

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// lookAfter makes the snapshots after a call, and finds what files are like now.
func (g *Guard) lookAfter(ctx context.Context, db *store.DB, q editQuestion, all []*checkout, by keeper) error {
	// Checkouts are looked at side by side, each with a place of its own for errors.
	ended, found := make([]error, len(all)), make([]error, len(all))
	var behind []*checkout // where a comparison is due, whatever the snapshots show
	var wait sync.WaitGroup
	for i, c := range all {
		c.finish = restore.LateSnapshot{Top: c.top, Named: c.files, Facts: by.snapshotFacts(q, rescue.MomentAfter)}
		if c.isGone() {
			c.gone = true
			ended[i] = g.endGone(ctx, c)
			continue
		}

		if c.isBehind() {
			behind = append(behind, c)
		}
		if !c.off {
			wait.Go(func() { ended[i] = g.endCall(ctx, q, c, by) })
		}
	}

	// Git is at work meanwhile. The transaction that notes the outcome reads all this again.
	early := g.readKnown(ctx, db, q.Caller, behind)
	wait.Wait()
	known := g.readKnown(ctx, db, q.Caller, findStale(all, behind))
	for i, c := range all {
		if !c.gone {
			wait.Go(func() { found[i] = c.findFiles(ctx, g.core.Config.Git, q) })
		}
	}

	wait.Wait()
	for _, c := range all {
		c.markOwn()
	}
	return cmp.Or(slices.Concat(ended, []error{early, known}, found)...)
}

// isBehind reports whether what was noted of all files was brought up to date with another snapshot than that
// before the call. Then it has to be compared with what they are like now, unless the call has brought the
// earlier state back.
func (c *checkout) isBehind() bool { return c.looks && c.call.Before != c.lastNoted }

// findStale returns the checkouts where what was noted has to be compared with what files are like now, without
// those of which that is known before. Most commands change nothing, and then the last snapshot says that it was
// compared already.
func findStale(all, before []*checkout) (stale []*checkout) {
	for _, c := range all {
		c.isNoted = c.call.After != "" && c.call.After == c.lastNoted
		if c.looks && !c.gone && !c.isNoted && !slices.Contains(before, c) {
			stale = append(stale, c)
		}
	}

	return stale
}

// readKnown reads what was noted of all files of checkouts. Where it fails, only the files that the call names
// are noted.
func (g *Guard) readKnown(ctx context.Context, db *store.DB, by core.Caller, compared []*checkout) error {
	if len(compared) == 0 {
		return nil
	}

	err := g.core.View(ctx, db, by, func(tx *store.Tx, _ *core.Probes) (err error) {
		for _, c := range compared {
			if c.known, err = tx.Edited(c.room, c.top, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		for _, c := range compared {
			c.looks = false
		}
	}
	return err
}

// isGone reports whether there is no checkout any more where a command may have changed anything.
func (c *checkout) isGone() bool {
	if c.gone || !c.looks {
		return c.gone
	}
	_, ok := workspace.FindCheckout(c.top, workspace.Env{})
	return !ok
}

// limitLook limits a look at a checkout.
func (q editQuestion) limitLook(ctx context.Context) (context.Context, context.CancelFunc) {
	if q.LookFor <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, q.LookFor)
}

// markOwn has what the call has changed for sure be its agent's, and nothing else. Where there are no
// snapshots, what the file system tells has to do.
func (c *checkout) markOwn() {
	if c.call.Before == "" || c.call.After == "" || !c.looks {
		return
	}

	for i, f := range c.found {
		_, c.found[i].New = c.own[f.Path]
	}
}

// findFiles finds what the checkout's files are like now. If it can't look at all of them in time, c.found
// has only those that are named. What the snapshot has found uncommitted is looked at whatever time it took
// to make it: only git is asked no longer than q.LookFor.
func (c *checkout) findFiles(ctx context.Context, g git.Client, q editQuestion) error {
	for _, path := range c.files {
		if s, _, err := workspace.StateOfFile(filepath.Join(c.top, path), edits.FileState{}); err == nil {
			c.found = append(c.found, edits.SeenFile{Path: path, State: s, New: true})
		}
	}

	c.named = c.found
	if !c.looks || c.isNoted {
		return nil
	}

	known := map[string]edits.FileState{}
	for _, f := range c.known {
		known[f.Path] = f.State
	}

	// The snapshot after the call may have listed the uncommitted files already.
	var seen []edits.SeenFile
	var err error
	if c.dirty != nil {
		seen, err = seeFiles(ctx, c.top, c.dirty, known, c.since)
	} else {
		looking, cancel := q.limitLook(ctx)
		defer cancel()
		_, seen, err = seeUncommitted(looking, g, c.top, known, c.since)
	}
	if err != nil {
		c.looks = false
		return err
	}

	for i := range seen {
		seen[i].Named = slices.Contains(c.files, seen[i].Path)
	}

	c.found = seen
	return nil
}

// seeUncommitted lists the files of a checkout that have changes, and says what they are like, and which of
// known are gone. What has changed since a time is new; if that time is zero, nothing is. With paths, it
// looks only there and below.
func seeUncommitted(
	ctx context.Context, g git.Client, top string,
	known map[string]edits.FileState, since stick.Time, paths ...string,
) (dirty []git.Uncommitted, found []edits.SeenFile, err error) {
	if dirty, err = g.Uncommitted(ctx, top, paths...); err != nil {
		return nil, nil, err
	}
	found, err = seeFiles(ctx, top, dirty, known, since)
	return dirty, found, err
}

// seeFiles says what the files of a checkout that have changes are like, and which of known are gone. Its
// since is that of [seeUncommitted].
func seeFiles(
	ctx context.Context, top string, dirty []git.Uncommitted, known map[string]edits.FileState, since stick.Time,
) (found []edits.SeenFile, err error) {
	const coarse = 10 * time.Millisecond // file systems take their time from a clock that ticks that slowly
	isDirty := map[string]bool{}
	for _, u := range dirty {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}

		isDirty[u.Path] = true
		s, changed, err := workspace.StateOfFile(filepath.Join(top, u.Path), known[u.Path])
		// It may be a repository of its own, or a file that can't be read.
		if err != nil {
			continue
		}

		recent := s.Sum == "" || !changed.Before(since.Go().Add(-coarse))
		found = append(found, edits.SeenFile{Path: u.Path, State: s, New: recent && !since.IsZero()})
	}

	// What was noted and has no changes any more is clean or gone.
	for _, path := range slices.Sorted(maps.Keys(known)) {
		if isDirty[path] || strings.HasSuffix(path, "/") {
			continue
		}
		if s, _, err := workspace.StateOfFile(filepath.Join(top, path), known[path]); err == nil && s.Sum == "" {
			found = append(found, edits.SeenFile{Path: path, Clean: true})
		}
	}

	return found, nil
}
