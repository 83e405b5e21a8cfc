package rescue

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/commits"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// commit makes a commit with one file, and returns its name.
func (s *scratch) commit(text string) string {
	s.t.Helper()
	s.write("a.txt", text+"\n")
	s.git("commit", "-qam", text)
	return s.git("rev-parse", "HEAD")[:40]
}

func (s *scratch) keepCommits() commits.Kept {
	s.t.Helper()
	kept, err := s.store.KeepCommits(context.Background(), s.tree.Common)
	if err != nil {
		s.t.Fatal(err)
	}
	return kept
}

// keepsNew keeps commits, and checks how many are new, and that none is left out.
func (s *scratch) keepsNew(n int) {
	s.t.Helper()
	if kept := s.keepCommits(); kept.Same || kept.New != n || len(kept.LeftOut) > 0 {
		s.t.Fatalf("%d new commits are expected: %+v", n, kept)
	}
}

// loseRepository removes the repository, and makes a new one in its place.
func (s *scratch) loseRepository() {
	s.t.Helper()
	if err := os.RemoveAll(s.tree.Common); err != nil {
		s.t.Fatal(err)
	}
	s.git("init", "-q")
}

func (s *scratch) lost() []commits.LostTip {
	s.t.Helper()
	lost, err := s.store.LostTips(context.Background(), s.tree.Common)
	if err != nil {
		s.t.Fatal(err)
	}
	return lost
}

// fetches checks that git fetches a lost tip, and all that it reaches.
func (s *scratch) fetches(l commits.LostTip) {
	s.t.Helper()
	args := []string{"fetch", "-q", l.Repository, l.Ref + ":refs/heads/back-" + l.Commit[:9]}
	if l.Leans {
		args = slices.Insert(args, 2, "--upload-pack", commits.UploadPack(s.tree.Common))
	}
	s.git(args...)
	s.git("fsck", "--strict", "--no-dangling")
	s.git("rev-list", "--objects", "--quiet", l.Commit)
}

// brings checks that commits are lost, and that git fetches each.
func (s *scratch) brings(wanted ...string) {
	s.t.Helper()
	lost := s.lost()
	for _, c := range wanted {
		i := slices.IndexFunc(lost, func(l commits.LostTip) bool { return l.Commit == c })
		if i < 0 {
			s.t.Fatalf("%s isn't among %+v", c, lost)
		}
		s.fetches(lost[i])
	}
}

