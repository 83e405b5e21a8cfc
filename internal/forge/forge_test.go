package forge

import (
	"context"
	"strings"
	"testing"

	"talkingstick/stick"
)

func TestParseRemote(t *testing.T) {
	for address, want := range map[string]Repo{
		"https://github.com/acme/app.git":             {"github.com", "acme/app"},
		"https://pat:secret@GitHub.com:443/acme/app/": {"github.com", "acme/app"},
		"git@github.com:acme/app.git":                 {"github.com", "acme/app"},
		"ssh://git@gitlab.example.org:2222/a/b/c.git": {"gitlab.example.org", "a/b/c"},
		"git@gitlab.example.org:group/sub/app":        {"gitlab.example.org", "group/sub/app"},
		"ssh://git@ssh.github.com:443/acme/app.git":   {"github.com", "acme/app"},
		"ssh://git@altssh.gitlab.com:443/a/b.git":     {"gitlab.com", "a/b"},
		"git@github-work:acme/app.git":                {},
		"/srv/git/app.git":                            {},
		"../app":                                      {},
		"file:///srv/git/app.git":                     {},
		"C:/work/app":                                 {},
		"https://github.com/app":                      {},
		"https://github.com/acme/../other":            {},
		"https://github.com/--repo/app":               {},
		"ext::sh -c evil":                             {},
		"":                                            {},
	} {
		got, ok := ParseRemote(address)
		if ok != (want != Repo{}) || ok && got != want {
			t.Errorf("%q is %+v, %v, want %+v", address, got, ok, want)
		}
	}
}

func TestServes(t *testing.T) {
	for host, want := range map[string]string{
		"github.com": "gh", "github.example.org": "gh", "gitlab.com": "glab", "gitlab.example.org": "glab",
		"code.example.org": "", "notgithub.com": "",
	} {
		got := ""
		for _, p := range Programs {
			if p.ServesHost(host) {
				got = p.Name
			}
		}

		if got != want {
			t.Errorf("%s is served by %q, want %q", host, got, want)
		}
	}
}

// FuzzRead: whatever a program prints is read, or refused.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"", "[]", "null", "<html>", `{"number":1}`, `[{"number":1,"url":"https://x/y","state":"OPEN"},{}]`, `[null]`,
		`{"iid":3,"web_url":"https://x/y","state":"merged","sha":"a"}`,
		`{"number":1,"state":"MERGED","mergeCommit":{"oid":7}}`,
	} {
		f.Add([]byte(s))
	}

	f.Fuzz(func(t *testing.T, b []byte) {
		for _, p := range Programs {
			all, err := p.queryPulls(t.Context(), func(context.Context, Command) ([]byte, error) { return b, nil },
				Command{Args: []string{p.Name}})
			if err != nil && stick.CodeOf(err) != stick.CodeForgeFailed {
				t.Errorf("%s: %v", p.Name, err)
			}

			for _, pr := range all {
				if pr.Check() != nil {
					t.Errorf("%s gave %+v", p.Name, pr)
				}
			}
		}
	})
}

// TestCreate: the text goes to the program's standard input, and nothing depends on the directory that it
// runs in.
func TestCreate(t *testing.T) {
	o := Offer{Query{"feat/x", "main"}, `A "title"`, "text\n"}
	for _, c := range []struct {
		p     Program
		args  string
		input string
	}{
		{
			gh,
			"gh pr create --repo github.com/acme/app --head feat/x --base main --title A \"title\" --body-file -",
			"text\n",
		},
		{
			glab,
			"glab api --hostname github.com --method POST projects/acme%2Fapp/merge_requests --header Content-Type: application/json --input -",
			`{"description":"text\n","source_branch":"feat/x","target_branch":"main","title":"A \"title\""}`,
		},
	} {
		got := c.p.create(Repo{"github.com", "acme/app"}, o)
		if strings.Join(got.Args, " ") != c.args || got.Input != c.input {
			t.Errorf("%s: %q with %q", c.p.Name, got.Args, got.Input)
		}
	}
}
