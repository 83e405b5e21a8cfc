package app

import (
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"talkingstick/internal/config"
	"talkingstick/internal/proc"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Env is everything that a command gets from outside. Nothing below this package reads the
// environment, the working directory or the arguments of the process.
type Env struct {
	Name   string   // the program's name as it was called
	Args   []string // without it
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Dir    string // the working directory
	Home   string
	User   string
	Host   string
	PID    int
	TTY    bool // standard output is a terminal
	InTTY  bool // standard input is a terminal
	Exe    string

	Full     []Command // those that only tt-full has; nil in tt
	handedBy string    // the build of the tt that has started this process; empty if none has

	Columns    int        // of the terminal that standard output is; 0 if it isn't known
	Rows       int        // of the same terminal; 0 if it isn't known
	ErrColumns func() int // of the terminal that standard error is, now; 0 if it is none

	Procs func() (*proc.Table, error) // the machine's processes

	// For tests; nil or zero in the program.
	GitLimit  time.Duration // how long hooks of git may take
	HookSlack int           // hooks of harnesses, rescues and the tree of a handoff may take this many times their limits
	StopGrace time.Duration // how long a worker's processes that are asked to end have for it
	SignLimit time.Duration // how long the signature of a commit may take
	Now       func() time.Time
	Clock     func() time.Time // this machine's, where Now is nil
	Kill      func(point string)
	Local     func(dir string) error
}

// System is the environment of the real process.
func System() Env {
	// An empty home is reported where it is needed.
	home, _ := os.UserHomeDir()
	dir, err := os.Getwd()
	if err != nil {
		// A directory that was deleted has no path any more, but the shell still names it.
		dir = os.Getenv("PWD")
	}

	host, _ := os.Hostname()
	exe, _ := os.Executable()
	return Env{
		Name: strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), Args: os.Args[1:], Stdin: os.Stdin,
		Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Dir: dir, Home: home, User: userName(), Host: host, PID: os.Getpid(), Exe: exe,
		TTY: IsTerminal(os.Stdout), InTTY: IsTerminal(os.Stdin), Columns: terminalColumns(os.Stdout),
		Rows:       terminalRows(os.Stdout),
		ErrColumns: func() int { return terminalColumns(os.Stderr) },
		Procs:      proc.Host,
	}
}

// userName reads the environment first, because looking up a user may need the network.
func userName() string {
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if u := os.Getenv(name); u != "" {
			return u
		}
	}

	// Only without a variable the system is asked.
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "someone"
}

// DataDir returns the directory of the database, as an absolute path: a relative one would mean another
// database in each working directory. It fails with [stick.CodeDataDirRelative] and
// [stick.CodeDataDirNotWritable].
func (e Env) DataDir() (string, error) {
	if d := e.Getenv("TALKING_STICK_DATA_DIR"); d != "" {
		if !filepath.IsAbs(d) {
			return "", stick.Errorf(stick.CodeDataDirRelative,
				"TALKING_STICK_DATA_DIR is a relative path, %s, so each directory that tt runs in would get its own data", d).
				With("path", d).
				Hintf("set TALKING_STICK_DATA_DIR to an absolute path, or unset it to use the default directory")
		}

		return filepath.Clean(d), nil
	}

	parent := filepath.Join(e.Home, ".local", "share")
	if runtime.GOOS == "windows" {
		parent = e.Getenv("APPDATA")
	} else if d := e.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		// The XDG specification says to ignore a relative one.
		parent = d
	}

	if !filepath.IsAbs(parent) {
		return "", stick.Errorf(stick.CodeDataDirNotWritable, "there is no home directory to keep the database in").
			Hintf("set TALKING_STICK_DATA_DIR to a directory on a local disk")
	}

	return filepath.Join(parent, "talking-stick"), nil
}

// FileDatabase returns the address of the database in the user's file, or nothing.
func (e Env) FileDatabase() (string, error) {
	u, err := e.UserFile()
	return u.Database, err
}

// UserFile reads what the user sets for all projects.
func (e Env) UserFile() (config.User, error) {
	dir := e.ConfigDir()
	if !filepath.IsAbs(dir) {
		return config.User{}, nil
	}
	return config.ReadUser(dir)
}

// ConfigDir returns the directory of users' configuration files; a relative one if nothing names it.
func (e Env) ConfigDir() string {
	dir := filepath.Join(e.Home, ".config")
	if runtime.GOOS == "windows" {
		dir = e.Getenv("APPDATA")
	} else if d := e.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(d) {
		dir = d
	}
	return dir
}

// IsTrue reports whether the value of an environment variable means yes.
func IsTrue(s string) bool { return s != "" && s != "0" && s != "false" }

// WorkspaceEnv returns what the resolution of a path needs.
func (a *Run) WorkspaceEnv() workspace.Env {
	return workspace.Env{Dir: a.Dir, Home: a.Home, GitDir: a.Getenv("GIT_DIR"), GitWorkTree: a.Getenv("GIT_WORK_TREE")}
}
