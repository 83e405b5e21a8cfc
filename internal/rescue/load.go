package rescue

import (
	"context"
	"errors"

	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/stick"
)

// loadedRescue is a rescue that was read, but for its blobs.
type loadedRescue struct {
	repo     *repository
	ref      bare.Ref
	manifest manifest.Manifest
	tree     string
	state    manifest.State
}

func (s *Store) loadRescue(ctx context.Context, id string) (*loadedRescue, error) {
	r, f, err := s.findRescue(id)
	if err != nil {
		return nil, err
	}
	l := &loadedRescue{repo: r, ref: f}
	return l, r.asDamage(f, l.readParts(ctx))
}

func (l *loadedRescue) readParts(ctx context.Context) (err error) {
	s := l.repo.NewSource(l.ref)
	defer s.Close()
	if l.manifest, l.tree, err = s.ReadManifest(ctx); err != nil {
		return err
	}

	l.state, err = s.ReadState(ctx, l.manifest, l.tree)
	return err
}

// isDamage reports whether what was read is to blame for an error of reading it.
func isDamage(err error) bool {
	isStopped := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	return !isStopped && stick.CodeOf(err) != stick.CodeGitMissing
}

// readBlobs reads blobs of a rescue, by their names. It fails as [Store.Show] does if one is missing.
func (l *loadedRescue) readBlobs(ctx context.Context, names []string) (map[string][]byte, error) {
	s := l.repo.NewSource(l.ref)
	defer s.Close()
	s.Needs = l.manifest.Needs

	found, err := s.ReadObjects(ctx, names)
	if err != nil {
		return nil, l.repo.asDamage(l.ref, err)
	}

	all := map[string][]byte{}
	for i, o := range found {
		if o.Kind != "blob" {
			return nil, l.repo.asDamage(l.ref, pack.ErrObject)
		}
		all[names[i]] = o.Data
	}
	return all, nil
}
