package harness

import "talkingstick/internal/e2e/realharness"

func init() {
	realPrograms = map[string]bool{}
	for _, h := range realharness.All {
		realPrograms[h.Name] = true
	}
}
