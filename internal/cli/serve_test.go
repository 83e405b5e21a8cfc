//go:build unix

package cli_test

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// browser is a client of a server that runs in the background, without script. It has entered by the address
// that the server printed.
type browser struct {
	origin string
	base   string // the address of its session's first page, without a slash at its end
	client *http.Client

	secrets []string // the path of its session and its cookie
}

var enterAddress = regexp.MustCompile(`(http://[^/\s]+)/enter\?\S*token=[A-Z0-9]+`)

// browser returns the browser of a server, which enters first.
func (s *story) browser(ts *testscript.TestScript, name string) *browser {
	if b := s.browsers[name]; b != nil {
		return b
	}
	c := s.background(ts, name)
	var found []string
	poll(ts, "the address of "+name, func() bool {
		found = enterAddress.FindStringSubmatch(c.printed.String())
		return found != nil
	})

	jar, err := cookiejar.New(nil)
	ts.Check(err)
	b := &browser{
		origin: found[1],
		client: &http.Client{
			Jar: jar, Timeout: patience,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	res, err := b.client.Get(found[0])
	ts.Check(err)
	res.Body.Close()
	if res.StatusCode != http.StatusOK || len(res.Cookies()) != 1 {
		ts.Fatalf("%s: %s, %v", found[0], res.Status, res.Cookies())
	}
	cookie := res.Cookies()[0]
	b.base = b.origin + strings.TrimSuffix(cookie.Path, "/")
	b.secrets = []string{strings.Trim(cookie.Path, "/"), cookie.Value}
	if s.browsers == nil {
		s.browsers = map[string]*browser{}
	}
	s.browsers[name] = b
	return b
}

// hides fails if the session of a browser is in what its server has printed, or in a file of the data
// directory. The database isn't opened: closing it would give up the locks of commands in this process.
func (s *story) hides(ts *testscript.TestScript, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: hides NAME")
	}
	texts := map[string]string{"what it printed": s.background(ts, args[0]).printed.String()}
	ts.Check(filepath.WalkDir(s.data, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && !strings.HasPrefix(entry.Name(), "rooms.sqlite") {
			var b []byte
			b, err = os.ReadFile(path)
			texts[path] = string(b)
		}

		if errors.Is(err, fs.ErrNotExist) { // it was there for a moment
			return nil
		}
		return err
	}))

	for _, secret := range s.browser(ts, args[0]).secrets {
		for where, text := range texts {
			if secret == "" || strings.Contains(text, secret) {
				ts.Fatalf("%q is in %s", secret, where)
			}
		}
	}
}

// visit prints a page, without its tags.
func (s *story) visit(ts *testscript.TestScript, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: visit NAME PATH [PATTERN]")
	}
	b := s.browser(ts, args[0])
	pattern := regexp.MustCompile(strings.Join(args[2:], " "))
	text := ""
	poll(ts, "visit "+strings.Join(args, " "), func() bool {
		res, err := b.client.Get(b.base + args[1])
		ts.Check(err)
		defer res.Body.Close()
		page, err := io.ReadAll(res.Body)
		ts.Check(err)
		_, main, _ := strings.Cut(string(page), "<main")
		text = "status " + res.Status + "\n" + regexp.MustCompile(`<[^>]*>`).ReplaceAllString(main, "")
		return pattern.MatchString(text)
	})

	_, err := io.WriteString(ts.Stdout(), text)
	ts.Check(err)
}

// post sends a form, and prints where it leads or why it fails.
func (s *story) post(ts *testscript.TestScript, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: post NAME OPERATION FIELD=VALUE…")
	}
	b := s.browser(ts, args[0])

	form := url.Values{"back": {"/"}}
	for _, a := range args[2:] {
		name, value, _ := strings.Cut(a, "=")
		form.Add(name, value)
	}

	req, err := http.NewRequest("POST", b.base+"/api/"+args[1], strings.NewReader(form.Encode()))
	ts.Check(err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", b.origin)
	res, err := b.client.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	ts.Check(err)
	_, main, _ := strings.Cut(string(page), "<main")
	_, err = io.WriteString(ts.Stdout(),
		"status "+res.Status+"\n"+regexp.MustCompile(`<[^>]*>`).ReplaceAllString(main, ""))
	ts.Check(err)
}
