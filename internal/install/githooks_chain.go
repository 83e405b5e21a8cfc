package install

import (
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"talkingstick/internal/plainfile"
	"talkingstick/stick"
)

// Where core.hooksPath leads to files that git shows, a hook of ours among them would make the tree dirty,
// and a commit would give everybody the path of this machine's program. There our hooks lie in a directory of
// this clone, to which we lead core.hooksPath, and they run those of the project. For every other hook that
// git knows there is one that only does that.

// ownDir is the directory of such hooks, below the git directory.
const ownDir = "talking-stick/hooks"

//go:embed files/chain
var chainText string

// chained are hooks of git's that cost nothing where there is nothing to run.
var chained = []string{
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit",
	"pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit",
	"pre-rebase", "post-checkout", "post-merge", "pre-push", "post-rewrite", "pre-auto-gc", "sendemail-validate",
}

// chainedIfThere are hooks that git runs often, or for which it does something else: they are chained where
// the project has them.
var chainedIfThere = []string{
	"reference-transaction", "post-index-change", "pre-receive", "update",
	"proc-receive", "post-receive", "post-update", "push-to-checkout",
}

// ownHooksDir returns the directory of a repository's hooks in which only ours lie.
func (r Repository) ownHooksDir() string { return filepath.Join(r.Git, filepath.FromSlash(ownDir)) }

// hasOwnHooksDir reports whether core.hooksPath leads to our directory, or to where it was before the
// repository was moved or copied.
func (r Repository) hasOwnHooksDir() bool {
	return r.HooksPath != "" && strings.HasSuffix(filepath.ToSlash(filepath.Clean(r.HooksPath)), "/"+ownDir)
}

// chain is the directory of our hooks that run those of the project.
type chain struct {
	repo   Repository
	theirs string // where core.hooksPath led before, as it was written
	remove bool
}

// newChain returns the chain of a repository, nil if it needs none. It fails if nobody knows any more where
// core.hooksPath led.
func newChain(r Repository) (*chain, error) {
	switch {
	case r.hasOwnHooksDir():
		c := &chain{repo: r, theirs: r.readTheirs()}
		if c.theirs == "" {
			return nil, stick.Errorf(
				stick.CodeConfigUnwritable,
				"core.hooksPath points to %s, which no longer has tt's hooks", r.HooksPath,
			).With("path", r.HooksPath).
				Hintf(
					"point it back to the project's hooks: %s; then run the same command again", stick.Cmd(
						"git config core.hooksPath <directory>",
					),
				)
		}

		return c, nil
	case r.Exposed:
		return &chain{repo: r, theirs: r.HooksPath}, nil
	}

	return nil, nil
}

