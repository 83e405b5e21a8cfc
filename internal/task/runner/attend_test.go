package runner

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// TestAttend_RecordsEndFor: until it is recorded, for an hour, and not at all when somebody else has recorded
// it.
func TestAttend_RecordsEndFor(t *testing.T) {
	away := stick.Errorf(stick.CodeDatabaseUnavailable, "the server is away")
	for _, c := range []struct {
		name   string
		record func(time.Duration) error // by how long it has been tried
		tries  func(int) bool
		least  time.Duration
		most   time.Duration
	}{
		{"at once", func(time.Duration) error { return nil }, func(n int) bool { return n == 1 }, 0, 0},
		{"after twenty minutes", func(after time.Duration) error {
			if after < 20*time.Minute {
				return away
			}
			return nil
		}, func(n int) bool { return n > 10 && n < 100 }, 20 * time.Minute, 21 * time.Minute},
		{
			"never",
			func(time.Duration) error { return away },
			func(n int) bool { return n > 10 },
			time.Hour,
			time.Hour + time.Minute,
		},
		{
			"by somebody else",
			func(time.Duration) error { return stick.Errorf(stick.CodeStaleAttempt, "x") },
			func(n int) bool { return n == 1 },
			0,
			0,
		},
		{
			"of a task that was removed",
			func(time.Duration) error { return stick.Errorf(stick.CodeNotFound, "x") },
			func(n int) bool { return n == 1 },
			0,
			0,
		},
		{
			"without a database",
			func(time.Duration) error { return store.ErrAbsent },
			func(n int) bool { return n == 1 },
			0,
			0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, n := time.Now(), 0
				var last error
				err := untilRecorded(func() error {
					n++
					last = c.record(time.Since(began))
					return last
				})

				if took := time.Since(began); !errors.Is(err, last) || !c.tries(n) || took < c.least || took > c.most {
					t.Errorf("%d tries in %v: %v", n, took, err)
				}
			})
		})
	}
}
