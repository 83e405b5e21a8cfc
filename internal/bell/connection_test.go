package bell

import "testing"

// TestConnections: live connections of one name have different numbers, and a new one gets the first that is
// free.
func TestConnections(t *testing.T) {
	d, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	take := func(name string, want int) *FileLock {
		t.Helper()
		n, l, err := d.TakeConnection(name)
		if err != nil || n != want {
			t.Fatalf("number %d, want %d: %v", n, want, err)
		}
		return l
	}

	first, second := take("a", 1), take("a", 2)
	defer second.Unlock()
	defer take("b", 1).Unlock()
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	defer take("a", 1).Unlock()
	defer take("a", 3).Unlock()
	if _, _, err := d.TakeConnection("../a"); err == nil {
		t.Error("a name may leave the folder")
	}
}
