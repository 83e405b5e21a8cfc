package talkingstick_test

import (
	"flag"
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/stick"
)

var updateDocs = flag.Bool("docs.update", false,
	"write the generated parts of documents, and what the README's commands print, instead of comparing them")

// TestProtocolDiagrams compares the diagrams of docs/PROTOCOL.md with what the rules do. There is
// no table of transitions that they could be drawn from and that could be wrong: each edge was
// taken by running a rule on a room.
func TestProtocolDiagrams(t *testing.T) {
	edges := walk(t)
	compareGenerated(t, "docs/PROTOCOL.md", map[string]string{
		"turn":    diagram(edges.turns),
		"table":   edges.table(),
		"members": diagram(edges.members),
		"tasks":   taskDiagram() + taskTable(),
	})
}

// TestImportDiagram compares the diagram of docs/ARCHITECTURE.md with the table of allowed imports.
func TestImportDiagram(t *testing.T) {
	compareGenerated(t, "docs/ARCHITECTURE.md", map[string]string{"imports": importDiagram()})
}

// compareGenerated compares the generated parts of a document, which stand between comments, or writes them.
func compareGenerated(t *testing.T, path string, parts map[string]string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was := string(b)
	is := was
	for name, text := range parts {
		begin, end := "<!-- generated: "+name+" -->\n", "<!-- end -->"
		before, rest, ok := strings.Cut(is, begin)
		_, after, ended := strings.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("%s has no place for the generated part %q", path, name)
		}
		is = before + begin + text + end + after
	}

	switch {
	case is == was:
	case *updateDocs:
		if err := os.WriteFile(path, []byte(is), 0o644); err != nil {
			t.Fatal(err)
		}

	default:
		t.Errorf("the generated parts of %s aren't what the code says: make generate", path)
	}
}

// importDiagram draws the packages of the program and what they import, without what follows: where one
// imports a second and that a third, no arrow goes from the first to the third.
func importDiagram() string {
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	name := func(dir string) string { return strings.TrimPrefix(strings.TrimPrefix(dir, "internal/"), "cmd/") }

	from := map[string][]string{} // by what they import
	for _, dir := range slices.Sorted(maps.Keys(edges)) {
		if slices.Contains(testOnly, dir) ||
			strings.HasPrefix(dir, "internal/bench") ||
			strings.HasPrefix(dir, "internal/e2e") {
			continue
		}

		var to []string
		for _, dep := range slices.Sorted(maps.Keys(edges[dir])) {
			_, ours := edges[dep]
			if ours = ours || dep == "stick"; !ours {
				continue
			}

			follows := false
			for other := range edges[dir] {
				follows = follows || other != dep && reaches(other, dep, map[string]bool{})
			}
			if !follows {
				to = append(to, name(dep))
			}
		}

		if len(to) > 0 {
			key := strings.Join(to, " & ")
			from[key] = append(from[key], name(dir))
		}
	}

	var lines []string
	for to, dirs := range from {
		lines = append(lines, fmt.Sprintf("    %s --> %s\n", strings.Join(dirs, " & "), to))
	}
	slices.Sort(lines)
	return b.String() + strings.Join(lines, "") + "```\n"
}

// edge of a diagram: by which act a thing goes from one state to another.
type step struct{ from, act, to string }

type walked struct {
	turns   map[step]map[string]bool // with the types of the events that say so
	granted map[step]bool
	members map[step]map[string]bool
}

// world is a room at a time, as the walk has come to it.
type world struct {
	room stick.Room
	now  stick.Time
	seq  int64
}

// look is what can be seen of the room's members when an act is tried.
type look struct {
	waiting []stick.AgentID
	gone    []stick.AgentID
	later   time.Duration
}

var (
	agents  = []stick.AgentID{"agent:a", "agent:b", "agent:c"}
	handoff = stick.Handoff{Status: "done", NextAction: "go on"}
)

