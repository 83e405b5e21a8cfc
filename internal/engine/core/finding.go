package core

import (
	"context"

	"talkingstick/stick"
)

// Finding is what one check of the doctor came to.
type Finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warning or fault
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // the command that mends it
}

// The statuses of a finding.
const (
	FindingOK      = "ok"
	FindingWarning = "warning"
	FindingFault   = "fault"
)

// Check is one check of the doctor. The package that owns what is checked has it.
type Check struct {
	Name string
	Run  func(context.Context) Finding
}

// Fault is the finding of a check that an error ended.
func Fault(err error) Finding {
	s := stick.AsError(err)
	return Finding{Status: FindingFault, Detail: s.Message, Fix: s.Hint.String()}
}
