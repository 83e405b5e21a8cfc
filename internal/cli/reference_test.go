package cli

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"talkingstick/internal/cli/doctor"
	"talkingstick/internal/cli/full"
	"talkingstick/internal/config"
	"talkingstick/internal/harness"
	"talkingstick/stick"
)

// The reference, docs/reference, is made from what the program is made from: the command tree, the tables of
// package stick, the result structs of packages engine, guard and task, and the comments on them. It is
// generated and compared here. So the program doesn't carry it, and it can't be out of date.

var updateReference = flag.Bool("reference.update", false, "write docs/reference instead of comparing it")

const referenceDir = "../../docs/reference"

func TestReference(t *testing.T) {
	g := &reference{T: t, src: readSource(t)}
	pages := map[string]string{
		"README.md":      g.index(),
		"commands.md":    g.commands(),
		"errors.md":      g.errors(),
		"room.md":        g.room(),
		"events.md":      g.events(),
		"json.md":        g.json(),
		"environment.md": g.environment(),
	}

	if *updateReference {
		if err := os.MkdirAll(referenceDir, 0o755); err != nil {
			t.Fatal(err)
		}
	}

	have, err := filepath.Glob(filepath.Join(referenceDir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}

	for _, path := range have {
		if pages[filepath.Base(path)] == "" {
			t.Errorf("%s isn't generated: it doesn't belong here", path)
		}
	}

	for _, name := range slices.Sorted(maps.Keys(pages)) {
		path := filepath.Join(referenceDir, name)
		if *updateReference {
			if err := os.WriteFile(path, []byte(pages[name]), 0o644); err != nil {
				t.Error(err)
			}
			continue
		}

		was, err := os.ReadFile(path)
		if err != nil || string(was) != pages[name] {
			t.Errorf("%s isn't what the code says (%s): make generate", path, firstDifference(string(was), pages[name]))
		}
	}
}

func firstDifference(was, is string) string {
	a, b := strings.Split(was, "\n"), strings.Split(is, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("from line %d on", i+1)
		}
	}

	return "the same"
}

// reference generates the pages.
type reference struct {
	*testing.T
	src source
	b   strings.Builder
}

func (g *reference) line(format string, args ...any) { fmt.Fprintf(&g.b, format+"\n", args...) }

// page begins a page, and its return value ends it.
func (g *reference) page(title, intro string) func() string {
	g.b.Reset()
	g.line("<!-- Generated from the code by `make generate`. A test compares them. -->\n")
	g.line("# %s\n\n%s", title, intro)
	return func() string { return g.b.String() }
}

// table writes the rows of a table, which each have as many cells as head.
func (g *reference) table(head []string, rows ...[]string) {
	cells := func(row []string) { g.line("| %s |", strings.Join(row, " | ")) }
	g.line("")
	cells(head)
	g.line("|%s", strings.Repeat("---|", len(head)))

	for _, row := range rows {
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", `\|`)
		}
		cells(row)
	}
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func (g *reference) index() string {
	end := g.page("Reference", "Generated from the code, and compared with it by a test.")
	g.line(`
- [Commands](commands.md): every command, its flags, what it does
- [Errors](errors.md): exit statuses and error codes
- [Rooms and turns](room.md): the words of states, answers, causes and policies
- [Events](events.md): the log
- [JSON](json.md): the fields of every answer
- [Environment](environment.md): variables and files

How the protocol works, and what it guarantees: [PROTOCOL](../PROTOCOL.md).`)

	return end()
}

// Commands.

// silent are commands that print no result of ours.
var silent = regexp.MustCompile(`^tt (help|completion)\b`)

// spoken are commands that speak another program's protocol.
var spoken = []string{"tt hook", "tt hook git", "tt mcp"}

// tree returns every command that is shown, in the order of the help.
func tree() []*cobra.Command {
	var all []*cobra.Command
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		all = append(all, c)
		for _, g := range append(c.Groups(), &cobra.Group{}) {
			for _, sub := range c.Commands() {
				if sub.GroupID == g.ID && !sub.Hidden {
					walk(sub)
				}
			}
		}
	}

	walk(Commands(full.Commands()))
	return all
}

