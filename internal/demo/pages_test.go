//go:build linux

package demo_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"

	"talkingstick/internal/testenv"
)

// TestDemoServes: with --serve a person watches the scene in a browser from its beginning to its end, and
// nothing stays.
func TestDemoServes(t *testing.T) {
	testenv.SkipShort(t, testenv.Every, "the demo in a browser")
	c, keys, shown, temp := onTerminal(t, "--serve")
	text, paused := step(t, shown)
	found := regexp.MustCompile(`(http://[^/\s]+)/enter\?token=[A-Z0-9]+`).FindStringSubmatch(text)
	if !paused || found == nil {
		t.Fatalf("no address to open before the first step:\n%s", text)
	}

	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	page := func(address string) (text string, cookies []*http.Cookie) {
		t.Helper()
		res, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", address, res.Status, err)
		}

		return string(b), res.Cookies()
	}

	_, cookies := page(found[0])
	if len(cookies) != 1 {
		t.Fatalf("the browser got %v", cookies)
	}

	first := found[1] + cookies[0].Path
	if text, _ := page(first); !strings.Contains(text, "There is no room") {
		t.Error("there is a room before the scene")
	}

	last := ""
	for n := 0; paused; n++ {
		if n > 20 {
			t.Fatalf("it pauses for ever:\n%s", text)
		}
		press(t, keys, "a")
		if text, paused = step(t, shown); paused {
			last, _ = page(first)
		}
	}

	if !strings.Contains(last, "shop") || !strings.Contains(last, "claude:") {
		t.Errorf("at the end the rooms are\n%s", last)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}

	if res, err := client.Get(found[1]); err == nil {
		res.Body.Close()
		t.Error("the server is still there")
	}
	empty(t, temp)
}
