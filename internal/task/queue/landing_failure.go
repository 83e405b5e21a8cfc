package queue

import "errors"

// stepError is the failure of a step of a landing, with what it means beyond the task. Nobody but the landing
// sees it.
type stepError struct {
	error
	halts   bool // it is one of the branch, not of the task: no other task can land there either
	settled bool // it is recorded already, and the intent has ended with it
	unknown bool // git was interrupted: the intent stays open, and the next command asks git for the outcome
}

// Unwrap returns the failure itself.
func (e stepError) Unwrap() error { return e.error }

// failureOf returns the failure of a step; the zero stepError for none.
func failureOf(err error) stepError {
	if e, ok := errors.AsType[stepError](err); ok {
		return e
	}
	return stepError{error: err}
}

// haltQueue marks a failure as one of the branch, so that nothing else can land there.
func haltQueue(err error) error {
	if err == nil {
		return nil
	}
	e := failureOf(err)
	e.halts = true
	return e
}

// settleIntent marks a failure as one that is recorded, and whose intent has ended.
func settleIntent(err error) error {
	if err == nil {
		return nil
	}
	e := failureOf(err)
	e.settled = true
	return e
}

// leaveOpen marks a failure as one after which only git knows whether the branch has moved.
func leaveOpen(err error) error {
	if err == nil {
		return nil
	}
	e := failureOf(err)
	e.unknown = true
	return e
}
