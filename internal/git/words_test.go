package git

import (
	"context"
	"fmt"
	"testing"

	"talkingstick/stick"
)

func TestARepositoryOfAnotherUser(t *testing.T) {
	e := errGitFailed(&Failure{Args: []string{"rev-parse"}, Exit: 128, Said: "fatal: detected dubious ownership in repository at '/srv/app'\n" +
		"To add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /srv/app\n"})
	if e.Code != stick.CodeGitFailed || e.Message != "git doesn't work in /srv/app, because it belongs to another user" ||
		e.Hint.String() != "if you trust whoever it belongs to: git config --global --add safe.directory /srv/app" {
		t.Errorf("%s; %s", e.Message, e.Hint)
	}
	if d := Distrust(fmt.Errorf("look: %w", e)); d == nil || d.Message != e.Message {
		t.Errorf("%v", d)
	}
	for _, other := range []error{nil, context.DeadlineExceeded, errGitFailed(&Failure{Args: []string{"rev-parse"}, Exit: 128, Said: "fatal: not a git repository"})} {
		if d := Distrust(other); d != nil {
			t.Errorf("%v: %v", other, d)
		}
	}
}
