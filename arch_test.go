// The walls of the house: which package may import which, and why. DESIGN's rule is that imports
// go one way, from the surfaces down to the rules:
//
//	cmd → cli → mcpserver, tui → engine, task → engine/core → store, bell, proc, git, workspace, harness → rooms of stick → stick → stick/glob
//
// The files of all systems are read, whatever system the test runs on.
package talkingstick_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"talkingstick/internal/harness"
)

// module is the path of this module, which the owner of a published one has chosen.
var module = strings.TrimSuffix(reflect.TypeFor[harness.Bundle]().PkgPath(), "/internal/harness")

// edges is the table of allowed imports: package, what it imports, why. The standard library
// isn't in it, see [stickImports] for the one package where that matters. An edge that nobody uses
// any more fails the test, and so does a package without a row.
var edges = map[string]map[string]string{
	"cmd/tt": {
		"internal/cli/app": "the surroundings of the real process",
		"internal/cli":     "main is os.Exit(cli.Main(app.System())) and nothing else",
	},
	"cmd/tt-full": {
		"internal/cli/app":  "the surroundings of the real process",
		"internal/cli":      "main is os.Exit(cli.Main(app.FullSystem(full.Commands()))) and nothing else",
		"internal/cli/full": "the commands that only it has",
	},
	"internal/cli": {
		"github.com/spf13/cobra": "the command tree, help and completion",
		"github.com/spf13/pflag": "cobra's flags, where one that is unknown or wrong is refused in our words",
		"internal/cli/app":       "the run of the program",
		"internal/cli/care":      "its commands",
		"internal/cli/demo":      "its commands",
		"internal/cli/doctor":    "its commands",
		"internal/cli/events":    "its commands",
		"internal/cli/hook":      "its commands; in whose words others are woken",
		"internal/cli/hooklog":   "a note to agents whose hooks are of an earlier version",
		"internal/cli/msg":       "its commands",
		"internal/cli/rescue":    "its commands",
		"internal/cli/room":      "its commands",
		"internal/cli/scope":     "its commands",
		"internal/cli/session":   "its commands",
		"internal/cli/setup":     "its commands",
		"internal/cli/task":      "its commands",
		"internal/cli/turn":      "its commands",
		"internal/engine":        "candidates for completion",
		"internal/engine/core":   "the same",
		"internal/engine/guard":  "the same",
		"internal/engine/scopes": "candidates for completion",
		"internal/harness":       "the same",
		"internal/task":          "the same",
		"internal/term":          "pages of help",
		"stick":                  "errors, exit statuses, words",
		"stick/edits":            "the rules of files: who may change which, and whose a change is",
	},
	"internal/cli/app": {
		"github.com/spf13/cobra":        "flags that many commands have",
		"github.com/spf13/pflag":        "flags with a second name",
		"golang.org/x/sys":              "terminals, and noticing that standard output was closed",
		"internal/config":               "the user's settings",
		"internal/engine":               "the operations on rooms; wiring",
		"internal/engine/core":          "the place and the caller of an operation; wiring",
		"internal/engine/eventlog":      "the operations that read the log; wiring",
		"internal/engine/guard":         "the operations on edits; wiring",
		"internal/engine/guard/ledger":  "how much uncommitted work there is, in words",
		"internal/engine/guard/restore": "the operations on rescues and calls; wiring",
		"internal/engine/roster":        "the operations on sessions; wiring",
		"internal/engine/scopes":        "the operations on reservations; wiring",
		"internal/engine/upkeep":        "the operations on the data directory; wiring",
		"internal/harness":              "wiring: the environment and the ancestry become a caller; tags that no answer may look like",
		"internal/plainfile":            "the log and the trace",
		"internal/proc":                 "wiring: the machine's processes",
		"internal/task":                 "the operations on tasks; wiring",
		"internal/term":                 "pages, and text that is safe and fits",
		"internal/workspace":            "wiring: the working directory and git's variables",
		"stick":                         "errors, exit statuses, words",
		"stick/names":                   "names of agents in place of their ids",
	},
	"internal/cli/demo": {
		"github.com/spf13/cobra": "commands and their flags",
		"golang.org/x/sys":       "single keys of a terminal",
		"internal/cli/app":       "the run of the program",
		"internal/demo":          "tt demo",
		"internal/term":          "text that is safe",
		"stick":                  "errors and words",
	},
	"internal/cli/full": {
		"github.com/spf13/cobra": "commands",
		"internal/cli/app":       "the list of commands",
		"internal/cli/demo":      "tt demo, with the screen of tt watch",
		"internal/cli/mcp":       "its command",
		"internal/cli/watch":     "its commands",
	},
	"internal/cli/care": {
		"github.com/spf13/cobra": "commands and their flags",
		"internal/cli/app":       "the run of the program",
		"internal/engine/core":   "the caller of an operation",
		"internal/engine/upkeep": "the operations that these commands call",
		"internal/store":         "what a database has, in words",
		"internal/term":          "pages, tables, text that is safe",
		"stick":                  "errors and words",
	},
	"internal/cli/doctor": {
		"github.com/spf13/cobra": "commands and their flags",
		"internal/cli/app":       "the run of the program",
		"internal/cli/hooklog":   "what hooks have failed at, and whether they are older",
		"internal/cli/setup":     "what is set up, and how",
		"internal/config":        "what a project's file sets",
		"internal/engine/core":   "the caller and the place of an operation",
		"internal/engine/upkeep": "the doctor's operations and findings",
		"internal/harness":       "which harness it is about, and its words",
		"internal/install":       "what tt install writes for harnesses and git",
		"internal/plainfile":     "what failed about a file, without its path",
		"internal/term":          "pages, tables, text that is safe",
		"internal/workspace":     "which workspace a path means",
		"stick":                  "errors and words",
	},
	"internal/cli/events": {
		"github.com/spf13/cobra":   "commands and their flags",
		"internal/cli/app":         "the run of the program",
		"internal/engine":          "the operations on rooms that these commands call",
		"internal/engine/core":     "the caller and the place of an operation",
		"internal/engine/eventlog": "the operations that read the log",
		"internal/monitor":         "what waits for a person, below tt log --since-seen",
		"internal/picture":         "tt timeline",
		"internal/term":            "pages, tables, text that is safe",
		"stick":                    "errors and words",
		"stick/presence":           "what waits for a person",
		"stick/timeline":           "the lanes of a timeline",
	},
	"internal/cli/githook": {
		"github.com/spf13/cobra": "commands and their flags",
		"internal/cli/app":       "the run of the program",
		"internal/config":        "what a project's file sets",
		"internal/engine/core":   "the caller and the place of an operation",
		"internal/engine/guard":  "the operations on edits that these commands call",
		"internal/git":           "staged paths, values of refs",
		"internal/harness":       "who called git",
		"internal/proc":          "which command of git's asks",
		"internal/shell":         "which command of git's runs a hook of git",
		"internal/task":          "the operation on branches of tasks",
		"internal/workspace":     "which workspace a path means",
		"stick":                  "errors and words",
	},
	"internal/cli/hook": {
		"github.com/spf13/cobra": "commands and their flags",
		"internal/cli/app":       "the run of the program",
		"internal/cli/events":    "how an event is shown",
		"internal/cli/githook":   "tt hook git",
		"internal/cli/hooklog":   "what hooks have failed at, and whether they are older",
		"internal/cli/rescue":    "copies that are finished after a hook has answered",
		"internal/cli/session":   "the briefing of a session that starts",
		"internal/cli/setup":     "what is set up, and how",
		"internal/engine":        "the operations on rooms that these commands call",
		"internal/engine/core":   "the caller and the place of an operation",
		"internal/engine/guard":  "the operations on edits that these commands call",
		"internal/engine/roster": "the operations on sessions",
		"internal/git":           "what git says of the repository",
		"internal/harness":       "which harness it is about, and its words",
		"internal/install":       "what tt install writes for harnesses and git",
		"internal/proc":          "processes of this machine",
		"internal/term":          "pages, tables, text that is safe",
		"stick":                  "errors and words",
	},
	"internal/cli/hooklog": {
		"internal/cli/app":       "the run of the program",
		"internal/engine/upkeep": "the doctor's operations and findings",
		"internal/harness":       "which harness it is about, and its words",
		"internal/install":       "what tt install writes for harnesses and git",
		"internal/plainfile":     "files of the data directory and of the user",
		"internal/term":          "pages, tables, text that is safe",
		"internal/workspace":     "which workspace a path means",
		"stick":                  "errors and words",
	},
	"internal/cli/mcp": {
		"github.com/spf13/cobra": "commands and their flags",
		"internal/bell":          "the locks by which connections of one MCP client are told apart",
		"internal/cli/app":       "the run of the program",
		"internal/cli/hooklog":   "whether the client's hooks are of an earlier version",
		"internal/cli/setup":     "what is set up, and how",
		"internal/engine/core":   "the caller and the place of an operation",
		"internal/harness":       "which harness it is about, and its words",
		"internal/install":       "what tt install writes for harnesses and git",
		"internal/mcpserver":     "tt mcp",
		"internal/proc":          "processes of this machine",
		"stick":                  "errors and words",
	},
	"internal/cli/msg": {
		"github.com/spf13/cobra": "commands and their flags",
		"github.com/spf13/pflag": "flags with a second name",
		"internal/cli/app":       "the run of the program",
		"internal/cli/events":    "how an event is shown",
		"internal/engine":        "the operations on rooms that these commands call",
		"internal/engine/core":   "the caller and the place of an operation",
		"internal/term":          "pages, tables, text that is safe",
		"stick":                  "errors and words",
		"stick/presence":         "the rules of sessions, and who is there",
		"stick/talk":             "the rules of messages, notes and drafts",
	},
	"internal/cli/rescue": {
		"github.com/spf13/cobra":        "commands and their flags",
		"internal/cli/app":              "the run of the program",
		"internal/config":               "what a project's file sets",
		"internal/engine":               "the operations on rooms that these commands call",
		"internal/engine/core":          "the caller and the place of an operation",
		"internal/engine/guard":         "the operations on edits that these commands call",
		"internal/engine/guard/restore": "the operations on rescues and calls",
		"internal/rescue":               "what a rescue holds, to show it",
		"internal/term":                 "pages, tables, text that is safe",
		"stick":                         "errors and words",
		"stick/edits":                   "the rules of files: who may change which, and whose a change is",
	},
	"internal/cli/room": {
		"github.com/spf13/cobra": "commands and their flags",
		"internal/cli/app":       "the run of the program",
		"internal/cli/hooklog":   "what hooks have failed at, and whether they are older",
		"internal/cli/setup":     "what is set up, and how",
		"internal/engine":        "the operations on rooms that these commands call",
		"internal/engine/core":   "the caller and the place of an operation",
		"internal/engine/roster": "the operations on sessions",
		"internal/engine/upkeep": "what tt status says of the database",
		"internal/monitor":       "the picture that is shown",
		"internal/task":          "the caller's task, in tt status",
		"internal/term":          "pages, tables, text that is safe",
		"internal/workspace":     "which workspace a path means",
		"stick":                  "errors and words",
		"stick/presence":         "the rules of sessions, and who is there",
	},
	"internal/cli/scope": {
		"github.com/spf13/cobra": "commands and their flags",
		"internal/cli/app":       "the run of the program",
		"internal/engine/core":   "the caller and the place of an operation",
		"internal/engine/guard":  "the operations on edits that these commands call",
		"internal/engine/scopes": "the operations that these commands call",
		"internal/term":          "pages, tables, text that is safe",
		"stick":                  "errors and words",
		"stick/glob":             "patterns, to show them",
		"stick/scope":            "the rules of reservations",
	},
	"internal/cli/session": {
		"github.com/spf13/cobra": "commands and their flags",
		"internal/cli/app":       "the run of the program",
		"internal/cli/hooklog":   "what hooks have failed at, and whether they are older",
		"internal/cli/setup":     "what is set up, and how",
		"internal/engine/core":   "the caller and the place of an operation",
		"internal/engine/roster": "the operations on sessions",
		"internal/engine/upkeep": "the doctor's operations and findings",
		"internal/harness":       "which harness it is about, and its words",
		"internal/term":          "pages, tables, text that is safe",
		"stick":                  "errors and words",
		"stick/glob":             "patterns, to show them",
		"stick/presence":         "the rules of sessions, and who is there",
	},
	"internal/cli/setup": {
		"github.com/spf13/cobra": "commands and their flags",
		"internal/cli/app":       "the run of the program",
		"internal/config":        "what a project's file sets",
		"internal/engine":        "the operations on rooms that these commands call",
		"internal/engine/core":   "the caller and the place of an operation",
		"internal/engine/guard":  "the operations on edits that these commands call",
		"internal/engine/upkeep": "the doctor's operations and findings",
		"internal/git":           "what git says of the repository",
		"internal/harness":       "which harness it is about, and its words",
		"internal/install":       "what tt install writes for harnesses and git",
		"internal/plainfile":     "files of the data directory and of the user",
		"internal/term":          "pages, tables, text that is safe",
		"internal/workspace":     "which workspace a path means",
		"stick":                  "errors and words",
	},
	"internal/cli/task": {
		"github.com/spf13/cobra":   "commands and their flags",
		"internal/cli/app":         "the run of the program",
		"internal/engine/core":     "the caller and the place of an operation",
		"internal/engine/eventlog": "the operations that read the log",
		"internal/harness":         "which harness it is about, and its words",
		"internal/task":            "the operations on tasks",
		"internal/term":            "pages, tables, text that is safe",
		"stick":                    "errors and words",
		"stick/diff":               "the lines that a change touches",
		"stick/edits":              "the rules of files: who may change which, and whose a change is",
		"stick/tasks":              "the rules of tasks",
	},
	"internal/cli/turn": {
		"github.com/spf13/cobra": "commands and their flags",
		"internal/cli/app":       "the run of the program",
		"internal/cli/events":    "the events that a wait returns",
		"internal/cli/rescue":    "what was kept at a takeover",
		"internal/engine":        "the operations on rooms that these commands call",
		"internal/engine/core":   "the caller and the place of an operation",
		"internal/term":          "pages, tables, text that is safe",
		"stick":                  "errors and words",
	},
	"internal/cli/watch": {
		"github.com/spf13/cobra": "commands and their flags",
		"internal/cli/app":       "the run of the program",
		"internal/demo":          "the scene of tt demo, on the screen of tt watch",
		"internal/engine":        "the operations on rooms that these commands call",
		"internal/engine/core":   "the caller and the place of an operation",
		"internal/monitor":       "the picture that is shown",
		"internal/notify":        "tt notify, and what tt watch tells beside the screen",
		"internal/proc":          "the terminal that an agent runs in",
		"internal/task":          "the operations on tasks",
		"internal/term":          "pages, tables, text that is safe",
		"internal/tui":           "tt watch",
		"internal/web":           "tt serve",
		"stick":                  "errors and words",
		"stick/presence":         "the rules of sessions, and who is there",
	},
	"internal/tui": {
		"charm.land/bubbletea/v2":         "keys, and the loop of messages",
		"github.com/charmbracelet/x/term": "single keys and the size of the terminal",
		"internal/engine":                 "every key performs an operation, as every command does",
		"internal/engine/core":            "the caller of an operation",
		"internal/engine/eventlog":        "the events that are shown",
		"internal/engine/guard":           "what is uncommitted, and rescues",
		"internal/monitor":                "the picture that is shown",
		"internal/task":                   "every key of tasks performs an operation",
		"internal/term":                   "text that is safe and fits",
		"stick":                           "words, errors",
		"internal/engine/guard/restore":   "rescues and calls",
		"stick/diff":                      "the lines that a change touches",
		"stick/edits":                     "the rules of files: who may change which, and whose a change is",
		"stick/names":                     "names of agents in place of their ids",
		"stick/presence":                  "the rules of sessions, and who is there",
	},
	"internal/notify": {
		"internal/engine":      "who tells a person of what",
		"internal/engine/core": "the caller of an operation",
		"internal/monitor":     "what needs somebody",
		"stick":                "words",
		"stick/presence":       "the rules of sessions, and who is there",
	},
	"internal/term": {
		"internal/harness": "the tags of harnesses, which nothing on a page may look like",
		"stick":            "what makes text of others safe",
		"stick/names":      "names of agents in place of their ids",
	},
	"internal/mcpserver": {
		"github.com/modelcontextprotocol/go-sdk": "the protocol",
		"internal/engine":                        "every tool calls one operation",
		"internal/engine/core":                   "the caller of an operation",
		"internal/engine/eventlog":               "the same for the tools that read the log",
		"internal/engine/guard":                  "the same for the tool of edits",
		"internal/engine/roster":                 "the same for the roster, and the name of a caller",
		"internal/engine/scopes":                 "the same for the tools of reservations",
		"internal/harness":                       "the tags of harnesses, which nothing in an answer may look like",
		"internal/params":                        "the parameters that a model writes",
		"internal/task":                          "every tool of tasks calls one operation",
		"stick":                                  "errors, words",
		"internal/engine/guard/restore":          "the same for the tools of calls",
	},
	"internal/params": {
		"stick": "errors, the fields of a message",
	},
	"internal/web": {
		"internal/engine":               "every action and what pages show is an operation",
		"internal/engine/core":          "the caller of an operation, and its room",
		"internal/engine/eventlog":      "the events and the timeline that pages show",
		"internal/engine/guard":         "the same for edits, uncommitted changes and rescues",
		"internal/engine/roster":        "the same for sessions",
		"internal/engine/scopes":        "the same for reservations and conflicts",
		"internal/monitor":              "the picture that all viewers share",
		"internal/params":               "the parameters that a page or a program sends",
		"internal/picture":              "the picture of a room's turns",
		"internal/plainfile":            "the files in which the sums of sessions are kept",
		"internal/task":                 "the same for tasks",
		"stick":                         "errors, words",
		"internal/engine/guard/restore": "the same for rescues and calls",
		"stick/diff":                    "the lines that a change touches",
		"stick/edits":                   "the rules of files: who may change which, and whose a change is",
		"stick/names":                   "names of agents in place of their ids",
		"stick/presence":                "the rules of sessions, and who is there",
		"stick/tasks":                   "the rules of tasks",
	},
	"internal/monitor": {
		"internal/engine":          "what it reads of rooms",
		"internal/engine/core":     "who watches, and the room",
		"internal/engine/eventlog": "the events that it reads, and when it reads again",
		"internal/engine/scopes":   "the reservations of a room",
		"internal/task":            "the tasks of a room",
		"stick":                    "what a person is needed for",
		"stick/presence":           "the rules of sessions, and who is there",
		"stick/tasks":              "the rules of tasks",
	},
	"internal/install": {
		"internal/confedit":  "edits of files that aren't ours",
		"internal/harness":   "where each harness keeps what",
		"internal/plainfile": "what failed about a file, without its path",
		"stick":              "errors",
	},
	"internal/confedit": {
		"github.com/pelletier/go-toml/v2": "TOML: what it means, and where it stands",
		"github.com/rogpeppe/go-internal": "the diff of what an edit would change",
		"github.com/tailscale/hujson":     "JSON with comments: where each value stands",
	},
	"internal/demo": {
		"stick": "errors and words; what it shows it does by running tt as its users do",
	},
	"internal/engine": {
		"internal/bell":                 "the slow net under a wait",
		"internal/engine/core":          "what every operation is made of",
		"internal/engine/eventlog":      "the operations that read the log, which it makes",
		"internal/engine/guard":         "the operations on edits, which it makes",
		"internal/engine/roster":        "which files are whose role's, and who works at a place",
		"internal/engine/scopes":        "the operations on reservations, which it makes",
		"internal/engine/upkeep":        "the operations on the data directory, which it makes",
		"internal/harness":              "the inboxes of idle agents",
		"internal/proc":                 "deaths of processes",
		"internal/store":                "what is read and saved",
		"internal/wake":                 "the inboxes of harnesses, in which idle agents are told what is new",
		"internal/workspace":            "which room a path means",
		"stick":                         "the rules",
		"internal/engine/guard/ledger":  "how much uncommitted work a grant and an event name",
		"internal/engine/guard/restore": "the copy of what a holder left, at a takeover; the first copy of a repository",
		"stick/edits":                   "the rules of files: who may change which, and whose a change is",
		"stick/presence":                "the rules of sessions, and who is there",
		"stick/talk":                    "the rules of messages, notes and drafts",
		"stick/tasks":                   "the rules of tasks",
	},
	"internal/engine/guard/ledger": {
		"internal/engine/core": "who calls, and probes",
		"internal/store":       "what is read and saved",
		"internal/workspace":   "which checkout is the shared tree",
		"stick":                "the rules",
		"stick/edits":          "the rules of files: who may change which, and whose a change is",
	},
	"internal/engine/guard/restore": {
		"internal/engine/core":         "what every operation is made of",
		"internal/engine/guard/ledger": "who has edited what an undo writes, and the undo as a call",
		"internal/rescue":              "copies of uncommitted work",
		"internal/store":               "what is read and saved",
		"internal/workspace":           "which checkout a path means, and what its files are like",
		"stick":                        "the rules",
		"stick/edits":                  "the rules of files: who may change which, and whose a change is",
	},
	"internal/engine/guard/stash": {
		"internal/engine/core":         "what every operation is made of",
		"internal/engine/guard/ledger": "how somebody who makes an entry is noted",
		"internal/rescue":              "the store that keeps commits",
		"internal/shell":               "what a command does to the stash",
		"internal/store":               "what is read and saved",
		"internal/workspace":           "which repository a command works in, and what its stash holds",
		"stick":                        "the rules",
		"stick/edits":                  "the rules of files: who may use which entry",
	},
	"internal/engine/eventlog": {
		"internal/bell":        "the slow net under who follows events",
		"internal/engine/core": "what every operation is made of",
		"internal/proc":        "deaths of processes, which change how a room looks",
		"internal/store":       "what is read",
		"stick":                "events, and the rules of a timeline",
		"stick/timeline":       "the lanes of a timeline",
	},
	"internal/engine/roster": {
		"internal/config":              "what a project sets for sessions and roles",
		"internal/engine/core":         "what every operation is made of",
		"internal/engine/guard":        "which files the guard asks for",
		"internal/harness":             "which agents are at work",
		"internal/store":               "what is read and saved",
		"internal/wake":                "the inbox of a session that ends",
		"internal/workspace":           "the workspace of a path, and its worktrees",
		"stick":                        "the rules",
		"stick/glob":                   "patterns of files that belong to a role",
		"internal/engine/guard/ledger": "how much uncommitted work a briefing names",
		"stick/edits":                  "the rules of files: who may change which, and whose a change is",
		"stick/presence":               "the rules of sessions, and who is there",
		"stick/scope":                  "the rules of reservations",
	},
	"internal/engine/scopes": {
		"internal/engine/core": "what every operation is made of",
		"internal/git":         "what working trees collide on",
		"internal/plainfile":   "the files of what comparisons of working trees have found",
		"internal/store":       "what is read and saved",
		"internal/workspace":   "which room a path means, and where a pattern leads",
		"stick":                "the rules",
		"stick/edits":          "whether a reservation gives a right to edit",
		"stick/glob":           "patterns, made of the paths that a caller names",
		"stick/scope":          "the rules of reservations",
	},
	"internal/engine/upkeep": {
		"internal/engine/core": "what every operation is made of",
		"internal/harness":     "whose hooks are checked",
		"internal/plainfile":   "whose the files of the data directory are",
		"internal/store":       "the database, and its files",
		"stick":                "errors, words",
	},
	"internal/engine/guard": {
		"internal/engine/core":          "what every operation is made of",
		"internal/engine/guard/stash":   "who stashed what, which it asks",
		"internal/git":                  "what is uncommitted; which commits are new, and which refs name them",
		"internal/rescue":               "copies of uncommitted work",
		"internal/shell":                "what a command may cost",
		"internal/store":                "what is read and saved",
		"internal/workspace":            "which room and which checkout a path means, and what its files are like",
		"stick":                         "the rules",
		"stick/glob":                    "patterns of files that only the primary changes",
		"internal/engine/guard/ledger":  "what is noted of edits and calls",
		"internal/engine/guard/restore": "the store of copies",
		"stick/edits":                   "the rules of files: who may change which, and whose a change is",
	},
	"internal/forge": {
		"stick": "pull requests, errors",
	},
	"internal/task": {
		"internal/config":          "what a project sets about reviews, and the gate's own file",
		"internal/engine/core":     "what every operation is made of",
		"internal/git":             "what a task changes, and where its comments lie",
		"internal/store":           "what is read and saved",
		"internal/task/pull":       "the operation on pull requests",
		"internal/task/queue":      "merges and reverts, and the files of the gate",
		"internal/task/repository": "the repository, the worktrees and the intents of an operation",
		"internal/task/runner":     "the commands of workers",
		"internal/workspace":       "the workspace of a room, for the doctor",
		"stick":                    "the rules",
		"stick/diff":               "the lines that a change touches",
		"stick/presence":           "the rules of sessions, and who is there",
		"stick/talk":               "the rules of messages, notes and drafts",
		"stick/tasks":              "the rules of tasks",
	},
	"internal/task/pull": {
		"internal/engine/core":     "what every operation is made of",
		"internal/forge":           "how the programs of forges speak",
		"internal/store":           "what is read and saved",
		"internal/task/command":    "the project's own command for pull requests; processes that end with their program",
		"internal/task/queue":      "a task that a forge has merged has landed",
		"internal/task/repository": "the repository, and the push of what is offered",
		"internal/task/runner":     "the commands that start because a task has landed",
		"stick":                    "the rules",
		"stick/tasks":              "the rules of tasks",
	},
	"internal/task/queue": {
		"internal/bell":            "how long a lander sleeps between two looks",
		"internal/plainfile":       "the files of landers",
		"internal/config":          "the gate of a project",
		"internal/engine/core":     "what every operation is made of",
		"internal/git":             "merges, reverts and the move of a branch",
		"internal/store":           "what is read and saved",
		"internal/task/command":    "the outcome of a gate",
		"internal/task/repository": "the repository, the lease of a landing, and what is left of a task that has landed",
		"internal/task/runner":     "how the command of a task starts again that comes back",
		"internal/workspace":       "whether the branch is checked out in the shared tree",
		"stick":                    "the rules",
		"stick/tasks":              "the rules of tasks",
	},
	"internal/task/runner": {
		"golang.org/x/sys":         "the parent of what a worker's command leaves behind",
		"internal/bell":            "the wait for a task that comes back, and for more output",
		"internal/engine/core":     "what every operation is made of",
		"internal/harness":         "the mark of what a worker's command runs, and the name of the process that attends to it",
		"internal/plainfile":       "the output of workers' commands",
		"internal/proc":            "the processes that a worker's command has started",
		"internal/store":           "what is read and saved",
		"internal/task/command":    "process groups and their end",
		"internal/task/repository": "the worktree that the command runs in",
		"stick":                    "the rules",
		"stick/edits":              "the rules of files: who may change which, and whose a change is",
		"stick/tasks":              "the rules of tasks",
	},
	"internal/task/repository": {
		"internal/bell":         "the locks of tasks",
		"internal/config":       "what a project sets for its tasks",
		"internal/engine/core":  "what every operation is made of",
		"internal/git":          "branches and worktrees",
		"internal/plainfile":    "the folder of the locks",
		"internal/store":        "what is read and saved",
		"internal/task/command": "the set-up of a worktree",
		"internal/workspace":    "the main checkout of a path",
		"stick":                 "the rules",
		"stick/glob":            "patterns of files that are copied and kept",
		"stick/scope":           "the rules of reservations",
		"stick/tasks":           "the rules of tasks",
	},
	"internal/task/command": {
		"golang.org/x/sys": "names of signals",
		"internal/proc":    "signals to a process that may have ended",
		"stick":            "how a command has ended, in words; errors",
	},
	"internal/engine/core": {
		"internal/config":    "the task file of a worktree, read as a project's files are",
		"internal/git":       "the git that operations run",
		"internal/harness":   "who calls, as the surface found out",
		"internal/proc":      "verdicts of processes",
		"internal/store":     "transactions",
		"internal/wake":      "which inboxes of harnesses can be written to",
		"internal/workspace": "which room a path means",
		"stick":              "the rules",
		"stick/edits":        "the rules of files: who may change which, and whose a change is",
		"stick/names":        "the name of a new agent",
		"stick/presence":     "the rules of sessions, and who is there",
		"stick/talk":         "the rules of messages, notes and drafts",
		"stick/tasks":        "the rules of tasks",
	},
	"internal/config": {
		"github.com/pelletier/go-toml/v2": "the file is TOML",
		"stick":                           "errors",
		"stick/glob":                      "patterns of roles",
		"stick/scope":                     "the rules of reservations",
		"stick/tasks":                     "the rules of tasks",
	},
	"internal/store": {
		"internal/bell":           "ringing what was committed",
		"internal/plainfile":      "the files of the data directory, for a trial",
		"internal/store/dialect":  "what every database can do",
		"internal/store/postgres": "a database on a server",
		"internal/store/schema":   "the migrations that a database gets",
		"internal/store/sqlite":   "a database in a file",
		"stick":                   "what is loaded and saved",
		"stick/glob":              "the key by which paths and patterns are found",
		"stick/edits":             "the rules of files: who may change which, and whose a change is",
		"stick/presence":          "the rules of sessions, and who is there",
		"stick/scope":             "the rules of reservations",
		"stick/talk":              "the rules of messages, notes and drafts",
		"stick/tasks":             "the rules of tasks",
	},
	"internal/store/dialect": {
		"internal/bell": "the bells that ring for commits of other hosts",
		"stick":         "rooms, times, errors",
	},
	"internal/store/schema": {
		"stick": "errors",
	},
	"internal/store/sqlite": {
		"internal/bell":          "the write lock",
		"internal/plainfile":     "the database's header, outputs, the numbers that were issued",
		"internal/store/dialect": "what it has to do",
		"internal/store/schema":  "the migrations",
		"modernc.org/sqlite":     "the database; nothing else knows which it is",
		"stick":                  "errors",
	},
	"internal/store/postgres": {
		"github.com/jackc/pgx":   "the protocol of PostgreSQL; nothing else knows which database it is",
		"internal/bell":          "the bells of this host, and the places of its connections",
		"internal/plainfile":     "the id of this host",
		"internal/store/dialect": "what it has to do",
		"internal/store/schema":  "the migrations",
		"stick":                  "errors",
	},
	"internal/harness": {
		"internal/proc":  "what an ancestor looks like",
		"internal/shell": "what a command that a tool runs is going to change",
		"stick":          "what a process proves",
		"stick/edits":    "the rules of files: who may change which, and whose a change is",
	},
	"internal/shell": {
		"internal/workspace": "which repository git checkout finds branches in",
		"mvdan.cc/sh":        "the grammar of the shell",
	},
	"internal/bell": {
		"internal/plainfile": "locks and bells, which are opened in the middle of transactions",
		"golang.org/x/sys":   "inotify, kqueue, flock, LockFileEx, FIFOs",
		"stick":              "the three verdicts",
	},
	"internal/picture": {
		"stick":          "what a timeline is",
		"stick/timeline": "the lanes of a timeline",
	},
	"internal/wake": {
		"golang.org/x/sys":   "who listens on a socket",
		"internal/plainfile": "the files in which inboxes are kept",
		"stick":              "the process of a harness, and its agent",
	},
	"internal/plainfile": {
		"stick": "errors",
	},
	"internal/proc": {
		"golang.org/x/sys": "pidfd, kqueue, sysctl, Windows' process calls",
		"stick":            "a process's identity, and the three verdicts",
	},
	"internal/git": {
		"internal/plainfile": "what failed about a file, without its path",
		"golang.org/x/sys":   "a job object, so that what git started on Windows ends with it",
		"stick":              "what a handoff says of the working tree, and errors",
		"stick/diff":         "the lines that a change touches",
	},
	"internal/rescue": {
		"github.com/rogpeppe/go-internal": "the diff of what a restore would change",
		"internal/git":                    "what is uncommitted; the index, the bytes of staged files",
		"internal/plainfile":              "the files of the data directory",
		"internal/rescue/bare":            "the repositories that hold rescues",
		"internal/rescue/commits":         "the commits that are kept in the same repositories",
		"internal/rescue/manifest":        "what a rescue is",
		"internal/rescue/pack":            "objects, to write and to read them",
		"internal/rescue/workfile":        "the files of a checkout",
		"internal/workspace":              "the checkout of a path",
		"stick":                           "times, errors",
		"stick/edits":                     "the rules of files: who may change which, and whose a change is",
	},
	"internal/rescue/commits": {
		"internal/git":             "which commits a repository has, and packs of them",
		"internal/plainfile":       "the log of what is kept, the stamps of refs",
		"internal/rescue/bare":     "the repositories in which they are kept",
		"internal/rescue/manifest": "ids, and what was left out",
		"internal/rescue/pack":     "the suffixes of packs, and what git says of an object",
		"internal/workspace":       "the stash, and which repository lies in which",
		"stick":                    "times, errors",
	},
	"internal/rescue/bare": {
		"golang.org/x/sys":         "the lock between who makes a snapshot and who removes some",
		"internal/git":             "rescues that somebody has packed again",
		"internal/plainfile":       "the files of the data directory",
		"internal/rescue/manifest": "what a rescue says of itself",
		"internal/rescue/pack":     "the packs of rescues",
		"internal/workspace":       "the name of a checkout",
		"stick":                    "times, errors",
	},
	"internal/rescue/manifest": {
		"internal/rescue/pack": "the objects that entries are read from, and git's modes",
		"stick":                "times, and words of ours",
	},
	"internal/rescue/pack": {
		"internal/git":       "objects of the user's repository",
		"internal/plainfile": "packs and their indexes",
	},
	"internal/rescue/workfile": {
		"internal/rescue/pack": "git's modes",
	},
	"internal/workspace": {
		"golang.org/x/sys": "the type of a file system",
		"stick":            "errors",
		"stick/edits":      "the rules of files: who may change which, and whose a change is",
	},
	"stick": {
		"stick/glob": "which paths a reservation means, and where two of them meet",
	},
	"stick/glob": {},
	"stick/diff": {
		"stick": "the room, its events, errors and words",
	},
	"stick/edits": {
		"stick":          "the room, its events, errors and words",
		"stick/glob":     "patterns of paths",
		"stick/presence": "the rules of sessions, and who is there",
		"stick/scope":    "the rules of reservations",
	},
	"stick/names": {
		"stick": "ids of agents, which names stand for",
	},
	"stick/presence": {
		"stick": "the room, its events, errors and words",
	},
	"stick/scope": {
		"stick":      "the room, its events, errors and words",
		"stick/glob": "patterns of paths",
	},
	"stick/talk": {
		"stick":          "the room, its events, errors and words",
		"stick/presence": "the rules of sessions, and who is there",
	},
	"stick/tasks": {
		"stick":      "the room, its events, errors and words",
		"stick/diff": "the lines that a change touches",
	},
	"stick/timeline": {
		"stick": "the room, its events, errors and words",
	},
	"stick/sticktest": {
		"stick":          "what happens in the room of a test",
		"stick/glob":     "what happens in the room of a test",
		"stick/presence": "what happens in the room of a test",
		"stick/scope":    "what happens in the room of a test",
		"stick/talk":     "what happens in the room of a test",
		"stick/tasks":    "what happens in the room of a test",
	},

	"internal/clitest": {
		"internal/cli/app":     "the surroundings that it changes",
		"golang.org/x/sys":     "the standard files of a process that plays one command after the other, and what it leaves behind",
		"internal/cli":         "a test binary that is tt",
		"internal/cli/full":    "with all its commands",
		"internal/demo":        "a test binary that plays the demo's harnesses",
		"internal/engine/core": "the names of the points at which copies are made, which only some tests ask for",
		"internal/plainfile":   "the refusal of another user's data directory",
		"internal/proc":        "ancestries that end at the test",
		"internal/workspace":   "the refusal of a network file system, which no test can mount",
	},
	"internal/proc/proctest": {
		"internal/proc": "machines made of data",
	},
	"internal/recording": {
		"golang.org/x/sys": "the end of all processes of a terminal",
		"internal/pty":     "terminals for the programs that are recorded",
		"internal/term":    "how wide a character is",
	},
	"internal/scene": {
		"internal/engine":               "the operations that stories are made of",
		"internal/engine/core":          "callers, and a kernel for each",
		"internal/engine/eventlog":      "the operations that stories are made of",
		"internal/engine/guard":         "the operations that stories are made of",
		"internal/engine/roster":        "the operations that stories are made of",
		"internal/engine/scopes":        "the operations that stories are made of",
		"internal/engine/upkeep":        "the doctor at the end of each story",
		"internal/proc":                 "the processes that programs see",
		"internal/proc/proctest":        "processes made of data",
		"internal/shell":                "which files a command changes, as a hook finds out",
		"internal/store":                "what is stored, beside the operations",
		"internal/storetest":            "the clock, and the check of the database",
		"internal/task":                 "the operations that stories are made of",
		"internal/testenv":              "copies of the repositories that stories begin in",
		"internal/wake":                 "the inboxes that are written down",
		"internal/workspace":            "where programs run",
		"stick":                         "words, errors",
		"internal/engine/guard/restore": "the operations that stories are made of",
		"stick/presence":                "the rules of sessions, and who is there",
	},
	"internal/storetest": {
		"github.com/jackc/pgx": "looking at a database, and damaging one, past the store",
		"internal/pgserver":    "a server for them",
		"internal/store":       "test databases",
		"internal/testenv":     "the end of the tests, which ends their server",
		"modernc.org/sqlite":   "the same for a file",
	},
	"internal/bench": {
		"github.com/jackc/pgx":     "what a server says of its connections",
		"internal/bell":            "how waits listen",
		"internal/engine":          "rooms with a million events, made without a million processes",
		"internal/engine/core":     "the same",
		"internal/engine/eventlog": "reading them",
		"internal/git":             "the git that rescues run",
		"internal/pgserver":        "a server that several hosts share",
		"internal/proc":            "the engine's surroundings",
		"internal/pty":             "a terminal for tt watch",
		"internal/rescue":          "a rescue, without a command around it",
		"internal/store":           "the same",
		"internal/workspace":       "the same",
		"stick":                    "words",
		"stick/edits":              "the rules of files: who may change which, and whose a change is",
		"stick/scope":              "the rules of reservations",
		"stick/talk":               "the rules of messages, notes and drafts",
		"stick/tasks":              "the rules of tasks",
	},
	"internal/model":    {},
	"internal/testenv":  {},
	"internal/pgserver": {},
	"internal/pty": {
		"golang.org/x/sys": "the calls that make a terminal",
	},
	"internal/manpages": {
		"internal/cli/app":       "the surroundings of the command tree",
		"internal/cli":           "the command tree",
		"internal/cli/full":      "with all its commands",
		"github.com/spf13/cobra": "its package doc writes manual pages",
	},
	"internal/plugin": {
		"internal/harness": "which harness takes which plugin, and the skill",
		"internal/install": "the entries that tt install writes",
	},
	"internal/mutate":       {},
	"internal/release":      {},
	"internal/e2e/modelapi": {},
	"internal/e2e/realharness": {
		"golang.org/x/sys": "waiting for the end of a process that is nobody's child any more",
		"internal/testenv": "saying what a short run leaves out",
	},
	"internal/bench/floor/empty": {},
	"internal/bench/floor/read": {
		"modernc.org/sqlite": "the floor of a command: one read and nothing else",
	},
}

