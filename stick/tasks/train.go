package tasks

import (
	"talkingstick/stick"
)

// A train is a number of approved tasks that are merged on top of each other and gated once, on the tip. If the
// gate is red there, it judges the branch itself once. If it is green on that, the train is halved, and each half
// rides on top of what has landed, until each task has landed or is known to be to blame. So each value of the
// branch was gated, but not each merge in it.

// MaxTrain is how many tasks may ride together.
const MaxTrain = 64

// Train is what is known of a train. Its zero value is a train without tasks.
type Train struct {
	waiting   [][]string // the groups that are still to be gated, in order
	baseGreen bool       // the gate is known to be green on what has landed
	wasRed    bool       // the gate was red on a group
	guilty    []string
}

// TrainStep is what follows from a verdict of the gate.
type TrainStep string

// What follows from a verdict.
const (
	TrainLands   TrainStep = "lands"   // the branch moves to the tip
	TrainReturns TrainStep = "returns" // the one task of the group is to blame
	TrainHalves  TrainStep = "halves"  // the group is tried again in two halves
)

// NewTrain makes a train of tasks, in the order of the queue.
func NewTrain(ids ...string) Train {
	if len(ids) == 0 {
		return Train{}
	}
	return Train{waiting: [][]string{ids}}
}

// Next returns the tasks that are to be gated together now, on top of what has landed; none at the end.
func (t Train) Next() []string {
	if len(t.waiting) == 0 {
		return nil
	}
	return t.waiting[0]
}

// AsksBase reports whether a red group has to be compared with the branch itself, which nobody has gated yet.
func (t Train) AsksBase() bool { return !t.baseGreen }

// BaseIsGreen notes that the gate is green on what has landed.
func (t Train) BaseIsGreen() Train {
	t.baseGreen = true
	return t
}

// Judge takes the verdict of the gate on a group, on top of a green base if it is red. The group is that of
// [Train.Next], perhaps without tasks that couldn't ride. It returns what follows.
func (t Train) Judge(group []string, green bool) (Train, TrainStep) {
	rest := t.waiting[1:]

	// What is green has landed, and is the base of what follows.
	if green {
		t.waiting, t.baseGreen = rest, true
		return t, TrainLands
	}

	t.wasRed = true
	if len(group) == 1 {
		t.waiting, t.guilty = rest, append(t.guilty[:len(t.guilty):len(t.guilty)], group[0])
		return t, TrainReturns
	}

	half := (len(group) + 1) / 2
	t.waiting = append([][]string{group[:half], group[half:]}, rest...)
	return t, TrainHalves
}

// Skip takes the group of [Train.Next] out, because none of its tasks can ride.
func (t Train) Skip() Train {
	t.waiting = t.waiting[1:]
	return t
}

// IsFlaky reports whether the gate has contradicted itself: it was red on a group, and green on all its parts.
func (t Train) IsFlaky() bool { return len(t.waiting) == 0 && t.wasRed && len(t.guilty) == 0 }

// Passengers returns those of the queued tasks that ride together with the first one: the following ones for the
// same branch, up to a number. A task that changes what judges it rides alone, because the others would be judged
// by it.
func Passengers(queued []stick.Task, most int) []stick.Task {
	if len(queued) == 0 {
		return nil
	}

	first := queued[0]
	ride := []stick.Task{first}
	for _, t := range queued[1:] {
		switch {
		case first.ChangesGate || len(ride) >= most:
			return ride
		case t.Integration != first.Integration:
			continue
		case t.ChangesGate:
			return ride // those after it have to wait for it
		}
		ride = append(ride, t)
	}

	return ride
}
