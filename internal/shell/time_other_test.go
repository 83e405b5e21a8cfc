//go:build !unix

package shell

import (
	"testing"
	"time"
)

var started = time.Now()

// processorTime is the time since the start, where nothing better is at hand.
func processorTime(*testing.T) time.Duration { return time.Since(started) }
