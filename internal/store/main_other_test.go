//go:build !unix

package store_test

// signalSelf has no signals to send here; the tests that need them don't run.
func signalSelf(string) {}
