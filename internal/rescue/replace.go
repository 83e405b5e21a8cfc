package rescue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/internal/plainfile"
)

// ReplacePack writes a pack again: the objects that keep keeps, and what add adds. One without objects is
// removed. Both files get their names after both are written; what is interrupted between, finishReplacing
// finishes, and openPack reads.
func (r *Repository) ReplacePack(
	ctx context.Context, base string, in Form, keep func(name string) bool, add func(*Writer) error,
) error {
	w := r.BeginWriting(in)
	defer w.Abandon()

	err := w.copyFrom(ctx, base, keep)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}

	if add != nil {
		if err := add(w.Pack); err != nil {
			return err
		}
	}

	if w.Pack.IsEmpty() {
		return errors.Join(os.Remove(base+IndexSuffix), os.Remove(base+Suffix))
	}

	return w.replaceFiles(base)
}

// copyFrom writes the objects of a pack that keep keeps. It fails with [fs.ErrNotExist] if there is no such
// pack.
func (w *RescueWriter) copyFrom(ctx context.Context, base string, keep func(name string) bool) error {
	old, err := Open(base)
	if err != nil {
		return err
	}
	defer old.Close()

	for _, name := range old.ObjectNames() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !keep(name) {
			continue
		}

		o, err := old.ReadObject(name)
		if err != nil {
			return err
		}
		w.Pack.WriteObject(name, KindOf(o.Kind), o.Data)
	}
	return nil
}

// replaceFiles puts what was written in the place of a pack.
func (w *RescueWriter) replaceFiles(base string) error {
	index, err := w.Pack.Finish()
	if err != nil {
		return err
	}

	f, err := plainfile.Temp(w.repo.PathTo(PacksName), TempPrefix)
	if err != nil {
		return ErrUnwritable(base, err)
	}

	// The new index stands before the new pack: where that is, both are complete.
	_, err = f.Write(index)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), base+IndexSuffix+ReplaceSuffix)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write a rescue: %w", err)
	}
	w.repo.Kill("new index")

	err = errors.Join(w.Pack.File.Sync(), w.Pack.File.Close())
	if err == nil {
		err = os.Rename(w.Pack.File.Name(), base+Suffix+ReplaceSuffix)
	}
	if err != nil {
		return fmt.Errorf("write a rescue: %w", err)
	}

	w.done = true
	w.repo.Kill("new pack")
	return w.repo.finishReplace(base)
}

// FinishReplacing finishes what an interrupted replacePack has left.
func (r *Repository) FinishReplacing() {
	all, _ := ListNames(r.PathTo(PacksName))
	for _, name := range all {
		if name, ok := strings.CutSuffix(name, IndexSuffix+ReplaceSuffix); ok {
			// If this fails, the next call tries again.
			_ = r.finishReplace(filepath.Join(r.PathTo(PacksName), name))
		}
	}
}

func (r *Repository) finishReplace(base string) error {
	packPath, index := base+Suffix, base+IndexSuffix
	switch _, err := os.Lstat(packPath + ReplaceSuffix); {
	case err == nil:
		// The index was renamed before, so it is complete, too.
		if err := os.Rename(packPath+ReplaceSuffix, packPath); err != nil {
			return err
		}
		r.Kill("replaced pack")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}

	// The pack's checksum says whether it is the new one.
	p, err := Open(base)
	if err != nil {
		return err
	}
	defer p.Close()

	now, err := plainfile.Read(index + ReplaceSuffix)
	if err != nil {
		return err
	}

	// If the indexes differ, the pack wasn't replaced.
	if string(now) != string(p.Index) {
		return os.Remove(index + ReplaceSuffix)
	}
	return os.Rename(index+ReplaceSuffix, index)
}
