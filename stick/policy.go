package stick

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Order says whom a release names next.
type Order string

const (
	// Fair names the member that has gone longest without holding the stick.
	Fair Order = "fair"
	// Sequence names the next member in the order of joining.
	Sequence Order = "sequence"
)

// Snapshots says whether a room keeps copies of uncommitted work.
type Snapshots string

const (
	// SnapshotsOn copies it. So does any word that this program doesn't know.
	SnapshotsOn Snapshots = "on"
	// SnapshotsOff copies nothing: what a command takes away is lost.
	SnapshotsOff Snapshots = "off"
)

// Policy holds the settings of a room.
type Policy struct {
	// OwnerLeaseTTL is how long a lease lasts if only its holder's calls renew it.
	OwnerLeaseTTL time.Duration
	// HeartbeatInterval is how often a guardian, or a client that nothing else vouches for,
	// renews the lease.
	HeartbeatInterval time.Duration
	// ClaimTTL is how long a pass waits for its recipient before others may take over.
	// It is also how long a grant may stay unacknowledged, and the time until a new round of offers.
	ClaimTTL time.Duration
	// PresenceTTL is how long a member counts as active after its last act.
	PresenceTTL time.Duration
	// WaiterGrace is how long a release waits for the member that it named, and the time between
	// two offers of a takeover.
	WaiterGrace time.Duration
	// OwnerIdleTTL is how long a holder whose process is alive may do nothing before it counts as idle.
	OwnerIdleTTL time.Duration
	// TurnMaxWait and EventsMaxWait limit a wait in one call of an MCP tool.
	TurnMaxWait   time.Duration
	EventsMaxWait time.Duration
	// Order says whom a release names next.
	Order Order
	// RequireContracts refuses messages that lack a field that their category asks for.
	RequireContracts bool
	// Enforce says how strictly the room applies its rules to edits.
	Enforce Enforce
	// EnforceCheckouts says in which checkouts, where a room has several.
	EnforceCheckouts EnforcedCheckouts
	// Snapshots says whether uncommitted work is copied around the calls of agents, and at a takeover.
	Snapshots Snapshots
	// NextTurn holds what applies from the next turn on.
	NextTurn Limits
}

// Limits are the limits that protect whoever has the stick. An agent may lower them, but not for a turn that
// another has: then they wait for the next turn. Zero means that a limit doesn't change.
type Limits struct {
	OwnerLeaseTTL time.Duration
	ClaimTTL      time.Duration
	WaiterGrace   time.Duration
	OwnerIdleTTL  time.Duration
}

// DefaultPolicy is the policy of a new room. Its durations suit real turns of work, which take twenty to
// thirty minutes.
func DefaultPolicy() Policy {
	return Policy{
		OwnerLeaseTTL:     45 * time.Minute,
		HeartbeatInterval: 5 * time.Minute,
		ClaimTTL:          20 * time.Minute,
		PresenceTTL:       4 * time.Hour,
		WaiterGrace:       10 * time.Second,
		OwnerIdleTTL:      45 * time.Minute,
		TurnMaxWait:       110 * time.Second,
		EventsMaxWait:     110 * time.Second,
		Order:             Fair,
		Enforce:           EnforceWarn,
		EnforceCheckouts:  HolderCheckout,
		Snapshots:         SnapshotsOn,
	}
}

// A PolicyKey is a row of the table of policies. Its value is a duration, one of a few words, or true or
// false.
type PolicyKey struct {
	Name     string
	Meaning  string
	duration func(*Policy) *time.Duration
	next     func(*Limits) *time.Duration // nil unless it is one of [Limits]
	words    []string
	word     func(*Policy) *string
	boolean  func(*Policy) *bool
}

// Words returns the words that the value can be; none if it is a duration.
func (k PolicyKey) Words() []string {
	if k.boolean != nil {
		return []string{"true", "false"}
	}
	return k.words
}

