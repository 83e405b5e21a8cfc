package app

import (
	"os"
	"path/filepath"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/plainfile"
	"talkingstick/stick"
)

// openTrace opens the file that TT_TRACE names, to append to it. It fails with [stick.CodeUsage] where
// that can't be written: whoever asks for a trace should learn that there is none.
func (a *Run) openTrace() error {
	path := a.Getenv("TT_TRACE")
	if path == "" || a.trace != nil {
		return nil
	}

	if !filepath.IsAbs(path) {
		// In a worktree a relative path would become an uncommitted file.
		return stick.Errorf(stick.CodeUsage, "TT_TRACE must be an absolute path, not %s", path).
			With("field", "TT_TRACE").
			Hintf("write it from the root, or unset TT_TRACE")
	}

	f, err := plainfile.Open(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return stick.Errorf(stick.CodeUsage, "TT_TRACE can't be written: %v", err).With("field", "TT_TRACE").
			Hintf("name a file that you may write, or unset TT_TRACE")
	}

	now := a.Now
	if now == nil {
		now = time.Now
	}

	// The file is open until the process ends.
	a.trace = core.NewTrace(f, now)
	return nil
}
