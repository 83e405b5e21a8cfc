package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// PruneAge is for how long nothing has happened to what can go, unless the caller says otherwise.
const PruneAge = 90 * 24 * time.Hour

// outputAge is how old the output of a gate is, at least, before it goes because no row names it: a command that
// has written one may be about to name it.
const outputAge = 24 * time.Hour

// PruneParams asks what can go, or to remove it.
type PruneParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	OneRoom     bool   `json:"one_room,omitempty"`      // only the room that Where means
	OlderThanMS *int64 `json:"older_than_ms,omitempty"` // how long nothing has happened to it; 90 days if absent
	Remove      bool   `json:"remove,omitempty"`        // without it, nothing is changed
}

// PruneResult says how much the data directory has, and what can go, or went.
type PruneResult struct {
	DataDir   string       `json:"data_dir"`
	Parts     []DataPart   `json:"parts"`             // what there is, before anything went
	OlderThan int64        `json:"older_than_ms"`     // how long nothing has happened to what can go
	RoomID    stick.RoomID `json:"room_id,omitempty"` // the only room that was asked for
	Items     []PruneItem  `json:"items"`
	Bytes     int64        `json:"bytes"` // of all items, about
	Pruned    bool         `json:"pruned"`
}

// PruneItem is what can go, or went.
type PruneItem struct {
	// What is room, with its log; events, the old ones of a room in use; outputs, of gates; or database, that was put
	// aside.
	What   string       `json:"what"`
	RoomID stick.RoomID `json:"room_id,omitempty"` // of a room
	Path   string       `json:"path,omitempty"`    // the workspace of a room, or the directory of a database
	Why    stick.Words  `json:"why"`
	LastAt stick.Time   `json:"last_at,omitzero"` // when anything was last seen to happen there
	Events int64        `json:"events,omitempty"` // of a room: how many go
	Of     int64        `json:"of,omitempty"`     // how many events the log of a room in use has
	Files  int          `json:"files,omitempty"`  // how many outputs
	Bytes  int64        `json:"bytes"`            // about
}

// The kinds of what can go.
const (
	PruneRoom     = "room"
	PruneEvents   = "events"
	PruneOutputs  = "outputs"
	PruneDatabase = "database"
)

// Prune removes what nobody needs any longer, as a person, or says what that would be: rooms that are closed or
// have lost their workspace, with their logs; the old events of other rooms, whose logs begin with a checkpoint then;
// outputs of gates that nothing names; databases that a restore or the doctor has put aside. Nothing brings them back. If it is killed, all that it found is there, or the next one
// removes the rest. It fails with [stick.CodePersonOnly], with [stick.CodeNoRoom], and with [stick.CodeUsage] where
// the rooms are on a server, and for one room that stays.
func (u *Upkeep) Prune(ctx context.Context, p PruneParams) (PruneResult, error) {
	age := PruneAge
	if p.OlderThanMS != nil {
		age = time.Duration(*p.OlderThanMS) * time.Millisecond
	}
	res := PruneResult{
		DataDir: u.core.Config.Dir, Parts: []DataPart{}, OlderThan: age.Milliseconds(), Items: []PruneItem{},
	}

	switch {
	case p.Remove && !p.Caller.ActsAsPerson():
		return res, stick.Errorf(stick.CodePersonOnly, "only a person may remove rooms and their logs").
			Hintf("ask a person to run it; to see what would be removed: %s", stick.Cmd("tt prune"))
	case u.core.Config.Database != "":
		return res, stick.Errorf(stick.CodeUsage,
			"the rooms are in a database on a server, which other machines may use, and tt prunes only its own file").
			Hintf("leave them there, or ask who looks after the server")
	case age < 0:
		return res, stick.Errorf(stick.CodeUsage, "the age of what goes can't be negative").With("field", "older-than").
			Hintf("name a time, such as 90 days: %s", stick.Cmd("tt prune --older-than 90d"))
	}

	db, err := u.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return res, nil
	}
	if err != nil {
		return res, err
	}

	res.measureParts(u)
	run := pruning{u: u, db: db, by: p.Caller, before: stick.At(u.core.Now()).Add(-age), res: &res}
	if p.OneRoom {
		err := u.core.ReadRoom(ctx, p.Where, p.Caller, func(_ *store.Tx, _ *core.Probes, r stick.Room) error {
			run.only, res.RoomID = r.ID, r.ID
			return nil
		})
		if err != nil {
			return res, err
		}
	}

	if p.Remove {
		err = run.removeAll(ctx)
	} else {
		err = run.list(ctx)
	}
	for _, item := range res.Items {
		res.Bytes += item.Bytes
	}

	return res, err
}

