package stick

// IsToEverybody reports whether a message is for everybody in the room.
func (m Message) IsToEverybody() bool {
	return len(m.To) == 1 && (m.To[0] == ToRoom || m.To[0] == ToBroadcast)
}

// IsToNobody reports whether a message has no recipient.
func (m Message) IsToNobody() bool { return len(m.To) == 1 && m.To[0] == ToSystem }
