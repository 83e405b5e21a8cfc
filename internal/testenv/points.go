package testenv

import "testing"

// KillsAt says whether a test kills a command at its i-th point, counted from 0: at each, or with -short at every third. It is for the
// runs that come after one of all points: under the race detector, beside busy processes, of real processes on the other database.
func KillsAt(i int) bool { return !testing.Short() || i%3 == 0 }