// measureParts says how much the parts of the data directory have.
func (r *PruneResult) measureParts(u *Upkeep) {
	var data RemoveDataResult
	file := filepath.Join(r.DataDir, store.FileName)
	data.addPart(DataDatabase, file, file+"-wal", file+"-shm")
	data.addPart(DataOutputs, filepath.Join(r.DataDir, store.OutputsName))
	data.addPart(DataCopies, u.rescueDir())
	data.addPart(DataBackups, u.backupDir())
	for _, aside := range store.DatabasesAside(r.DataDir) {
		data.addPart(DataReplaced, aside)
	}
	data.addPart(DataPairs, filepath.Join(r.DataDir, core.ComparisonsName))
	r.Parts = append(r.Parts, data.Parts...)
}

// pruning is one call of [Upkeep.Prune].
type pruning struct {
	u      *Upkeep
	db     *store.DB
	by     core.Caller
	only   stick.RoomID // empty for all
	before stick.Time   // since when nothing has happened to what can go
	gone   map[stick.RoomID]bool
	in     []stick.Room // rooms that stay, whose old events can go
	why    stick.Words  // why the only room that was asked for stays
	res    *PruneResult
}

// list says what can go.
func (r *pruning) list(ctx context.Context) error {
	if err := r.probeWorkspaces(ctx); err != nil {
		return err
	}

	outputs := PruneItem{}
	err := r.u.core.View(ctx, r.db, r.by, func(tx *store.Tx, _ *core.Probes) (err error) {
		outputs, err = r.planRooms(tx)
		return err
	})
	if err != nil {
		return err
	}

	for _, room := range r.in {
		cut, err := r.db.PlanLogCut(ctx, r.cutRequest(room))
		if err != nil {
			return err
		}
		r.addEvents(room, cut)
	}
	if err := r.requireOnly(); err != nil {
		return err
	}

	n, bytes, err := r.db.SweepOutputs(ctx, r.outputLimit(), false)
	outputs.Files += n
	outputs.Bytes += bytes
	r.addOutputs(outputs)
	if r.only == "" {
		r.addDatabases(false)
	}
	return err
}

// removeAll removes what can go. Rooms go all at once, then the old events of one room after the other. Contents that
// no row names any longer are found again by the next call if this one is killed.
func (r *pruning) removeAll(ctx context.Context) error {
	if err := r.probeWorkspaces(ctx); err != nil {
		return err
	}

	err := r.db.Update(ctx, func(tx *store.Tx) error {
		if _, err := r.planRooms(tx); err != nil {
			return err
		}

		for _, item := range r.res.Items {
			if err := tx.RemoveRoom(item.RoomID); err != nil {
				return err
			}
		}

		return nil
	})
	if err != nil {
		return err
	}
	r.u.core.KillPoint("prune: rooms removed")

	if err := r.cutLogs(ctx); err != nil {
		return err
	}
	if err := r.requireOnly(); err != nil {
		return err
	}
	r.res.Pruned = true
	if err := r.db.Update(ctx, r.removeOutputs); err != nil {
		return err
	}

	n, bytes, err := r.db.SweepOutputs(ctx, r.outputLimit(), true)
	if err != nil {
		return err
	}
	r.addOutputs(PruneItem{Files: n, Bytes: bytes})
	r.u.core.KillPoint("prune: outputs removed")

	if r.only == "" {
		r.addDatabases(true)
	}
	return r.db.Shrink(ctx)
}

// cutLogs removes the old events of the rooms that stay.
func (r *pruning) cutLogs(ctx context.Context) error {
	var me core.Identity
	err := r.u.core.View(ctx, r.db, r.by, func(tx *store.Tx, probes *core.Probes) (err error) {
		me, err = core.Identify(tx, probes, r.by)
		return err
	})
	if err != nil {
		return err
	}

	for _, room := range r.in {
		q := r.cutRequest(room)
		q.By = me.Agent
		cut, err := r.db.CutLog(ctx, q)
		if err != nil {
			return err
		}
		r.addEvents(room, cut)
		r.u.core.KillPoint("prune: events removed")
	}

	return nil
}

// cutRequest asks to shorten the log of a room, where that gives any space back.
func (r *pruning) cutRequest(room stick.Room) store.CutRequest {
	return store.CutRequest{Room: room.ID, Before: r.before, Gain: 1}
}

// removeOutputs removes the rows of outputs that nothing names any longer.
func (r *pruning) removeOutputs(tx *store.Tx) error {
	unnamed, err := tx.UnnamedOutputs(r.before, nil)
	if err != nil {
		return err
	}
	for sum := range unnamed {
		if err := tx.RemoveOutput(sum); err != nil {
			return err
		}
	}

	return nil
}

