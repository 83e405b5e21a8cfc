package stick

import (
	"fmt"
)

// Process is the exact identity of a process of an operating system. A pid alone is reused. A pid together
// with its start time, the boot of the machine and the pid namespace never is.
type Process struct {
	Machine string `json:"machine,omitempty"` // the machine's own id, which other machines may have as well
	// the boot id; a process with another one is of another host, or of an earlier boot
	Boot  string `json:"boot"`
	PIDNS string `json:"pid_namespace,omitempty"`
	PID   int    `json:"pid"`
	Start int64  `json:"start_time"` // when the process started, in the kernel's own unit
}

// IsZero reports whether p names no process.
func (p Process) IsZero() bool { return p.PID == 0 }

// Key returns p as one string for an index. Processes are equal if and only if their keys are.
func (p Process) Key() string {
	return fmt.Sprintf("%s/%s/%s/%d/%d", p.Machine, p.Boot, p.PIDNS, p.PID, p.Start)
}

// Comparable reports whether the pids of p and q can be compared, because both are of the same boot and the
// same pid namespace.
func (p Process) Comparable(q Process) bool { return p.Boot == q.Boot && p.PIDNS == q.PIDNS }

// Verdict says whether a process or a member is alive. There are three answers, never two.
type Verdict string

// The verdicts. Unknown is never treated as Gone.
const (
	Unknown Verdict = "unknown"
	Alive   Verdict = "alive"
	Gone    Verdict = "gone"
)

// Proof says what a harness's process, alive or ended, proves about the session in it.
type Proof string

const (
	// ProvesSession: the session lives as long as the process, and ends with it.
	ProvesSession Proof = "session"
	// ProvesCarrier: the process carries sessions and outlives them, as a daemon does. Once it has ended
	// so have they; while it lives it proves nothing.
	ProvesCarrier Proof = "carrier"
	// ProvesTurn: the process comes and goes, as a person's shell does. While it lives so does the session;
	// its end proves nothing.
	ProvesTurn Proof = "turn"
)
