package stick

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
)

// Code names a kind of failure. Codes are documented, stable and never reused.
// See docs/decisions/surfaces-cli-and-words.md#codes.
type Code string

// The codes. [Codes] has the exit status and the meaning of each.
const (
	CodeUsage                Code = "usage"
	CodeInvalidHandoff       Code = "invalid_handoff"
	CodeInvalidPath          Code = "invalid_path"
	CodeNoRoom               Code = "no_room"
	CodeUnknownMember        Code = "unknown_member"
	CodeAmbiguousRecipient   Code = "ambiguous_recipient"
	CodeNotYourTurn          Code = "not_your_turn"
	CodeTurnMismatch         Code = "turn_mismatch"
	CodeAlreadyEnded         Code = "already_ended"
	CodeStaleLease           Code = "stale_lease"
	CodePriorOwner           Code = "prior_owner"
	CodeTakeoverNotAvailable Code = "takeover_not_available"
	CodeAlreadyListening     Code = "already_listening"
	CodeIdentityMismatch     Code = "identity_mismatch"
	CodeRoomClosed           Code = "room_closed"
	CodePaused               Code = "paused"
	CodeKicked               Code = "kicked"
	CodeMemberPresent        Code = "member_present"
	CodeNotFound             Code = "not_found"
	CodeNoRecipient          Code = "no_recipient"
	CodeMessageTooLarge      Code = "message_too_large"
	CodeReadForbidden        Code = "read_forbidden"
	CodeAckForbidden         Code = "ack_forbidden"
	CodeWithdrawForbidden    Code = "withdraw_forbidden"
	CodeContractIncomplete   Code = "contract_incomplete"
	CodePersonOnly           Code = "person_only"
	CodeReservationConflict  Code = "reservation_conflict"
	CodeReservationStale     Code = "reservation_stale"
	CodeEditDenied           Code = "edit_denied"
	CodeNotEnforced          Code = "not_enforced"
	CodeInvalidTransition    Code = "invalid_transition"
	CodeNotYourTask          Code = "not_your_task"
	CodeStaleAttempt         Code = "stale_attempt"
	CodeAuthorCannotReview   Code = "author_cannot_review"
	CodeReviewStale          Code = "review_stale"
	CodeLanding              Code = "landing"
	CodeElsewhere            Code = "elsewhere"
	CodeBaseRed              Code = "base_red"
	CodeAlreadyExists        Code = "already_exists"
	CodeAlreadyRunning       Code = "already_running"
	CodeMaxRunning           Code = "max_running"
	CodeDirtyTree            Code = "dirty_tree"
	CodeRebaseConflict       Code = "rebase_conflict"
	CodeGateFailed           Code = "gate_failed"
	CodeGateEnded            Code = "gate_ended"
	CodeTasksLeft            Code = "tasks_left"
	CodeTasksReturned        Code = "tasks_returned"
	CodeForgeFailed          Code = "forge_failed"
	CodeGitFailed            Code = "git_failed"
	CodeConfigMalformed      Code = "config_malformed"
	CodeConfigChanged        Code = "config_changed"
	CodeNothingReady         Code = "nothing_ready"
	CodeSetupFailed          Code = "setup_failed"
	CodeOutputUnwritable     Code = "output_unwritable"
	CodeConfigUnwritable     Code = "config_unwritable"
	CodeNoRepository         Code = "no_repository"
	CodeRepositoryMissing    Code = "repository_missing"
	CodeGitMissing           Code = "git_missing"
	CodeGitTooOld            Code = "git_too_old"
	CodeProjectConfig        Code = "project_config_invalid"
	CodeDataDirNotWritable   Code = "data_dir_not_writable"
	CodeDataDirRelative      Code = "data_dir_relative"
	CodeDataDirOfAnother     Code = "data_dir_of_another"
	CodeFileSystem           Code = "file_system_unsupported"
	CodeForeignDatabase      Code = "foreign_database"
	CodeSchemaTooNew         Code = "schema_too_new"
	CodeDatabaseBusy         Code = "database_busy"
	CodeDatabaseUnavailable  Code = "database_unavailable"
	CodeDatabaseCorrupt      Code = "database_corrupt"
	CodeUpgraded             Code = "upgraded"
	CodeDatabaseMoved        Code = "database_moved"
	CodeInternal             Code = "internal"
	CodeCanceled             Code = "canceled"
)