// theirsLine matches the line of a chained hook that names the directory of the project's.
var theirsLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^theirs=(.*)$`) })

// readTheirs returns where core.hooksPath led before ours; empty if nothing says it.
func (r Repository) readTheirs() string {
	// What can't be read says nothing.
	text, _ := os.ReadFile(filepath.Join(r.ownHooksDir(), "commit-msg"))

	// Each chained hook names the directory, so one of them is enough.
	found := theirsLine().FindSubmatch(text)
	if found == nil {
		return ""
	}
	return unquoteWord(string(found[1]))
}

// unquoteWord undoes [quoteWord].
func unquoteWord(text string) string {
	inner, quoted := strings.CutPrefix(text, "'")
	if !quoted {
		return text
	}
	return strings.ReplaceAll(strings.TrimSuffix(inner, "'"), `'\''`, "'")
}

// wantedFiles returns what the directory has besides our own hooks, by path.
func (c *chain) wantedFiles() map[string]string {
	text := strings.Replace(chainText, "{{theirs}}", quoteWord(c.theirs), 1)
	at := filepath.FromSlash(c.theirs)
	if !filepath.IsAbs(at) {
		at = filepath.Join(c.repo.Top, at)
	}

	// Some hooks cost git time even if they do nothing, so they exist only if the project's do.
	names := slices.Clone(chained)
	for _, name := range chainedIfThere {
		if _, err := os.Stat(filepath.Join(at, name)); err == nil {
			names = append(names, name)
		}
	}

	files := map[string]string{}
	for _, name := range names {
		path := filepath.Join(c.repo.ownHooksDir(), name)
		if c.isOurs(name) {
			path = backupOf(path)
		}
		files[path] = text
	}

	return files
}

// isOurs reports whether a hook of that name is one of those that ask tt.
func (c *chain) isOurs(name string) bool {
	for _, h := range gitHooks {
		if h.name != name {
			continue
		}
		_, err := os.Lstat(filepath.Join(c.repo.ownHooksDir(), name))
		return !h.asked || c.repo.PrePush || err == nil && !c.isChained(name)
	}

	return false
}

// isChained reports whether the hook of that name in our directory only runs the project's.
func (c *chain) isChained(name string) bool {
	have, _ := os.ReadFile(filepath.Join(c.repo.ownHooksDir(), name))
	return theirsLine().Match(have)
}

// hasChanges reports whether there is anything to change.
func (c *chain) hasChanges() bool {
	if c.remove {
		return true
	}

	for path, text := range c.wantedFiles() {
		if have, err := os.ReadFile(path); err != nil || string(have) != text {
			return true
		}
	}

	return filepath.Clean(filepath.FromSlash(c.repo.HooksPath)) != c.repo.ownHooksDir()
}

// writeChain makes the change. Git looks at our directory only when all hooks are in it.
func (c *chain) writeChain() error {
	if !c.hasChanges() {
		return nil
	}

	err := c.putFiles
	if c.remove {
		err = c.dropFiles
	}
	if err := err(); err != nil {
		return stick.Errorf(
			stick.CodeConfigUnwritable, "the hooks in %s can't be changed: %w", c.repo.ownHooksDir(), plainfile.CauseOf(err),
		).
			With("path", c.repo.ownHooksDir()).Hintf("check who may write there, and run the command again")
	}

	return nil
}

func (c *chain) putFiles() error {
	if err := os.MkdirAll(c.repo.ownHooksDir(), 0o755); err != nil {
		return err
	}

	for path, text := range c.wantedFiles() {
		// Git may run a hook at any time, so it never sees half a file.
		temp := path + ".new"
		if err := os.WriteFile(temp, []byte(text), 0o755); err != nil {
			return err
		}
		if err := os.Rename(temp, path); err != nil {
			return err
		}
	}

	return c.repo.SetHooksPath(c.repo.ownHooksDir())
}

// dropFiles leads core.hooksPath back and removes the directory, but for what isn't ours there.
func (c *chain) dropFiles() error {
	if c.repo.hasOwnHooksDir() {
		if err := c.repo.SetHooksPath(c.theirs); err != nil {
			return err
		}
	}

	// By now git looks elsewhere, so no hook is missed.
	dir := c.repo.ownHooksDir()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}

	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), "# Talking Stick (tt install git") {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}

	// Remove fails, as it should, while something is in the directory.
	_ = os.Remove(dir)
	_ = os.Remove(filepath.Dir(dir))

	return nil
}

// planStep plans the change of the chain.
func (c *chain) planStep() FileChange {
	s := FileChange{Harness: Git, What: "core.hooksPath", File: c.repo.ownHooksDir(), State: There, chain: c}
	switch {
	case c.remove:
		s.State, s.Note = Removed, stick.Wordsf("git runs the hooks in %s again", c.theirs)
	case c.hasChanges() && c.repo.hasOwnHooksDir():
		s.State = Changed
	case c.hasChanges():
		s.State = New
	}

	if s.State == New || s.State == Changed {
		s.Note = stick.Wordsf(
			"the hooks in %s stay as they are, because a change would show in git status; git runs these, and these run those",
			c.theirs,
		)
	}

	return s
}
