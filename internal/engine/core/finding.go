package core

import (
	"context"

	"talkingstick/stick"
)

// Finding is the result of one check of the doctor.
type Finding struct {
	Check  string      `json:"check"`
	Status string      `json:"status"` // ok, warning or fault
	Detail stick.Words `json:"detail"`
	Fix    stick.Words `json:"fix,omitempty"` // the next step, mostly a command

	More []Problem `json:"more,omitempty"` // what else this check found
}

// Problem is something that a check of the doctor found.
type Problem struct {
	Detail stick.Words `json:"detail"`
	Fix    stick.Words `json:"fix,omitempty"`
}

// FindingOf returns the finding of a check that found problems. There has to be at least one.
func FindingOf(status string, problems []Problem) Finding {
	return Finding{Status: status, Detail: problems[0].Detail, Fix: problems[0].Fix, More: problems[1:]}
}

// The statuses of a finding.
const (
	FindingOK      = "ok"
	FindingWarning = "warning"
	FindingFault   = "fault"
)

// Check is one check of the doctor. The package that owns what is checked provides it.
type Check struct {
	Name string
	Run  func(context.Context) Finding
}

// Fault returns the finding of a check that failed with err.
func Fault(err error) Finding {
	s := stick.AsError(err)
	return Finding{Status: FindingFault, Detail: s.Words(), Fix: s.Hint.Words()}
}
