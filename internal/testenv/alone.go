package testenv

import (
	"os"
	"testing"
)

// Alone is called by a long test in which one process does one thing after another. Where TT_TEST_CROWDED is
// 1 it skips that test: `make test-race` and `make test-busy` set that, and neither the race detector nor a
// busy machine can find anything in it.
func Alone(t testing.TB) {
	t.Helper()
	if IsCrowded() {
		t.Skip("one process does one thing after another: neither the race detector nor a busy machine finds anything here")
	}
}

// IsCrowded reports whether the tests run beside busy processes or under the race detector, where a test
// plays what runs beside something else.
func IsCrowded() bool { return os.Getenv("TT_TEST_CROWDED") == "1" }
