package e2e

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/testenv"
)

// loss is a way in which an agent takes another's work away, as people report it of several agents in one
// repository.
type loss struct {
	name    string
	command string                                           // what the destroyer runs
	call    func(l *losing) modelapi.Call                    // instead of command
	before  func(l *losing)                                  // before the worker works
	staged  func(l *losing)                                  // instead of what the worker leaves uncommitted
	denied  string                                           // matches what the model is told where the room denies; %s is the worker
	told    string                                           // where the room only warns
	heard   string                                           // what the worker is told then
	hear    func(l *losing) string                           // has the worker hear it, if not by its next hook
	after   func(l *losing, before seen, said string) string // what doesn't hold after it ran; instead of a rescue
	end     func(l *losing)                                  // after the round
	silent  bool                                             // the worker isn't told
	moves   bool                                             // another commit is checked out then: a person goes back to the first one for the rescue
	owned   string                                           // where the destroyer holds the stick: what it is told where the room denies; empty if it may do that
	always  bool                                             // also without -pairs
}

// What agents are told.
const (
	notYours = `(isn't|aren't) yours to change now: %s has (just taken the stick|held the stick)`
	takes    = `, which took .*, work of %s; a copy was kept before: tt rescue show `
	sweeping = `would sweep up uncommitted work of %s: notes\.txt`
	carrying = `the push carries along a commit of %s: [0-9a-f]+`
	taking   = `would take away uncommitted work of %s: `
)

// losses are the reported ones. The name of the worker comes where %s is.
var losses = []loss{
	{
		name: "reset --hard", command: "git reset --hard", denied: notYours,
		told: "ran \"?git reset --hard\"?" + takes, owned: "git reset --hard\"? " + taking, always: true,
	},
	{
		name: "checkout -- path", command: "git checkout -- notes.txt src", denied: notYours,
		told: "ran \"?git checkout.*" + takes, owned: "git checkout .*" + taking,
	},
	{
		name: "switch under a running task", command: "git switch elsewhere", denied: notYours,
		told: notYours, heard: "edited the working tree while you hold the stick",
		moves: true, always: true,
	},
	{
		name: "stash", command: "git stash --include-untracked", denied: notYours,
		told: "ran \"?git stash.*" + takes, owned: "git stash.* " + taking,
	},
	{
		name: "clean", command: "git clean -fd", denied: notYours, told: "ran \"?git clean -fd\"?" + takes,
		owned: "git clean -fd\"? " + taking, always: true,
	},
	{
		name: "pull --rebase", command: "git pull --quiet --rebase --autostash", before: (*losing).pushed,
		denied: notYours, told: notYours,
		heard: "edited the working tree while you hold the stick", moves: true,
	},
	{
		name: "a commit that sweeps twelve staged files", command: "git commit -q -a -m mine",
		staged: (*losing).stages, denied: sweeping,
		told: `swept up notes\.txt.*, work of %s`, owned: sweeping, after: (*losing).committed, always: true,
	},
	{
		name: "a push with another's commits", command: "git push -q origin main", before: (*losing).commits,
		denied: carrying, told: carrying, silent: true,
		owned: carrying, after: (*losing).unharmed,
	},
	{
		name: "rm -r", command: "rm -r src doc", denied: notYours, told: "ran \"?rm -r.*" + takes,
		owned: "rm -r.* " + taking,
	},
	{
		name: "a write to a sibling repository", command: "echo stray >../sibling/stray.txt",
		before: (*losing).heldNextDoor, denied: `stray\.txt ` + notYours,
		told: `stray\.txt ` + notYours, heard: `edited stray\.txt without the stick, which %s holds`,
		hear: (*losing).nextDoor, after: (*losing).unharmed, end: (*losing).leftNextDoor,
	},
	{
		name: "branch -D of a live task", call: (*losing).dropsBranch,
		before: func(l *losing) { l.spawn(l.worker) },
		denied: "is the worktree of task-[0-9]+, on which %s works",
		told:   "ran \"?git branch -D feat/task-[0-9]+\"? and \"?git update-ref -d refs/heads/feat/task-[0-9]+\"?, work of %s; the old commit is kept as ",
		after:  (*losing).keptTip, end: (*losing).cancel,
	},
	{
		name: "a worktree agent that writes to the main checkout", call: (*losing).strays,
		before: func(l *losing) { l.spawn(l.destroyer) },
		denied: `stray\.txt lies in the main checkout, and you work on task`,
		told:   `stray\.txt lies in the main checkout, and you work on task`,
		heard:  `edited stray\.txt`, after: (*losing).unharmed, end: (*losing).cancel, always: true,
	},
}

