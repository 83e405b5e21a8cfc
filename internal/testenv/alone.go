package testenv

import (
	"os"
	"testing"
)

// Alone is called by a long test in which one process does one thing after another. Where TT_TEST_CROWDED is 1 it skips that
// test: `make test-race` and `make test-busy` set that, and neither the race detector nor a busy machine can find anything in it.
func Alone(t testing.TB) {
	t.Helper()
	if os.Getenv("TT_TEST_CROWDED") == "1" {
		t.Skip("one process does one thing after another: neither the race detector nor a busy machine finds anything here")
	}
}
