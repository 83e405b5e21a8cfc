package git

import "testing"

// TestAlias reads aliases as git has them: of any case, the last value, and nothing for what is none.
func TestAlias(t *testing.T) {
	r := newWork(t)
	r.git("config", "alias.undo", "reset --soft")
	r.git("config", "--add", "alias.undo", "reset --hard")
	r.git("config", "alias.all", "!git add -A &&\ngit commit")

	for name, want := range map[string]string{
		"undo": "reset --hard", "UNDO": "reset --hard", "all": "!git add -A &&\ngit commit", "other": "",
		"": "", "-x": "", "undo --hard": "", "a.b": "",
	} {
		if got := (Client{}).ReadAlias(t.Context(), r.dir, name); got != want {
			t.Errorf("%q stands for %q, want %q", name, got, want)
		}
	}

	if got := (Client{}).ReadAlias(t.Context(), t.TempDir()+"/none", "undo"); got != "" {
		t.Errorf("in no directory it stands for %q", got)
	}
}
