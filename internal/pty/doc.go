// Package pty makes terminals for programs that tests and measurements run.
package pty
