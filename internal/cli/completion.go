package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/rescue"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/harness"
	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// candidates finds what an argument or a flag may be, in the room at a place. Each is a word, and what a
// shell shows beside it. It only reads, and what fails offers nothing: a shell that completes a word is no
// place for an error.
type candidates func(ctx context.Context, a *app.Run, at core.Where) []cobra.Completion

// argumentCandidates are what the arguments of commands may be. A shell offers files for those of other
// commands, and directories for a path.
var argumentCandidates = map[string]candidates{
	"tt ack":           messageCandidates(engine.GetInboxParams{}),
	"tt msg read":      messageCandidates(engine.GetInboxParams{State: "unread"}),
	"tt msg show":      messageCandidates(engine.GetInboxParams{State: "all"}),
	"tt msg withdraw":  messageCandidates(engine.GetInboxParams{Sent: true}),
	"tt pass":          withWords(memberCandidates, "next\twhoever waits longest"),
	"tt kick":          memberCandidates,
	"tt reorder":       memberCandidates,
	"tt msg send":      withWords(memberCandidates, "room\tall members", "system\tonly the log"),
	"tt notes resolve": noteCandidates, "tt unreserve": reservationCandidates,
	"tt policy set":     policyCandidates,
	"tt rescue diff":    rescue.IDCandidates,
	"tt rescue forget":  rescue.IDCandidates,
	"tt rescue restore": rescue.IDCandidates,
	"tt rescue show":    rescue.IDCandidates,
	"tt undo":           rescue.CallCandidates,
	"tt install": withWords(installCandidates, "git\tthe repository of the working directory",
		"links\ttt under other names"),
	"tt uninstall": withWords(harnessCandidates, "git\tthe repository of the working directory",
		"links\ttt under other names"),
	"tt hook":                 harnessCandidates,
	"tt hook git":             fixedCandidates("pre-commit", "reference-transaction", "pre-push"),
	"tt task after":           taskCandidates,
	"tt task edit":            taskCandidates,
	"tt task approve":         taskCandidates,
	"tt task cancel":          taskCandidates,
	"tt task comment":         taskCandidates,
	"tt task diff":            taskCandidates,
	"tt task export":          taskCandidates,
	"tt task merge":           taskCandidates,
	"tt task pr":              taskCandidates,
	"tt task prompt":          taskCandidates,
	"tt task request-changes": taskCandidates,
	"tt task retry":           taskCandidates,
	"tt task rollback":        taskCandidates,
	"tt task show":            taskCandidates,
	"tt task logs":            taskCandidates,
	"tt task run":             taskCandidates,
	"tt task stop":            taskCandidates,
	"tt changes adopt":        changedFileCandidates(edits.ShareOthers, edits.SharePassed, edits.ShareNobody),
	"tt changes mine":         changedFileCandidates(edits.ShareNobody, edits.SharePassed),
	"tt task new":             fixedCandidates(),
	"tt task fail":            fixedCandidates(),
	"tt notes add":            fixedCandidates(),
	"tt handoff save":         fixedCandidates(),
	"tt pause":                fixedCandidates(),
}

// flagCandidates are what the values of flags may be, by the flag's name.
var flagCandidates = map[string]candidates{
	"as":       memberCandidates,
	"agent":    memberCandidates,
	"diff":     memberCandidates,
	"from":     memberCandidates,
	"of":       memberCandidates,
	"target":   withWords(memberCandidates, "self", "any"),
	"to":       withWords(memberCandidates, "room", "system"),
	"task":     taskCandidates,
	"room":     roomCandidates,
	"message":  messageCandidates(engine.GetInboxParams{}),
	"reply-to": messageCandidates(engine.GetInboxParams{State: "all"}),
	"category": categoryCandidates,
	"event":    eventTypeCandidates,
	"state":    fixedCandidates("unread", "read", "acked", "all"),
	"color":    fixedCandidates("auto", "always", "never"),
	"tools":    fixedCandidates("core", "all"),
	"restart":  fixedCandidates("on-return", "no"),
	"overlap":  fixedCandidates("exact", "partial"),
}

