//go:build !race

package testenv

// Race says whether the tests run under the race detector.
const Race = false
