package stick

import (
	"slices"
	"strings"
	"time"
)

// Category says what a message is for.
type Category string

// The categories.
const (
	Info      Category = "INFO"      // a milestone or context worth knowing
	Handover  Category = "HANDOFF"   // work or its next action goes to somebody; it never moves the stick
	Blocked   Category = "BLOCKED"   // the sender needs something that somebody else has
	Resume    Category = "RESUME"    // an agent goes on with the work of another session
	Incursion Category = "INCURSION" // two agents' scopes overlap
)

// CategoryInfo is a row of the table of categories.
type CategoryInfo struct {
	Category Category
	Meaning  string
	Ack      bool // its messages require an acknowledgement unless the sender says otherwise
}

// Categories is the table of categories.
var Categories = []CategoryInfo{
	{Info, "a milestone or context worth knowing", false},
	{Handover, "work or its next action goes to somebody; the stick stays where it is", true},
	{Blocked, "something is missing that the recipient can give", true},
	{Resume, "work of an earlier session was taken up", false},
	{Incursion, "two agents' scopes overlap", false},
}

func (c Category) findInfo() CategoryInfo {
	i := slices.IndexFunc(Categories, func(r CategoryInfo) bool { return r.Category == c })
	if i < 0 {
		return CategoryInfo{Category: c} // a newer program wrote it
	}
	return Categories[i]
}

// Asks reports whether messages of the category require an acknowledgement unless their sender says
// otherwise.
func (c Category) Asks() bool { return c.findInfo().Ack }

// Recipients of a message that aren't members.
const (
	ToRoom      AgentID = "room"      // every member but the sender
	ToBroadcast AgentID = "broadcast" // the same
	ToSystem    AgentID = "system"    // nobody: it is only written to the log
)

// Bounds of a message, in bytes, and of its list of recipients.
const (
	MaxBody       = 4096
	MaxContract   = 4096 // the fields of a contract together
	MaxSubject    = 256
	MaxLabel      = 128 // a thread or a task
	MaxRecipients = 1000
)

// Message is a message. Payloads embed it, so that its fields are fields of theirs.
type Message struct {
	To          []AgentID `json:"to,omitempty"`       // the members it went to, or room, or system
	LeftOut     []AgentID `json:"left_out,omitempty"` // recipients that didn't get it, because they were gone
	Category    Category  `json:"category,omitempty"`
	Subject     string    `json:"subject,omitempty"`
	Body        string    `json:"body,omitempty"`
	RequiresAck bool      `json:"requires_ack,omitempty"`
	Thread      string    `json:"thread,omitempty"`
	ReplyTo     int64     `json:"reply_to,omitempty"`
	Hint        string    `json:"delivery_hint,omitempty"` // "interrupt" or empty
	Contract
}

// Interrupt is the delivery hint of a message that its recipient should see at once. Later it is no longer
// urgent.
const Interrupt = "interrupt"

// urgentFor is how long a message interrupts. Later it would interrupt something that it isn't about.
const urgentFor = time.Minute

// Urgent reports whether a message of that time still interrupts its recipient now.
func (m Message) Urgent(sent, now Time) bool {
	return m.Hint == Interrupt && !(Deadline{sent, urgentFor}).Due(now)
}

// Contract holds the fields that a message of each category should fill in. See [ContractFields].
type Contract struct {
	Done      string `json:"done,omitempty"`
	Remaining string `json:"remaining,omitempty"`
	Next      string `json:"next_action,omitempty"`

	Blocker string `json:"blocker,omitempty"`
	Request string `json:"requested_action,omitempty"`
	Urgency string `json:"urgency,omitempty"`

	Overlap       string `json:"overlap,omitempty"`
	Owner         string `json:"owner,omitempty"`
	Incoming      string `json:"incoming,omitempty"`
	OwnerLiveness string `json:"owner_liveness,omitempty"`
	Resolution    string `json:"resolution_hint,omitempty"`

	ResumeReason string `json:"reason,omitempty"`
	PriorSession string `json:"prior_session,omitempty"`
	Adopted      string `json:"adopted_identity,omitempty"`
	Evidence     string `json:"evidence,omitempty"`
}

