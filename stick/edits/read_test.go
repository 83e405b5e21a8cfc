package edits_test

import (
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/sticktest"
)

func TestNotedRead_IsStale(t *testing.T) {
	was, is, none := edits.FileState{Sum: "1", Size: 10}, edits.FileState{Sum: "2", Size: 10}, edits.FileState{}
	for _, tt := range []struct {
		name string
		read edits.NotedRead
		now  edits.FileState
		want bool
	}{
		{"as it was read", edits.NotedRead{State: was}, was, false},
		{"the same bytes at another time", edits.NotedRead{State: was}, edits.FileState{Sum: "1", ModTime: 7}, false},
		{"other bytes of the same size", edits.NotedRead{State: was}, is, true},
		{"gone", edits.NotedRead{State: was}, none, false},
		{"never seen", edits.NotedRead{}, is, false},
		{"refused over the same bytes", edits.NotedRead{State: was, Refused: "2"}, is, false},
		{"refused over other bytes", edits.NotedRead{State: was, Refused: "3"}, is, true},
	} {
		sticktest.Equal(t, tt.name, tt.read.IsStale(tt.now), tt.want)
	}
}

func TestRoom_HasCompany(t *testing.T) {
	seen := func(a stick.AgentID, state stick.MemberState, ago time.Duration) stick.Member {
		return stick.Member{Agent: a, State: state, LastSeenAt: sticktest.Start.Add(-ago)}
	}
	me := seen("a", stick.Joined, 0)
	for _, tt := range []struct {
		name  string
		other stick.Member
		want  bool
	}{
		{"another agent", seen("b", stick.Joined, 0), true},
		{"another that has been idle for hours", seen("b", stick.Joined, 23*time.Hour), true},
		{"another that nobody has seen for a day", seen("b", stick.Joined, 24*time.Hour), false},
		{"another that has left", seen("b", stick.Left, 0), false},
		{"a person", seen("human:ann", stick.Joined, 0), false},
	} {
		sticktest.Equal(t, tt.name,
			edits.HasCompany(stick.Room{Members: []stick.Member{me, tt.other}}, "a", sticktest.Start),
			tt.want)
	}
	sticktest.Equal(t, "nobody else",
		edits.HasCompany(stick.Room{Members: []stick.Member{me}}, "a", sticktest.Start), false)
}

func TestEditedFile_LastEditor(t *testing.T) {
	one, two := edits.FileState{Sum: "1"}, edits.FileState{Sum: "2"}
	by := func(a stick.AgentID) edits.Editor { return edits.Editor{Agent: a, At: sticktest.Start} }
	somebody := edits.Editor{At: sticktest.Start}
	noted := edits.EditedFile{Path: "a.go"}.Note(by("a"), one)
	claimed := noted
	claimed.Editors = append(claimed.Editors, edits.Editor{Agent: "human:ann", Claim: true, At: sticktest.Start})

	for _, tt := range []struct {
		name string
		file edits.EditedFile
		now  edits.FileState
		want stick.AgentID
	}{
		{"the only one", noted, one, "a"},
		{"the last of two", noted.Note(by("b"), two), two, "b"},
		{"the first again", noted.Note(by("b"), two).Note(by("a"), one), one, "a"},
		{"changed since it was noted", noted, two, ""},
		{"found changed", noted.Find(two, somebody), two, ""},
		{"found changed for a second time", noted.Find(two, somebody).Note(by("b"), one).Find(two, somebody), two, ""},
		{"a person has only said that it is theirs", claimed, one, "a"},
		{"never noted", edits.EditedFile{}, one, ""},
	} {
		sticktest.Equal(t, tt.name, tt.file.LastEditor(tt.now).Agent, tt.want)
	}
}

func TestRoom_RefuseStale(t *testing.T) {
	read := edits.NotedRead{Agent: "a", Path: "cart.go"}
	wrote, sub := read, read
	wrote.Wrote, sub.Helper = true, "s1"
	write := func(n edits.NotedRead, a stick.AgentID, helper string) edits.StaleWrite {
		return edits.StaleWrite{Read: n, By: edits.Editor{Agent: a, Helper: helper}}
	}
	counted := write(read, "codex:b", "")
	counted.Counted, counted.Added, counted.Removed = true, 3, 1
	other := write(edits.NotedRead{Agent: "a", Path: "b.go"}, "codex:b", "")

	const again = "read it again, then write what keeps these changes"
	for _, tt := range []struct {
		name   string
		writes []edits.StaleWrite
		want   string // with its hint; empty if nothing is refused
	}{
		{
			"another agent",
			[]edits.StaleWrite{write(read, "codex:b", "")},
			"codex:b changed cart.go after you read it: " + again,
		},
		{
			"with the number of lines",
			[]edits.StaleWrite{counted},
			"codex:b changed cart.go after you read it (+3 −1): " + again,
		},
		{
			"after its own write",
			[]edits.StaleWrite{write(wrote, "codex:b", "")},
			"codex:b changed cart.go after you wrote it: " + again,
		},
		{
			"nobody knows who",
			[]edits.StaleWrite{write(read, "", "")},
			"somebody changed cart.go after you read it: " + again,
		},
		{
			"its sub-agent",
			[]edits.StaleWrite{write(read, "a", "s1")},
			"a sub-agent of your session changed cart.go after you read it: " + again,
		},
		{
			"another sub-agent",
			[]edits.StaleWrite{write(sub, "a", "s2")},
			"a sub-agent of your session changed cart.go after you read it: " + again,
		},
		{
			"the agent above",
			[]edits.StaleWrite{write(sub, "a", "")},
			"the agent that started you changed cart.go after you read it: " + again,
		},
		{"itself", []edits.StaleWrite{write(read, "a", ""), write(sub, "a", "s1")}, ""},
		{
			"two files",
			[]edits.StaleWrite{write(read, "a", ""), counted, other},
			"codex:b changed cart.go after you read it (+3 −1); also changed: b.go: read them again, then write what keeps these changes",
		},
		{"nothing", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, e := range []stick.Enforce{
				stick.EnforceOff, stick.EnforceWarn, stick.EnforceScopes, stick.EnforceStick,
			} {
				why := edits.RefuseStale(stick.Room{Policy: stick.Policy{Enforce: e}}, tt.writes)
				if got := saidWithHint(why); e != stick.EnforceOff && got != tt.want {
					t.Errorf("under %s: %q\nwant %q", e, got, tt.want)
				} else if e == stick.EnforceOff && why != nil {
					t.Errorf("refused under off: %q", got)
				}
			}
		})
	}
}

// saidWithHint is a refusal with its hint, and nothing for none.
func saidWithHint(why *stick.Error) string {
	if why == nil {
		return ""
	}
	return why.Message + ": " + why.Hint.String()
}
