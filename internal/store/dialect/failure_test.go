package dialect

import (
	"strings"
	"syscall"
	"testing"

	"talkingstick/stick"
)

// Too many open files have nothing to do with permissions.
func TestTooManyOpenFilesIsNoMatterOfPermissions(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.EMFILE: "ulimit -n", syscall.ENFILE: "ulimit -n", syscall.EACCES: "make it writable",
	} {
		e := stick.AsError(ErrNotWritable("/data", errno))
		hint := e.Hint.String()
		if !strings.Contains(hint, want) || errno != syscall.EACCES && strings.Contains(hint, "writable") {
			t.Errorf("%v: %s; %s", errno, e.Message, hint)
		}
	}
}