// walk tries every act in every state of a small room that it comes to, under every look.
func walk(t *testing.T) walked {
	out := walked{map[step]map[string]bool{}, map[step]bool{}, map[step]map[string]bool{}}
	p := stick.DefaultPolicy()
	first := world{
		room: stick.Room{ID: "room", Policy: p, Turn: stick.Turn{State: stick.Idle, FreeSince: 1}},
		now:  stick.At(time.Unix(1e9, 0)),
	}
	for i, a := range agents {
		r, events, _, err := first.room.Join(a, "", true, first.now)
		if err != nil {
			t.Fatal(err)
		}
		first = first.after(r, events, first.now)
		first.room.Members[i].Processes = []stick.Evidence{{Process: process(i), Proof: stick.ProvesSession}}
	}

	var looks []look
	for _, waiting := range [][]stick.AgentID{nil, agents[1:2], agents[1:], agents} {
		for _, gone := range [][]stick.AgentID{nil, agents[:1], agents[1:2]} {
			for _, later := range []time.Duration{0, p.WaiterGrace, p.ClaimTTL} {
				looks = append(looks, look{waiting, gone, later})
			}
		}
	}

	seen := map[string]bool{first.key(): true}
	queue := []world{first}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		for _, l := range looks {
			for _, next := range w.try(t, l, &out) {
				if key := next.key(); !seen[key] {
					seen[key] = true
					queue = append(queue, next)
				}
			}
		}
	}

	return out
}

func process(i int) stick.Process { return stick.Process{Boot: "boot", PID: i + 1, Start: 1} }

// after is the world in which a rule's result is stored.
func (w world) after(r stick.Room, events []stick.Event, now stick.Time) world {
	for i := range events {
		w.seq++
		events[i].Seq = w.seq
	}
	return world{r.Stamp(events), now, w.seq}
}

// key is what matters of a world for what can happen next.
func (w world) key() string {
	t := w.room.Turn
	s := fmt.Sprint(w.room.Closed, t.State, t.Owner, t.ReservedFor, t.ReservedBy)
	if t.State == stick.Idle {
		s += string(t.Prior)
	}
	for _, m := range w.room.Members {
		s += string(m.State)
	}
	return s
}

// try runs every act once and takes down what it did.
func (w world) try(t *testing.T, l look, out *walked) (next []world) {
	now := w.now.Add(l.later)
	r := w.room
	r.Listeners = nil

	for i, a := range agents {
		if slices.Contains(l.waiting, a) && !(r.Turn.State == stick.Owned && r.Turn.Owner == a) {
			r.Listeners = append(r.Listeners, stick.Listener{
				ID: stick.ListenerID(a), Agent: a, Purpose: stick.Work, Process: process(i),
			})
		}
	}

	probed := func() *stick.Probed {
		s := &stick.Probed{
			Processes: map[stick.Process]stick.Verdict{}, Listeners: map[stick.ListenerID]stick.Verdict{},
		}
		for i, a := range agents {
			v := stick.Alive
			if slices.Contains(l.gone, a) {
				v = stick.Gone
			}
			s.Processes[process(i)], s.Listeners[stick.ListenerID(a)] = v, v
		}

		return s
	}

	done := func(act string, after stick.Room, events []stick.Event, err error) {
		if err != nil || len(events) == 0 {
			return
		}
		was, is := state(r), state(after)
		granted := after.Turn.ID == r.Turn.ID+1
		if was != is || granted || r.Turn.ReservedFor != after.Turn.ReservedFor {
			e := step{was, act, is}
			if out.turns[e] == nil {
				out.turns[e] = map[string]bool{}
			}
			for _, ev := range events {
				out.turns[e][string(ev.Type)] = true
			}
			if granted {
				out.granted[e] = true
			}
		}

		if after.Turn.ID != r.Turn.ID && !granted && act != actRestore {
			t.Errorf("%s in a room that is %s: turn %d became %d", act, was, r.Turn.ID, after.Turn.ID)
		}

		for _, m := range after.Members {
			before, _ := r.Member(m.Agent)
			if before.State != m.State {
				e := step{string(before.State), act, string(m.State)}
				out.members[e] = map[string]bool{}
			}
		}
		next = append(next, w.after(after, events, now))
	}

	owner := r.Turn.Owner
	fence := stick.Fence{Turn: r.Turn.ID, Lease: r.Turn.Lease}
	lease := stick.LeaseID(fmt.Sprint("lease-", r.Turn.ID+1))

	if r.Turn.State == stick.Owned {
		after, events, err := r.Release(owner, fence, handoff, probed(), now)
		done("release", after, events, err)
	}

	for _, a := range agents {
		if slices.Contains(l.gone, a) {
			continue
		}
		after, events, why := r.Claim(a, lease, probed(), now)
		if why != stick.AlreadyOwner {
			done("claim", after, events, nil)
		}
		after, events = r.Settle(a, false, probed(), now)
		done("time or a death", after, events, nil)

		for _, operator := range []bool{false, true} {
			settled, moved := r.Settle(a, true, probed(), now)
			after, events, why, err := settled.Takeover(stick.Take{By: a, Reason: "test", Operator: operator},
				lease, probed(), now)
			if why == stick.TookOver && len(moved) == 0 {
				done(map[bool]string{false: "takeover", true: "takeover on a person's word"}[operator], after,
					events, err)
			}
		}

		after, events, err := r.Leave(stick.Leaving{By: a, Fence: fence}, probed(), now)
		done("leave", after, events, err)
		if a == owner {
			after, events, err = r.Leave(stick.Leaving{By: a, Fence: fence, Handoff: &handoff}, probed(), now)
			done("leave", after, events, err)
			after, events, err = r.Leave(stick.Leaving{By: a, Fence: fence, Abandon: "test"}, probed(), now)
			done("abandon", after, events, err)

			for _, to := range agents {
				after, events, err = r.Pass(a, fence, to, handoff, probed(), now)
				done("pass", after, events, err)
			}
		}

		after, events, err = r.Close(stick.Closing{By: a, Fence: fence, Handoff: &handoff, Person: a != owner}, now)
		done("close", after, events, err)
		after, events, _, err = r.Join(a, "", true, now)
		done("join", after, events, err)

		for _, who := range agents {
			after, events, err = r.Kick(stick.Kicking{By: a, Who: who, Force: true}, probed(), now)
			done("kick", after, events, err)
		}
	}

	after, events := r.Restore(stick.Generation{Number: r.Generation + 1, Cause: stick.RebootCause}, probed(), now)
	after.Generation = 0
	done(actRestore, after, events, nil)
	return next
}

