package rescue

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// holds reports whether any pack has an object with a text in it, or any other file of the store has the
// text.
func (s *scratch) holds(text string) bool {
	s.t.Helper()
	r := s.store.repositoryOf(s.tree.Common)
	for _, name := range s.packs() {
		name, ok := strings.CutSuffix(name, pack.IndexSuffix)
		if !ok {
			continue
		}
		p, err := pack.Open(filepath.Join(r.PathTo(bare.PacksName), name))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, object := range p.ObjectNames() {
			o, err := p.ReadObject(object)
			if err != nil {
				s.t.Fatal(err)
			}
			if bytes.Contains(o.Data, []byte(text)) {
				s.t.Logf("%s in %s has %q", object, name, text)
				return true
			}
		}
		p.Close()
	}
	return false
}

func TestForget(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "in all\n")
	first := s.keptAt(s.now, "only in the first")
	second := s.keptAt(s.now, "only in the second")
	third := s.keptAt(s.now, "only in the third")
	whole := s.take().ID
	for _, id := range []string{second, first} {
		if err := s.store.Forget(context.Background(), id); err != nil {
			t.Fatal(err)
		}
	}
	s.have(third, whole)
	for text, want := range map[string]bool{"in all": true, "only in the first": false, "only in the second": false, "only in the third": true} {
		if got := s.holds(text); got != want {
			t.Errorf("the store has %q: %v", text, got)
		}
	}
	next := s.keptAt(s.now, "another")
	s.have(third, whole, next)
	for _, id := range []string{third, whole, next} {
		if err := s.store.Forget(context.Background(), id); err != nil {
			t.Fatal(err)
		}
	}
	if left := s.packs(); len(left) > 0 {
		t.Errorf("packs are left: %q", left)
	}
	if err := s.store.Forget(context.Background(), third); stick.CodeOf(err) != stick.CodeNotFound {
		t.Errorf("forget what is gone: %v", err)
	}
}

// manySnapshots makes snapshots and a rescue that have a secret, and others.
func (s *scratch) manySnapshots() (with, without []string) {
	s.t.Helper()
	without = append(without, s.keptAt(s.now, "before"))
	s.write("secret/key", "the secret bytes of a key")
	s.write("a.txt", "the secret bytes, staged")
	s.git("add", "a.txt")
	s.write("a.txt", "the secret bytes, changed")
	with = append(with, s.snapshot().ID, s.keptAt(s.now, "second"))
	with = append(with, s.take().ID)
	s.git("checkout", "-q", "HEAD", "a.txt")
	with = append(with, s.snapshot().ID)
	return with, append(without, s.keptAt(s.now, "after"))
}

func TestForgetPath(t *testing.T) {
	s := newScratch(t)
	with, without := s.manySnapshots()
	with = append(with, without[1]) // the key was still there
	for _, path := range []string{"secret", "a.txt"} {
		done, err := s.store.ForgetPath(context.Background(), s.tree.Common, path)
		if err != nil || len(done.Unread) > 0 {
			t.Fatalf("%+v, %v", done, err)
		}
		if path == "secret" {
			slices.Sort(done.Rescues)
			slices.Sort(with)
			if d := cmp.Diff(with, done.Rescues); d != "" {
				t.Error(d)
			}
		}
	}
	if s.holds("the secret bytes") {
		t.Error("the bytes are there")
	}
	s.have(append(with, without[0])...)
	for _, id := range with {
		if s.blob(id, "new") == "nothing" {
			t.Errorf("%s has lost another file", id)
		}
		got, err := s.store.Show(context.Background(), id)
		if err != nil || !slices.Contains(got.LeftOut, manifest.LeftOut{Path: "secret", Why: manifest.WhyForgotten}) {
			t.Errorf("%s: %+v, %v", id, got.LeftOut, err)
		}
	}
	next := s.snapshot() // it is still in the tree
	if s.blob(next.ID, "secret/key") != "the secret bytes of a key" {
		t.Errorf("%+v", next)
	}
	for _, path := range []string{".", "../x", ""} {
		if _, err := s.store.ForgetPath(context.Background(), s.tree.Common, path); stick.CodeOf(err) != stick.CodeUsage {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// Wherever forgetting dies, all rescues are whole, and the next one forgets the rest.
func TestForgetPath_Dies(t *testing.T) {
	for _, point := range testenv.Nth(t, "points at which forgetting dies", 2, []string{"new index", "new pack", "replaced pack", "rewrote pack"}) {
		for _, n := range testenv.Nth(t, "times that such a point is passed", 2, []int{1, 4, 6, 7}) {
			if n > 5 && point == "rewrote pack" { // by then, all rescues are without it
				continue
			}
			t.Run(fmt.Sprint(point, n), func(t *testing.T) {
				s := newScratch(t)
				with, without := s.manySnapshots()
				s.crash(order{Request: s.call(), Forget: "secret", Point: point, N: n})
				for _, id := range append(with, without...) {
					if _, err := s.store.Show(context.Background(), id); err != nil {
						t.Errorf("after the death: %v", err)
					}
					if s.blob(id, "new") == "nothing" {
						t.Errorf("%s has lost another file", id)
					}
				}
				for _, path := range []string{"secret", "a.txt"} {
					if _, err := s.store.ForgetPath(context.Background(), s.tree.Common, path); err != nil {
						t.Fatal(err)
					}
					if s.holds("the secret bytes of a key") {
						t.Error("the first path is there")
					}
				}
				if s.holds("the secret bytes") {
					t.Error("the bytes are there")
				}
				s.have(append(with, without...)...)
			})
		}
	}
}

// What dies between dropping the ref of a rescue and its bytes is finished by asking again.
func TestForget_Again(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "in all\n")
	first := s.keptAt(s.now, "only in the first")
	second := s.keptAt(s.now, "only in the second")
	r, f, err := s.store.findRescue(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(r.RefPath(f)); err != nil {
		t.Fatal(err)
	}
	if err := s.store.Forget(context.Background(), first); err != nil || s.holds("only in the first") {
		t.Errorf("it is still there: %v", err)
	}
	s.have(second)
}
