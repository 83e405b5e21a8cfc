package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"talkingstick/stick"
)

// idDigits are those of ids: without l, o, i and u, which are read as others.
const idDigits = "0123456789abcdefghjkmnpqrstvwxyz"

// An id is the time in milliseconds, which takes nine digits, then four of the checksum of the state. Ids
// sort by time.
const (
	IDTime = 9
	IDLen  = IDTime + 1 + 4
)

// NewID makes the id of a rescue that was taken at a time and has a state with this sum.
func NewID(at stick.Time, sum string) string {
	var b [IDTime]byte
	for i, t := IDTime-1, int64(at); i >= 0; i, t = i-1, t>>5 {
		b[i] = idDigits[t&31]
	}

	return string(b[:]) + "-" + sum[:IDLen-IDTime-1]
}

// IsID reports whether a text has the form of the id of a rescue, which needn't be there.
func IsID(text string) bool {
	_, ok := TimeOf(text)
	return ok
}

// TimeOf returns when the rescue with an id was taken. ok is false if this can't be an id.
func TimeOf(id string) (at stick.Time, ok bool) {
	if len(id) != IDLen || id[IDTime] != '-' || strings.Trim(id[IDTime+1:], "0123456789abcdef") != "" {
		return 0, false
	}

	for _, c := range []byte(id[:IDTime]) {
		i := strings.IndexByte(idDigits, c)
		if i < 0 {
			return 0, false
		}
		at = at<<5 | stick.Time(i)
	}

	return at, true
}

// ShortSum names a text by the first n bytes of its checksum, in hexadecimal digits.
func ShortSum(text string, n int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:n])
}
