package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/stick"
)

// nul writes a record a line, as the tests show them, in git's form.
func nul(lines string) string { return strings.ReplaceAll(lines, "\n", "\x00") }

func TestStatus(t *testing.T) {
	const head = "# branch.oid 1234\n# branch.head main\n"
	const ids = " N... 100644 100644 100644 aaaa bbbb "
	tests := []struct {
		name, output string
		want         *stick.Workspace // nil: an error
	}{
		{"nothing", "", &stick.Workspace{Dirty: []string{}}},
		{"clean", head, &stick.Workspace{Head: "1234", Branch: "main", Dirty: []string{}}},
		{
			"initial and detached",
			"# branch.oid (initial)\n# branch.head (detached)\n",
			&stick.Workspace{Dirty: []string{}},
		},
		{
			"headers of a later git",
			head + "# stash 3\n# branch.ab +1 -2\n#\n",
			&stick.Workspace{Head: "1234", Branch: "main", Dirty: []string{}},
		},
		{
			"entries", head + "1 .M" + ids + "a b\nu UU N... 1 2 3 4 a b c with space\n? new/\n! ignored\n",
			&stick.Workspace{Head: "1234", Branch: "main", Dirty: []string{"a b", "with space", "new/"}, DirtyCount: 3},
		},
		{
			"rename", "2 R." + ids + "R100 new name\n? looks like an entry\n1 .M" + ids + "z\n",
			&stick.Workspace{Dirty: []string{"new name", "? looks like an entry", "z"}, DirtyCount: 3},
		},
		{"rename without its former path", "2 R." + ids + "R100 new\n", nil},
		{"cut off", head + "? ne", nil},
		{"too short", "1 .M N...\n", nil},
		{"no path", "? \n", nil},
		{"empty record", "\n", nil},
		{"unknown record", "x y z\n", nil},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			output := nul(tt.output)
			if tt.name == "cut off" {
				output = strings.TrimSuffix(output, "\x00")
			}
			got, err := read(output, len(output)+1)
			if (err == nil) != (tt.want != nil) {
				t.Fatalf("got the error %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// read gives output to a status in pieces of the given size.
func read(output string, size int) (*stick.Workspace, error) {
	var s statusParser
	for len(output) > 0 {
		n := min(size, len(output))
		if _, err := s.Write([]byte(output[:n])); err != nil {
			return nil, err
		}
		output = output[n:]
	}

	return s.asWorkspace()
}

// FuzzStatus: it doesn't matter in which pieces the output comes, and what is named is bounded.
func FuzzStatus(f *testing.F) {
	f.Add("# branch.oid 12\n# branch.head main\n1 .M N... 1 2 3 a b c d\n? e\n", 3)
	f.Add("2 R. N... 1 2 3 a b R100 new\nold\n", 1)
	f.Add("u UU N... 1 2 3 4 a b c d\n! x\n", 7)
	f.Add("? a", 2)

	f.Fuzz(func(t *testing.T, output string, size int) {
		output = nul(output)
		whole, err := read(output, len(output)+1)
		parts, perr := read(output, max(1, size))
		if diff := cmp.Diff(whole, parts); diff != "" || (err == nil) != (perr == nil) {
			t.Fatalf("in pieces of %d: %v, %v\n%s", size, err, perr, diff)
		}
		if err == nil && len(whole.Dirty) != min(whole.DirtyCount, maxDirty) {
			t.Fatalf("%d paths of %d", len(whole.Dirty), whole.DirtyCount)
		}
	})
}
