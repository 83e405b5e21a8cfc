package workspace

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// StashEntry is an entry of a repository's stash, as the log of refs/stash has it.
type StashEntry struct {
	Commit  string    // its full id
	Message string    // such as "WIP on main: 1a2b3c4 first"
	At      time.Time // when it was made, to the second
}

// Branch returns the branch on which an entry was made. It is empty if the message doesn't say so.
func (e StashEntry) Branch() string {
	rest, ok := strings.CutPrefix(e.Message, "WIP on ")
	if !ok {
		rest, ok = strings.CutPrefix(e.Message, "On ")
	}

	branch, _, named := strings.Cut(rest, ": ")
	if !ok || !named || strings.HasPrefix(branch, "(") {
		return ""
	}

	return branch
}

// maxStashLog is how many bytes of the log of a stash are read, some thousand entries.
const maxStashLog = 1 << 20

// Stash reads the entries of a repository's stash, the newest first. common is the git directory that its
// checkouts share. It runs no git. ok is false if files alone don't tell: the log is too large, or the
// repository doesn't store refs as files.
func ReadStash(common string) (entries []StashEntry, ok bool) {
	// The entries of the stash are in the log of its ref.
	f, err := os.Open(filepath.Join(common, "logs", "refs", "stash"))
	if os.IsNotExist(err) {
		// Without a log there is no entry, unless refs aren't files here.
		_, err := os.Stat(filepath.Join(common, "reftable"))
		return nil, os.IsNotExist(err)
	}
	if err != nil {
		return nil, false
	}
	defer f.Close()

	b, err := io.ReadAll(io.LimitReader(f, maxStashLog))
	if err != nil || len(b) == maxStashLog {
		return nil, false
	}

	for line := range strings.Lines(string(b)) {
		if e, ok := stashEntry(strings.TrimSuffix(line, "\n")); ok {
			entries = append(entries, e)
		}
	}

	slices.Reverse(entries)
	return entries, true
}

// stashEntry reads a line of the log: the old commit, the new one, who, when, and after a tab the message.
func stashEntry(line string) (e StashEntry, ok bool) {
	head, message, _ := strings.Cut(line, "\t")
	fields := strings.Fields(head)
	if len(fields) < 4 || !isCommit(fields[1]) {
		return e, false
	}

	seconds, err := strconv.ParseInt(fields[len(fields)-2], 10, 64)
	return StashEntry{Commit: fields[1], Message: message, At: time.Unix(seconds, 0)}, err == nil
}
