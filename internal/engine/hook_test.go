package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestHookShowsInPieces: many or long events need several hooks. Each shows as much as harnesses take, and
// all events come once and in order.
func TestHookShowsInPieces(t *testing.T) {
	s := scene.New(t)
	reader, sender := s.Agent("claude:reader"), s.Agent("claude:sender")
	s.Joins(reader, sender)

	for _, c := range []struct {
		name   string
		count  int
		length int
		want   []int // by hook
	}{
		{"many short ones", 45, 10, []int{20, 20, 5, 0}},
		{"as many as there may be", 20, 10, []int{20, 0}},
		{"long ones", 3, 4000, []int{1, 1, 1, 0}},
		{"two to a hook", 3, 3000, []int{2, 1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent, shown []string
			for i := range c.count {
				body := fmt.Sprintf("%s %d %s", c.name, i, strings.Repeat("x", c.length))
				sent = append(sent, body)
				sender.Tell(body).OK()
			}

			for i, want := range c.want {
				bodies, more := reader.Works()
				if len(bodies) != want || more != (len(shown)+want < c.count) {
					t.Errorf("hook %d shows %d, more: %v; want %d", i, len(bodies), more, want)
				}
				shown = append(shown, bodies...)
			}

			if strings.Join(sent, "\n") != strings.Join(shown, "\n") {
				t.Errorf("%d of %d were shown, or not in their order", len(shown), len(sent))
			}
		})
	}
}

// TestHooksAtOnce runs hooks of one session in parallel, as a harness does that runs tools in parallel,
// together with a wait, while another agent sends. Each message is shown, and at the end nothing is left to
// show.
func TestHooksAtOnce(t *testing.T) {
	const hooks, messages = 3, 40
	s := scene.New(t)
	reader, sender := s.Agent("claude:reader"), s.Agent("claude:sender")
	s.Joins(reader, sender)
	var mu sync.Mutex // guards seen
	seen := map[string]int{}
	note := func(bodies []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, b := range bodies {
			seen[b]++
		}
	}

	done := make(chan struct{})
	var wg sync.WaitGroup
	for range hooks {
		hook := reader.Again()
		wg.Go(func() {
			for over := false; !over; {
				select {
				case <-done:
					over = true // after one more round
				default:
				}

				found := hook.ReadNews(core.HookParams{})
				err := found.Err
				if err == nil {
					err = hook.Engine.RecordShownByHook(t.Context(), hook.Hook(), found.Res)
				}
				if err != nil {
					t.Error(err)
					return
				}
				note(scene.Bodies(found.Res.Events))
			}
		})
	}

	wg.Go(func() {
		wait := reader.Again()
		for over := false; !over; {
			select {
			case <-done:
				over = true
			default:
			}

			res, err := wait.Engine.WaitForTurn(t.Context(), engine.WaitForTurnParams{
				Caller: reader.By, Where: core.Where{Path: s.Work}, Park: true, MaxWaitMS: new(int64),
			})
			if err == nil {
				err = wait.Engine.RecordShown(t.Context(), res)
			}
			if err != nil {
				t.Error(err)
				return
			}
			note(scene.Bodies(res.Events))
		}
	})

	for i := range messages {
		sender.Tell(fmt.Sprintf("message %d", i)).OK()
	}
	close(done)
	wg.Wait()

	for range 2 + messages/20 {
		bodies, _ := reader.Works()
		note(bodies)
	}

	for i := range messages {
		if seen[fmt.Sprintf("message %d", i)] == 0 {
			t.Errorf("message %d was never shown", i)
		}
	}

	if bodies, more := reader.Works(); len(bodies) > 0 || more {
		t.Errorf("all messages were shown, and a hook shows %q, more: %v", bodies, more)
	}
}

// TestHookGivesUp: while another program locks the database, a hook that writes ends at its limit, because
// the harness waits for it. A hook that only reads isn't delayed.
func TestHookGivesUp(t *testing.T) {
	s := scene.New(t)
	reader, sender := s.Agent("claude:reader"), s.Agent("claude:sender")
	s.Joins(reader, sender)
	sender.Tell("hello").OK()

	limited := func(fn func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		return fn(ctx)
	}

	p := reader.Hook()
	s.WhileLocked(func() {
		found := reader.ReadNews(core.HookParams{}).
			That("one event, as it only reads", func(r engine.ReadNewsResult) bool { return len(r.Events) == 1 }).OK()
		for name, fn := range map[string]func(context.Context) error{
			"stop": func(ctx context.Context) error {
				_, err := reader.Engine.Roster.CheckStop(ctx, roster.CheckStopParams{HookParams: p})
				return err
			},
			"session start": func(ctx context.Context) error {
				_, err := reader.Engine.Roster.StartSession(ctx, roster.StartSessionParams{HookParams: p, Auto: true})
				return err
			},
			"session end": func(ctx context.Context) error {
				_, err := reader.Engine.Roster.EndSession(ctx, roster.EndSessionParams{HookParams: p, Why: "other"})
				return err
			},
			"after tool": func(ctx context.Context) error { return reader.Engine.RecordShownByHook(ctx, p, found) },
		} {
			if err := limited(fn); err == nil {
				t.Errorf("%s: the database is locked, and the hook doesn't fail", name)
			}
		}
	})

	// Events that weren't recorded as shown are shown again.
	if bodies, _ := reader.Works(); len(bodies) != 1 {
		t.Errorf("the next hook shows %q", bodies)
	}
	if bodies, _ := reader.Works(); len(bodies) != 0 {
		t.Errorf("and the one after it %q", bodies)
	}
}

