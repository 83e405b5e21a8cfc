// Package tasks holds the rules of tasks: who may take the next step of one, which review a merge needs, what a task
// waits for, how its runs end, and which commands of a project a person has accepted.
//
// A rule is a function of a [stick.Task], and returns the event that records what changed. What events make of a task
// is in package stick, beside the events.
package tasks