// PolicyKeys lists what can be set, in the order in which it is shown.
var PolicyKeys = []PolicyKey{
	{
		Name: "owner_lease_ttl", Meaning: "how long a lease lasts if only its holder's calls renew it",
		duration: func(p *Policy) *time.Duration { return &p.OwnerLeaseTTL },
		next:     func(l *Limits) *time.Duration { return &l.OwnerLeaseTTL },
	},
	{
		Name: "heartbeat_interval", Meaning: "how often a lease is renewed where no process vouches for it",
		duration: func(p *Policy) *time.Duration { return &p.HeartbeatInterval },
	},
	{
		Name: "claim_ttl", Meaning: "how long a pass waits for its recipient before others may take over",
		duration: func(p *Policy) *time.Duration { return &p.ClaimTTL },
		next:     func(l *Limits) *time.Duration { return &l.ClaimTTL },
	},
	{
		Name: "presence_ttl", Meaning: "how long a member counts as active after its last act",
		duration: func(p *Policy) *time.Duration { return &p.PresenceTTL },
	},
	{
		Name:     "waiter_grace",
		Meaning:  "how long the stick stays reserved after a release, and how long until the next waiting member is offered a takeover",
		duration: func(p *Policy) *time.Duration { return &p.WaiterGrace },
		next:     func(l *Limits) *time.Duration { return &l.WaiterGrace },
	},
	{
		Name:     "owner_idle_ttl",
		Meaning:  "how long a holder whose process is alive may do nothing before it counts as idle",
		duration: func(p *Policy) *time.Duration { return &p.OwnerIdleTTL },
		next:     func(l *Limits) *time.Duration { return &l.OwnerIdleTTL },
	},
	{
		Name: "wait_for_turn_max_wait", Meaning: "the longest wait for the turn in one call of an MCP tool",
		duration: func(p *Policy) *time.Duration { return &p.TurnMaxWait },
	},
	{
		Name: "wait_for_events_max_wait", Meaning: "the longest wait for events in one call of an MCP tool",
		duration: func(p *Policy) *time.Duration { return &p.EventsMaxWait },
	},
	{
		Name: "order", Meaning: "whom a release names next: fair or sequence",
		words: []string{string(Fair), string(Sequence)}, word: func(p *Policy) *string { return (*string)(&p.Order) },
	},
	{
		Name:    "require_contracts",
		Meaning: "true refuses messages that lack a field of their category; only a person may relax it",
		boolean: func(p *Policy) *bool { return &p.RequireContracts },
	},
	{
		Name: "enforce",
		Meaning: "who may edit without the stick: with off and warn everybody, but warn tells them; with scopes those " +
			"who have reserved the path; with stick nobody; only a person may relax it",
		words: strictnessWords(), word: func(p *Policy) *string { return (*string)(&p.Enforce) },
	},
	{
		Name: "enforce_checkouts",
		Meaning: "where edits need the stick if the members have several checkouts: holder means only in the " +
			"holder's, all means in each; " +
			"only a person may relax it",
		words: []string{string(HolderCheckout), string(AllCheckouts)},
		word:  func(p *Policy) *string { return (*string)(&p.EnforceCheckouts) },
	},
	{
		Name: "snapshots",
		Meaning: "whether tt copies uncommitted work before and after agents' tool calls, and at a takeover: on or off; " +
			"with off, work that a command destroys is lost; only a person may switch it off",
		words: []string{string(SnapshotsOn), string(SnapshotsOff)},
		word:  func(p *Policy) *string { return (*string)(&p.Snapshots) },
	},
}

const (
	minPolicyDuration = 100 * time.Millisecond
	maxPolicyDuration = 30 * 24 * time.Hour
)

// Get returns the value of a key as a command line would give it, and "" for an unknown key.
func (p Policy) Get(key string) string {
	for _, k := range PolicyKeys {
		switch {
		case k.Name != key:
		case k.duration != nil:
			return string(ShortDuration(*k.duration(&p)))
		case k.word != nil:
			return *k.word(&p)
		default:
			return strconv.FormatBool(*k.boolean(&p))
		}
	}

	return ""
}

// Set returns p with a key changed. It fails with [CodeUsage] for an unknown key, a value of the wrong
// kind, and a value out of range.
func (p Policy) Set(key, value string) (Policy, error) {
	i := slices.IndexFunc(PolicyKeys, func(k PolicyKey) bool { return k.Name == key })
	if i < 0 {
		return p, Errorf(CodeUsage, "there is no policy %q", Clip(key, 60)).With("field", "key").
			Hintf("did you mean %s? %s lists all", nearestMatch(key, policyNames()), Cmd("tt policy"))
	}

	k := PolicyKeys[i]
	switch {
	case k.word != nil:
		if !slices.Contains(k.words, value) {
			return p, Errorf(CodeUsage, "%s must be %s, not %q",
				key, Words(strings.Join(k.words, " or ")), Clip(value, 60)).With("field", key)
		}
		*k.word(&p) = value
	case k.boolean != nil:
		if value != "true" && value != "false" {
			return p, Errorf(CodeUsage, "%s must be true or false, not %q", key, Clip(value, 60)).With("field", key)
		}
		*k.boolean(&p) = value == "true"
	default:
		d, err := time.ParseDuration(value)
		if err != nil || d < minPolicyDuration || d > maxPolicyDuration {
			return p, Errorf(CodeUsage, "%s must be a duration from %s to %s such as 45m or 90s, not %q",
				key, ShortDuration(minPolicyDuration), ShortDuration(maxPolicyDuration), Clip(value, 60)).
				With("field", key)
		}

		*k.duration(&p) = d.Truncate(time.Millisecond)
		if k.next != nil {
			// A new value replaces the one that waits for the next turn.
			*k.next(&p.NextTurn) = 0
		}
	}
	return p, nil
}

// Next returns the value that a key will have from the next turn on, and "" if it stays as it is.
func (p Policy) Next(key string) string {
	for _, k := range PolicyKeys {
		if k.Name == key && k.next != nil && *k.next(&p.NextTurn) != 0 {
			return string(ShortDuration(*k.next(&p.NextTurn)))
		}
	}
	return ""
}