// TestHarnessLosses: what people report of several agents in one repository. Where the room denies edits, a
// real harness is kept from destroying another's uncommitted work. Where the room only warns, both are told,
// and every byte comes back.
func TestHarnessLosses(t *testing.T) {
	testenv.LeavesToFull(t, *allPairs,
		"the other losses, losses where the destroyer holds the stick, and the harnesses the other way round")
	realharness.Require(t, realharness.Claude, realharness.Codex)

	t.Parallel()
	for _, p := range losingPairs() {
		t.Run(p[0].Name+" takes what is "+p[1].Name+"'s", func(t *testing.T) {
			t.Parallel()
			l := newLosing(t, p[0], p[1])
			all := func(loss) bool { return true }
			l.each("told", all, l.isTold, l.worker) // which is what a new room does

			if *allPairs {
				owned := func(c loss) bool { return c.owned != "" }
				l.each("told, with the stick", owned, l.isTold, l.destroyer)
				l.policy("scopes")
				l.worker.shell(l.tt + " reserve notes.txt src doc")
				l.each("denied, with the stick", owned, func(c loss) string { return l.isDenied(c, c.owned) },
					l.destroyer)
			}

			l.policy("stick")
			l.each("denied", all, func(c loss) string { return l.isDenied(c, c.denied) }, l.worker)
			l.end()
		})
	}
}

// each plays those of the losses that are of a kind. On a busy machine a hook may have no answer in time:
// then it allows the call, and logs that. In this case the loss is played again.
func (l *losing) each(how string, of func(loss) bool, play func(loss) string, holder dialogued) {
	l.t.Helper()
	for _, c := range losses {
		if !of(c) || !c.always && !*allPairs {
			continue
		}

		for try := 1; ; try++ {
			l.clean()
			l.give(holder)
			if c.before != nil {
				c.before(l)
			}

			if c.staged != nil {
				c.staged(l)
			} else {
				l.works()
			}

			wrong := play(c)
			if c.end != nil {
				c.end(l)
			}
			if wrong == "" {
				break
			}

			if fault := strings.TrimPrefix(l.faults(), l.known); try == 5 || fault == "" {
				l.t.Errorf("%s, %s: %s", how, c.name, wrong)
				break
			}
			l.t.Logf("%s, %s: once more, since hooks have failed: %s", how, c.name, wrong)
		}
	}
}

// runs has the destroyer do it, and returns what its model gets.
func (l *losing) runs(c loss) string {
	l.t.Helper()
	if c.call != nil {
		return l.destroyer.do(c.call(l))
	}
	return l.destroyer.shell(c.command)
}

// matches reports whether a text has what is wanted of the worker.
func (l *losing) matches(text, want string) bool {
	return regexp.MustCompile(strings.ReplaceAll(want, "%s", regexp.QuoteMeta(l.nameOf(l.worker.id)))).MatchString(text)
}

// isDenied says what doesn't hold where the room denies.
func (l *losing) isDenied(c loss, want string) string {
	l.t.Helper()
	before := l.look()
	said := l.runs(c)
	if !l.matches(said, want) {
		return "it isn't denied: " + said
	}
	if diff := before.same(l.look()); diff != "" {
		return "it changed something: " + diff
	}

	return ""
}

// isTold says what doesn't hold where the room only warns.
func (l *losing) isTold(c loss) string {
	l.t.Helper()
	before := l.look()
	said := l.runs(c)
	if !l.matches(said, c.told) {
		return "it isn't told: " + said
	}

	if !c.silent {
		if heard, ok := l.hears(c); !ok {
			return "the other isn't told: " + heard
		}
	}

	if c.after != nil {
		return c.after(l, before, said)
	}
	if diff := before.same(l.look()); diff == "" && !c.moves {
		return "it has taken nothing: " + said
	}

	return l.comesBack(c, before, said)
}