// addCompletion lets a shell complete the arguments and flags of all commands. It is called only when a shell
// asks.
func addCompletion(a *app.Run, c *cobra.Command) {
	find := argumentCandidates[c.CommandPath()]
	switch {
	case app.IsHandedOver(c):
		c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			_ = a.HandOver() // a shell has no use for the reason
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	case find != nil:
		c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			// Only a command whose first argument may repeat takes another one.
			if len(args) > 0 && !strings.HasSuffix(strings.Fields(c.Use)[1], "…") {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}

			return offerCandidates(a, c, find, typed)
		}
	case strings.Contains(c.Use, "[path]"):
		c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	}

	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if find := flagCandidates[f.Name]; find != nil && f.Value.Type() != "bool" {
			_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return offerCandidates(a, c, find, typed)
			}) // the flag is there, and each flag is visited once
		}
	})

	for _, sub := range c.Commands() {
		addCompletion(a, sub)
	}
}

// offerCandidates returns the candidates that begin as typed. In a list separated by commas the last one
// counts.
func offerCandidates(
	a *app.Run, c *cobra.Command, find candidates, typed string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	var at core.Where
	if path, room := c.Flags().Lookup("path"), c.Flags().Lookup("room"); path != nil && room != nil {
		at = core.Where{Path: path.Value.String(), RoomID: stick.RoomID(room.Value.String())}
	}

	// The shell replaces the whole word, so what stands before the comma comes along.
	before, last := "", typed
	if i := strings.LastIndex(typed, ","); i >= 0 {
		before, last = typed[:i+1], typed[i+1:]
	}

	var offered []cobra.Completion
	directive := cobra.ShellCompDirectiveNoFileComp
	for _, word := range find(c.Context(), a, at) {
		if strings.HasPrefix(word, last) {
			offered = append(offered, before+word)
		}

		// A key is followed by its value, without a blank.
		if strings.HasSuffix(word, "=") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
	}

	return offered, directive
}

// fixedCandidates are candidates that are always the same.
func fixedCandidates(all ...string) candidates {
	return func(context.Context, *app.Run, core.Where) []cobra.Completion { return all }
}

// withWords adds words to candidates.
func withWords(find candidates, more ...string) candidates {
	return func(ctx context.Context, a *app.Run, at core.Where) []cobra.Completion {
		return slices.Concat(find(ctx, a, at), more)
	}
}

func memberCandidates(ctx context.Context, a *app.Run, at core.Where) []cobra.Completion {
	return app.FindCandidates(a, func(e app.Operations, by core.Caller) (engine.GetRoomStateResult, error) {
		return e.GetRoomState(ctx, engine.GetRoomStateParams{Caller: by, Where: at})
	}, func(r engine.GetRoomStateResult) []engine.RoomMember { return r.Members },
		func(m engine.RoomMember) cobra.Completion {
			return app.DescribedWord(cmp.Or(m.Name, string(m.AgentID)), string(m.Status))
		})
}

func roomCandidates(ctx context.Context, a *app.Run, at core.Where) []cobra.Completion {
	return app.FindCandidates(a, func(e app.Operations, by core.Caller) (engine.ListRoomsResult, error) {
		return e.ListRooms(ctx, engine.ListRoomsParams{Caller: by, Path: at.Path, All: true})
	}, func(r engine.ListRoomsResult) []engine.ListedRoom { return r.Rooms },
		func(r engine.ListedRoom) cobra.Completion {
			return app.DescribedWord(string(r.RoomID), cmp.Or(r.Path, r.Key))
		})
}

func taskCandidates(ctx context.Context, a *app.Run, at core.Where) []cobra.Completion {
	return app.FindCandidates(a, func(e app.Operations, by core.Caller) (task.WorkerStatusResult, error) {
		return e.WorkerStatus(ctx, task.WorkerStatusParams{Caller: by, Where: at})
	}, func(r task.WorkerStatusResult) []task.TaskView { return r.Tasks }, func(t task.TaskView) cobra.Completion {
		return app.DescribedWord(t.TaskID, fmt.Sprintf("%s %s", t.State, t.Description))
	})
}

