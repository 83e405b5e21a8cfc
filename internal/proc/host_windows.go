package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

// systemPID is the kernel's own process; it starts when the machine does.
const systemPID = 4

// Host returns the processes of this machine. On Windows it is experimental: it compiles and passes vet, but
// nobody has run it.
func Host() (*Table, error) {
	boot, err := kernelStatus(systemPID)
	if err != nil {
		return nil, fmt.Errorf("read the boot time: %w", err)
	}

	t := &Table{
		Initial: true,
		native:  &native{status: kernelStatus, args: kernelArgs, all: kernelList, dir: kernelDir, orphans: true},
	}

	// Without the time of the boot, nothing can be compared.
	if boot.start != 0 {
		t.PIDSpace.Boot = strconv.FormatInt(boot.start, 10)
	}
	return t, nil
}

// kernelStatus finds pid in the kernel's list of all processes. The list hides nothing and needs no rights.
// A process that has ended stays in it, without threads, while somebody has it open.
func kernelStatus(pid int) (status, error) {
	all, err := kernelList()
	if err != nil {
		return status{}, fmt.Errorf("list processes: %w", err)
	}
	for _, s := range all {
		if s.pid == pid {
			return s, nil
		}
	}
	return status{}, &fs.PathError{Op: "find process", Path: strconv.Itoa(pid), Err: fs.ErrNotExist}
}

// kernelList reads the kernel's list.
func kernelList() ([]status, error) {
	list, err := processList()
	if err != nil {
		return nil, err
	}

	var all []status
	for {
		p := (*windows.SYSTEM_PROCESS_INFORMATION)(unsafe.Pointer(&list[0]))
		s := status{
			pid:     int(p.UniqueProcessID),
			ppid:    int(p.InheritedFromUniqueProcessID),
			comm:    p.ImageName.String(),
			state:   'S',
			threads: int(p.NumberOfThreads),
			start:   p.CreateTime,
		}

		// A process without threads has ended, but somebody has it open.
		if s.threads == 0 {
			s.state = 'Z'
		}
		all = append(all, s)

		if p.NextEntryOffset == 0 {
			return all, nil
		}
		list = list[p.NextEntryOffset:]
	}
}

// kernelDir reads the working directory from the memory of a process, where its library keeps it.
func kernelDir(pid int) (string, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_INFORMATION|windows.PROCESS_VM_READ, false, uint32(pid))
	if err != nil {
		return "", err
	}
	defer windows.CloseHandle(h)

	var basic windows.PROCESS_BASIC_INFORMATION
	err = windows.NtQueryInformationProcess(h, windows.ProcessBasicInformation, unsafe.Pointer(&basic),
		uint32(unsafe.Sizeof(basic)), nil)
	if err != nil {
		return "", err
	}

	read := func(from uintptr, into unsafe.Pointer, size uintptr) error {
		return windows.ReadProcessMemory(h, from, (*byte)(into), size, nil)
	}

	// The way leads from the process by way of its parameters to the directory.
	var block windows.PEB
	err = read(uintptr(unsafe.Pointer(basic.PebBaseAddress)), unsafe.Pointer(&block), unsafe.Sizeof(block))
	if err != nil {
		return "", err
	}

	var params windows.RTL_USER_PROCESS_PARAMETERS
	err = read(uintptr(unsafe.Pointer(block.ProcessParameters)), unsafe.Pointer(&params), unsafe.Sizeof(params))
	if err != nil {
		return "", err
	}

	text := params.CurrentDirectory.DosPath
	if text.Length == 0 {
		return "", fs.ErrNotExist
	}

	chars := make([]uint16, text.Length/2)
	if err := read(uintptr(unsafe.Pointer(text.Buffer)), unsafe.Pointer(&chars[0]), uintptr(text.Length)); err != nil {
		return "", err
	}
	return filepath.Clean(windows.UTF16ToString(chars)), nil
}

func processList() ([]byte, error) {
	for size := uint32(512 << 10); ; size *= 2 {
		// The entries must be aligned.
		words := make([]uint64, size/8)
		b := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)

		var n uint32
		err := windows.NtQuerySystemInformation(windows.SystemProcessInformation, unsafe.Pointer(&b[0]), size, &n)
		if !errors.Is(err, windows.STATUS_INFO_LENGTH_MISMATCH) {
			return b, err
		}
	}
}

// kernelArgs returns the command line of pid, or nothing if we have no right to read it.
func kernelArgs(pid int) []string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(h)

	words := make([]uint64, 64<<10/8)
	err = windows.NtQueryInformationProcess(h, windows.ProcessCommandLineInformation,
		unsafe.Pointer(&words[0]), uint32(len(words)*8), nil)
	if err != nil {
		return nil
	}

	args, err := windows.DecomposeCommandLine((*windows.NTUnicodeString)(unsafe.Pointer(&words[0])).String())
	if err != nil {
		return nil
	}
	return args
}

// signalZero asks the kernel in another way whether process pid exists.
func signalZero(pid int) error {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err == windows.ERROR_INVALID_PARAMETER {
		return errNoProcess
	}
	if err == nil {
		windows.CloseHandle(h)
	}
	return err
}
