package stick

import (
	"strings"
	"testing"
)

func TestCheckReason(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		ok     bool
	}{
		"plain":          {"codex is gone", true},
		"empty":          {"", true},
		"as long as can": {strings.Repeat("x", maxReason), true},
		"too long":       {strings.Repeat("x", maxReason+1), false},
		"NUL":            {"a\x00b", false},
		"not UTF-8":      {"a\xffb", false},
		"an unfilled …":  {"…", false},
		"a named blank":  {" <reason>", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkReason("reason", c.reason)
			if (err == nil) != c.ok {
				t.Errorf("checkReason = %v, want ok %v", err, c.ok)
			}
			if err != nil && (CodeOf(err) != CodeUsage || AsError(err).Fields["field"] != "reason") {
				t.Errorf("code %q, fields %v", CodeOf(err), AsError(err).Fields)
			}
		})
	}
}
