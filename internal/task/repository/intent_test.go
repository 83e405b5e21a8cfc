package repository

import (
	"reflect"
	"testing"

	"talkingstick/internal/store"
)

// TestIntentsOfEarlierPrograms reads intents as the program of commit 8cc1f78 stored them, so that a command
// that was interrupted before an upgrade can be finished after it.
func TestIntentsOfEarlierPrograms(t *testing.T) {
	for _, c := range []struct {
		kind, data string
		want       any
	}{
		{
			IntentSpawn, `{"task":{"ID":"c2","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/c2","Worktree":"worktrees/c2",` +
				`"Integration":"integration","Base":"ed63","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"",` +
				`"Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},` +
				`"path":"/home/ann/app/worktrees/c2","base":"ed63","new_branch":true,"new_tree":true}`,
			SpawnIntent{
				Task: spawnedTask{"feat/c2", "c2"}, Path: "/home/ann/app/worktrees/c2", Base: "ed63",
				NewBranch: true, NewTree: true,
			},
		},
		{
			IntentRetry, `{"task":{"ID":"again","State":"FAILED","Attempt":2,"Branch":"feat/again","Worktree":"worktrees/again","CreatedAt":"2026-11-22T03:47:13.913Z"},` +
				`"path":"/home/ann/lib/worktrees/again","base":"838f","from":"7f8e","new_branch":false,"new_tree":true}`,
			SpawnIntent{
				Task: spawnedTask{"feat/again", "again"}, Path: "/home/ann/lib/worktrees/again", Base: "838f",
				NewTree: true,
			},
		},
		{
			IntentDone, `{"path":"/home/ann/app/worktrees/UI-7","head":"dee2","onto":"9103","pushed":"77aa"}`,
			DoneIntent{Path: "/home/ann/app/worktrees/UI-7", Head: "dee2", Onto: "9103", Pushed: "77aa"},
		},
		{
			IntentLand,
			`{"branch":"integration","remote":"origin","base":"9103","head":"2e83","result":"14e6","checkout":"/home/ann/app","tree":"/home/ann/app/worktrees/.gate-14e6"}`,
			LandIntent{
				Branch: "integration", Remote: "origin", Base: "9103", Head: "2e83", Result: "14e6",
				Checkout: "/home/ann/app", Tree: "/home/ann/app/worktrees/.gate-14e6",
			},
		},
		{
			IntentRollback,
			`{"branch":"integration","base":"14e6","head":"2e83","result":"ed63","revert":"it broke the build"}`,
			LandIntent{Branch: "integration", Base: "14e6", Head: "2e83", Result: "ed63", Revert: "it broke the build"},
		},
		{
			IntentCleanup,
			`{"branch":"feat/UI-7","path":"/home/ann/app/worktrees/UI-7","head":"2e83","target":"integration","remote":"origin","attempt":1,"worker":"codex"}`,
			CleanupIntent{
				Branch: "feat/UI-7", Path: "/home/ann/app/worktrees/UI-7", Head: "2e83",
				Target: "integration", Remote: "origin", Attempt: 1, Worker: "codex",
			},
		},
		{
			IntentPause, `{"branch":"integration","commit":"7510","report":"e3b0"}`,
			PauseIntent{Branch: "integration", Commit: "7510", Report: "e3b0"},
		},
	} {
		t.Run(c.kind, func(t *testing.T) {
			i := store.Intent{Kind: c.kind, Data: []byte(c.data)}
			var got any
			var err error
			switch c.want.(type) {
			case SpawnIntent:
				got, err = ReadIntent[SpawnIntent](i)
			case DoneIntent:
				got, err = ReadIntent[DoneIntent](i)
			case LandIntent:
				got, err = ReadIntent[LandIntent](i)
			case CleanupIntent:
				got, err = ReadIntent[CleanupIntent](i)
			case PauseIntent:
				got, err = ReadIntent[PauseIntent](i)
			}

			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}
