package config

import (
	"slices"
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/glob"
)

func TestSnapshots_Matcher(t *testing.T) {
	s := Snapshots{Never: []glob.Pattern{"*.pem", ".env", "secrets", "deploy/*.key", "a/**/tokens"}}
	isNever := s.Matcher(false)
	for path, want := range map[string]bool{
		"key.pem": true, "a/b/key.pem": true, "key.pem.txt": false, ".env": true, "web/.env": true,
		".envrc": false, ".ENV": false,
		"secrets": true, "web/secrets/x/y": true, "deploy/a.key": true, "deploy/a.key/b": true,
		"web/deploy/a.key": false, "deploy/a/b.key": false,
		"a/x/tokens": true, "a/x/y/tokens/z": true, "tokens": false, "": false,
	} {
		if got := isNever(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}

	if !s.Matcher(true)("Web/.ENV") {
		t.Error("the case counts where the file system ignores it")
	}
	if (Snapshots{}).Matcher(false)("a") {
		t.Error("no pattern matches something")
	}
}

// TestParse_Never: a fault elsewhere in the file, or in another pattern, doesn't have a secret copied.
func TestParse_Never(t *testing.T) {
	for text, fault := range map[string]string{
		"[snapshots]\nnever = [\"*.pem\"]\n":                      "",
		"[snapshots]\nnever = [\"*.pem\", \"../x\"]\n":            "snapshots.never: ",
		"[snapshots]\nnever = [\"*.pem\", 3]\n":                   "snapshots.never must be a list of patterns",
		"[sesion]\n[snapshots]\nnever = [\"*.pem\"]\n":            "did you mean session?",
		"[snapshots]\nnever = [\"*.pem\"]\n[worker]\nraces = 0\n": "must be a number from 1 to 100",
	} {
		c, err := Parse([]byte(text))
		says := ""
		if err != nil {
			says = err.Error() + " " + stick.AsError(err).Hint.String()
		}
		if (err != nil) != (fault != "") || !strings.Contains(says, fault) {
			t.Errorf("%q is refused with %q", text, says)
		}
		if !slices.Equal(c.Snapshots.Never, []glob.Pattern{"*.pem"}) ||
			err != nil && c.Worker.Races != Default().Worker.Races {
			t.Errorf("%q: %+v", text, c)
		}
	}

	for _, text := range []string{"[snapshots]\nnever = \"*.pem\"\n", "snapshots = 3\n", "[snapshots]\nnevr = []\n"} {
		if c, err := Parse([]byte(text)); stick.CodeOf(err) != stick.CodeProjectConfig || c.Snapshots.Never != nil {
			t.Errorf("%q: %+v, %v", text, c.Snapshots, err)
		}
	}
}
