package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// proxy stands between a program and PostgreSQL, and breaks connections.
type proxy struct {
	server string // its socket
	mu     sync.Mutex
	open   []net.Conn
	// when the next connection breaks that commits: "before" or "after" the server has got the COMMIT, "between" that and the notices, or "said": between, when the COMMIT is answered
	cut string
}

// throughProxy opens the database of a test again, through a proxy.
func throughProxy(t *testing.T, db *store.DB) (*store.DB, *proxy) {
	t.Helper()
	opt := storetest.Options(db)
	u, err := url.Parse(opt.URL)
	if err != nil {
		t.Fatal(err)
	}

	q, name := u.Query(), ".s.PGSQL."+u.Query().Get("port")
	p := &proxy{server: filepath.Join(q.Get("host"), name)}
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.serve(client)
		}
	}()

	q.Set("host", dir)
	u.RawQuery = q.Encode()
	opt.URL = u.String()
	again, err := store.Open(ctx, opt, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	return again, p
}

func (p *proxy) serve(client net.Conn) {
	server, err := net.Dial("unix", p.server)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	p.open = append(p.open, client, server)
	p.mu.Unlock()
	silent := make(chan bool) // closed when the client gets no answers any more
	said := make(chan bool)   // closed when the client gets no answer after that to its COMMIT
	over := make(chan bool)   // closed when the server has ended the connection
	go func() {
		defer close(over)
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			select {
			case <-silent:
				client.Close()
				server.Close()
				return

			case <-said:
				if end := bytes.Index(buf[:n], []byte("COMMIT\x00")); end >= 0 {
					client.Write(buf[:end+len("COMMIT\x00")])
					client.Close()
					server.Close()
					return
				}
			default:
			}

			if _, werr := client.Write(buf[:n]); err != nil || werr != nil {
				client.Close()
				return
			}
		}
	}()

	go func() {
		defer server.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := client.Read(buf)
			if bytes.Contains(buf[:n], []byte("COMMIT\x00")) {
				switch p.take() {
				case "before":
					client.Close()
					return

				case "between":
					server.Write(buf[:bytes.Index(buf[:n], []byte("SELECT pg_notify"))-len("P....\x00")])
					server.(*net.UnixConn).CloseWrite()
					<-over // a client that learns of it sooner would have the server cancel the commit
					return

				case "said":
					close(said)
					server.Write(buf[:bytes.Index(buf[:n], []byte("SELECT pg_notify"))-len("P....\x00")])
					server.Write([]byte("S\x00\x00\x00\x04")) // Sync, at which the server answers
					io.Copy(io.Discard, client)
					return

				case "after":
					close(silent)
					server.Write(buf[:n])
					io.Copy(io.Discard, client)
					return
				}
			}

			if _, werr := server.Write(buf[:n]); err != nil || werr != nil {
				return
			}
		}
	}()
}

func (p *proxy) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	cut := p.cut
	p.cut = ""
	return cut
}

// breakAt has the next commit break.
func (p *proxy) breakAt(cut string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
}

// breakAll breaks all connections.
func (p *proxy) breakAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		c.Close()
	}
	p.open = nil
}

// TestCommitWithoutAnswer: where the connection breaks at a commit, the store finds out whether it was done,
// and does it again only if it wasn't. That holds for what makes events and for what makes none. Other hosts
// hear of it in any case.
func TestCommitWithoutAnswer(t *testing.T) {
	for cut, want := range map[string]int{"before": 2, "between": 1, "said": 1, "after": 1} {
		t.Run(cut, func(t *testing.T) {
			storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
				id := played(t, db)
				through, p := throughProxy(t, db)
				rings := storetest.Listen(t, db)
				runs := 0
				p.breakAt(cut)

				update(t, through, func(tx *store.Tx) error {
					runs++
					r, err := tx.Room(id)
					if err != nil {
						return err
					}
					after, events, _, err := r.Join("gemini:c", "", true, tx.Now())
					if err == nil {
						_, _, err = tx.Save(r, after, events)
					}
					return err
				})

				if r := load(t, db, id); runs != want || len(r.Members) != 3 {
					t.Errorf("the transaction ran %d times, want %d; there are %d members", runs, want, len(r.Members))
				}

				select {
				case <-rings:
				case <-time.After(10 * time.Second):
					t.Error("nobody elsewhere hears of it")
				}

				if cut == "between" || cut == "said" {
					return // without events there is no notice
				}
				runs = 0
				p.breakAt(cut)

				update(t, through, func(tx *store.Tx) error {
					runs++
					return tx.PutListener(id, stick.Listener{ID: "l", Agent: "codex:b", Purpose: stick.Work})
				})

				if r := load(t, db, id); runs != want || len(r.Listeners) != 1 {
					t.Errorf("without events it ran %d times, want %d; there are %d listeners",
						runs, want, len(r.Listeners))
				}
			})
		})
	}
}

