package monitor_test

import (
	"context"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/monitor"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestPutOff: what a person has put off is out of the list until its time, and comes back without an event.
func TestPutOff(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Person("bob")
	s.Joins(ann)
	bob.JoinPath(engine.JoinPathParams{}).OK()
	for _, body := range []string{"which port?", "which host?"} {
		ann.SendAs(engine.SendMessageParams{To: []stick.AgentID{bob.ID}, Category: "BLOCKED", Body: body}).OK()
	}

	m := monitor.New(watchedBy(bob))
	ctx, stop := context.WithCancel(t.Context())
	changed, unhear := m.Changed()
	defer unhear()
	over := make(chan error, 1)
	go func() { over <- m.Run(ctx) }() // until stop
	defer func() { stop(); <-over }()
	<-changed

	first := m.Picture().Needs()
	if len(first) != 2 {
		t.Fatalf("%d needs", len(first))
	}

	put := first[0]
	m.PutOff(put.Room.ID(), put.Key, s.Now().Add(time.Hour))
	p := m.Picture()
	if left := p.Needs(); len(left) != 1 || left[0].Key != first[1].Key {
		t.Errorf("it is still there: %v", left)
	}
	if off := p.PutOff(); len(off) != 1 || p.BackAt(off[0]).IsZero() {
		t.Errorf("it is lost: %v", off)
	}

	// The time goes by; the next picture, for whatever reason, has it again.
	s.Later(2 * time.Hour)
	m.Renew()
	if n := len(m.Picture().Needs()); n != 2 {
		t.Errorf("%d needs after its time", n)
	}

	// And so has one that is made because its time has come.
	m.PutOff(put.Room.ID(), put.Key, s.Now().Add(time.Hour))
	m.PutOff(put.Room.ID(), put.Key, s.Now())
	if n := len(m.Picture().Needs()); n != 2 {
		t.Errorf("%d needs after it was taken back", n)
	}
}
