package setup

import (
	"path/filepath"
	"slices"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/config"
	"talkingstick/internal/harness"
	"talkingstick/internal/install"
	"talkingstick/stick"
)

// offerCopies says how a user gets copies of the work of an agent that works alone. It says nothing to who has
// set that, in either way, and where no hook makes copies.
func offerCopies(a *app.Run, steps []install.FileChange) []stick.Words {
	hasHooks := slices.ContainsFunc(steps, func(s install.FileChange) bool {
		row, _ := harness.ByName(s.Harness)
		return s.State == install.New && len(row.Hooks) > 0
	})
	u, err := a.UserFile()
	if !hasHooks || u.Snapshots.SaysAlone || err != nil {
		return nil
	}

	file := filepath.Join(a.ConfigDir(), filepath.FromSlash(config.UserFile))
	return []stick.Words{stick.Wordsf(
		"if you often work with one agent alone: tt copies its work only where there is a room, "+
			"unless you put alone = true under [snapshots] into %s", stick.Path(file),
	)}
}
