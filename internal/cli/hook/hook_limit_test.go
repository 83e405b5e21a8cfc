package hook

import (
	"testing"

	"talkingstick/internal/rescue"
)

// A hook waits for a copy for as long as one may take: else a command could run while nobody knows what was
// kept.
func TestAHookWaitsForARescue(t *testing.T) {
	if most := rescue.Defaults.Longest(); most > rescueLimit-whoseLimit {
		t.Errorf("a rescue may take %s, and a hook waits for %s", most, rescueLimit-whoseLimit)
	}
}
