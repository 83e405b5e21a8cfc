package command

import "testing"

// TestOutputIsBounded: of a long output, only the end is kept, but all of it is counted.
func TestOutputIsBounded(t *testing.T) {
	var out Tail
	for range 5 * MaxOutput / 1000 {
		line := make([]byte, 1000)
		line[999] = '\n'
		if _, err := out.Write(line); err != nil {
			t.Fatal(err)
		}
	}

	if _, err := out.Write([]byte("the end")); err != nil {
		t.Fatal(err)
	}
	if b := out.Bytes(); len(b) != MaxOutput || string(b[len(b)-7:]) != "the end" || out.size < 5*MaxOutput-1000 {
		t.Errorf("%d of %d bytes are kept, which end with %q", len(b), out.size, b[len(b)-7:])
	}
}