// TestConnectionLost: a connection that broke meanwhile, as when the server was restarted, isn't noticed.
func TestConnectionLost(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		through, p := throughProxy(t, db)
		p.breakAll()
		load(t, through, id)
		p.breakAll()
		join(t, through, id, "gemini:c")
		runs := 0
		update(t, through, func(tx *store.Tx) error {
			runs++
			if _, err := tx.Room(id); err != nil || runs > 1 {
				return err
			}

			p.breakAll()
			_, err := tx.Drafts(id)
			return err
		})

		if runs != 2 {
			t.Errorf("a transaction whose connection broke ran %d times", runs)
		}
	})
}

// TestRoomsAreLocked: while a transaction has read a room, no other that writes can read it. The other says
// so when it has waited too long, and readers go on.
func TestRoomsAreLocked(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		other := newRoom(t, db, "/other").ID
		second := storetest.Again(t, db, storetest.WriteWait(100*time.Millisecond))
		update(t, db, func(tx *store.Tx) error {
			if _, _, err := tx.RoomAt([]string{"/work"}); err != nil {
				return err
			}

			for name, read := range map[string]func(*store.Tx) error{
				"Room":     func(tx *store.Tx) error { _, err := tx.Room(id); return err },
				"RoomPart": func(tx *store.Tx) error { _, err := tx.RoomPart(id, "claude:a"); return err },
				"RoomAt":   func(tx *store.Tx) error { _, _, err := tx.RoomAt([]string{"/work"}); return err },
				"Advance":  func(tx *store.Tx) error { return tx.AdvanceCursor(id, "claude:a", "wait", 1) },
			} {
				if e := refused(t, second.Update(ctx, read), stick.CodeDatabaseBusy); len(e.Hint) == 0 {
					t.Errorf("%s: the refusal has no next step", name)
				}
			}

			load(t, second, id)
			update(t, second, func(tx *store.Tx) error { _, err := tx.Room(other); return err })
			return nil
		})
	})
}

