package store_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/glob"
	"talkingstick/stick/scope"
	"talkingstick/stick/talk"
	"talkingstick/stick/tasks"
)

// unrecorded are the functions whose statements only SQLite runs. The tests skip them, and the calls of them.
var unrecorded = map[string]string{
	"noticeBoot":        "it calls what others call",
	"Open":              "the recording begins after it",
	"connect":           "settings of SQLite's connections",
	"prepareSchema":     "which schema SQLite's file has",
	"createMeta":        "the mark in SQLite's file, and the first table, which the schema is read from",
	"migrate":           "SQLite's journal, and the migrations",
	"checkpointWAL":     "SQLite's write-ahead log",
	"MetaTable":         "made with the migrations, which PostgreSQL runs, too",
	"Backup":            "a copy of SQLite's file",
	"copyDatabase":      "the same",
	"contents":          "the same: what is in it",
	"packedTable":       "the same: files that it has beside the database",
	"PackFiles":         "the same",
	"packFile":          "the same",
	"UnpackFiles":       "the same",
	"packedFiles":       "the same",
	"readPart":          "the same",
	"NoteMeta":          "the same: when it was made",
	"MergeLog":          "the same: its write-ahead log",
	"DatabaseID":        "which file it is a copy of",
	"TakeIDOf":          "the same",
	"openBackup":        "a copy that takes the place of SQLite's file",
	"planRestore":       "the same",
	"compareCurrent":    "the same",
	"beginAfterRestore": "the same",
	"SizeOf":            "only SQLite's file is pruned",
	"CountOpenTasks":    "the same",
	"RemoveRoom":        "the same",
	"outputNamers":      "the same",
	"UnnamedOutputs":    "the same",
	"RemoveOutput":      "the same",
	"SweepOutputs":      "the same",
	"Shrink":            "the same",
	"PlanLogCut":        "the same",
	"CutLog":            "the same",
	"planLogCut":        "the same",
	"lastBefore":        "the same",
	"replayOld":         "the same",
	"unseenUpTo":        "the same",
	"proveCut":          "the same",
	"cutLog":            "the same",
	"removeEvents":      "the same",
	"putCheckpoint":     "the same",
	"ImportRoom":        "a room comes into SQLite's file only",
	"requireNewRoom":    "the same",
	"importEvents":      "the same",
	"requireNewEvent":   "the same",
	"importState":       "the same",
	"endImportedTurn":   "the same",
	"endWithoutLease":   "the same",
	"Contradictions":    "SQLite's file only is mended",
	"contradictionsOf":  "the same",
	"replayWhole":       "the same",
	"KeepCopy":          "the same",
	"Mend":              "the same",
	"readEvents":        "what can be read of SQLite's damaged file",
	"readBlobs":         "the same",
	"readRoomRows":      "the same",
	"fillSalvage":       "the same, into a new one",
	"rebuildTables":     "the same",
	"unloggedOf":        "the same",
	"rebuildTasks":      "the same",
	"insertRow":         "the same",
	"rebuildTurn":       "the same",
	"rebuildMembers":    "the same",
	"checkTables":       "which tables SQLite's file has",
	"columnsMade":       "which tables the migrations make",
	"allColumns":        "which columns SQLite's file has",
	"wrongValue":        "which types SQLite's columns have",
	"nextAfter":         "what a file of SQLite is asked that is set aside",
	"lacksMeta":         "what a damaged file of SQLite is asked",
	"limitWait":         "a setting of SQLite's connections",
	"ColumnsOf":         "what is read of a file that is moved",
	"lockRoomAt":        "it calls what others call, and SQLite locks no rooms",
	"Begin":             "no query",
	"Commit":            "no query",
	"Rollback":          "no query",
}

// onServers are the files of this package whose statements only a server gets: its tests run them.
var onServers = []string{"checkout.go", "host.go", "move.go", "move_checkpoint.go"}

// notAsked are the beginnings of statements that only SQLite gets, or that are the same everywhere.
var notAsked = []string{"PRAGMA ", "BEGIN", "COMMIT", "ROLLBACK", "SELECT key, value FROM meta UNION"}

// onlySQLite are parts of the statements by which the check asks what SQLite's file has, and with which
// types.
var onlySQLite = []string{"sqlite_master", "pragma_table_info", "typeof("}

