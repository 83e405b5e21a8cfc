package bare

import (
	"os"
	"strconv"
	"strings"
	"time"

	"talkingstick/internal/plainfile"
	"talkingstick/stick"
)

// HasPassed reports whether a time has passed since the one that a file notes. Without it, it has.
func (r *Repository) HasPassed(name string, d time.Duration, now stick.Time) bool {
	b, err := plainfile.Read(r.PathTo(name))
	if err != nil {
		return true
	}

	at, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	since := now.Sub(stick.Time(at))
	return err != nil || since >= d || since < 0
}

// NoteTime notes a time in a file.
func (r *Repository) NoteTime(name string, now stick.Time) {
	f, err := plainfile.Open(r.PathTo(name), os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
	if err == nil {
		// A failure is no harm: without the file, the time has passed.
		_, _ = f.WriteString(strconv.FormatInt(int64(now), 10) + "\n")
		f.Close()
	}
}