// testOnly are the packages that only tests import, and testModules the modules.
var (
	testOnly = []string{
		"internal/clitest", "internal/e2e/modelapi", "internal/e2e/realharness", "internal/model",
		"internal/proc/proctest", "internal/recording", "internal/scene", "internal/storetest",
		"internal/testenv", "stick/sticktest",
	}
	testModules = map[string]string{
		"github.com/anishathalye/porcupine": "whether a history of real processes is linearizable",
		"github.com/chromedp/cdproto":       "the words of Chromium's protocol",
		"github.com/chromedp/chromedp":      "pages as a person sees them, in Chromium",
		"github.com/google/go-cmp":          "differences that can be read",
		"github.com/rogpeppe/go-internal":   "scripts that run the program, which are its manual's examples too",
		"pgregory.net/rapid":                "property tests",
	}
)

// pure are the packages of the rules.
var pure = []string{
	"stick", "stick/diff", "stick/edits", "stick/glob", "stick/names", "stick/presence", "stick/scope", "stick/talk",
	"stick/tasks", "stick/timeline",
}

// stickImports is all that package stick and those below it may import of the standard library: nothing that reads a clock, a file, the
// environment, the network or a database. Its tests may import more.
var stickImports = []string{
	"cmp", "context", "crypto/sha256", "encoding/hex", "encoding/json", "errors", "fmt", "maps", "math",
	"reflect", "regexp", "slices",
	// sync: tables that are built when they are needed; reflect: what is a text in our words
	"strconv", "strings", "sync", "time", "unicode", "unicode/utf8",
}

