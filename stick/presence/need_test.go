package presence_test

import (
	"slices"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/presence"
)

func TestNeedsInTheirOrder(t *testing.T) {
	needs := []presence.Need{
		presence.NewNeed(presence.NeedRescue, "r1", 1, nil, "x"),
		presence.NewNeed(presence.NeedReview,
			"t2", 9, stick.Hintf("%s", stick.Cmd("tt task diff <task_id>", "t2")), "%s waits for a review",
			"t2").About("codex:b", "t2"),
		presence.NewNeed(presence.NeedReview, "t1", 5, nil, "x"),
		presence.NewNeed(presence.NeedAnswer, "claude:a@7", 7, nil, "x"),
	}

	presence.SortNeeds(needs)
	var keys []string
	for _, n := range needs {
		keys = append(keys, n.Key)
	}
	if want := []string{"answer/claude:a@7", "review/t1", "review/t2", "rescue/r1"}; !slices.Equal(keys, want) {
		t.Errorf("%v, want %v", keys, want)
	}
	if n := needs[2]; n.NextAction != "tt task diff t2" ||
		n.Text != "t2 waits for a review" ||
		n.Task != "t2" ||
		n.Agent != "codex:b" {
		t.Errorf("%+v", n)
	}
}

// TestCause_Words: people read why they may take over, and not the name of a constant.
func TestCause_Words(t *testing.T) {
	for _, c := range []stick.Cause{
		stick.OwnerGone, stick.RecipientGone, stick.OwnerTimeout, stick.OwnerIdle, stick.ClaimTimeout,
	} {
		if c.Words() == stick.Words(c) {
			t.Errorf("%s has no words", c)
		}
	}
}
