package rescue

import (
	"os"
	"strconv"
	"strings"
	"time"

	"talkingstick/internal/plainfile"
	"talkingstick/stick"
)

// hasPassed reports whether a time has passed since the one that a file notes. Without it, it has.
func (r *bareRepository) hasPassed(name string, d time.Duration, now stick.Time) bool {
	b, err := plainfile.Read(r.pathTo(name))
	if err != nil {
		return true
	}

	at, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	since := now.Sub(stick.Time(at))
	return err != nil || since >= d || since < 0
}

// noteTime notes a time in a file.
func (r *bareRepository) noteTime(name string, now stick.Time) {
	f, err := plainfile.Open(r.pathTo(name), os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
	if err == nil {
		// A failure is no harm: without the file, the time has passed.
		_, _ = f.WriteString(strconv.FormatInt(int64(now), 10) + "\n")
		f.Close()
	}
}