// TestHookOfOneWhoIsntWhoItSays: a hook under the name of a session that runs in another process fails, and
// changes nothing in the room.
func TestHookOfOneWhoIsntWhoItSays(t *testing.T) {
	s := scene.New(t)
	ann := s.Agent("claude:a")
	ann.Join().OK()
	ann.StartsByHook("").OK()
	forged := s.Agent("codex:x").As(string(ann.ID))
	forged.By.Process, forged.By.Proof = stick.Process{}, ""
	forged.StartsByHook("").Refused(stick.CodeIdentityMismatch)
	forged.ReadNews(core.HookParams{}).Refused(stick.CodeIdentityMismatch)
	forged.Ends().Refused(stick.CodeIdentityMismatch)
	ann.StartsByHook("").That("that it is still a member", func(r roster.StartSessionResult) bool {
		return r.AgentID == ann.ID
	})
}

// TestHook_TwoForOneEvent: where two entries fire for one event, one of them answers. A harness starts both
// at the same time, so the second has begun before the first is recorded. That a session starts up needs no
// times.
func TestHook_TwoForOneEvent(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:ann"), s.Agent("claude:bob")
	s.Joins(ann, bob)

	starts := func(source string, began stick.Time, answered bool) {
		t.Helper()
		res := ann.StartSession(roster.StartSessionParams{
			HookParams: core.HookParams{Began: began}, Auto: true, Source: source,
		}).OK()
		if res.Answered != answered {
			t.Errorf("a hook for %s that began at %d: another has answered is %v", source, began, res.Answered)
		}
	}

	both := s.Now()
	s.Later(10 * time.Millisecond)
	starts("resume", both, false)
	starts("resume", both, true)
	s.Later(10 * time.Millisecond)
	starts("resume", s.Now(), false) // again
	starts("startup", s.Now(), true) // a session starts up once, however late the second hook begins

	// news: the second hook shows nothing while the first does, nor after it
	bob.Tell("the build is red").OK()
	ann.Tell("I look into it").OK()
	second, shown, others := ann.Again(), 0, 0

	tells := func(a *scene.Actor, show func([]stick.Event, bool) error) {
		t.Helper()
		if _, err := a.Engine.TellNews(t.Context(), a.Hook(), show); err != nil {
			t.Fatal(err)
		}
	}

	never := func(news []stick.Event, _ bool) error {
		t.Errorf("another hook shows %v", scene.Bodies(news))
		return nil
	}

	tells(ann, func(news []stick.Event, _ bool) error {
		shown += len(news)
		tells(second, never)
		tells(bob, func(news []stick.Event, _ bool) error { others += len(news); return nil })
		return nil
	})

	tells(second, never)
	if shown != 1 || others != 1 {
		t.Errorf("the first shows %d events, and meanwhile another agent's hook %d", shown, others)
	}

	// a hook that can't show them leaves them for the next one
	bob.Tell("the build is green").OK()
	silent := errors.New("nobody reads")
	if _, err := ann.Engine.TellNews(t.Context(), ann.Hook(), func([]stick.Event, bool) error {
		return silent
	}); err != silent {
		t.Errorf("a hook that nobody reads ends with %v", err)
	}
	if bodies, _ := second.Works(); len(bodies) != 1 {
		t.Errorf("after it the next one shows %v", bodies)
	}

	// stop: the first keeps the agent from stopping, so the second doesn't record that it is idle
	bob.SendAs(engine.SendMessageParams{
		To: []stick.AgentID{ann.ID}, Body: "please answer", RequiresAck: new(true),
	}).OK()
	ann.Works()
	both = s.Now()
	s.Later(10 * time.Millisecond)
	if res := ann.CheckStop(roster.CheckStopParams{HookParams: core.HookParams{Began: both}}).OK(); !res.Block {
		t.Error("the first lets it stop")
	}
	if res := ann.CheckStop(roster.CheckStopParams{HookParams: core.HookParams{Began: both}}).OK(); res.Block {
		t.Error("both keep it from stopping")
	}
	if m, _ := s.Room().Member(ann.ID); !m.IdleAt.IsZero() {
		t.Error("an agent that goes on is recorded as idle")
	}
}
