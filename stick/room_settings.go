package stick

import (
	"slices"
	"strings"
)

// SetPolicy changes policies of a room; each change is "key=value". Only a person may relax one that asks
// something of agents. If an agent lowers one of [Limits] while another holds the stick or has it reserved,
// that applies from the next turn on. It fails with [CodeUsage] and [CodePersonOnly], and then changes
// nothing. A change to the current value makes no event.
func (r Room) SetPolicy(by AgentID, person bool, changes []string, now Time) (Room, []Event, error) {
	p := r.Policy
	for _, c := range changes {
		key, value, ok := strings.Cut(c, "=")
		if !ok {
			return r, nil, Errorf(CodeUsage, "%q isn't of the form key=value", Clip(c, 60)).
				Hintf("for example: %s", Cmd("tt policy set owner_lease_ttl=45m"))
		}

		var err error
		if p, err = p.Set(key, value); err != nil {
			return r, nil, err
		}
	}

	// An agent mustn't free itself from a rule that it is asked to keep.
	if key := r.Policy.relaxedKey(p); key != "" && !person {
		return r, nil, Errorf(CodePersonOnly, "only a person may relax %s", key).With("field", key).
			Hintf("ask a person to run it")
	}

	// Who has the stick was promised its limits.
	if !person && r.withAnother(by) {
		p = p.delayLowered(r.Policy)
	}
	if p == r.Policy {
		return r, nil, nil
	}

	var changed PolicyChangedPayload
	changed.Policy, changed.NextTurn = r.Policy.compareWith(p)
	r.Policy = p
	return r, []Event{r.NewEvent(EventPolicyChanged, by, r.Turn.Owner).WithPayload(changed)}, nil
}

// withAnother reports whether a member other than a holds the stick or has it reserved.
func (r Room) withAnother(a AgentID) bool {
	t := r.Turn
	return t.Owner != "" && t.Owner != a || t.ReservedFor != "" && t.ReservedFor != a
}

// Reorder changes the order of members. Those in order come first, the others follow in their present
// order. It fails with [CodeUnknownMember] and [CodeUsage].
func (r Room) Reorder(by AgentID, order []AgentID) (Room, []Event, error) {
	rank := map[AgentID]int{}
	for _, a := range order {
		if !r.IsJoined(a) {
			return r, nil, Errorf(CodeUnknownMember,
				"%s isn't a member of this room", Clip(string(a), 70)).With("agent_id", a).
				Hintf("see who is here: %s", Cmd("tt state"))
		}

		if _, twice := rank[a]; twice {
			return r, nil, Errorf(CodeUsage, "%s is named twice", a)
		}

		// Ranks are negative, so that whoever isn't named comes behind, in the present order.
		rank[a] = len(rank) - len(order)
	}

	// The sequence goes on behind the member that had its turn last, wherever it stands now.
	last := slices.IndexFunc(r.Members, func(m Member) bool { return m.Ordinal == r.Turn.SequenceIndex })
	ms := slices.Clone(r.Members)
	slices.SortStableFunc(ms, func(a, b Member) int { return rank[a.Agent] - rank[b.Agent] })

	var all []AgentID
	for i := range ms {
		ms[i].Ordinal = i + 1
		all = append(all, ms[i].Agent)
	}

	if slices.EqualFunc(ms, r.Members, func(a, b Member) bool { return a.Agent == b.Agent }) {
		return r, nil, nil
	}

	if last >= 0 { // the index follows its member
		i := slices.IndexFunc(ms, func(m Member) bool { return m.Agent == r.Members[last].Agent })
		r.Turn.SequenceIndex = ms[i].Ordinal
	}

	r.Members = ms
	return r, []Event{r.NewEvent(EventPolicyChanged, by, r.Turn.Owner).WithPayload(PolicyChangedPayload{
		Order: all,
	})}, nil
}
