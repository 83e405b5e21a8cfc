package tui

// Terminal is what a screen writes to, as far as it needs that.
type Terminal = terminal

// NewTerminal makes a terminal of a size.
var NewTerminal = newTerminal

// EndUpdate ends what a screen writes at a time.
const EndUpdate = endUpdate