// queries returns the statements of a recording that every database must understand, sorted.
func queries(rec *store.Recording) []string {
	var out []string
	for _, text := range slices.Sorted(maps.Keys(rec.Statements)) {
		skipped := slices.ContainsFunc(notAsked, func(p string) bool { return strings.HasPrefix(text, p) })
		if !skipped && !slices.ContainsFunc(onlySQLite, func(p string) bool { return strings.Contains(text, p) }) {
			out = append(out, text)
		}
	}

	return out
}

// recorded calls every method of the store, in every variant that has a statement of its own. If one is
// missing here, TestEveryQueryIsRecorded fails.
func recorded(t *testing.T, db *store.DB) *store.Recording {
	t.Helper()
	rec, db := store.Record(t, db)
	id := played(t, db)
	sent := send(t, db, id, talk.Sending{By: "claude:a", Task: "T", Message: stick.Message{
		To: []stick.AgentID{"codex:b"}, Body: "hello", RequiresAck: true, Thread: "th",
	}})
	note := note(t, db, id, "codex:b", "remember", true)
	p := stick.Process{Machine: "m", Boot: "b", PIDNS: "n", PID: 1, Start: 10}
	update(t, db, func(tx *store.Tx) error {
		return try(
			tx.PutSession(store.Session{Key: "key", Agent: "codex:b", Harness: "codex", ID: "s"}),
			tx.PutProcess("codex:b", "key", stick.Evidence{Process: p, Proof: stick.ProvesSession}),
			tx.PutListener(id, stick.Listener{ID: "l", Agent: "codex:b", Purpose: stick.Work, Deaf: true, Process: p}),
			tx.AdvanceCursor(id, "codex:b", "wait", sent.Seq),
			tx.MarkShown(id, "codex:b", sent.Seq),
			tx.PutReceipt(id, stick.Receipt{Event: sent.Seq, Agent: "codex:b", Owes: stick.OwesAck}),
			tx.RecordStart("key"), tx.RecordWork("key"), tx.RecordIdle("key"), tx.RecordTool("key", "Edit", "a.go"), tx.RecordAsked("key"),
			tx.RecordToolCall("key"),
			second(tx.LockRoomsOf("codex:b")),
			tx.PutDraft(id, stick.Draft{Turn: 2, Agent: "codex:b", Text: "half"}),
			second(tx.Drafts(id)),
			second(tx.TakeNotices(id, "human:ann", []string{"review/ui-7"})),
		)
	})

	reserved := reserve(t, db, id, "claude:a", "src/**")
	view(t, db, func(tx *store.Tx) error {
		_, _, agent := tx.AgentOf("key")
		_, _, running := tx.RunningSession("key")
		_, _, process := tx.SessionOf(p)
		_, before := tx.AgentsCarriedBefore(p, "codex:b")
		_, known := tx.IsKnownName("codex:b")
		_, names := tx.AgentNames()
		_, name := tx.NameOf("codex:b")
		_, taken := tx.IsTakenName(id, "codex-otter", 0)
		_, processes := tx.Processes("codex:b")
		_, held := tx.RoomsHeldBy("codex:b")
		_, rooms := tx.RoomsOf("codex:b")
		_, hooked := tx.HookTimes("key")
		_, hook := tx.LastHook("codex")
		_, older := tx.OlderHooks(0)
		listener := tx.LaterListener("l", new(bool))
		_, _, cursor := tx.Cursor(id, "codex:b", "wait")
		_, last := tx.LastSeq(id)
		_, _, bounds := tx.LogBounds(id)
		_, signs := tx.SessionSigns(id)
		_, owes := tx.CountOwed(id)
		_, event := tx.Event(id, sent.Seq)
		_, _, receipt := tx.Receipt(id, "codex:b", sent.Seq)
		_, receipts := tx.Receipts(sent.Seq)
		_, owed := tx.OpenReceipts(id, "codex:b")
		_, _, open := tx.CountOpen(id, "codex:b")
		return try(signs, owes, agent, running, process, before, known, names, name, taken, processes, held, rooms, hooked, hook,
			older, listener, cursor, last, bounds, event, receipt, receipts, owed, open)
	})

	view(t, db, func(tx *store.Tx) error {
		_, room := tx.Room(id)
		_, named := tx.RoomNamed(id[:12])
		_, _, at := tx.RoomAt([]string{"/nowhere", "/work"})
		_, part := tx.RoomPart(id, "codex:b")
		_, _, turn := tx.TurnAt(id, nil)
		_, _, turnAt := tx.TurnAt("", []string{"/work"})
		_, history := tx.HistoryOf(id)
		_, all := tx.Rooms(nil, "")
		_, some := tx.Rooms([]string{"/work"}, "/")
		_, below := tx.RoomsBelow("/work")
		return try(room, named, at, part, turn, turnAt, all, some, below, history)
	})

	view(t, db, func(tx *store.Tx) error {
		one := store.EventQuery{Room: id, Limit: 1}
		full := store.EventQuery{
			Room: id, Turn: 1, Types: []stick.EventType{stick.EventPass, stick.EventClaim},
			From: "claude:a", Task: "T", For: "codex:b", Fresh: true, Cursor: "wait", Before: sent.Seq,
			Limit: 1, Newest: true,
		}

		_, _, events := tx.Events(one)
		_, back := tx.SeqBack(id, 0, 1)
		_, _, fresh := tx.Events(full)
		_, _, inboxes := tx.Inbox(store.InboxQuery{Room: id, Limit: 1})
		_, _, sentBy := tx.Inbox(store.InboxQuery{Room: id, From: "claude:a", Limit: 1})

		_, _, inbox := tx.Inbox(store.InboxQuery{
			Room: id, Agent: "codex:b", Open: true, From: "claude:a", Task: "T", Thread: "th", Limit: 1,
			States: []stick.ReceiptState{stick.Unread, stick.Read, stick.Acked, stick.Withdrawn},
		})
		_, _, owed := tx.Inbox(store.InboxQuery{Room: id, Agent: "codex:b", Owed: true, Limit: 1})

		all := store.NoteQuery{Room: id, Limit: 1}
		open := store.NoteQuery{Room: id, ID: note.Seq, Open: true, Turn: 1, Limit: 1}
		_, _, notes := tx.Notes(all)
		_, _, openNotes := tx.Notes(open)
		_, count := tx.CountNotes(all)
		_, countOpen := tx.CountNotes(open)
		return try(events, back, fresh, inboxes, sentBy, inbox, owed, notes, openNotes, count, countOpen)
	})

	view(t, db, func(tx *store.Tx) error {
		_, _, all := tx.Reservations(store.ReservationQuery{Room: id})
		_, _, some := tx.Reservations(store.ReservationQuery{
			Room: id, ID: reserved.Seq, Agent: "claude:a", Task: "T", Limit: 1,
		})
		_, near := tx.ReservationsNear(id, []string{"src/a.go"}, []string{"docs", "web"})
		_, meeting := tx.ReservationsMeeting(id, []glob.Pattern{"src/**", "*.go"})
		_, at := tx.RoomsAt([][]string{{"/work/src", "/work"}})
		return try(all, some, near, meeting, at)
	})

	recordedTasks(t, db, id)
	file := edits.EditedFile{Path: "a.go", Editors: []edits.Editor{{Agent: "claude:a"}}}
	update(t, db, func(tx *store.Tx) error { return tx.PutEdited(id, "/work", []edits.EditedFile{file}) })

	view(t, db, func(tx *store.Tx) error {
		_, all := tx.Edited(id, "/work", nil)
		_, some := tx.Edited(id, "/work", []string{"a.go"})
		_, count := tx.CountEdited(id, "/work")
		_, tops := tx.EditedCheckouts(id)
		return try(all, some, count, tops)
	})

	update(t, db, func(tx *store.Tx) error {
		return try(tx.DropEdited(id, "/work", []string{"a.go"}), tx.PutCommits(id, []string{"c"}, file.Editors[0]))
	})

	view(t, db, func(tx *store.Tx) error {
		_, calls := tx.Calls(store.CallQuery{
			Room: id, Checkout: "/work", Agent: "claude:a", ID: 1, Changed: true, Since: 1, Until: 2,
			Open: true, Limit: 1,
		})
		_, open := tx.Calls(store.CallQuery{Agent: "claude:a", Open: true, Limit: 1})
		_, late := tx.Calls(store.CallQuery{Room: id, Checkout: "/work", Late: true, Limit: 1})
		_, noted := tx.LastNoted(id, "/work")
		_, commits := tx.Commits(id, []string{"c"})
		_, stashed := tx.Stashed(id, []string{"c"})
		_, tellings := tx.Tellings("claude:a", "sum")
		_, reads := tx.Reads(store.ReadQuery{Room: id, Agent: "claude:a", Checkout: "/work", Paths: []string{"a.go"}})
		_, others := tx.HasOtherReads(id, "claude:a", "")
		return try(calls, open, late, noted, commits, stashed, tellings, reads, others)
	})

	update(t, db, func(tx *store.Tx) error {
		return try(tx.DropCommits(id, []string{"c"}), tx.ForgetCommits(id, 1, 1), tx.PutStashed(id,
			[]edits.StashEntry{{Commit: "c"}}), tx.ForgetStashed(id, 1, 1),
			tx.PutTelling(id, "claude:a", "sum", "[]"), tx.DropTelling(id, "claude:a", "sum", 1),
			tx.PutCall(id, &edits.Call{Agent: "claude:a", Tool: "Bash", Checkout: "/work", Noted: true}), tx.ForgetCalls(id, 1, 1),
			tx.PutReads(id, "/work", []edits.NotedRead{{Agent: "claude:a", Path: "a.go"}}), tx.BoundReads(id, "claude:a", 1, 1), tx.ForgetReads(id, "claude:a"))
	})

	if err := db.Trial(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := load(t, db, id)
	update(t, db, func(tx *store.Tx) error {
		events, err := scope.Unreserve(r, "claude:a", false, []stick.Reservation{scope.ReservationOf(reserved)})
		if err == nil {
			_, _, err = tx.Save(r, r, events)
		}
		return err
	})

	play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		return r.Move("claude:a", "/elsewhere")
	})
	r = load(t, db, id)
	update(t, db, func(tx *store.Tx) error { // with a room of an earlier transaction
		_, _, err := tx.Save(r, r, talk.ResolveNote(r, "claude:a", talk.NoteOf(note)))
		return err
	})

	play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		r, events, err := r.Leave(stick.Leaving{By: "claude:a"}, blind(), now)
		if err != nil {
			t.Fatal(err)
		}
		r, restored := r.Restore(stick.Generation{Number: r.Generation + 1, Cause: stick.RebootCause}, blind(), now)
		return r, append(events, restored...)
	})

	update(t, db, func(tx *store.Tx) error {
		_, ended := tx.EndSession("key", "codex:b")
		return try(ended, tx.DropProcess("codex:b", p), tx.DropListener("l"))
	})

	if _, err := db.Check(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := db.CheckShowing(ctx, func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	settleLosses(t, db)
	return rec
}

// recordedTasks calls the methods about tasks.
func recordedTasks(t *testing.T, db *store.DB, id stick.RoomID) {
	t.Helper()
	reviewed(t, db, id, "T1")
	blob, err := db.WriteBlob([]byte("it said so"))
	if err != nil {
		t.Fatal(err)
	}

	i := store.Intent{
		ID: "i", Room: id, Task: "t1", Attempt: 1, Kind: "done", Agent: "codex:b", Data: []byte("{}"), PID: 1,
	}
	update(t, db, func(tx *store.Tx) error {
		return try(
			tx.Heartbeat(id, "T1"), tx.RecordSeenHead(id, "T1", "claude:a", "head"), tx.AddBlob(blob), tx.PutIntent(i), tx.PutIntent(i),
			tx.PutRun(id, tasks.Run{Task: "t1", Attempt: 1, Number: 1, Command: "make"}), tx.PutRun(id,
				tasks.Run{Task: "t1", Attempt: 1, Number: 2, Command: "make"}),
			tx.DropCommentDraft(id, "T1", 9), tx.Accept(id, "clone-1", tasks.Acceptance{Key: "worker.setup"}),
			tx.PutSetup(id, store.TaskSetup{Task: "t1", Attempt: 1, Command: "npm ci"}),
		)
	})

	view(t, db, func(tx *store.Tx) error {
		_, _, task := tx.Task(id, "t1")
		_, tasks := tx.Tasks(id)
		_, queue := tx.Queue(id)
		_, openTasks := tx.OpenTasks(id)
		_, mine := tx.TasksOf(id, "codex:b")
		_, openMine := tx.OpenTasksOf(id, []stick.AgentID{"codex:b", "claude:a"})
		_, itself := tx.MergesByItself(id, stick.Task{State: stick.TaskApproved, ApprovedSeq: 1})
		_, attempts := tx.Attempts(id, "T1")
		_, reviews := tx.Reviews(id, "T1")
		_, comments := tx.Comments(id, "T1")
		_, openComments := tx.OpenComments(id)
		_, seen := tx.SeenHead(id, "T1", "claude:a")
		_, runs := tx.LastRuns(id)
		_, withWorkers := tx.RunsWithWorkers(id)
		_, run := tx.Runs(id, "T1")
		_, open := tx.Intents(id, "")
		_, of := tx.Intents(id, "T1")
		_, ever := tx.IntentsOfKind(id, "T1", "done")
		_, _, intent := tx.Intent("i")
		_, has := tx.HasBlob(blob.Sum)
		_, _, found := tx.FindBlob(blob.Sum[:8])
		_, accepted := tx.Acceptance(id, "worker.setup", "clone-1")
		_, later := tx.TasksMaybeReady(id)
		_, slots := tx.Slots(id, stick.Checkout{})
		_, setups := tx.Setups(id, "")
		_, setup := tx.Setups(id, "T1")
		return try(accepted, itself, later, slots, setups, setup, task, tasks, queue, openTasks, mine, openMine, attempts,
			reviews, comments, openComments, seen, runs, withWorkers, run, open, of, ever, intent, has, found)
	})

	update(t, db, func(tx *store.Tx) error {
		_, renewed := tx.RenewIntent("i")
		_, host := tx.NameOfHost("h")
		return try(renewed, host, tx.EndIntent("i", "done"))
	})

	forLater(t, db, id, "T2", "T1")
	landed(t, db, id, "T1")
}

// settleLosses has a database find that it has lost something, that it takes the place of another, and that
// nothing is known of it.
func settleLosses(t *testing.T, db *store.DB) {
	t.Helper()
	nothing := func(*store.Tx) error { return nil }
	store.ChangeIssued(t, db, 1, 1, 5)
	if err := db.SettleLoss(ctx); err != nil {
		t.Fatal(err)
	}

	update(t, db, func(tx *store.Tx) error {
		issued, err := tx.Issued()
		_, known := tx.HasGrant("room", 3, "sum")
		return try(err, known, tx.IssueAbove(issued+1), tx.BeginAfterCopy(7))
	})

	store.BeginAnew(t, db)
	update(t, db, func(tx *store.Tx) error { return store.ForgetID(tx) })
	update(t, db, nothing)

	if err := os.Truncate(filepath.Join(db.Dir(), store.IssuedName), 0); err != nil {
		t.Fatal(err)
	}
	update(t, db, nothing)
}

// rebooted returns a database after a reboot, so that the statements of a new generation are recorded as
// well.
func rebooted(t *testing.T) *store.DB {
	t.Helper()
	dir := t.TempDir()
	db, err := store.Open(ctx, store.Options{Dir: dir, Machine: "m", Boot: "the first"}, true)
	if err != nil {
		t.Fatal(err)
	}

	update(t, db, func(*store.Tx) error { return nil })
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = store.Open(ctx, store.Options{Dir: dir, Machine: "m", Boot: "the second"}, false); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})

	return db
}

