package shell

import "testing"

// TestEntryOfTheStash: which entry of the stash a command uses, as its text names it.
func TestEntryOfTheStash(t *testing.T) {
	dir := t.TempDir()

	for command, want := range map[string]string{
		"git stash pop":                      "pops refs/stash@{0}",
		"git stash pop -q --index 2":         "pops refs/stash@{2}",
		"git stash pop stash":                "pops refs/stash@{0}",
		"git stash apply 'stash@{1}'":        "applies refs/stash@{1}",
		"git stash apply refs/stash@{3}":     "applies refs/stash@{3}",
		"git stash apply 3ac906d2":           "applies 3ac906d2",
		"git stash apply stash@{1.hour.ago}": "applies refs/stash@{1.hour.ago}",
		"git stash branch fresh":             "pops refs/stash@{0}",
		"git stash branch fresh stash@{1}":   "pops refs/stash@{1}",
		"git stash store -m wip 3ac906d2":    "applies 3ac906d2",
		"git stash pop \"$x\"":               "pops some refs/stash",
		"git stash list; git stash show -p":  "",
		"git stash create; git stash store":  "",
	} {
		var said []Act
		for _, a := range Edits(command, dir, Env{}).Acts {
			if a.Kind == Applies || a.Kind == Pops {
				said = append(said, a)
			}
		}

		if got := showActs(said, dir); got != want {
			t.Errorf("%s\n  is   %s\n  want %s", command, got, want)
		}
	}
}
