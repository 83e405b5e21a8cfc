package harness_test

import (
	"testing"

	"talkingstick/internal/harness"
)

// TestInboxOfClaude: a hook knows its session's inbox, if a person is at the harness.
func TestInboxOfClaude(t *testing.T) {
	claude, _ := harness.ByName("claude")
	vars := map[string]string{
		"CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_MESSAGING_SOCKET": "/tmp/cc-socks/7.sock",
		"CLAUDE_CODE_MESSAGING_TOKEN": "abc",
	}
	getenv := func(name string) string { return vars[name] }
	if socket, token := claude.InboxOf(getenv); socket != "/tmp/cc-socks/7.sock" || token != "abc" {
		t.Errorf("%q, %q", socket, token)
	}

	codex, _ := harness.ByName("codex")
	if socket, _ := codex.InboxOf(getenv); socket != "" {
		t.Error("a harness that Claude Code started has Claude's inbox")
	}

	vars["CLAUDE_CODE_ENTRYPOINT"] = "sdk-cli"
	if socket, token := claude.InboxOf(getenv); socket != "" || token != "" {
		t.Error("a session that ends when it is idle has an inbox")
	}

	vars["CLAUDE_CODE_ENTRYPOINT"], vars["CLAUDE_CODE_MESSAGING_TOKEN"] = "cli", ""
	if socket, token := claude.InboxOf(getenv); socket != "" || token != "" {
		t.Error("there is an inbox without a token")
	}

	const want = `{"token":"abc","type":"auth"}
{"message":{"content":"one\ntwo <b>","role":"user"},"msgV":1,"msg_id":"id","priority":"next","type":"user"}
`
	if got := string(claude.Inbox.Lines("abc", "id", "one\ntwo <b>")); got != want {
		t.Errorf("%s", got)
	}
}
