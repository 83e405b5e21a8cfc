package storetest

import (
	"net/url"
	"os"
	"strconv"
	"testing"
)

// Server is a PostgreSQL of one test, which may crash. Its standby has every commit before it is answered.
type Server struct {
	t       testing.TB
	primary *cluster
	standby *cluster // nil once it has taken over
}

// replicated are the settings of a server that has a standby, or is one.
var replicated = []string{"-c", "wal_level=replica", "-c", "max_wal_senders=4"}

// synchronous makes a server wait for its standby before it answers a commit.
var synchronous = []string{"-c", "synchronous_standby_names=*"}

// NewServer starts a server and its standby. Both end with the test.
func NewServer(t testing.TB) *Server {
	t.Helper()
	requirePostgres(t)
	s := &Server{t: t}
	var err error
	if s.primary, err = newCluster(); err != nil {
		t.Fatal(err)
	}
	first := s.primary
	t.Cleanup(func() { _ = first.stop() })
	s.primary.crash()
	if err := s.primary.start(replicated...); err != nil {
		t.Fatal(err)
	}
	standby := &cluster{over: make(chan string, 1)}
	if standby.dir, err = os.MkdirTemp("", "tt-pg-"); err == nil {
		err = standby.prepare()
	}
	if err == nil {
		err = standby.run("pg_basebackup", "-h", s.primary.dir, "-p", strconv.Itoa(s.primary.port), "-U", "tt", "-D", standby.data(), "-R", "-c", "fast", "--no-sync")
	}
	if err == nil {
		err = standby.start(replicated...)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.standby = standby
	t.Cleanup(func() { _ = standby.stop() })
	s.Restart() // from now on it waits for the standby
	return s
}

// URL is the address of both, of which programs take the one that can be written.
func (s *Server) URL() string {
	ports := strconv.Itoa(s.primary.port) + "," + strconv.Itoa(s.standby.port)
	u := url.URL{Scheme: "postgres", User: url.User("tt"), Path: "/postgres", RawQuery: url.Values{
		"host": {s.primary.dir + "," + s.standby.dir}, "port": {ports}, "target_session_attrs": {"read-write"},
	}.Encode()}
	return u.String()
}

// Restart crashes the server and starts it again.
func (s *Server) Restart() {
	s.t.Helper()
	s.primary.crash()
	settings := replicated
	if s.standby != nil {
		settings = append(settings[:len(settings):len(settings)], synchronous...)
	}
	if err := s.primary.start(settings...); err != nil {
		s.t.Error(err)
	}
}

// FailOver crashes the server for good, and the standby takes over.
func (s *Server) FailOver() {
	s.t.Helper()
	s.primary.crash()
	if err := s.standby.run("pg_ctl", "promote", "-D", s.standby.data()); err != nil {
		s.t.Error(err)
	}
	s.primary, s.standby = s.standby, nil
}