// TestNoEventIsSkipped: writers of several rooms write at once. Whoever follows a room by its cursor sees
// each event, in the order of their numbers, and the check finds the chain of sums whole.
func TestNoEventIsSkipped(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const writers, each = 4, 15
		rooms := []stick.RoomID{newRoom(t, db, "/a").ID, newRoom(t, db, "/b").ID}
		var writing sync.WaitGroup
		for i := range writers {
			own := storetest.Again(t, db)
			writing.Go(func() {
				for n := range each {
					err := own.Update(ctx, func(tx *store.Tx) error {
						r, err := tx.Room(rooms[(i+n)%2])
						if err != nil {
							return err
						}
						after, events, _, err := r.Join(stick.AgentID(fmt.Sprintf("claude:%d-%d", i, n)), "", true,
							tx.Now())
						if err == nil {
							_, _, err = tx.Save(r, after, events)
						}
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}

		over := make(chan bool)
		go func() { writing.Wait(); close(over) }()
		cursor, seen := map[stick.RoomID]int64{}, 0
		for last := false; !last || seen < writers*each; {
			select {
			case <-over:
				if last { // everything was written before the last look
					t.Fatalf("%d of %d events were seen", seen, writers*each)
				}
				last = true
			default:
			}

			for _, id := range rooms {
				view(t, db, func(tx *store.Tx) error {
					events, _, err := tx.Events(store.EventQuery{Room: id, After: cursor[id], Limit: 500})
					for _, e := range events {
						if e.Seq <= cursor[id] {
							t.Errorf("event %d comes after %d", e.Seq, cursor[id])
						}
						cursor[id] = e.Seq
					}

					seen += len(events)
					return err
				})
			}
		}
	})
}

// TestLocksInAnyOrder: transactions that lock two rooms in opposite orders stand in each other's way.
// PostgreSQL ends one, which runs again.
func TestLocksInAnyOrder(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		a, b := newRoom(t, db, "/a").ID, newRoom(t, db, "/b").ID
		second := storetest.Again(t, db)
		met := make(chan bool)
		cross := func(db *store.DB, first, then stick.RoomID) error {
			runs := 0
			return db.Update(ctx, func(tx *store.Tx) error {
				_, err := tx.Room(first)
				if runs++; err == nil && runs == 1 {
					select { // both have their first room
					case met <- true:
					case <-met:
					}
				}

				if err == nil {
					_, err = tx.Room(then)
				}
				return err
			})
		}

		done := make(chan error)
		go func() { done <- cross(second, b, a) }()
		if err := errors.Join(cross(db, a, b), <-done); err != nil {
			t.Error(err)
		}
	})
}

// TestOneRoomAtAPath: two transactions that find no room at a path don't make two, nor does one fail.
func TestOneRoomAtAPath(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var making sync.WaitGroup
		for range 6 {
			own := storetest.Again(t, db)
			making.Go(func() {
				err := own.Update(ctx, func(tx *store.Tx) error {
					_, ok, err := tx.RoomAt([]string{"/work/deep", "/work"})
					if err == nil && !ok {
						_, err = tx.NewRoom("/work", storetest.Key("/work"))
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}

		making.Wait()
		view(t, db, func(tx *store.Tx) error {
			rooms, err := tx.Rooms(nil, "")
			if len(rooms) != 1 {
				t.Errorf("there are %d rooms", len(rooms))
			}
			return err
		})
	})
}

// TestServersClock: the time of a transaction is the server's, read when its room was locked.
func TestServersClock(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		id := newRoom(t, db, "/work").ID
		second := storetest.Again(t, db)
		locked, done := make(chan bool), make(chan error)
		var ended stick.Time
		go func() {
			done <- db.Update(ctx, func(tx *store.Tx) error {
				if _, err := tx.Room(id); err != nil {
					return err
				}
				close(locked)
				soon(t, "the second transaction waits for the room", func() bool {
					return len(storetest.Exec(t,
						db,
						"SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE%'")) > 0
				})
				ended = stick.Time(must(t,
					storetest.Exec(t, db, "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint")[0]))
				return nil
			})
		}()

		<-locked
		var now stick.Time
		update(t, second, func(tx *store.Tx) error {
			_, err := tx.Room(id)
			now = tx.Now()
			return err
		})

		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if now < ended {
			t.Errorf("the time is %s, and the room was free at %s", now, ended)
		}
	})
}

func must(t *testing.T, number string) (n int64) {
	t.Helper()
	if _, err := fmt.Sscan(number, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestNotices: a commit notifies who listens on the channel of the schema, and a rollback doesn't.
func TestNotices(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		rings := storetest.Listen(t, db)
		id := newRoom(t, db, "/work").ID
		_ = db.Update(ctx, func(tx *store.Tx) error { tx.Ring("room-x"); return errors.New("no") })
		join(t, db, id, "claude:a")
		if got := <-rings; got != "rooms" {
			t.Errorf("the notice is %q, and there is a new room", got)
		}
		if got := <-rings; got != string(id) {
			t.Errorf("the notice is %q, and the room is %s", got, id)
		}
	})
}

// TestAddressNamesTheSchema: without search_path the tables are in a schema of ours, and two schemas of one
// database are two.
func TestAddressNamesTheSchema(t *testing.T) {
	address, _, _ := strings.Cut(storetest.PostgresURL(t), "&search_path=")
	t.Cleanup(func() {
		if err := storetest.Script(address, "DROP SCHEMA talkingstick CASCADE"); err != nil {
			t.Error(err)
		}
	})

	db, err := store.Open(ctx, store.Options{Dir: t.TempDir(), URL: address}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	newRoom(t, db, "/work")
	if err := storetest.Script(address, "SELECT room_id FROM talkingstick.rooms"); err != nil {
		t.Error(err)
	}
	if _, err := store.Open(ctx, store.Options{Dir: t.TempDir(), URL: address + "&search_path=another"}, false); !errors.Is(err, store.ErrAbsent) {
		t.Errorf("another schema: %v", err)
	}
}