// Exit statuses of the program. Scripts may rely on them.
const (
	ExitOK          = 0
	ExitInternal    = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitRefused     = 4
	ExitFenced      = 5
	ExitBusy        = 6
	ExitEnvironment = 7
	ExitHands       = 8
	ExitInterrupted = 130
)

// CodeInfo is a row of the error table.
type CodeInfo struct {
	Code      Code
	Exit      int    // the program's exit status
	Retryable bool   // the same call may succeed later, with nothing else done
	Meaning   string // one sentence for the reference
}

// Codes is the table from which exit statuses and the reference are taken.
var Codes = []CodeInfo{
	{CodeUsage, ExitUsage, false, "the command line or a parameter is wrong"},
	{
		CodeInvalidHandoff, ExitUsage, false,
		"the handoff lacks something, is too large or points outside of the workspace",
	},
	{CodeInvalidPath, ExitUsage, false, "the path can't be a workspace"},
	{CodeNoRoom, ExitNotFound, false, "there is no room at this path"},
	{CodeUnknownMember, ExitNotFound, false, "the named agent isn't a member that can take part now"},
	{CodeAmbiguousRecipient, ExitUsage, false, "the name matches several members"},
	{
		CodeNotYourTurn, ExitRefused, true,
		"the caller doesn't hold the stick, and this needs it; or somebody else holds it",
	},
	{CodeTurnMismatch, ExitFenced, false, "the given turn is over"},
	{
		CodeAlreadyEnded, ExitFenced, false,
		"the caller has ended this turn itself, with another handoff, recipient or command",
	},
	{CodeStaleLease, ExitFenced, false, "the given lease isn't the current one"},
	{
		CodePriorOwner, ExitRefused, true,
		"an agent that passed the stick on can't take it back while another may take it",
	},
	{CodeTakeoverNotAvailable, ExitRefused, true, "the stick can't be taken over now"},
	{CodeAlreadyListening, ExitRefused, false, "this member already waits, in another process"},
	{CodeIdentityMismatch, ExitRefused, false, "the name belongs to a session that is alive elsewhere"},
	{CodeRoomClosed, ExitRefused, false, "the room is closed"},
	{CodePaused, ExitRefused, true, "a person has paused the room"},
	{CodeKicked, ExitRefused, false, "the member was removed from the room"},
	{CodeMemberPresent, ExitRefused, false, "the member isn't gone"},
	{CodeNotFound, ExitNotFound, false, "the room has nothing of that name or number"},
	{CodeNoRecipient, ExitRefused, false, "no recipient of the message is in the room"},
	{CodeMessageTooLarge, ExitUsage, false, "the message or note is too long"},
	{CodeReadForbidden, ExitRefused, false, "only a recipient can read a message"},
	{
		CodeAckForbidden, ExitRefused, false,
		"only a recipient can acknowledge a message, and only until it is withdrawn",
	},
	{
		CodeWithdrawForbidden, ExitRefused, false,
		"only the sender can withdraw a message, and only until it is acknowledged",
	},
	{
		CodeContractIncomplete, ExitUsage, false,
		"the room requires complete contracts, and the message lacks a field of its category",
	},
	{CodePersonOnly, ExitRefused, false, "only a person may do this"},
	{CodeReservationConflict, ExitRefused, true, "another agent has reserved the paths; both agents get a message"},
	{
		CodeReservationStale, ExitRefused, false,
		"the reservation of the paths is stale: its time is over or its owner is gone, so it may be taken over",
	},
	{CodeEditDenied, ExitRefused, true, "the room's policy doesn't let the agent change the paths now"},
	{CodeNotEnforced, ExitRefused, false, "the room enforces nothing about edits, so tt doesn't record who edits what"},
	{CodeInvalidTransition, ExitRefused, false, "the task's state doesn't allow this"},
	{CodeNotYourTask, ExitRefused, false, "the task has another worker, or its words are another's"},
	{CodeStaleAttempt, ExitFenced, false, "the attempt at the task is over"},
	{CodeAuthorCannotReview, ExitRefused, false, "an agent that has worked on a task can't review it"},
	{
		CodeReviewStale, ExitRefused, false,
		"the reviewer hasn't seen the commit that was offered, or the branch has moved since",
	},
	{CodeLanding, ExitRefused, true, "a merge or another command is working on the task"},
	{CodeNothingReady, ExitRefused, true, "no task is ready to begin"},
	{
		CodeElsewhere, ExitRefused, false,
		"the task's branch and worktree are in another clone of the repository, and this needs them",
	},
	{CodeBaseRed, ExitHands, false, "the gate is red on the integration branch itself, so nothing is merged"},
	{CodeAlreadyExists, ExitRefused, false, "that name is already in use"},
	{CodeAlreadyRunning, ExitRefused, true, "a command of the task, or the tool call, is still running"},
	{CodeMaxRunning, ExitRefused, true, "as many commands of tasks run on this host as the project allows"},
	{CodeDirtyTree, ExitHands, false, "a checkout has uncommitted changes, or isn't on its branch"},
	{CodeRebaseConflict, ExitHands, false, "the work conflicts with the integration branch"},
	{CodeGateFailed, ExitHands, false, "the gate is red on what would be merged"},
	{CodeGateEnded, ExitHands, true, "a signal has ended the gate, so nothing is known of what would be merged"},
	{
		CodeSetupFailed, ExitHands, false,
		"the command that sets up a task's worktree has failed; the task and its worktree are there",
	},
	{CodeTasksReturned, ExitHands, false, "`tt task merge --all` has sent tasks back to their workers, or to review"},
	{CodeTasksLeft, ExitRefused, true, "approved tasks are left that can't be merged now"},
	{CodeForgeFailed, ExitEnvironment, true, "the program of the forge is missing, or failed"},
	{CodeGitFailed, ExitEnvironment, false, "git failed, or refused the operation"},
	{CodeConfigMalformed, ExitEnvironment, false, "a harness's configuration can't be read, so tt doesn't change it"},
	{
		CodeConfigChanged, ExitRefused, false,
		"a command of `.talking-stick.toml` isn't the one that a person has accepted; or somebody else changed a harness's configuration at the same moment",
	},
	{CodeConfigUnwritable, ExitEnvironment, false, "a harness's configuration can't be written"},
	{CodeNoRepository, ExitNotFound, false, "there is no git repository at this path"},
	{
		CodeRepositoryMissing, ExitEnvironment, false,
		"the checkout leads to a repository that can't be found from here, as in a container without it",
	},
	{CodeGitMissing, ExitEnvironment, false, "git isn't installed, or not in PATH"},
	{CodeGitTooOld, ExitEnvironment, false, "the installed git is too old"},
	{CodeProjectConfig, ExitUsage, false, "the project's .talking-stick.toml has something that tt doesn't understand"},
	{
		CodeOutputUnwritable, ExitEnvironment, false,
		"a command that only reads couldn't write its answer to standard output",
	},
	{CodeDataDirNotWritable, ExitEnvironment, false, "the data directory can't be written"},
	{CodeDataDirRelative, ExitEnvironment, false, "`TALKING_STICK_DATA_DIR` is a relative path"},
	{CodeDataDirOfAnother, ExitEnvironment, false, "the data directory belongs to another user"},
	{CodeFileSystem, ExitEnvironment, false, "the data directory is on a file system on which SQLite isn't safe"},
	{CodeForeignDatabase, ExitEnvironment, false, "the database file was made by another program"},
	{CodeSchemaTooNew, ExitEnvironment, false, "the database was written by a newer version"},
	{CodeDatabaseBusy, ExitBusy, true, "the database stayed locked for too long"},
	{
		CodeDatabaseUnavailable, ExitBusy, true,
		"the PostgreSQL server doesn't answer, doesn't let tt in, or doesn't let it write",
	},
	{CodeDatabaseCorrupt, ExitEnvironment, false, "the database file is damaged"},
	{CodeUpgraded, ExitEnvironment, true, "the database was upgraded while this process ran"},
	{CodeDatabaseMoved, ExitEnvironment, true, "the database was moved or replaced while this process ran"},
	{CodeInternal, ExitInternal, false, "a fault of the program"},
	{CodeCanceled, ExitInterrupted, true, "the call was interrupted"},
}

