//go:build linux

// Package pgserver runs a PostgreSQL of one's own, for tests and measurements: Debian's package, with a socket and TLS, which doesn't sync to
// disk and may crash.
package pgserver

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bin is where Debian puts the programs of PostgreSQL 15.
const Bin = "/usr/lib/postgresql/15/bin"

// Installed reports whether PostgreSQL is installed.
func Installed() bool {
	_, err := os.Stat(filepath.Join(Bin, "postgres"))
	return err == nil
}

// Server is a PostgreSQL in a directory of its own. Its superuser is tt, and its database postgres.
type Server struct {
	Dir    string               // with the socket
	Port   int                  // on 127.0.0.1, with TLS
	Attr   *syscall.SysProcAttr // of its processes: PostgreSQL refuses to run as root
	Before []string             // a command that runs the server as its arguments, as env does; empty for none
	server *exec.Cmd
	over   chan string // what the server has said, when it has ended
}

// URL is the address of the server, for its superuser.
func (pg *Server) URL() string {
	u := url.URL{Scheme: "postgres", User: url.User("tt"), Path: "/postgres", RawQuery: url.Values{"host": {pg.Dir}, "port": {strconv.Itoa(pg.Port)}}.Encode()}
	return u.String()
}

// New makes a server and starts it, with these settings.
func New(settings ...string) (*Server, error) {
	dir, err := os.MkdirTemp("", "tt-pg-")
	if err != nil {
		return nil, err
	}
	pg := &Server{Dir: dir, over: make(chan string, 1)}
	if err := pg.prepare(); err != nil {
		return nil, err
	}
	if err := pg.Run("initdb", "-D", pg.Data(), "-U", "tt", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"); err != nil {
		return nil, err
	}
	if err := pg.secure(pg.Attr, pg.Data()); err != nil {
		return nil, err
	}
	return pg, pg.Start(append([]string{"-c", "wal_level=minimal", "-c", "max_wal_senders=0"}, settings...)...)
}

// Standby makes a server that follows this one, and starts it with these settings.
func (pg *Server) Standby(settings ...string) (*Server, error) {
	dir, err := os.MkdirTemp("", "tt-pg-")
	if err != nil {
		return nil, err
	}
	standby := &Server{Dir: dir, over: make(chan string, 1)}
	if err := standby.prepare(); err != nil {
		return nil, err
	}
	err = standby.Run("pg_basebackup", "-h", pg.Dir, "-p", strconv.Itoa(pg.Port), "-U", "tt", "-D", standby.Data(), "-R", "-c", "fast", "--no-sync")
	if err != nil {
		return nil, err
	}
	return standby, standby.Start(settings...)
}

// prepare finds a port, and the user that owns the files.
func (pg *Server) prepare() (err error) {
	pg.Attr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} // not left behind by a binary that is killed
	if os.Getuid() == 0 {                                      // PostgreSQL refuses to run as root
		if err := pg.giveAway(pg.Attr); err != nil {
			return err
		}
	}
	pg.Port, err = FreePort()
	return err
}

// Data is the directory with the files of the database.
func (pg *Server) Data() string { return filepath.Join(pg.Dir, "data") }