// second returns the error of a call.
func second[T any](_ T, err error) error { return err }

// try returns the first error.
func try(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestEveryQueryIsRecorded compares the recording, with which other databases are tested, with the source. It
// must have run each line of this package that leads to a statement, and each piece of SQL.
func TestEveryQueryIsRecorded(t *testing.T) {
	rec := recorded(t, rebooted(t))
	src := readSource(t)
	for line, call := range src.calls {
		if !rec.Lines[line] {
			t.Errorf("%s: %s wasn't recorded: have it called by recorded()", line, call)
		}
	}

	if len(src.calls) < 40 || len(src.pieces) < 40 {
		t.Errorf("only %d calls and %d pieces of SQL were found in the source", len(src.calls), len(src.pieces))
	}

	ran := slices.Collect(maps.Keys(rec.Statements))
	for line, piece := range src.pieces {
		if !slices.ContainsFunc(ran, func(text string) bool { return strings.Contains(text, piece) }) {
			t.Errorf("%s: no statement with %q was recorded: have the variant called by recorded()", line, piece)
		}
	}

	for name := range unrecorded {
		if !src.functions[name] {
			t.Errorf("%s isn't recorded, and doesn't exist", name)
		}
	}
}

// TestRowsAreOrdered: every query that returns rows names their order, because databases differ in it
// otherwise.
func TestRowsAreOrdered(t *testing.T) {
	rec := recorded(t, rebooted(t))
	for _, text := range queries(rec) {
		if rec.Statements[text].Scanned && !strings.Contains(strings.Join(strings.Fields(text), " "), " ORDER BY ") {
			t.Errorf("any number of rows in any order: %s", text)
		}
	}
}

// source is what the source code of the package says about statements.
type source struct {
	functions map[string]bool
	calls     map[string]string // by file:line, those that lead to a statement
	pieces    map[string]string // by file:line:column, string constants that look like SQL
}

// looksLikeSQL matches pieces of statements; it may match more.
var looksLikeSQL = regexp.MustCompile(`\?|\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|AND|OR|IN|JOIN|LIMIT|ASC|DESC)\b|ORDER BY| = | <> |^[a-z]\.[a-z_]+(, |$)`)

// readSource reads this package, and those below it that SQLite is used by, without their tests.
func readSource(t *testing.T) source {
	t.Helper()
	src := source{map[string]bool{}, map[string]string{}, map[string]string{}}
	set := token.NewFileSet()
	var bodies []*ast.FuncDecl

	var names []string
	for _, dir := range []string{".", "dialect", "sqlite"} {
		found, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}

	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || slices.Contains(onServers, name) {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}

		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				src.functions[f.Name.Name] = true
				bodies = append(bodies, f)
				if unrecorded[f.Name.Name] != "" {
					continue
				}
			} else if g := d.(*ast.GenDecl); g.Tok == token.IMPORT {
				continue
			} else if v, ok := g.Specs[0].(*ast.ValueSpec); ok && unrecorded[v.Names[0].Name] != "" {
				src.functions[v.Names[0].Name] = true
				continue
			}
			src.findPieces(set, d)
		}
	}

	// A function runs a statement if it calls a function that does.
	runs := map[string]bool{
		"ExecContext": true, "QueryContext": true, "QueryRowContext": true, "exec": true, "scan": true,
		"queryOne": true, "scanLater": true, "Exec": true, "Scan": true, "QueryOne": true, "ScanLater": true,
	}
	for found := true; found; {
		found = false
		for _, f := range bodies {
			if name := f.Name.Name; !runs[name] && unrecorded[name] == "" && len(calls(f, runs)) > 0 {
				runs[name], found = true, true
			}
		}
	}

	for _, f := range bodies {
		if unrecorded[f.Name.Name] != "" {
			continue
		}

		for _, c := range calls(f, runs) {
			p := set.Position(c.Lparen)
			src.calls[fmt.Sprintf("%s:%d", inPackage(p.Filename), p.Line)] = fmt.Sprintf("the call of %s in %s",
				c.Fun.(*ast.SelectorExpr).Sel.Name, f.Name.Name)
		}
	}

	return src
}

