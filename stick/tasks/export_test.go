package tasks

// What the tests from outside of the package look at, and nobody else.

const (
	MaxAround     = maxAround
	MaxSourceLine = maxSourceLine
	MaxRunCommand = maxRunCommand
)