func messageCandidates(which engine.GetInboxParams) candidates {
	return func(ctx context.Context, a *app.Run, at core.Where) []cobra.Completion {
		return app.FindCandidates(a, func(e app.Operations, by core.Caller) (engine.GetInboxResult, error) {
			which.Caller, which.Where = by, at
			return e.GetInbox(ctx, which)
		}, func(r engine.GetInboxResult) []engine.InboxMessage { return r.Messages },
			func(m engine.InboxMessage) cobra.Completion {
				return app.DescribedWord(strconv.FormatInt(m.MessageID, 10), fmt.Sprintf("%s: %s", m.From, m.Body))
			})
	}
}

func noteCandidates(ctx context.Context, a *app.Run, at core.Where) []cobra.Completion {
	return app.FindCandidates(a, func(e app.Operations, by core.Caller) (engine.ListNotesResult, error) {
		return e.ListNotes(ctx, engine.ListNotesParams{Caller: by, Where: at})
	}, func(r engine.ListNotesResult) []stick.Note { return r.Notes }, func(n stick.Note) cobra.Completion {
		return app.DescribedWord(strconv.FormatInt(n.ID, 10), n.Body)
	})
}

// reservationCandidates are the caller's own.
func reservationCandidates(ctx context.Context, a *app.Run, at core.Where) []cobra.Completion {
	return app.FindCandidates(a, func(e app.Operations, by core.Caller) (scopes.ListReservationsResult, error) {
		res, err := e.ListReservations(ctx, scopes.ListReservationsParams{Caller: by, Where: at})
		res.Reservations = slices.DeleteFunc(res.Reservations, func(v scopes.ReservationView) bool {
			return v.Agent != res.AgentID
		})
		return res, err
	}, func(r scopes.ListReservationsResult) []scopes.ReservationView { return r.Reservations },
		func(v scopes.ReservationView) cobra.Completion {
			return app.DescribedWord(string(v.Pattern), v.Task)
		})
}

// changedFileCandidates are uncommitted files of these shares, relative to the directory of the call.
func changedFileCandidates(shares ...edits.Share) candidates {
	return func(ctx context.Context, a *app.Run, at core.Where) []cobra.Completion {
		return app.FindCandidates(a, func(e app.Operations, by core.Caller) (guard.ListChangesResult, error) {
			res, err := e.ListChanges(ctx, guard.ListChangesParams{Caller: by, Where: at})
			res.Changes = slices.DeleteFunc(res.Changes, func(c guard.Change) bool {
				return !slices.Contains(shares, c.Share)
			})
			for i, c := range res.Changes {
				// A shell completes paths as seen from where it is.
				if rel, rerr := filepath.Rel(a.Dir, filepath.Join(res.Checkout, filepath.FromSlash(c.Path))); rerr == nil {
					res.Changes[i].Path = rel
				}
			}

			return res, err
		}, func(r guard.ListChangesResult) []guard.Change { return r.Changes }, func(c guard.Change) cobra.Completion {
			return app.DescribedWord(c.Path, string(c.Share))
		})
	}
}

func policyCandidates(context.Context, *app.Run, core.Where) []cobra.Completion {
	var all []cobra.Completion
	for _, k := range stick.PolicyKeys {
		if len(k.Words()) == 0 {
			all = append(all, k.Name+"=")
		}

		for _, w := range k.Words() {
			all = append(all, cobra.CompletionWithDesc(k.Name+"="+w, k.Meaning))
		}
	}

	return all
}

func harnessCandidates(context.Context, *app.Run, core.Where) []cobra.Completion {
	return harness.Names()
}

// installCandidates are the harnesses that tt writes for, and those for which it only prints something.
func installCandidates(context.Context, *app.Run, core.Where) []cobra.Completion {
	return append(harness.Names(), harness.SnippetNames()...)
}

func categoryCandidates(context.Context, *app.Run, core.Where) []cobra.Completion {
	var all []cobra.Completion
	for _, c := range stick.Categories {
		all = append(all, string(c.Category))
	}
	return all
}

func eventTypeCandidates(context.Context, *app.Run, core.Where) []cobra.Completion {
	var all []cobra.Completion
	for _, t := range stick.EventTypes {
		all = append(all, cobra.CompletionWithDesc(string(t.Type), t.Meaning))
	}
	return all
}
