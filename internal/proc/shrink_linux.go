package proc

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ReleaseMemory releases memory that this process needed to start but doesn't need while it sleeps: the pages
// of its own program. They come back one by one when it continues, from memory that all running copies of the
// program share.
func ReleaseMemory() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}

	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close()

	for lines := bufio.NewScanner(maps); lines.Scan(); {
		line := lines.Text()
		var from, to uintptr
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); n != 3 || !strings.HasSuffix(line, " "+exe) {
			continue
		}

		// What isn't writable is unchanged in the file.
		if mode == "r-xp" || mode == "r--p" {
			// A failure costs memory only.
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
		}
	}
}
