package monitor

import (
	"time"

	"talkingstick/stick"
)

// needID names a need among all rooms.
type needID struct {
	room stick.RoomID
	key  string
}

// PutOff keeps a need out of [Picture.Needs] until a time, for all who look at pictures of this monitor. A time that is
// over brings it back. What a person has put off is forgotten when the program ends: nothing may stay out of sight.
func (m *Monitor) PutOff(room stick.RoomID, key string, until stick.Time) {
	m.mu.Lock()
	if m.later == nil {
		m.later = map[needID]stick.Time{}
	}
	m.later[needID{room, key}] = until
	m.mu.Unlock()

	// It comes back without an event. The timer ends by itself, and only makes a picture.
	if left := until.Sub(m.o.Operations.Now()); left > 0 {
		time.AfterFunc(left, m.Renew)
	}
	m.Renew()
}

// stillLater returns the needs that are put off at a time. Its caller holds m.mu.
func (m *Monitor) stillLater(now stick.Time) map[needID]stick.Time {
	still := map[needID]stick.Time{}
	for id, until := range m.later {
		if until > now {
			still[id] = until
		} else {
			delete(m.later, id)
		}
	}
	return still
}

// PutOff returns the needs that the one who watches has put off, as [Picture.Needs] returns the others.
func (p *Picture) PutOff() []NeedIn { return p.selectNeeds(true) }

// BackAt returns when a need comes back that was put off; zero for another one.
func (p *Picture) BackAt(n NeedIn) stick.Time { return p.later[needID{n.Room.ID(), n.Key}] }
