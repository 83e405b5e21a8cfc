package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
)

// The digest is the one that Codex computes.
func TestCodexTrustNote(t *testing.T) {
	matcher := "Bash"
	for _, c := range []struct {
		event, hook string
		matcher     *string
		plain       string
	}{
		{
			"PreToolUse", `{"type":"command","command":"[ ! -x 'a b' ] || tt <&2","timeout":20}`, &matcher,
			`{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"[ ! -x 'a b' ] || tt <&2","timeout":20,"type":"command"}],"matcher":"Bash"}`,
		},
		{
			"UserPromptSubmit", `{"type":"command","command":"tt","async":true}`, nil,
			`{"event_name":"user_prompt_submit","hooks":[{"async":true,"command":"tt","timeout":600,"type":"command"}]}`,
		},
		{ // measured with Codex 0.169.0: the digest has the effective limit, not the one in the file
			"SessionEnd", `{"type":"command","command":"tt","timeout":5}`, nil,
			`{"event_name":"session_end","hooks":[{"async":false,"command":"tt","timeout":3,"type":"command"}]}`,
		},
	} {
		if got := codexTrustNote(c.event, c.matcher, json.RawMessage(c.hook)); got != "sha256:"+digest(c.plain) {
			t.Errorf("%s: %s", c.event, got)
		}
	}
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