// outside are the packages that may read the process's own surroundings or print; the others get
// them from their callers.
var outside = map[string]string{
	"cmd/tt":                    "main ends the process",
	"cmd/tt-full":               "main ends the process",
	"internal/bench":            "a program of its own",
	"internal/bench/floor/read": "a program of its own",
	"internal/cli/app":          "it is where the surroundings are read",
	"internal/cli/demo":         "an actor has the name it was called by; the scene is made in the system's directory for temporary files",
	"internal/cli/session":      "what it starts gets the environment, without what names the caller",
	"internal/cli/task":         "what it starts gets the environment, without what names the caller",
	"internal/cli/watch":        "what it starts gets the environment",
	"internal/clitest":          "it stands in for main",
	"internal/e2e/realharness":  "it finds what .ci/npm installed, and says whether that must be there",
	"internal/manpages":         "a program of its own",
	"internal/mutate":           "a program of its own",
	"internal/plugin":           "a program of its own",
	"internal/release":          "a program of its own",
	"internal/testenv":          "it makes the surroundings of tests",
	"internal/git":              "git needs its environment, less what starts with GIT_",
}

// surroundings are the names by which they are read.
var surroundings = map[string][]string{
	"os": {
		"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Getwd", "Args", "Exit", "Stdin", "Stdout", "Stderr",
		"UserHomeDir",
	},
	"fmt": {"Print", "Printf", "Println"},
	"log": {"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln"},
}

