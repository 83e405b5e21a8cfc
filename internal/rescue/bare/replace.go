package bare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/pack"
)

// ReplacePack writes a pack again: the objects that keep keeps, and what add adds. One without objects is
// removed. Both files get their names after both are written; what is interrupted between, FinishReplacing
// finishes, and [pack.Open] reads.
func (r *Repository) ReplacePack(
	ctx context.Context, base string, in Form, keep func(name string) bool, add func(*pack.Writer) error,
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
		return errors.Join(os.Remove(base+pack.IndexSuffix), os.Remove(base+pack.Suffix))
	}

	return w.replaceFiles(base)
}

// copyFrom writes the objects of a pack that keep keeps. It fails with [fs.ErrNotExist] if there is no such
// pack.
func (w *Writer) copyFrom(ctx context.Context, base string, keep func(name string) bool) error {
	old, err := pack.Open(base)
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
		w.Pack.WriteObject(name, pack.KindOf(o.Kind), o.Data)
	}
	return nil
}

// replaceFiles puts what was written in the place of a pack.
func (w *Writer) replaceFiles(base string) error {
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
		err = os.Rename(f.Name(), base+pack.IndexSuffix+pack.ReplaceSuffix)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write a rescue: %w", err)
	}
	w.repo.Kill("new index")

	err = errors.Join(w.Pack.File.Sync(), w.Pack.File.Close())
	if err == nil {
		err = os.Rename(w.Pack.File.Name(), base+pack.Suffix+pack.ReplaceSuffix)
	}
	if err != nil {
		return fmt.Errorf("write a rescue: %w", err)
	}

	w.done = true
	w.repo.Kill("new pack")
	return w.repo.finishReplace(base)
}

// FinishReplacing finishes what an interrupted [Repository.ReplacePack] has left.
func (r *Repository) FinishReplacing() {
	all, _ := ListNames(r.PathTo(PacksName))
	for _, name := range all {
		if name, ok := strings.CutSuffix(name, pack.IndexSuffix+pack.ReplaceSuffix); ok {
			// If this fails, the next call tries again.
			_ = r.finishReplace(filepath.Join(r.PathTo(PacksName), name))
		}
	}
}

func (r *Repository) finishReplace(base string) error {
	packPath, index := base+pack.Suffix, base+pack.IndexSuffix
	switch _, err := os.Lstat(packPath + pack.ReplaceSuffix); {
	case err == nil:
		// The index was renamed before, so it is complete, too.
		if err := os.Rename(packPath+pack.ReplaceSuffix, packPath); err != nil {
			return err
		}
		r.Kill("replaced pack")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}

	// The pack's checksum says whether it is the new one.
	p, err := pack.Open(base)
	if err != nil {
		return err
	}
	defer p.Close()

	now, err := plainfile.Read(index + pack.ReplaceSuffix)
	if err != nil {
		return err
	}

	// If the indexes differ, the pack wasn't replaced.
	if string(now) != string(p.Index) {
		return os.Remove(index + pack.ReplaceSuffix)
	}
	return os.Rename(index+pack.ReplaceSuffix, index)
}
