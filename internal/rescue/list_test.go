package rescue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/stick"
)

// The start of an id is enough where no other begins like it.
func TestARescueByTheStartOfItsID(t *testing.T) {
	s := newScratch(t)
	var ids []string
	for i := range 3 {
		s.write("a.txt", fmt.Sprint("change ", i))
		ids = append(ids, s.take().ID)
		s.now++
	}
	named := func(text string) (string, stick.Code) {
		id, err := s.store.Named(text)
		return id, stick.CodeOf(err)
	}
	common := ids[0][:minName]
	if id, code := named(common); id != "" || code != stick.CodeUsage {
		t.Errorf("%s of %q: %q, %s", common, ids, id, code)
	}
	for _, text := range []string{ids[1], ids[1][:len(ids[1])-1], ids[1][:manifest.IDTime]} {
		if id, _ := named(text); id != ids[1] {
			t.Errorf("%s: %q of %q", text, id, ids)
		}
	}
	for _, text := range []string{"", common[:minName-1], "000000", "../../etc", ids[0] + "0"} {
		if id, code := named(text); id != "" || code != stick.CodeNotFound {
			t.Errorf("%q: %q, %s", text, id, code)
		}
	}
}

// three takes three rescues, and returns their ids, the oldest first.
func (s *scratch) three() (ids []string) {
	for i := range 3 {
		s.write("a.txt", fmt.Sprint("change ", i))
		ids = append(ids, s.take().ID)
		s.now++
	}
	return ids
}

func TestTheListIsCut(t *testing.T) {
	s := newScratch(t)
	ids := s.three()
	l, err := s.store.List(context.Background(), s.tree.Common, 2, Every)
	if err != nil || l.Hidden != 1 || len(l.Rescues) != 2 || l.Rescues[0].ID != ids[2] || l.Rescues[1].ID != ids[1] || l.Damaged != nil {
		t.Errorf("%+v, %v", l, err)
	}
	sum, err := s.store.Sum(context.Background())
	if err != nil || sum.Count != 3 || sum.Bytes == 0 || sum.Damaged != nil {
		t.Errorf("%+v, %v", sum, err)
	}
	if !s.store.Knows(s.tree.Common) || s.store.Knows(s.tree.Common+"x") {
		t.Error("it doesn't know of which repositories it has rescues")
	}
}

// Damage to one rescue hides no other, and whoever asks learns which it is.
func TestADamagedRescueIsNamed(t *testing.T) {
	for what, damage := range map[string]func(s *scratch, r *repository, id string) error{
		"a cut pack": func(s *scratch, r *repository, id string) error {
			return os.Truncate(r.PackBase(bare.WholeForm, id)+".pack", 20)
		},
		"no pack": func(s *scratch, r *repository, id string) error {
			return os.Remove(r.PackBase(bare.WholeForm, id) + ".pack")
		},
		"no index": func(s *scratch, r *repository, id string) error {
			return os.Remove(r.PackBase(bare.WholeForm, id) + ".idx")
		},
		"an empty index": func(s *scratch, r *repository, id string) error {
			return os.Truncate(r.PackBase(bare.WholeForm, id)+".idx", 0)
		},
		"an empty ref": func(s *scratch, r *repository, id string) error {
			return os.Truncate(r.PathTo(bare.RefsName+"/"+bare.CheckoutName(s.tree)+"/"+id), 0)
		},
		"flipped bits": func(s *scratch, r *repository, id string) error {
			b, err := os.ReadFile(r.PackBase(bare.WholeForm, id) + ".pack")
			for i := pack.HeaderSize; i < len(b)-20; i++ {
				b[i] ^= 0x55
			}
			os.Chmod(r.PackBase(bare.WholeForm, id)+".pack", 0o600)
			return errors.Join(err, os.WriteFile(r.PackBase(bare.WholeForm, id)+".pack", b, 0o600))
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := newScratch(t)
			ids := s.three()
			if err := damage(s, s.store.repositoryOf(s.tree.Common), ids[1]); err != nil {
				t.Fatal(err)
			}
			l, err := s.store.List(context.Background(), s.tree.Common, 0, Every)
			if err != nil || len(l.Rescues) != 2 || l.Rescues[0].ID != ids[2] || l.Rescues[1].ID != ids[0] || !slices.Equal(l.Damaged, ids[1:2]) {
				t.Errorf("%+v, %v", l, err)
			}
			sum, err := s.store.Sum(context.Background())
			if err != nil || sum.Count != 3 || !slices.Equal(sum.Damaged, ids[1:2]) {
				t.Errorf("%+v, %v", sum, err)
			}
			_, err = s.store.Show(context.Background(), ids[1])
			if e := stick.AsError(err); e.Code != stick.CodeGitFailed || !strings.HasPrefix(e.Message, "rescue "+ids[1]+" is damaged: ") ||
				e.Fields["rescue"] != ids[1] || e.Hint.String() == "" {
				t.Errorf("shown: %+v", e)
			}
			if _, err := s.store.Show(context.Background(), ids[2]); err != nil {
				t.Errorf("another one: %v", err)
			}
		})
	}
}

// Where the repository of rescues itself is damaged, they are named as well.
func TestADamagedRepositoryOfRescues(t *testing.T) {
	for _, part := range []string{"HEAD", bare.PacksName} {
		s := newScratch(t)
		ids := s.three()
		if err := os.RemoveAll(s.store.repositoryOf(s.tree.Common).PathTo(part)); err != nil {
			t.Fatal(err)
		}
		l, err := s.store.List(context.Background(), s.tree.Common, 0, Every)
		if slices.Reverse(ids); err != nil || len(l.Rescues) != 0 || !slices.Equal(l.Damaged, ids) {
			t.Errorf("without %s: %+v, %v", part, l, err)
		}
		s.store.Prune(context.Background(), s.now)
	}
}

// What a rescue lacks of its bytes, it says when they are asked for; the paths that it has whole come back.
func TestARescueThatLacksBytes(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "one that is lost\n")
	s.write("dir/b.txt", "one that is whole\n")
	id := s.take().ID
	name := s.store.repositoryOf(s.tree.Common).PackBase(bare.WholeForm, id) + ".pack"
	b, err := os.ReadFile(name)
	if err != nil || !bytes.Contains(b, []byte("one that is lost")) {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, bytes.Replace(b, []byte("one that is lost"), []byte("one that is gone"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = s.store.Restore(context.Background(), RestoreRequest{ID: id})
	if e := stick.AsError(err); e.Code != stick.CodeGitFailed || !strings.HasPrefix(e.Message, "rescue "+id+" is damaged: ") {
		t.Errorf("%+v", e)
	}
	s.git("checkout", "-q", ".")
	if got := s.restore(id, "dir"); s.read("dir/b.txt") != "one that is whole\n" {
		t.Errorf("%+v", got)
	}
}

// Without git, nobody says that there are no rescues, or that they are damaged.
func TestTheListWithoutGit(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	id := s.take().ID
	t.Setenv("PATH", t.TempDir())
	_, listed := s.store.List(context.Background(), "", 0, Every)
	_, counted := s.store.Sum(context.Background())
	for what, err := range map[string]error{"list": listed, "sum": counted} {
		if stick.CodeOf(err) != stick.CodeGitMissing {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.store.Show(context.Background(), id); err != nil { // one that is whole is read without it
		t.Errorf("show: %v", err)
	}
}
