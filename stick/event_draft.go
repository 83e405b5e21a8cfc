package stick

// DraftSavedPayload is the payload of [EventDraftSaved]. The log doesn't hold the draft: it is gone when the
// turn ends with a handoff.
type DraftSavedPayload struct {
	Caller
	Again bool `json:"again,omitempty"` // it replaces an earlier draft of the turn
}

// DraftAskedPayload is the payload of [EventDraftAsked].
type DraftAskedPayload struct{ Caller }

// draftEvents are the events of drafts of handoffs.
var draftEvents = []EventInfo{
	eventRow(eventKind[DraftSavedPayload]{
		Type: EventDraftSaved, For: forNamed,
		Meaning: "the holder saved a draft of its handoff; the log doesn't hold its text",
		Say: func(e Event, p DraftSavedPayload) Words {
			if p.Again {
				return AgentName(e.From) + " saved another draft of its handoff"
			}
			return AgentName(e.From) + " saved a draft of its handoff"
		},
		Replay: replayNothing[DraftSavedPayload],
	}),
	eventRow(eventKind[DraftAskedPayload]{
		Type: EventDraftAsked, For: forRecipient,
		Meaning: "the holder's harness summarizes the conversation, so tt asked the holder for a draft of its handoff",
		Say: func(e Event, _ DraftAskedPayload) Words {
			return Wordsf("%s was asked for a draft of its handoff, because its conversation gets summarized",
				AgentName(e.To))
		},
		Tell: func(e Event, _ DraftAskedPayload) Words {
			return Wordsf("your conversation gets summarized while you hold turn %d; save a draft of your handoff now, for the case that you can't finish: %s; "+
				"it doesn't end your turn", e.Turn, Cmd("tt handoff save --status … --next-action …"))
		},
		Replay: replayNothing[DraftAskedPayload],
	}),
}