// clocks are what reads the time or waits for it.
var clocks = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"},
}

// meaningless names say nothing about what a package provides.
var meaningless = []string{"utils", "util", "common", "types", "models", "helpers", "mock", "pkg"}

func TestImports(t *testing.T) {
	files := parse(t)
	packages, tested := map[string]bool{}, map[string]bool{}
	used := map[string]map[string]bool{}
	for _, f := range files {
		packages[f.dir] = true
		if _, ok := edges[f.dir]; !ok && f.dir != "." && !f.test {
			t.Errorf("%s: package %s has no row in the table of imports", f.path, f.dir)
			continue
		}

		for _, path := range f.imports {
			to, ok := edge(path)
			switch {
			case !ok, to == f.dir: // the standard library; a test of the package from outside
			case f.test:
				tested[to] = true
				if !testMay(f.dir, to) {
					t.Errorf("%s imports %s: neither may its package, nor is it there for tests", f.path, to)
				}

			default:
				if slices.Contains(testOnly, to) && !slices.Contains(testOnly, f.dir) {
					t.Errorf("%s imports %s, which only tests may", f.path, to)
				}
				if edges[f.dir][to] == "" {
					t.Errorf("%s imports %s, which the table of imports doesn't allow", f.path, to)
				}

				if used[f.dir] == nil {
					used[f.dir] = map[string]bool{}
				}
				used[f.dir][to] = true
			}
		}
	}

	for _, from := range slices.Sorted(maps.Keys(edges)) {
		if !packages[from] {
			t.Errorf("the table of imports has a row for %s, which doesn't exist", from)
		}

		for _, to := range slices.Sorted(maps.Keys(edges[from])) {
			if packages[from] && !used[from][to] {
				t.Errorf("the table of imports lets %s import %s, which nothing there does", from, to)
			}
		}
	}

	for _, name := range slices.Sorted(maps.Keys(testModules)) {
		if !tested[name] {
			t.Errorf("tests may import %s, and none does", name)
		}
	}

	for _, name := range testOnly {
		if !packages[name] {
			t.Errorf("%s is listed as there for tests, and doesn't exist", name)
		}
	}
}

