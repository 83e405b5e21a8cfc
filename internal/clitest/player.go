//go:build unix

package clitest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"talkingstick/internal/cli"
)

// playerEnv makes the program a player. It plays one command after the other in the same process, and so
// saves all starts but one.
const playerEnv = "TT_TEST_PLAYER"

// The files that a player inherits beside the standard ones.
const (
	repliesFD  = 3
	requestsFD = 4
)

// PlayerEnv is what makes a program that [Install] has installed a player.
const PlayerEnv = playerEnv + "=1"

// Request is a command for a player. What it is about is set for the whole process: a player plays one at a
// time.
type Request struct {
	ID   int      // of the reply
	Args []string // with the program's name
	Dir  string   // the working directory
	Env  []string // added to what the player was started with

	// Files for the standard ones.
	In, Out, Err string
}

// player plays commands.
type player struct {
	began  []string // the environment that it was started with
	idle   [3]int   // its own standard files
	files  []int    // that were open before the first command
	played int
}

// mostPlayed limits the databases that a player keeps open.
const mostPlayed = 50

// playRequests plays commands until there are no more, or until one leaves something behind that ends only
// with its process: a child, an open file. Then the player ends as the process of that command would have,
// with its status and without a reply. So it does when a command crashes.
func playRequests() int {
	p, err := newPlayer()
	if err != nil {
		fmt.Fprintln(os.Stderr, "a player doesn't start:", err)
		return 127
	}

	replies := os.NewFile(repliesFD, "replies")
	requests := bufio.NewReader(os.NewFile(requestsFD, "requests"))
	for {
		line, err := requests.ReadBytes('\n')
		if err != nil {
			return 0 // the test has ended
		}
		var r Request
		if err := json.Unmarshal(line, &r); err != nil {
			fmt.Fprintln(os.Stderr, "a player gets no command:", err)
			return 127
		}

		status, err := p.playRequest(r)
		if err != nil {
			fmt.Fprintln(os.Stderr, "a player can't play:", err)
			return 127
		}
		if p.played == mostPlayed || p.hasChildren() || p.hasOpened() {
			return status
		}
		if _, err := fmt.Fprintf(replies, "%d exit %d\n", r.ID, status); err != nil {
			return 0
		}
	}
}

func newPlayer() (*player, error) {
	p := &player{}
	for _, fd := range []int{repliesFD, requestsFD} {
		unix.CloseOnExec(fd)
	}
	os.Unsetenv(playerEnv)
	p.began = os.Environ()

	for fd := range p.idle {
		own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, requestsFD+1)
		if err != nil {
			return nil, err
		}
		p.idle[fd] = own
	}

	// The first pipe makes Go open what it waits on, and keep it.
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r.Close()
	w.Close()
	p.files = openFiles()
	return p, nil
}

// playRequest makes the process what the command would have been started as, plays it, and makes the process idle
// again.
func (p *player) playRequest(r Request) (status int, err error) {
	os.Clearenv()
	for _, v := range slices.Concat(p.began, r.Env) {
		name, value, _ := strings.Cut(v, "=")
		os.Setenv(name, value)
	}
	if err := os.Chdir(r.Dir); err != nil {
		return 0, err
	}
	os.Args = r.Args

	files := [3]string{r.In, r.Out, r.Err}
	for fd, name := range files {
		flags := unix.O_RDONLY
		if fd > 0 {
			flags = unix.O_WRONLY | unix.O_CREAT | unix.O_TRUNC
		}
		f, err := unix.Open(name, flags|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return 0, &os.PathError{Op: "open", Path: name, Err: err}
		}
		err = unix.Dup2(f, fd)
		unix.Close(f)
		if err != nil {
			return 0, err
		}
	}

	env := Env()
	if len(r.Args) > 1 && r.Args[1] == "hook" {
		env.Procs, err = startedNow(env.Procs)
		if err != nil {
			return 0, err
		}
	}
	status = cli.Main(env)
	p.played++

	// An idle player works in no directory that a later command looks for processes in.
	if err := os.Chdir("/"); err != nil {
		return 0, err
	}
	for fd, own := range p.idle {
		if err := unix.Dup2(own, fd); err != nil {
			return 0, err
		}
	}
	return status, disownOrphans()
}

// hasChildren reports whether processes live that this one has started.
func (p *player) hasChildren() bool {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err == unix.EINTR || pid > 0 {
			continue
		}
		return err == nil
	}
}

// hasOpened reports whether the command has left a file open that no command leaves open: a lock, or a
// connection.
func (p *player) hasOpened() bool {
	for _, fd := range openFiles() {
		if slices.Contains(p.files, fd) {
			continue
		}
		name, err := os.Readlink("/dev/fd/" + strconv.Itoa(fd))
		if err != nil || !leftOpen[strings.TrimSuffix(filepath.Base(name), " (deleted)")] {
			return true
		}
	}
	return false
}

// leftOpen are the files that the program leaves to the end of its process. To close those of the database
// would take longer, and the last to close them would end the write-ahead log, which processes don't. An
// instance of inotify waits for the next wait: while one listens, a file of its presence is open, too.
var leftOpen = map[string]bool{
	"rooms.sqlite": true, "rooms.sqlite-wal": true, "rooms.sqlite-shm": true, "write.lock": true, "issued": true,
	"anon_inode:inotify": true,
}

func openFiles() (fds []int) {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return nil
	}
	defer dir.Close()
	own := int(dir.Fd())
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd != own {
			fds = append(fds, fd)
		}
	}
	return fds
}
