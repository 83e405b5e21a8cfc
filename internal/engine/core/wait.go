package core

import (
	"time"

	"talkingstick/stick"
)

// CheckMaxWait refuses a limit below zero.
func CheckMaxWait(ms *int64) error {
	if ms != nil && *ms < 0 {
		return stick.Errorf(stick.CodeUsage, "max_wait_ms must be 0 or more, not %d", *ms).
			With("field", "max_wait_ms")
	}
	return nil
}

// WaitLimit returns the limit of a wait in milliseconds, nil for none. asked is what the caller wants.
// Through a server (atMost isn't 0) the room's policy is a limit too, and atMost is the default.
func WaitLimit(asked *int64, atMost, policy time.Duration) *int64 {
	if atMost == 0 {
		return asked
	}

	most := min(atMost, policy).Milliseconds()
	if asked != nil {
		most = min(*asked, policy.Milliseconds())
	}

	return &most
}

// IsUnavailable reports whether an error says that there is no database to talk to at the moment.
func IsUnavailable(err error) bool { return stick.CodeOf(err) == stick.CodeDatabaseUnavailable }
