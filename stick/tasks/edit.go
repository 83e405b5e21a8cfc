package tasks

import (
	"cmp"
	"slices"
	"strings"

	"talkingstick/stick"
)

// Bounds of the labels of a task.
const (
	MaxLabels = 20
	maxLabel  = 40 // bytes of one
)

// CheckLabels returns labels in the order of the alphabet and each once. They are words such as those of a
// task's name, so that they need no quotes at a command line. It fails with [stick.CodeUsage].
func CheckLabels(labels []string) ([]string, error) {
	for _, l := range labels {
		if len(l) > maxLabel || !isTaskID(l) {
			return nil, stick.Errorf(stick.CodeUsage, "%q can't be a label: it must begin with a letter or digit, and have "+
				"at most %d letters, digits, dots, underscores and hyphens", stick.Clip(l, 80), maxLabel).
				With("field", "label").
				Hintf("use a word such as backend")
		}
	}

	sorted := slices.Clone(labels)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	if len(sorted) > MaxLabels {
		return nil, stick.Errorf(stick.CodeUsage, "a task has at most %d labels, not %d", MaxLabels, len(sorted)).
			With("field", "label")
	}

	return sorted, nil
}

// ParsePriority reads the word for a priority; empty for the normal one. It fails with [stick.CodeUsage].
func ParsePriority(s string) (p stick.Priority, err error) {
	if s == "" || p.UnmarshalText([]byte(s)) == nil {
		return p, nil
	}
	return p, stick.Errorf(stick.CodeUsage, "there is no priority %q", stick.Clip(s, 40)).With("field", "priority").
		Hintf("use one of %s", stick.Words(strings.Join(stick.Priorities(), ", ")))
}

// HasLabels reports whether a task has all of the labels.
func HasLabels(t stick.Task, labels []string) bool {
	return !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(t.Labels, l) })
}

// CompareUrgency compares what of two tasks comes first: the one of the higher priority.
func CompareUrgency(a, b stick.Task) int { return cmp.Compare(b.Priority, a.Priority) }

// CompareQueued compares the places of two approved tasks in the merge queue of a branch: the more urgent first,
// then the one that was approved first.
func CompareQueued(a, b stick.Task) int {
	return cmp.Or(CompareUrgency(a, b), cmp.Compare(a.ApprovedSeq, b.ApprovedSeq))
}

// Edit is a request to change what a task is about. What is nil stays.
type Edit struct {
	Description *string
	Spec        *string
	Labels      *[]string
	Priority    *stick.Priority
}

// EditTask changes what a task is about, until it is approved: what a reviewer approves must be what was asked for.
// Its worker is told. The description and the spec stand as the words of whoever made the task, so only they and people
// change these. If nothing changes, the event is nil. It fails with [stick.CodeUsage], [stick.CodeMessageTooLarge],
// [stick.CodeNotYourTask] and [stick.CodeInvalidTransition].
func EditTask(t stick.Task, c Call, q Edit) (*stick.Event, error) {
	s, err := findStep(t, stick.ActEdit)
	if err != nil {
		return nil, err
	}

	f, err := changesOf(t, q)
	if err != nil || f == (stick.TaskEditedFacts{}) {
		return nil, err
	}

	changesWords := f.Description != nil || f.Spec != nil
	if changesWords && !c.Person && c.By != t.SpawnedBy {
		return nil, withTaskFacts(t, stick.Errorf(stick.CodeNotYourTask,
			"what %s is about are the words of %s: only they or a person change them", t.ID, t.SpawnedBy).
			Hintf("tell them what you would change: %s", stick.Cmd(`tt msg send <agent_id> "…"`, t.SpawnedBy)))
	}

	to := t.Worker
	if to == c.By || t.Over() {
		to = ""
	}

	e := stick.TaskEvent(t, s, c.By, to, f)
	return &e, nil
}

// changesOf returns what of an edit differs from the task as it is.
func changesOf(t stick.Task, q Edit) (f stick.TaskEditedFacts, err error) {
	if q.Description != nil && *q.Description != t.Description {
		f.Description = q.Description
	}
	if q.Spec != nil && *q.Spec != t.Spec {
		f.Spec = q.Spec
	}
	if q.Priority != nil && *q.Priority != t.Priority {
		f.Priority = q.Priority
	}
	if err := checkTexts(orEmpty(f.Description), orEmpty(f.Spec)); err != nil {
		return f, err
	}

	// The same labels in another order are the same.
	if q.Labels != nil {
		labels, err := CheckLabels(*q.Labels)
		if err != nil {
			return f, err
		}
		if !slices.Equal(labels, t.Labels) {
			f.Labels = &labels
		}
	}

	return f, nil
}

// orEmpty returns a text that may be missing.
func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
