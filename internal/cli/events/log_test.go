package events

import "testing"

func TestNamesFile(t *testing.T) {
	for _, c := range []struct {
		name, payload, file string
		want                bool
	}{
		{"the file itself", `{"pattern":"cart.go"}`, "cart.go", true},
		{"lines of it", `{"path":"cart.go:1-3"}`, "cart.go", true},
		{"in a sentence", `{"body":"look at cart.go, please"}`, "cart.go", true},
		{"at the end of a sentence", `{"body":"look at cart.go."}`, "cart.go", true},
		{"below a directory", `{"pattern":"lib/cart.go"}`, "lib", true},
		{"another directory's", `{"pattern":"old/cart.go"}`, "cart.go", false},
		{"a longer name in front", `{"pattern":"mycart.go"}`, "cart.go", false},
		{"a longer name behind", `{"pattern":"cart.gohtml"}`, "cart.go", false},
		{"a longer name first, then it", `{"a":"mycart.go","b":"cart.go"}`, "cart.go", true},
		{"nothing", `{}`, "cart.go", false},
	} {
		if got := namesFile(c.payload, c.file); got != c.want {
			t.Errorf("%s: %s names %s: %v", c.name, c.payload, c.file, got)
		}
	}
}
