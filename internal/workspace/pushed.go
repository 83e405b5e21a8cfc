package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// maxRemotes is of how many entries the directory of remote-tracking branches is looked through.
const maxRemotes = 1000

// Pushed reports whether a push has reached a branch of a remote at a time or after it, as the logs of
// remote-tracking branches say. common is the git directory that the checkouts of the repository share. Times
// are whole seconds. known is false in a repository that has no such logs. A push to an address that no
// remote has isn't seen.
func WasPushed(common, branch string, since time.Time) (pushed, known bool) {
	root := filepath.Join(common, "logs", "refs", "remotes")
	suffix := "/" + branch

	seen := 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > maxRemotes {
			return fs.SkipAll
		}

		known = known || err == nil
		if err != nil || d.IsDir() || !strings.HasSuffix(filepath.ToSlash(path), suffix) {
			return nil
		}

		// A log that can't be read has no push.
		b, _ := os.ReadFile(path)
		for line := range strings.Lines(string(b)) {
			pushed = pushed || isPush(line, since)
		}
		return nil
	})

	return pushed, known
}

// isPush reports whether a line of a log is of a push at a time or after it.
func isPush(line string, since time.Time) bool {
	facts, what, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
	fields := strings.Fields(facts)
	if len(fields) < 2 || what != "update by push" {
		return false
	}

	// The last fields are the time and its zone. A name before them may hold blanks.
	at, err := strconv.ParseInt(fields[len(fields)-2], 10, 64)
	return err == nil && at >= since.Unix()
}