func (g *reference) commands() string {
	end := g.page("Commands", `Every command takes the flags of [all commands](#flags-of-all-commands). A path may be anything inside a workspace
and is the working directory by default; it is the last argument, or the flag `+"`--path`"+`. `+"`--room`"+` names the
room by its id instead, or by the first characters of it. Durations are written like
`+"`90s` or `45m`"+`. Exit statuses: [Errors](errors.md).`)

	var all []*cobra.Command
	for _, c := range tree() {
		if !silent.MatchString(c.CommandPath()) || c.CommandPath() == "tt completion" {
			all = append(all, c)
		}
	}

	g.line("")
	for _, c := range all {
		g.line("- [`%s`](#%s): %s", c.CommandPath(), anchor(c.CommandPath()), c.Short)
	}

	for _, c := range all {
		g.line("\n## %s", c.CommandPath())
		g.line("\n%s.", c.Short)
		if c.Runnable() {
			g.line("\n```\n%s\n```", c.UseLine())
		}
		if len(c.Aliases) > 0 {
			g.line("\nAlso called %s.", code(strings.Join(c.Aliases, "`, `")))
		}

		switch {
		case c.CommandPath() == "tt":
			g.line("\nWithout a command, `tt` shows the room of the working directory, like `tt state`. Outside of rooms it says how to start;\nas JSON: `{\"room_state\": \"none\", \"next_action\": \"tt init\"}`.")
		case c.CommandPath() == "tt completion":
			g.line("\nFor bash, zsh, fish and PowerShell; `tt completion <shell> --help` says how to load it.")
			continue
		case c.Long != "":
			g.line("\n%s", strings.ReplaceAll(c.Long, "--", `\--`))
		}

		g.line("\n```\n%s\n```", strings.Join(examples[c.CommandPath()], "\n"))
		if c.HasParent() {
			g.flags(c.NonInheritedFlags())
		}

		var names []string
		for _, r := range results[c.CommandPath()] {
			n := typeName(reflect.TypeOf(r))
			names = append(names, fmt.Sprintf("[%s](json.md#%s)", n, anchor(n)))
		}

		switch {
		case len(names) == 0 && (c.HasSubCommands() || slices.Contains(spoken, c.CommandPath())):
		case len(names) == 0:
			g.Errorf("%s prints a result that the table of results doesn't name", c.CommandPath())
		case len(names) == 2 && c.Flags().Lookup("output") != nil:
			g.line("\nJSON: %s; with `--output` %s.", names[0], names[1])
		case c.Flags().Lookup("jsonl") != nil:
			g.line("\nJSON: one %s a line.", names[0])
		case len(names) == 2:
			g.line("\nJSON: %s; with `--follow` one %s a line.", names[0], names[1])
		default:
			g.line("\nJSON: %s.", names[0])
		}
	}

	for path := range results {
		if !slices.ContainsFunc(all, func(c *cobra.Command) bool { return c.CommandPath() == path }) {
			g.Errorf("the table of results names %s, which is no command", path)
		}
	}

	g.line("\n## Flags of all commands")
	g.flags(all[0].PersistentFlags())
	return end()
}

func (g *reference) flags(f *pflag.FlagSet) {
	var rows [][]string
	f.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		if k, ok := flagKinds[kind]; ok {
			kind = k
		}
		name := "--" + f.Name
		if kind != "" {
			name += " " + kind
		}

		switch f.DefValue {
		case "", "0", "false", "[]", "0s":
		default:
			usage += " (default " + f.DefValue + ")"
		}
		rows = append(rows, []string{code(name), usage})
	})

	if len(rows) > 0 {
		g.table([]string{"flag", "meaning"}, rows...)
	}
}

// flagKinds are plain words for what the flag library calls the kinds of values.
var flagKinds = map[string]string{"string": "text", "stringArray": "text", "strings": "list", "int": "number"}

func anchor(title string) string {
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}

// Errors.

