package stick_test

import (
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

func TestParseAgentID(t *testing.T) {
	for _, good := range []string{
		"a", "claude:3f9a12bc", "claude:3f9a12bc-2", "human:max.m_1", "human:Max", "my-agent-2:1", "humane",
		"ttyd:1", "toolbox", strings.Repeat("a", 64),
	} {
		a, err := stick.ParseAgentID(good)
		sticktest.Equal(t, good, a, stick.AgentID(good))
		sticktest.Equal(t, good+" is refused", stick.CodeOf(err), "")
	}

	for _, bad := range []string{
		"", "Claude:x", "a b", "a:", ":a", "a:b:c", "-a", "a\n", "a\x1b", "ä", strings.Repeat("a", 65),
	} {
		_, err := stick.ParseAgentID(bad)
		sticktest.Refused(t, err, stick.CodeUsage, nil)
	}

	for _, misleading := range []string{
		"tt", "tt:1", "tt2", "you", "you:04ecf5c3", "nobody", "hint", "git", "system:tt", "talking-stick",
		"the-person", "your.user:tt", "user",
		"human", "human.ann", "human-x:1", "human2:x",
	} {
		_, err := stick.ParseAgentID(misleading)
		sticktest.Refused(t, err, stick.CodeUsage, nil)
	}

	sticktest.Equal(t, "a person", stick.AgentID("human:x").Human(), true)
	sticktest.Equal(t, "no person", stick.AgentID("humane").Human(), false)
}

func TestProcess(t *testing.T) {
	p := stick.Process{Machine: "m", Boot: "b", PIDNS: "n", PID: 1, Start: 2}
	for name, q := range map[string]stick.Process{
		"machine":   {Machine: "x", Boot: "b", PIDNS: "n", PID: 1, Start: 2},
		"boot":      {Machine: "m", Boot: "x", PIDNS: "n", PID: 1, Start: 2},
		"namespace": {Machine: "m", Boot: "b", PIDNS: "x", PID: 1, Start: 2},
		"pid":       {Machine: "m", Boot: "b", PIDNS: "n", PID: 9, Start: 2},
		"start":     {Machine: "m", Boot: "b", PIDNS: "n", PID: 1, Start: 9},
	} {
		sticktest.Equal(t, name+": key", p.Key() == q.Key(), false)
		sticktest.Equal(t, name+": world", p.Comparable(q), name != "boot" && name != "namespace")
	}

	sticktest.Equal(t, "none", stick.Process{}.IsZero(), true)
	sticktest.Equal(t, "some", p.IsZero(), false)
}
