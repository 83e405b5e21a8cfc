package web

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// session is what a browser has that was let in: a path, below which it finds all pages, and a cookie, which it sends there and nowhere
// else. Cookies know hosts and paths, but no ports: one for all paths would go to every server of this machine, such as one by
// which an agent shows what it has built. Nobody else's page knows the path.
type session struct {
	path   string // the first part of the paths of all its pages, without slashes
	cookie string
}

func newSession() session { return session{rand.Text(), rand.Text() + rand.Text()} }

func (one session) sum() sum { return sha256.Sum256([]byte(one.path + "/" + one.cookie)) }

// cookieName is the name of all sessions' cookies. Their paths tell them apart.
const cookieName = "tt_session"

// keys know who may come in. An invitation is a token in an address: the first browser that shows it gets a session, and the invitation is
// over. Only sums are kept, so that looking one up tells nothing by the time that it takes.
type keys struct {
	now func() time.Time

	mu       sync.Mutex // guards the rest
	invites  map[sum]time.Time
	sessions []sum // the oldest first
}

type sum = [sha256.Size]byte

const (
	maxSessions = 64 // browsers at a time; a further one ends the oldest session
	maxInvites  = 16

	inviteFor = 10 * time.Minute // an invitation that a page has made
)

func newKeys(now func() time.Time) *keys { return &keys{now: now, invites: map[sum]time.Time{}} }

// invite makes a token that is good once, for so long; 0 for as long as the server runs.
func (k *keys) invite(ttl time.Duration) string {
	token := rand.Text()
	k.mu.Lock()
	defer k.mu.Unlock()
	until := time.Time{}
	if ttl > 0 {
		until = k.now().Add(ttl)
		k.dropInvite()
	}
	k.invites[sha256.Sum256([]byte(token))] = until
	return token
}

// dropInvite makes room for an invitation: those that are over go, and then the one that would end first. The first invitation of all
// stays.
func (k *keys) dropInvite() {
	var first sum
	for s, until := range k.invites {
		if until.IsZero() {
			continue
		}
		if k.now().After(until) {
			delete(k.invites, s)
		} else if first == (sum{}) || until.Before(k.invites[first]) {
			first = s
		}
	}
	if len(k.invites) >= maxInvites {
		delete(k.invites, first)
	}
}

// redeem ends an invitation, and returns the session that it was for. ok is false for a token that is none, was used, or is too old.
func (k *keys) redeem(token string) (one session, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := sha256.Sum256([]byte(token))
	until, ok := k.invites[s]
	delete(k.invites, s)
	if !ok || !until.IsZero() && k.now().After(until) {
		return session{}, false
	}

	one = newSession()
	k.sessions = append(k.sessions, one.sum())
	if n := len(k.sessions) - maxSessions; n > 0 {
		k.sessions = slices.Delete(k.sessions, 0, n)
	}
	return one, true
}

// isOpen reports whether a session is one of ours.
func (k *keys) isOpen(one session) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Contains(k.sessions, one.sum())
}

// sessionOf finds the open session from whose browser a request comes.
func (k *keys) sessionOf(r *http.Request) (one session, ok bool) {
	path, _, below := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !below {
		return session{}, false
	}
	for _, c := range r.CookiesNamed(cookieName) { // another server of this machine may have set one, too
		if one := (session{path, c.Value}); k.isOpen(one) {
			return one, true
		}
	}
	return session{}, false
}