func (g *reference) errors() string {
	end := g.page("Errors", `A command that fails prints one line on standard error, and mostly a second one with the next safe step. With `+"`--json`"+`
or `+"`TT_JSON=1`"+` it is one JSON object instead: `+"`error`, `message`, `hint`"+` and the facts below. Standard output stays empty.

A failure means that nothing of what was asked was done. There are two exceptions.
`+"`tt try`"+` and `+"`tt wait`"+` have joined the room even if they end without the turn. `+"`tt take`"+` on an owner that only
looks idle is refused, and tells the owner so ([why](../decisions/turns-and-takeovers.md#takeovers-and-offers)).`)

	g.line("\n## Exit statuses")
	var rows [][]string
	classes := map[int]bool{}
	for _, e := range exits {
		classes[e.status] = true
		var codes []string
		for _, c := range stick.Codes {
			if c.Exit == e.status {
				codes = append(codes, code(string(c.Code)))
			}
		}
		rows = append(rows, []string{strconv.Itoa(e.status), e.meaning, strings.Join(codes, " ")})
	}

	g.table([]string{"exit", "meaning", "codes"}, rows...)
	g.line("\nA status that isn't listed means failure too.")
	g.line("\n## Error codes\n\nCodes are never renamed and never reused. *Retry* says that the same call may succeed later with nothing else done.")

	rows = nil
	for _, c := range stick.Codes {
		if !classes[c.Exit] {
			g.Errorf("code %s exits with %d, which isn't in the list of exit statuses", c.Code, c.Exit)
		}
		retry := ""
		if c.Retryable {
			retry = "yes"
		}
		rows = append(rows, []string{code(string(c.Code)), strconv.Itoa(c.Exit), retry, c.Meaning})
	}

	g.table([]string{"code", "exit", "retry", "meaning"}, rows...)
	g.line("\n## Facts\n\nWhat an error's object holds beside `error`, `message` and `hint`, where it applies.")
	rows = nil
	for _, f := range slices.Sorted(maps.Keys(facts)) {
		if !g.src.facts[f] {
			g.Errorf("no error has the fact %q", f)
		}
		rows = append(rows, []string{code(f), facts[f]})
	}

	for f := range g.src.facts {
		if facts[f] == "" {
			g.Errorf("errors have a fact %q, which isn't explained", f)
		}
	}

	g.table([]string{"fact", "meaning"}, rows...)
	return end()
}

// Rooms and turns.

// enum writes the values of a type of constants.
func (g *reference) enum(typ string) {
	var rows [][]string
	for _, c := range g.src.constants[typ] {
		meaning := words[typ+"."+c.value]
		if meaning == "" {
			meaning = c.comment
		}
		if meaning == "" {
			g.Errorf("%s %q isn't explained", typ, c.value)
		}
		rows = append(rows, []string{code(c.value), meaning})
	}

	if len(rows) == 0 {
		g.Errorf("there are no constants of type %s", typ)
	}
	g.table([]string{"value", "meaning"}, rows...)
}

