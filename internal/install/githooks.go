package install

import (
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"talkingstick/internal/confedit"
	"talkingstick/stick"
)

// Git is what git's hooks are installed as, beside the names of harnesses.
const Git = "git"

var (
	//go:embed files/pre-commit
	preCommit string
	//go:embed files/reference-transaction
	referenceTransaction string
	//go:embed files/pre-push
	prePush string
)

// gitHooks are the hooks that we put into a repository.
var gitHooks = []struct {
	name, text string
	asked      bool // only where somebody asks for it
}{
	{"pre-commit", preCommit, false}, {"reference-transaction", referenceTransaction, false}, {"pre-push", prePush, true},
}

// GitHooks returns the names of the hooks that we may put into a repository.
func GitHooks() (names []string) {
	for _, h := range gitHooks {
		names = append(names, h.name)
	}
	return names
}

// Repository is a git repository, and where it keeps its hooks.
type Repository struct {
	Path string // the path from which it was found
	Git  string // the git directory of all of its worktrees
	Top  string // the main checkout's top level; empty in a bare repository
	Bare bool

	Missing error // why the repository that the checkout leads to can't be found; nil where there is none to find

	PrePush bool // somebody asks for the hook pre-push. One that is there stays without that

	HooksPath string // core.hooksPath; empty when it isn't set
	Scope     string // where that is set: system, global, local or worktree
	Origin    string // and in which file

	// that directory is in the working tree, and git shows what lies there: it tracks it, or doesn't ignore
	// it
	Exposed bool

	SetHooksPath func(value string) error // sets core.hooksPath where it is set now
}

// Shared returns an error unless this is a repository with a working tree that agents can share.
func (r Repository) Shared() error {
	switch {
	case r.Missing != nil:
		return r.Missing
	case r.Git == "":
		return stick.Errorf(stick.CodeNoRepository, "%s isn't in a git repository", r.Path).With("path", r.Path).
			Hintf("run the command in a repository, or make one: %s", stick.Cmd("git init"))
	case r.Bare:
		return stick.Errorf(
			stick.CodeInvalidPath, "%s is a bare repository: it has no working tree for agents to share", r.Git,
		).With("path", r.Git).
			Hintf("run the command in the clone where agents work")
	}

	return nil
}

// hooksDir returns the directory of a repository's hooks. It fails where that isn't the repository's own,
// because hooks in it would run in other repositories too.
func (t Target) hooksDir(r Repository) (string, error) {
	if err := r.Shared(); err != nil {
		return "", err
	}
	if r.hasOwnHooksDir() {
		return r.ownHooksDir(), nil
	}

	dir := filepath.Join(r.Git, "hooks")
	if r.HooksPath != "" {
		dir = filepath.FromSlash(r.HooksPath)
		if !filepath.IsAbs(dir) {
			// Git runs hooks there.
			dir = filepath.Join(r.Top, dir)
		}
	}

	// People switch hooks off by a path such as /dev/null.
	if info, err := os.Stat(dir); err == nil && !info.IsDir() && r.HooksPath != "" {
		return "", stick.Errorf(
			stick.CodeConfigUnwritable,
			"core.hooksPath in %s is %s, which isn't a directory, so git runs no hooks here", r.Origin, dir,
		).
			With("path", dir).
			Hintf("if nobody turned hooks off on purpose: %s",
				stick.Cmd("git config --"+r.Scope+" --unset core.hooksPath"))
	}

	// A path of the user's or the system's configuration is shared by other repositories.
	own := r.HooksPath == "" || r.Scope == "local" || r.Scope == "worktree"
	if own && r.Exposed {
		return r.ownHooksDir(), nil
	}
	if own && (isInside(dir, r.Git) || r.Top != "" && isInside(dir, r.Top)) {
		return filepath.Clean(dir), nil
	}

	why := stick.Wordsf("git looks for hooks in %s", dir)
	if r.HooksPath != "" {
		why += stick.Wordsf(", as core.hooksPath in %s says", r.Origin)
	}

	// Whoever owns that directory can still call tt from its hooks.
	byHand := stick.Wordsf(
		"add this line to the hook pre-commit there by hand: `%s`, and this one at the end of reference-transaction: `%s`",
		stick.Words(t.gitLine("pre-commit")), stick.Words(t.gitLine("reference-transaction")),
	)
	if r.PrePush {
		byHand += stick.Wordsf(", and this one at the end of pre-push: `%s`", stick.Words(t.gitLine("pre-push")))
	}

	return "", stick.Errorf(
		stick.CodeConfigUnwritable, "%s: that directory isn't this repository's own, so tt doesn't write there", why,
	).With("path", dir).Hintf("%s", byHand)
}

// gitLine is the line by which somebody else's hook asks tt.
func (t Target) gitLine(name string) string {
	tt := quoteWord(t.TT)
	switch name {
	case "pre-push":
		return "[ ! -x " + tt + " ] || " + tt + ` hook git pre-push "$1" || [ $? -ne 4 ] || exit 1`
	case "pre-commit":
		return "[ ! -x " + tt + " ] || " + tt + " hook git pre-commit || [ $? -ne 4 ] || exit 1"
	}

	return `[ "$1" != prepared ] || [ ! -x ` + tt + " ] || " +
		tt + " hook git reference-transaction prepared || [ $? -ne 4 ] || exit 1"
}

// quoteWord quotes a path for the POSIX shell, which runs git's hooks on every system.
func quoteWord(path string) string {
	if plainPath().MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// madeDir is a line of hooks whose directory we made: the directory goes when they do.
const madeDir = "# Their directory was made for the hooks of Talking Stick.\n"

// hookText returns the text of a hook.
func (t Target) hookText(text string, made bool) string {
	if made {
		text = strings.Replace(text, "tt={{tt}}\n", madeDir+"tt={{tt}}\n", 1)
	}
	return strings.Replace(text, "{{tt}}", quoteWord(t.TT), 1)
}

// stubProgram matches the line of a hook that names the program. A moved program doesn't make it another
// hook.
var stubProgram = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^tt=.*$`) })

// isStub reports whether a hook is ours and unedited.
func isStub(have []byte, text string) bool {
	// The program may have moved, and the directory may have been there before.
	plain := stubProgram().ReplaceAllLiteral(have, []byte("tt={{tt}}"))
	plain = []byte(strings.Replace(string(plain), madeDir, "", 1))
	return string(plain) == text || isShipped(plain)
}

// stubMark is in every hook of ours, edited or not.
const stubMark = "Talking Stick (tt install git)"

// The states of a hook's file.
const (
	noHook     = iota
	ourHook    // unedited
	editedHook // was ours
	otherHook
)

// hookAt reads what lies at a hook's path. A link is never ours.
func hookAt(path, text string) (state int, have []byte, err error) {
	info, err := os.Lstat(path)
	switch {
	case os.IsNotExist(err):
		return noHook, nil, nil
	case err != nil:
		return 0, nil, &confedit.FileError{File: path, Why: "can't be read", Err: err}
	case info.IsDir():
		return 0, nil, &confedit.FileError{File: path, Why: confedit.NotRegular}
	case !info.Mode().IsRegular():
		return otherHook, nil, nil
	}

	if have, err = confedit.Read(path); err != nil {
		return 0, nil, err
	}

	switch {
	case isStub(have, text):
		return ourHook, have, nil
	case strings.Contains(string(have), stubMark):
		return editedHook, have, nil
	}

	return otherHook, have, nil
}