const actRestore = "reboot or restore"

// state names the state of a room in a diagram.
func state(r stick.Room) string {
	switch {
	case r.Closed:
		return "closed"
	case r.Turn.State == stick.Reserved:
		return "reserved by a " + string(r.Turn.ReservedBy)
	}

	return string(r.Turn.State)
}

// diagram draws steps, those between the same two states as one arrow.
func diagram(steps map[step]map[string]bool) string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	id := func(state string) string { return strings.ReplaceAll(state, " ", "_") }

	arrows := map[[2]string][]string{}
	for s := range steps {
		arrows[[2]string{s.from, s.to}] = append(arrows[[2]string{s.from, s.to}], s.act)
		for _, state := range []string{s.from, s.to} {
			line := fmt.Sprintf("    state \"%s\" as %s\n", state, id(state))
			if id(state) != state && !strings.Contains(b.String(), line) {
				arrows[[2]string{state, ""}] = nil
			}
		}
	}

	keys := slices.SortedFunc(maps.Keys(arrows), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, k := range keys {
		if k[1] == "" {
			fmt.Fprintf(&b, "    state \"%s\" as %s\n", k[0], id(k[0]))
		}
	}

	for _, k := range keys {
		if k[1] != "" {
			slices.Sort(arrows[k])
			fmt.Fprintf(&b, "    %s --> %s: %s\n", id(k[0]), id(k[1]), strings.Join(arrows[k], ", "))
		}
	}

	b.WriteString("```\n")
	return b.String()
}

// table tells the steps of the turn one by one.
func (w walked) table() string {
	var b strings.Builder
	b.WriteString("| from | act | to | new turn | events |\n|---|---|---|---|---|\n")
	for _, s := range slices.SortedFunc(maps.Keys(w.turns), func(a, b step) int {
		return slices.Compare([]string{a.from, a.act, a.to}, []string{b.from, b.act, b.to})
	}) {
		granted := ""
		if w.granted[s] {
			granted = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.from, s.act, s.to, granted,
			strings.Join(slices.Sorted(maps.Keys(w.turns[s])), ", "))
	}

	return b.String()
}

// taskDiagram draws the table of transitions of tasks, from which their guards are made too.
func taskDiagram() string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	for _, s := range stick.TaskSteps {
		for _, from := range s.From {
			to := string(s.To)
			if to == "" {
				to = string(from)
			}
			if from == "" {
				from = "[*]"
			}
			fmt.Fprintf(&b, "    %s --> %s: %s\n", from, to, s.Act)
		}
	}

	b.WriteString("```\n\n")
	return b.String()
}

