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

// replacePack writes a pack again: the objects that keep keeps, and what add adds. One without objects is
// removed. Both files get their names after both are written; what is interrupted between, finishReplacing
// finishes, and openPack reads.
func (r *bareRepository) replacePack(
	ctx context.Context, base string, in form, keep func(name string) bool, add func(*pack) error,
) error {
	w := r.beginWriting(in)
	defer w.abandon()

	err := w.copyFrom(ctx, base, keep)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}

	if add != nil {
		if err := add(w.pack); err != nil {
			return err
		}
	}

	if w.pack.isEmpty() {
		return errors.Join(os.Remove(base+indexSuffix), os.Remove(base+packSuffix))
	}

	return w.replaceFiles(base)
}

// copyFrom writes the objects of a pack that keep keeps. It fails with [fs.ErrNotExist] if there is no such
// pack.
func (w *rescueWriter) copyFrom(ctx context.Context, base string, keep func(name string) bool) error {
	old, err := openPack(base)
	if err != nil {
		return err
	}
	defer old.close()

	for _, name := range old.objectNames() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !keep(name) {
			continue
		}

		o, err := old.readObject(name)
		if err != nil {
			return err
		}
		w.pack.writeObject(name, kindOf(o.kind), o.data)
	}
	return nil
}

// replaceFiles puts what was written in the place of a pack.
func (w *rescueWriter) replaceFiles(base string) error {
	index, err := w.pack.finish()
	if err != nil {
		return err
	}

	f, err := plainfile.Temp(w.repo.pathTo(packsName), tempPrefix)
	if err != nil {
		return unwritable(base, err)
	}

	// The new index stands before the new pack: where that is, both are complete.
	_, err = f.Write(index)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), base+indexSuffix+replaceSuffix)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write a rescue: %w", err)
	}
	w.repo.kill("new index")

	err = errors.Join(w.pack.file.Sync(), w.pack.file.Close())
	if err == nil {
		err = os.Rename(w.pack.file.Name(), base+packSuffix+replaceSuffix)
	}
	if err != nil {
		return fmt.Errorf("write a rescue: %w", err)
	}

	w.done = true
	w.repo.kill("new pack")
	return w.repo.finishReplace(base)
}

// finishReplacing finishes what an interrupted replacePack has left.
func (r *bareRepository) finishReplacing() {
	all, _ := listNames(r.pathTo(packsName))
	for _, name := range all {
		if name, ok := strings.CutSuffix(name, indexSuffix+replaceSuffix); ok {
			// If this fails, the next call tries again.
			_ = r.finishReplace(filepath.Join(r.pathTo(packsName), name))
		}
	}
}

func (r *bareRepository) finishReplace(base string) error {
	packPath, index := base+packSuffix, base+indexSuffix
	switch _, err := os.Lstat(packPath + replaceSuffix); {
	case err == nil:
		// The index was renamed before, so it is complete, too.
		if err := os.Rename(packPath+replaceSuffix, packPath); err != nil {
			return err
		}
		r.kill("replaced pack")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}

	// The pack's checksum says whether it is the new one.
	p, err := openPack(base)
	if err != nil {
		return err
	}
	defer p.close()

	now, err := plainfile.Read(index + replaceSuffix)
	if err != nil {
		return err
	}

	// If the indexes differ, the pack wasn't replaced.
	if string(now) != string(p.index) {
		return os.Remove(index + replaceSuffix)
	}
	return os.Rename(index+replaceSuffix, index)
}
