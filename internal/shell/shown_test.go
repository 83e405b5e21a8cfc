package shell

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// relative lists paths relative to a directory, in one text.
func relative(t *testing.T, dir string, paths []string) string {
	t.Helper()
	var all []string
	for _, p := range paths {
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, filepath.ToSlash(rel))
	}

	return strings.Join(all, " ")
}

func TestEdits_Shown(t *testing.T) {
	dir := scratchDir(t)
	for _, c := range []struct{ command, want string }{
		{"cat a.go", "a.go"},
		{"cat -n 'a.go'", "a.go"},
		{"/bin/cat a.go", "a.go"},
		{"cd sub && cat c.go", "sub/c.go"},
		{"head -20 a.go", "a.go"},
		{"head -n 20 a.go", "a.go"},
		{"tail --lines 5 a.go", "a.go"},
		{"nl -ba a.go", "a.go"},
		{"sed -n 1,5p a.go", "a.go"},
		{"sed -n -e 1p -e 3p a.go", "a.go"},
		{"bash -lc 'sed -n 1,200p a.go'", "a.go"},
		{"cat a.go; cat b.go", "a.go b.go"},
		{"cat a.go 2>/dev/null", "a.go"},
		{"git log | cat a.go", "a.go"},
		{"if [ -f a.go ]; then cat a.go; fi", "a.go"},
		{"for i in 1 2; do cat a.go; done", "a.go"},

		{"cat a.go b.go", ""},
		{"cat", ""},
		{"cat -", ""},
		{"cat $F", ""},
		{"cat \"$(ls)\"", ""},
		{"cat a.go | wc -l", ""},
		{"cat a.go > b.go", ""},
		{"cat a.go &> log", ""},
		{"cat a.go >> b.go", ""},
		{"(cat a.go) > b.go", ""},
		{"x=$(cat a.go)", ""},
		{"diff <(cat a.go) <(cat b.go)", ""},
		{"sed 1,5p a.go", ""},
		{"sed -n -i 1,5p a.go", ""},
		{"sed -n 1p", ""},
		{"grep x a.go", ""},
		{"wc -l a.go", ""},
		{"cat /dev/null", ""},
	} {
		if got := relative(t, dir, Edits(c.command, dir, Env{}).Shown); got != c.want {
			t.Errorf("%s: shows %q, want %q", c.command, got, c.want)
		}
	}
}

func TestEdits_Wholes(t *testing.T) {
	dir := scratchDir(t)
	for _, c := range []struct{ command, want string }{
		{"echo x > a.go", "a.go"},
		{"cat > a.go <<'E'\nx\nE", "a.go"},
		{"echo x >| a.go", "a.go"},
		{"make &> a.go", "a.go"},
		{"echo x | tee a.go b.go", "a.go b.go"},
		{"cp b.go a.go", "a.go"},
		{"cp b.go a.go sub", "sub/b.go sub/a.go"},
		{"cd sub && echo x > c.go", "sub/c.go"},

		{"echo x >> a.go", ""},
		{"make &>> a.go", ""},
		{"exec 3<> a.go", ""},
		{"echo x | tee -a a.go", ""},
		{"cp -n b.go a.go", ""},
		{"sed -i s/a/b/ a.go", ""},
		{"echo x > $F", ""},
		{"echo x > /dev/null 2>&1", ""},
		{"mv b.go a.go", ""},
		{"touch a.go", ""},
	} {
		got := Edits(c.command, dir, Env{})
		if wholes := relative(t, dir, got.Wholes); wholes != c.want {
			t.Errorf("%s: writes %q whole, want %q", c.command, wholes, c.want)
		}

		for _, path := range got.Wholes {
			if !slices.Contains(got.Paths, path) {
				t.Errorf("%s: %s isn't among what it changes", c.command, path)
			}
		}
	}
}
