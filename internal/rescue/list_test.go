package rescue

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

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
	for _, text := range []string{ids[1], ids[1][:len(ids[1])-1], ids[1][:idTime]} {
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

// A list may be cut, and damage to one rescue hides no other.
func TestTheListIsCutAndSkipsDamage(t *testing.T) {
	s := newScratch(t)
	var ids []string
	for i := range 3 {
		s.write("a.txt", fmt.Sprint("change ", i))
		ids = append(ids, s.take().ID)
		s.now++
	}
	all, hidden, err := s.store.List(context.Background(), s.tree.Common, 2)
	if err != nil || hidden != 1 || len(all) != 2 || all[0].ID != ids[2] || all[1].ID != ids[1] {
		t.Errorf("%+v, %d, %v", all, hidden, err)
	}
	sum, err := s.store.Sum(context.Background())
	if err != nil || sum.Count != 3 || sum.Bytes == 0 || sum.Unread != nil {
		t.Errorf("%+v, %v", sum, err)
	}
	if err := os.Truncate(s.store.repository(s.tree.Common).base(ids[1])+".pack", 20); err != nil {
		t.Fatal(err)
	}
	sum, err = s.store.Sum(context.Background())
	if err != nil || sum.Count != 3 || !slices.Equal(sum.Unread, ids[1:2]) {
		t.Errorf("with a damaged one: %+v, %v", sum, err)
	}
	if !s.store.Knows(s.tree.Common) || s.store.Knows(s.tree.Common+"x") {
		t.Error("it doesn't know of which repositories it has rescues")
	}
}

// Without git, nobody says that there are no rescues, or that they are damaged.
func TestTheListWithoutGit(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	id := s.take().ID
	t.Setenv("PATH", t.TempDir())
	_, _, listed := s.store.List(context.Background(), "", 0)
	_, counted := s.store.Sum(context.Background())
	_, shown := s.store.Show(context.Background(), id)
	for what, err := range map[string]error{"list": listed, "sum": counted, "show": shown} {
		if stick.CodeOf(err) != stick.CodeGitMissing {
			t.Errorf("%s: %v", what, err)
		}
	}
}
