package web

import (
	"io"
	"strings"
	"testing"

	"talkingstick/internal/scene"
)

// TestCompression: a page goes over the wire in less than its length to whoever takes that, and in plain to others.
func TestCompression(t *testing.T) {
	s, _ := newBusyRoom(t)
	d := newDesk(s, nil)
	page := "/room/" + string(s.Room().ID)

	sent := map[string]int{}
	for _, accepted := range []string{"gzip, br", "identity", "gzip;q=0", "GZIP;Q=0.0", "br"} {
		req := d.request("GET", page, nil)
		// The client decompresses by itself only what it has asked for by itself.
		req.Header.Set("Accept-Encoding", accepted)
		res, err := d.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}

		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}

		isPacked := res.Header.Get("Content-Encoding") == "gzip"
		if isPacked != strings.HasPrefix(accepted, "gzip,") || res.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %v", accepted, res.Header)
		}
		sent[accepted] = len(body)
	}

	if packed, plain := sent["gzip, br"], sent["identity"]; packed*2 > plain {
		t.Errorf("%d bytes of %d", packed, plain)
	}
}

// TestStatic: a browser that has the style and the script already doesn't get them again.
func TestStatic(t *testing.T) {
	d := newDesk(scene.New(t), nil)
	for path := range isStatic {
		first := d.page(path)
		sum := first.header.Get("Etag")
		if first.status != 200 || sum == "" || first.body == "" {
			t.Fatalf("%s: %d %v", path, first.status, first.header)
		}

		strong := strings.TrimPrefix(sum, "W/")
		for has, want := range map[string]int{sum: 304, strong: 304, `"another", ` + sum: 304, "*": 304, `"another"`: 200} {
			req := d.request("GET", path, nil)
			req.Header.Set("If-None-Match", has)
			if again := d.do(req); again.status != want || want == 304 && again.body != "" {
				t.Errorf("%s, who has %s: %d, %d bytes", path, has, again.status, len(again.body))
			}
		}
	}
}
