package rescue

import (
	"context"

	"talkingstick/internal/rescue/commits"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// commits is what keeps commits in the same repositories as rescues.
func (s *Store) commits() *commits.Store {
	return &commits.Store{
		Root: s.root(), Now: s.now,
		Limits: commits.Limits{
			Time: s.Limits.Time, Bytes: s.Limits.CommitBytes, Total: s.Limits.CommitTotal,
			Age: s.Limits.Age, Count: s.Limits.Count,
		},
	}
}

// KeepCommits is [commits.Store.Keep].
func (s *Store) KeepCommits(ctx context.Context, main string) (commits.Kept, error) {
	return s.commits().Keep(ctx, main)
}

// LeftOutCommits is [commits.Store.LeftOut].
func (s *Store) LeftOutCommits(tree workspace.Checkout) []LeftOut {
	return s.commits().LeftOut(tree)
}

// HasCommits is [commits.Store.HasKept].
func (s *Store) HasCommits(common string) bool { return s.commits().HasKept(common) }

// LostTips is [commits.Store.LostTips].
func (s *Store) LostTips(ctx context.Context, common string) ([]commits.LostTip, error) {
	return s.commits().LostTips(ctx, common)
}

// InnerRepositories is [commits.Store.InnerRepositories].
func (s *Store) InnerRepositories(common, top string) []string {
	return s.commits().InnerRepositories(common, top)
}

// KeepTips is [commits.Store.KeepTips].
func (s *Store) KeepTips(ctx context.Context, common string, lost []commits.Tip, now stick.Time) ([]commits.Tip, error) {
	return s.commits().KeepTips(ctx, common, lost, now)
}

// Tips is [commits.Store.Tips].
func (s *Store) Tips(ctx context.Context, common string) ([]commits.Tip, error) {
	return s.commits().Tips(ctx, common)
}
