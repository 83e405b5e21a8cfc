package sticktest

import (
	"talkingstick/stick"
)

// To is a plain message.
func To(names ...stick.AgentID) stick.Message { return stick.Message{To: names, Body: "hello"} }

// NewMessage returns the event of a message that was sent.
func NewMessage(from stick.AgentID, m stick.Message) stick.Event {
	return stick.Event{Type: stick.EventMessageSent, From: from}.WithPayload(stick.MessageSentPayload{Message: &m})
}
