package proc

import (
	"bytes"
	"fmt"
	"io/fs"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Host returns the processes of this machine. On macOS it is experimental: it compiles and passes vet, but
// nobody has run it.
func Host() (*Table, error) {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return nil, fmt.Errorf("read the boot session: %w", err)
	}
	return &Table{
		PIDSpace: PIDSpace{Boot: boot},
		Initial:  true,
		native:   &native{status: kernelStatus, args: kernelArgs, all: kernelList, dir: kernelDir},
	}, nil
}

// kernelStatus asks the kernel for one process. For an unused pid the kernel answers nothing, which the
// library reports as EIO.
func kernelStatus(pid int) (status, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err == unix.EIO || err == nil && k.Proc.P_pid != int32(pid) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return status{}, &fs.PathError{Op: "sysctl", Path: strconv.Itoa(pid), Err: err}
	}
	return statusOf(k), nil
}

// kernelList asks the kernel for all processes.
func kernelList() ([]status, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}

	out := make([]status, len(all))
	for i := range all {
		out[i] = statusOf(&all[i])
	}
	return out, nil
}

// kernelDir asks the kernel for the working directory of a process, as proc_pidinfo does. The answer has
// two records, for the directory and for the root. Each ends with a path of 1024 bytes.
func kernelDir(pid int) (string, error) {
	const (
		callPIDInfo = 2
		vnodePaths  = 9
		before      = 152
		longest     = 1024
	)

	var buf [2 * (before + longest)]byte
	n, _, errno := unix.Syscall6(unix.SYS_PROC_INFO, callPIDInfo, uintptr(pid), vnodePaths, 0,
		uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	if errno != 0 {
		return "", &fs.PathError{Op: "proc_info", Path: strconv.Itoa(pid), Err: errno}
	}
	if int(n) < len(buf) {
		return "", &fs.PathError{Op: "proc_info", Path: strconv.Itoa(pid), Err: fs.ErrNotExist}
	}

	path, _, _ := bytes.Cut(buf[before:before+longest], []byte{0})
	return string(path), nil
}

func statusOf(k *unix.KinfoProc) status {
	pid := int(k.Proc.P_pid)

	// The sessions of other users' processes may be unreadable; 0 is unknown.
	session, err := unix.Getsid(pid)
	if err != nil {
		session = 0
	}

	name, _, _ := bytes.Cut(k.Proc.P_comm[:], []byte{0})
	return status{
		pid:     pid,
		ppid:    int(k.Eproc.Ppid),
		comm:    string(name),
		state:   stateLetter(k.Proc.P_stat),
		session: session,
		tty:     deviceName(k.Eproc.Tdev),
		threads: 1,
		start:   int64(k.Proc.P_starttime.Sec)*1e6 + int64(k.Proc.P_starttime.Usec),
	}
}

// stateLetter maps the kernel's states (SIDL, SRUN, SSLEEP, SSTOP, SZOMB) to Linux's letters.
func stateLetter(stat int8) byte {
	const letters = "?IRSTZ"
	if stat < 0 || int(stat) >= len(letters) {
		return '?'
	}
	return letters[stat]
}

func deviceName(device int32) string {
	const none, terminals = -1, 16
	switch major, minor := device>>24&0xff, device&0xffffff; {
	case device == none:
		return ""
	case major == terminals:
		return fmt.Sprintf("ttys%03d", minor)
	default:
		return fmt.Sprintf("%d:%d", major, minor)
	}
}

func kernelArgs(pid int) []string {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil
	}
	return parseProcArgs(b)
}

func signalZero(pid int) error { return unix.Kill(pid, 0) }