var codeIndex = sync.OnceValue(func() map[Code]CodeInfo {
	m := make(map[Code]CodeInfo, len(Codes))
	for _, c := range Codes {
		m[c.Code] = c
	}
	return m
})

// Info returns the row of c; a code that isn't in the table has the row of [CodeInternal].
func (c Code) Info() CodeInfo {
	if r, ok := codeIndex()[c]; ok {
		return r
	}

	return codeIndex()[CodeInternal]
}

// Error is the one failure type of the program.
type Error struct {
	Code    Code
	Message string         // one sentence for a person or a model; lower case, no full stop
	Hint    Hint           // the next safe step, if there is one
	Fields  map[string]any // facts for a program: current_owner, current_turn_id, field, …
	// the cause, for errors.Is and errors.As; no surface prints it, so Message has to say what matters
	Err error
}

// Errorf makes an Error. Its message is formatted as by [Wordsf]; a %w verb also sets the cause.
func Errorf(c Code, format string, args ...any) *Error {
	cause := errors.Unwrap(fmt.Errorf(format, args...))

	message := Wordsf(strings.ReplaceAll(format, "%w", "%s"), args...)

	return &Error{Code: c, Message: string(message), Err: cause}
}

// With adds a fact, fills the blank of that name in the hint, and returns e.
func (e *Error) With(field string, v any) *Error {
	if e.Fields == nil {
		e.Fields = map[string]any{}
	}

	e.Fields[field] = v

	// A hint that was set before its facts gets them now.
	e.Hint.fillBlank(field, fmt.Sprint(v))
	return e
}

