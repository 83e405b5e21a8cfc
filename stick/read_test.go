package stick

import (
	"testing"
	"time"
)

func TestNotedRead_IsStale(t *testing.T) {
	was, is, none := FileState{Sum: "1", Size: 10}, FileState{Sum: "2", Size: 10}, FileState{}
	for _, tt := range []struct {
		name string
		read NotedRead
		now  FileState
		want bool
	}{
		{"as it was read", NotedRead{State: was}, was, false},
		{"the same bytes at another time", NotedRead{State: was}, FileState{Sum: "1", ModTime: 7}, false},
		{"other bytes of the same size", NotedRead{State: was}, is, true},
		{"gone", NotedRead{State: was}, none, false},
		{"never seen", NotedRead{}, is, false},
		{"refused over the same bytes", NotedRead{State: was, Refused: "2"}, is, false},
		{"refused over other bytes", NotedRead{State: was, Refused: "3"}, is, true},
	} {
		equal(t, tt.name, tt.read.IsStale(tt.now), tt.want)
	}
}

func TestRoom_HasCompany(t *testing.T) {
	seen := func(a AgentID, state MemberState, ago time.Duration) Member {
		return Member{Agent: a, State: state, LastSeenAt: start.Add(-ago)}
	}
	me := seen("a", Joined, 0)
	for _, tt := range []struct {
		name  string
		other Member
		want  bool
	}{
		{"another agent", seen("b", Joined, 0), true},
		{"another that has been idle for hours", seen("b", Joined, 23*time.Hour), true},
		{"another that nobody has seen for a day", seen("b", Joined, 24*time.Hour), false},
		{"another that has left", seen("b", Left, 0), false},
		{"a person", seen("human:ann", Joined, 0), false},
	} {
		equal(t, tt.name, Room{Members: []Member{me, tt.other}}.HasCompany("a", start), tt.want)
	}
	equal(t, "nobody else", Room{Members: []Member{me}}.HasCompany("a", start), false)
}

func TestEditedFile_LastEditor(t *testing.T) {
	one, two := FileState{Sum: "1"}, FileState{Sum: "2"}
	by := func(a AgentID) Editor { return Editor{Agent: a, At: start} }
	somebody := Editor{At: start}
	noted := EditedFile{Path: "a.go"}.Note(by("a"), one)
	claimed := noted
	claimed.Editors = append(claimed.Editors, Editor{Agent: "human:ann", Claim: true, At: start})
	for _, tt := range []struct {
		name string
		file EditedFile
		now  FileState
		want AgentID
	}{
		{"the only one", noted, one, "a"},
		{"the last of two", noted.Note(by("b"), two), two, "b"},
		{"the first again", noted.Note(by("b"), two).Note(by("a"), one), one, "a"},
		{"changed since it was noted", noted, two, ""},
		{"found changed", noted.Find(two, somebody), two, ""},
		{"found changed for a second time", noted.Find(two, somebody).Note(by("b"), one).Find(two, somebody), two, ""},
		{"a person has only said that it is theirs", claimed, one, "a"},
		{"never noted", EditedFile{}, one, ""},
	} {
		equal(t, tt.name, tt.file.LastEditor(tt.now).Agent, tt.want)
	}
}

func TestRoom_RefuseStale(t *testing.T) {
	read := NotedRead{Agent: "a", Path: "cart.go"}
	wrote, sub := read, read
	wrote.Wrote, sub.Helper = true, "s1"
	write := func(n NotedRead, a AgentID, helper string) StaleWrite {
		return StaleWrite{Read: n, By: Editor{Agent: a, Helper: helper}}
	}
	counted := write(read, "codex:b", "")
	counted.Counted, counted.Added, counted.Removed = true, 3, 1
	other := write(NotedRead{Agent: "a", Path: "b.go"}, "codex:b", "")

	const again = "read it again, then write what keeps these changes"
	for _, tt := range []struct {
		name   string
		writes []StaleWrite
		want   string // with its hint; empty if nothing is refused
	}{
		{"another agent", []StaleWrite{write(read, "codex:b", "")}, "codex:b changed cart.go after you read it: " + again},
		{"with the number of lines", []StaleWrite{counted}, "codex:b changed cart.go after you read it (+3 −1): " + again},
		{"after its own write", []StaleWrite{write(wrote, "codex:b", "")}, "codex:b changed cart.go after you wrote it: " + again},
		{"nobody knows who", []StaleWrite{write(read, "", "")}, "somebody changed cart.go after you read it: " + again},
		{"its sub-agent", []StaleWrite{write(read, "a", "s1")}, "a sub-agent of your session changed cart.go after you read it: " + again},
		{"another sub-agent", []StaleWrite{write(sub, "a", "s2")}, "a sub-agent of your session changed cart.go after you read it: " + again},
		{"the agent above", []StaleWrite{write(sub, "a", "")}, "the agent that started you changed cart.go after you read it: " + again},
		{"itself", []StaleWrite{write(read, "a", ""), write(sub, "a", "s1")}, ""},
		{"two files", []StaleWrite{write(read, "a", ""), counted, other}, "codex:b changed cart.go after you read it (+3 −1); also changed: b.go: read them again, then write what keeps these changes"},
		{"nothing", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, e := range []Enforce{EnforceOff, EnforceWarn, EnforceScopes, EnforceStick} {
				why := Room{Policy: Policy{Enforce: e}}.RefuseStale(tt.writes)
				if got := saidWithHint(why); e != EnforceOff && got != tt.want {
					t.Errorf("under %s: %q\nwant %q", e, got, tt.want)
				} else if e == EnforceOff && why != nil {
					t.Errorf("refused under off: %q", got)
				}
			}
		})
	}
}

// saidWithHint is a refusal with its hint, and nothing for none.
func saidWithHint(why *Error) string {
	if why == nil {
		return ""
	}
	return why.Message + ": " + why.Hint.String()
}
