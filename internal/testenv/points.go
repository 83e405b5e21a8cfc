package testenv

import "testing"

// KillsAt reports whether a test kills a command at its i-th point, counted from 0: at each, or in a short
// run at every seventh. An odd number, because points before and after a step take turns. A test that asks
// says so once, by [Leaves].
func KillsAt(i int) bool { return !testing.Short() || i%7 == 0 }
