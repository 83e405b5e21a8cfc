package queue

import (
	"context"
	"strings"
	"testing"

	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// Whoever lost the race for a branch, or was interrupted, is told the command that it ran: a revert isn't
// finished by a merge.
func TestLanding_RepeatedRevert(t *testing.T) {
	for revert, want := range map[string]string{
		"": "tt task merge ui-7", "it is slow": `tt task rollback ui-7 --reason "…"`,
	} {
		l := landing{merger: &merger{Repo: &repository.Repo{}}, task: stick.Task{ID: "ui-7"}, revertReason: revert}
		hint := stick.AsError(l.errInterrupted(stepError{error: context.Canceled, unknown: true})).Hint.String()
		if !strings.HasSuffix(hint, ": "+want) {
			t.Errorf("reverting %q: the hint is %q", revert, hint)
		}
	}
}
