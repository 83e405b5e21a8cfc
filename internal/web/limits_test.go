//go:build linux

package web

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// rawStream opens the stream of a page on a connection of its own, and reads nothing.
func (d *desk) rawStream(page string) net.Conn {
	d.Helper()
	at, err := url.Parse(d.at("/live"))
	if err != nil {
		d.Fatal(err)
	}
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error { // it takes little without being read
		return c.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10)
		})
	}}
	c, err := dialer.Dial("tcp", at.Host)
	if err != nil {
		d.Fatal(err)
	}

	d.Cleanup(func() { c.Close() })
	var cookies []string
	for _, k := range d.client.Jar.Cookies(at) {
		cookies = append(cookies, k.Name+"="+k.Value)
	}
	fmt.Fprintf(c, "GET %s?%s HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n\r\n", at.Path,
		url.Values{"page": {page}}.Encode(), at.Host, strings.Join(cookies, "; "))
	return c
}

// TestAThousandStreams: a thousand open pages get what happens, the memory that each takes is bounded, and
// further ones are refused.
func TestAThousandStreams(t *testing.T) {
	n := 1000
	if testenv.Leaves(t, testenv.Every, "900 of 1000 streams") {
		n = 100
	}
	s := scene.NewAlone(t)
	claude := s.Agent("claude:a")
	claude.Try().Granted(1)
	d := newDesk(s, nil)
	d.server.streams.most = n
	page := "/room/" + string(s.Room().ID)
	d.ok(page)
	before := memory()
	var conns []*bufio.Reader
	for range n {
		conns = append(conns, bufio.NewReaderSize(d.rawStream(page), 16))
	}

	wait := func(text string) {
		t.Helper()
		for i, c := range conns {
			for {
				line, err := c.ReadString('\n')
				if err != nil {
					t.Fatalf("stream %d before %q: %v", i, text, err)
				}
				if strings.Contains(line, text) {
					break
				}
			}
		}
	}

	wait(`"at":`)
	if a := d.page("/live?page=/"); a.status != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", a.status)
	}

	after := memory()
	t.Logf("%d streams take %d kB each, with their clients", n, (after-before)/uint64(n)/1024)

	// Some memory is taken once, however many streams there are.
	const each, once = 128 << 10, 2 << 20
	if taken := int64(after) - int64(before); taken > int64(n)*each+once {
		t.Errorf("%d streams take %d bytes", n, taken)
	}

	began := time.Now()
	for i := range 3 {
		claude.SendAs(engine.SendMessageParams{
			To: []stick.AgentID{stick.ToSystem}, Body: "number " + strconv.Itoa(i),
		}).OK()
	}
	wait("number 2")
	t.Logf("three events are on %d pages after %v", n, time.Since(began))
	if grown := int64(memory()) - int64(after); grown > 64<<20 {
		t.Errorf("the memory has grown by %d bytes", grown)
	}
}

// memory is what the process uses, without what is garbage.
func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// TestAStreamThatNeverReads: it ends, and holds up nobody.
func TestAStreamThatNeverReads(t *testing.T) {
	s := scene.New(t)
	claude := s.Agent("claude:a")
	claude.Try().Granted(1)
	d := newDesk(s, nil)
	d.server.streams.taken = 2 * time.Second
	page := "/room/" + string(s.Room().ID)
	x := d.stream(page, nil)
	x.shows("the turn", func() bool { return x.parts["turn"] != "" })
	d.rawStream(page)

	open := func() int {
		d.server.streams.mu.Lock()
		defer d.server.streams.mu.Unlock()
		return d.server.streams.open
	}

	// A page is sent what is new some ten times a second, so several messages go at once.
	for round := 0; round < 3 || open() > 1; round++ {
		for range 8 {
			body := strings.Repeat("x", 4000)
			claude.SendAs(engine.SendMessageParams{To: []stick.AgentID{stick.ToSystem}, Body: body}).OK()
		}

		last := "round " + strconv.Itoa(round)
		claude.SendAs(engine.SendMessageParams{To: []stick.AgentID{stick.ToSystem}, Body: last}).OK()
		x.row(last)
		if round > 600 {
			t.Fatal("the stream that nobody reads is still open")
		}
	}
}
