package app

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"talkingstick/internal/plainfile"
	"talkingstick/stick"
)

// LogFile returns the path of the log. It is empty if there is no data directory.
func (a *Run) LogFile() string {
	dir, err := a.DataDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tt.log")
}

// Logf adds a line to the log in the data directory. When the log has grown too long, it starts again.
func (a *Run) Logf(format string, args ...any) {
	const most = 1 << 20
	path := a.LogFile()
	if path == "" || plainfile.CheckOwner(filepath.Dir(path)) != nil {
		return
	}

	// One older log is kept, so both together stay small.
	if info, err := os.Stat(path); err == nil && info.Size() > most {
		_ = os.Rename(path, path+".1")
	}

	f, err := plainfile.Open(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		// There is nowhere else to write this failure.
		return
	}

	defer f.Close()
	now := time.Now
	if a.Now != nil {
		now = a.Now
	}

	fmt.Fprintf(f, "%s %s\n", now().UTC().Format(time.RFC3339), stick.Line(fmt.Sprintf(format, args...)))
}
