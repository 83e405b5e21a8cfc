package task_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/internal/task"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// countedGate counts its runs in a file beside the repository, and is red on a tree with a file of that name.
const countedGate = "echo run >>../../../gates; test ! -e broken && test ! -e here -o ! -e there"

// inTrain makes a repository in which up to eight tasks ride together.
func inTrain(t *testing.T, gate string) (s *scene.Scene, ann, bob *scene.Actor) {
	s, ann, bob = cast(t, gate)
	b, err := os.ReadFile(filepath.Join(s.Work, ".talking-stick.toml"))
	s.Check(err == nil, "read the settings: %v", err)
	s.Commit(".talking-stick.toml", string(b)+"[merge]\nbatch = 8\n")
	s.Git("branch", "-f", "integration", "HEAD")
	return s, ann, bob
}

// ready has a task approved that adds a file.
func ready(s *scene.Scene, ann, bob *scene.Actor, name, file string) {
	ann.Spawn(name).OK()
	w := ann.WorksOn(name)
	w.Commits(file, name+"\n")
	w.Done("").OK()
	bob.Approve(name).OK()
}

// gates returns how often the gate of [countedGate] has run.
func gates(s *scene.Scene) int {
	b, _ := os.ReadFile(filepath.Join(s.Work, "..", "gates"))
	return strings.Count(string(b), "run")
}

// TestTrain_Guilty: of eight tasks that ride together only the one comes back that makes the gate red, wherever it
// rides, and the gate runs a few times. All others land once.
func TestTrain_Guilty(t *testing.T) {
	for _, bad := range testenv.Nth(t, "places of a guilty task in a train", 4, []int{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			s, ann, bob := inTrain(t, countedGate)
			for i := 1; i <= 8; i++ {
				file := fmt.Sprintf("f%d", i)
				if i == bad {
					file = "broken"
				}
				ready(s, ann, bob, fmt.Sprintf("t%d", i), file)
			}

			bob.WorkerMerge(task.WorkerMergeParams{All: true}).Refused(stick.CodeTasksReturned)
			for i := 1; i <= 8; i++ {
				want := stick.TaskCompleted
				if i == bad {
					want = stick.TaskWorking
				}
				s.TaskIs(fmt.Sprintf("t%d", i), want)
			}

			merges := strings.Count(s.Git("log", "--format=%s", "integration"), "Merge task")
			s.Check(merges == 7, "%d merges, 7 expected", merges)
			s.Check(gates(s)-1 <= 8, "%d further gates, at most 8", gates(s)-1)
		})
	}
}

// TestTrain_Green: eight tasks that ride together take one gate.
func TestTrain_Green(t *testing.T) {
	s, ann, bob := inTrain(t, countedGate)
	for i := 1; i <= 8; i++ {
		ready(s, ann, bob, fmt.Sprintf("t%d", i), fmt.Sprintf("f%d", i))
	}
	bob.WorkerMerge(task.WorkerMergeParams{All: true}).That("eight tasks",
		func(r task.WorkerMergeResult) bool { return len(r.Merged) == 8 && r.Merged[7].TaskID == "t8" })

	want := 1
	if storetest.OnServer(t) {
		want = 8 // where several hosts may share the database, tasks land one by one
	}
	s.Check(gates(s) == want, "%d gates, %d expected", gates(s), want)
}

// TestTrain_Flaky: of eight tasks without a guilty one none comes back, whichever gates of groups are red by chance.
// The answer calls the gate flaky, and the gate runs a few times.
func TestTrain_Flaky(t *testing.T) {
	if storetest.OnServer(t) {
		return // where several hosts may share the database, tasks land one by one
	}

	type flake struct {
		name, red string // the numbers of the red gates
		gates     int
	}
	for _, c := range testenv.Nth(t, "gates of a train that are red by chance", 4, []flake{
		{"the whole train", "1", 4},
		{"and the first half", "1|3", 6},
		{"and the second half", "1|4", 6},
		{"and both halves", "1|3|6", 8},
		{"and the first quarter", "1|3|4", 8},
		{"and the last quarter", "1|4|6", 8},
	}) {
		t.Run(c.name, func(t *testing.T) {
			s, ann, bob := inTrain(t, "echo run >>../../../gates; case $(wc -l <../../../gates) in "+c.red+") exit 1; esac")
			for i := 1; i <= 8; i++ {
				ready(s, ann, bob, fmt.Sprintf("t%d", i), fmt.Sprintf("f%d", i))
			}

			bob.WorkerMerge(task.WorkerMergeParams{All: true}).That("eight tasks, and a flaky gate",
				func(r task.WorkerMergeResult) bool {
					return len(r.Merged) == 8 && strings.Contains(string(r.Merged[0].Note), "flaky")
				})
			s.Check(gates(s) == c.gates, "%d gates, %d expected", gates(s), c.gates)
		})
	}
}

