package bare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/stick"
)

// Writer writes one rescue.
type Writer struct {
	repo *Repository
	form Form
	Pack *pack.Writer
	done bool // the pack has its name
}

// BeginWriting begins a rescue. Nothing is made before its first object is added.
func (r *Repository) BeginWriting(f Form) *Writer {
	return &Writer{repo: r, form: f, Pack: pack.NewWriter(f.Lean, func() (*os.File, error) {
		file, err := plainfile.Temp(r.PathTo(PacksName), TempPrefix)
		if err != nil {
			return nil, ErrUnwritable(r.PathTo(PacksName), err)
		}
		return file, nil
	})}
}

// Abandon removes what was written, unless the rescue is complete.
func (w *Writer) Abandon() {
	if w.Pack.File != nil && !w.done {
		w.Pack.File.Close()
		os.Remove(w.Pack.File.Name())
	}
}

// Complete writes the commit of a tree that the pack has, and makes the rescue visible. If ctx ends, it
// doesn't wait any longer until the disk has everything; every process sees it all the same.
func (w *Writer) Complete(ctx context.Context, checkout, tree string, m manifest.Manifest) (id string, err error) {
	refs := w.repo.PathTo(w.form.Refs + "/" + checkout)
	if err := plainfile.MkdirAll(refs); err != nil {
		return "", ErrUnwritable(refs, err)
	}
	if err := CheckFolder(refs); err != nil {
		return "", err
	}

	id, lock, err := w.claimID(checkout, m.At, tree)
	if err != nil {
		return "", ErrUnwritable(refs, err)
	}
	defer lock.Close()
	w.repo.Kill("claimed")

	m.ID = id
	if err := w.writeFiles(ctx, lock, tree, m); err != nil {
		os.Remove(lock.Name())
		return "", fmt.Errorf("write a rescue: %w", err)
	}

	// The ref makes the rescue visible, so it comes last.
	if err := os.Rename(lock.Name(), filepath.Join(refs, id)); err != nil {
		return "", fmt.Errorf("write a rescue: %w", err)
	}

	w.repo.Kill("ref")
	w.syncFolder(ctx, refs)
	return id, nil
}

// syncFile and syncFolder have the disk keep what was written. A snapshot doesn't wait for that: there is one
// after each call of an agent, and only a failing machine could lose it.
func (w *Writer) syncFile(ctx context.Context, f *os.File) error {
	if w.form.Lean {
		return nil
	}
	return syncFile(ctx, f)
}

func (w *Writer) syncFolder(ctx context.Context, path string) {
	if !w.form.Lean {
		syncFolder(ctx, path)
	}
}

// claimID finds an id that no rescue of the checkout has, and keeps it by the lock file of its ref.
func (w *Writer) claimID(checkout string, at stick.Time, tree string) (id string, lock *os.File, err error) {
	refs := w.repo.PathTo(w.form.Refs + "/" + checkout)
	sum := tree

	// One call makes snapshots of several checkouts at once, and clean ones have the same tree.
	if w.form == LeanForm {
		sum = manifest.ShortSum(checkout+tree, 2)
	}

	for {
		id = manifest.NewID(at, sum)
		lock, err = plainfile.Open(filepath.Join(refs, id+LockSuffix), os.O_CREATE|os.O_EXCL|os.O_WRONLY)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", nil, err
		}
		if err == nil {
			// A rescue in the other form may have this id.
			if !w.repo.hasID(checkout, id) {
				return id, lock, nil
			}
			lock.Close()
			os.Remove(lock.Name())
		}

		// The id is taken: that of the next millisecond may be free.
		at++
	}
}

// writeFiles gives the pack and its index their names, and writes the ref's lock file.
func (w *Writer) writeFiles(ctx context.Context, lock *os.File, tree string, m manifest.Manifest) error {
	text, err := m.EncodeJSON()
	if err != nil {
		return err
	}

	commit := w.Pack.AddObject(pack.KindCommit, CommitText(tree, m.At, text))
	index, err := w.Pack.Finish()
	if err != nil {
		return err
	}

	base := w.repo.PackBase(w.form, m.ID)
	if err := w.settleFile(ctx, w.Pack.File, base+pack.Suffix); err != nil {
		return err
	}
	w.done = true
	w.repo.Kill("pack")

	f, err := plainfile.Temp(w.repo.PathTo(PacksName), TempPrefix)
	if err != nil {
		return err
	}
	if _, err = f.Write(index); err == nil {
		err = w.settleFile(ctx, f, base+pack.IndexSuffix)
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		os.Remove(base + pack.Suffix)
		return err
	}

	w.repo.Kill("index")
	w.syncFolder(ctx, w.repo.PathTo(PacksName))

	// The lock file becomes the ref when it gets its name.
	if _, err := lock.WriteString(commit + "\n"); err != nil {
		return err
	}
	return w.syncFile(ctx, lock)
}

// CommitText is the commit of a rescue.
func CommitText(tree string, at stick.Time, manifest []byte) []byte {
	who := fmt.Sprintf("tt <tt@localhost> %d +0000", int64(at)/1000)
	return fmt.Appendf(nil, "tree %s\nauthor %s\ncommitter %s\n\n%s\n", tree, who, who, manifest)
}

// settleFile has the disk keep a file, closes it, and gives it its name.
func (w *Writer) settleFile(ctx context.Context, f *os.File, name string) error {
	if err := w.syncFile(ctx, f); err != nil {
		return err
	}

	f.Close()
	return os.Rename(f.Name(), name)
}

// syncFile is [os.File.Sync], but for at most as long as ctx lasts. Then only a failing machine could still
// lose the file.
func syncFile(ctx context.Context, f *os.File) error {
	if ctx.Err() != nil {
		return nil
	}

	done := make(chan error, 1)

	// This ends when the disk has done its work. To close f meanwhile is safe.
	go func() { done <- f.Sync() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return nil
	}
}

// syncFolder has the disk keep the names in a directory, as far as the system can.
func syncFolder(ctx context.Context, path string) {
	if d, err := os.Open(path); err == nil {
		_ = syncFile(ctx, d)
		d.Close()
	}
}
