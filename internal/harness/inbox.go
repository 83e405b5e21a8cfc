package harness

import (
	"bytes"
	"encoding/json"
)

// Inbox says how other processes give a session something to do, in a harness that listens on a socket for
// that. Its hooks learn where the socket is, and a token that proves to the harness that the writer may write
// there.
type Inbox struct {
	SocketEnv string // the variable with the path of the socket
	TokenEnv  string // the variable with the token

	// Lines are what is written to the socket, so that the session gets a text: at once if it is idle, else
	// beside the result of its next tool call. id is new for each text.
	Lines func(token, id, text string) []byte
}

// InboxOf returns the socket and the token of the session's inbox. They are empty if the harness has none, if
// it is switched off, or if nobody is at the harness.
func (r Row) InboxOf(getenv func(string) string) (socket, token string) {
	if r.Inbox == nil || r.Headless(getenv) {
		return "", ""
	}
	if socket, token = getenv(r.Inbox.SocketEnv), getenv(r.Inbox.TokenEnv); socket == "" || token == "" {
		return "", ""
	}
	return socket, token
}

// claudeInbox is that of Claude Code since 2.1.224, as measured with 2.1.330. It isn't there where a person
// has switched off telemetry. The harness tells its model that another session has sent the text. It answers
// nothing.
var claudeInbox = &Inbox{
	SocketEnv: "CLAUDE_CODE_MESSAGING_SOCKET", TokenEnv: "CLAUDE_CODE_MESSAGING_TOKEN",
	Lines: func(token, id, text string) []byte {
		var b bytes.Buffer
		line := json.NewEncoder(&b) // which writes each value as a line; writing to memory can't fail
		line.SetEscapeHTML(false)
		_ = line.Encode(map[string]any{"type": "auth", "token": token})
		_ = line.Encode(map[string]any{
			"type": "user", "msgV": 1, "msg_id": id, "priority": "next", "message": map[string]any{
				"role": "user", "content": text,
			},
		})
		return b.Bytes()
	},
}