// A ContractField is a row of the table of contracts. That a contract requires an acknowledgement isn't in
// the table, because every message has a field for it.
type ContractField struct {
	Category Category
	Name     string
	Meaning  string
	Field    func(*Contract) *string
}

// ContractFields lists what a message of each category should say, in the order in which it is shown.
var ContractFields = []ContractField{
	{Handover, "done", "what is done", func(c *Contract) *string { return &c.Done }},
	{Handover, "remaining", "what remains", func(c *Contract) *string { return &c.Remaining }},
	{Handover, "next_action", "the concrete next action", func(c *Contract) *string { return &c.Next }},
	{Blocked, "blocker", "what is missing", func(c *Contract) *string { return &c.Blocker }},
	{Blocked, "requested_action", "what the recipient should do", func(c *Contract) *string { return &c.Request }},
	{Blocked, "urgency", "how urgent it is: low, normal or high", func(c *Contract) *string { return &c.Urgency }},
	{Incursion, "overlap", "exact or partial", func(c *Contract) *string { return &c.Overlap }},
	{Incursion, "owner", "whose scope it was", func(c *Contract) *string { return &c.Owner }},
	{Incursion, "incoming", "who came into it", func(c *Contract) *string { return &c.Incoming }},
	{Incursion, "owner_liveness", "whether the owner lives", func(c *Contract) *string { return &c.OwnerLiveness }},
	{Incursion, "resolution_hint", "how it could be resolved", func(c *Contract) *string { return &c.Resolution }},
	{Resume, "reason", "why it was resumed", func(c *Contract) *string { return &c.ResumeReason }},
	{Resume, "prior_session", "whose work it was", func(c *Contract) *string { return &c.PriorSession }},
	{Resume, "adopted_identity", "who continues the work", func(c *Contract) *string { return &c.Adopted }},
	{Resume, "evidence", "what shows that it was safe", func(c *Contract) *string { return &c.Evidence }},
}

// Value returns a pointer to the field of a contract.
func (f ContractField) Value(c *Contract) *string { return f.Field(c) }

// Missing lists the names of the fields that a message of the category should fill in and leaves empty.
func (c Contract) Missing(of Category) []string {
	missing := []string{}
	for _, f := range ContractFields {
		if f.Category == of && strings.TrimSpace(*f.Field(&c)) == "" {
			missing = append(missing, f.Name)
		}
	}

	return missing
}

// Says lists the fields that are filled in.
func (c Contract) Says() []ContractField {
	var says []ContractField
	for _, f := range ContractFields {
		if *f.Field(&c) != "" {
			says = append(says, f)
		}
	}

	return says
}

// Overdue reports whether a message was meant to interrupt its recipient and came too late for that. shown
// is when the recipient got it, zero if it hasn't.
func (m Message) Overdue(sent, shown, now Time) bool {
	if shown.IsZero() {
		shown = now
	}
	return m.Hint == Interrupt && !m.Urgent(sent, shown)
}

// CheckTask refuses the name of a task that can't be stored. It fails with [CodeUsage].
func CheckTask(s string) error {
	if len(s) > MaxLabel {
		return BadMessage("task_id", "the task is %d bytes long; the limit is %d", len(s), MaxLabel)
	}
	return CheckText("task_id", s)
}

// CheckText refuses what is no text, and the blank of a printed command that nobody filled. It fails with [CodeUsage].
func CheckText(field, s string) error {
	if bad := NotText(s); bad != "" {
		return BadMessage(field, "the %s holds %s", field, bad)
	}
	if IsLeftBlank(s) {
		return BadMessage(field, "the %s is still a placeholder: %s", field, strings.TrimSpace(s)).
			Hintf("write your own text in its place")
	}
	return nil
}

// BadMessage refuses a field of a message.
func BadMessage(field, format string, args ...any) *Error {
	return Errorf(CodeUsage, format, args...).With("field", field)
}

// TooLarge refuses a text that is larger than a message may be.
func TooLarge(field string, what Words, size, most int) *Error {
	return Errorf(CodeMessageTooLarge, "%s is %d bytes long; the limit is %d", what, size, most).
		With("field", field).With("size", size).With("max", most).
		Hintf("put the long part into a file of the workspace, and name the file in your text")
}
