//go:build !linux

package storetest

import (
	"errors"
	"testing"
)

// PostgresURL skips the test: PostgreSQL is tested on Linux.
func PostgresURL(t testing.TB) string {
	t.Helper()
	t.Skip("SKIPPED: PostgreSQL is tested on Linux")
	return ""
}

// NewSchema fails, as there is no PostgreSQL here.
func NewSchema() (address string, drop func() error, err error) {
	_, err = runQuery("", "")
	return "", nil, err
}

// CopySchema fails, as there is no PostgreSQL here.
func CopySchema(string) (address string, drop func() error, err error) { return NewSchema() }

// Dump fails, as there is no PostgreSQL here.
func Dump(address string) (string, error) {
	_, err := runQuery(address, "")
	return "", err
}

// Hold fails, as there is no PostgreSQL here.
func Hold(address, script string) (release func(), err error) {
	_, err = runQuery(address, script)
	return nil, err
}

// Script fails, as there is no PostgreSQL here.
func Script(address, script string) error {
	_, err := runQuery(address, script)
	return err
}

func runQuery(string, string) ([]string, error) {
	return nil, errors.New("PostgreSQL is tested on Linux")
}

// HasPostgres reports whether PostgreSQL is installed. Here it isn't looked for.
func HasPostgres() bool { return false }