// TestImportsGoOneWay finds circles through the table, which Go itself would only find once the
// code had them.
func TestImportsGoOneWay(t *testing.T) {
	for from := range edges {
		if reaches(from, from, map[string]bool{}) {
			t.Errorf("%s may import itself in a circle", from)
		}
	}
}

// TestEngineAndTaskAreApart: the operations on rooms and those on tasks reach each other only by functions in
// their configuration, also by way of other packages.
func TestEngineAndTaskAreApart(t *testing.T) {
	for _, pair := range [][2]string{
		{"internal/engine", "internal/task"},
		{"internal/task", "internal/engine"},
		{"internal/task", "internal/engine/guard"},
		{"internal/task", "internal/engine/roster"},
	} {
		if reaches(pair[0], pair[1], map[string]bool{}) {
			t.Errorf("the table of imports lets %s reach %s", pair[0], pair[1])
		}
	}
}

// TestStart_CompilesNoPattern: what a package prepares when the program starts, each call of each tool of each
// agent pays for, twice.
func TestStart_CompilesNoPattern(t *testing.T) {
	for _, f := range parse(t) {
		if f.test || !reaches("cmd/tt", f.dir, map[string]bool{}) {
			continue
		}

		for _, v := range packageValues(f.tree) {
			if call, ok := v.(*ast.CallExpr); ok && isSelected(call.Fun, "regexp", "MustCompile") {
				t.Errorf("%s compiles a pattern at each start: compile it when it is first used (sync.OnceValue)",
					f.path)
			}
		}
	}
}

