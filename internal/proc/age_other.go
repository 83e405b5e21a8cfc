//go:build !linux

package proc

import (
	"time"

	"talkingstick/stick"
)

// Age returns how long a process has run. It isn't known here.
func AgeOf(stick.Process) (time.Duration, bool) { return 0, false }
