package rescue

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/commits"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/stick"
)

func TestStore_KeepCommits_incomplete(t *testing.T) {
	t.Run("leaves out a branch that lacks something", func(t *testing.T) {
		s := newScratch(t)
		s.git("switch", "-qc", "broken")
		s.commit("to be broken")
		blob := s.git("rev-parse", "HEAD:a.txt")[:40]
		s.git("switch", "-q", "main")
		whole := s.commit("whole")
		if err := os.Remove(filepath.Join(s.tree.Common, "objects", blob[:2], blob[2:])); err != nil {
			t.Fatal(err)
		}
		kept := s.keepCommits()
		if kept.New != 2 || len(kept.LeftOut) != 1 || kept.LeftOut[0] != (manifest.LeftOut{Path: "refs/heads/broken", Why: manifest.WhyMissing}) {
			t.Errorf("%+v", kept)
		}
		s.loseRepository()
		s.brings(whole)
	})

	t.Run("leaves out what a shallow clone lacks", func(t *testing.T) {
		s := newScratch(t)
		s.commit("second")
		up := "file://" + filepath.ToSlash(s.top)
		clone := newScratch(t)
		if err := os.RemoveAll(clone.top); err != nil {
			t.Fatal(err)
		}
		s.git("clone", "-q", "--depth=1", up, clone.top)
		clone.find()
		third := clone.commit("third")
		clone.keepsNew(1)
		clone.loseRepository()
		clone.git("fetch", "-q", up, "HEAD:refs/heads/up")
		clone.brings(third)
	})
}

func TestStore_KeepCommits_killed(t *testing.T) {
	probe := newScratch(t)
	points := probe.points(func() { probe.keepCommits() })
	if len(points) < 5 {
		t.Fatalf("keeping commits passes only %q", points)
	}
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := newScratch(t)
			s.crash(order{Commits: true, Request: Request{Tree: s.tree}, Point: point, N: 1})
			second := s.commit("second")
			if kept := s.keepCommits(); kept.New == 0 || len(kept.LeftOut) > 0 {
				t.Errorf("%+v", kept)
			}
			s.store.Prune(context.Background(), s.now)
			s.loseRepository()
			s.brings(second)
			r := s.store.repositoryOf(s.tree.Common)
			if out, err := exec.Command("git", "--git-dir", r.Path, "fsck", "--full", "--strict").CombinedOutput(); err != nil {
				t.Errorf("git fsck: %v\n%s", err, out)
			}
		})
	}
}

func TestStore_Prune_keeps_late_commits(t *testing.T) {
	s := newScratch(t)
	second := s.commit("second")
	limits := s.store.Limits
	s.store.Limits.Time = time.Nanosecond
	if kept := s.keepCommits(); len(kept.LeftOut) == 0 {
		t.Errorf("it was kept in no time: %+v", kept)
	}
	s.store.Limits = limits
	if kept := s.keepCommits(); !kept.Same {
		t.Errorf("what took too long a short time ago is tried again: %+v", kept)
	}
	s.store.Prune(context.Background(), s.now)
	s.loseRepository()
	s.brings(second)
}

func TestStore_Prune_commits(t *testing.T) {
	s := newScratch(t)
	second := s.commit("second")
	s.keepsNew(2)
	s.git("reset", "-q", "--hard", "HEAD~1")
	s.keepsNew(0)
	later := func(days int) stick.Time { return stick.At(time.Now()).Add(time.Duration(days) * 24 * time.Hour) }
	hasRef := func(commit string) bool {
		out, err := exec.Command("git", "--git-dir", s.store.repositoryOf(s.tree.Common).Path, "for-each-ref", commits.RefsName).Output()
		return err == nil && strings.Contains(string(out), commit)
	}
	s.store.Prune(context.Background(), later(13))
	if !hasRef(second) {
		t.Error("a lost commit is kept for 14 days")
	}
	s.store.Prune(context.Background(), later(15))
	if hasRef(second) || !hasRef(s.git("rev-parse", "HEAD")[:40]) {
		t.Error("what a branch has is kept, what it lost isn't")
	}

	s.loseRepository()
	third := func() string {
		s.git("add", ".")
		s.git("commit", "-qm", "anew")
		return s.git("rev-parse", "HEAD")[:40]
	}()
	s.keepsNew(1)
	s.store.Prune(context.Background(), later(15))
	if packs, _ := filepath.Glob(filepath.Join(s.store.repositoryOf(s.tree.Common).PathTo(bare.PacksName), commits.PackPrefix+"*"+pack.Suffix)); len(packs) != 1 || !hasRef(third) {
		t.Errorf("the packs of the lost repository stay: %q", packs)
	}
	if err := os.RemoveAll(s.tree.Common); err != nil {
		t.Fatal(err)
	}
	s.store.Prune(context.Background(), later(1))
	if !hasRef(third) {
		t.Error("what a repository had that is gone is kept for 14 days")
	}
	s.store.Prune(context.Background(), later(16))
	if files := s.commitFiles(); len(files) > 0 {
		t.Errorf("left: %q", files)
	}
}
