package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"talkingstick/stick"
)

// maxWakeTime is how soon a waiting process must get its answer. It takes a few milliseconds, or longer on a
// busy machine. Whoever wasn't woken would read again after 1.6 s at the earliest.
const maxWakeTime = 1500 * time.Millisecond

// grant is the part of a grant's JSON that the scene reads.
type grant struct {
	Status   stick.WaitStatus `json:"status"`
	Reason   string           `json:"reason"`
	Agent    stick.AgentID    `json:"agent_id"`
	Turn     int64            `json:"turn_id"`
	Lease    stick.LeaseID    `json:"lease_id"`
	Handoff  *stick.Handoff   `json:"handoff"`
	Recovery *struct {
		Handoff stick.Handoff `json:"handoff"`
		From    stick.AgentID `json:"from_agent_id"`
		Since   []string      `json:"since"`
	} `json:"recovery"`
}

// state is the part of a room's JSON that the scene reads.
type state struct {
	State   stick.RoomState `json:"state"`
	Turn    int64           `json:"turn_id"`
	Owner   *stick.AgentID  `json:"owner"`
	Members []struct {
		Agent     stick.AgentID `json:"agent_id"`
		Listening stick.Purpose `json:"listening"`
	} `json:"members"`
}

// isListening reports whether an actor waits for its turn.
func (s state) isListening(name string) bool {
	for _, m := range s.Members {
		if strings.HasPrefix(string(m.Agent), name+":") && m.Listening == stick.Work {
			return true
		}
	}
	return false
}

// cast is everybody in the scene, and what the steps leave for those after them.
type cast struct {
	claude, codex, gemini, opencode, qwen, you *actor

	ids           map[string]stick.AgentID // by the names of actors
	first, second grant                    // the turns of claude and gemini
	prices, cart  string                   // what codex and gemini have written and not committed
	commit        string                   // that waits for the review
}

// part is one step of the scene.
type part struct {
	title string
	play  func() error
	why   string // it matters
}

// parts returns the steps, from the first join to the log.
func (s *scene) parts() []part {
	return []part{
		{
			"You and five agents open one repository", s.joinRoom,
			"agents find each other without names to hand out and without a server.",
		},
		{
			"Two agents edit one checkout, and a third waits", s.editTogether,
			"no two agents write the same file, and a wait costs no tokens.",
		},
		{
			"claude hands over, and gemini wakes", s.handOver,
			"the next agent starts from what was done and what comes next.",
		},
		{
			"A turn that is over changes nothing", s.useOldTurn,
			"an agent that comes back late can't overwrite the work of the next one.",
		},
		{
			"git reset --hard beside another's work is refused", s.refuseReset,
			"git can't bring back what was never committed.",
		},
		{
			"A script takes the work, and you undo that", s.undoScript,
			"nobody can read every script, so tt copies uncommitted work before each command.",
		},
		{
			"gemini is killed while it has the stick", s.killHolder,
			"nobody waits for an agent that is gone, and nobody loses a turn by mistake.",
		},
		{
			"claude takes over, and nothing is lost", s.takeOver,
			"a crash costs neither the handoff nor half-done work.",
		},
		{
			"A task gets a branch and a worktree", s.workOnTask,
			"there, agents work at the same time, and nobody needs the stick.",
		},
		{
			"You review the commit", s.reviewTask,
			"nothing lands that nobody has looked at.",
		},
		{
			"The merge queue lands it", s.landTask,
			"your tests ran on exactly the commit that main moved to.",
		},
		{
			"The log has all of it", s.showLog,
			"you can see later who did what, and in which order.",
		},
	}
}

// play plays the scene.
func (s *scene) play() error {
	s.printText("", "1", "Talking Stick: several coding agents, one repository, and nobody's work gets lost.")
	s.printText("", "", "Everything below is real: processes named claude, codex, gemini, opencode and qwen, and you, run tt in "+s.repo)

	for _, p := range s.parts() {
		if err := s.beginStep(s.ctx, p.title, p.why); err != nil {
			return err
		}
		if err := p.play(); err != nil {
			return err
		}
		s.showWhy()
	}
	return nil
}

