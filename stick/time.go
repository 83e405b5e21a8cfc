package stick

import (
	"fmt"
	"time"
)

// Time is an instant in milliseconds since the Unix epoch, as the store keeps it. Zero means "never". In JSON
// it is RFC 3339 in UTC with milliseconds, and null for zero.
type Time int64

// At converts t and drops what is finer than a millisecond.
func At(t time.Time) Time { return Time(t.UnixMilli()) }

// IsZero reports whether t means "never".
func (t Time) IsZero() bool { return t == 0 }

// Add returns t+d.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Milliseconds()) }

// Sub returns t-u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t-u) * time.Millisecond }

// Go returns t as a time.Time in UTC.
func (t Time) Go() time.Time { return time.UnixMilli(int64(t)).UTC() }

const timeLayout = "2006-01-02T15:04:05.000Z"

// String returns t as RFC 3339 in UTC, and "never" for zero.
func (t Time) String() string {
	if t.IsZero() {
		return "never"
	}
	return t.Go().Format(timeLayout)
}

// MarshalJSON writes RFC 3339 in UTC with milliseconds, or null.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.Go().Format(timeLayout) + `"`), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = 0
		return nil
	}

	u, err := time.Parse(`"`+time.RFC3339Nano+`"`, string(b))
	if err != nil {
		return fmt.Errorf("time: %w", err)
	}

	*t = At(u)
	return nil
}

// clockBack is how far the clock may go back before deadlines count as due. Without it, a clock that was set
// back by a year would make every lease last for a year.
const clockBack = 60 * time.Second

// Deadline is a point in time that was set at a known time. It is kept as (set at, time to live), and not as
// the point itself, so that one sees when the clock went back.
type Deadline struct {
	SetAt Time
	TTL   time.Duration
}

// Due reports whether the deadline has passed at now. It has also passed if now is more than a minute before
// the time at which it was set, because then the clock went back.
func (d Deadline) Due(now Time) bool {
	return now >= d.At() || now < d.SetAt.Add(-clockBack)
}

// At returns when the deadline passes if the clock never goes back.
func (d Deadline) At() Time { return d.SetAt.Add(d.TTL) }
