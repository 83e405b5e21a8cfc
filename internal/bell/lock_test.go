package bell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

func lockPath(t testing.TB) string { return filepath.Join(t.TempDir(), "write.lock") }

// soon is a context for a wait that must fail.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// late is a context for a wait that must succeed.
func late(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// checkHeld checks that err is a LockedError that names pid.
func checkHeld(t *testing.T, err error, pid int) {
	t.Helper()
	held, ok := errors.AsType[*LockedError](err)
	if !ok {
		t.Fatalf("got error %v, want a LockedError", err)
	}
	if held.PID != pid {
		t.Errorf("got holder %d, want %d", held.PID, pid)
	}
}

func TestLock(t *testing.T) {
	path := lockPath(t)
	l, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := TryLock(path); ok || err != nil {
		t.Errorf("TryLock of a held lock: got %t, %v", ok, err)
	}

	_, err = Lock(soon(t), path)
	checkHeld(t, err, os.Getpid())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want that it tells why the wait ended", err)
	}

	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := l.Unlock(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("second Unlock: got %v, want %v", err, os.ErrClosed)
	}

	// The wait that was given up may get the lock now and let go of it.
	l, err = Lock(late(t), path)
	if err != nil {
		t.Fatal(err)
	}
	l.Unlock()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v (%v), want 0600", info.Mode(), err)
	}
}

// TestHolderOf asks who holds a lock before it was ever taken, while it is held, and afterwards.
func TestHolderOf(t *testing.T) {
	path := lockPath(t)
	held := func() (Holder, bool) {
		h, held, err := HolderOf(path)
		if err != nil {
			t.Fatal(err)
		}
		return h, held
	}

	if _, yes := held(); yes {
		t.Error("a lock that was never taken is held")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("asking made the file: %v", err)
	}

	l, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if h, yes := held(); !yes || h != (Holder{os.Getpid(), info.ModTime()}) {
		t.Errorf("got %v, %t; want this process since %v", h, yes, info.ModTime())
	}

	l.Unlock()
	if h, yes := held(); yes {
		t.Errorf("a lock that is free is held by %v", h)
	}

	if l, ok, err := TryLock(path); !ok || err != nil {
		t.Errorf("asking kept the lock: %v", err)
	} else {
		l.Unlock()
	}
}

func TestLockEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Lock(ctx, lockPath(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("Lock: got %v", err)
	}
	if err := NewMutex(lockPath(t)).Lock(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Mutex.Lock: got %v", err)
	}
}

// TestLockAfterItsDeadline: whoever comes too late by no fault of its own gets a free lock, and learns who
// has one that isn't.
func TestLockAfterItsDeadline(t *testing.T) {
	path := lockPath(t)
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	l, err := Lock(late, path)
	if err != nil {
		t.Fatal(err)
	}

	var held *LockedError
	if _, err := Lock(late, path); !errors.As(err, &held) ||
		held.PID != os.Getpid() ||
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a held lock: %v", err)
	}

	if err := l.Unlock(); err != nil {
		t.Error(err)
	}
}

// TestOneWaitForALock: whoever gives up again and again leaves one goroutine that waits in the kernel, which
// the next one takes over.
func TestOneWaitForALock(t *testing.T) {
	path := lockPath(t)
	held, _, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()

	for range 50 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := Lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		cancel()
	}

	if now := runtime.NumGoroutine(); now > before+5 {
		t.Errorf("%d goroutines became %d", before, now)
	}

	got := make(chan *FileLock)
	for range 2 {
		go func() {
			l, err := Lock(t.Context(), path)
			if err != nil {
				t.Error(err)
			}
			got <- l
		}()
	}

	for taken := false; !taken; runtime.Gosched() { // one of the two takes the wait over that was left
		abandoned.Lock()
		taken = len(abandoned.by[path]) == 0
		abandoned.Unlock()
	}

	held.Unlock()
	for range 2 {
		(<-got).Unlock()
	}

	if l, free, err := TryLock(path); err != nil || !free {
		t.Errorf("the lock is free: %v, %v", free, err)
	} else {
		l.Unlock()
	}
}

func TestMutexExcludesGoroutines(t *testing.T) {
	m := NewMutex(lockPath(t))
	defer m.Close()
	n := 0

	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if err := m.Lock(late(t)); err != nil {
					t.Error(err)
					return
				}
				n++ // for the race detector
				if err := m.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}

	group.Wait()
	if n != 8*50 {
		t.Errorf("got %d, want %d", n, 8*50)
	}
}

func TestMutexGivenUp(t *testing.T) {
	path := lockPath(t)
	other, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	m := NewMutex(path)
	for range 3 { // the first one waits in the kernel, the others behind it
		checkHeld(t, m.Lock(soon(t)), os.Getpid())
	}
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}

	if err := m.Lock(late(t)); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := TryLock(path); ok || err != nil {
		t.Errorf("TryLock: got %t, %v; the wait that was given up released what isn't its own", ok, err)
	}

	if err := m.Unlock(); err != nil {
		t.Fatal(err)
	}

	if l, ok, err := TryLock(path); !ok || err != nil {
		t.Errorf("TryLock after Unlock: got %t, %v", ok, err)
	} else {
		l.Unlock()
	}

	if err := errors.Join(m.Close(), m.Close()); err != nil {
		t.Error(err)
	}
}

func TestMutexClose(t *testing.T) {
	path := lockPath(t)
	m := NewMutex(path)
	if err := m.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := TryLock(path); ok {
		t.Error("Close took the lock from its holder")
	}

	if err := m.Unlock(); err != nil {
		t.Fatal(err)
	}
	if m.file != nil {
		t.Error("the file is still open")
	}
	if err := m.Lock(t.Context()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Lock after Close: got %v, want %v", err, os.ErrClosed)
	}
}

func BenchmarkMutex(b *testing.B) {
	m := NewMutex(lockPath(b))
	defer m.Close()
	for b.Loop() {
		if err := m.Lock(b.Context()); err != nil {
			b.Fatal(err)
		}
		m.Unlock()
	}
}

func BenchmarkLock(b *testing.B) {
	path := lockPath(b)
	for b.Loop() {
		l, err := Lock(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		l.Unlock()
	}
}
