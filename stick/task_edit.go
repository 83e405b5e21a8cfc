package stick

import (
	"fmt"
	"slices"
)

// Priority says which of two tasks comes first where both could: for [Task.Later] ones that are ready, for
// reviews, and in the merge queue.
type Priority int

// The priorities.
const (
	PriorityLow    Priority = -1
	PriorityNormal Priority = 0
	PriorityHigh   Priority = 1
)

// priorityNames are the words for the priorities, the most urgent first.
var priorityNames = []struct {
	Priority
	name string
}{{PriorityHigh, "high"}, {PriorityNormal, "normal"}, {PriorityLow, "low"}}

// Priorities lists the words for the priorities, the most urgent first.
func Priorities() (names []string) {
	for _, p := range priorityNames {
		names = append(names, p.name)
	}
	return names
}

// String returns the word for the priority. A number that this program doesn't know is taken for the nearest one
// that it does.
func (p Priority) String() string {
	p = min(max(p, PriorityLow), PriorityHigh)
	return priorityNames[slices.IndexFunc(priorityNames, func(n struct {
		Priority
		name string
	},
	) bool {
		return n.Priority == p
	})].name
}

// MarshalText returns the word for the priority.
func (p Priority) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the word for a priority.
func (p *Priority) UnmarshalText(b []byte) error {
	for _, n := range priorityNames {
		if n.name == string(b) {
			*p = n.Priority
			return nil
		}
	}
	return fmt.Errorf("there is no priority %q", b)
}

// changedParts names what an edit has changed.
func (f TaskEditedFacts) changedParts() Words {
	var parts []Words
	if f.Description != nil {
		parts = append(parts, "the description")
	}
	if f.Spec != nil {
		parts = append(parts, "the spec")
	}
	if f.Labels != nil {
		parts = append(parts, "the labels")
	}
	if f.Priority != nil {
		parts = append(parts, Wordsf("the priority (%s)", Words(f.Priority.String())))
	}
	if len(parts) == 0 { // damaged
		return "something"
	}
	return JoinWords(parts, ", ")
}

// applyTo makes the changes of an edit.
func (f TaskEditedFacts) applyTo(t *Task) {
	if f.Description != nil {
		t.Description = *f.Description
	}
	if f.Spec != nil {
		t.Spec = *f.Spec
	}
	if f.Labels != nil {
		t.Labels = *f.Labels
	}
	if f.Priority != nil {
		t.Priority = *f.Priority
	}
}