func TestStore_KeepCommits(t *testing.T) {
	t.Run("brings back everything where there is no remote", func(t *testing.T) {
		s := newScratch(t)
		s.keepsNew(1)
		s.commit("second")
		s.git("branch", "topic")
		third := s.commit("third")
		s.keepsNew(2)
		if lost := s.lost(); len(lost) > 0 {
			t.Errorf("nothing is lost: %+v", lost)
		}
		s.loseRepository()
		s.brings(third)
		lost := s.lost()
		if len(lost) > 0 {
			t.Errorf("the branch topic came with main: %+v", lost)
		}
	})

	t.Run("asks no git while no ref moves", func(t *testing.T) {
		s := newScratch(t)
		s.keepsNew(1)
		s.write("a.txt", "changed\n")
		s.store.Git = git.Client{Path: "no-such-git"}
		if kept := s.keepCommits(); !kept.Same || kept.New != 0 {
			t.Errorf("%+v", kept)
		}
		s.commit("second")
		if _, err := s.store.KeepCommits(context.Background(), s.tree.Common); stick.CodeOf(err) != stick.CodeGitMissing {
			t.Errorf("a ref has moved: %v", err)
		}
	})

	t.Run("copies what a remote hasn't", func(t *testing.T) {
		s := newScratch(t)
		up := filepath.Join(filepath.Dir(s.top), "up.git")
		s.git("init", "-q", "--bare", up)
		s.git("remote", "add", "origin", up)
		s.git("push", "-q", "origin", "HEAD:main")
		s.git("fetch", "-q")
		s.keepsNew(0)
		s.commit("second")
		third := s.commit("third")
		s.keepsNew(2)
		fourth := s.commit("fourth")
		s.keepsNew(1)
		s.git("push", "-q", "origin", "HEAD~2:main")
		fifth := s.commit("fifth")
		s.keepsNew(1)
		s.loseRepository()
		s.git("fetch", "-q", up, "main:refs/remotes/origin/main")
		s.brings(fifth)
		for _, c := range []string{third, fourth} {
			s.git("cat-file", "-e", c)
		}
		if len(s.lost()) > 0 {
			t.Errorf("%+v", s.lost())
		}
	})

	t.Run("copies anew what a remote has no longer", func(t *testing.T) {
		s := newScratch(t)
		s.git("update-ref", "refs/remotes/origin/main", "HEAD")
		s.commit("second")
		s.keepsNew(1)
		s.git("update-ref", "-d", "refs/remotes/origin/main")
		third := s.commit("third")
		s.keepsNew(3)
		s.loseRepository()
		s.brings(third)
	})

	t.Run("copies the stash, and what only a reflog reaches", func(t *testing.T) {
		s := newScratch(t)
		s.keepsNew(1)
		s.write("a.txt", "stashed\n")
		s.git("stash", "push", "-q")
		first := s.git("rev-parse", "stash@{0}")[:40]
		s.write("dir/b.txt", "stashed later\n")
		s.git("stash", "push", "-q")
		second := s.git("rev-parse", "stash@{0}")[:40]
		amended := s.commit("to be amended")
		s.git("commit", "-q", "--amend", "-m", "amended")
		if kept := s.keepCommits(); kept.New < 5 || len(kept.LeftOut) > 0 { // the two entries may have the same commit of the index
			t.Errorf("%+v", kept)
		}
		s.loseRepository()
		s.brings(first, second, amended)
	})

	t.Run("keeps what a reset takes from a branch", func(t *testing.T) {
		s := newScratch(t)
		second := s.commit("second")
		s.keepsNew(2)
		s.git("reset", "-q", "--hard", "HEAD~1")
		s.keepsNew(0)
		s.git("reflog", "expire", "--expire=now", "--all")
		s.git("gc", "-q", "--prune=now")
		s.keepsNew(0)
		s.brings(second)
	})

	t.Run("knows the branches of other worktrees, and where they are detached", func(t *testing.T) {
		s := newScratch(t)
		other := filepath.Join(filepath.Dir(s.top), "other")
		s.git("worktree", "add", "-q", "-b", "side", other)
		s.keepsNew(1)
		s.git("-C", other, "commit", "-q", "--allow-empty", "-m", "on side")
		side := s.git("rev-parse", "side")[:40]
		s.keepsNew(1)
		s.git("-C", other, "switch", "-q", "--detach")
		s.git("-C", other, "commit", "-q", "--allow-empty", "-m", "detached")
		detached := s.git("-C", other, "rev-parse", "HEAD")[:40]
		s.keepsNew(1)
		s.loseRepository()
		s.brings(side, detached)
	})

	t.Run("keeps the commits of submodules", func(t *testing.T) {
		s := newScratch(t)
		sub := newScratch(t)
		s.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.top, "sub")
		s.git("commit", "-qm", "with a submodule")
		s.git("-C", s.path("sub"), "commit", "-q", "--allow-empty", "-m", "inside")
		inside := s.git("-C", s.path("sub"), "rev-parse", "HEAD")[:40]
		s.keepsNew(3)
		tree, ok := workspace.FindCheckout(s.path("sub"), workspace.Env{})
		if !ok {
			t.Fatal("no submodule")
		}
		if err := os.RemoveAll(tree.Common); err != nil {
			t.Fatal(err)
		}
		lost, err := s.store.LostTips(context.Background(), tree.Common)
		if err != nil || !slices.ContainsFunc(lost, func(l commits.LostTip) bool { return l.Commit == inside && l.Leans }) {
			t.Errorf("%+v, %v", lost, err)
		}
	})

	t.Run("leaves out what is too large, and what is late", func(t *testing.T) {
		s := newScratch(t)
		s.store.Limits.CommitBytes = 10
		if kept := s.keepCommits(); kept.New != 0 || len(kept.LeftOut) != 1 || kept.LeftOut[0].Why != manifest.WhyLimit {
			t.Errorf("%+v", kept)
		}
		s.commit("second")
		s.store.Limits = Defaults
		s.store.Limits.Time = time.Nanosecond
		if kept := s.keepCommits(); kept.New != 0 || len(kept.LeftOut) != 1 || kept.LeftOut[0].Why != manifest.WhyTime {
			t.Errorf("%+v", kept)
		}
		if len(s.commitFiles()) > 0 {
			t.Errorf("something was kept half-way: %q", s.commitFiles())
		}
		s.store.Limits.Time = time.Minute
		s.commit("third")
		s.keepsNew(3)
	})
}

// commitFiles lists the refs and packs of kept commits.
func (s *scratch) commitFiles() (files []string) {
	r := s.store.repositoryOf(s.tree.Common)
	for name := range snapshot(s.t, r.Path) {
		if name := filepath.ToSlash(name); strings.HasPrefix(name, commits.RefsName+"/") || strings.HasPrefix(name, bare.PacksName+"/") {
			files = append(files, name)
		}
	}
	return files
}
