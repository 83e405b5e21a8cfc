package stick

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Checkpoint is what the removed part of a room's log came to. A replay begins with it. The log has an event that it
// left, [EventCheckpoint], with the sum of its state.
type Checkpoint struct {
	Seq      int64           // the event
	PrunedTo int64           // events up to this one were removed, except for those that were kept
	Turn     int64           // the turn at PrunedTo
	State    json.RawMessage // the record at PrunedTo, and which events were kept
}

// KeptEvent is an event that stays although those around it were removed.
type KeptEvent struct {
	Seq    int64  `json:"event_seq"`
	Before string `json:"sum_before"` // the sum of the event that came before it
}

// checkpointState is a record as a checkpoint has it: what the keys of its maps say is in lists, because JSON knows
// only texts as keys.
type checkpointState struct {
	PrunedTo int64             `json:"pruned_to"`
	Kept     []KeptEvent       `json:"kept"`
	Record   Record            `json:"record"`
	Receipts []Receipt         `json:"receipts"`
	Attempts []keptAttempt     `json:"attempts"`
	Comments []keptComment     `json:"comments"`
	Senders  map[int64]AgentID `json:"senders"`
}

// keptAttempt is an attempt with the key of its task.
type keptAttempt struct {
	Task string `json:"task"`
	TaskAttempt
}

// keptComment is a comment with the key of its task.
type keptComment struct {
	Task string `json:"task"`
	Comment
}

// Sum is the sum of the state.
func (p Checkpoint) Sum() string {
	sum := sha256.Sum256(p.State)
	return hex.EncodeToString(sum[:])
}

// Clone returns a copy of the record that later events don't change.
func (c *Record) Clone() (*Record, error) {
	state, err := c.encodeState(0, nil)
	if err != nil {
		return nil, err
	}
	return RecordFrom(Checkpoint{Turn: c.Turn, State: state})
}

// LeaveCheckpoint returns the checkpoint of a record that has replayed the events up to prunedTo. kept are the events
// that stay, in the order of their numbers. What belongs to others goes from the record.
func (c *Record) LeaveCheckpoint(prunedTo int64, kept []KeptEvent) (Checkpoint, error) {
	c.Forget(prunedTo, kept)
	state, err := c.encodeState(prunedTo, kept)
	return Checkpoint{PrunedTo: prunedTo, Turn: c.Turn, State: state}, err
}

// Forget drops from a record what belongs to the events up to prunedTo that aren't kept.
func (c *Record) Forget(prunedTo int64, kept []KeptEvent) {
	goes := func(seq int64) bool {
		_, isKept := slices.BinarySearchFunc(kept, seq, func(k KeptEvent, seq int64) int { return cmp.Compare(k.Seq, seq) })
		return seq <= prunedTo && !isKept
	}
	maps.DeleteFunc(c.Receipts, func(k ReceiptKey, _ Receipt) bool { return goes(k.Event) })
	maps.DeleteFunc(c.Notes, func(id int64, _ Note) bool { return goes(id) })
	maps.DeleteFunc(c.senders, func(id int64, _ AgentID) bool { return goes(id) })
}

// Equals reports whether two records say the same, however much of the log they have replayed.
func (c *Record) Equals(other *Record) bool {
	mine, err := c.encodeState(0, nil)
	theirs, otherErr := other.encodeState(0, nil)
	return cmp.Or(err, otherErr) == nil && string(mine) == string(theirs)
}

// encodeState writes the record as a checkpoint has it. The same record has the same sum.
func (c *Record) encodeState(prunedTo int64, kept []KeptEvent) (json.RawMessage, error) {
	s := checkpointState{PrunedTo: prunedTo, Kept: kept, Record: *c, Senders: orEmpty(c.senders, map[int64]AgentID{})}
	s.Record.Events = 0

	for _, r := range c.Receipts {
		s.Receipts = append(s.Receipts, r)
	}
	for key, a := range c.Attempts {
		s.Attempts = append(s.Attempts, keptAttempt{key.Task, a})
	}
	for key, m := range c.Comments {
		s.Comments = append(s.Comments, keptComment{key.Task, m})
	}

	slices.SortFunc(s.Receipts, func(a, b Receipt) int {
		return cmp.Or(cmp.Compare(a.Event, b.Event), cmp.Compare(a.Agent, b.Agent))
	})
	slices.SortFunc(s.Attempts, func(a, b keptAttempt) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Number, b.Number))
	})
	slices.SortFunc(s.Comments, func(a, b keptComment) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.ID, b.ID))
	})

	return json.Marshal(s)
}

