package stick

import "fmt"

// Process is the exact identity of an operating system process. A pid alone is reused; a pid
// with its start time, on one boot of one machine and in one pid namespace, never is.
type Process struct {
	Machine string `json:"machine,omitempty"` // the machine's own id; never trusted to be unique
	Boot    string `json:"boot"`              // the boot id; another boot id is another host
	PIDNS   string `json:"pid_namespace,omitempty"`
	PID     int    `json:"pid"`
	Start   int64  `json:"start_time"` // the kernel's number for when the process started, in its own unit
}

// IsZero reports whether p names no process.
func (p Process) IsZero() bool { return p.PID == 0 }

// Key is p as one string, fit for an index: equal keys are equal processes.
func (p Process) Key() string {
	return fmt.Sprintf("%s/%s/%s/%d/%d", p.Machine, p.Boot, p.PIDNS, p.PID, p.Start)
}

// Comparable reports whether p and q live where their pids can be compared: on the same boot and
// in the same pid namespace.
func (p Process) Comparable(q Process) bool { return p.Boot == q.Boot && p.PIDNS == q.PIDNS }

// Verdict is what is known of a process or a member. There are three answers, never two.
type Verdict string

// The verdicts. Unknown is never treated as Gone.
const (
	Unknown Verdict = "unknown"
	Alive   Verdict = "alive"
	Gone    Verdict = "gone"
)

// Proof says what the life and death of a harness's process tell about the session in it.
type Proof string

const (
	// ProvesSession: while the process lives so does the session, and they end together.
	ProvesSession Proof = "session"
	// ProvesCarrier: the process carries sessions and outlives them, as a daemon does. Its
	// death frees; its life says nothing.
	ProvesCarrier Proof = "carrier"
	// ProvesTurn: the process comes and goes, as a person's shell does. Its life keeps; its
	// death says nothing.
	ProvesTurn Proof = "turn"
)
