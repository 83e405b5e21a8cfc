package stick

import (
	"errors"
)

// CheckpointPayload is the payload of [EventCheckpoint].
type CheckpointPayload struct {
	Caller
	PrunedTo int64  `json:"pruned_to,omitempty"` // events up to this one went, except for those that something still needs
	Removed  int64  `json:"removed,omitempty"`   // how many went
	OlderBy  Millis `json:"older_ms,omitempty"`  // how old what went was, at least
	StateSum string `json:"state_sum,omitempty"` // of what the log came to at PrunedTo, see [Checkpoint]
}

// checkpointEvents are the events of the care of a log.
var checkpointEvents = []EventInfo{
	eventRow(eventKind[CheckpointPayload]{
		Type: EventCheckpoint, For: forNamed,
		Meaning: "old events were removed, and the log now begins with what they came to",
		Say: func(e Event, p CheckpointPayload) Words {
			return Wordsf("%s removed %s from the log, up to event %d", AgentName(e.From), Count(p.Removed, "old event"), p.PrunedTo)
		},
		Replay: func(c *Record, e *Event, p CheckpointPayload) error {
			// The states of earlier checkpoints are gone: the newest one has what they came to.
			switch {
			case c.base == nil || e.Seq > c.base.seq:
				return errors.New("what the events before it came to is missing")
			case e.Seq == c.base.seq && p.StateSum != c.base.sum:
				return errors.New("what the events before it came to isn't what it was")
			}
			return nil
		},
	}),
}