func (g *reference) room() string {
	end := g.page("Rooms and turns", "The words of answers, and what can be set.")
	g.line("\n## State of a room\n\n`state` of a room, `room_state` elsewhere. The first three are stored, the others follow from what is stored and seen;\nthe most actionable is shown.")
	g.enum("RoomState")
	g.line("\n## Answers of a wait\n\n`status` in what `tt wait` and `tt try` answer.")
	g.enum("WaitStatus")
	g.line("\n## Reasons of a turn\n\n`reason` with `your_turn`.")
	g.enum("ClaimReason")
	g.line("\n## Causes of a takeover\n\n`cause` is what the program found; `reason` of `tt take` is what the caller says.")
	var rows [][]string
	for _, c := range stick.Causes {
		rows = append(rows, []string{code(string(c.Cause)), c.Meaning})
	}
	if len(rows) != len(g.src.constants["Cause"]) {
		g.Errorf("%d of %d causes are in stick.Causes", len(rows), len(g.src.constants["Cause"]))
	}
	g.table([]string{"cause", "open when"}, rows...)
	g.line("\n## Policy\n\nShown by `tt policy`, set by `tt policy set key=value`. In JSON a duration is in milliseconds, under its name with `_ms`.")
	rows = nil
	for _, k := range stick.PolicyKeys {
		rows = append(rows, []string{code(k.Name), stick.DefaultPolicy().Get(k.Name), k.Meaning})
	}
	g.table([]string{"key", "default", "meaning"}, rows...)
	var limits []string

	waiting := stick.Policy{NextTurn: stick.Limits{OwnerLeaseTTL: 1, ClaimTTL: 1, WaiterGrace: 1, OwnerIdleTTL: 1}}
	for _, k := range stick.PolicyKeys {
		if waiting.Next(k.Name) != "" {
			limits = append(limits, code(k.Name))
		}
	}

	g.line("\nIf an agent lowers %s while another member holds the stick or has it reserved, that applies from the next turn on;",
		strings.Join(limits[:len(limits)-1], ", ")+" or "+limits[len(limits)-1])
	g.line("in JSON it stands under `next_turn`. A person's change applies at once.")
	g.line("\n## Categories of messages\n\nWhat a message of the category should say beside its body: each is a field and a flag.")

	rows = nil
	for _, c := range stick.Categories {
		var says []string
		for _, f := range stick.ContractFields {
			if f.Category == c.Category {
				says = append(says, code(f.Name))
			}
		}

		ack := ""
		if c.Ack {
			ack = "yes"
		}
		rows = append(rows, []string{code(string(c.Category)), c.Meaning, strings.Join(says, " "), ack})
	}

	if len(rows) != len(g.src.constants["Category"]) {
		g.Errorf("%d of %d categories are in stick.Categories", len(rows), len(g.src.constants["Category"]))
	}
	g.table([]string{"category", "meaning", "should say", "asks for an acknowledgement"}, rows...)

	for _, e := range []struct{ title, intro, typ string }{
		{
			"States of a message",
			"One for each recipient. The first three follow each other and never go back. With the others, nothing more is expected of the recipient.",
			"ReceiptState",
		},
		{"Delivery", "How a message reaches a recipient, told to its sender.", "Delivery"},
		{"Order", "The policy `order`: whom a release names.", "Order"},
		{"What keeps a lease", "`lease_kept_by`.", "LeaseKeeper"},
		{"Verdicts", "What is known of a member or a process.", "Verdict"},
		{
			"What a process proves",
			"`process_proves` of `tt whoami`: what the life and the end of a process tell about the session in it.",
			"Proof",
		},
		{"What a wait is for", "`listening` of a member.", "Purpose"},
		{"Membership", "", "MemberState"},
		{"Roles", "`role` of a session. A room has at most one primary that isn't gone.", "Role"},
		{"How a session begins", "`verdict` of `tt session start`, `start` in the log.", "StartKind"},
		{"State of a task", "How they follow each other: [PROTOCOL](../PROTOCOL.md#tasks).", "TaskState"},
	} {
		g.line("\n## %s", e.title)
		if e.intro != "" {
			g.line("\n%s", e.intro)
		}
		g.enum(e.typ)
	}

	return end()
}

// Events.

func (g *reference) events() string {
	end := g.page("Events",
		"The log of a room. Rows are only ever added, types are never renamed. A program ignores types and fields that it\ndoesn't know.")
	g.line("\n## Types")
	var rows [][]string
	for _, e := range stick.EventTypes {
		rows = append(rows, []string{code(string(e.Type)), e.Meaning})
	}
	if len(rows) != len(g.src.constants["EventType"]) {
		g.Errorf("%d of %d event types are in stick.EventTypes", len(rows), len(g.src.constants["EventType"]))
	}
	g.table([]string{"type", "meaning"}, rows...)
	g.line("\n## Fields")
	g.fields(reflect.TypeFor[stick.Event]())
	g.line("\n## Payload\n\nWhat was true when the event was made: each type has a payload of its own. All of them may have `override` and `terminal`.")
	g.fields(reflect.TypeFor[stick.Caller]())

	for _, e := range stick.EventTypes {
		t := reflect.TypeOf(e.Payload())
		if e.Type.OfTask() {
			continue
		}
		if t.NumField() == 1 {
			continue
		}

		g.line("\n### %s", e.Type)
		known := []string{"override", "terminal"}
		if _, ok := t.FieldByName("Message"); ok && e.Type != stick.EventMessageSent {
			g.line("\nThe message, with the fields of [message_sent](#message_sent), and:")
			for _, f := range flatten(reflect.TypeFor[stick.Message]()) {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				known = append(known, name)
			}
		}
		g.fields(t, known...)
	}

	g.line("\n## Tasks in payloads\n\n`task` of the types that begin with `task_`: each has facts of its own. All of them have `state` and `attempt`.")
	g.fields(reflect.TypeFor[stick.TaskStatus]())
	for _, e := range stick.EventTypes {
		if !e.Type.OfTask() {
			continue
		}
		task, _ := reflect.TypeOf(e.Payload()).FieldByName("Task")
		if facts := task.Type.Elem(); facts.NumField() > 1 {
			g.line("\n### %s", e.Type)
			g.fields(facts, "state", "attempt")
		}
	}

	return end()
}

