package workspace

import "testing"

func TestKey(t *testing.T) {
	const app = "github.com/ann/app"
	for remote, want := range map[string]string{
		"https://github.com/ann/app.git":           app,
		"https://ann:swordfish@GitHub.com/ann/app": app,
		"https://github.com:443/ann/app/":          app,
		"http://github.com:80/ann/app.git?x=1":     app,
		"ssh://git@github.com/ann/app.git":         app,
		"ssh://git@github.com:22/ann/app.git":      app,
		"git@github.com:ann/app.git":               app,
		"github.com:ann/app":                       app,
		"git://github.com:9418/ann/app.git":        app,
		"git@github.com:/ann/app.git":              app,
		"https://github.com/ann/../ann/./app":      app,
		"https://github.com/Ann/app":               "github.com/Ann/app",
		"ssh://git@host.example:2222/~ann/app.git": "host.example:2222/~ann/app",
		"ssh://git@[::1]:2222/app.git":             "[::1]:2222/app",
		"https://host.example/a b/app.git":         "host.example/a b/app",
		"/srv/git/app.git":                         "",
		"../app":                                   "",
		"file:///srv/git/app.git":                  "",
		"./a:b":                                    "",
		`C:\git\app`:                               "",
		"C:/git/app":                               "",
		"https://github.com/":                      "",
		"https://github.com/.git":                  "",
		"":                                         "",
		":":                                        "",
		"ext::ssh x":                               "",
	} {
		if got, ok := RepositoryKey(remote); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", remote, got, ok, want)
		}
	}
}
