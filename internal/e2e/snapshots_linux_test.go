package e2e

import (
	"strings"
	"testing"

	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/testenv"
)

// overwrite is a command that takes uncommitted work away without a word of git, or whose text doesn't say
// what it takes.
type overwrite struct {
	kind, command string
}

// overwrites are such commands, in the repository of [losing].
var overwrites = []overwrite{
	{kind: "a redirection", command: "echo new > notes.txt"},
	{kind: "an appended line", command: "echo more >> doc/guide.md"},
	{kind: "a pipe", command: "printf 'x\\n' | tee notes.txt src/parser.go >/dev/null"},
	{kind: "a copy", command: "cp src/lexer.go src/parser.go"},
	{kind: "a move", command: "mv src/parser.go doc/guide.md"},
	{kind: "a link", command: "ln -sf /etc/hostname notes.txt"},
	{kind: "sed", command: "sed -i 's/note/other/' notes.txt doc/guide.md"},
	{kind: "an interpreter", command: `perl -e 'for (glob "src/*.go") { open my $f, ">", $_; print $f "gone\n" }'`},
	{kind: "an interpreter that reads its program", command: "perl <<'END'\nunlink 'notes.txt', 'doc/guide.md';\nEND"},
	{kind: "a script", command: "printf 'rm -r doc\\necho x > src/lexer.go\\n' > ../run.sh; sh ../run.sh"},
	{kind: "a variable", command: "D=src; rm -r $D"},
	{kind: "a loop", command: "for f in src/*.go doc/*; do : > $f; done"},
	{kind: "find", command: "find . -path ./.git -prune -o -name '*.go' -exec truncate -s 0 {} +"},
	{kind: "xargs", command: "ls doc | sed 's,^,doc/,' | xargs rm"},
	{kind: "eval", command: `eval "$(printf 'rm %s' notes.txt)"`},
	{
		kind:    "an archive",
		command: "mkdir ../t && cp /etc/hostname ../t/notes.txt && tar cf ../t.tar -C ../t notes.txt && tar xf ../t.tar; rm -r ../t",
	},
	{
		kind:    "an older version",
		command: "git show HEAD:notes.txt > notes.txt; git show HEAD:src/lexer.go > src/lexer.go",
	},
	{kind: "git in a script", command: "printf 'git checkout -q -- .\\ngit clean -qfd\\n' > ../run.sh; bash ../run.sh"},
	{kind: "an alias of git", command: "git -c alias.zap='reset --hard --quiet' zap"},
	{
		kind:    "a whole tree",
		command: "cp -r . ../twin && git -C ../twin reset -q --hard && cp -r ../twin/. . && rm -r ../twin doc",
	},
	{kind: "a directory", command: "cd .. && rm -r \"$OLDPWD\"/src"},
	{kind: "a removed index", command: "sh -c 'rm .git/index notes.txt'"},
}

// TestHarnessSnapshots: a real harness runs commands beside the uncommitted work of another, in a room that
// only warns. Nobody can read from most of them what they take. The snapshot before each brings back every
// byte.
func TestHarnessSnapshots(t *testing.T) {
	testenv.LeavesToFull(t, *allPairs, "commands that take work away, the harnesses the other way round")
	realharness.Require(t, realharness.Claude, realharness.Codex)

	t.Parallel()
	for _, p := range losingPairs() {
		t.Run(p[0].Name+" beside "+p[1].Name, func(t *testing.T) {
			t.Parallel()
			l := newLosing(t, p[0], p[1])
			for _, c := range overwrites {
				l.clean()
				l.give(l.worker)
				l.works()
				if wrong := l.isKept(c.command); wrong != "" {
					t.Errorf("%s: %s", c.kind, wrong)
				}
			}
			l.end()
		})
	}
}

// isKept has the destroyer run a command, and says what the snapshot before it doesn't bring back.
func (l *losing) isKept(command string) string {
	l.t.Helper()
	before := l.look()
	said := l.destroyer.shell(command)
	if strings.Contains(said, "after you wrote it") { // it is told once that its own earlier write is out of date
		said = l.destroyer.shell(command)
	}
	if before.same(l.look()) == "" {
		return "it has taken nothing: " + said
	}

	id := snapshotBefore.FindStringSubmatch(l.person("calls", "--all", "--json"))
	if id == nil {
		return "no snapshot was made: " + said
	}

	l.git("reset", "-q", "--hard")
	l.git("clean", "-q", "-ffd")
	restored := l.person("rescue", "restore", id[1])
	if diff := before.same(l.look()); diff != "" {
		return "what comes back differs: " + diff + restored
	}

	return ""
}