// delayLowered leaves the limits that p lowers as they were, and lowers them with the next turn.
func (p Policy) delayLowered(was Policy) Policy {
	for _, k := range PolicyKeys {
		if k.next != nil && *k.duration(&p) < *k.duration(&was) {
			*k.next(&p.NextTurn), *k.duration(&p) = *k.duration(&p), *k.duration(&was)
		}
	}
	return p
}

// applyPending applies what has waited for the next turn.
func (p Policy) applyPending() Policy {
	for _, k := range PolicyKeys {
		if k.next != nil && *k.next(&p.NextTurn) != 0 {
			*k.duration(&p) = *k.next(&p.NextTurn)
		}
	}

	p.NextTurn = Limits{}
	return p
}

// compareWith returns how q differs from p: what applies now, and what applies from the next turn on.
func (p Policy) compareWith(q Policy) (now, next map[string]Change) {
	now, next = map[string]Change{}, map[string]Change{}
	for _, k := range PolicyKeys {
		was, is := p.Get(k.Name), q.Get(k.Name)
		later, waits := p.Next(k.Name), q.Next(k.Name)
		switch {
		// A change that waits comes first: what applies now stays as it was.
		case later != waits && waits != "":
			next[k.Name] = Change{was, waits}
		case was != is:
			now[k.Name] = Change{was, is}
		case later != waits: // it no longer changes with the next turn
			now[k.Name] = Change{later, is}
		}
	}

	return now, next
}

// relaxedKey returns a key by which q asks less of agents than p, and "" if there is none.
func (p Policy) relaxedKey(q Policy) string {
	switch {
	case p.RequireContracts && !q.RequireContracts:
		return "require_contracts"
	case slices.Index(strictness, q.Enforce) < slices.Index(strictness, p.Enforce):
		return "enforce"
	case p.EnforceCheckouts == AllCheckouts && q.EnforceCheckouts != AllCheckouts:
		return "enforce_checkouts"
	case p.Snapshots != SnapshotsOff && q.Snapshots == SnapshotsOff:
		return "snapshots"
	}
	return ""
}

func strictnessWords() (words []string) {
	for _, e := range strictness {
		words = append(words, string(e))
	}
	return words
}

func policyNames() []string {
	names := make([]string, len(PolicyKeys))
	for i, k := range PolicyKeys {
		names[i] = k.Name
	}
	return names
}

// MarshalJSON writes each duration in milliseconds, under its name with "_ms" appended. What applies from the
// next turn on is written in the same way under "next_turn", and left out if it is nothing.
func (p Policy) MarshalJSON() ([]byte, error) {
	m, next := map[string]any{}, map[string]int64{}
	for _, k := range PolicyKeys {
		switch {
		case k.duration != nil:
			m[k.Name+"_ms"] = k.duration(&p).Milliseconds()
		case k.word != nil:
			m[k.Name] = *k.word(&p)
		default:
			m[k.Name] = *k.boolean(&p)
		}
		if k.next != nil && *k.next(&p.NextTurn) != 0 {
			next[k.Name+"_ms"] = k.next(&p.NextTurn).Milliseconds()
		}
	}

	if len(next) > 0 {
		m["next_turn"] = next
	}

	return json.Marshal(m)
}

// UnmarshalJSON reads what MarshalJSON writes. A key that is missing has its default; a room without enforce
// is older than [EnforceWarn], and enforces nothing.
func (p *Policy) UnmarshalJSON(b []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}

	*p = DefaultPolicy()

	// A stored policy without a word for it is older than the first one that warned.
	p.Enforce = EnforceOff
	next := map[string]int64{}

	if raw, ok := m["next_turn"]; ok {
		if err := json.Unmarshal(raw, &next); err != nil {
			return err
		}
	}

	for _, k := range PolicyKeys {
		var err error
		if k.next != nil {
			*k.next(&p.NextTurn) = time.Duration(next[k.Name+"_ms"]) * time.Millisecond
		}

		// Durations are kept in milliseconds, under a name that says so.
		raw, ok := m[k.Name]
		switch {
		case k.duration != nil:
			if raw, ok = m[k.Name+"_ms"]; ok {
				var ms int64
				err = json.Unmarshal(raw, &ms)
				*k.duration(p) = time.Duration(ms) * time.Millisecond
			}
		case !ok:
		case k.word != nil:
			err = json.Unmarshal(raw, k.word(p))
		default:
			err = json.Unmarshal(raw, k.boolean(p))
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// nearestMatch returns the candidate with the smallest edit distance to s.
func nearestMatch(s string, candidates []string) string {
	best, cost := "", 1<<30
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(s), c); d < cost {
			best, cost = c, d
		}
	}

	return best
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}

	for i := range len(a) {
		// One row of the table is enough: each cell needs its neighbours above and to the left.
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}

			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, diagonal+1)
		}
	}

	return row[len(b)]
}
