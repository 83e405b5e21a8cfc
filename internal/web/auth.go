package web

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"talkingstick/stick"
)

// keys know who may come in. An invitation is a token in an address: the first browser that shows it gets a session in a cookie, and the
// invitation is over. Only sums are kept, so that looking one up tells nothing by the time that it takes.
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
		k.dropOne()
	}
	k.invites[sha256.Sum256([]byte(token))] = until
	return token
}

// dropOne makes room for an invitation: those that are over go, and then the one that would end first. The first invitation of all stays.
func (k *keys) dropOne() {
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
func (k *keys) redeem(token string) (session string, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := sha256.Sum256([]byte(token))
	until, ok := k.invites[s]
	delete(k.invites, s)
	if !ok || !until.IsZero() && k.now().After(until) {
		return "", false
	}
	session = rand.Text() + rand.Text()
	k.sessions = append(k.sessions, sha256.Sum256([]byte(session)))
	if n := len(k.sessions) - maxSessions; n > 0 {
		k.sessions = slices.Delete(k.sessions, 0, n)
	}
	return session, true
}

// known reports whether a session is one of ours.
func (k *keys) known(session string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return session != "" && slices.Contains(k.sessions, sha256.Sum256([]byte(session)))
}

// cookieName is the name of the session's cookie. Browsers don't keep cookies apart by port, so it names the port: two servers on one
// machine would end each other's sessions.
func cookieName(r *http.Request) string { return "tt_session_" + portOf(r.Host) }

// signedIn reports whether a request comes from a browser with a session.
func (s *Server) signedIn(r *http.Request) bool {
	c, err := r.Cookie(cookieName(r))
	return err == nil && s.keys.known(c.Value)
}

// enter lets a browser in that has an invitation. It answers with a page that leads on, and doesn't redirect: where the address was followed
// out of another site's page, a browser wouldn't send the new cookie to the page that it is redirected to.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet { // whoever only asks whether there is something must not use the token up
		w.WriteHeader(http.StatusNoContent)
		return
	}
	to := localPath(r.URL.Query().Get("to"))
	if s.signedIn(r) {
		http.Redirect(w, r, to, http.StatusSeeOther) // the address was opened again in the same browser; the token, if it is good, stays so
		return
	}
	session, ok := s.keys.redeem(r.URL.Query().Get("token"))
	if !ok {
		s.refuse(w, r, http.StatusUnauthorized, stick.Errorf(stick.CodePersonOnly, "this address isn't good, or was used already: it lets one browser in, once").
			Hintf("in a browser that is in, %s makes another; or stop the server and start it again: %s", "Another device", stick.Cmd("tt serve")))
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.Header.Get("X-Forwarded-Proto") == "https",
	})
	s.render(w, r, http.StatusOK, "enter", &view{Title: "Welcome", Body: to})
}

// localPath returns a path of this server, "/" for anything else that a request names.
func localPath(p string) string {
	if !strings.HasPrefix(p, "/") || strings.HasPrefix(p, "//") || strings.ContainsAny(p, "\\\r\n\t") {
		return "/"
	}
	return p
}

// invitation is the page that invites another device.
func (s *Server) invitation(w http.ResponseWriter, r *http.Request) {
	scheme := "http"
	if r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	s.render(w, r, http.StatusOK, "invite", &view{Title: "Another device", Body: scheme + "://" + r.Host + "/enter?token=" + s.keys.invite(inviteFor)})
}
