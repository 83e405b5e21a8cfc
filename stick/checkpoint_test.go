package stick_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

// TestRecordFrom_EveryField: a checkpoint has all that a record has, whatever fields its parts have.
func TestRecordFrom_EveryField(t *testing.T) {
	var c stick.Record
	fillValue(reflect.ValueOf(&c).Elem())
	c.Events = 0
	p, err := c.LeaveCheckpoint(0, nil)
	if err != nil {
		t.Fatal(err)
	}

	p.Seq = 1
	again, err := stick.RecordFrom(p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range reflect.TypeFor[stick.Record]().NumField() {
		f := reflect.TypeFor[stick.Record]().Field(i)
		if !f.IsExported() {
			continue
		}

		got, want := reflect.ValueOf(again).Elem().Field(i).Interface(), reflect.ValueOf(c).Field(i).Interface()
		if f.Name == "Receipts" {
			// The keys are in the receipts.
			got = slices.Collect(maps.Values(again.Receipts))
			want = slices.Collect(maps.Values(c.Receipts))
		}
		sticktest.Equal(t, f.Name, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", keyedAsParts(f.Name, want)))
	}
}

// keyedAsParts is a map of a filled record whose keys are those of the numbers in its values.
func keyedAsParts(name string, v any) any {
	switch m := v.(type) {
	case map[stick.AttemptKey]stick.TaskAttempt:
		out := map[stick.AttemptKey]stick.TaskAttempt{}
		for k, a := range m {
			out[stick.AttemptKey{Task: k.Task, Number: a.Number}] = a
		}
		return out
	case map[stick.CommentKey]stick.Comment:
		out := map[stick.CommentKey]stick.Comment{}
		for k, a := range m {
			out[stick.CommentKey{Task: k.Task, ID: a.ID}] = a
		}
		return out
	}
	return v
}

// fillValue gives everything in a value that can be set something that isn't zero.
func fillValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int8, reflect.Int32:
		v.SetInt(7)
	case reflect.Array:
		for i := range v.Len() {
			fillValue(v.Index(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillValue(v.Index(0))
	case reflect.Map:
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillValue(key)
		fillValue(elem)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, elem)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillValue(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem())
	}
}

// TestRecord_LeaveCheckpoint: wherever a log is cut, a replay that begins with the checkpoint comes to the same.
func TestRecord_LeaveCheckpoint(t *testing.T) {
	logs := map[stick.RoomID][]stick.Event{"story": story(t).Log}
	for _, e := range storedLog(t) {
		logs[e.Room] = append(logs[e.Room], e)
	}

	for id, log := range logs {
		removed := 0
		for n := range len(log) {
			pruned, err := pruneLog(log, n)
			if err != nil {
				t.Fatalf("%s, cut after event %d: %v", id, log[n].Seq, err)
			}
			removed = max(removed, len(log)-len(pruned.log))
			if err := pruned.check(log); err != nil {
				t.Errorf("%s, cut after event %d: %v", id, log[n].Seq, err)
			}
		}
		if removed == 0 {
			t.Errorf("%s: nothing can go", id)
		}
	}
}

// TestRecord_LeaveCheckpoint_again: a log with a checkpoint can be cut once more.
func TestRecord_LeaveCheckpoint_again(t *testing.T) {
	log := story(t).Log
	first, err := pruneLog(log, len(log)/3)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(first.log) {
		c, err := stick.RecordFrom(first.checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		if n < len(first.log)-1 && first.log[n+1].Seq <= first.checkpoint.PrunedTo {
			continue // not before the end of what was removed
		}

		second, err := pruneFrom(c, first.log, n)
		if err != nil {
			t.Fatalf("cut after event %d: %v", first.log[n].Seq, err)
		}
		if err := second.check(log); err != nil {
			t.Errorf("cut after event %d: %v", first.log[n].Seq, err)
		}
	}
}

// TestReplay_checkpointIsDamaged: what is missing or changed in a log with a checkpoint is found.
func TestReplay_checkpointIsDamaged(t *testing.T) {
	log := story(t).Log
	pruned, err := pruneLog(log, len(log)/2)
	if err != nil {
		t.Fatal(err)
	}
	kept := slices.IndexFunc(pruned.log, func(e stick.Event) bool { return e.Seq > pruned.checkpoint.PrunedTo })
	if kept < 1 {
		t.Fatal("nothing was kept")
	}

	for name, c := range map[string]struct {
		change func(*prunedLog)
		says   string
	}{
		"a kept event is missing": {func(p *prunedLog) { p.log = p.log[1:] }, "and is missing"},
		"a kept event is another": {func(p *prunedLog) { p.log[0].Reason += "x" }, "its sum doesn't follow"},
		"a removed event is back": {func(p *prunedLog) { p.log = slices.Insert(p.log, 0, log[:1]...) }, "is there again"},
		"a later one is missing":  {func(p *prunedLog) { p.log = slices.Delete(p.log, kept, kept+1) }, "its sum doesn't follow"},
		"it isn't the event's": {func(p *prunedLog) {
			p.checkpoint.State = json.RawMessage(strings.Replace(string(p.checkpoint.State), `"State":"`, `"Path":"/x","State":"`, 1))
		}, "isn't what it was"},
		"it is another one": {func(p *prunedLog) { p.checkpoint.Seq-- }, "is missing"},
		"it is cut off":     {func(p *prunedLog) { p.checkpoint.State = p.checkpoint.State[:99] }, "can't be read"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			p := prunedLog{checkpoint: pruned.checkpoint, log: slices.Clone(pruned.log)}
			c.change(&p)
			if err := p.check(log); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

// TestRecordFrom_stored: what an earlier program has left as a checkpoint comes to the same for ever. Add new fields to
// the file; a name in it stays.
func TestRecordFrom_stored(t *testing.T) {
	const file = "testdata/checkpoint.json"
	var c stick.Record
	fillValue(reflect.ValueOf(&c).Elem())
	p, err := c.LeaveCheckpoint(0, nil)
	if err != nil {
		t.Fatal(err)
	}

	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	was, err := stick.RecordFrom(stick.Checkpoint{Turn: c.Turn, State: stored})
	if err != nil {
		t.Fatal(err)
	}
	if !was.Equals(&c) {
		t.Errorf("a new field isn't stored in %s, which would be\n%s", file, p.State)
	}
}

// prunedLog is a log with a checkpoint.
type prunedLog struct {
	checkpoint stick.Checkpoint
	log        []stick.Event
}

// pruneLog cuts a log after its n-th event.
func pruneLog(log []stick.Event, n int) (prunedLog, error) { return pruneFrom(&stick.Record{}, log, n) }

// pruneFrom cuts a log whose replay begins with a record.
func pruneFrom(c *stick.Record, log []stick.Event, n int) (p prunedLog, err error) {
	var at *stick.Record
	sums := map[int64]string{}
	for i, e := range log {
		sums[e.Seq] = c.SumBefore(e.Seq)
		if err := c.Replay(e); err != nil {
			return p, err
		}
		if i != n {
			continue
		}
		if at, err = c.Clone(); err != nil {
			return p, err
		}
	}

	var kept []stick.KeptEvent
	needs := at.LogNeeds(log[n].Seq, c)
	for i, e := range log {
		if !needs.Has(e) {
			continue
		}
		p.log = append(p.log, e)
		if i <= n {
			kept = append(kept, stick.KeptEvent{Seq: e.Seq, Before: sums[e.Seq]})
		}
	}

	if p.checkpoint, err = at.LeaveCheckpoint(log[n].Seq, kept); err != nil {
		return p, err
	}
	last := log[len(log)-1]
	e := stick.Event{
		Seq: last.Seq + 1, ID: "checkpoint", Room: last.Room, Turn: c.Turn, Type: stick.EventCheckpoint, From: "human:x",
		Payload: stick.EncodePayload(stick.CheckpointPayload{PrunedTo: log[n].Seq, StateSum: p.checkpoint.Sum()}),
	}
	e.Sum = e.Chain(c.Sum)
	p.checkpoint.Seq, p.log = e.Seq, append(p.log, e)
	return p, nil
}

// check compares what a log with a checkpoint comes to with what the whole log does.
func (p prunedLog) check(whole []stick.Event) error {
	c, err := stick.RecordFrom(p.checkpoint)
	if err != nil {
		return err
	}
	var kept []stick.KeptEvent
	for _, e := range p.log {
		if e.Seq <= p.checkpoint.PrunedTo {
			kept = append(kept, stick.KeptEvent{Seq: e.Seq})
		}
		if err := c.Replay(e); err != nil {
			return err
		}
	}

	var all stick.Record
	for _, e := range whole {
		if err := all.Replay(e); err != nil {
			return err
		}
	}
	all.Forget(p.checkpoint.PrunedTo, kept)
	all.Sum = c.Sum // the checkpoint's own event came after
	if !c.Equals(&all) {
		return fmt.Errorf("it comes to\n%+v, want\n%+v", c, all)
	}
	return nil
}
