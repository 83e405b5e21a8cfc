package store

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"talkingstick/internal/bell"
)

// stillThere is how often the witness asks whether its connection still works. A network that broke doesn't say so.
const stillThere = 30 * time.Second

// listen rings the bells of this host for what is committed anywhere, until ctx ends. Of all processes of a host that wait, the one
// with the lock does it, and reports: the witness. When it ends, another gets the lock. Whoever can't become the witness still has
// the slow net under its wait.
func (p *postgresDB) listen(ctx context.Context, bells *bell.Dir, report func(ctx context.Context, heard <-chan struct{})) {
	lock, err := bell.Lock(ctx, filepath.Join(p.opt.Dir, "witness.lock"))
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
		if !sleep(ctx, pause) {
			return
		}
	}
}

// listenOnce listens until the connection breaks or ctx ends. listened is true if there was one.
func (p *postgresDB) listenOnce(ctx context.Context, bells *bell.Dir, heard chan<- struct{}) (listened bool) {
	hear := func() {
		select {
		case heard <- struct{}{}:
		default: // one is there already
		}
	}
	config := p.address.config.Copy()
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) {
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
		closing, cancel := context.WithTimeout(background, 100*time.Millisecond)
		defer cancel()
		conn.Close(closing)
	}()
	if _, err := conn.Exec(starting, "LISTEN "+p.address.quoted()).ReadAll(); err != nil {
		return false
	}
	_ = bells.RingAll() // for what was committed before
	hear()
	for ctx.Err() == nil {
		quiet, cancel := context.WithTimeout(ctx, stillThere)
		err := conn.WaitForNotification(quiet)
		cancel()
		if err != nil && (!pgconn.Timeout(err) || conn.Ping(ctx) != nil) {
			break
		}
	}
	return true
}
