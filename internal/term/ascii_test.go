package term

import "testing"

func TestASCII(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"plain", "plain"},
		{`tt release --status "…"`, `tt release --status "..."`},
		{"a → b – “c”", `a -> b - "c"`},
		{"漢.go", "?.go"},
		{"\x1b[1mbold\x1b[0m…", "\x1b[1mbold\x1b[0m..."},
	} {
		if got := ASCII(c.text); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}

func TestIsUTF8(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want bool
	}{
		{"nothing set", nil, true},
		{"the C locale", map[string]string{"LANG": "C"}, false},
		{"POSIX", map[string]string{"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, false},
		{"C with UTF-8", map[string]string{"LANG": "C.UTF-8"}, true},
		{"as macOS writes it", map[string]string{"LC_CTYPE": "UTF-8", "LANG": "C"}, true},
		{"as glibc lists it", map[string]string{"LANG": "de_DE.utf8"}, true},
		{"another alphabet", map[string]string{"LANG": "de_DE.ISO-8859-1"}, false},
	} {
		if got := IsUTF8(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
