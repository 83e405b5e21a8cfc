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
		Enforce:           EnforceOff,
	}
}

// A PolicyKey is a row of the table of policies. Its value is a duration, one of a few words, or true or
// false.
type PolicyKey struct {
	Name     string
	Meaning  string
	duration func(*Policy) *time.Duration
	words    []string
	word     func(*Policy) *string
	yes      func(*Policy) *bool
}

// Words returns the words that the value can be; none if it is a duration.
func (k PolicyKey) Words() []string {
	if k.yes != nil {
		return []string{"true", "false"}
	}
	return k.words
}

// PolicyKeys lists what can be set, in the order in which it is shown.
var PolicyKeys = []PolicyKey{
	{
		Name: "owner_lease_ttl", Meaning: "how long a lease lasts if only its holder's calls renew it",
		duration: func(p *Policy) *time.Duration { return &p.OwnerLeaseTTL },
	},
	{
		Name: "heartbeat_interval", Meaning: "how often a lease is renewed where no process vouches for it",
		duration: func(p *Policy) *time.Duration { return &p.HeartbeatInterval },
	},
	{
		Name: "claim_ttl", Meaning: "how long a pass waits for its recipient before others may take over",
		duration: func(p *Policy) *time.Duration { return &p.ClaimTTL },
	},
	{
		Name: "presence_ttl", Meaning: "how long a member counts as active after its last act",
		duration: func(p *Policy) *time.Duration { return &p.PresenceTTL },
	},
	{
		Name: "waiter_grace", Meaning: "how long the stick stays reserved after a release, and how long until the next waiting member is offered a takeover",
		duration: func(p *Policy) *time.Duration { return &p.WaiterGrace },
	},
	{
		Name: "owner_idle_ttl", Meaning: "how long a holder whose process is alive may do nothing before it counts as idle",
		duration: func(p *Policy) *time.Duration { return &p.OwnerIdleTTL },
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
		Name: "require_contracts", Meaning: "true refuses messages that lack a field of their category; only a person may relax it",
		yes: func(p *Policy) *bool { return &p.RequireContracts },
	},
	{
		Name: "enforce", Meaning: "who may edit: off lets everybody, stick only the holder, scopes also those who have reserved the path; " +
			"only a person may relax it",
		words: []string{string(EnforceOff), string(EnforceStick), string(EnforceScopes)}, word: func(p *Policy) *string { return (*string)(&p.Enforce) },
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
			return shortDuration(*k.duration(&p))
		case k.word != nil:
			return *k.word(&p)
		default:
			return strconv.FormatBool(*k.yes(&p))
		}
	}
	return ""
}

// Set returns p with a key changed. It fails with [CodeUsage] for an unknown key, a value of the wrong
// kind, and a value out of range.
func (p Policy) Set(key, value string) (Policy, error) {
	i := slices.IndexFunc(PolicyKeys, func(k PolicyKey) bool { return k.Name == key })
	if i < 0 {
		return p, Errorf(CodeUsage, "there is no policy %q", clip(key, 60)).With("field", "key").
			Hintf("did you mean %s? %s lists all", nearest(key, policyNames()), Cmd("tt policy"))
	}
	k := PolicyKeys[i]
	switch {
	case k.word != nil:
		if !slices.Contains(k.words, value) {
			return p, Errorf(CodeUsage, "%s must be %s, not %q", key, strings.Join(k.words, " or "), clip(value, 60)).With("field", key)
		}
		*k.word(&p) = value
	case k.yes != nil:
		if value != "true" && value != "false" {
			return p, Errorf(CodeUsage, "%s must be true or false, not %q", key, clip(value, 60)).With("field", key)
		}
		*k.yes(&p) = value == "true"
	default:
		d, err := time.ParseDuration(value)
		if err != nil || d < minPolicyDuration || d > maxPolicyDuration {
			return p, Errorf(CodeUsage, "%s must be a duration from %s to %s such as 45m or 90s, not %q",
				key, shortDuration(minPolicyDuration), shortDuration(maxPolicyDuration), clip(value, 60)).With("field", key)
		}
		*k.duration(&p) = d.Truncate(time.Millisecond)
	}
	return p, nil
}

// relaxed returns a key by which q asks less of agents than p, and "" if there is none.
func (p Policy) relaxed(q Policy) string {
	strict := []Enforce{EnforceOff, EnforceScopes, EnforceStick}
	switch {
	case p.RequireContracts && !q.RequireContracts:
		return "require_contracts"
	case slices.Index(strict, q.Enforce) < slices.Index(strict, p.Enforce):
		return "enforce"
	}
	return ""
}

func policyNames() []string {
	names := make([]string, len(PolicyKeys))
	for i, k := range PolicyKeys {
		names[i] = k.Name
	}
	return names
}

// MarshalJSON writes each duration in milliseconds, under its name with "_ms" appended.
func (p Policy) MarshalJSON() ([]byte, error) {
	m := map[string]any{}
	for _, k := range PolicyKeys {
		switch {
		case k.duration != nil:
			m[k.Name+"_ms"] = k.duration(&p).Milliseconds()
		case k.word != nil:
			m[k.Name] = *k.word(&p)
		default:
			m[k.Name] = *k.yes(&p)
		}
	}
	return json.Marshal(m)
}

// UnmarshalJSON reads what MarshalJSON writes. A key that is missing has its default.
func (p *Policy) UnmarshalJSON(b []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	*p = DefaultPolicy()
	for _, k := range PolicyKeys {
		var err error
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
			err = json.Unmarshal(raw, k.yes(p))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nearest returns the candidate with the smallest edit distance to s.
func nearest(s string, candidates []string) string {
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