// taskTable says what each step is.
func taskTable() string {
	var b strings.Builder
	b.WriteString("| act | from | to | event | meaning |\n|---|---|---|---|---|\n")
	for _, s := range stick.TaskSteps {
		var from []string
		for _, f := range s.From {
			from = append(from, string(f))
		}
		to := string(s.To)
		if to == "" {
			to = "the same"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.Act, strings.Join(from, ", "), to, s.Event, s.Meaning)
	}

	return b.String()
}

var link = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)

// TestLinks follows the links between the documents.
func TestLinks(t *testing.T) {
	anchors := map[string][]string{}
	for path, text := range documents(t) {
		anchors[path] = anchorsOf(text)
	}

	for path, text := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to := m[1]
			if strings.Contains(to, "://") {
				continue
			}

			target := path
			if to != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(path), to))
			}

			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads nowhere", path, m[0])
			} else if m[2] != "" && strings.HasSuffix(target, ".md") && !slices.Contains(anchors[target], m[2][1:]) {
				t.Errorf("%s: %s has no such heading", path, m[0])
			}
		}
	}
}

// anchorsOf lists the anchors of a document's headings.
func anchorsOf(text string) (anchors []string) {
	for _, line := range strings.Split(text, "\n") {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			anchors = append(anchors, anchorOf(title))
		}
	}
	return anchors
}

// anchorOf is the anchor that a heading gets.
func anchorOf(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z':
			return r
		}

		return -1
	}, strings.ToLower(strings.TrimSpace(title)))
}

var (
	span       = regexp.MustCompile("`([^`\n]+)`")
	identifier = regexp.MustCompile(`^(?:([a-z]+)\.)?(?:[A-Z]\w*\.)*([A-Z]\w*)(?:\(\))?$`)
	folder     = regexp.MustCompile(`(?m)^( *)((?:[\w-]+/)+) `)
)

// TestArchitecture compares ARCHITECTURE with the code: the folders that it lists with those that there are, and
// the names in its code spans with what is declared.
func TestArchitecture(t *testing.T) {
	const path = "docs/ARCHITECTURE.md"
	text := documents(t)[path]
	list, _, _ := strings.Cut(text, "## Who imports whom")

	listed, above := map[string]bool{}, ""
	for _, m := range folder.FindAllStringSubmatch(list, -1) {
		dir := strings.TrimSuffix(m[2], "/")
		if m[1] == "" {
			above = dir
		} else {
			dir = above + "/" + dir
		}

		listed[dir] = true
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("%s lists %s/, which isn't there", path, dir)
		}
	}

	declared, packages := map[string]bool{}, map[string]bool{}
	for _, f := range parse(t) {
		packages[f.tree.Name.Name] = true
		for dir := f.dir; ; dir = filepath.ToSlash(filepath.Dir(dir)) {
			if listed[dir] || dir == "." {
				if dir == "." && f.dir != "." {
					t.Errorf("%s doesn't list %s/", path, f.dir)
				}
				break
			}
		}

		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				declared[n.Name.Name] = true
			case *ast.TypeSpec:
				declared[n.Name.Name] = true

			case *ast.ValueSpec:
				for _, name := range n.Names {
					declared[name.Name] = true
				}

			case *ast.Field:
				for _, name := range n.Names {
					declared[name.Name] = true
				}
			}

			return true
		})
	}

	for _, m := range span.FindAllStringSubmatch(text, -1) {
		id := identifier.FindStringSubmatch(m[1])
		if id == nil || id[1] == "" && !strings.Contains(m[1], ".") || id[1] != "" && !packages[id[1]] {
			continue // a word, a variable, the standard library
		}
		if !declared[id[2]] {
			t.Errorf("%s names %s, which nothing declares", path, m[1])
		}
	}
}

