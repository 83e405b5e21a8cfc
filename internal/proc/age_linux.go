package proc

import (
	"time"

	"golang.org/x/sys/unix"

	"talkingstick/stick"
)

// tick is the unit in which Linux gives the start of a process, on every machine that Go runs on.
const tick = 10 * time.Millisecond

// Age returns how long a process of this boot has run, at most a tick too short and never too long. It
// reports false where that isn't known.
func AgeOf(p stick.Process) (time.Duration, bool) {
	var now unix.Timespec
	if p.IsZero() || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0, false
	}

	age := time.Duration(now.Nano()) - time.Duration(p.Start+1)*tick
	return age, age >= 0
}