// JSON.

func (g *reference) json() string {
	end := g.page("JSON", `What each command prints under `+"`--json`"+`. Fields are only ever added; a program ignores those that it doesn't know.
Times are RFC 3339 in UTC with milliseconds. *Or null* means that the field is always there; *may be absent* that it
isn't there when it is empty.`)
	var queue []reflect.Type
	seen := map[reflect.Type]bool{}
	add := func(t reflect.Type) {
		if !seen[t] {
			seen[t] = true
			queue = append(queue, t)
		}
	}

	for _, c := range tree() {
		for _, r := range results[c.CommandPath()] {
			add(reflect.TypeOf(r))
		}
	}

	for _, e := range stick.EventTypes { // what only events have
		if task, ok := reflect.TypeOf(e.Payload()).FieldByName("Task"); ok && e.Type.OfTask() {
			for _, f := range flatten(task.Type.Elem()) {
				if _, of := kindOf(f.Type); of != nil {
					add(of)
				}
			}
		}
	}

	g.line("\nThe answer of each command:\n")
	for _, c := range tree() {
		for i, r := range results[c.CommandPath()] {
			name := typeName(reflect.TypeOf(r))
			if i == 0 {
				g.line("- `%s`: [%s](#%s)", c.CommandPath(), name, anchor(name))
			}
		}
	}

	for len(queue) > 0 {
		t := queue[0]
		queue = queue[1:]
		g.line("\n## %s", typeName(t))
		if doc := g.src.types[t.Name()]; doc != "" {
			g.line("\n%s", doc)
		}
		for _, inner := range g.fields(t) {
			add(inner)
		}
	}

	return end()
}

// fields writes the fields of a struct as they are in JSON, and returns the structs that they hold.
func (g *reference) fields(t reflect.Type, but ...string) (inner []reflect.Type) {
	var rows [][]string
	for _, f := range flatten(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if slices.Contains(but, name) {
			continue
		}

		kind, of := kindOf(f.Type)
		switch {
		case strings.Contains(options, "omit"):
			kind = strings.TrimSuffix(kind, " or null") + ", may be absent"
		case f.optional:
			kind += "; only with a grant"
		}

		if f.owner == reflect.TypeFor[stick.Contract]() {
			meaning := ""
			for _, field := range stick.ContractFields {
				if field.Name == name {
					meaning = fmt.Sprintf("%s: %s", field.Category, field.Meaning)
				}
			}

			rows = append(rows, []string{code(name), kind, meaning})
			continue
		}

		if of != nil {
			inner = append(inner, of)
		}
		meaning := g.src.fields[f.owner.Name()+"."+f.Name]
		if meaning == "" {
			meaning = common[name]
		}
		meaning = strings.TrimPrefix(meaning, f.Name+" is ")
		rows = append(rows, []string{code(name), kind, meaning})
	}

	g.table([]string{"field", "type", "meaning"}, rows...)
	return inner
}

type jsonField struct {
	reflect.StructField
	owner    reflect.Type
	optional bool // it comes from an embedded struct that may be missing
}

