package app

import (
	"strings"
	"testing"

	"talkingstick/stick"
)

// TestAWrongHandoffIsExplainedInPlainWords: what is wrong with a handoff on standard input is said for its
// writer, not in the words of the parser.
func TestAWrongHandoffIsExplainedInPlainWords(t *testing.T) {
	for text, want := range map[string]string{
		"  ":                         "it is empty",
		"# A program":                `"#" is unexpected in line 1`,
		"{\n\"status\": \"x\",\n}":   `"}" is unexpected in line 3`,
		`{"status": "x"`:             "it ends too early",
		`{“status”: "x"}`:            `"“" is unexpected in line 1`,
		`[]`:                         "it must be a JSON object, in braces",
		`{"status": 7}`:              "status can't be a JSON number",
		`{"mood": "good"}`:           `there is no field "mood"`,
		`{"status": "x"} {"more":1}`: "there is text after the object",
	} {
		_, err := readHandoff(strings.NewReader(text))
		message := "the handoff on standard input isn't valid: " + want
		if e := stick.AsError(err); e == nil || e.Message != message {
			t.Errorf("%q: %v, want %q", text, err, message)
		}
	}
}
