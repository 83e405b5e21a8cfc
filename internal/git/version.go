package git

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"

	"talkingstick/stick"
)

// requireVersion fails with [stick.CodeGitTooOld] if git is older than the given version, and with
// [stick.CodeGitMissing] if there is none. A git whose version can't be parsed passes.
func (c Client) requireVersion(ctx context.Context, dir string, major, minor int) error {
	said, err := c.gitVersion(ctx, dir)
	if err != nil {
		return c.explainFailure(dir, err)
	}
	return checkVersion(said, major, minor)
}

// gitProgram is a git program as it lies on the disk.
type gitProgram struct {
	path  string
	facts os.FileInfo
}

// isSame reports whether two programs are one file that hasn't changed.
func (p gitProgram) isSame(o gitProgram) bool {
	if p.facts == nil || o.facts == nil || p.path != o.path {
		return false
	}
	return os.SameFile(p.facts, o.facts) && p.facts.ModTime().Equal(o.facts.ModTime())
}

// lastVersion is the program that has said its version last. A process that goes on, as a server does,
// needn't ask it for each operation.
var lastVersion struct {
	sync.Mutex
	gitProgram
	version string
}

// gitVersion is what git says of its version.
func (c Client) gitVersion(ctx context.Context, dir string) (said string, err error) {
	is := c.findProgram()

	// Another git may have been installed since: then its file is another one, or has another time.
	lastVersion.Lock()
	known := is.isSame(lastVersion.gitProgram)
	said = lastVersion.version
	lastVersion.Unlock()
	if known {
		return said, nil
	}

	said, err = c.runLine(ctx, dir, "version")
	if err == nil {
		lastVersion.Lock()
		defer lastVersion.Unlock()
		lastVersion.gitProgram, lastVersion.version = is, said
	}

	return said, err
}

// findProgram finds the program that runs as git. It has no facts where there is none, or where it is found
// from the working directory.
func (c Client) findProgram() gitProgram {
	path, err := exec.LookPath(cmp.Or(c.Path, "git"))
	if err != nil || !filepath.IsAbs(path) {
		return gitProgram{}
	}

	facts, err := os.Stat(path)
	if err != nil {
		return gitProgram{}
	}

	return gitProgram{path, facts}
}

var versionLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^git version (\d+)\.(\d+)`) })

func checkVersion(said string, major, minor int) error {
	m := versionLine().FindStringSubmatch(said)
	if m == nil {
		return nil
	}

	x, _ := strconv.Atoi(m[1])
	y, _ := strconv.Atoi(m[2])
	if x > major || x == major && y >= minor {
		return nil
	}

	return stick.Errorf(stick.CodeGitTooOld, "git is version %d.%d, but this needs %d.%d or newer", x, y, major, minor).
		With("version", m[1]+"."+m[2]).Hintf("install a newer git, or put it before the old one in PATH")
}
