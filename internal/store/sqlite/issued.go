package sqlite

import (
	"crypto/rand"
	"encoding/binary"

	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// countedMetaQuery is metaQuery with the counters of a file.
const countedMetaQuery = "SELECT key, value FROM meta UNION ALL SELECT name, value FROM counters ORDER BY 1"

// writtenTx is what a transaction that writes has to know when it commits.
type writtenTx struct {
	changed bool            // it has changed something
	have    dialect.Numbers // what the database has committed, and the events that the transaction has drawn
	issued  Issued          // what was issued before it
	known   bool            // that comes from the file, and not from the database
}

// compareWith compares the database with what was issued, and tells of a loss. It refuses a database that
// isn't the one that has issued it: then the file or its log was replaced, and what can be read may be a
// mixture of both.
func (s *DB) compareWith(i Issued, known bool, m dialect.Meta) error {
	if known && i.database != 0 && m.Database != 0 && i.database != m.Database {
		return s.errOtherDatabase()
	}

	s.compared, s.loss = true, nil

	// The file is ahead of the database only if the database has lost something.
	if loss, ok := i.lossOf(m.Have); known && ok {
		s.loss = &loss
		s.reportLoss(loss)
	}

	// A database without the file is new, or was written by a program that doesn't know of it.
	if !known {
		i = Issued{database: m.Database, Committed: m.Have, Highest: m.Have}
	}

	s.written = writtenTx{have: m.Have, issued: i, known: known}
	return nil
}

// reportLoss tells of a loss, once.
func (s *DB) reportLoss(l dialect.Loss) {
	if s.opt.Lost != nil && !s.lossReported {
		s.lossReported = true
		s.opt.Lost(l)
	}
}

func (s *DB) errOtherDatabase() error {
	file := s.DisplayName()
	e := stick.Errorf(stick.CodeDatabaseCorrupt, "the database %s isn't the one that was used here: the file, or its write-ahead log %s-wal, belongs to another", file, FileName).
		With("path", file).Hintf("put back the files that belong together, or see %s; until then, tt reads and writes nothing", stick.Cmd("tt doctor"))
	e.Err = errUnmarked // the right files may come back
	return e
}

// CompareNext implements [dialect.DB].
func (s *DB) CompareNext() { s.compared = false }

// UnsettledLoss implements [dialect.DB].
func (s *DB) UnsettledLoss() *dialect.Loss { return s.loss }

// SettleLoss gives a database without an id one, says what the database has lost, and leaves out numbers that a process may have issued that was killed when it committed.
func (s *DB) SettleLoss(m dialect.Meta) (settled dialect.Settlement, err error) {
	w := &s.written
	if m.Database == 0 {
		if settled.IsNew, err = s.ensureID(); err != nil {
			return settled, err
		}
		settled.Above = w.issued.Turn
	}

	if !w.known {
		if _, err := s.QueryOne("SELECT COALESCE(MAX(turn_id), 0) FROM rooms", nil, []any{&w.issued.Turn}); err != nil {
			return settled, err
		}
	}

	// Somebody may have seen the numbers that were announced, even if the commit never came.
	if n := w.issued.Highest.Event - w.have.Event; n > 0 {
		if err := s.SkipNumbers(n); err != nil {
			return settled, err
		}
	}

	settled.Lost, settled.Turn = s.loss, w.issued.Turn
	return settled, nil
}

// ensureID gives the database an id. One that has lost all it had keeps the id that it had before; a new one
// in the place of one that was set aside begins above that.
func (s *DB) ensureID() (isNew bool, err error) {
	w := &s.written
	if w.issued.database == 0 {
		var b [8]byte

		// It never fails, and an id is above zero.
		_, _ = rand.Read(b[:])
		w.issued.database = int64(binary.BigEndian.Uint64(b[:])>>1) | 1
		isNew = true
	}

	return isNew, s.setCounter(dialect.DatabaseCounter, w.issued.database)
}

func (s *DB) setCounter(name string, value int64) error {
	return s.Exec(`INSERT INTO counters (name, value) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
		[]any{name, value})
}

// announceCommit counts the commit, and writes what it is going to issue.
func (s *DB) announceCommit(c dialect.Commit) error {
	w := &s.written
	w.have.Commit = max(w.have.Commit, w.issued.Highest.Commit) + 1
	if err := s.setCounter(dialect.CommitCounter, w.have.Commit); err != nil {
		return err
	}
	if s.loss == nil {
		w.issued.Committed = c.Have
	}

	// Until the commit is confirmed, the file says that these may have been seen, and not that they are
	// there.
	w.issued.Highest, w.issued.Turn = w.have, max(w.issued.Turn, c.HighestTurn)
	return dialect.ErrUnusable(s.issued.Write(w.issued))
}

// confirmCommit writes that what was announced is committed. If that fails, the next commit says so.
func (s *DB) confirmCommit() {
	w := &s.written
	w.issued.Committed = w.issued.Highest
	_ = s.issued.Write(w.issued)
	s.loss, s.lossReported = nil, false
}
