package stick

import (
	"slices"
	"testing"
)

func TestNeedsInTheirOrder(t *testing.T) {
	needs := []Need{
		NewNeed(NeedRescue, "r1", 1, nil, "x"),
		NewNeed(NeedReview, "t2", 9, Hintf("%s", Cmd("tt task diff <task_id>", "t2")), "%s waits for a review", "t2").About("codex:b", "t2"),
		NewNeed(NeedReview, "t1", 5, nil, "x"),
		NewNeed(NeedAnswer, "claude:a@7", 7, nil, "x"),
	}
	SortNeeds(needs)
	var keys []string
	for _, n := range needs {
		keys = append(keys, n.Key)
	}
	if want := []string{"answer/claude:a@7", "review/t1", "review/t2", "rescue/r1"}; !slices.Equal(keys, want) {
		t.Errorf("%v, want %v", keys, want)
	}
	if n := needs[2]; n.NextAction != "tt task diff t2" || n.Text != "t2 waits for a review" || n.Task != "t2" || n.Agent != "codex:b" {
		t.Errorf("%+v", n)
	}
}

// TestEveryCauseHasWords: people read why they may take over, and not the name of a constant.
func TestEveryCauseHasWords(t *testing.T) {
	for _, c := range []Cause{OwnerGone, RecipientGone, OwnerTimeout, OwnerIdle, ClaimTimeout} {
		if c.Words() == Words(c) {
			t.Errorf("%s has no words", c)
		}
	}
}
