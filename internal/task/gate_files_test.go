package task_test

import (
	"strings"
	"testing"

	"talkingstick/internal/storetest"
	"talkingstick/internal/task"
	"talkingstick/internal/testenv"
)

// TestGateFiles_Which is marked where a task changes it: the file that sets it, what its command names,
// and what it protects. What it is, the integration branch says.
func TestGateFiles_Which(t *testing.T) {
	storetest.SkipQuick(t, "files that belong to the gate")

	testenv.Alone(t)

	for _, c := range testenv.Nth(t, "gates and what belongs to them", 3, []struct {
		name    string
		gate    string // the section [gate] on the integration branch
		changes string // the files that the task changes
		want    string
	}{
		{"no gate", "", "gate.sh other", ""},
		{"the file that sets it", "", ".talking-stick.toml other", ".talking-stick.toml"},
		{"a script that is called by its path", "command = 'sh ./gate.sh --fast'", "gate.sh other", "gate.sh"},
		{
			"a script within quotes and after an assignment",
			`command = '''CI=1 RUN=ci/run.sh sh -c "ci/all.sh && exit"'''`,
			"ci/run.sh ci/all.sh other",
			"ci/all.sh ci/run.sh",
		},
		{
			"a path with a blank, within quotes",
			`command = '''sh "ci/my run.sh"'''`,
			"ci/my_run.sh other",
			"ci/my run.sh",
		},
		{"a directory that is named isn't a file", "command = 'make -C ci test'", "ci/run.sh", ""},
		{"a word that names no file of the branch", "command = 'make test'", "test other", ""},
		{
			"what is protected",
			"command = 'make'\nprotect = ['ci/**', 'Makefile']",
			"ci/run.sh ci/new.sh other Makefile",
			"Makefile ci/new.sh ci/run.sh",
		},
		{"outside of the repository", "command = '../gate.sh /etc/passwd'", "gate.sh", ""},
	}) {
		t.Run(c.name, func(t *testing.T) {
			s, ann, bob := cast(t, "")
			files := []string{"gate.sh", "ci/run.sh", "ci/all.sh", "ci/my run.sh", "other", "Makefile"}
			for _, f := range files {
				s.File(f, "was\n")
			}
			s.Git(append([]string{"add", "--"}, files...)...) // they are part of the next commit
			s.Commit(".talking-stick.toml", "[gate]\n"+c.gate+"\n")
			s.Git("branch", "-f", "integration", "main")
			ann.Spawn("one").OK()
			work := ann.WorksOn("one")
			for f := range strings.FieldsSeq(c.changes) {
				// also if it is the file that sets the gate
				work.Commits(strings.ReplaceAll(f, "_", " "), "# is\n[gate]\n")
			}
			work.Done("").OK()
			named := func(all []string) string { return strings.Join(all, " ") }
			shown := bob.WorkerShow(task.WorkerShowParams{TaskID: "one"}).OK()
			s.Check(named(shown.GateFiles) == c.want && shown.ChangesGate == (c.want != ""), "show has %q",
				shown.GateFiles)
			diff := bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK()
			s.Check(named(diff.GateFiles) == c.want && diff.ChangesGate == (c.want != ""), "diff has %q",
				diff.GateFiles)
			listed := bob.WorkerStatus(task.WorkerStatusParams{}).OK().Tasks[0]
			s.Check(named(listed.GateFiles) == c.want && listed.ChangesGate == (c.want != ""), "status has %q",
				listed.GateFiles)
			approved := bob.WorkerApprove(task.WorkerApproveParams{TaskID: "one"}).OK()
			s.Check(named(approved.GateFiles) == c.want && (approved.Note != "") == (c.want != ""),
				"approve has %q, and notes %q", approved.GateFiles, approved.Note)
		})
	}
}

// TestGateFiles_CurrentMark: the marks of show and diff follow the settings of the integration branch and the
// newest commit of the task.
func TestGateFiles_CurrentMark(t *testing.T) {
	s, ann, bob := cast(t, "")
	s.Commit("gate.sh", "was\n")
	s.Git("branch", "-f", "integration", "main")
	ann.Spawn("one").OK()
	work := ann.WorksOn("one")
	work.Commits("gate.sh", "is\n")
	work.Done("").OK()
	s.Check(len(bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK().GateFiles) == 0, "it is no gate's file")
	work.Commits(".talking-stick.toml", "[gate]\nprotect = ['gate.sh']\n") // the task's own settings say nothing
	diff := bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK()
	s.Check(strings.Join(diff.GateFiles, " ") == ".talking-stick.toml", "%q", diff.GateFiles)
	s.Commit(".talking-stick.toml", "[gate]\nprotect = ['gate.sh']\n")
	s.Git("branch", "-f", "integration", "main")
	diff = bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK()
	s.Check(strings.Join(diff.GateFiles, " ") == ".talking-stick.toml gate.sh", "%q", diff.GateFiles)
	s.Commit(".talking-stick.toml", "[gate]\ncommand = 7\n")
	s.Git("branch", "-f", "integration", "main")
	diff = bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK()
	s.Check(strings.Join(diff.GateFiles, " ") == ".talking-stick.toml", "with settings that can't be read: %q",
		diff.GateFiles)
	s.Git("branch", "-D", "-q", "integration")
	diff = bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK()
	s.Check(strings.Join(diff.GateFiles, " ") == ".talking-stick.toml", "without the branch: %q", diff.GateFiles)
}
