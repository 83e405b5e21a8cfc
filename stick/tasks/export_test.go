package tasks

// What the tests from outside of the package look at, and nobody else.

const (
	MaxAround     = maxAround
	MaxSourceLine = maxSourceLine
	MaxRunCommand = maxRunCommand
)

// Guilty lists the tasks that are to blame for a red gate.
func (t Train) Guilty() []string { return t.guilty }
