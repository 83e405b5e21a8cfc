package pty

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Terminal is the side of a terminal where a person would sit: what is written are keys, and what is read is shown.
type Terminal struct {
	*os.File
	fd   int
	name string // of the side of the programs
}

// Open makes a terminal of a size.
func Open(width, height int) (*Terminal, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	t := &Terminal{File: os.NewFile(uintptr(fd), "/dev/ptmx"), fd: fd} // its Close ends its Read, because fd doesn't block
	n := 0
	if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
		n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
	}
	if err == nil {
		t.name = "/dev/pts/" + strconv.Itoa(n)
		err = t.Resize(width, height)
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Resize changes the size of the terminal, of which its programs are told.
func (t *Terminal) Resize(width, height int) error {
	return unix.IoctlSetWinsize(t.fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(width), Row: uint16(height)})
}

// Modes are the settings of the terminal.
func (t *Terminal) Modes() (unix.Termios, error) {
	m, err := unix.IoctlGetTermios(t.fd, unix.TCGETS)
	if err != nil {
		return unix.Termios{}, err
	}
	return *m, nil
}

// Start starts a program on the terminal, as the first of its session.
func (t *Terminal) Start(c *exec.Cmd) error {
	f, err := os.OpenFile(t.name, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	c.Stdin, c.Stdout, c.Stderr = f, f, f
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return c.Start()
}