// requireOnly refuses a call for one room of which nothing goes.
func (r *pruning) requireOnly() error {
	isOther := r.only == "" || len(r.res.Items) > 0
	if isOther || r.why == "" {
		return nil
	}
	return stick.Errorf(stick.CodeUsage, "the room %s stays: %s, and none of its events can go", r.only, r.why).
		Hintf("close a room that nobody needs any longer: %s; name a shorter time for one that was used lately: %s",
			stick.Cmd("tt close --room <room>", r.only), stick.Cmd("tt prune --room <room> --older-than 0s", r.only))
}

// probeWorkspaces finds out which rooms have lost their workspaces. A path that can't be looked at isn't gone.
func (r *pruning) probeWorkspaces(ctx context.Context) error {
	var rooms []stick.Room
	err := r.u.core.View(ctx, r.db, r.by, func(tx *store.Tx, _ *core.Probes) (err error) {
		rooms, err = tx.Rooms(nil, "")
		return err
	})

	r.gone = map[stick.RoomID]bool{}
	for _, room := range rooms {
		_, err := os.Lstat(room.Path)
		r.gone[room.ID] = errors.Is(err, fs.ErrNotExist)
	}

	return err
}

// planRooms lists the rooms that can go, and returns the outputs that only they name.
func (r *pruning) planRooms(tx *store.Tx) (outputs PruneItem, err error) {
	r.res.Items, r.in = r.res.Items[:0], nil // the transaction may run twice
	rooms, err := tx.Rooms(nil, "")
	if err != nil {
		return outputs, err
	}

	var going []stick.RoomID
	for _, room := range rooms {
		if r.only != "" && room.ID != r.only {
			continue
		}

		item, goes, err := r.planRoom(tx, room)
		if err != nil {
			return outputs, err
		}
		if goes {
			going = append(going, room.ID)
			r.res.Items = append(r.res.Items, item)
		} else {
			r.in = append(r.in, room)
		}
	}

	unnamed, err := tx.UnnamedOutputs(r.before, going)
	for _, size := range unnamed {
		outputs.Files++
		outputs.Bytes += size
	}
	return outputs, err
}

// planRoom finds out whether a room can go.
func (r *pruning) planRoom(tx *store.Tx, room stick.Room) (item PruneItem, goes bool, err error) {
	whole, err := tx.Room(room.ID)
	if err != nil {
		return item, false, err
	}
	open, err := tx.CountOpenTasks(room.ID)
	if err != nil {
		return item, false, err
	}

	use := stick.RoomUse{IsGone: r.gone[room.ID], OpenTasks: open}
	why := whole.WhyKept(use, r.before)
	if why != "" {
		r.why = why
		return item, false, nil
	}

	size, err := tx.SizeOf(room.ID)
	item = PruneItem{
		What: PruneRoom, RoomID: room.ID, Path: room.Path, Why: "it is closed", LastAt: whole.LastUse(),
		Events: size.Events, Bytes: size.Bytes,
	}
	if use.IsGone {
		item.Why = "its workspace is gone"
	}
	return item, true, err
}

// outputLimit is before when outputs were written that can go.
func (r *pruning) outputLimit() time.Time { return r.u.core.Now().Add(-outputAge) }

// addEvents adds the old events of a room that can go or went, if there are any.
func (r *pruning) addEvents(room stick.Room, cut store.LogCut) {
	if cut.Removed == 0 {
		return
	}
	r.res.Items = append(r.res.Items, PruneItem{
		What: PruneEvents, RoomID: room.ID, Path: room.Path, Why: "nothing needs them", LastAt: cut.LastAt,
		Events: cut.Removed, Of: cut.Events, Bytes: cut.Bytes,
	})
}

// addOutputs adds the outputs that can go, if there are any.
func (r *pruning) addOutputs(item PruneItem) {
	if item.Files > 0 {
		item.What, item.Why = PruneOutputs, "nothing names them"
		r.res.Items = append(r.res.Items, item)
	}
}

// addDatabases adds the databases that were put aside long ago, and removes them. One that can't be removed stays.
func (r *pruning) addDatabases(remove bool) {
	for _, dir := range store.DatabasesAside(r.res.DataDir) {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}

		at := stick.At(info.ModTime())
		if at >= r.before {
			continue
		}

		item := PruneItem{What: PruneDatabase, Path: dir, Why: "it was put aside", LastAt: at}
		item.Bytes, _ = sizeOf(dir)
		if remove && os.RemoveAll(dir) != nil {
			continue
		}
		r.res.Items = append(r.res.Items, item)
	}
}
