package task_test

import (
	"slices"
	"testing"

	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// TestReadyTasksStart performs each operation that may make a task ready, or return one, as a surface does that
// sees to nothing else. The operation itself starts the command, and says so.
func TestReadyTasksStart(t *testing.T) {
	storetest.SkipQuick(t, "operations that make a task ready by themselves")

	// offers makes a task whose worker has offered a commit and is gone, with a run that never began.
	offers := func(s *scene.Scene, name string) {
		carl := s.Agent("claude:carl")
		carl.Spawn(name).OK()
		w := carl.WorksOn(name)
		w.Commits(name+".txt", name+"\n")
		w.Done("").OK()
		carl.WorkerRun(task.WorkerRunParams{TaskID: name, Command: "true", Restart: "on-return"}).OK()
		carl.Dies()
	}

	for _, c := range []struct {
		name    string
		prepare func(s *scene.Scene, ann, bob *scene.Actor)
		perform func(bob *scene.Actor) []task.StartedTask
		starts  string
	}{
		{"a merge that another task waited for", func(s *scene.Scene, ann, bob *scene.Actor) {
			s.ReadyToMerge("first", ann, bob)
			ann.WorkerSpawn(task.WorkerSpawnParams{TaskID: "next", After: []string{"first"}, Run: "true"}).OK()
		}, func(bob *scene.Actor) []task.StartedTask { return bob.Merge("first").OK().Started }, "next"},

		{"a merge that finds the gate red", func(s *scene.Scene, _, bob *scene.Actor) {
			offers(s, "red")
			bob.Approve("red").OK()
		}, func(bob *scene.Actor) []task.StartedTask {
			bob.Merge("red").Refused(stick.CodeGateFailed)
			return nil
		}, "red"},

		{"a request for changes", func(s *scene.Scene, _, bob *scene.Actor) {
			offers(s, "one")
			bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK()
		}, func(bob *scene.Actor) []task.StartedTask {
			return bob.WorkerRequestChanges(task.WorkerRequestChangesParams{TaskID: "one", Reason: "more"}).OK().Started
		}, "one"},

		{"a task that waits for nothing any more", func(_ *scene.Scene, ann, _ *scene.Actor) {
			ann.Spawn("first").OK()
			ann.WorkerSpawn(task.WorkerSpawnParams{TaskID: "next", After: []string{"first"}, Run: "true"}).OK()
		}, func(bob *scene.Actor) []task.StartedTask {
			return bob.WorkerAfter(task.WorkerAfterParams{TaskID: "next"}).OK().Started
		}, "next"},

		{"a new task for later", func(*scene.Scene, *scene.Actor, *scene.Actor) {}, func(bob *scene.Actor) []task.StartedTask {
			return bob.WorkerSpawn(task.WorkerSpawnParams{TaskID: "one", Later: true, Run: "true"}).OK().Started
		}, "one"},

		{"another attempt at a task for later", func(_ *scene.Scene, ann, _ *scene.Actor) {
			ann.WorkerSpawn(task.WorkerSpawnParams{TaskID: "one", Later: true, Run: "true"}).OK()
			ann.Cancel("one").OK()
		}, func(bob *scene.Actor) []task.StartedTask { return bob.Retry("one").OK().Started }, "one"},

		{"whatever was cut off", func(_ *scene.Scene, ann, _ *scene.Actor) {
			ann.WorkerSpawn(task.WorkerSpawnParams{TaskID: "one", Later: true, Run: "true"}).OK()
		}, func(bob *scene.Actor) []task.StartedTask {
			return bob.StartReady(task.WorkerReadyParams{All: true}).OK()
		}, "one"},

		{"a new task", func(*scene.Scene, *scene.Actor, *scene.Actor) {}, func(bob *scene.Actor) []task.StartedTask {
			bob.WorkerSpawn(task.WorkerSpawnParams{TaskID: "one", Run: "true"}).
				That("begun", func(r task.WorkerSpawnResult) bool {
					return r.Begun && r.Task.Run.State == tasks.RunRunning
				})
			return nil
		}, "one"},

		{"another attempt", func(_ *scene.Scene, ann, _ *scene.Actor) {
			ann.Spawn("one").OK()
			ann.Cancel("one").OK()
		}, func(bob *scene.Actor) []task.StartedTask {
			bob.WorkerRetry(task.WorkerRetryParams{TaskID: "one", Run: "true"}).
				That("begun", func(r task.WorkerSpawnResult) bool { return r.Begun })
			return nil
		}, "one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, ann, bob := cast(t, "test ! -e red.txt")
			c.prepare(s, ann, bob)
			var started []string
			said := c.perform(bob.Starting(func(run task.RunTaskParams) { started = append(started, run.TaskID) }))
			s.Check(slices.Equal(started, []string{c.starts}), "started: %q", started)
			s.Check(len(said) == 0 || said[0].TaskID == c.starts && said[0].Error == "", "it says %+v", said)
		})
	}
}