// RecordFrom returns the record with which a replay begins that has a checkpoint. It fails if the checkpoint can't
// be read.
func RecordFrom(p Checkpoint) (*Record, error) {
	var s checkpointState
	if err := json.Unmarshal(p.State, &s); err != nil {
		return nil, fmt.Errorf("what the removed events came to can't be read: %w", err)
	}
	if s.PrunedTo != p.PrunedTo || s.Record.Turn != p.Turn {
		return nil, errors.New("what the removed events came to is that of another checkpoint")
	}

	c := &Record{}
	c.startEmpty()
	c.restoreState(s)
	if p.Seq == 0 {
		return c, nil // a copy of a record
	}
	c.base = &replayBase{seq: p.Seq, prunedTo: p.PrunedTo, sum: p.Sum(), kept: map[int64]string{}}
	for _, k := range s.Kept {
		c.base.kept[k.Seq] = k.Before
	}

	return c, nil
}

// restoreState sets an empty record to what a checkpoint has.
func (c *Record) restoreState(s checkpointState) {
	empty := *c
	*c = s.Record

	c.Members, c.Sessions = orEmpty(c.Members, empty.Members), orEmpty(c.Sessions, empty.Sessions)
	c.Policy, c.NextTurn = orEmpty(c.Policy, empty.Policy), orEmpty(c.NextTurn, empty.NextTurn)
	c.Notes, c.Reservations = orEmpty(c.Notes, empty.Notes), orEmpty(c.Reservations, empty.Reservations)
	c.Tasks, c.Reviews = orEmpty(c.Tasks, empty.Tasks), orEmpty(c.Reviews, empty.Reviews)
	c.Receipts, c.Attempts, c.Comments = empty.Receipts, empty.Attempts, empty.Comments
	c.senders = orEmpty(s.Senders, empty.senders)

	for _, r := range s.Receipts {
		c.Receipts[ReceiptKey{r.Event, r.Agent}] = r
	}
	for _, a := range s.Attempts {
		c.Attempts[AttemptKey{a.Task, a.Number}] = a.TaskAttempt
	}
	for _, m := range s.Comments {
		c.Comments[CommentKey{m.Task, m.ID}] = m.Comment
	}
}

// orEmpty is a map, or an empty one where there is none.
func orEmpty[K comparable, V any](m, empty map[K]V) map[K]V {
	if m == nil {
		return empty
	}
	return m
}

// replayBase is where a replay begins that has a checkpoint.
type replayBase struct {
	seq      int64 // the event of the checkpoint
	prunedTo int64
	sum      string           // of its state
	kept     map[int64]string // the sums before the events that were kept and haven't come, by their numbers
}

// hasRemoved reports whether an event is in the part of the log that was removed.
func (b *replayBase) hasRemoved(seq int64) bool { return b != nil && seq <= b.prunedTo }

// replayKept checks an event that was kept.
func (b *replayBase) replayKept(e Event) error {
	before, isKept := b.kept[e.Seq]
	delete(b.kept, e.Seq)
	switch {
	case !isKept:
		return fmt.Errorf("event %d: it was removed, and is there again", e.Seq)
	case e.Chain(before) != e.Sum:
		return fmt.Errorf("event %d: its sum doesn't follow from the events before it", e.Seq)
	}
	return nil
}

// requireKept fails once if events that were kept haven't come.
func (b *replayBase) requireKept() error {
	if b == nil || len(b.kept) == 0 {
		return nil
	}

	first := slices.Min(slices.Collect(maps.Keys(b.kept)))
	b.kept = nil
	return fmt.Errorf("event %d was kept before it, and is missing", first)
}

// SumBefore returns the sum after which a replay expects an event.
func (c *Record) SumBefore(seq int64) string {
	if c.base.hasRemoved(seq) {
		return c.base.kept[seq]
	}
	return c.Sum
}