// inPackage names a file of the store with its directory.
func inPackage(name string) string {
	if filepath.Dir(name) == "." {
		return "store/" + name
	}
	return filepath.ToSlash(name)
}

// calls finds the calls of methods of tx, db and what they hold, by their names.
func calls(f *ast.FuncDecl, names map[string]bool) (out []*ast.CallExpr) {
	ast.Inspect(f, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}

		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok || !names[sel.Sel.Name] {
			return true
		}

		x := sel.X
		for {
			inner, ok := x.(*ast.SelectorExpr)
			if !ok {
				break
			}
			x = inner.X
		}

		if id, ok := x.(*ast.Ident); ok && slices.Contains([]string{"tx", "db", "stmt"}, id.Name) {
			out = append(out, c)
		}
		return true
	})

	return out
}

// findPieces finds string constants that look like SQL, except for texts for people.
func (src source) findPieces(set *token.FileSet, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			switch f := c.Fun.(type) {
			case *ast.SelectorExpr:
				return !slices.Contains([]string{"Errorf", "Hintf", "With", "New"}, f.Sel.Name)
			case *ast.Ident:
				return f.Name != "report"
			}
		}

		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
			if v, err := strconv.Unquote(s.Value); err == nil && looksLikeSQL.MatchString(v) {
				src.pieces[set.Position(s.Pos()).String()] = v
			}
		}

		return true
	})
}
