package bare

import (
	"os"
	"path/filepath"
	"time"

	"talkingstick/internal/rescue/pack"
	"talkingstick/stick"
)

// CrashAge is the age at which a file that nobody owns is what a crash has left.
const CrashAge = time.Hour

// RescueBytes returns how much a rescue takes on disk by itself, in bytes.
func (r *Repository) RescueBytes(f Ref) (n int64) {
	for _, suffix := range []string{pack.Suffix, pack.IndexSuffix} {
		if info, err := os.Lstat(r.PackBase(f.Form, f.ID) + suffix); err == nil {
			n += info.Size()
		}
	}
	return n
}

// DropRescue removes a rescue: first what makes it visible.
func (r *Repository) DropRescue(f Ref) {
	if os.Remove(r.RefPath(f)) != nil {
		return
	}
	r.Kill("dropped ref")
	r.DropPack(f)
}

// DropPack removes the pack of a rescue that is gone.
func (r *Repository) DropPack(f Ref) {
	base := r.PackBase(f.Form, f.ID)

	// The index goes first: without it, the pack is none for git.
	os.Remove(base + pack.IndexSuffix)
	r.Kill("dropped index")
	os.Remove(base + pack.Suffix)
	os.Remove(base + KeepSuffix)
	os.Remove(base + DoneSuffix)
}

// SweepLeftovers removes what a crash has left in a directory: the chosen names, if they are older than
// anybody's work on them.
func SweepLeftovers(dir string, now stick.Time, chosen func(name string) bool) {
	all, _ := ListNames(dir)
	for _, name := range all {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && chosen(name) && now.Sub(stick.At(info.ModTime())) > CrashAge {
			os.RemoveAll(path)
		}
	}
}

// IsMarked reports whether a rescue stays until its mark is removed.
func (r *Repository) IsMarked(f Ref) bool {
	_, err := os.Lstat(r.PackBase(f.Form, f.ID) + KeepSuffix)
	return err == nil
}
