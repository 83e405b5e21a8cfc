package store

import (
	"crypto/rand"
	"encoding/binary"

	"talkingstick/stick"
)

// countedMetaQuery is metaQuery with the counters of a file.
const countedMetaQuery = "SELECT key, value FROM meta UNION ALL SELECT name, value FROM counters ORDER BY 1"

// writtenTx is what a transaction that writes has to know when it commits.
type writtenTx struct {
	changed bool    // it has changed something
	have    numbers // what the database has committed, and the events that the transaction has drawn
	issued  issued  // what was issued before it
	known   bool    // that comes from the file, and not from the database
}

// compareWith compares the database with what was issued, and tells of a loss. It refuses a database that
// isn't the one that has issued it: then the file or its log was replaced, and what can be read may be a
// mixture of both.
func (s *sqliteDB) compareWith(i issued, known bool, m meta) error {
	if known && i.database != 0 && m.database != 0 && i.database != m.database {
		return s.errOtherDatabase()
	}

	s.compared, s.loss = true, nil

	// The file is ahead of the database only if the database has lost something.
	if loss, ok := i.lossOf(m.have); known && ok {
		s.loss = &loss
		s.reportLoss(loss)
	}

	// A database without the file is new, or was written by a program that doesn't know of it.
	if !known {
		i = issued{database: m.database, committed: m.have, highest: m.have}
	}

	s.written = writtenTx{have: m.have, issued: i, known: known}
	return nil
}

// reportLoss tells of a loss, once.
func (s *sqliteDB) reportLoss(l Loss) {
	if s.opt.Lost != nil && !s.lossReported {
		s.lossReported = true
		s.opt.Lost(l)
	}
}

func (s *sqliteDB) errOtherDatabase() error {
	file := s.displayName()
	e := stick.Errorf(stick.CodeDatabaseCorrupt, "the database %s isn't the one that was used here: the file, or its write-ahead log %s-wal, belongs to another", file, FileName).
		With("path", file).Hintf("nothing is read or written; put back the files that belong together, or see %s", stick.Cmd("tt doctor"))
	e.Err = errUnmarked // the right files may come back
	return e
}

func (s *sqliteDB) compareNext() { s.compared = false }

func (s *sqliteDB) unsettledLoss() *Loss { return s.loss }

// settleLoss gives a database without an id one, says what the database has lost, and leaves out numbers that a process may have issued that was killed when it committed.
func (s *sqliteDB) settleLoss(m meta) (settled settlement, err error) {
	w := &s.written
	if m.database == 0 {
		if settled.isNew, err = s.ensureID(); err != nil {
			return settled, err
		}
		settled.above = w.issued.turn
	}

	if !w.known {
		if _, err := s.queryOne("SELECT COALESCE(MAX(turn_id), 0) FROM rooms", nil, []any{&w.issued.turn}); err != nil {
			return settled, err
		}
	}

	// Somebody may have seen the numbers that were announced, even if the commit never came.
	if n := w.issued.highest.event - w.have.event; n > 0 {
		if err := s.skipNumbers(n); err != nil {
			return settled, err
		}
	}

	settled.lost, settled.turn = s.loss, w.issued.turn
	return settled, nil
}

// ensureID gives the database an id. One that has lost all it had keeps the id that it had before; a new one
// in the place of one that was set aside begins above that.
func (s *sqliteDB) ensureID() (isNew bool, err error) {
	w := &s.written
	if w.issued.database == 0 {
		var b [8]byte

		// It never fails, and an id is above zero.
		_, _ = rand.Read(b[:])
		w.issued.database = int64(binary.BigEndian.Uint64(b[:])>>1) | 1
		isNew = true
	}

	return isNew, s.setCounter(databaseCounter, w.issued.database)
}

func (s *sqliteDB) setCounter(name string, value int64) error {
	return s.exec(`INSERT INTO counters (name, value) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
		[]any{name, value})
}

// announceCommit counts the commit, and writes what it is going to issue.
func (s *sqliteDB) announceCommit(c commitInfo) error {
	w := &s.written
	w.have.commit = max(w.have.commit, w.issued.highest.commit) + 1
	if err := s.setCounter(commitCounter, w.have.commit); err != nil {
		return err
	}
	if s.loss == nil {
		w.issued.committed = c.have
	}

	// Until the commit is confirmed, the file says that these may have been seen, and not that they are
	// there.
	w.issued.highest, w.issued.turn = w.have, max(w.issued.turn, c.highestTurn)
	return errUnusable(s.issued.write(w.issued))
}

// confirmCommit writes that what was announced is committed. If that fails, the next commit says so.
func (s *sqliteDB) confirmCommit() {
	w := &s.written
	w.issued.committed = w.issued.highest
	_ = s.issued.write(w.issued)
	s.loss, s.lossReported = nil, false
}
