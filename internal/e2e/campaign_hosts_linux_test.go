package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"talkingstick/internal/clitest"
	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// hosts are three hosts that share a server: data directories, with boots of their own. Their processes can't
// see each other.
type hosts struct {
	server  *storetest.Server
	url     string
	network *storetest.Network // of the third
	dir     string             // with the data directories
}

// TestCampaignOfHosts is [TestCampaign] with agents on three hosts. Meanwhile the server crashes and comes
// back, a host stands still for longer than leases last, another has no network for as long, and in the end
// the server is lost and its standby takes over. What had no answer may have been done or not. All else is as
// on one host: nothing is lost, nothing is granted twice, and the history is linearizable.
func TestCampaignOfHosts(t *testing.T) {
	testenv.SkipShort(t, testenv.Server, "a campaign of agents on three hosts")
	skipInPairs(t)

	server := storetest.NewServer(t)
	c := newCampaign(t)
	c.hosts = &hosts{server, server.URL(), storetest.NewNetwork(t, server.URL()), t.TempDir()}

	for _, line := range [][]string{{"init", "-q"}, {"config", "talkingstick.room", "campaign/room"}} {
		git := exec.Command("git", line...)
		git.Dir, git.Env = c.w.work, c.w.env
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}

	c.w.env = overlay(c.w.env, c.hosts.env(0))
	c.must = append(c.must, "crashes of the server", "hosts that stood still", "hosts without network", "failovers")
	c.run()
}

// env is what puts the i-th worker on a host. One below another is on the same.
func (h *hosts) env(i int) []string {
	host, url := i%4%3, h.url
	if host == 2 {
		url = h.network.URL()
	}

	return []string{
		"TALKING_STICK_DATABASE_URL=" + url, "TALKING_STICK_DATA_DIR=" + filepath.Join(h.dir, fmt.Sprint(host)),
		fmt.Sprintf("%s=boot-of-host-%d", clitest.Boot, host),
	}
}

// faults disturbs the server and whole hosts until it is told to stop. In the last third of the campaign the
// standby takes over.
func (h *hosts) faults(c *campaign, stop chan struct{}) {
	part := *campaignTime / 3
	crash, still, cut, fail := time.After(part/2), time.After(part), time.After(part), time.After(2*part)
	var cuts sync.WaitGroup
	defer cuts.Wait()

	for {
		select {
		case <-stop:
			return
		case <-crash:
			c.count("crashes of the server")
			h.server.Restart()
			if fail != nil {
				crash = time.After(part / 2)
			}

		case <-still:
			c.count("hosts that stood still")
			h.stands(c, 2*time.Second, stop)
			still = time.After(part)

		case <-cut:
			c.count("hosts without network")
			h.network.Cut()
			cuts.Go(func() {
				select {
				case <-time.After(2 * time.Second): // leases are shorter
				case <-stop:
				}
				h.network.Mend()
			})
			cut = time.After(max(part, 4*time.Second))

		case <-fail:
			c.count("failovers")
			h.server.FailOver()
			crash, fail = nil, nil
		}
	}
}

// stands stops all processes of the second host for a while. Leases are shorter.
func (h *hosts) stands(c *campaign, d time.Duration, stop chan struct{}) {
	var stopped []*agent
	for i, w := range c.workers {
		if i%4%3 == 1 {
			w.mu.Lock()
			stopped = append(stopped, w.agent)
			w.mu.Unlock()
		}
	}

	for _, a := range stopped {
		a.group(syscall.SIGSTOP)
	}

	select {
	case <-time.After(d):
	case <-stop:
	}

	for _, a := range stopped {
		a.group(syscall.SIGCONT)
	}
}

// read reads the database. While the server doesn't answer, it tries again.
func (c *campaign) read(fn func(*store.Tx) error) error {
	for end := time.Now().Add(30 * time.Second); ; {
		err := c.db.View(context.Background(), fn)
		if c.hosts == nil || stick.CodeOf(err) != stick.CodeDatabaseUnavailable || time.Now().After(end) {
			return err
		}
	}
}
