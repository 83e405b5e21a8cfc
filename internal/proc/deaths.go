package proc

import "talkingstick/stick"

// Deaths waits for the end of any of several processes. It costs nothing while they live. It belongs to one
// goroutine.
type Deaths struct {
	// C gets a value after a process has ended, once for each. Of several that nobody has read yet, one
	// stays.
	C <-chan struct{}

	table *Table
	died  chan struct{}
	of    map[stick.Process]*death
}

// death is the watch of one process.
type death struct {
	watch *Watch
	over  chan struct{} // closed when nobody wants to know any more
}

// Deaths returns a Deaths that waits for no process yet.
func (t *Table) Deaths() *Deaths {
	died := make(chan struct{}, 1)
	return &Deaths{C: died, table: t, died: died, of: map[stick.Process]*death{}}
}

// Watch waits for the end of these processes from now on, and of no others. It leaves out those that can't be
// watched.
func (d *Deaths) Watch(ps []stick.Process) {
	keep := map[stick.Process]bool{}
	for _, p := range ps {
		keep[p] = true
		if d.of[p] != nil {
			continue
		}

		w, err := d.table.Watch(p)
		if err != nil {
			continue
		}

		one := &death{watch: w, over: make(chan struct{})}
		d.of[p] = one
		go one.awaitEnd(d.died)
	}

	// Those that aren't in the list any more are let go.
	for p, one := range d.of {
		if !keep[p] {
			one.watch.Close()
			close(one.over)
			delete(d.of, p)
		}
	}
}

// Close ends all watches.
func (d *Deaths) Close() { d.Watch(nil) }

// awaitEnd ends with the process, or when nobody wants to know any more.
func (one *death) awaitEnd(died chan<- struct{}) {
	select {
	case <-one.watch.C:
		// One value that nobody has read yet says enough.
		select {
		case died <- struct{}{}:
		default:
		}
	case <-one.over:
	}
}