// flatten lists the fields that encoding/json writes: those of embedded structs too, unless an
// outer one has their name.
func flatten(t reflect.Type) (out []jsonField) {
	names := map[string]bool{}
	level := []jsonField{{StructField: reflect.StructField{Type: t}}}
	for len(level) > 0 {
		var next []jsonField
		for _, at := range level {
			s := at.Type
			optional := at.optional
			if s.Kind() == reflect.Pointer {
				s, optional = s.Elem(), true
			}

			for i := range s.NumField() {
				f := s.Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				switch {
				case f.Anonymous && name == "":
					next = append(next, jsonField{f, s, optional})
				case name == "" || name == "-" || !f.IsExported() || names[name]:
				default:
					names[name] = true
					out = append(out, jsonField{f, s, optional})
				}
			}
		}
		level = next
	}

	return out
}

// kindOf returns the name of a type in JSON, and the struct that it holds.
func kindOf(t reflect.Type) (name string, of reflect.Type) {
	switch t {
	case reflect.TypeFor[stick.Time]():
		return "time or null", nil
	case reflect.TypeFor[stick.Policy]():
		return "[policy](room.md#policy)", nil
	}

	switch t.Kind() {
	case reflect.Pointer:
		name, of = kindOf(t.Elem())
		return name + " or null", of

	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "[payload](events.md#payload)", nil // json.RawMessage
		}
		name, of = kindOf(t.Elem())
		return "list of " + name, of

	case reflect.Array:
		name, of = kindOf(t.Elem())
		return fmt.Sprintf("list of %d × %s", t.Len(), name), of
	case reflect.Map:
		name, of = kindOf(t.Elem())
		return "object of " + name, of

	case reflect.Struct:
		switch t {
		case reflect.TypeFor[stick.Change]():
			return "{from, to}", nil
		}
		return fmt.Sprintf("[%s](json.md#%s)", typeName(t), anchor(typeName(t))), t

	case reflect.Bool:
		return "true or false", nil
	case reflect.String:
		if link := listed[t.Name()]; link != "" {
			return link, nil
		}
		return "string", nil
	}

	return "number", nil
}

func typeName(t reflect.Type) string {
	return strings.TrimSuffix(strings.ToUpper(t.Name()[:1])+t.Name()[1:], "Result")
}

// Environment.

