//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// site is a tt serve of a place, and a browser that is signed in.
type site struct {
	serve  *exec.Cmd
	origin string
	base   string // the address of the session's first page, without a slash at its end
	room   string // the path of the room's page, below base
	client *http.Client
}

// startSite starts a server for browsers.
func (p place) startSite() (*site, error) {
	c := p.commandAs("bench:one", "serve", "--json")

	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}

	if err := c.Start(); err != nil {
		return nil, err
	}

	// The server prints its address once it listens.
	var said struct{ URL string }
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		return nil, fmt.Errorf("tt serve: %w", err)
	}

	at, err := url.Parse(said.URL)
	if err != nil {
		return nil, err
	}

	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}

	s := &site{
		serve:  c,
		origin: at.Scheme + "://" + at.Host,
		room:   at.Query().Get("to"),
		client: &http.Client{Jar: jar},
	}
	return s, s.signIn(said.URL)
}

// signIn opens the address that lets the browser in.
func (s *site) signIn(address string) error {
	res, err := s.client.Get(address)
	if err != nil {
		return err
	}
	res.Body.Close()

	cookies := res.Cookies()
	if res.StatusCode != http.StatusOK || len(cookies) != 1 {
		return fmt.Errorf("GET %s: %s, %v", address, res.Status, cookies)
	}

	s.base = s.origin + strings.TrimSuffix(cookies[0].Path, "/")
	return nil
}

func (s *site) stopServer() {
	_ = s.serve.Process.Signal(syscall.SIGTERM)
	_ = s.serve.Wait()
}

// getPage reads a page to its end.
func (s *site) getPage(page string) ([]byte, error) { return s.readAddress(s.base + page) }

func (s *site) readAddress(address string) ([]byte, error) {
	res, err := s.client.Get(address)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()

	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", address, res.Status)
	}

	return b, err
}

// timeFirstPaint times what a browser has to get before it can show a page: the page and its style, by a new
// connection.
func (s *site) timeFirstPaint(page string) (time.Duration, error) {
	// A first visitor has no open connection.
	s.client.CloseIdleConnections()

	began := time.Now()
	for _, address := range []string{s.base + page, s.origin + "/static/style.css"} {
		if _, err := s.readAddress(address); err != nil {
			return 0, err
		}
	}

	return time.Since(began), nil
}

// measurePages measures how soon an event is on an open page, and how soon the page of a long log is there.
func (b *bench) measurePages() error {
	if err := b.measureEventOnPage(); err != nil {
		return err
	}
	return b.measureLongLog()
}

func (b *bench) measureEventOnPage() error {
	p := b.newPlace("")
	if err := p.runAs("bench:one", "join"); err != nil {
		return err
	}

	s, err := p.startSite()
	if err != nil {
		return err
	}
	defer s.stopServer()

	res, err := s.client.Get(s.base + "/live?" + url.Values{"page": {s.room}}.Encode())
	if err != nil {
		return err
	}
	defer res.Body.Close()

	// The reader ends with the stream.
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		r := bufio.NewReader(res.Body)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}()

	const warm = 3
	samples := series{}
	for i := range b.sampleCount(100, 20) + warm {
		text := "number " + strconv.Itoa(i) + " of many"
		c := p.commandAs("bench:one", "msg", "send", "system", text)
		began := time.Now()
		if err := c.Run(); err != nil {
			return err
		}
		sent := time.Now()

		// Lines of other events come before the one that is sought.
		for {
			line, open := <-lines
			if !open {
				return fmt.Errorf("the stream has ended")
			}
			if strings.Contains(line, text) {
				break
			}
		}

		if i >= warm {
			samples.addSample("start of send to page", time.Since(began))
			samples.addSample("end of send to page", time.Since(sent))
		}
	}

	b.addRow(row{
		What: "an event on a page: `tt msg send` exits → its row has come to an open page of the room",
		Goal: "≤ 100 ms",
		Measured: samples.formatTimes("end of send to page") +
			", from the start of the send " + samples.formatTimes("start of send to page"),
		Met:     samples.p50("end of send to page") <= 100,
		Figures: samples.figures(),
		Samples: samples,
	})
	return nil
}

func (b *bench) measureLongLog() error {
	events := b.sampleCount(1_000_000, 50_000)
	g, err := b.growDatabase(events, events-1000)
	if err != nil {
		return err
	}
	defer os.RemoveAll(g.data)

	s, err := g.startSite()
	if err != nil {
		return err
	}
	defer s.stopServer()

	samples := series{}
	for i := range b.sampleCount(100, 20) + 3 {
		took, err := s.timeFirstPaint(s.room)
		if err != nil {
			return err
		}
		if i >= 3 {
			samples.addSample("page", took)
		}
	}

	at, err := url.Parse(s.base + s.room)
	if err != nil {
		return err
	}

	// The pages of older events are read one after the other, as a reader goes back.
	back, err := s.readAddress(at.String())
	if err != nil {
		return err
	}

	for range b.sampleCount(50, 10) {
		_, next, found := bytes.Cut(back, []byte(`rel="next" href="`))
		if !found {
			return fmt.Errorf("the page leads to no older events")
		}
		next, _, _ = bytes.Cut(next, []byte(`"`))
		if at, err = at.Parse(strings.ReplaceAll(string(next), "&amp;", "&")); err != nil {
			return err
		}

		began := time.Now()
		if back, err = s.readAddress(at.String()); err != nil {
			return err
		}

		samples.addSample("older", time.Since(began))
	}

	// A page in the middle of the log has as many events before it as behind it.
	began := time.Now()
	if _, err := s.getPage(path.Join(s.room, "log") + "?before=" + strconv.Itoa(events/2)); err != nil {
		return err
	}
	samples.addSample("in the middle", time.Since(began))

	note := ""
	if b.quick {
		note = fmt.Sprintf("; a quick run has %d events", events)
	}

	b.addRow(row{
		What:     "first paint of a room of 1,000,000 events: its page and the style, to the last byte" + note,
		Goal:     "≤ 200 ms",
		Measured: samples.formatTimes("page") + ", a page of older events " + samples.formatTimes("older"),
		Met:      samples.p50("page") <= 200,
		Figures:  samples.figures(),
		Samples:  samples,
	})
	return nil
}