// TestDependencies compares DEPENDENCIES with go.mod.
func TestDependencies(t *testing.T) {
	const path = "docs/DEPENDENCIES.md"
	b, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	text := documents(t)[path]
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v`).FindAllStringSubmatch(string(b), -1) {
		name := regexp.MustCompile(`/v\d+$`).ReplaceAllString(m[1], "")
		if !strings.Contains(text, strings.TrimPrefix(name, "github.com/")) {
			t.Errorf("%s doesn't name %s, which go.mod requires", path, m[1])
		}
	}

	for _, m := range span.FindAllStringSubmatch(text, -1) {
		owner, name, ok := strings.Cut(m[1], "/")
		if ok &&
			owner != "internal" &&
			owner != "confedit" &&
			owner != ".ci" &&
			!strings.Contains(m[1], " ") &&
			!strings.Contains(string(b), owner+"/"+name) {
			t.Errorf("%s names %s, which go.mod doesn't", path, m[1])
		}
	}
}

var commandHeading = regexp.MustCompile(`(?m)^## (.+)$`)

// TestCommandsInDocuments compares the commands and flags in the documents' code spans with those of the
// generated reference.
func TestCommandsInDocuments(t *testing.T) {
	docs := documents(t)
	reference := docs["docs/reference/commands.md"]
	section, hidden := map[string]string{}, []string{"tt guard", "tt help", "tt hook git"}

	at := commandHeading.FindAllStringSubmatchIndex(reference, -1)
	for i, m := range at {
		end := len(reference)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		section[reference[m[2]:m[3]]] = reference[m[0]:end]
	}

	called := otherNames(section)
	everywhere := section["Flags of all commands"]
	if len(section) < 50 || everywhere == "" {
		t.Fatal("the reference of commands has another form")
	}

	checked := 0
	for path, text := range docs {
		if strings.HasPrefix(path, "internal/") ||
			strings.HasPrefix(path, "docs/reference/") ||
			strings.HasPrefix(path, "docs/bench/") {
			continue
		}

		for _, m := range span.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(m[1])
			if words[0] != "tt" ||
				slices.ContainsFunc(hidden, func(h string) bool { return strings.HasPrefix(m[1], h) }) {
				continue
			}

			command := "tt"
			for _, word := range words[1:] {
				next := command + " " + word
				if name := called[next]; name != "" {
					next = name
				}

				if section[next] == "" {
					if plainWord.MatchString(word) && strings.Contains(reference, "\n## "+command+" ") {
						t.Errorf("%s: %s: there is no command %s", path, m[1], next)
					}
					break
				}
				command = next
			}

			for _, word := range words {
				name, _, _ := strings.Cut(word, "=")
				if plainFlag.MatchString(name) &&
					name != "--help" &&
					!strings.Contains(section[command]+everywhere, "`"+name) {
					t.Errorf("%s: %s: %s has no flag %s", path, m[1], command, name)
				}
			}
			checked++
		}
	}

	if checked < 100 {
		t.Errorf("only %d commands were found in the documents", checked)
	}
}

// otherNames maps each command under its other names, such as tt worker, to the name of its section.
func otherNames(section map[string]string) map[string]string {
	names := map[string]string{}
	for command, text := range section {
		if m := regexp.MustCompile(`(?m)^Also called (.*)\.$`).FindStringSubmatch(text); m != nil {
			parent := command[:strings.LastIndex(command, " ")]
			for _, name := range span.FindAllStringSubmatch(m[1], -1) {
				names[parent+" "+name[1]] = command
			}
		}
	}

	return names
}

var (
	plainWord = regexp.MustCompile(`^[a-z][a-z-]*$`)
	plainFlag = regexp.MustCompile(`^--[a-z-]+$`)
)

// documents are the texts of the repository by path.
// notDocuments are folders whose Markdown files aren't ours: what tests read, packages of npm, and what has been built.
var notDocuments = []string{"testdata", "node_modules", "dist"}

func documents(t *testing.T) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains(notDocuments, d.Name())):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}

		b, err := os.ReadFile(path)
		out[filepath.ToSlash(path)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return out
}

// TestShippedProgram: everybody who follows the README, the Makefile or the bench builds the same program.
// The linker leaves symbols and debug information out, which only a debugger needs.
func TestShippedProgram(t *testing.T) {
	for path, line := range map[string]string{
		"README.md":                 `    CGO_ENABLED=0 go install -trimpath -ldflags "-s -w" ./cmd/...`,
		"docs/guide/install.md":     `    CGO_ENABLED=0 go install -trimpath -ldflags "-s -w" ./cmd/...`,
		"Makefile":                  "\tCGO_ENABLED=0 $(GO) build -trimpath -ldflags \"-s -w\" -o ./ ./cmd/tt-full ./cmd/tt",
		"docs/bench/README.md":      `CGO_ENABLED=0 go build -trimpath -ldflags "-s -w"`,
		"internal/bench/process.go": `compile(*into, from, "-s -w")`,
	} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), line) {
			t.Errorf("%s doesn't build the program that is shipped: %s", path, line)
		}
	}
}
