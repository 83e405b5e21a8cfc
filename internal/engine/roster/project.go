package roster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/workspace"
	"talkingstick/stick/glob"
	"talkingstick/stick/scope"
)

// RoleContract is what a role may do with the files of the workspace. All roles may read everything.
type RoleContract struct {
	Append      []glob.Pattern `json:"append"`       // everybody may append to these, and not rewrite them
	PrimaryOnly []glob.Pattern `json:"primary_only"` // only the primary changes these
}

// project is the configuration for a room, and the place of its context files.
type project struct {
	config.Config
	anchor anchor
}

// readProject reads the configuration for a room: from its own directory, else from the root of its
// workspace. If the file can't be read, it returns the defaults and [stick.CodeProjectConfig].
func (ro *Roster) readProject(room string) (project, error) {
	from := room
	if _, err := os.Lstat(filepath.Join(room, config.FileName)); err != nil {
		if place, err := workspace.Resolve(room, ro.core.Config.Workspace); err == nil {
			from = place.Root
		}
	}

	c, err := config.Read(from)
	return project{c, anchorOf(room, c)}, err
}

// roleContract returns the contract of the room's roles. By default only the primary changes its own file and
// the configuration.
func (p project) roleContract() *RoleContract {
	out := &RoleContract{Append: []glob.Pattern{}, PrimaryOnly: p.Roles.PrimaryOnly}
	out.Append = append(out.Append, p.Roles.Append...)

	if out.PrimaryOnly == nil {
		for _, path := range []string{p.anchor.file, config.FileName} {
			if p, err := scope.ParsePattern(glob.Quote(path)); err == nil {
				out.PrimaryOnly = append(out.PrimaryOnly, p)
			}
		}
	}

	return out
}

// RoleFiles reads which files of a room belong to a role or to a session. If the configuration can't be read,
// the defaults apply: a typo in it shouldn't deny edits.
func (ro *Roster) RoleFiles(room string) guard.RoleFiles {
	its, _ := ro.readProject(room)
	return guard.RoleFiles{PrimaryOnly: its.roleContract().PrimaryOnly, SessionFile: its.anchor.relPath}
}

// NeverCopied says which files of a checkout are never copied: by its own configuration, by that of the main
// checkout, by those of the checkouts around it, and by the user's. Of a file with a fault, what is
// understood holds.
func (ro *Roster) NeverCopied(tree workspace.Checkout) func(path string) bool {
	fold := workspace.FoldsCase(tree.Top)
	rules := []neverRule{{"", ro.core.Config.Snapshots.Matcher(fold)}}
	add := func(root, below string) {
		c, _ := config.Read(root)
		rules = append(rules, neverRule{below, c.Snapshots.Matcher(fold)})
	}

	add(tree.Top, "")
	if main := filepath.Dir(tree.Common); filepath.Base(tree.Common) == ".git" && main != tree.Top {
		add(main, "")
	}
	for at := tree.Top; ; {
		around, ok := workspace.FindCheckout(filepath.Dir(at), workspace.Env{})
		if !ok || around.Top == at {
			break
		}
		at = around.Top
		if rel, ok := workspace.RelBelow(tree.Top, at); ok {
			add(at, filepath.ToSlash(rel)+"/")
		}
	}

	return func(path string) bool {
		return slices.ContainsFunc(rules, func(r neverRule) bool { return r.isNever(r.below + path) })
	}
}

// neverRule is what one configuration says of which files are never copied.
type neverRule struct {
	below   string // of the checkout, in the directory of the configuration; empty, or with a slash at its end
	isNever func(path string) bool
}

// maxInstructions limits the project's own instructions, in bytes: they take room in the context of each
// session.
const maxInstructions = 4096

// readInstructions returns the project's own instructions, or why they are left out.
func readInstructions(room string) string {
	const name = ownDir + "/instructions.md"
	b, err := config.ReadFile(room, name, maxInstructions)
	switch {
	case errors.Is(err, config.ErrTooLong):
		return fmt.Sprintf("(%s is left out: it is longer than %d bytes.)", name, maxInstructions)
	case errors.Is(err, config.ErrNotPlain):
		return fmt.Sprintf("(%s is left out: it isn't a regular file of the workspace.)", name)
	case err != nil:
		return ""
	}

	return strings.TrimSpace(string(b))
}
