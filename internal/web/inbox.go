package web

import (
	"net/http"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/monitor"
)

// inboxPage is the inbox with what was accepted, or what the person has sent. It is nil for what is open.
type inboxPage struct {
	Which    string // all or sent
	Messages []roomMessage
	More     bool // there are older ones
}

// roomMessage is a message with its room.
type roomMessage struct {
	Room *monitor.Room
	engine.InboxMessage
	More    []labeledText  // what it says in the fields of its contract
	Actions messageActions // what the person can do about it
	Answers []reply        // to it, among the last events of its room
}

// maxListed is how many messages of a room a page lists.
const maxListed = 500

// readInbox reads all messages of the person, or those that the person has sent, if they are asked for.
func (s *Server) readInbox(r *http.Request, v *view) error {
	b := &inboxPage{Which: r.URL.Query().Get("show")}
	if b.Which != "all" && b.Which != "sent" {
		b.Which = ""
		v.Body = b
		return nil
	}

	// Only the open messages are in the picture.
	v.Live = false
	for _, room := range v.Picture.Rooms {
		res, err := s.ops.GetInbox(r.Context(), engine.GetInboxParams{
			Caller: s.o.Caller, Where: core.Where{RoomID: room.ID()}, State: "all", Sent: b.Which == "sent",
			Limit: maxListed,
		})
		if err != nil {
			return err
		}

		b.Messages, b.More = append(b.Messages, v.messagesOf(room, res.Messages)...), b.More || res.More
	}

	v.Body = b
	return nil
}

// OpenMessages are the messages that wait for the person, in all rooms.
func (v *view) OpenMessages() (out []roomMessage) {
	for _, r := range v.Picture.Rooms {
		out = append(out, v.messagesOf(r, r.Inbox)...)
	}
	return out
}

// Unlisted are the rooms with more open messages than the page lists, each with its number of unread ones.
func (v *view) Unlisted() (rooms []*monitor.Room) {
	for _, r := range v.Picture.Rooms {
		if r.State.Unread > len(r.Inbox) {
			rooms = append(rooms, r)
		}
	}
	return rooms
}

// messagesOf turns messages around, so that the newest comes first, and leaves out what the page isn't searched for.
func (v *view) messagesOf(room *monitor.Room, all []engine.InboxMessage) (out []roomMessage) {
	for i := len(all) - 1; i >= 0; i-- {
		m := roomMessage{
			Room:         room,
			InboxMessage: all[i],
			Actions:      actionsOn(v.Root, room, all[i]),
			Answers:      repliesTo(room.Events, all[i].MessageID),
		}

		for _, f := range m.Says() {
			m.More = append(m.More, labeledText{spacedWords(f.Name), *f.Value(&m.Contract)})
		}

		if v.matchesMessage(m) {
			out = append(out, m)
		}
	}

	return out
}

// Label says how far a message got, in the words of all screens for people.
func (m roomMessage) Label() string {
	switch m.State {
	case "read":
		return "Seen"
	case "acked":
		return "Accepted"
	}

	return spacedWords(m.State)
}