// TestStart_LinksNoServer: tt, which every hook starts, hands over what these packages and the libraries below them are for.
func TestStart_LinksNoServer(t *testing.T) {
	for _, dear := range []string{"internal/mcpserver", "internal/tui", "internal/web"} {
		if reaches("cmd/tt", dear, map[string]bool{}) {
			t.Errorf("the table of imports lets cmd/tt reach %s: commands that need it belong to tt-full", dear)
		}
		if !reaches("cmd/tt-full", dear, map[string]bool{}) {
			t.Errorf("cmd/tt-full doesn't reach %s", dear)
		}
	}
}

// packageValues returns the values of a file's package variables.
func packageValues(file *ast.File) (values []ast.Expr) {
	for _, d := range file.Decls {
		vars, ok := d.(*ast.GenDecl)
		if !ok || vars.Tok != token.VAR {
			continue
		}

		for _, s := range vars.Specs {
			values = append(values, s.(*ast.ValueSpec).Values...)
		}
	}

	return values
}

// isSelected reports whether an expression is a name of a package.
func isSelected(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := s.X.(*ast.Ident)
	return ok && from.Name == pkg && s.Sel.Name == name
}

func TestPackageNames(t *testing.T) {
	for _, f := range parse(t) {
		for _, name := range append(strings.Split(f.dir, "/"), strings.TrimSuffix(f.tree.Name.Name, "_test")) {
			if slices.Contains(meaningless, name) {
				t.Errorf("%s: a package named %s doesn't say what it provides", f.path, name)
			}
		}
	}
}