func (g *reference) environment() string {
	end := g.page("Environment", "A flag comes before a variable, a variable before the default.")
	g.line("\n## Variables")
	var rows [][]string
	// read by way of the standard library, a list, a constant, and a parameter
	known := map[string]bool{"HOME": true, "USER": true, harness.TaskEnv: true, "TERM_PROGRAM": true}
	for _, r := range harness.Rows { // by their table
		known[r.Setup.ConfigEnv] = true
	}

	for _, v := range doctor.Variables {
		if !g.src.variables[v.Name] && !known[v.Name] {
			g.Errorf("the program doesn't read %s", v.Name)
		}
		known[v.Name] = true
		rows = append(rows, []string{code(v.Name), v.Meaning})
	}

	for name := range g.src.variables {
		if !known[name] {
			g.Errorf("the program reads %s, which isn't explained", name)
		}
	}

	g.table([]string{"variable", "meaning"}, rows...)
	g.line("\n## Harnesses\n\nBy these variables a harness tells the commands that it runs which session they belong to, or that they run inside of it.\ntt believes them if that harness is the nearest one among the command's ancestors. If it sees no harness among them, it\nbelieves the variables if there is no terminal, or if it can't see all ancestors. `tt whoami --explain` shows what it found.")
	rows = nil
	for _, r := range harness.Rows {
		list := func(names []string) string { return code(strings.Join(names, "`, `")) }
		rows = append(rows, []string{
			string(r.Title), code(r.Name + ":…"), list(r.SessionEnv), list(r.Markers), list(r.Carriers),
		})
	}

	rows = append(rows, []string{
		"any other that says who it is", code("<name>:…"), "", code(harness.AgentEnv), "always",
	})
	g.table([]string{"harness", "agents", "session id", "marker", "carrier when started with"}, rows...)
	g.line(`
## Files

The data directory is, in this order: ` + "`$TALKING_STICK_DATA_DIR`, `$XDG_DATA_HOME/talking-stick`, `~/.local/share/talking-stick`" + `; on
Windows ` + "`%%APPDATA%%\\talking-stick`" + ` instead of the last two. It has mode 0700, its files 0600.`)

	g.table([]string{"file", "what it is"},
		[]string{
			"`rooms.sqlite`",
			"the database, with `rooms.sqlite-wal` and `rooms.sqlite-shm` beside it, which stay between commands: the newest commits are in the first of them. To copy the database, stop everything that uses it, and copy all three, and `issued`. tt refuses a log whose database is missing or empty",
		},
		[]string{
			"`issued`",
			"a line with the numbers that the database has given out: of changes, events and turns. A database behind it has lost something, and the first command says what. A copy without it counts from what it has",
		},
		[]string{
			"`corrupt`",
			"says when a command found the database damaged; while it is there, nothing is written. `tt doctor` removes it when it finds nothing wrong",
		},
		[]string{"`damaged-1/`", "a damaged database that `tt doctor --set-aside` kept; further ones are numbered"},
		[]string{"`backups/`", "what `tt backup` made without a file; while a backup or restore runs, its lock and a directory of its own"},
		[]string{"`replaced-1/`", "the database that `tt restore` replaced; further ones are numbered"},
		[]string{"`restoring`", "only after a restore that was killed: the backup, and where the database is that it was replacing"},
		[]string{"`write.lock`", "held by the process that writes; its pid is in it"},
		[]string{
			"`postgres/`",
			"a folder for each PostgreSQL database that this host uses: `witness.lock`, held by the process that hears what other hosts commit; `heard`, which it renews while it does; a file for each wait that may have a connection, locked while it has one",
		},
		[]string{"`bells/`", "an empty file for each room; closing it wakes everybody who waits there"},
		[]string{"`waits/`", "a locked file for each wait that is blocked now"},
		[]string{
			"`connections/`",
			"a file for each MCP connection of a program that is no known harness, locked while it lives",
		},
		[]string{
			"`tasks/`",
			"a file for each task and for each branch that tasks are merged into, locked while a command is at work on it",
		},
		[]string{"`blobs/`", "outputs of gates, of workers' commands and of evidence, by their SHA-256"},
		[]string{"`tt.log`, `tt.log.1`", "what hooks failed to do, one line each; the second file is the older one"},
		[]string{"`update-migrations.log`", "the entries of the npm program that `tt install` removed"},
	)

	g.line("\nIn a workspace with a room, beside what the project puts there:")
	g.table([]string{"file", "what it is"},
		[]string{
			"`.ai/session-context.org`, else `.talking-stick/session.md`",
			"the primary's context: made when its session starts, removed by `tt session end`",
		},
		[]string{
			"`.ai/session-context.d/<name>.org`, else `.talking-stick/session.d/<name>.md`",
			"the context of a helper, with its name in the first line",
		},
		[]string{"`.talking-stick/.gitignore`", "keeps these files out of git"},
		[]string{
			"`.talking-stick/instructions.md`",
			"the project's own words for the briefing of sessions, at most 4096 bytes",
		},
	)

	g.line("\n## The project's file\n\n`.talking-stick.toml` at the root of the workspace. A section or key that isn't known is an error. `[gate]`, `[worker]` and\n`[pr]` are read at the head of the integration branch, the other sections in the workspace.")
	rows = nil
	for _, k := range config.Keys() {
		rows = append(rows, []string{code("[" + k.Section + "]"), code(k.Name), k.Kind, k.Meaning})
	}
	g.table([]string{"section", "key", "value", "meaning"}, rows...)
	return end()
}

// source is what the reference takes from the text of the code.
type source struct {
	types     map[string]string // the first paragraph of a type's comment
	fields    map[string]string // by Type.Field
	constants map[string][]constant
	facts     map[string]bool // names given to (*stick.Error).With
	variables map[string]bool // names given to Getenv in the command line
}

type constant struct{ value, comment string }

