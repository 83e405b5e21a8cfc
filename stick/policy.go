package stick

import (
	"encoding/json"
	"slices"
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

// Policy holds what a room may set for itself.
type Policy struct {
	// OwnerLeaseTTL is how long a lease lives that nothing but its owner's calls keep.
	OwnerLeaseTTL time.Duration
	// HeartbeatInterval is how often a guardian, or a client that nothing else vouches for,
	// renews the lease.
	HeartbeatInterval time.Duration
	// ClaimTTL is how long a pass waits for its recipient before others may take over.
	ClaimTTL time.Duration
	// PresenceTTL is how long a member counts as active after its last act.
	PresenceTTL time.Duration
	// WaiterGrace is how long a release waits for the one it named, and the distance between
	// two offers of a takeover.
	WaiterGrace time.Duration
	// OwnerIdleTTL is how long an owner whose process lives may do nothing.
	OwnerIdleTTL time.Duration
	// Order says whom a release names next.
	Order Order
}

// DefaultPolicy is the policy of a new room. The durations are sized for real turns of work,
// which run for twenty to thirty minutes.
func DefaultPolicy() Policy {
	return Policy{
		OwnerLeaseTTL:     45 * time.Minute,
		HeartbeatInterval: 5 * time.Minute,
		ClaimTTL:          20 * time.Minute,
		PresenceTTL:       4 * time.Hour,
		WaiterGrace:       10 * time.Second,
		OwnerIdleTTL:      45 * time.Minute,
		Order:             Fair,
	}
}

// A PolicyKey is a row of the table of policies.
type PolicyKey struct {
	Name    string
	Meaning string
	field   func(*Policy) *time.Duration // nil for order
}

// PolicyKeys lists what can be set, in the order in which it is shown.
var PolicyKeys = []PolicyKey{
	{"owner_lease_ttl", "how long a lease lives that only its owner's calls keep", func(p *Policy) *time.Duration { return &p.OwnerLeaseTTL }},
	{"heartbeat_interval", "how often a lease is renewed where no process vouches for it", func(p *Policy) *time.Duration { return &p.HeartbeatInterval }},
	{"claim_ttl", "how long a pass waits for its recipient before others may take over", func(p *Policy) *time.Duration { return &p.ClaimTTL }},
	{"presence_ttl", "how long a member counts as active after its last act", func(p *Policy) *time.Duration { return &p.PresenceTTL }},
	{"waiter_grace", "how long a release waits for the one it named, and the distance between two offers", func(p *Policy) *time.Duration { return &p.WaiterGrace }},
	{"owner_idle_ttl", "how long an owner whose process lives may do nothing", func(p *Policy) *time.Duration { return &p.OwnerIdleTTL }},
	{"order", "whom a release names next: fair or sequence", nil},
}

const (
	minPolicyDuration = 100 * time.Millisecond
	maxPolicyDuration = 30 * 24 * time.Hour
)

// Get returns the value of a key as it is written on a command line, and "" for an unknown key.
func (p Policy) Get(key string) string {
	for _, k := range PolicyKeys {
		if k.Name != key {
			continue
		}
		if k.field == nil {
			return string(p.Order)
		}
		return shortDuration(*k.field(&p))
	}
	return ""
}

// Set returns p with a key changed. It fails with [CodeUsage] for an unknown key, a value that
// is no duration, and one that is out of range.
func (p Policy) Set(key, value string) (Policy, error) {
	i := slices.IndexFunc(PolicyKeys, func(k PolicyKey) bool { return k.Name == key })
	if i < 0 {
		return p, Errorf(CodeUsage, "there is no policy %q", clip(key, 60)).With("field", "key").
			Hintf("did you mean %s? tt policy lists all", nearest(key, policyNames()))
	}
	k := PolicyKeys[i]
	if k.field == nil {
		switch o := Order(value); o {
		case Fair, Sequence:
			p.Order = o
			return p, nil
		}
		return p, Errorf(CodeUsage, "order is fair or sequence, not %q", clip(value, 60)).With("field", key)
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < minPolicyDuration || d > maxPolicyDuration {
		return p, Errorf(CodeUsage, "%s is a duration from %s to %s such as 45m or 90s, not %q",
			key, shortDuration(minPolicyDuration), shortDuration(maxPolicyDuration), clip(value, 60)).With("field", key)
	}
	*k.field(&p) = d.Truncate(time.Millisecond)
	return p, nil
}

func policyNames() []string {
	names := make([]string, len(PolicyKeys))
	for i, k := range PolicyKeys {
		names[i] = k.Name
	}
	return names
}

// MarshalJSON writes each duration in milliseconds under its name with "_ms".
func (p Policy) MarshalJSON() ([]byte, error) {
	m := map[string]any{"order": p.Order}
	for _, k := range PolicyKeys {
		if k.field != nil {
			m[k.Name+"_ms"] = k.field(&p).Milliseconds()
		}
	}
	return json.Marshal(m)
}

// UnmarshalJSON reads what MarshalJSON writes; what is missing keeps its default.
func (p *Policy) UnmarshalJSON(b []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	*p = DefaultPolicy()
	for _, k := range PolicyKeys {
		if k.field == nil {
			continue
		}
		if raw, ok := m[k.Name+"_ms"]; ok {
			var ms int64
			if err := json.Unmarshal(raw, &ms); err != nil {
				return err
			}
			*k.field(p) = time.Duration(ms) * time.Millisecond
		}
	}
	if raw, ok := m["order"]; ok {
		return json.Unmarshal(raw, &p.Order)
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