// TestRulesArePure holds the rules to values: they import nothing by which the world
// could come in, and never reads a clock.
func TestRulesArePure(t *testing.T) {
	used := map[string]bool{}
	for _, f := range parse(t) {
		if !slices.Contains(pure, f.dir) || f.test {
			continue
		}

		for _, path := range f.imports {
			used[path] = true
			if _, ours := edge(path); !ours && !slices.Contains(stickImports, path) {
				t.Errorf("%s imports %s: rules get what they need as values", f.path, path)
			}
		}

		for _, name := range f.uses(clocks) {
			t.Errorf("%s uses %s: the time is an argument of every rule", f.path, name)
		}
	}

	for _, path := range stickImports {
		if !used[path] {
			t.Errorf("package stick is allowed to import %s and doesn't", path)
		}
	}
}

// TestSurroundings keeps the environment, the working directory, the arguments and the standard
// streams in the command line, so that every other package can be used by a server for many callers.
func TestSurroundings(t *testing.T) {
	used := map[string]bool{}
	for _, f := range parse(t) {
		if f.test {
			continue
		}

		for _, name := range f.uses(surroundings) {
			used[f.dir] = true
			if outside[f.dir] == "" {
				t.Errorf("%s uses %s, which only the command line may", f.path, name)
			}
		}
	}

	for dir := range outside {
		if !used[dir] {
			t.Errorf("%s is allowed to read its surroundings and doesn't", dir)
		}
	}
}