// joinRoom makes the person set up the room, and the agents join it.
func (s *scene) joinRoom() error {
	if err := s.startActors(); err != nil {
		return err
	}

	if _, err := s.runCommand(tt(s.you, "init", "--enforce", "scopes", "--harness", "none").showing("room ", "edits ")); err != nil {
		return err
	}

	s.ids = map[string]stick.AgentID{}
	var names []string
	for _, a := range s.agents() {
		// The claim has the names.
		if _, err := s.runCommand(tt(a, "join").showing()); err != nil {
			return err
		}

		var who grant
		if err := s.runJSON(a, &who, "whoami"); err != nil {
			return err
		}
		s.ids[a.name], names = who.Agent, append(names, string(who.Agent))
	}

	named := !slices.ContainsFunc(s.agents(), func(a *actor) bool {
		return !strings.HasPrefix(string(s.ids[a.name]), a.name+":")
	})
	return s.checkClaim(named, fmt.Sprint(s.ids),
		"they met in one room as %s: tt found out which harness each of them runs in", strings.Join(names, ", "))
}

// startActors starts everybody's process.
func (s *scene) startActors() (err error) {
	for _, a := range []struct {
		name string
		as   **actor
	}{
		{"claude", &s.claude},
		{"codex", &s.codex},
		{"gemini", &s.gemini},
		{"opencode", &s.opencode},
		{"qwen", &s.qwen},
		{Person, &s.you},
	} {
		if *a.as, err = s.startActor(a.name); err != nil {
			return err
		}
	}

	// Where an agent has started the demo, every process below it is the agent's.
	var who grant
	if err := s.runJSON(s.you, &who, "whoami"); err != nil {
		return err
	}
	if !who.Agent.Human() {
		s.you.stop()
		s.you, err = s.startActor(Person, "--apart")
	}
	return err
}

// agents are the actors that play harnesses.
func (s *scene) agents() []*actor {
	return []*actor{s.claude, s.codex, s.gemini, s.opencode, s.qwen}
}

// showLog shows the log.
func (s *scene) showLog() error {
	if _, err := s.runCommand(tt(s.you, "log").showing("took over", "undid", "merged")); err != nil {
		return err
	}

	var log struct {
		Events []stick.Event `json:"events"`
	}
	if err := s.runJSON(s.you, &log, "events"); err != nil {
		return err
	}

	var got []stick.EventType
	for _, e := range log.Events {
		got = append(got, e.Type)
	}
	if err := s.checkClaim(s.wasPlayed(got), fmt.Sprint(got),
		"%d events, in the order in which they happened", len(got)); err != nil {
		return err
	}

	var doctor struct {
		Healthy bool `json:"healthy"`
	}
	if err := s.runJSON(s.claude, &doctor, "doctor"); err != nil {
		return err
	}

	return s.checkClaim(doctor.Healthy, "tt doctor found faults",
		"tt doctor finds nothing wrong: the room's state follows from its log, event by event")
}

// wasPlayed reports whether these are the types of the scene's events. A person who watches in a browser may
// have added some.
func (s *scene) wasPlayed(got []stick.EventType) bool {
	want := wantedEvents(s.returned)
	if s.report.Pages == "" {
		return slices.Equal(got, want)
	}

	for _, e := range got {
		if len(want) > 0 && e == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// wantedEvents returns the types of all events of the scene, if the review has returned the task so often.
func wantedEvents(returned int) []stick.EventType {
	all := []stick.EventType{
		stick.EventJoin, stick.EventPolicyChanged, // you
		stick.EventJoin, stick.EventJoin, stick.EventJoin, stick.EventJoin, stick.EventJoin, // the agents
		stick.EventClaim, stick.EventReserved, stick.EventRelease, stick.EventClaim,
		stick.EventStickDenied, stick.EventWorkTaken, stick.EventCallUndone,
		stick.EventTakeover, stick.EventWorkTaken, stick.EventRelease,
		stick.EventTaskAssigned, stick.EventTaskStarted, stick.EventTaskReviewRequested,
	}
	for range returned {
		all = append(all, stick.EventTaskChangesRequested, stick.EventMessageSent, stick.EventTaskReviewRequested)
	}
	return append(all, stick.EventTaskApproved, stick.EventTaskMergeStarted, stick.EventTaskCompleted)
}