// hears reports whether the worker is told, and of whom.
func (l *losing) hears(c loss) (heard string, ok bool) {
	l.t.Helper()
	want := cmp.Or(c.heard, c.told)
	if c.hear != nil {
		heard = c.hear(l)
	} else {
		heard = l.worker.shell("true")
	}

	return heard, l.matches(heard, want) && strings.Contains(heard, l.nameOf(l.destroyer.id))
}

// comesBack has a person restore what was taken, and says what differs then.
func (l *losing) comesBack(c loss, before seen, said string) string {
	l.t.Helper()
	id := rescued.FindStringSubmatch(said)
	if c.moves { // git takes the work along, so nobody is told of the snapshot before it
		id = snapshotBefore.FindStringSubmatch(l.person("calls", "--all", "--json"))
	}
	if id == nil {
		return "no copy was kept: " + said
	}

	if c.moves {
		l.git("reset", "-q", "--hard")
		l.git("switch", "-q", "-C", "main", "base")
		l.git("clean", "-q", "-ffd")
	}

	restored := l.person("rescue", "restore", id[1])
	if diff := before.same(l.look()); diff != "" {
		return "what comes back differs: " + diff + restored
	}

	return ""
}

// unharmed: a stray write took nothing of the worker's.
func (l *losing) unharmed(before seen, _ string) string {
	l.t.Helper()
	now := l.look()
	delete(now, "stray.txt")
	return before.same(now)
}

// pushed has the remote gain a commit.
func (l *losing) pushed() {
	l.t.Helper()
	commit := l.git("commit-tree", "main^{tree}", "-p", "main", "-m", "upstream")
	l.git("push", "-q", "origin", commit+":refs/heads/main")
}

// commits has the worker commit.
func (l *losing) commits() {
	l.t.Helper()
	l.worker.shell("git commit -q --allow-empty -m 'of the worker'")
}

// stages has the worker stage twelve files, and change one that is tracked.
func (l *losing) stages() {
	l.t.Helper()
	var b strings.Builder
	b.WriteString("mkdir -p doc; ")
	for i := range 12 {
		fmt.Fprintf(&b, "echo note %d >doc/note%d.md; ", l.round, i)
	}
	l.worker.shell(b.String() + fmt.Sprintf("git add doc; echo note %d >>notes.txt", l.round))
}

// committed: the files are as they were, and in the commit.
func (l *losing) committed(seen, string) string {
	l.t.Helper()
	if files := l.git("show", "--name-only", "--format=", "HEAD"); strings.Count(files, "note") != 13 {
		return "the commit has " + files
	}
	if diff := l.git("status", "--porcelain"); diff != "" {
		return "beside the commit there is " + diff
	}

	return ""
}

// heldNextDoor has the worker hold the stick of the sibling repository.
func (l *losing) heldNextDoor() {
	l.t.Helper()
	l.worker.shell("(cd " + l.sibling + " && " + l.tt + " try)")
}

func (l *losing) leftNextDoor() {
	l.t.Helper()
	l.worker.shell("(cd " + l.sibling + " && " + l.tt + ` release --status "so far" --next-action "go on")`)
}

// nextDoor is what the room of the sibling repository has for the worker, whose own session is in the other
// one.
func (l *losing) nextDoor() string {
	l.t.Helper()
	return l.run("events", "--event", "edit_told", "--path", l.sibling)
}

func (l *losing) task() string { return fmt.Sprintf("task-%d", l.round) }

// dropsBranch deletes the branch of the worker's task, also where git itself doesn't want to.
func (l *losing) dropsBranch() modelapi.Call {
	return modelapi.Shell(fmt.Sprintf("git branch -D feat/%[1]s || git update-ref -d refs/heads/feat/%[1]s", l.task()))
}

// keptTip: the commit of the branch is kept, and brings it back.
func (l *losing) keptTip(_ seen, said string) string {
	l.t.Helper()
	kept := keptAs.FindStringSubmatch(said)
	if kept == nil {
		return "no commit was kept: " + said
	}

	l.git("update-ref", "refs/heads/feat/"+l.task(), l.git("rev-parse", kept[1]))
	return ""
}

// strays writes into the main checkout by its absolute path, with the editor of the harness.
func (l *losing) strays() modelapi.Call {
	return modelapi.Write(filepath.Join(l.place.Repo, "stray.txt"), "stray\n")
}

func (l *losing) cancel() {
	l.t.Helper()
	l.run("worker", "cancel", l.task(), "--reason", "it was a test")
}
