package git

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/stick"
)

// Failure is a git command that failed.
type Failure struct {
	Args []string
	Exit int    // its exit status, -1 if it had none
	Said string // the beginning of its standard error
	Err  error
}

func (f *Failure) Error() string {
	if f.Said != "" {
		return fmt.Sprintf("git %s: %s", f.commandName(), f.Said)
	}
	return fmt.Sprintf("git %s: %v", f.commandName(), f.Err)
}

// commandName returns git's subcommand, without the settings before it.
func (f *Failure) commandName() string {
	for i, a := range f.Args {
		isValue := i > 0 && strings.EqualFold(f.Args[i-1], "-c")
		if !strings.HasPrefix(a, "-") && !isValue {
			return a
		}
	}

	return ""
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// maxSaid is how much of git's standard error a failure carries, in bytes.
const maxSaid = 4 << 10

func newFailure(args []string, said *prefixWriter, err error) *Failure {
	f := &Failure{Args: args, Exit: -1, Said: strings.TrimSpace(said.String()), Err: err}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		f.Exit = exit.ExitCode()
	}
	return f
}

func errGitMissing(err error) error {
	e := stick.Errorf(stick.CodeGitMissing, "git isn't installed, or not in PATH").Hintf("install git 2.38 or newer")
	e.Err = err
	return e
}

// mostSaid is how much of what git has said an error repeats, in characters.
const mostSaid = 300

func errGitFailed(f *Failure) *stick.Error {
	e := stick.Errorf(stick.CodeGitFailed, "git %s failed: %s", f.commandName(), f.reason()).
		Hintf("fix what git complains about, then run the same command again")
	e.Err = f
	if lock := f.lockFile(); lock != "" {
		e.Message = string(stick.Wordsf("git %s failed: %s exists: another git is running, or a killed one has left it", f.commandName(), lock))
		e.With("path", lock).Hintf("wait until that git has ended; if no git is running there, remove that file; then run the same command again")
	}

	if path, ok := f.foreignRepository(); ok {
		e.Message = string(stick.Wordsf("git doesn't work in %s, because it belongs to another user", path))
		e.With("path", path).Hintf("if you trust whoever it belongs to: %s", stick.Cmd("git config --global --add safe.directory <path>"))
	}

	return e
}

// exitFatal is the status with which git ends where it can't go on.
const exitFatal = 128

// Refusal returns the error by which git has refused to work in a repository, or nil: because that belongs to
// another user, or because git can't make sense of its configuration, its index or its HEAD. Its hint is what a
// person does about it. That there is no repository is none.
func RefusalOf(err error) *stick.Error {
	f := asFailure(err)
	if f == nil {
		return nil
	}

	if _, ok := f.foreignRepository(); ok {
		return errGitFailed(f)
	}

	// Whoever holds a lock gives it back, and what a remote says isn't about this repository.
	if f.speaksWithRemote() || f.lockFile() != "" {
		return nil
	}

	said, isFatal := f.lineAfter("fatal: ")
	if f.Exit != exitFatal || !isFatal || strings.HasPrefix(said, "not a git repository") {
		return nil
	}

	return errGitFailed(f).Hintf("fix what git complains about")
}

// foreignRepository returns the repository of another user in which git has refused to work. It isn't asked of
// commands that speak with a remote, whose words git passes on: before such a command others run here.
func (f *Failure) foreignRepository() (path string, ok bool) {
	if f.speaksWithRemote() {
		return "", false
	}

	said, ok := f.lineAfter("fatal: detected dubious ownership in repository at '")
	path, _, _ = strings.Cut(said, "'")
	return path, ok
}

// speaksWithRemote reports whether the words of a command may be those of a remote.
func (f *Failure) speaksWithRemote() bool {
	return slices.Contains([]string{"fetch", "push", "ls-remote"}, f.commandName())
}

// lineAfter returns what follows some words of git's at the beginning of a line. A line of a remote begins
// otherwise.
func (f *Failure) lineAfter(words string) (rest string, ok bool) {
	for line := range strings.Lines(f.Said) {
		if rest, ok := strings.CutPrefix(line, words); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}

// lockFile returns the lock file that made git fail, or "". A hook or a remote may say the same words: so the
// file has to be there, in a git directory.
func (f *Failure) lockFile() string {
	_, rest, ok := strings.Cut(f.Said, "Unable to create '")
	path, _, closed := strings.Cut(rest, ".lock': File exists")
	if !ok || !closed || !isInGitDir(path) {
		return ""
	}

	path += ".lock"
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// isInGitDir reports whether a file lies in a git directory, or would.
func isInGitDir(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}

	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(dir, "HEAD")); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// isNoRepository reports whether git looked for a repository and found none, by its words in English. A .git
// file that leads nowhere, a repository that git can't read, and one that it doesn't trust are other
// failures.
func (f *Failure) isNoRepository() bool {
	_, ok := f.lineAfter("fatal: not a git repository (or any")
	return f.Exit == exitFatal && ok
}

func errNoRepository(dir string, f *Failure) error {
	e := stick.Errorf(stick.CodeNoRepository, "git finds no repository at %s: %s", dir, f.reason()).With("path", dir)
	e.Err = f
	return e
}

// reason picks the lines of git's output that say why it failed: what the remote said, rejected branches,
// then the first error with the files listed below it, and the fatal one.
func (f *Failure) reason() stick.Words {
	var why []string
	lines := strings.Split(f.Said, "\n")
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if said, ok := strings.CutPrefix(line, "remote: "); ok && strings.TrimSpace(said) != "" {
			why = append(why, strings.TrimSpace(said))
		} else if strings.HasPrefix(line, "! [") {
			why = append(why, strings.Join(strings.Fields(line[2:]), " "))
		}
	}

	// Git lists the files of an error below it, each after a tab.
	for _, mark := range []string{"error: ", "fatal: "} {
		for i, line := range lines {
			rest, ok := strings.CutPrefix(strings.TrimSpace(line), mark)
			if !ok {
				continue
			}

			var files []string
			for _, below := range lines[i+1:] {
				file, ok := strings.CutPrefix(below, "\t")
				if !ok {
					break
				}
				files = append(files, file)
			}

			if len(files) > 0 {
				rest += " " + strings.Join(files, ", ")
			}

			why = append(why, rest)
			break
		}
	}

	if len(why) > 0 {
		return stick.Quote(strings.Join(why, "; "), mostSaid)
	}

	said := stick.Words(f.Err.Error()) // how it ended
	if f.Said != "" {
		said = stick.Quote(f.Said, mostSaid)
	}

	// Git itself says why it fails; a post-checkout hook may not.
	if f.Exit > 0 && f.commandName() == "worktree" {
		return "its post-checkout hook seems to have failed: " + said
	}

	return said
}

// asFailure returns the [*Failure] in err, or nil.
func asFailure(err error) *Failure {
	f, _ := errors.AsType[*Failure](err)
	return f
}

// exitedWith reports whether git ended with a status.
func exitedWith(err error, status int) bool {
	f := asFailure(err)
	return f != nil && f.Exit == status
}
