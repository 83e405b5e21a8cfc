package doctor

import "testing"

// TestHider: no path and no name of a user is left, whether or not the path is known.
func TestHider(t *testing.T) {
	h := hider{known: []string{"/home/ann/my plans/app", "/home/ann"}, user: "ann"}
	for text, want := range map[string]string{
		"the database is sound":                          "the database is sound",
		"the room of /home/ann/my plans/app is closed":   "the room of <path> is closed",
		"see /home/ann/my plans/app/x.go (and 2 more)":   "see <path> (and 2 more)",
		"it is in /var/lib/tt, which is full":            "it is in <path>, which is full",
		`C:\Users\ann has mode 0755: others can read it`: "<path> has mode 0755: others can read it",
		"postgres://ann:secret@db/tt can't be reached":   "<path> can't be reached",
		"human:ann holds the stick":                      "human:<user> holds the stick",
		"fix: tt doctor --set-aside":                     "fix: tt doctor --set-aside",
	} {
		if got := h.hideIn(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
