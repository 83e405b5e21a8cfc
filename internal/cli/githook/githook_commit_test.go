package githook

import (
	"strings"
	"testing"

	"talkingstick/internal/proc"
)

func TestWhichCommandsAskBefore(t *testing.T) {
	for command, want := range map[string]bool{
		"git commit":           true,
		"git commit -a -m fix": true,
		"/usr/bin/git -C app -c a.b=c commit -qam": true,
		"git.exe --no-pager commit --amend":        true,
		"git commit -n -m fix":                     false,
		"git commit -anm fix":                      false,
		"git commit --no-verify":                   false,
		"git commit --no-v":                        false,
		"git -C":                                   false,
		"git":                                      false,
		"git reset --hard":                         false,
		"git merge commit":                         false,
		"git -C commit cherry-pick a":              false,
		"ssh git commit":                           false,
	} {
		chain := []proc.Info{
			{},
			{Args: []string{"/bin/sh", ".git/hooks/reference-transaction", "prepared"}},
			{Args: strings.Fields(command)},
		}
		if got := askedBefore(chain); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
}