// Run runs a program of PostgreSQL until it ends.
func (pg *Server) Run(name string, args ...string) error {
	if out, err := pg.command(pg.Attr, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// Start starts the server, and returns when it takes connections. A later setting is stronger than an earlier one.
func (pg *Server) Start(settings ...string) error {
	pg.server = pg.command(pg.Attr, "postgres", append([]string{
		"-D", pg.Data(), "-k", pg.Dir, "-p", strconv.Itoa(pg.Port), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off",
		"-c", "shared_buffers=16MB", "-c", "max_connections=200", "-c", "autovacuum=off", "-c", "ssl=on",
	}, settings...)...)
	if len(pg.Before) > 0 {
		pg.server.Path, pg.server.Args = pg.Before[0], append(append(slices.Clone(pg.Before), pg.server.Path), pg.server.Args[1:]...)
	}
	ready, started := make(chan bool, 2), make(chan error)
	go pg.serve(ready, started)
	if err := <-started; err != nil {
		return err
	}
	select {
	case <-ready:
		return nil
	case said := <-pg.over:
		return fmt.Errorf("it didn't start:\n%s", said)
	case <-time.After(time.Minute):
		return errors.Join(errors.New("it wasn't ready within a minute"), pg.Stop())
	}
}

// serve starts the server and reads what it says. The thread that starts it lives as long as the server: when it ended, the kernel
// would end the server.
func (pg *Server) serve(ready chan<- bool, started chan<- error) {
	runtime.LockOSThread()
	log, err := pg.server.StderrPipe()
	if err == nil {
		err = pg.server.Start()
	}
	started <- err
	if err != nil {
		return
	}
	var all strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if strings.Contains(lines.Text(), "ready to accept") { // connections, or read-only ones
			select {
			case ready <- true:
			default: // a standby that takes over says it again
			}
		}
	}
	pg.over <- all.String()
}

// CPU is how long the server and those of its connections that have ended have run on a processor, to a hundredth of a second.
func (pg *Server) CPU() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pg.server.Process.Pid))
	_, after, _ := strings.Cut(string(text), ") ")
	var ticks int
	for i, f := range strings.Fields(after) {
		if i >= 11 && i <= 14 { // utime, stime, cutime, cstime
			n, _ := strconv.Atoi(f)
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// Crash ends the server at once, as a failure of its machine would, but for what the operating system has in its caches.
func (pg *Server) Crash() {
	if pg.server == nil {
		return // it has crashed before
	}
	_ = pg.server.Process.Signal(syscall.SIGQUIT)
	select {
	case <-pg.over:
	case <-time.After(30 * time.Second):
		_ = pg.server.Process.Kill()
	}
	_ = pg.server.Wait()
	pg.server = nil
}

// Stop ends the server and removes its files.
func (pg *Server) Stop() error {
	pg.Crash()
	return os.RemoveAll(pg.Dir)
}

// giveAway lets the user postgres, which Debian's package makes, own the directory and run the programs.
func (pg *Server) giveAway(attr *syscall.SysProcAttr) error {
	u, err := user.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return errors.Join(os.Chmod(pg.Dir, 0o711), os.Chown(pg.Dir, uid, gid))
}

// command is a program of PostgreSQL, in an environment without anything that names the user's own PostgreSQL.
func (pg *Server) command(attr *syscall.SysProcAttr, name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(Bin, name), args...)
	c.Dir, c.SysProcAttr = pg.Dir, attr
	c.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + pg.Dir, "LC_ALL=C", "TZ=UTC"}
	return c
}

// access is who gets in, and how. Roles that a test makes for this have these names.
const access = `
local   all all                        trust
local   replication all                trust
hostssl all needs_tls  127.0.0.1/32    trust
host    all needs_tls  127.0.0.1/32    reject
host    all needs_word 127.0.0.1/32    scram-sha-256
host    all all        127.0.0.1/32    trust
`

// FreePort finds a port that nobody uses.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// secure gives the server its certificate and says who gets in.
func (pg *Server) secure(attr *syscall.SysProcAttr, data string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	err = errors.Join(
		os.WriteFile(filepath.Join(pg.Dir, "server.crt"), public, 0o644),
		os.WriteFile(filepath.Join(data, "server.crt"), public, 0o600),
		os.WriteFile(filepath.Join(data, "server.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
		os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(access), 0o600),
	)
	if c := attr.Credential; err == nil && c != nil {
		for _, name := range []string{"server.crt", "server.key"} {
			err = errors.Join(err, os.Chown(filepath.Join(data, name), int(c.Uid), int(c.Gid)))
		}
	}
	return err
}
