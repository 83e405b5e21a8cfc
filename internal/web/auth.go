package web

import (
	"io"
	"net/http"
	"strings"

	"talkingstick/stick"
)

// enterPath is where a browser with an invitation comes in.
const enterPath = "/enter"

// admitBrowser lets a browser in that has an invitation. It answers with a page that leads on, and doesn't
// redirect: where the address was followed out of another site's page, a browser wouldn't send the new cookie
// to the page that it is redirected to.
func (s *Server) admitBrowser(w http.ResponseWriter, r *http.Request) {
	// Whoever only asks whether there is something must not use the token up.
	if r.Method != http.MethodGet {
		w.WriteHeader(http.StatusNoContent)
		return
	}

	q := r.URL.Query()
	// An open tab wants to know who answers.
	if ask := q.Get("ask"); ask != "" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, s.keys.answerProof(ask))
		return
	}

	// Programs that had the port before may have left something in the browser.
	w.Header().Set("Clear-Site-Data", `"storage"`)
	if !isShown(r) {
		s.refuseRequest(w, r, http.StatusForbidden, errNotShown())
		return
	}

	sess, ok := s.keys.redeemInvite(q.Get("token"))
	if !ok {
		s.refuseRequest(w, r, http.StatusUnauthorized, errUsedAddress())
		return
	}

	setCookie(w, r, sess, 0)
	s.renderPage(w, r, http.StatusOK, "enter", &view{Title: "Welcome", Body: "/" + sess.path + localPath(q.Get("to"))})
}

// isShown reports whether a browser is about to show the answer in a tab, as far as it says. A page that had
// the same port before may have left a service worker in the browser, through which everything goes. It must
// not see where the session is. The answer removes it, so the next request doesn't pass it.
func isShown(r *http.Request) bool {
	dest := r.Header.Get("Sec-Fetch-Dest")
	return dest == "" || dest == "document"
}

func errNotShown() *stick.Error {
	return stick.Errorf(stick.CodePersonOnly, "this address has to be opened in a tab").
		Hintf("open it again in a tab of its own")
}

func errUsedAddress() *stick.Error {
	return stick.Errorf(stick.CodePersonOnly, "this address is wrong or was already used: it signs in one browser, once").
		Hintf("in a browser that is signed in, %s makes another; or stop the server and run it again, and open tabs stay signed in: %s",
			stick.Words("Another device"), stick.Cmd("tt serve"))
}

// setCookie gives a browser the cookie of a session, or takes it away if maxAge is negative.
func setCookie(w http.ResponseWriter, r *http.Request, sess session, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: sess.cookie, Path: "/" + sess.path + "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: schemeOf(r) == "https",
	})
}

// signOut ends the session of a browser. Its tabs say so.
func (s *Server) signOut(w http.ResponseWriter, r *http.Request) {
	sess := sessionIn(r)
	s.keys.endSession(sess)
	setCookie(w, r, sess, -1)
	s.renderPage(w, r, http.StatusOK, "signedout", &view{Title: "Signed out"})
}

// schemeOf is the scheme by which the browser has called: a tunnel that encrypts says so.
func schemeOf(r *http.Request) string {
	if r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https"
	}
	return "http"
}

// localPath returns the path of a page, "/" for anything else that a request names.
func localPath(p string) string {
	if !strings.HasPrefix(p, "/") || strings.HasPrefix(p, "//") || strings.ContainsAny(p, "\\\r\n\t") {
		return "/"
	}
	return p
}

// serveInvitation answers with the page that invites another device.
func (s *Server) serveInvitation(w http.ResponseWriter, r *http.Request) {
	address := schemeOf(r) + "://" + r.Host + enterPath + "?token=" + s.keys.makeInvite(inviteFor)
	s.renderPage(w, r, http.StatusOK, "invite", &view{Title: "Another device", Body: address})
}
