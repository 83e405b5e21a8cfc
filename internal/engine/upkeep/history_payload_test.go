package upkeep

import "testing"

// TestStoredPayload: what an answer has escaped for terminals is as the log has it again, and what the log
// escapes stays.
func TestStoredPayload(t *testing.T) {
	for answer, stored := range map[string]string{
		``:                             ``,
		`{"a":"plain \n \" \\u00fc"}`:  `{"a":"plain \n \" \\u00fc"}`,
		`{"a":"\u003cb\u003e \u0026"}`: `{"a":"\u003cb\u003e \u0026"}`,
		`{"a":"\u200b\u007f\u00ad"}`:   "{\"a\":\"\u200b\u007f\u00ad\"}",
		`{"a":"\u2028\u2029\ufffd"}`:   `{"a":"\u2028\u2029\ufffd"}`,
		`{"a":"\udb40\udc41 \udb40"}`:  "{\"a\":\"\U000e0041 \\udb40\"}",
		`{"a":"\u00zz \u12"}`:          `{"a":"\u00zz \u12"}`,
		`{"a":"cut \`:                  `{"a":"cut \`,
		`{"a":"\u001b[31m ünïcode 🦊"}`: `{"a":"\u001b[31m ünïcode 🦊"}`,
	} {
		if got := string(storedPayload([]byte(answer))); got != stored {
			t.Errorf("of %s comes %q, want %q", answer, got, stored)
		}
	}
}
