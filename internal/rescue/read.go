package rescue

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/internal/rescue/workfile"
)

// stagedCandidates returns the versions in the index that HEAD doesn't have: after a reset, nothing would
// refer to them any more.
func (t *rescueTaker) stagedCandidates() ([]candidate, error) {
	var all []candidate
	var ask bytes.Buffer

	for _, e := range t.seen.entries {
		if t.leaveOutStaged(e) {
			continue
		}
		for i := range e.Index {
			v := &e.Index[i]
			isCommitted := !e.IsConflict() && e.Head != nil && e.Head.OID == v.OID
			if e.Intent || v.IsSubmodule() || isCommitted {
				continue
			}

			// What the last snapshot has isn't read again.
			if blob, size, ok := t.snapshot.stagedBefore(v.OID); ok {
				v.Blob = blob
				t.taken.Bytes += size
				continue
			}

			all = append(all, candidate{entry: e, version: v, class: classTracked})
			ask.WriteString(v.OID + "\n")
		}
	}

	if len(all) == 0 {
		return nil, nil
	}

	var out bytes.Buffer
	_, err := t.git.WithEnv(pack.NoReplace).Run(t.reading, &ask, &out, "cat-file", "--batch-check")
	if errors.Is(err, context.DeadlineExceeded) {
		for _, c := range all {
			t.leaveOut(string(c.entry.Path), manifest.WhyTime, 0)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	lines := strings.Split(out.String(), "\n")
	if len(lines) < len(all) {
		return nil, pack.ErrObject
	}

	found := all[:0]
	for i, c := range all {
		o, err := pack.ParseObjectHead(lines[i])
		if err != nil || o.Kind != "blob" {
			t.leaveOut(string(c.entry.Path), manifest.WhyUnreadable, 0)
			continue
		}

		c.size = o.Size
		found = append(found, c)
	}

	return found, nil
}

// readCandidates reads what was chosen into the pack.
func (t *rescueTaker) readCandidates(wanted []candidate) error {
	var versions []*manifest.Version
	paths := map[*manifest.Version]string{}
	for _, c := range wanted {
		if c.version != nil {
			versions = append(versions, c.version)
			paths[c.version] = string(c.entry.Path)
			continue
		}
		t.readWork(c)
	}

	// Git reads all staged versions in one run.
	names := make([]string, len(versions))
	for i, v := range versions {
		names[i] = v.OID
	}

	found, err := pack.ReadObjects(t.reading, t.git, names)
	if errors.Is(err, context.DeadlineExceeded) {
		for _, v := range versions {
			t.leaveOut(paths[v], manifest.WhyTime, 0)
		}
		return nil
	}
	if err != nil {
		return err
	}

	for i, v := range versions {
		if found[i].Kind != "blob" {
			t.leaveOut(paths[v], manifest.WhyUnreadable, 0)
			continue
		}

		v.Blob = t.pack.AddObject(pack.KindBlob, found[i].Data)
		t.taken.Bytes += int64(len(found[i].Data))
	}

	return nil
}

// readFile reads a file of the tree. If that isn't done when the time for reading is over, the tree is left
// to the goroutine that still reads, and no other file is read.
func (t *rescueTaker) readFile(path string) (c workfile.Content, err error) {
	if err := t.reading.Err(); err != nil {
		return workfile.Content{}, err
	}

	tree, ended := t.tree, make(chan struct{})
	c, err = inTime(t.reading, 0, func() (workfile.Content, error) {
		defer close(ended)
		t.store.kill("reading")
		return tree.ReadContent(t.reading, path, t.store.Limits.Bytes)
	})

	select {
	case <-ended:
	default:
		t.tree = nil

		// This ends when the disk answers.
		go func() {
			<-ended
			tree.Close()
		}()
	}

	return c, err
}

// readWork reads the file of an entry into the pack, unless it is untouched since an earlier pack has it.
func (t *rescueTaker) readWork(wanted candidate) {
	e := wanted.entry
	if wanted.same != nil {
		e.Work = wanted.same
		t.taken.Bytes += wanted.same.Size
		t.snapshot.noteStamp(string(e.Path), wanted.stamp, time.Time{})
		return
	}

	at := t.store.now()
	c, err := t.readFile(string(e.Path))

	switch {
	case err == nil:
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		t.leaveOutUnread(e)
		return
	case errors.Is(err, workfile.ErrTorn), errors.Is(err, fs.ErrNotExist), errors.Is(err, workfile.ErrLarge):
		// It was there, and small enough, when it was measured.
		t.leaveOutWork(e, manifest.WhyTorn)
		return
	case errors.Is(err, workfile.ErrSpecial):
		t.leaveOutWork(e, manifest.WhySpecial)
		return
	default:
		t.leaveOutWork(e, manifest.WhyUnreadable)
		return
	}

	// Git was told to take it for unchanged, and it is.
	isFlagged := e.Assume || e.Skip
	if isFlagged && !e.IsStaged() && isAsStaged(*e, c) {
		delete(t.seen.entries, string(e.Path))
		return
	}

	e.Work = &manifest.WorkFile{Mode: c.Mode, Perm: c.Perm, Size: int64(len(c.Data)), Blob: t.pack.AddObject(pack.KindBlob, c.Data)}
	t.taken.Bytes += int64(len(c.Data))
	t.snapshot.noteStamp(string(e.Path), plainfile.StampOf(c.Info), at)
}

// isAsStaged reports whether a file has the bytes and the mode that the index has for it.
func isAsStaged(e manifest.Entry, c workfile.Content) bool {
	staged := e.Index[0]
	return staged.Mode == c.Mode && staged.OID == pack.ObjectName(pack.NewHash(staged.OID), "blob", c.Data)
}
