package tui

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"

	"talkingstick/internal/engine"
	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// agentLines lists those who do something in a room, or could: the holder of the stick first, then those who
// need somebody.
func (s *canvas) agentLines(r *monitor.Room) (lines []line) {
	holder := cmp.Or(deref(r.State.Owner), deref(r.State.ReservedFor))
	order := []presence.AgentState{
		presence.AgentAsks, presence.AgentWorks, presence.AgentWaits, presence.AgentRests, presence.AgentIdle,
		presence.AgentUnknown, presence.AgentGone,
	}

	members := slices.Clone(r.State.Members)
	rank := func(m engine.RoomMember) int {
		if m.AgentID == holder {
			return -1
		}
		return slices.Index(order, activityOf(m))
	}

	slices.SortStableFunc(members, func(a, b engine.RoomMember) int { return rank(a) - rank(b) })

	// Agents that are gone are only counted. Who has left, and people who do nothing here, are left out.
	left := 0
	for _, m := range members {
		switch {
		case m.AgentID == holder:
		case m.State != stick.Joined || activityOf(m) == "":
			continue
		case activityOf(m) == presence.AgentGone:
			left++
			continue
		}

		lines = append(lines, s.agentLine(r, m, m.AgentID == holder))
	}

	if left > 0 && s.isTall() {
		lines = append(lines, textLine(faint, "  %s gone", stick.Count(left, "agent")))
	}

	return lines
}

// activityOf is what a member does; empty for a person who does nothing.
func activityOf(m engine.RoomMember) presence.AgentState {
	if m.Activity == nil {
		return ""
	}
	return m.Activity.State
}

// stateHues are the hues of what agents do.
var stateHues = map[presence.AgentState]hue{
	presence.AgentWorks:   good,
	presence.AgentAsks:    asks,
	presence.AgentWaits:   place,
	presence.AgentRests:   faint,
	presence.AgentIdle:    faint,
	presence.AgentGone:    bad,
	presence.AgentUnknown: faint,
}

// nameHues tell agents apart beside their names: the colours of a terminal that mean nothing else in a list of agents.
var nameHues = []hue{"34", "35", "36", "1;34", "1;35", "1;36"}

// nameHue is the hue of an agent's name, the same for as long as it has that name.
func nameHue(m engine.RoomMember) hue {
	if m.Name == "" {
		return ""
	}

	sum := fnv.New32a()
	_, _ = sum.Write([]byte(m.Name))
	return nameHues[sum.Sum32()%uint32(len(nameHues))]
}

// agentLine is the line of an agent in a room.
func (s *canvas) agentLine(r *monitor.Room, m engine.RoomMember, holds bool) line {
	name, state, age := s.columnWidths()
	l := line{key: agentKey(r, m.AgentID)}
	sign := term.Text("  ")
	if holds {
		sign = "* "
	}

	l.cells = []cell{
		{text: sign, hue: good}, {text: term.Textf("%s", m.AgentID), hue: nameHue(m), width: name}, {text: " "},
	}

	// A person who holds the stick has no hooks that would say what it does.
	a := m.Activity
	if a == nil {
		l.cells = append(l.cells,
			cell{text: "has the stick", width: state},
			cell{text: term.Textf("%s", s.ageText(r.State.GrantedAt)), width: age})
		return l
	}

	l.cells = append(l.cells,
		cell{text: term.Textf("%s", a.State.Words()), hue: stateHues[a.State], width: state},
		cell{text: term.Textf("%s", s.ageText(a.Since)), width: age})

	// What else there is comes last, where a narrow screen cuts it.
	var more []string
	if m.Role == stick.RoleHelper {
		more = append(more, "helper")
	}

	switch a.State {
	case presence.AgentWorks, presence.AgentAsks:
		if what := strings.TrimSpace(a.Tool + " " + a.File); what != "" {
			more = append(more, what)
		}
	case presence.AgentIdle:
		if a.Silent {
			more = append(more, "since its last sign")
		}
	}

	if m.Owes > 0 {
		more = append(more, string("owes "+stick.Count(m.Owes, "answer")))
	}
	if holds && r.State.NextActionOfTurn != "" {
		more = append(more, "next: "+r.State.NextActionOfTurn)
	}

	l.cells = append(l.cells, cell{text: term.Textf("%s", strings.Join(more, "; ")), hue: faint})
	return l
}

func agentKey(r *monitor.Room, a stick.AgentID) string {
	return "agent " + string(r.ID()) + " " + string(a)
}