// TestInstallKnowsNoHarness keeps all that is particular to one harness in its row and its folder:
// package install names none, neither in code nor in a comment nor in a file that it writes.
func TestInstallKnowsNoHarness(t *testing.T) {
	const dir = "internal/install"
	read := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(path, "_test.go"):
			return nil
		}

		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++

		text := strings.ToLower(string(b))
		for _, row := range harness.Rows {
			for _, name := range append(row.Environment(), row.Name, string(row.Title)) {
				// some names are parts of words
				whole := regexp.MustCompile(`\b` + regexp.QuoteMeta(strings.ToLower(name)) + `\b`)
				if whole.MatchString(text) {
					t.Errorf("%s knows %s by %q: that belongs into its row in internal/harness", path, row.Title, name)
				}
			}
		}

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read == 0 {
		t.Errorf("%s has no files", dir)
	}
}

// file is a Go file of the module.
type file struct {
	path, dir string // with /, from the root of the module
	test      bool
	tree      *ast.File
	imports   []string
}

// parse returns the Go files of the module, whatever system they are for.
func parse(t *testing.T) []file {
	t.Helper()
	files, err := parseOnce()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// parseOnce reads them once for all tests, none of which changes them.
var parseOnce = sync.OnceValues(func() (out []file, err error) {
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		if d.IsDir() {
			if name := d.Name(); path != "." &&
				(name == "testdata" || name == "dist" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return fs.SkipDir
			}
			return nil
		}

		if filepath.Ext(path) != ".go" {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}

		path = filepath.ToSlash(path)
		f := file{
			path: path, dir: filepath.ToSlash(filepath.Dir(path)), test: strings.HasSuffix(path, "_test.go"),
			tree: tree,
		}
		for _, i := range tree.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, p)
		}

		out = append(out, f)
		return nil
	})

	return out, err
})

// edge names an import as the table does: a package of ours by its folder, one of others by its
// module. ok is false for the standard library.
func edge(path string) (to string, ok bool) {
	if rest, ours := strings.CutPrefix(path, module+"/"); ours {
		return rest, true
	}
	host, _, _ := strings.Cut(path, "/")
	if !strings.Contains(host, ".") {
		return "", false
	}

	known := slices.Collect(maps.Keys(testModules))
	for _, row := range edges {
		known = slices.AppendSeq(known, maps.Keys(row))
	}

	for _, to := range known {
		if path == to || strings.HasPrefix(path, to+"/") {
			return to, true
		}
	}

	return path, true
}

// testMay tells whether the tests of a package may import another: what the package itself can
// reach, what is there for tests, and, except for the rules, the package around it and what that
// reaches, by whose operations its stories begin, and the whole program.
func testMay(dir, to string) bool {
	if !slices.Contains(pure, dir) {
		for around := path.Dir(dir); around != "."; around = path.Dir(around) {
			if around == to || reaches(around, to, map[string]bool{}) {
				return true
			}
		}
	}

	return testModules[to] != "" ||
		slices.Contains(testOnly, to) ||
		slices.Contains(pure, to) ||
		to == "internal/pty" ||
		dir == "internal/e2e" ||
		dir == "." ||
		edges[dir][to] != "" || reaches(dir, to, map[string]bool{}) ||
		slices.Contains([]string{"internal/cli", "internal/cli/app", "internal/cli/full"}, to) && !slices.Contains(pure, dir) ||
		dir == "internal/cli" && reaches("internal/cli/full", to, map[string]bool{})
}

// reaches tells whether the table lets from import to, however indirectly.
func reaches(from, to string, seen map[string]bool) bool {
	for next := range edges[from] {
		if next == to {
			return true
		}

		if !seen[next] {
			seen[next] = true
			if reaches(next, to, seen) {
				return true
			}
		}
	}

	return false
}

// uses lists where a file uses one of the given names of packages.
func (f file) uses(names map[string][]string) []string {
	imported := map[string]string{} // by the name that it has in the file
	for i, spec := range f.tree.Imports {
		name := f.imports[i][strings.LastIndexByte(f.imports[i], '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = f.imports[i]
	}

	var found []string
	ast.Inspect(f.tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}

		if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(names[imported[x.Name]], sel.Sel.Name) {
			found = append(found, imported[x.Name]+"."+sel.Sel.Name)
		}
		return true
	})

	return found
}
