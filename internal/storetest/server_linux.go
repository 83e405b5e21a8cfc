package storetest

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"talkingstick/internal/pgserver"
)

// Server is a PostgreSQL of one test, which may crash. Its standby has every commit before it is answered.
type Server struct {
	t       testing.TB
	primary *pgserver.Server
	standby *pgserver.Server // nil once it has taken over
}

// replicationSettings are the settings of a server that has a standby, or is one.
var replicationSettings = []string{"-c", "wal_level=replica", "-c", "max_wal_senders=4"}

// NewServer starts a server and its standby. Both end with the test.
func NewServer(t testing.TB) *Server {
	t.Helper()
	requirePostgres(t)
	s := &Server{t: t}

	for _, begin := range []func() (*pgserver.Server, error){
		func() (*pgserver.Server, error) { return pgserver.New(replicationSettings...) },
		func() (*pgserver.Server, error) { return s.primary.Standby(replicationSettings...) },
	} {
		server, err := begin()
		if err != nil {
			t.Fatal(err)
		}

		t.Cleanup(func() { _ = server.Stop() })
		s.primary, s.standby = cmp.Or(s.primary, server), server
	}

	// From now on the server waits for the standby.
	s.Restart()
	return s
}

// URL is the address of both, of which programs take the one that can be written.
func (s *Server) URL() string {
	ports := strconv.Itoa(s.primary.Port) + "," + strconv.Itoa(s.standby.Port)
	u := url.URL{Scheme: "postgres", User: url.User("tt"), Path: "/postgres", RawQuery: url.Values{
		"host": {s.primary.Dir + "," + s.standby.Dir}, "port": {ports}, "target_session_attrs": {"read-write"},
	}.Encode()}
	return u.String()
}

// Restart crashes the server and starts it again. While there is a standby, the server waits for it before it
// answers a commit.
func (s *Server) Restart() {
	s.t.Helper()
	s.primary.Crash()

	// Without a standby, a server that waits for one would answer no commit.
	settings := slices.Clone(replicationSettings)
	if s.standby != nil {
		settings = append(settings, "-c", "synchronous_standby_names=*")
	}
	if err := s.primary.Start(settings...); err != nil {
		s.t.Error(err)
	}
}

// StandbyLeaves ends the standby, until [Server.StandbyComes]. Meanwhile the server answers no commit.
func (s *Server) StandbyLeaves() { s.standby.Crash() }

// StandbyComes starts the standby again.
func (s *Server) StandbyComes() {
	s.t.Helper()
	if err := s.standby.Start(replicationSettings...); err != nil {
		s.t.Error(err)
	}
}

// AwaitsStandby waits until a commit waits for the standby.
func (s *Server) AwaitsStandby() {
	s.t.Helper()
	waits, err := []string(nil), error(nil)
	for end := time.Now().Add(30 * time.Second); err == nil && len(waits) == 0; {
		waits, err = runQuery(s.primary.URL(), "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
		if time.Now().After(end) {
			err = cmp.Or(err, errors.New("no commit waits for the standby"))
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// FailOver crashes the server for good, and the standby takes over.
func (s *Server) FailOver() {
	s.t.Helper()
	s.primary.Crash()
	if err := s.standby.Run("pg_ctl", "promote", "-D", s.standby.Data()); err != nil {
		s.t.Error(err)
	}

	s.primary, s.standby = s.standby, nil
}
