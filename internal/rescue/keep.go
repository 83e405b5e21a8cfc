package rescue

import (
	"context"

	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// commits is what keeps commits in the same repositories as rescues.
func (s *Store) commits() *CommitStore {
	return &CommitStore{
		Root: s.root(), Now: s.now,
		Limits: CommitLimits{
			Time: s.Limits.Time, Bytes: s.Limits.CommitBytes, Total: s.Limits.CommitTotal,
			Age: s.Limits.Age, Count: s.Limits.Count,
		},
	}
}

// KeepCommits is [commitStore.Keep].
func (s *Store) KeepCommits(ctx context.Context, main string) (Kept, error) {
	return s.commits().Keep(ctx, main)
}

// LeftOutCommits is [commitStore.LeftOut].
func (s *Store) LeftOutCommits(tree workspace.Checkout) []LeftOut {
	return s.commits().LeftOut(tree)
}

// HasCommits is [commitStore.Has].
func (s *Store) HasCommits(common string) bool { return s.commits().Has(common) }

// LostTips is [commitStore.LostTips].
func (s *Store) LostTips(ctx context.Context, common string) ([]LostTip, error) {
	return s.commits().LostTips(ctx, common)
}

// InnerRepositories is [commitStore.InnerRepositories].
func (s *Store) InnerRepositories(common, top string) []string {
	return s.commits().InnerRepositories(common, top)
}

// KeepTips is [commitStore.KeepTips].
func (s *Store) KeepTips(ctx context.Context, common string, lost []Tip, now stick.Time) ([]Tip, error) {
	return s.commits().KeepTips(ctx, common, lost, now)
}

// Tips is [commitStore.Tips].
func (s *Store) Tips(ctx context.Context, common string) ([]Tip, error) {
	return s.commits().Tips(ctx, common)
}
