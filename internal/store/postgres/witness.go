package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"talkingstick/internal/bell"
	"talkingstick/internal/plainfile"
)

// echoInterval is how often the witness asks whether notices still reach it. A network that broke doesn't say
// so.
const echoInterval = 30 * time.Second

// ListenForCommits rings the bells of this host for what is committed anywhere, until ctx ends. Of all
// processes of a host that wait, the one with the lock does it, and reports: the witness. When it ends,
// another gets the lock. Whoever can't become the witness still has the slow net under its wait.
func (p *DB) ListenForCommits(
	ctx context.Context, bells *bell.Dir, report func(ctx context.Context, heard <-chan struct{}),
) {
	if plainfile.MkdirAll(p.hostDir()) != nil {
		return
	}

	lock, err := bell.Lock(ctx, p.hostFile("witness.lock"))
	if err != nil {
		return
	}
	defer lock.Unlock()

	// One value says that something was committed, whatever number of commits it is for.
	heard := make(chan struct{}, 1)
	var reporting sync.WaitGroup
	defer reporting.Wait()

	reporting.Go(func() { report(ctx, heard) })
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		if p.listenOnce(ctx, bells, heard) {
			pause = 10 * time.Millisecond
		}
		if !sleepFor(ctx, pause) {
			return
		}
	}
}

// execApart runs a statement on a connection of its own. A notice that is sent so is heard as those of others
// are: through a pooler that gives each transaction another session, a connection gets its own notices and no
// others.
func (p *DB) execApart(ctx context.Context, text string) error {
	conn, err := pgconn.ConnectConfig(ctx, p.address.config)
	if err != nil {
		return err
	}
	defer p.hangUp(conn)

	_, err = conn.Exec(ctx, text).ReadAll()
	return err
}

// listener is a connection that notices come over.
type listener struct {
	conn  *pgconn.PgConn
	bells *bell.Dir
	heard chan<- struct{}

	channel string // a quoted name
	own     string // the notice that the listener sends itself; no room has such a name
	echoed  bool   // its own notice has come back
}

// listenOnce listens until the connection breaks or ctx ends. listened is true if there was one that notices
// reach.
func (p *DB) listenOnce(ctx context.Context, bells *bell.Dir, heard chan<- struct{}) (listened bool) {
	l := &listener{bells: bells, heard: heard, channel: p.address.quotedSchema(), own: "/" + p.opt.NewID()}
	config := p.address.config.Copy()
	config.OnNotification = l.takeNotice

	starting, cancel := context.WithTimeout(ctx, p.waits.connect)
	defer cancel()

	var err error
	if l.conn, err = pgconn.ConnectConfig(starting, config); err != nil {
		return false
	}
	defer func() {
		p.markHearing(false)
		p.hangUp(l.conn)
	}()

	if err := l.exec(starting, "LISTEN "+l.channel); err != nil {
		return false
	}

	// A notice from another connection has to arrive once. After that the listener's own tell whether the
	// network broke.
	if !l.hearsEcho(ctx, p.waits.connect, p.execApart) {
		return false
	}
	for ctx.Err() == nil && (!listened || l.hearsEcho(ctx, p.waits.connect, l.exec)) {
		if p.markHearing(true); !listened {
			listened = true

			// This is for what was committed before.
			_ = bells.RingAll()
			l.reportCommit()
		}
		if !l.waitQuietly(ctx) {
			break
		}
	}

	return listened
}

// takeNotice rings the bell that a notice names. The driver calls it while the listener waits for an answer
// or a notice.
func (l *listener) takeNotice(_ *pgconn.PgConn, n *pgconn.Notification) {
	if strings.HasPrefix(n.Payload, "/") {
		l.echoed = l.echoed || n.Payload == l.own
		return
	}

	l.reportCommit()

	// Anybody may send a notice, and it may name no room.
	if ringer, err := l.bells.Prepare(n.Payload); err == nil {
		ringer.Ring()
	}
}

// reportCommit reports that something was committed, unless a report waits already.
func (l *listener) reportCommit() {
	select {
	case l.heard <- struct{}{}:
	default:
	}
}

// hearsEcho reports whether a notice that is sent by send comes back.
func (l *listener) hearsEcho(
	ctx context.Context, wait time.Duration, send func(ctx context.Context, text string) error,
) bool {
	soon, cancel := context.WithTimeout(ctx, wait)
	defer cancel()

	l.echoed = false
	err := send(soon, fmt.Sprintf("NOTIFY %s, '%s'", l.channel, l.own))
	for err == nil && !l.echoed {
		err = l.conn.WaitForNotification(soon)
	}

	return l.echoed
}

// waitQuietly takes notices until it is time to see whether they still come. It reports whether the
// connection holds.
func (l *listener) waitQuietly(ctx context.Context) bool {
	quiet, cancel := context.WithTimeout(ctx, echoInterval)
	defer cancel()

	for {
		if err := l.conn.WaitForNotification(quiet); err != nil {
			return pgconn.Timeout(err)
		}
	}
}

func (l *listener) exec(ctx context.Context, text string) error {
	_, err := l.conn.Exec(ctx, text).ReadAll()
	return err
}
