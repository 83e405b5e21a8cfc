package store

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

// listenForCommits rings the bells of this host for what is committed anywhere, until ctx ends. Of all
// processes of a host that wait, the one with the lock does it, and reports: the witness. When it ends,
// another gets the lock. Whoever can't become the witness still has the slow net under its wait.
func (p *postgresDB) listenForCommits(
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
func (p *postgresDB) execApart(ctx context.Context, text string) error {
	conn, err := pgconn.ConnectConfig(ctx, p.address.config)
	if err != nil {
		return err
	}
	defer p.hangUp(conn)
	_, err = conn.Exec(ctx, text).ReadAll()
	return err
}

// listenOnce listens until the connection breaks or ctx ends. listened is true if there was one that notices
// reach.
func (p *postgresDB) listenOnce(ctx context.Context, bells *bell.Dir, heard chan<- struct{}) (listened bool) {
	hear := func() {
		select {
		case heard <- struct{}{}:
		default: // one is there already
		}
	}
	own := "/" + p.opt.NewID() // no room's name
	var echo bool
	config := p.address.config.Copy()
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) {
		if strings.HasPrefix(n.Payload, "/") {
			echo = echo || n.Payload == own
			return
		}
		hear()
		if ringer, err := bells.Prepare(n.Payload); err == nil { // anybody may send a notice, and it may be no room
			ringer.Ring()
		}
	}
	starting, cancel := context.WithTimeout(ctx, p.waits.connect)
	defer cancel()
	conn, err := pgconn.ConnectConfig(starting, config)
	if err != nil {
		return false
	}
	defer func() {
		p.markHearing(false)
		closing, cancel := context.WithTimeout(background, 100*time.Millisecond)
		defer cancel()
		conn.Close(closing)
	}()
	channel := p.address.quotedSchema()
	if _, err := conn.Exec(starting, "LISTEN "+channel).ReadAll(); err != nil {
		return false
	}
	// A notice of our own comes back, unless the network broke.
	hears := func(send func(ctx context.Context, text string) error) bool {
		soon, cancel := context.WithTimeout(ctx, p.waits.connect)
		defer cancel()
		echo = false
		err := send(soon, fmt.Sprintf("NOTIFY %s, '%s'", channel, own))
		for err == nil && !echo {
			err = conn.WaitForNotification(soon)
		}
		return echo
	}
	self := func(ctx context.Context, text string) error {
		_, err := conn.Exec(ctx, text).ReadAll()
		return err
	}
	if !hears(p.execApart) {
		return false
	}
	for ctx.Err() == nil && (!listened || hears(self)) {
		if p.markHearing(true); !listened {
			listened = true
			_ = bells.RingAll() // for what was committed before
			hear()
		}
		quiet, cancel := context.WithTimeout(ctx, echoInterval)
		for err = nil; err == nil; {
			err = conn.WaitForNotification(quiet)
		}
		cancel()
		if !pgconn.Timeout(err) {
			break
		}
	}
	return listened
}
