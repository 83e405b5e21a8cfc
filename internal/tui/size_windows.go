package tui

import "os"

// watchSize returns a channel that gets nothing: on Windows no signal tells that the size of the terminal has
// changed. The size arrives with the keys.
func watchSize() (changed <-chan os.Signal, stop func()) { return nil, func() {} }