// Hintf sets the next safe step and returns e; see the function [Hintf].
func (e *Error) Hintf(format string, args ...any) *Error {
	e.Hint = Hintf(format, args...)

	// The hint was set after the facts.
	for name, v := range e.Fields {
		e.Hint.fillBlank(name, fmt.Sprint(v))
	}

	return e
}

func (e *Error) Error() string { return e.Message }

// Words returns the message as words of ours.
func (e *Error) Words() Words { return Words(e.Message) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// MarshalJSON writes the JSON that every surface shows: error, message, the facts, and the hint if there is
// one.
func (e *Error) MarshalJSON() ([]byte, error) {
	m := maps.Clone(e.Fields)
	if m == nil {
		m = map[string]any{}
	}

	m["error"], m["message"] = e.Code, e.Message
	if len(e.Hint) > 0 {
		m["hint"] = e.Hint.String()
	}

	return JSON(m)
}

// ParseError reads the JSON of an error. Its hint is plain text then. ok is false if b isn't an error with a
// code of the table.
func ParseError(b []byte) (e *Error, ok bool) {
	var m map[string]any
	if json.Unmarshal(b, &m) != nil {
		return nil, false
	}

	code, _ := m["error"].(string)
	message, _ := m["message"].(string)
	if _, ok := codeIndex()[Code(code)]; !ok || message == "" {
		return nil, false
	}

	e = &Error{Code: Code(code), Message: message}
	if hint, _ := m["hint"].(string); hint != "" {
		e.Hint = Hint(nil).appendWords(Words(hint))
	}

	// All other fields are facts, which also fill the hint.
	for name, v := range m {
		if name != "error" && name != "message" && name != "hint" {
			e.With(name, v)
		}
	}

	return e, true
}

// JSON writes v as JSON for people and models. Unlike [json.Marshal] it leaves <, > and & as they are:
// nothing here is HTML, and "<task>" in a hint has to be readable.
func JSON(v any) ([]byte, error) {
	var b strings.Builder

	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}

	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}

// AsError turns any error into an *Error, and nil into nil. An error of another type becomes [CodeInternal];
// the end of a context becomes [CodeCanceled]. Its message can't say how much was done: a caller that knows
// makes its own error.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}

	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}

	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{Code: CodeCanceled, Message: "interrupted", Err: err}
	}

	return &Error{Code: CodeInternal, Message: err.Error(), Err: err}
}

// CodeOf returns the code of err, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}

	return AsError(err).Code
}
