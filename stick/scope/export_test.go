package scope

// CheckRequest is for the tests from outside of the package.
func (q Reserving) CheckRequest() error { return q.checkRequest() }