// TestTrain_BaseRed: where the gate is red on the branch itself, the queue pauses, and nobody is to blame.
func TestTrain_BaseRed(t *testing.T) {
	s, ann, bob := inTrain(t, "echo run >>../../../gates; false")
	ready(s, ann, bob, "t1", "f1")
	ready(s, ann, bob, "t2", "f2")
	bob.WorkerMerge(task.WorkerMergeParams{All: true}).Refused(stick.CodeBaseRed)
	s.TaskIs("t1", stick.TaskApproved)
	s.TaskIs("t2", stick.TaskApproved)
	s.Check(gates(s) == 2, "%d gates: the train and the branch", gates(s))
	bob.WorkerStatus(task.WorkerStatusParams{}).That("a paused queue",
		func(r task.WorkerStatusResult) bool { return len(r.Paused) == 1 })
}

// TestTrain_Conflict: a task that conflicts only with another of its train waits for the next one, and comes back
// if it conflicts with what has landed.
func TestTrain_Conflict(t *testing.T) {
	s, ann, bob := inTrain(t, countedGate)
	ready(s, ann, bob, "t1", "same")
	ready(s, ann, bob, "t2", "other")
	ann.Spawn("t3").OK()
	w := ann.WorksOn("t3")
	w.Commits("same", "another text\n")
	w.Done("").OK()
	bob.Approve("t3").OK()

	bob.WorkerMerge(task.WorkerMergeParams{All: true}).Refused(stick.CodeTasksReturned)
	s.TaskIs("t1", stick.TaskCompleted)
	s.TaskIs("t2", stick.TaskCompleted)
	s.Check(s.TaskIs("t3", stick.TaskWorking).Cause == stick.CauseConflict, "the cause")
}

// TestTrain_KilledAnywhere: a train that is killed at any of its points is finished by the next merge. Each task
// lands once, and the guilty one comes back.
func TestTrain_KilledAnywhere(t *testing.T) {
	testenv.Alone(t)
	set := func(t *testing.T) (*scene.Scene, *scene.Actor, *scene.Actor) {
		s, ann, bob := inTrain(t, countedGate)
		for _, name := range []string{"t1", "t2", "t3"} {
			ready(s, ann, bob, name, name)
		}
		ready(s, ann, bob, "bad", "broken")
		s.Git("switch", "-q", "integration")
		return s, ann, bob
	}
	merge := func(a *scene.Actor) error { return a.WorkerMerge(task.WorkerMergeParams{All: true}).Err }

	_, _, bob := set(t)
	points := bob.KillPoints(func(a *scene.Actor) {
		if err := merge(a); stick.CodeOf(err) != stick.CodeTasksReturned {
			t.Fatal(err)
		}
	})

	// A point is passed several times.
	type moment struct {
		point string
		nth   int
	}
	var moments []moment
	passed := map[string]int{}
	for _, point := range points {
		passed[point]++
		moments = append(moments, moment{point, passed[point]})
	}

	for _, m := range testenv.Nth(t, "kill points of a train", 23, moments) {
		t.Run(fmt.Sprintf("%s %d", m.point, m.nth), func(t *testing.T) {
			s, _, bob := set(t)
			if !bob.Killed(m.point, m.nth, func(a *scene.Actor) { _ = merge(a) }) {
				t.Fatal("the merge reached its end, but it should have been killed")
			}

			err := merge(bob.Again())
			s.Check(
				err == nil || stick.CodeOf(err) == stick.CodeTasksReturned, "the merge fails when run again: %v", err,
			)
			for _, name := range []string{"t1", "t2", "t3"} {
				s.TaskIs(name, stick.TaskCompleted)
			}
			s.TaskIs("bad", stick.TaskWorking)

			merges := strings.Count(s.Git("log", "--format=%s", "integration"), "Merge task")
			s.Check(merges == 3, "%d merges, 3 expected", merges)
			s.Check(s.Git("status", "--porcelain", "--untracked-files=no") == "", "the checkout has changes")
		})
	}
}
