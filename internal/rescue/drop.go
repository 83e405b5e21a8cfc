package rescue

import (
	"os"
	"path/filepath"
	"time"

	"talkingstick/stick"
)

// crashAge is the age at which a file that nobody owns is what a crash has left.
const crashAge = time.Hour

// rescueBytes returns how much a rescue takes on disk by itself, in bytes.
func (r *bareRepository) rescueBytes(f ref) (n int64) {
	for _, suffix := range []string{packSuffix, indexSuffix} {
		if info, err := os.Lstat(r.packBase(f.form, f.id) + suffix); err == nil {
			n += info.Size()
		}
	}
	return n
}

// dropRescue removes a rescue: first what makes it visible.
func (r *bareRepository) dropRescue(f ref) {
	if os.Remove(r.refPath(f)) != nil {
		return
	}
	r.kill("dropped ref")
	r.dropPack(f)
}

// dropPack removes the pack of a rescue that is gone.
func (r *bareRepository) dropPack(f ref) {
	base := r.packBase(f.form, f.id)

	// The index goes first: without it, the pack is none for git.
	os.Remove(base + indexSuffix)
	r.kill("dropped index")
	os.Remove(base + packSuffix)
	os.Remove(base + keepSuffix)
}

// sweepLeftovers removes what a crash has left in a directory: the chosen names, if they are older than
// anybody's work on them.
func sweepLeftovers(dir string, now stick.Time, chosen func(name string) bool) {
	all, _ := listNames(dir)
	for _, name := range all {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && chosen(name) && now.Sub(stick.At(info.ModTime())) > crashAge {
			os.RemoveAll(path)
		}
	}
}

// isMarked reports whether a rescue stays until its mark is removed.
func (r *bareRepository) isMarked(f ref) bool {
	_, err := os.Lstat(r.packBase(f.form, f.id) + keepSuffix)
	return err == nil
}
