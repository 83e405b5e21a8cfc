package stick_test

import (
	"strings"
	"testing"

	"talkingstick/stick"
)

func TestCheckReason(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		ok     bool
	}{
		"plain":          {"codex is gone", true},
		"empty":          {"", true},
		"as long as can": {strings.Repeat("x", stick.MaxReason), true},
		"too long":       {strings.Repeat("x", stick.MaxReason+1), false},
		"NUL":            {"a\x00b", false},
		"not UTF-8":      {"a\xffb", false},
		"an unfilled …":  {"…", false},
		"a named blank":  {" <reason>", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := stick.CheckReason("reason", c.reason)
			if (err == nil) != c.ok {
				t.Errorf("checkReason = %v, want ok %v", err, c.ok)
			}
			if err != nil && (stick.CodeOf(err) != stick.CodeUsage || stick.AsError(err).Fields["field"] != "reason") {
				t.Errorf("code %q, fields %v", stick.CodeOf(err), stick.AsError(err).Fields)
			}
		})
	}
}