// readSource reads the packages that answers and errors come from.
func readSource(t *testing.T) source {
	s := source{
		types: map[string]string{}, fields: map[string]string{}, constants: map[string][]constant{},
		facts: map[string]bool{}, variables: map[string]bool{},
	}

	for _, dir := range []string{
		"../../stick", "../../stick/tasks", "../../stick/edits", "../../stick/scope", "../../stick/talk",
		"../../stick/presence", "../../stick/timeline", "../../stick/diff", "../engine", "../engine/core",
		"../engine/eventlog", "../engine/guard", "../engine/guard/ledger", "../engine/guard/restore", "../engine/guard/stash",
		"../engine/roster", "../engine/scopes", "../engine/upkeep", "../task", "../task/repository", "../task/runner",
		"../task/queue", "../task/pull", "../store", "../store/dialect", "../store/sqlite",
		"../store/postgres", "../store/schema", "../workspace", "../harness", "../git", "../rescue",
		"../rescue/manifest", "../rescue/commits", "../config", "../demo", "../install", "../term", ".",
		"app", "doctor", "events", "githook", "hook", "hooklog", "mcp", "msg", "rescue", "room", "scope",
		"session", "setup", "task", "turn", "watch",
	} {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no source in %s: %v", dir, err)
		}

		slices.Sort(paths)
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			s.read(f, dir)
		}
	}

	return s
}

// isOfCLI reports whether a directory belongs to the command line.
func isOfCLI(dir string) bool { return !strings.HasPrefix(dir, "..") }

func (s source) read(f *ast.File, dir string) {
	shown := strings.HasPrefix(dir, "../../stick") ||
		strings.HasPrefix(dir, "../engine") ||
		strings.HasPrefix(dir, "../task") ||
		strings.HasPrefix(dir, "../rescue") ||
		dir == "../demo" ||
		dir == "../install" ||
		isOfCLI(dir)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || len(n.Args) == 0 {
				break
			}

			switch name := text(n.Args[0]); {
			case name == "":
			case sel.Sel.Name == "With":
				s.facts[name] = true
			case sel.Sel.Name == "Getenv" && (isOfCLI(dir) || dir == "../install"):
				s.variables[name] = true
			}

		case *ast.GenDecl:
			for _, spec := range n.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if shown {
						s.readType(spec, n.Doc)
					}

				case *ast.ValueSpec:
					typ, ok := spec.Type.(*ast.Ident)
					if ok && n.Tok == token.CONST && len(spec.Values) == 1 && strings.HasPrefix(dir, "../../stick") {
						s.constants[typ.Name] = append(s.constants[typ.Name], constant{
							text(spec.Values[0]), comment(spec.Comment),
						})
					}
				}
			}
		}

		return true
	})
}

func (s source) readType(spec *ast.TypeSpec, doc *ast.CommentGroup) {
	st, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}

	if doc != nil {
		paragraph, _, _ := strings.Cut(doc.Text(), "\n\n")
		paragraph = strings.ReplaceAll(strings.TrimSpace(paragraph), "\n", " ")
		s.types[spec.Name.Name] = withoutName(spec.Name.Name, paragraph)
	}

	for _, f := range st.Fields.List {
		meaning := comment(f.Comment)
		if meaning == "" && f.Doc != nil {
			meaning = strings.ReplaceAll(strings.TrimSpace(f.Doc.Text()), "\n", " ")

			// A single phrase is a cell of a table, and no sentence.
			if !strings.Contains(meaning, ". ") {
				meaning = strings.TrimSuffix(meaning, ".")
			}
		}

		for _, name := range f.Names {
			s.fields[spec.Name.Name+"."+name.Name] = meaning
		}
	}
}

var subject = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:An? |The )?(\w+) (is|says|tells|lists|holds|points at) `)
})

// withoutName drops the name of a Go type from the beginning of its comment: "Grant is what …"
// becomes "What …".
func withoutName(name, doc string) string {
	m := subject().FindStringSubmatch(doc)
	if m == nil || m[1] != name {
		return doc
	}

	rest := doc[len(m[0]):]
	if m[2] != "is" {
		rest = m[2] + " " + rest
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}

func comment(c *ast.CommentGroup) string {
	if c == nil {
		return ""
	}
	return strings.TrimSpace(c.Text())
}

// text returns a string literal's text.
func text(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, _ := strconv.Unquote(lit.Value)
	return s
}
