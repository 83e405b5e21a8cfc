// Package e2e holds tests with real processes; they need Linux. It has no code of its own.
package e2e
