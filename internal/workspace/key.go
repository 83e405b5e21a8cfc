package workspace

import (
	"net/url"
	"path"
	"strings"
)

// RepositoryKey names a repository by the address of its remote, so that all its clones have one name: host
// and path, without scheme, user, password, query, default port and .git, such as github.com/ann/app. ok is
// false for an address that means something only on this host, such as a path.
func RepositoryKey(remote string) (key string, ok bool) {
	u, err := url.Parse(remote)
	if err != nil || u.Scheme == "" || u.Host == "" {
		// ann@host:path, as for scp. A colon after a slash, or none, is of a path; so is one after the letter
		// of a Windows drive.
		before, after, found := strings.Cut(remote, ":")
		isPath := !found || strings.Contains(before, "/") || len(before) < 2
		if isPath || strings.HasPrefix(after, "//") || strings.HasPrefix(after, ":") {
			return "", false
		}

		u = &url.URL{Scheme: "ssh", Host: before[strings.LastIndex(before, "@")+1:], Path: after}
	}

	if u.Scheme == "file" || u.Hostname() == "" {
		return "", false
	}

	// What names the same repository becomes one key: case of the host, usual port, .git at the end.
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && port != defaultPorts[u.Scheme] {
		host += ":" + port
	}

	p := strings.Trim(path.Clean("/"+u.Path), "/")
	p = strings.TrimSuffix(p, ".git")
	if p == "" {
		return "", false
	}

	return host + "/" + p, true
}

var defaultPorts = map[string]string{"ssh": "22", "git+ssh": "22", "git": "9418", "http": "80", "https": "443"}
