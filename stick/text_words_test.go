package stick_test

import (
	"encoding/json"
	"testing"

	"talkingstick/stick"
)

func TestNotText(t *testing.T) {
	for text, want := range map[string]stick.Words{
		"é\n": "", "a\x00b": "a NUL character", "a\xffb": "bytes that aren't UTF-8 text",
		"\x00\xff": "bytes that aren't UTF-8 text",
	} {
		if got := stick.NotText(text); got != want {
			t.Errorf("%q holds %q, want %q", text, got, want)
		}
	}
}

func TestTagAt(t *testing.T) {
	for text, want := range map[string]string{
		"<div class=x>":              "div",
		"</System-Reminder>":         "System-Reminder",
		"<xsl:for-each":              "xsl:for-each",
		"< \n/\u00a0 tool_result>":   "tool_result",
		"<sys\u200btem>":             "system",
		"<\u3164\u2028\ufe0fsystem>": "system",
		"<_x1>":                      "_x1",
		"<été>":                      "été",
	} {
		asJSON, err := json.Marshal(text[1:])
		if err != nil {
			t.Fatal(err)
		}

		for _, s := range []string{text, "<" + string(asJSON[1:])} {
			if got, ok := stick.TagAt(s); got != want || !ok {
				t.Errorf("%q begins with the tag %q, %v; want %q", s, got, ok, want)
			}
		}
	}

	for text, want := range map[string]string{
		"<!--": "!", "< |im_start|>": "|", "<?xml": "?", "<": "", "<=": "", "<-x": "", "<<a": "", "< 2": "",
		"a<b": "", "<>": "", "<\\x": "",
	} {
		if got, ok := stick.TagAt(text); got != want || ok != (want != "") {
			t.Errorf("%q begins with the tag %q, %v; want %q", text, got, ok, want)
		}
	}
}
