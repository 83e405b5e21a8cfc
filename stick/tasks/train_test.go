package tasks_test

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/tasks"
)

// ride plays a train: isRed says what the gate says of what has landed and a group on top of it. It returns what
// has landed, in order, and how often the gate ran.
func ride(
	t *testing.T, ids []string, isRed func(landed, group []string) bool,
) (train tasks.Train, landed []string, gates int) {
	t.Helper()
	train = tasks.NewTrain(ids...)
	for group := train.Next(); group != nil; group = train.Next() {
		if gates++; gates > 100 {
			t.Fatal("the train doesn't end")
		}

		red := isRed(landed, group)
		if red && train.AsksBase() {
			gates++
			train = train.BaseIsGreen()
		}

		var step tasks.TrainStep
		if train, step = train.Judge(group, !red); step == tasks.TrainLands {
			landed = append(landed, group...)
		}
	}

	return train, landed, gates
}

// names returns the names of n tasks.
func names(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("t%d", i+1))
	}
	return ids
}

// TestTrain_Guilty: of a train of any length with one guilty task in any position, all others land in their order,
// and the gate runs a bounded number of times.
func TestTrain_Guilty(t *testing.T) {
	for n := 1; n <= 17; n++ {
		ids := names(n)
		for _, bad := range ids {
			train, landed, gates := ride(t, ids, func(_, group []string) bool { return slices.Contains(group, bad) })
			sticktest.Equal(t, "guilty", fmt.Sprint(train.Guilty()), fmt.Sprint([]string{bad}))
			others := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == bad })
			sticktest.Equal(t, "landed", fmt.Sprint(landed), fmt.Sprint(others))
			sticktest.Equal(t, "flaky", train.IsFlaky(), false)

			most := 2*bits.Len(uint(n-1)) + 2
			if further := gates - 1; further > most {
				t.Errorf("%d tasks with %s guilty: %d further gates, at most %d", n, bad, further, most)
			}
		}
	}
}

// TestTrain_Flaky: a gate that is red once on what is green in its parts is to blame itself.
func TestTrain_Flaky(t *testing.T) {
	first := true
	train, landed, gates := ride(t, names(8), func(_, _ []string) bool {
		was := first
		first = false
		return was
	})
	sticktest.Equal(t, "landed", len(landed), 8)
	sticktest.Equal(t, "guilty", len(train.Guilty()), 0)
	sticktest.Equal(t, "flaky", train.IsFlaky(), true)
	sticktest.Equal(t, "gates", gates, 4)
}

// TestTrain_Green: without a red gate there is one.
func TestTrain_Green(t *testing.T) {
	train, landed, gates := ride(t, names(8), func(_, _ []string) bool { return false })
	sticktest.Equal(t, "landed", len(landed), 8)
	sticktest.Equal(t, "gates", gates, 1)
	sticktest.Equal(t, "flaky", train.IsFlaky(), false)
}

// TestTrain_Explore: whatever the gate says, each task lands once or is guilty once, and what is red alone on what
// has landed is guilty.
func TestTrain_Explore(t *testing.T) {
	ids := names(5)

	// Each number is one sequence of verdicts.
	for verdicts := range 1 << 12 {
		i := -1
		train, landed, _ := ride(t, ids, func(_, group []string) bool {
			i++
			return verdicts>>min(i, 11)&1 == 1
		})

		all := slices.Concat(landed, train.Guilty())
		slices.Sort(all)
		if !slices.Equal(all, ids) {
			t.Fatalf("verdicts %b: landed %v, guilty %v", verdicts, landed, train.Guilty())
		}
		if !slices.IsSorted(landed) {
			t.Fatalf("verdicts %b: landed out of order: %v", verdicts, landed)
		}
	}
}

// TestTrain_Pair: two tasks that are red only together: the later one is to blame, because it comes second.
func TestTrain_Pair(t *testing.T) {
	train, landed, _ := ride(t, names(8), func(landed, group []string) bool {
		all := slices.Concat(landed, group)
		return slices.Contains(all, "t2") && slices.Contains(all, "t7")
	})
	sticktest.Equal(t, "guilty", fmt.Sprint(train.Guilty()), "[t7]")
	sticktest.Equal(t, "landed", len(landed), 7)
}

// TestPassengers: who rides with the first task of the queue.
func TestPassengers(t *testing.T) {
	task := func(id, branch string, gate bool) stick.Task {
		return stick.Task{ID: id, Integration: branch, ChangesGate: gate}
	}
	for _, c := range []struct {
		name   string
		queued []stick.Task
		want   string
	}{
		{"nobody waits", nil, "[]"},
		{"up to the number", []stick.Task{task("a", "m", false), task("b", "m", false), task("c", "m", false), task("d", "m", false)}, "[a b c]"},
		{"of one branch", []stick.Task{task("a", "m", false), task("b", "n", false), task("c", "m", false)}, "[a c]"},
		{"the first changes the gate", []stick.Task{task("a", "m", true), task("b", "m", false)}, "[a]"},
		{"another changes the gate", []stick.Task{task("a", "m", false), task("b", "m", true), task("c", "m", false)}, "[a]"},
	} {
		got := []string{}
		for _, r := range tasks.Passengers(c.queued, 3) {
			got = append(got, r.ID)
		}
		sticktest.Equal(t, c.name, fmt.Sprint(got), c.want)
	}
}
