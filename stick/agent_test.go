package stick

import (
	"strings"
	"testing"
)

func TestParseAgentID(t *testing.T) {
	for _, good := range []string{"a", "claude:3f9a12bc", "claude:3f9a12bc-2", "human:max.m_1", "human:Max", "my-agent-2:1", "humane", "ttyd:1", "toolbox", strings.Repeat("a", 64)} {
		a, err := ParseAgentID(good)
		equal(t, good, a, AgentID(good))
		equal(t, good+" is refused", CodeOf(err), "")
	}
	for _, bad := range []string{"", "Claude:x", "a b", "a:", ":a", "a:b:c", "-a", "a\n", "a\x1b", "ä", strings.Repeat("a", 65)} {
		_, err := ParseAgentID(bad)
		refused(t, err, CodeUsage, nil)
	}
	for _, misleading := range []string{
		"tt", "tt:1", "tt2", "you", "you:04ecf5c3", "nobody", "hint", "git", "system:tt", "talking-stick", "the-person", "your.user:tt", "user",
		"human", "human.ann", "human-x:1", "human2:x",
	} {
		_, err := ParseAgentID(misleading)
		refused(t, err, CodeUsage, nil)
	}
	equal(t, "a person", AgentID("human:x").Human(), true)
	equal(t, "no person", AgentID("humane").Human(), false)
}

func TestProcess(t *testing.T) {
	p := Process{Machine: "m", Boot: "b", PIDNS: "n", PID: 1, Start: 2}
	for name, q := range map[string]Process{
		"machine":   {"x", "b", "n", 1, 2},
		"boot":      {"m", "x", "n", 1, 2},
		"namespace": {"m", "b", "x", 1, 2},
		"pid":       {"m", "b", "n", 9, 2},
		"start":     {"m", "b", "n", 1, 9},
	} {
		equal(t, name+": key", p.Key() == q.Key(), false)
		equal(t, name+": world", p.Comparable(q), name != "boot" && name != "namespace")
	}
	equal(t, "none", Process{}.IsZero(), true)
	equal(t, "some", p.IsZero(), false)
}
